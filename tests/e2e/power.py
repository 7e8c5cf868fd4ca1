# SPDX-License-Identifier: MIT
"""What the power fails in the middle of: a project, and commands in it."""
import os
import shutil
import stat
import subprocess
import sys
import tempfile

from disk import Disk, lay_out, walk
from traced import trace

HOLDFAST = os.path.abspath(sys.argv[1])
SUPPORT = os.path.abspath(sys.argv[2])
# Nothing of the tried is a matter of the disk below, and each state syncs a lot.
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None

POLICY = b'{ "protect": ["*.toml", "data/"] }\n'
FIRST = {"holdfast.json": POLICY, "a.toml": b"a = 1 # first\n" * 40, "b.toml": b"b = 1\n" * 9, "c.toml": b"",
         "data/d.txt": b"one\n" * 100, "data/e.txt": b"two\n" * 2000, "data/f.txt": b"f\n", "link.toml": "a.toml"}
SECOND = dict(FIRST, **{"a.toml": b"a = 2 # second\n" * 50, "data/d.txt": b"1\n" * 300})
DAMAGED = dict(SECOND, **{"a.toml": b"damaged\n", "b.toml": b"", "data/e.txt": b"lost\n" * 700})
DAMAGED.pop("c.toml")
# Text is that of a link.
DAMAGED["link.toml"] = "b.toml"
DAMAGE = """
echo bad >a.toml
printf 'synced damage\\n' | dd of=b.toml conv=fsync status=none
rm data/e.txt link.toml
chmod 755 data/f.txt
mv data/d.txt data/e.txt
sleep 0.2
printf 'again\\n' >>c.toml
rm data/d.txt
"""


def is_sanitized():
    with open(HOLDFAST, "rb") as file:
        return b"__asan_init" in file.read()


class Wrong(Exception):
    pass


class Place:
    def __init__(self):
        self.base = os.path.realpath(tempfile.mkdtemp(prefix="hf-power-", dir=MEMORY))
        self.root = os.path.join(self.base, "project")
        self.state = os.path.join(self.base, "state")
        self.env = dict(os.environ, XDG_STATE_HOME=self.state, HOME=self.base, LC_ALL="C.UTF-8")
        os.makedirs(os.path.join(self.root, "data"))
        os.mkdir(self.state)
        self.age = 10**18

    def write(self, contents):
        """Each change has a time of its own, and a file whose content is what it was has not changed."""
        for name in self.read():
            if name not in contents:
                os.unlink(os.path.join(self.root, name))
        for name, data in contents.items():
            path = os.path.join(self.root, name)
            self.age += 10**9 + 1
            if self.read().get(name, (None,))[0] == data:
                continue
            if isinstance(data, str):
                if os.path.lexists(path):
                    os.unlink(path)
                os.symlink(data, path)
            else:
                with open(path, "wb") as file:
                    file.write(data)
            os.utime(path, ns=(self.age, self.age), follow_symlinks=False)
        return self.read()

    def read(self):
        """{name: (content, mode, mtime)} of what there is of protected files."""
        found = {}
        for name in FIRST:
            path = os.path.join(self.root, name)
            if os.path.lexists(path):
                at = os.lstat(path)
                if stat.S_ISLNK(at.st_mode):
                    found[name] = os.readlink(path), at.st_mode, at.st_mtime_ns
                    continue
                with open(path, "rb") as file:
                    found[name] = file.read(), at.st_mode, at.st_mtime_ns
        return found

    def holdfast(self, *words):
        done = subprocess.run([HOLDFAST, *words], cwd=self.root, env=self.env, stdin=subprocess.DEVNULL,
                              start_new_session=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="backslashreplace",
                              timeout=60, check=False)
        done.words = " ".join(words)
        return done

    def must(self, *words, status=0):
        return expect(self.holdfast(*words), status)

    def in_store(self, folder):
        """{path in the store: content} of the files below a folder of the store."""
        found = {}
        for directory, _names, files in os.walk(self.state):
            for name in files:
                path = os.path.join(directory, name)
                parts = os.path.relpath(path, self.state).split(os.sep)[2:]
                if parts and parts[0] == folder:
                    with open(path, "rb") as file:
                        found["/".join(parts)] = file.read()
        return found

    def done(self):
        shutil.rmtree(self.base)


