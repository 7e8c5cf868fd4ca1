#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs of one project beside each other: what one damages, puts back, or leaves behind when it is killed is not the
other's, and who comes meanwhile waits or is told why not.

    34-runs-beside.py HOLDFAST SUPPORT [ROUNDS]
"""
import contextlib
import fcntl
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HOLDFAST = os.path.abspath(sys.argv[1])
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 20
SIDE_BY_SIDE = 10
PATIENCE = 240
FILES = {"a.toml": b"a = 1 # one\n", "b.toml": b"b = 2\n", "c.toml": b"c = 3\n"}
# The bystander's tests remove and rename files of their own all the time.
BUSY = ": >%s; while [ ! -e %s ]; do echo x >scratch.tmp; mv scratch.tmp scratch.old; rm scratch.old; done; %s"
QUIET = ": >%s; until [ -e %s ]; do sleep 0.01; done; %s"
DAMAGE = "echo bad >a.toml; rm -f b.toml; mv c.toml d.toml; echo new >e.toml; sleep 1000"


def wait_for(what, condition):
    limit = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > limit:
            raise AssertionError("never happened: " + what)
        time.sleep(0.005)


class Project:
    def __init__(self):
        self.base = tempfile.mkdtemp(prefix="hf-beside-")
        self.root = os.path.join(self.base, "project")
        self.env = dict(os.environ, XDG_STATE_HOME=os.path.join(self.base, "state"))
        os.mkdir(self.root)
        for name, data in FILES.items():
            self.write(name, data)
        self.count = 0
        self.started = []
        self.run("true").ended(0)
        (identity,) = glob.glob(os.path.join(self.base, "state/holdfast/*/store.json"))
        self.store = os.path.dirname(identity)

    def path(self, name):
        return os.path.join(self.base, name)

    def write(self, name, data):
        with open(os.path.join(self.root, name), "wb") as file:
            file.write(data)

    def run(self, script, gate="auto", *more):
        self.count += 1
        run = Run(self, self.path("report.%d" % self.count),
                  ["run", "--gate", gate, *more], ["--", "sh", "-c", script])
        self.started.append(run)
        return run

    def held(self, script, how=QUIET, gate="auto"):
        """A run that has begun, and does the script when it is told to go."""
        up, go = self.path("up.%d" % self.count), self.path("go.%d" % self.count)
        run = self.run(how % (up, go, script), gate)
        run.up, run.go = up, go
        return run

    def command(self, *words):
        return subprocess.run([HOLDFAST, *words], cwd=self.root, env=self.env, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE, check=False)

    @contextlib.contextmanager
    def locked(self):
        with open(os.path.join(self.store, "lock"), "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def untouched(self):
        for name, data in FILES.items():
            with open(os.path.join(self.root, name), "rb") as file:
                now = file.read()
            assert now == data, (name, now)
        extra = set(os.listdir(self.root)) - set(FILES) - {"scratch.tmp", "scratch.old"}
        assert not extra, extra

    def done(self):
        for run in self.started:
            if run.process.poll() is None:
                run.kill_all()
        shutil.rmtree(self.base, ignore_errors=True)


def waits_for_lock(pid):
    """proc_locks(5): "1: -> FLOCK ADVISORY WRITE PID ..."."""
    with open("/proc/locks", encoding="ascii") as locks:
        return any(words[1] == "->" and words[5] == str(pid) for words in map(str.split, locks))


def children(pid):
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


class Run:
    def __init__(self, project, report, options, words):
        self.report_path = report
        self.process = subprocess.Popen(
            [HOLDFAST, *options, "--report", report, *words], cwd=project.root, env=project.env,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, process_group=0)
        self.up = self.go = self.err = None

    def begun(self):
        wait_for("the command", lambda: os.path.exists(self.up) or self.process.poll() is not None)
        assert os.path.exists(self.up), self.process.communicate()
        return self

    def tell_to_go(self):
        with open(self.go, "wb"):
            pass
        return self

    def guard(self):
        for pid in children(self.process.pid):
            if os.getpgid(pid) == pid:
                return pid
        raise AssertionError("no guard")

    def ended(self, *wanted):
        _out, self.err = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode in wanted, (self.process.returncode, wanted, self.err)
        return self

    def report(self):
        with open(self.report_path, encoding="utf-8") as file:
            return json.load(file)

    def kill_all(self):
        """Stopped first, so that none acts on the death of another; front last, whose end wakes guard."""
        front = self.process.pid
        os.kill(front, signal.SIGSTOP)
        pids = children(front)
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        beneath = [one for pid in pids for one in children(pid)]
        for pid in beneath + pids + [front]:
            os.kill(pid, signal.SIGKILL)
        self.process.communicate()


def what_another_damages(project):
    """Behind a gate it is known not to be ours, while it happens and when it is put back."""
    for how in (QUIET, BUSY):
        bystander = project.held("exit 3", how).begun()
        project.run(DAMAGE, "off").ended(97)
        project.untouched()
        bystander.tell_to_go().ended(3)
        report = bystander.report()
        assert report["status"] == "clean" and report["violations"] == [] and report["verified"] == 3, report
        assert "changed by another run beside this one (session " in bystander.err, bystander.err
        project.untouched()


def what_another_is_refused(project):
    bystander = project.held("exit 3", BUSY).begun()
    other = project.run("echo bad >a.toml; rm -f b.toml; exit 0").ended(97)
    assert len(other.report()["violations"]) == 2, other.report()
    bystander.tell_to_go().ended(3)
    assert bystander.err == "", bystander.err
    project.untouched()


def who_died_beside(project):
    """What is left alive holds: its gate, its leases, its own verdict; what the dead one recorded is settled."""
    bystander = project.held("echo bad >a.toml; exit 3").begun()
    other = project.held("exit 4", BUSY).begun()
    other.kill_all()
    wait_for("its locks are gone", lambda: "did not end" in project.command("status").stdout)
    bystander.tell_to_go().ended(97)
    (violation,) = bystander.report()["violations"]
    assert not violation["landed"], violation
    project.run("exit 5").ended(5)
    assert not glob.glob(os.path.join(project.store, "sessions/*.open"))
    project.untouched()


def who_comes_meanwhile(project):
    """Commands that change what a run relies on say that it is there; those that look work."""
    run = project.held("exit 0").begun()
    for words in (["snapshot"], ["restore"], ["restore", "a.toml"], ["undo"]):
        result = project.command(*words)
        assert result.returncode == 3 and "a run is in progress" in result.stderr, (words, result)
        assert "hint: " in result.stderr and "ended" in result.stderr, (words, result)
    for words in (["status"], ["log"], ["verify"]):
        assert project.command(*words).returncode == 0, (words, project.command(*words))
    # A second run shares what was recorded; it does not begin with another tree.
    name = os.path.join(project.root, "a.toml")
    before = os.stat(name)
    project.write("a.toml", b"a = 2\n")
    late = project.run("exit 0").ended(125)
    assert "another run is in progress, and 'a.toml' differs" in late.err, late.err
    assert "hint: wait until it has ended" in late.err, late.err
    project.write("a.toml", FILES["a.toml"])
    os.utime(name, ns=(before.st_atime_ns, before.st_mtime_ns))
    project.run("exit 6").ended(6)
    run.tell_to_go().ended(97)
    project.untouched()


def who_waits_for_a_survivor(project):
    """Guard is killed, front is about to put back: a new run waits for it, and then finds the tree as it was."""
    run = project.held(DAMAGE, gate="off").begun()
    with project.locked():
        run.tell_to_go()
        guard = run.guard()
        wait_for("guard wants to look", lambda: waits_for_lock(guard))
        os.kill(guard, signal.SIGKILL)
        wait_for("front wants to look", lambda: waits_for_lock(run.process.pid))
        late = project.run("exit 8")
        wait_for("the new run waits", lambda: waits_for_lock(late.process.pid))
    run.ended(97)
    # Whichever has the lock first: before the restore the new one may not begin.
    late.ended(8, 125)
    assert late.process.returncode == 8 or "another run is in progress" in late.err, late.err
    project.untouched()
    project.run("exit 9").ended(9)


def many_at_once(project):
    """Some are refused, some are killed wholly, and each of the others ends with what its command says."""
    for number in range(ROUNDS):
        runs = []
        for i in range(SIDE_BY_SIDE):
            script = "echo bad >a.toml; exit 0" if i % 4 == 1 else "exit %d" % (10 + i)
            runs.append(project.held(script, BUSY if i % 2 else QUIET))
        for run in runs:
            run.begun()
        for run in runs[3::4]:
            run.kill_all()
        for run in runs:
            run.tell_to_go()
        for i, run in enumerate(runs):
            if i % 4 != 3:
                run.ended(97 if i % 4 == 1 else 10 + i)
        project.untouched()
        project.run("exit 7").ended(7)
        assert not glob.glob(os.path.join(project.store, "sessions/*.open")), number
    print("%d rounds of %d runs" % (ROUNDS, SIDE_BY_SIDE))
    assert ROUNDS >= 20


def main():
    for case in (what_another_damages, what_another_is_refused, who_died_beside, who_comes_meanwhile,
                 who_waits_for_a_survivor, many_at_once):
        project = Project()
        start = time.monotonic()
        try:
            case(project)
        finally:
            project.done()
        print("ok %s %.2fs" % (case.__name__, time.monotonic() - start), flush=True)


main()
