#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Ways around the gate: what it reads of a caller, where a name leads, what changes while it decides.  A race may be
lost; what then lands is put back, and is nobody else's edit.

    68-attacks.py HOLDFAST SUPPORT [STORY...]
"""
import os

from story import FILES, tell

EVERYWHERE = '{"protect": ["**/*.toml"]}'
NAMED = 100

# The page may be written and not be read; the kernel reads it.
WRITE_ONLY = """
import ctypes, errno, mmap
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
both = mmap.PROT_READ | mmap.PROT_WRITE
page = libc.mmap(None, 2 * mmap.PAGESIZE, both, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
name = b"personas.toml\\0"
whole, parted = page + mmap.PAGESIZE + 8, page + mmap.PAGESIZE - 5
for at in (whole, parted):
    libc.mprotect(ctypes.c_void_p(page), 2 * mmap.PAGESIZE, both)
    ctypes.memmove(at, name, len(name))
    libc.mprotect(ctypes.c_void_p(page + mmap.PAGESIZE), mmap.PAGESIZE, mmap.PROT_WRITE)
    for call in (libc.unlink, lambda at: libc.chmod(at, 0o600), lambda at: libc.open(at, 0o1001)):
        assert call(ctypes.c_void_p(at)) == -1 and ctypes.get_errno() == errno.EACCES, (at - page, ctypes.get_errno())
"""
# A refused call, and then the same with a name that another process changes while the gate and the kernel read it.
MEMORY_RACE = """
import ctypes, errno, mmap, os, signal, sys
libc = ctypes.CDLL(None, use_errno=True)
shared = mmap.mmap(-1, mmap.PAGESIZE)
name = (ctypes.c_char * 14).from_buffer(shared)
call = {"unlink": lambda: libc.unlink(name), "chmod": lambda: libc.chmod(name, 0o600),
        "rename": lambda: libc.rename(name, b"../tmp/gone")}[sys.argv[1]]
shared[:14] = b"personas.toml\\0"
assert call() == -1 and ctypes.get_errno() == errno.EACCES, ctypes.get_errno()
flipper = os.fork()
while flipper == 0:
    shared[:14] = b"../tmp/free__\\0"
    shared[:14] = b"personas.toml\\0"
for _try in range(1000):
    if call() == 0:
        print("landed")
        break
os.kill(flipper, signal.SIGKILL)
os.wait()
"""
# The same with what a descriptor stands for.
DESCRIPTOR_RACE = """
import os, sys, threading
sys.setswitchinterval(1e-5)
name = "personas.toml"
open("../tmp/" + name, "w").close()
there, here = os.open("../tmp", os.O_RDONLY), os.open(".", os.O_RDONLY)
free, ours = os.open("../tmp/" + name, os.O_RDONLY), os.open(name, os.O_RDONLY)
directory, file = os.dup(here), os.dup(ours)

def refused(call, *arguments, **named):
    try:
        return call(*arguments, **named) and False
    except PermissionError:
        return True

def flip():
    while True:
        os.dup2(there, directory); os.dup2(free, file)
        os.dup2(here, directory); os.dup2(ours, file)

assert refused(os.fchmod, file, 0o600) and refused(os.open, name, os.O_WRONLY | os.O_TRUNC, dir_fd=directory)
threading.Thread(target=flip, daemon=True).start()
for _try in range(300):
    refused(os.fchmod, file, 0o600)
    try:
        os.close(os.open(name, os.O_WRONLY | os.O_TRUNC, dir_fd=directory))
    except PermissionError:
        pass
"""
# Each waits until all are there.
CROWD = """
import os, sys
begin, end = os.pipe()
for number in range(24):
    if os.fork() == 0:
        os.close(end)
        os.read(begin, 1)
        for _try in range(50):
            try:
                open(sys.argv[1 + number % (len(sys.argv) - 1)], "w")
            except PermissionError:
                pass
        os._exit(0)
os.close(end)
for _child in range(24):
    os.wait()
"""
PLANT = """
import errno, os, sys
where = sys.argv[1]
open("../tmp/file", "w").close()
os.mkdir("../tmp/directory")
ways = (lambda path: open(path, "w"), os.mkdir, os.mkfifo, lambda path: os.symlink("../../../../project", path),
        lambda path: os.rename("../tmp/file", path), lambda path: os.rename("../tmp/directory", path),
        lambda path: os.link("../tmp/file", path))
for name in ("packs/000002.tar.zst", "packs/000002.index", "snapshots/000009-20300101T000000Z",
             "sessions/000009-20300101T000000Z.open", "sessions/000009-20300101T000000Z.done",
             "kept/000003-20261130T000000Z"):
    for number, way in enumerate(ways):
        try:
            way(os.path.join(where, name))
            print("planted:", number, name)
        except PermissionError:
            pass
"""
DANGLING = """
import os
os.symlink("new.toml", "link")
os.symlink("link", "second")
os.symlink(os.path.abspath("new.toml"), "../tmp/absolute")
os.symlink("../project/second", "../tmp/third")
for link in ("link", "second", "../tmp/absolute", "../tmp/third"):
    try:
        os.open(link, os.O_WRONLY | os.O_CREAT)
        print("landed:", link)
    except PermissionError:
        pass
"""
TREE = """
import os
os.makedirs("../tmp/d/e")
open("../tmp/d/e/x.toml", "w").close()
os.rename("../tmp/d", "d")
"""
MANY = """
import os
for name in ("some", "many"):
    try:
        os.rename(name, "../tmp/" + name)
    except PermissionError:
        pass
"""
MODE_3 = """
import os
fd = os.open("personas.toml", 3)
for call in (lambda: os.write(fd, b"x"), lambda: os.read(fd, 1), lambda: os.ftruncate(fd, 0)):
    try:
        call()
        print("landed")
    except OSError:
        pass
"""


def attack(place, code, *words, options=()):
    """By a program in Python.  Where there is a gate it need not be tried for each story."""
    run = place.python(code, *words, options=options)
    return run.check(gate_was_on=run.report["layers"]["gate"]["state"] == "on")


def write_only_page(place):
    place.first()
    run = attack(place, WRITE_ONLY).ended(97)
    place.untouched()
    run.check(command_ended_well=run.report["exit"]["command"]["code"] == 0,
              each_is_refused=not [one for one in run.report["violations"] if one["landed"]],
              in_three_ways={(one["operation"], one["count"]) for one in run.of("personas.toml")} == {
                  ("unlink", 2), ("chmod", 2), ("openat", 2)})


def is_as_it_was(place, run):
    """Nothing landed or all of it is put back, and it was the command."""
    landed = [one for one in run.report["violations"] if one["landed"]]
    now = place.survey()
    run.check(nobody_else=run.report["outside"] == [], all_verified=run.report["verified"] == run.report["protected"],
              what_landed_is_put_back=all(one["restored"] for one in landed),
              same_names=now.keys() == place.saved.keys(),
              same_content_and_metadata=all(now[name][3:] == place.saved[name][3:] for name in now))
    return landed


def memory_race(place):
    place.first()
    for call in ("unlink", "chmod", "rename"):
        run = attack(place, MEMORY_RACE, call).ended(97)
        landed = is_as_it_was(place, run)
        refused = [one for one in run.of("personas.toml") if not one["landed"]]
        run.check(refused_too=call in {one["operation"] for one in refused},
                  told_when_it_landed=("landed" in run.out) == bool(landed))


def descriptor_race(place):
    place.first()
    run = attack(place, DESCRIPTOR_RACE).ended(97)
    is_as_it_was(place, run)
    run.check(refused_too={"fchmod", "openat"} <= {one["operation"] for one in run.of("personas.toml")})


def tree_moved_in(place):
    """What is protected by its name comes with a directory that is not."""
    place.write("holdfast.json", EVERYWHERE)
    place.first()
    run = attack(place, TREE).ended(97)
    place.untouched()
    found = run.of("d/e/x.toml")
    run.check(one_violation=len(run.report["violations"]) == 1 == len(found), nobody_else=run.report["outside"] == [],
              landed=found[0]["landed"], moved_away=found[0]["restored"])


def dangling(place):
    """A file is made where a link leads."""
    place.first()
    run = attack(place, DANGLING).ended(97)
    place.untouched()
    found = run.of("new.toml")
    run.check(nothing_landed=run.out == "", one_violation=len(run.report["violations"]) == 1 == len(found),
              four_times=found[0]["count"] == 4, by_open=found[0]["operation"] == "openat")


def plant_store(place):
    """What the next run would take for recorded."""
    place.first()
    home = place.path("state/holdfast")
    where = os.path.join(home, os.listdir(home)[0])
    run = attack(place, PLANT, where).ended(97)
    run.check(nothing_landed=run.out == "", only_the_store={one["path"] for one in run.report["violations"]} == {where},
              each_is_refused=not [one for one in run.report["violations"] if one["landed"]])
    place.untouched()
    place.run("true", options=()).ended(0)


def mode_3(place):
    """It gives a descriptor that neither reads nor writes."""
    place.first()
    run = attack(place, MODE_3).ended(0)
    place.untouched()
    run.check(nothing_landed=run.out == "", clean=run.report["status"] == "clean" and run.report["violations"] == [])


def fail_fast(place):
    """The first refusal is the last thing that any of them is told."""
    place.first()
    for _round in range(3):
        run = attack(place, CROWD, *FILES, options=("--fail-fast",)).ended(97)
        place.untouched()
        run.check(one_violation=len(run.report["violations"]) == 1, once=run.report["violations"][0]["count"] == 1,
                  told_once=run.err.count("holdfast: refused: ") == 1,
                  command_was_ended=run.report["exit"]["command"]["signal"] is not None)


def many_at_once(place):
    """Of a directory each file is named, but not of one with more than a hundred."""
    place.write("holdfast.json", EVERYWHERE)
    for directory, count in (("some", NAMED), ("many", NAMED + 1)):
        os.mkdir(place.file(directory))
        for number in range(count):
            place.write("%s/%03d.toml" % (directory, number), "x")
    place.give(place.root)
    place.first()
    run = attack(place, MANY).ended(97)
    place.untouched()
    named = {one["path"] for one in run.report["violations"]}
    run.check(of_many_itself=[one for one in named if one.startswith("many")] == ["many"],
              of_some_each=named - {"many"} == {"some/%03d.toml" % number for number in range(NAMED)})


tell(write_only_page, memory_race, descriptor_race, tree_moved_in, dangling, plant_store, mode_3, fail_fast,
     many_at_once)
