#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A guarded run on a terminal: it must behave as if holdfast were not there, and no death may leave damage.

    terminal.py HOLDFAST [CASE ...]

Each case drives an interactive shell on a pseudo-terminal, waits for what must come (never for a time), and
ends with a look at the protected file and at the processes that are left.
"""
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
PATIENCE = 30
ORIGINAL = "# kept by hand\nvalue = 1\n"
# Two writers, one of them in a session of its own, that never end by themselves.
# In the terminal's group stands no shell: dash forks by vfork(), and a child that is
# stopped before its exec leaves a shell that can neither stop nor go on.
DAMAGE = """trap '' TERM
setsid sh -c 'while :; do echo bad2 >> config.toml; sleep 0.01; done' MARK &
exec python3 -c "
import time
while True:
    with open('config.toml', 'w') as f:
        f.write('bad\\n')
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
        self.command = "%s run --root %s --" % (HOLDFAST, self.root)
        self.keep_going = "%s run --root %s --keep-going --" % (HOLDFAST, self.root)
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


@case
def stop_continue_interrupt(s):
    t = s.terminal()
    t.run("sleep 4711")
    _front, _guard, _canary, command = t.job()
    t.type("\x1a")
    t.wait_for(r"Stopped")
    eventually("the command is stopped", lambda: processes()[command][2] == "T")
    t.type("fg\n")
    eventually("the command runs again", lambda: processes()[command][2] == "S")
    t.type("\x03")
    t.wait_for(r"\$ $")
    t.type("echo rc=$?.\n")
    t.wait_for(r"rc=130\.")
    s.check_end()


@case
def foreground_and_background_read(s):
    t = s.terminal()
    t.run("cat")
    t.job()
    t.type("hello\n")
    t.wait_for(r"hello\n(.|\n)*hello\n")
    t.type("\x04")
    t.wait_for(r"\$ $")
    t.type("%s cat &\n" % s.command)
    command = t.job()[3]
    eventually("the reader is stopped", lambda: processes()[command][2] == "T")
    t.type("\n")
    t.wait_for(r"Stopped")
    t.type("fg\n")
    eventually("the reader runs again", lambda: processes()[command][2] == "S")
    t.type("again\n")
    t.wait_for(r"again\n(.|\n)*again\n")
    t.type("\x04")
    t.wait_for(r"\$ $")
    s.check_end()


@case
def pipeline(s):
    t = s.terminal()
    t.type("%s sh -c 'echo one; cat' | sed s/^/got:/\n" % s.command)
    t.job()
    t.type("two\n\x04")
    t.wait_for(r"got:one\n(.|\n)*got:two\n")
    t.type("echo $(%s echo substituted).\n" % s.command)
    t.wait_for(r"\nsubstituted\.")
    s.check_end()


@case
def nested_interactive_shell(s):
    t = s.terminal()
    t.run("bash --norc --noprofile -i")
    t.job()
    t.type("echo inner=$HOLDFAST_SESSION.\n")
    t.wait_for(r"inner=\d+-[0-9TZ]+\.")
    t.type("sleep 4715\n")
    inner = eventually("the inner command", lambda: [p for p, v in processes().items() if v[3] == "sleep 4715"])[0]
    t.type("\x1a")
    t.wait_for(r"Stopped")
    t.type("fg\n")
    eventually("the inner command runs again", lambda: processes()[inner][2] == "S")
    t.type("\x03")
    eventually("the end of the inner command", lambda: inner not in processes())
    t.type("exit 5\n")
    t.wait_for(r"exit")
    t.type("echo rc=$?.\n")
    t.wait_for(r"rc=5\.")
    s.check_end()


@case
def interrupt_ends_a_script(s):
    t = s.terminal("bash", "--norc", "-c", "%s sleep 4713; echo CONTI''NUED" % s.command)
    t.job()
    t.type("\x03")
    eventually("the end of the script", lambda: os.waitpid(t.pid, os.WNOHANG)[0] == t.pid)
    while t.pump():
        pass
    if "CONTINUED" in t.text:
        raise Failure("the script went on after Ctrl-C: " + t.text)
    s.check_end()


@case
def script_without_job_control(s):
    s.script("run.sh", "%s sleep 4716 &\nwait $!\necho rc=$?.\n" % s.command)
    t = s.terminal("sh", "run.sh")
    front = t.job()[0]
    os.kill(front, signal.SIGTERM)
    t.wait_for(r"rc=143\.")
    s.check_end()


@case
def term_to_the_group_arrives_once(s):
    s.script("count.py", "import os, signal, time\n"
             "signal.signal(15, lambda *a: os.write(1, b'TE' b'RM\\n'))\n"
             "print('rea' 'dy', flush=True)\n"
             "end = time.monotonic() + 1.5\n"
             "while time.monotonic() < end: time.sleep(0.05)\n"
             "print('do' 'ne', flush=True)\n")
    t = s.terminal()
    t.type("%s python3 count.py &\n" % s.command)
    t.wait_for("ready")
    t.type("kill %1\n")
    t.wait_for("done")
    if t.text.count("TERM") != 1:
        raise Failure("the command got TERM %d times" % t.text.count("TERM"))
    t.type("%s python3 count.py &\n" % s.command)
    t.wait_for("ready")
    os.kill(t.job()[0], signal.SIGTERM)
    t.wait_for("done")
    if t.text.count("TERM") != 2:
        raise Failure("sent to front alone, TERM arrived %d times" % (t.text.count("TERM") - 1))
    s.check_end()


