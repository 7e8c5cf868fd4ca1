#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A Ctrl-C at any moment of a run: before the command exists it ends holdfast, while it runs it ends the command,
and afterwards it is noted, not obeyed.  Whatever the moment, nothing is lost or left.

    37-signals-in-phases.py HOLDFAST SUPPORT [require]
"""
import fcntl
import glob
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HOLDFAST = os.path.abspath(sys.argv[1])
GATE = sys.argv[3] if len(sys.argv) > 3 else "off"
FILES = 200
SIZE = 8192
# Moments of a run that damages everything, from its start.
MOMENTS = 6


def content(i):
    return (b"file %d\n" % i) * (SIZE // 12)


class Project:
    def __init__(self):
        self.base = tempfile.mkdtemp(prefix="hf-signals-")
        self.root = os.path.join(self.base, "project")
        self.mark = os.path.join(self.base, "ran")
        os.mkdir(self.root)
        self.fifo = os.path.join(self.base, "fifo")
        os.mkfifo(self.fifo)
        for i in range(FILES):
            with open(os.path.join(self.root, "%d.toml" % i), "wb") as f:
                f.write(content(i))

    def start(self, script):
        """In a group of its own, as a shell with job control starts a job."""
        env = dict(os.environ, XDG_STATE_HOME=os.path.join(self.base, "state"))
        return subprocess.Popen([HOLDFAST, "run", "--gate", GATE, "--root", self.root, "--", "sh", "-c", script],
                                cwd=self.root, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, process_group=0)

    def left(self):
        found = []
        for name in glob.glob("/proc/[0-9]*/cmdline"):
            try:
                with open(name, "rb") as f:
                    if self.base.encode() in f.read():
                        found.append(name)
            except OSError:
                pass
        return found

    def check(self, what):
        wrong = []
        for i in range(FILES):
            try:
                with open(os.path.join(self.root, "%d.toml" % i), "rb") as f:
                    if f.read() != content(i):
                        wrong.append(i)
            except OSError:
                wrong.append(i)
        names = set(os.listdir(self.root)) - {"%d.toml" % i for i in range(FILES)}
        journals = glob.glob(os.path.join(self.base, "state/holdfast/*/sessions/*.open"))
        for text, bad in (("damaged", wrong[:5]), ("left in the project", names), ("sessions left open", journals),
                          ("processes left", self.left())):
            if bad:
                sys.exit("%s: %s: %s" % (what, text, bad))

    def done(self):
        shutil.rmtree(self.base, ignore_errors=True)


def end(process, what, wanted):
    try:
        _out, text = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        sys.exit("%s: did not end" % what)
    if process.returncode not in wanted:
        sys.exit("%s: status %s, wanted one of %s: %s" % (what, process.returncode, wanted, text.decode()))
    return text.decode("utf-8", "replace")


def wait_for(what, condition):
    limit = time.monotonic() + 30
    while not condition():
        if time.monotonic() > limit:
            sys.exit("never happened: " + what)
        time.sleep(0.002)


def interrupt(process, project, what):
    """Interrupted before its end: 0 is the command's, which then ran."""
    os.killpg(process.pid, signal.SIGINT)
    text = end(process, what, (-signal.SIGINT, 0))
    if process.returncode == 0 and not os.path.exists(project.mark):
        sys.exit("%s: status 0, and the command did not run: %s" % (what, text))
    return process.returncode


def waits_for_lock(pid):
    """proc_locks(5): "1: -> FLOCK ADVISORY WRITE PID ..."."""
    with open("/proc/locks", encoding="ascii") as file:
        return any(words[1] == "->" and words[5] == str(pid) for words in map(str.split, file))


