#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whoever of holdfast is killed while a command hammers at the gate: the tree ends, nothing lands, nothing waits.

    69-gate-crash.py HOLDFAST SUPPORT [STORY...]
"""
import os
import signal

from story import FILES, LIMIT, tell

# Eight programs with two threads each; when all were refused, the fifo says so.
HAMMER = """
import os, sys, threading
read_end, write_end = os.pipe()
def strike(name, i):
    told = False
    while True:
        for blow in (lambda: os.open(name, os.O_WRONLY | os.O_TRUNC), lambda: os.unlink(name),
                     lambda: os.rename(name, name + ".gone"), lambda: os.chmod(name, 0o777),
                     lambda: os.truncate(name, 0)):
            try:
                blow()
                os._exit(1)
            except OSError:
                pass
        if not told:
            os.write(write_end, b".")
            told = True
for i in range(8):
    if os.fork() == 0:
        # What is left of the job's group ends only by the tree's end.
        if i % 2:
            os.setsid()
        name = sys.argv[1 + i % 6]
        threading.Thread(target=strike, args=(name, i)).start()
        strike(sys.argv[1 + (i + 1) % 6], i)
count = 0
while count < 16:
    count += len(os.read(read_end, 16))
with open("../tmp/guard", "w") as file:
    print(os.getppid(), file=file)
with open(os.environ["UP"], "w") as file:
    print("up", file=file)
open(os.environ["DOWN"]).read()
"""


def hammered(place):
    place.first()
    run = place.start("/usr/bin/env", "python3", "-c", HAMMER, *FILES, options=("--gate", "require"),
                      process_group=0).begun()
    with open(place.path("tmp", "guard"), encoding="utf-8") as file:
        return run, int(file.read())


def reap():
    """All that were orphaned are ours, and end."""
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        pass


def is_over(place, run, has_report=True, names_all=True):
    run.end()
    reap()
    place.untouched()
    left = place.processes()
    run.check(nothing_is_left=left == [])
    if has_report:
        paths = {one["path"] for one in run.report["violations"]}
        run.check(over=run.report["status"] == "violated" and run.report["ended"],
                  as_it_was=run.report["verified"] == run.report["protected"],
                  none_landed=not [one for one in run.report["violations"] if one["landed"]],
                  files_are_named=paths == set(FILES) if names_all else paths and paths <= set(FILES))
    after = place.run("true").ended(0)
    after.check(nothing_to_say=has_report is False or after.err == "")
    place.untouched()


def guard(place):
    run, pid = hammered(place)
    os.kill(pid, signal.SIGKILL)
    # What it had refused and not written down yet is lost with it.
    is_over(place, run, names_all=False)
    run.ended(97)


def front(place):
    run, _pid = hammered(place)
    run.process.kill()
    is_over(place, run)
    run.ended(-signal.SIGKILL)


def group(place):
    """With front and the command, but not who has a session of its own."""
    run, _pid = hammered(place)
    os.killpg(run.process.pid, signal.SIGKILL)
    is_over(place, run)


def front_and_guard(place):
    """Nobody is left to end the tree; what still runs can do no harm, and the next run begins as ever."""
    run, pid = hammered(place)
    for one in (run.process.pid, pid):
        os.kill(one, signal.SIGKILL)
    run.process.wait(timeout=LIMIT)
    os.waitpid(pid, 0)
    left = place.processes()
    while [one for one in left if "seccomp" in one[1]]:
        left = place.processes()
    for one, _where in left:
        os.kill(one, signal.SIGKILL)
    is_over(place, run, has_report=False)


def command(place):
    """The command alone: what it has left behind is ended."""
    run, pid = hammered(place)
    with open("/proc/%d/task/%d/children" % (pid, pid), encoding="utf-8") as file:
        os.kill(int(file.read().split()[0]), signal.SIGKILL)
    is_over(place, run)
    run.ended(97)


def at_its_own_hand(place):
    """A command that kills its guard ends with it, and without a deed of its own there is no violation."""
    place.first()
    run = place.run("sh", "-c", """
        kill -KILL "$PPID"; for i in 1 2 3 4 5 6 7 8 9; do : >"$1"; rm -f "$1"; done; exit 0""", "sh", "personas.toml")
    is_over(place, run, has_report=False)
    run.ended(97 if run.report["violations"] else 125)


tell(guard, front, group, front_and_guard, command, at_its_own_hand)
