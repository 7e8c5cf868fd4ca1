#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whichever process of a run is killed, and whenever: all files that were damaged are what they were, each damaged
version is kept, the report is written, and nobody had to start anything.

    deaths.py HOLDFAST [require] [CASE ...]

What damages is the story itself, so that it lands behind a gate as well; the policy says that it is put back.
Moments are held, not timed: whoever wants to look at the tree waits for the store's lock, which the story has.
"""
import contextlib
import fcntl
import glob
import json
import os
import signal
import sys
import time

import on_terminal
from on_terminal import Failure, case, eventually, main, processes

# Each file that is put back is synced, and others may use the disk as well.
on_terminal.PATIENCE = 240

# How many files, and the size of each.
SMALL = (200, 4 << 10)
LARGE = (1000, 64 << 10)


def damage(i):
    return b"bad %d\n" % i


class Run:
    """A project of many files on a terminal, and a run of it."""

    def __init__(self, s, count, size):
        self.s = s
        self.count = count
        self.size = size
        for i in range(self.count):
            self.write(i, self.content(i))
        s.script("holdfast.json", '{ "on-outside": "restore" }\n')
        self.t = s.terminal()
        # What "require" tries first takes long, and is remembered in each state directory anew.
        self.t.type("%s sleep 9000.%d\n" % (s.command.replace("require", "auto"), os.getpid()))
        self.front, self.guard, self.canary, self.command = self.t.job()
        (identity,) = glob.glob(os.path.join(s.base, "state/holdfast/*/store.json"))
        self.store = os.path.dirname(identity)

    def content(self, i):
        return (b"value = %d\n" % i).ljust(64, b"#") * (self.size // 64)

    def path(self, i):
        return os.path.join(self.s.root, "f%d.toml" % i)

    def write(self, i, data):
        with open(self.path(i), "wb") as f:
            f.write(data)

    def damage(self):
        """All of it, before anybody looks: the lock is held.  By other files: an open would wait for its lease."""
        for i in range(self.count):
            name = os.path.join(self.s.base, "damage")
            with open(name, "wb") as f:
                f.write(damage(i))
            os.replace(name, self.path(i))

    def damage_seen(self):
        self.damage()
        eventually("guard waits for the lock", lambda: self.waits(self.guard))

    def damaged(self):
        return sum(os.stat(self.path(i)).st_size != self.size for i in range(self.count))

    def kept(self):
        return glob.glob(os.path.join(self.store, "kept/*/f*.toml*"))

    @contextlib.contextmanager
    def held(self):
        """Nobody looks at the tree to put it back."""
        with open(os.path.join(self.store, "lock"), "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def waits(self, pid):
        """proc_locks(5): "1: -> FLOCK ADVISORY WRITE PID ..."."""
        with open("/proc/locks", encoding="ascii") as locks:
            return any(words[1] == "->" and words[5] == str(pid) for words in map(str.split, locks))

    def kill(self, who):
        if who == "hang-up":
            os.close(self.t.fd)
            self.t.fd = -1
        elif who == "group":
            os.killpg(self.front, signal.SIGKILL)
        else:
            os.kill(self.t.pid if who == "shell" else getattr(self, who), signal.SIGKILL)

    def check(self):
        eventually("the end of every process", lambda: not self.s.left())
        for i in range(self.count):
            with open(self.path(i), "rb") as f:
                if f.read() != self.content(i):
                    raise Failure("%s is not what it was" % self.path(i))
        self.s.check_end()
        self.check_kept()
        self.check_report()
        if glob.glob(os.path.join(self.store, "sessions/*.open")):
            raise Failure("the session is still open")

    def check_kept(self):
        kept = set()
        for name in self.kept():
            with open(name, "rb") as f:
                kept.add(f.read())
        lost = [i for i in range(self.count) if damage(i) not in kept]
        if lost:
            raise Failure("what was replaced is lost: %s of %d" % (lost[:5], len(lost)))

    def check_report(self):
        with open(self.s.report, encoding="utf-8") as f:
            report = json.load(f)
        restored = {one["path"] for one in report["violations"] if one["landed"] and one["restored"] and one["kept"]}
        gate = report["layers"]["gate"]
        if gate["state"] == "unavailable" and gate["why"] != "a process of holdfast was killed":
            raise Failure("there is no gate: %s" % gate)
        if report["status"] != "violated" or len(restored) != self.count or report["verified"] != report["protected"]:
            raise Failure("the report: %s, %d restored of %d, %s verified; %s" % (
                report["status"], len(restored), len(report["violations"]), report["verified"],
                [one for one in report["violations"] if one["path"] not in restored][:1]))


def while_it_runs(run, who):
    """With damage that nobody has looked at yet."""
    with run.held():
        run.damage()
        run.kill(who)


def while_it_waits_to_look(run, who):
    with run.held():
        run.damage_seen()
        run.kill(who)
        if who == "guard":
            eventually("front waits for the lock", lambda: run.waits(run.front))


def while_it_is_stopped(run, who):
    run.t.type("\x1a")
    run.t.wait_for("Stopped")
    eventually("front is stopped", lambda: processes()[run.front][2] == "T")
    while_it_waits_to_look(run, who)
    if who == "canary":
        eventually("the end of guard", lambda: processes().get(run.guard, "ZZZ")[2] == "Z")
        run.t.type("fg\n")


def while_it_restores(run, who):
    with run.held():
        run.damage()
    end = time.monotonic() + on_terminal.PATIENCE
    while not run.kept() and time.monotonic() < end:
        pass
    run.kill(who)
    if not run.damaged():
        raise Failure("all was back before anybody was killed")


def story(phase, who):
    def tell(s):
        is_large = phase is while_it_restores and who in ("guard", "group")
        run = Run(s, *(LARGE if is_large else SMALL))
        phase(run, who)
        run.check()
    tell.__name__ = "%s_%s" % (who.replace("-", "_"), phase.__name__)
    case(tell)


for one in (while_it_runs, while_it_is_stopped, while_it_waits_to_look, while_it_restores):
    for victim in ("front", "guard", "canary", "group", "shell", "hang-up"):
        story(one, victim)

sys.exit(main())