def expect(done, *statuses):
    if done.returncode not in statuses:
        raise Wrong("'%s' ended with %s, wanted %s\n  %s" % (
            done.words, done.returncode, " or ".join(map(str, statuses)), (done.stderr + done.stdout).strip()))
    if done.returncode not in (0, 1) and "holdfast: " not in done.stderr:
        raise Wrong("'%s' ended with %s and said nothing" % (done.words, done.returncode))
    return done


def differs(now, wanted):
    return sorted(name for name in now.keys() | wanted.keys() if now.get(name) != wanted.get(name))


def record(place, words, status):
    """Have the command run on a disk; when it has, that is what is there."""
    disk = Disk([place.root, place.state])
    done = trace(disk, [os.path.join(SUPPORT, "no_openat2"), HOLDFAST, *words], place.root,
                 os.path.join(place.base, "trace"), place.env)
    done.words = " ".join(words)
    expect(done, status)
    real = Disk([place.root, place.state])
    if outline(disk) != outline(real):
        raise Wrong("the model is not what is there: %s" % sorted(outline(disk) ^ outline(real))[:4])
    return disk


def outline(disk):
    return {(path, inode.kind, bytes(disk.now[inode].data), disk.now[inode].mode)
            for path, inode in walk(disk, disk.now)}


# -- scenarios -----------------------------------------------------------------------------------------------------


class Scenario:
    """A command, the versions that have been promised before it (by number of their snapshot), and the one that it
    promises when it has ended, or by the time that its command begins."""
    promises = None
    is_by_hand = False      # a restore or an undo: whoever looks finds each file whole
    status = 0

    def __init__(self, place):
        self.place = place
        self.promised = {}
        self.undecided = 0      # states in which a person was asked
        self.words = self.prepare(place)

    def prepare(self, place):
        raise NotImplementedError

    def snapshot(self, contents):
        version = self.place.write(contents)
        self.place.must("snapshot")
        self.promised[len(self.promised) + 1] = version
        return version


class FirstSnapshot(Scenario):
    name = "first"
    promises = 1

    def prepare(self, place):
        self.wanted = place.write(FIRST)
        return ["snapshot"]


class SecondSnapshot(Scenario):
    name = "second"
    promises = 2

    def prepare(self, place):
        self.snapshot(FIRST)
        self.wanted = place.write(SECOND)
        return ["snapshot"]


class Run(Scenario):
    name = "run"
    promises = 2
    status = 97

    def prepare(self, place):
        self.snapshot(FIRST)
        self.wanted = place.write(SECOND)
        return ["run", "--gate", "off", "--keep-going", "--", "sh", "-c", DAMAGE]


class Restore(Scenario):
    name = "restore"
    is_by_hand = True

    def prepare(self, place):
        self.snapshot(FIRST)
        self.wanted = self.snapshot(SECOND)
        self.damaged = place.write(DAMAGED)
        return ["restore"]


class Undo(Restore):
    name = "undo"

    def prepare(self, place):
        super().prepare(place)
        place.must("restore")
        return ["undo"]


class Shared(Restore):
    """A file with another name is written in place, and may be found half written."""
    name = "shared"

    def prepare(self, place):
        self.snapshot(FIRST)
        place.write(SECOND)
        os.link(os.path.join(place.root, "a.toml"), os.path.join(place.root, "other name"))
        self.wanted = self.snapshot(SECOND)
        self.damaged = place.write(DAMAGED)
        return ["restore"]


class Again(Restore):
    """After a restore that ended in the middle."""
    name = "again"
    middle = 0.5
    next = ["restore"]

    def prepare(self, place):
        words = super().prepare(place)
        disk = record(place, words, self.status)
        trades = [one.at for one in disk.operations if "RENAME_EXCHANGE" in one.by]
        k = trades[int(len(trades) * self.middle)]
        lay_out(disk, disk.state(k, dict.fromkeys(disk.pending(k), True)))
        return self.next


class Swept(Again):
    """After one that had come to its end but for what it had to clear away."""
    name = "swept"
    middle = 0.99
    next = ["run", "--gate", "off", "--", "true"]


SCENARIOS = (FirstSnapshot, SecondSnapshot, Run, Restore, Undo, Shared, Again, Swept)