@case
def stopped_and_continued_from_outside(s):
    t = s.terminal()
    t.run("sleep 4714")
    front, guard, _canary, command = t.job()
    os.kill(command, signal.SIGSTOP)
    t.wait_for(r"Stopped")
    os.kill(front, signal.SIGCONT)
    eventually("the command runs again", lambda: processes()[command][2] == "S")
    os.kill(guard, signal.SIGSTOP)
    eventually("front continues guard", lambda: processes()[guard][2] == "S")
    os.kill(command, signal.SIGTERM)
    eventually("the end", lambda: not s.left())
    s.check_end()


@case
def continue_arrives_once(s):
    s.script("count.py", "import os, signal, time\n"
             "signal.signal(signal.SIGCONT, lambda *a: os.write(1, b'CO' b'NT\\n'))\n"
             "print('rea' 'dy', flush=True)\n"
             "end = time.monotonic() + 1.5\n"
             "while time.monotonic() < end: time.sleep(0.05)\n"
             "print('do' 'ne', flush=True)\n")
    t = s.terminal()
    t.run("python3 count.py")
    t.wait_for("ready")
    command = t.job()[3]
    t.type("\x1a")
    t.wait_for("Stopped")
    eventually("the command is stopped", lambda: processes()[command][2] == "T")
    t.type("fg\n")
    t.wait_for("done")
    if t.text.count("CONT") != 1:
        raise Failure("the command got CONT %d times" % t.text.count("CONT"))
    s.check_end()


@case
def stop_key_where_nobody_could_continue(s):
    s.script("run.sh", "%s sh -c 'echo rea\"\"dy; sleep 0.5; echo do\"\"ne'\necho rc=$?.\n" % s.command)
    t = s.terminal("sh", "run.sh")
    t.wait_for("ready")
    t.type("\x1a")
    t.wait_for(r"done\n(.|\n)*rc=0\.")
    s.check_end()


@case
def stop_key_before_the_command_runs(s):
    for n in range(3000):
        s.script("f%d.toml" % n, "n = %d\n" % n)
    t = s.terminal()
    # Whatever the key met (the shell, the run, its end), the shell answers next.
    for n in range(5):
        t.run("sh -c 'echo wor\"\"ked'")
        t.type("\x1a")
        t.type("echo stop\"\"ped%d.\n" % n)
        t.wait_for(r"stopped%d\." % n)
        t.type("fg\n")
        t.type("echo end\"\"ed%d.\n" % n)
        t.wait_for(r"ended%d\." % n)
    eventually("the end of every process", lambda: t.pump() or not s.left())
    s.check_end()


@case
def kill_guard_at_once(s):
    s.script("kill.sh", "echo bad > config.toml; kill -9 $PPID; sleep 60\n")
    t = s.terminal()
    t.run("sh kill.sh")
    t.wait_for(r"holdfast: (.|\n)*\$ $")
    t.type("echo rc=$?.\n")
    t.wait_for(r"rc=97\.")
    s.check_end()


def kill_during_damage(s, choose):
    t = s.terminal()
    t.type("%s sh damage.sh\n" % s.keep_going)
    pids = t.job()
    eventually("damage", s.damaged)
    choose(t, *pids)
    s.check_end()


@case
def kill_front(s):
    kill_during_damage(s, lambda t, f, g, c, x: os.kill(f, signal.SIGKILL))


@case
def kill_guard(s):
    kill_during_damage(s, lambda t, f, g, c, x: os.kill(g, signal.SIGKILL))


@case
def kill_canary(s):
    def choose(t, _front, _guard, canary, command):
        os.kill(canary, signal.SIGKILL)
        os.kill(command, signal.SIGKILL)
    kill_during_damage(s, choose)


@case
def kill_group(s):
    kill_during_damage(s, lambda t, f, g, c, x: os.killpg(f, signal.SIGKILL))


@case
def kill_shell(s):
    kill_during_damage(s, lambda t, f, g, c, x: os.kill(t.pid, signal.SIGKILL))


@case
def hang_up(s):
    def choose(t, *_pids):
        os.close(t.fd)
        t.fd = -1
    kill_during_damage(s, choose)


@case
def kill_guard_while_stopped(s):
    t = s.terminal()
    t.type("%s sh damage.sh\n" % s.keep_going)
    _front, guard, _canary, _command = t.job()
    eventually("damage", s.damaged)
    t.type("\x1a")
    t.wait_for(r"Stopped")
    os.kill(guard, signal.SIGKILL)
    s.check_end()


@case
def output_of_a_background_job(s):
    t = s.terminal()
    t.type("stty tostop\n")
    t.wait_for(r"\$ $")
    t.type("%s sh -c 'echo bad > config.toml; sleep 4717' &\n" % s.keep_going)
    t.job()
    # The terminal would stop a background writer: holdfast speaks all the same.
    t.wait_for(r"holdfast: .*config\.toml")
    t.type("kill %1\n")
    s.check_end()


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


if __name__ == "__main__":
    sys.exit(main())
