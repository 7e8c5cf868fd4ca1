# SPDX-License-Identifier: MIT
"""What the stories on a terminal share.

    STORY.py HOLDFAST [require] [CASE ...]

Each case drives an interactive shell on a pseudo-terminal, waits for what must come (never for a time), and
ends with a look at the protected file and at the processes that are left.  With "require" it does so behind a gate.
"""
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HOLDFAST = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else sys.exit(__doc__)
GATE = "require" if "require" in sys.argv[2:] else "off"
PATIENCE = 30
ORIGINAL = "# kept by hand\nvalue = 1\n"
# Two writers, one of them in a session of its own, that never end by themselves.
# In the terminal's group stands no shell: dash forks by vfork(), and a child that is
# stopped before its exec leaves a shell that can neither stop nor go on.
DAMAGE = """trap '' TERM
setsid sh -c 'while :; do echo bad2 >> config.toml; sleep 0.01; done' MARK 2>/dev/null &
exec python3 -c "
import time
while True:
    try:
        with open('config.toml', 'w') as f:
            f.write('bad\\n')
    except OSError:
        pass
    time.sleep(0.01)
"
"""


class Failure(Exception):
    pass


def processes():
    """pid -> (parent, group, state, command line)"""
    found = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % name, encoding="utf-8", errors="replace") as f:
                fields = f.read().rpartition(")")[2].split()
            with open("/proc/%s/cmdline" % name, "rb") as f:
                line = f.read().replace(b"\0", b" ").decode("utf-8", "replace").strip()
        except OSError:
            continue
        found[int(name)] = (int(fields[1]), int(fields[2]), fields[0], line)
    return found


def eventually(what, condition):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise Failure("never happened: " + what)


