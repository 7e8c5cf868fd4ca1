#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Disks that are really full: of bytes, of names, or read-only from one moment to the next; below the store, below the
project, or below both.

    73-full-disk.py HOLDFAST SUPPORT

Each is filled until so many KiB, or names, are left, in steps so small that every step of a command is the one that
finds none.  Mounted where nobody else sees it.
"""
import ctypes
import os
import shutil
import subprocess
import sys
import tempfile

from crash import CASES, DAMAGE, RUN_CLEAN, RESTORE, Place, Wrong, all_is_right, old_or_new, recorded

CLONE_NEWNS = 0x00020000
SKIP = 77
LEAST = 300
ROOMS = (0, 4, 8, 12, 16, 20, 28, 36, 48, 64, 80, 100)
NAMES = (0, 1, 2, 3, 4, 5, 7, 9)
SAYS_WHY = ("No space left on device", "Read-only file system")
FILLED = [case for case in CASES if case[0] in ("snapshot", "damage put back", "restore")]


def must(*words):
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


class Disk:
    def __init__(self, base, kind):
        self.kind = kind
        self.path = os.path.join(base, kind)
        self.image = os.path.join(base, "image")
        os.mkdir(self.path)
        if kind == "ext4":
            with open(self.image, "wb") as file:
                file.truncate(2 << 20)
            must("mkfs.ext4", "-q", "-F", "-O", "^has_journal", "-m", "0", "-N", "128", self.image)
        self.mount()

    def mount(self):
        if self.kind == "ext4":
            # The device goes with the mount, the mount with the namespace.
            must("mount", "-o", "loop,errors=remount-ro", self.image, self.path)
        else:
            must("mount", "-t", "tmpfs", "-o", "size=1m,nr_inodes=128", "none", self.path)

    def fill(self, room):
        """Until only so many KiB are left."""
        with open(os.path.join(self.path, "ballast"), "wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 1024)
            except OSError:
                os.ftruncate(file.fileno(), max(0, file.tell() - room * 1024))

    def use_up_names(self, left):
        where = os.path.join(self.path, "names")
        os.mkdir(where)
        count = 0
        try:
            while True:
                open(os.path.join(where, str(count)), "wb").close()
                count += 1
        except OSError:
            pass
        for number in range(left):
            os.remove(os.path.join(where, str(number)))

    def make_room(self):
        shutil.rmtree(os.path.join(self.path, "names"), ignore_errors=True)
        if os.path.exists(os.path.join(self.path, "ballast")):
            os.remove(os.path.join(self.path, "ballast"))

    def breaks(self):
        """What makes the kernel take it for damaged, and write no more."""
        with open("/proc/self/mounts", encoding="utf-8") as file:
            device = [line.split()[0] for line in file if line.split()[1] == self.path][-1]
        return "/sys/fs/ext4/%s/trigger_fs_error" % os.path.basename(device)

    def again(self):
        must("umount", self.path)
        self.mount()


def judge(place, done, ends, settling, disk_again):
    old_or_new(place)
    if done.returncode not in (*ends, 3, 97, 98, 125):
        raise Wrong("status %d" % done.returncode)
    if done.returncode not in ends and not [line for line in done.stderr.splitlines() if line.startswith("holdfast: ")
                                            and line.endswith(SAYS_WHY)]:
        raise Wrong("does not say why")
    disk_again()
    all_is_right(place, settling)
    return done.returncode not in ends


def filled(place, disk, case, how, number):
    """Did it fail?"""
    _name, prepare, words, ends, settling = case
    disk.make_room()
    place.fresh()
    prepare(place)
    (disk.fill if how == "KiB" else disk.use_up_names)(number)
    return judge(place, place.command(words), ends, settling, disk.make_room)


def read_only(place, disk, _case, _how, _number):
    """In the middle of a run, when the damage is done and on the disk: what is not is nobody's any more."""
    place.fresh()
    recorded(place)
    place.script("lock", DAMAGE.replace("exit 0", "sync -f .; echo broken >%s" % disk.breaks()))
    words = ("run", "--gate", "off", "--keep-going", "--", "sh", "../lock")
    return judge(place, place.command(words), (), (RUN_CLEAN, RESTORE), disk.again)


def points(base):
    """(place, disk, function, case, how, number)"""
    for kind in ("tmpfs", "ext4"):
        disk = Disk(base, kind)
        for number, where in enumerate(("store", "project", "store and project")):
            place = Place(disk.path if "project" in where else base, number)
            if "store" in where:
                place.store = os.path.join(disk.path, "store")
            else:
                place.store = os.path.join(base, "store")
            for case in FILLED:
                for how, numbers in (("KiB", ROOMS), ("names", NAMES)):
                    yield from ((place, disk, filled, case, how, number) for number in numbers)
            if kind == "ext4" and "store" in where:
                yield place, disk, read_only, ("read-only",), "-", 0
            shutil.rmtree(place.base)


def main():
    if os.geteuid() != 0 or ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS) != 0:
        print("skipped: only root may mount")
        sys.exit(1 if os.environ.get("HF_MUST_WORK") == "1" else SKIP)
    must("mount", "--make-rprivate", "/")
    tried = failed = 0
    wrongs = []
    with tempfile.TemporaryDirectory(prefix="hf-disk-") as base:
        try:
            for place, disk, function, case, how, number in points(base):
                tried += 1
                try:
                    failed += function(place, disk, case, how, number)
                except (Wrong, OSError, subprocess.SubprocessError) as wrong:
                    wrongs.append("%s, %s, %d %s left, store %s: %s\n%s" % (
                        disk.kind, case[0], number, how, place.store, wrong, "".join(place.said)))
        finally:
            for kind in ("tmpfs", "ext4"):
                if os.path.ismount(os.path.join(base, kind)):
                    must("umount", "-l", os.path.join(base, kind))
    print("\n".join(wrongs[:4]))
    print("\n".join(wrong.split("\n", 1)[0] for wrong in wrongs[4:]))
    print("%d full disks, on %d of which the command failed; %d wrong" % (tried, failed, len(wrongs)))
    sys.exit(1 if wrongs or tried < LEAST or failed < LEAST / 3 else 0)


main()
