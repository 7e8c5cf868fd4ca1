#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The power fails after any operation of a snapshot, a run, a restore, an undo, and of what was not synced any part
may be on the disk: what was recorded comes back, what was replaced is kept, and nothing half is taken for whole.
docs/reliability.md says what of a disk is modelled.

    72-power-loss.py HOLDFAST SUPPORT [-s SEED] [-n STATES] [-w SYNC] [SCENARIO[:EVENT:KIND] ...]

SEED chooses among the states, STATES is how many are tried of a scenario; EVENT:KIND is one of them, as a failure
names it.  -w: as if the program had forgotten the SYNC-th of its syncs, which some state should tell.
"""
import ctypes
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import uuid

from disk import FILE, digest, lay_out, selections, walk
from power import FIRST, POLICY, SCENARIOS, Place, Wrong, differs, expect, is_sanitized, record

# How many states are tried of a scenario, and at least of all; each costs the sanitizer's start a few times over.
STATES, LEAST = (40, 250) if is_sanitized() else (160, 600)
CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
BOOT = "/proc/sys/kernel/random/boot_id"


# -- judging -------------------------------------------------------------------------------------------------------


def check_replaced(scenario, disk, state):
    """Where a file that holdfast made has a protected name, what had it is kept, and a journal says where."""
    at = {path: inode for path, inode in walk(disk, state)}
    kept = {path: bytes(state[inode].data) for path, inode in at.items() if "/kept/" in path and inode.kind == FILE}
    journals = [bytes(state[inode].data) for path, inode in at.items() if "/sessions/" in path and inode.kind == FILE]
    for name in FIRST:
        path = os.path.join(scenario.place.root, name)
        replaced, by = disk.replaced.get((path, at.get(path)), (b"", ""))
        # The command may have moved it there, which keeps nothing.
        if not replaced or ".holdfast-" not in by:
            continue
        copies = [path for path, data in kept.items() if data == replaced]
        if not copies:
            raise Wrong("%s was put back, and what it replaced is not kept" % name)
        if not any(path.split("/kept/", 1)[1].encode() in text for path in copies for text in journals):
            raise Wrong("%s was put back, and no journal says that what it replaced is kept" % name)


def check_whole(scenario):
    """A restore by hand leaves each file as it was or as it is to be."""
    now = scenario.place.read()
    for name in FIRST:
        versions = [scenario.damaged.get(name), scenario.wanted.get(name)]
        if isinstance(FIRST[name], str):
            # Its name may be there before its time is; that is no half of it.
            versions = [version and version[0] for version in versions]
            now[name] = now.get(name) and now[name][0]
        if now.get(name) not in versions:
            raise Wrong("%s is neither the damage nor the original" % name)


def is_known(scenario):
    """Has the session of the command got to the disk?"""
    for path, text in scenario.place.in_store("sessions").items():
        if path.split("/")[1].startswith(scenario.session) and b'\n' in text.split(b"\0")[0]:
            return True
    return False


def settle(scenario, promised):
    """What the next command makes of it: the tree is right then, or it is put right by one command."""
    place = scenario.place
    before = place.read()
    known = is_known(scenario)
    expect(place.holdfast("status"), 0, 1, 3, 98)
    if scenario.is_by_hand:
        settle_by_hand(scenario)
        return known
    done = expect(place.holdfast("run", "--gate", "off", "--", "true"), 0, 98, 125)
    if promised and done.returncode == 125 and not re.search("session .*\n.*hint: .*holdfast restore", done.stderr):
        raise Wrong("cannot run, and no way out is said: %s" % done.stderr)
    if promised and done.returncode != 0:
        undecided = json.loads(place.holdfast("recover", "--json").stdout or "{}")
        paths = [entry["path"] for session in undecided.get("sessions", ()) for entry in session["entries"]
                 if entry["decision"] == "undecided"]
        scenario.undecided += 1
        if done.returncode == 98 and scenario.is_odd and paths:
            place.must("recover", "--put-back", *paths)
        else:
            place.must("restore")
        place.must("run", "--gate", "off", "--", "true")
    now = place.read()
    if known or before == scenario.wanted:
        if differs(now, scenario.wanted):
            raise Wrong("settled, but not as it was: %s\n  %s" % (differs(now, scenario.wanted), done.stderr))
        recorded = [int(path.split("/")[1][:6]) for path in place.in_store("snapshots") if ".holdfast" not in path]
        if known and max(recorded) not in (max(promised), scenario.promises):
            raise Wrong("an older snapshot was taken for the newest: %s are there" % recorded)
    return known


def settle_by_hand(scenario):
    place = scenario.place
    if scenario.name == "undo" and scenario.is_odd:
        done = expect(place.holdfast("undo"), 0, 1, 2, 3, 98)
        if done.returncode == 0 and place.read() not in (scenario.damaged, scenario.wanted):
            raise Wrong("undone, but neither the damage nor the original: %s" % done.stderr)
    place.must("restore")
    if differs(place.read(), scenario.wanted):
        raise Wrong("not restored: %s" % differs(place.read(), scenario.wanted))
    place.must("run", "--gate", "off", "--", "true")
    kept = place.in_store("kept").values()
    for name, (data, _mode, _mtime) in scenario.damaged.items():
        if isinstance(data, str):
            data = data.encode()
        if data not in kept and scenario.damaged[name] != scenario.wanted.get(name):
            raise Wrong("the %s before the restore is lost" % name)


def check_swallowed(scenario, before):
    """Whatever the power left under a protected name is there or kept, unless it is what is recorded."""
    known = [data for version in (scenario.place.read(), scenario.wanted, *scenario.promised.values())
             for data, _mode, _mtime in version.values()]
    known += scenario.place.in_store("kept").values()
    for name, (data, _mode, _mtime) in before.items():
        if data and data not in known and not (isinstance(data, str) and data.encode() in known):
            raise Wrong("what %s was when the power came back is lost" % name)


def check_promises(scenario, promised):
    """Each recorded version comes back whole, with nothing left in the tree."""
    place = scenario.place
    for number, version in promised.items():
        for name in place.read():
            os.unlink(os.path.join(place.root, name))
        place.write({"holdfast.json": POLICY})
        place.must("restore", "--from", str(number))
        if differs(place.read(), version):
            raise Wrong("snapshot %d does not come back: %s" % (number, differs(place.read(), version)))


def judge(scenario, disk, state, k):
    place = scenario.place
    promised = dict(scenario.promised)
    if scenario.promises and k >= scenario.promised_at:
        promised[scenario.promises] = scenario.wanted
    if scenario.name != "shared":
        check_replaced(scenario, disk, state)
        if scenario.is_by_hand:
            check_whole(scenario)
    if len(promised) > len(scenario.promised) and (k == disk.events or k % 4 == 0):
        # Whatever comes next might record it anew.
        check_promises(scenario, promised)
        lay_out(disk, state)
    scenario.is_odd = k % 2 == 1
    before = place.read()
    known = settle(scenario, promised)
    check_swallowed(scenario, before)
    left = [name for directory in (place.root, os.path.join(place.root, "data")) for name in os.listdir(directory)
            if name.startswith(".holdfast-")]
    if known and left:
        raise Wrong("left in the project: %s" % left)
    check_promises(scenario, promised)


# -- all of it -----------------------------------------------------------------------------------------------------


def skip(why):
    if os.environ.get("HF_MUST_WORK") == "1":
        sys.exit("must not be skipped: " + why)
    print("skipped: " + why)
    sys.exit(77)


def reboot():
    """What comes then is another boot, in a mount namespace of our own."""
    uid, gid = os.geteuid(), os.getegid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS | (CLONE_NEWUSER if uid else 0)) != 0:
        return False
    if uid:
        for name, text in (("setgroups", "deny"), ("uid_map", "%d %d 1" % (uid, uid)),
                           ("gid_map", "%d %d 1" % (gid, gid))):
            with open("/proc/self/" + name, "w", encoding="ascii") as file:
                file.write(text)
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(str(uuid.uuid4()) + "\n")
        file.flush()
        os.chmod(file.name, 0o444)
        return libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None) == 0 and \
            libc.mount(file.name.encode(), BOOT.encode(), None, MS_BIND, None) == 0


def begin(scenario):
    place = scenario.place
    disk = record(place, scenario.words, scenario.status)
    scenario.promised_at = disk.events
    if scenario.name == "run":
        scenario.promised_at = next(one.at for one in disk.operations if "O_TRUNC" in one.by)
    sessions = sorted(place.in_store("sessions"))
    scenario.session = sessions[-1].split("/")[1][:6] if sessions else "none"
    return disk


def states(scenario, disk, seed):
    """Each that differs from all before it, or of which more is promised, as (event, kind, state)."""
    seen = set()
    for k in range(disk.events + 1):
        for kind, selected in selections(disk, k, seed):
            state = disk.state(k, selected)
            key = digest(disk, state), k >= scenario.promised_at
            if key not in seen:
                seen.add(key)
                yield k, kind, state


def tell(kind, seed, limit, only, without):
    place = Place()
    try:
        scenario = kind(place)
        disk = begin(scenario)
        if not BOOTED and not reboot():
            skip("there is no other boot to be had: mount namespaces are needed")
        BOOTED.append(True)
        if without is not None:
            disk.forget(lambda event, by: event == disk.syncs[without][0] and not print("without", by))
        found = list(states(scenario, disk, seed))
        chosen = found
        if len(found) > limit:
            chosen = sorted(random.Random(seed).sample(range(len(found)), limit))
            chosen = [found[i] for i in chosen]
        if only:
            chosen = [one for one in found if "%d:%s" % one[:2] == only]
        wrong = []
        for k, name, state in chosen:
            lay_out(disk, state)
            try:
                judge(scenario, disk, state, k)
            except Wrong as error:
                wrong.append("%s:%d:%s: %s\n  after %s" % (scenario.name, k, name, error, disk.last(k)))
        print("%s: %d events, %d states, %d tried, a person asked in %d, %d wrong" % (
            scenario.name, disk.events, len(found), len(chosen), scenario.undecided, len(wrong)), flush=True)
        return len(chosen), wrong
    finally:
        place.done()


BOOTED = []


def main():
    words = sys.argv[3:]
    seed, limit, without = random.randrange(10**6), STATES, None
    while words and words[0].startswith("-"):
        if words[0] == "-s":
            seed = int(words[1])
        elif words[0] == "-n":
            limit = int(words[1])
        else:
            without = int(words[1])
        words = words[2:]
    print("seed %d" % seed, flush=True)
    if subprocess.run(["strace", "-o", "/dev/null", "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        skip("nothing can be traced here")
    named = dict((word.split(":", 1) + [None])[:2] for word in words)
    tried, wrong = 0, []
    for kind in SCENARIOS:
        if not named or kind.name in named:
            count, failures = tell(kind, seed, limit, named.get(kind.name), without)
            tried += count
            wrong += failures
    print("%d states tried" % tried)
    for text in wrong[:20]:
        print(text, file=sys.stderr)
    if not words and limit >= STATES and tried < LEAST:
        sys.exit("too few: %d are wanted" % LEAST)
    sys.exit(1 if wrong else 0)


main()