def before_the_command(project):
    """While a run waits for the store, nothing of it has been started."""
    end(project.start("true"), "the first run", (0,))
    (lock,) = glob.glob(os.path.join(project.base, "state/holdfast/*/lock"))
    with open(lock, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        process = project.start(": >%s" % project.mark)
        wait_for("waiting for the lock", lambda: waits_for_lock(process.pid))
        if interrupt(process, project, "before the command") != -signal.SIGINT:
            sys.exit("before the command: the interrupt was not obeyed")
    if os.path.exists(project.mark):
        sys.exit("the command ran after the interrupt")
    end(project.start("exit 7"), "the run after an interrupted one", (7,))
    project.check("before the command")


def while_it_begins(project):
    """The first snapshot takes long: the signal comes while it is made, or soon after."""
    for moment in range(MOMENTS):
        shutil.rmtree(os.path.join(project.base, "state"), ignore_errors=True)
        process = project.start(": >%s" % project.mark)
        wait_for("the store", lambda: glob.glob(os.path.join(project.base, "state/holdfast/*")))
        time.sleep(moment * 0.005)
        status = interrupt(process, project, "while it begins, moment %d" % moment)
        if os.path.exists(project.mark):
            if moment == 0 and status != 0:
                sys.exit("the command ran after the interrupt")
            os.unlink(project.mark)
        end(project.start("exit 7"), "the run after an interrupted one", (7,))
        project.check("while it begins")


def while_it_runs(project):
    # With exec: a shell may take the signal for its child's and go on when that was not there yet.
    process = project.start(": >%s; exec sleep 1000" % project.mark)
    wait_for("the command", lambda: os.path.exists(project.mark))
    os.killpg(process.pid, signal.SIGINT)
    end(process, "while it runs", (-signal.SIGINT,))
    project.check("while it runs")


def at_every_moment(project):
    """Damage to everything; signals all the way through the end of the command, the look and the restore.  What is
    refused ends nobody: with the gate it is a signal, at the same moments, that ends the command."""
    for moment in range(MOMENTS):
        if os.path.exists(project.mark):
            os.unlink(project.mark)
        what = "moment %d" % moment
        process = project.start("trap '' INT; for f in *.toml; do echo bad >$f; done 2>/dev/null; : >%s; sleep 1000" %
                                project.mark)
        wait_for("damage", lambda: os.path.exists(project.mark) or process.poll() is not None)
        if GATE != "off":
            os.kill(process.pid, signal.SIGTERM)
        time.sleep(moment * 0.04)
        for _ in range(3):
            try:
                os.killpg(process.pid, signal.SIGINT)
            except ProcessLookupError:
                break
        end(process, what, (97,))
        project.check(what)


def send(process, number, to_group, times):
    for _ in range(times):
        (os.killpg if to_group else os.kill)(process.pid, number)


def guard_of(process):
    with open("/proc/%d/task/%d/children" % (process.pid, process.pid), encoding="ascii") as file:
        return [pid for pid in map(int, file.read().split()) if os.getpgid(pid) == pid][0]


def ten_while_it_runs(project):
    """Each arrives once, at the command; what that makes of it is the status."""
    script = os.path.join(project.base, "count.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write("import os, signal, sys\n"
                   "seen = 0\n"
                   "all = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2}\n"
                   "signal.pthread_sigmask(signal.SIG_BLOCK, all)\n"
                   "open('%s', 'w').close()\n"
                   "while True:\n"
                   "    number = signal.sigwait(all)\n"
                   "    seen += 1\n"
                   "    with open('%s.%%d' %% seen, 'w'): pass\n"
                   "    if number == signal.SIGUSR1: os._exit(seen)\n" % (project.mark, project.mark))
    process = project.start("exec python3 %s" % script)
    wait_for("the command", lambda: os.path.exists(project.mark))
    count = 0
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        for to_group in (True, False):
            for _ in range(10):
                # What front has not taken yet would be one with the next of its kind.
                for one, group in ((number, to_group), (signal.SIGUSR2, False)):
                    count += 1
                    send(process, one, group, 1)
                    wait_for("signal %d" % count, lambda: os.path.exists("%s.%d" % (project.mark, count)))
    send(process, signal.SIGUSR1, False, 1)
    # One that had come twice would have been counted by now.
    end(process, "ten while it runs", (count + 1,))
    project.check("ten while it runs")


def ten_after_the_command(project):
    """From a terminal, a CI system or a person who is in a hurry: the look and the restore come to their end."""
    tried = 0
    end(project.start("true"), "the first run", (0,))
    (lock,) = glob.glob(os.path.join(project.base, "state/holdfast/*/lock"))
    kept = os.path.join(os.path.dirname(lock), "kept/*/*")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        for to_group, times in ((True, 1), (True, 2), (True, 10), (False, 10)):
            what = "signal %d, %d times after the command" % (number, times)
            before = len(glob.glob(kept))
            with open(lock, "rb") as file:
                begin = project.start("read -r _ <%s; for f in *.toml; do echo bad >$f; done 2>/dev/null" %
                                      project.fifo)
                with open(project.fifo, "wb"):
                    fcntl.flock(file, fcntl.LOCK_EX)
                guard = guard_of(begin)
                wait_for("guard waits to look", lambda: waits_for_lock(guard))
                send(begin, number, to_group, times)
            if GATE == "off":
                wait_for("the first is put back", lambda: len(glob.glob(kept)) > before)
                send(begin, number, to_group, times)
            end(begin, what, (97,))
            project.check(what)
            tried += 1
    print("%d kinds of interrupts after the command" % tried)


def while_one_repairs(project):
    """By hand: what has begun comes to its end, and then the signal does what it does."""
    env = dict(os.environ, XDG_STATE_HOME=os.path.join(project.base, "state"))
    end(project.start("true"), "the first run", (0,))
    (lock,) = glob.glob(os.path.join(project.base, "state/holdfast/*/lock"))
    kept = os.path.join(os.path.dirname(lock), "kept/*/*")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        for i in range(FILES):
            os.unlink(os.path.join(project.root, "%d.toml" % i))
            with open(os.path.join(project.root, "%d.toml" % i), "wb") as file:
                file.write(b"changed by hand\n")
        before = len(glob.glob(kept))
        process = subprocess.Popen([HOLDFAST, "restore", "--root", project.root], cwd=project.root, env=env,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        wait_for("the first is put back", lambda: len(glob.glob(kept)) > before)
        os.kill(process.pid, number)
        text = end(process, "signal %d while one restores" % number, (-number,))
        if "undo: holdfast undo" not in text:
            sys.exit("signal %d while one restores: no way back was said: %s" % (number, text))
        project.check("signal %d while one restores" % number)


def main():
    for case in (before_the_command, while_it_begins, while_it_runs, at_every_moment, ten_while_it_runs,
                 ten_after_the_command, while_one_repairs):
        project = Project()
        try:
            case(project)
        finally:
            project.done()


main()