class Terminal:
    """A program on a pseudo-terminal of its own."""

    def __init__(self, scratch, argv):
        self.scratch = scratch
        self.text = ""
        self.seen = 0
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(scratch.root)
            env = dict(os.environ, PS1="$ ", HISTFILE="/dev/null", TERM="dumb", HOME=scratch.base,
                       XDG_STATE_HOME=os.path.join(scratch.base, "state"))
            env.pop("PROMPT_COMMAND", None)
            os.execvpe(argv[0], argv, env)

    def pump(self, seconds=0.05):
        ready, _, _ = select.select([self.fd], [], [], seconds)
        if not ready:
            return False
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        self.text += data.decode("utf-8", "replace").replace("\r", "")
        return bool(data)

    def type(self, text):
        os.write(self.fd, text.encode())

    def wait_for(self, pattern):
        """Until pattern appears in what was not looked at before."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            match = re.search(pattern, self.text[self.seen:])
            if match:
                self.seen += match.end()
                return match
            self.pump()
        raise Failure("the terminal never said %r; it said:\n%s" % (pattern, self.text))

    def ask(self, line, pattern):
        """Type it until it is answered: a stop key and a change of the terminal's mode drop what was typed before."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            self.type(line)
            again = time.monotonic() + 3
            while time.monotonic() < again:
                match = re.search(pattern, self.text[self.seen:])
                if match:
                    self.seen += match.end()
                    return match
                self.pump()
        raise Failure("the terminal never said %r; it said:\n%s" % (pattern, self.text))

    def run(self, line):
        self.type("%s %s\n" % (self.scratch.command, line))

    def job(self):
        """pids of front, guard and canary, once all of them and the command are there"""
        return eventually("front, guard and canary", lambda: self.scratch.ours(self.pid))

    def close(self):
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
        try:
            os.kill(self.pid, signal.SIGHUP)
            os.waitpid(self.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass


class Scratch:
    def __init__(self):
        self.base = tempfile.mkdtemp(prefix="hf-terminal-")
        self.root = os.path.join(self.base, "project")
        self.tag = os.path.basename(self.base)
        os.mkdir(self.root)
        self.file = os.path.join(self.root, "config.toml")
        with open(self.file, "w", encoding="utf-8") as f:
            f.write(ORIGINAL)
        self.script("damage.sh", DAMAGE.replace("MARK", self.tag))
        self.report = os.path.join(self.base, "report.json")
        guarded = "%s run --gate %s --root %s --report %s" % (HOLDFAST, GATE, self.root, self.report)
        self.command = guarded + " --"
        self.keep_going = guarded + " --keep-going --"
        self.terminals = []

    def script(self, name, text):
        with open(os.path.join(self.root, name), "w", encoding="utf-8") as f:
            f.write(text)

    def terminal(self, *argv):
        terminal = Terminal(self, list(argv) or ["bash", "--norc", "--noprofile", "-i"])
        self.terminals.append(terminal)
        if not argv:
            terminal.wait_for(r"\$ $")
        return terminal

    def ours(self, shell):
        everything = processes()
        fronts = [p for p, (parent, _g, _s, line) in everything.items()
                  if line.startswith(HOLDFAST) and self.root in line and
                  not everything.get(parent, (0, 0, "", ""))[3].startswith(HOLDFAST)]
        if len(fronts) != 1:
            return None
        front = fronts[0]
        children = [(p, v) for p, v in everything.items() if v[0] == front and v[3].startswith(HOLDFAST)]
        guard = [p for p, v in children if v[1] != everything[front][1]]
        canary = [p for p, v in children if v[1] == everything[front][1]]
        command = [p for p, v in everything.items() if guard and v[0] == guard[0] and not v[3].startswith(HOLDFAST)]
        if len(guard) == 1 and len(canary) == 1 and command:
            return front, guard[0], canary[0], command[0]
        return None

    def left(self):
        return {p: v[3] for p, v in processes().items()
                if (self.root in v[3] or self.tag in v[3]) and v[2] not in "ZX" and
                not v[3].startswith(("bash --norc", "python"))}

    def content(self):
        try:
            with open(self.file, encoding="utf-8") as f:
                return f.read()
        except FileNotFoundError:
            return None

    def damaged(self):
        return self.content() != ORIGINAL

    def check_end(self):
        eventually("the end of every process", lambda: not self.left())
        if self.damaged():
            raise Failure("config.toml is not what it was: %r" % self.content())
        extra = [n for n in os.listdir(self.root) if n.startswith(".holdfast")]
        if extra:
            raise Failure("left in the project: %s" % extra)

    def check_report(self):
        """After the end: what landed was put back, and behind a gate nothing did."""
        with open(self.report, encoding="utf-8") as f:
            report = json.load(f)
        violations = report["violations"]
        if report["status"] != "violated" or {one["path"] for one in violations} != {"config.toml"}:
            raise Failure("the report: %s" % report)
        if GATE == "require" and any(one["landed"] for one in violations):
            raise Failure("landed behind the gate: %s" % report)
        if GATE == "off" and not all(one["landed"] and one["restored"] for one in violations):
            raise Failure("not put back: %s" % report)

    def done(self):
        for terminal in self.terminals:
            terminal.close()
        for pid in self.left():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        shutil.rmtree(self.base, ignore_errors=True)


CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def main():
    names = [n for n in sys.argv[2:] if n in CASES] or list(CASES)
    bad = 0
    for name in names:
        scratch = Scratch()
        start = time.monotonic()
        try:
            CASES[name](scratch)
            why = ""
        except (Failure, OSError, KeyError, subprocess.SubprocessError) as e:
            why = "%s: %s" % (type(e).__name__, e)
            why += "".join("\n--- terminal\n" + t.text[-2000:] for t in scratch.terminals)
            bad += 1
        finally:
            scratch.done()
        print("%-4s %-36s %.2fs %s" % ("BAD" if why else "ok", name, time.monotonic() - start, why), flush=True)
    print("%d wrong of %d" % (bad, len(names)))
    return 1 if bad else 0
