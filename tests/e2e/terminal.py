#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A guarded run on a terminal behaves as if holdfast were not there.

    terminal.py HOLDFAST [require] [CASE ...]
"""
import os
import signal
import sys

from on_terminal import Failure, case, eventually, main, processes


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
    sleep = "sleep 4715.%d" % os.getpid()
    t.type(sleep + "\n")
    inner = eventually("the inner command", lambda: [p for p, v in processes().items() if v[3] == sleep])[0]
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
def stopped_and_continued_at_once(s):
    """The whole group, before front has heard that the command was stopped: it must not stop afterwards."""
    rounds = 40
    s.script("count.py", "import os, signal, sys\n"
             "seen = 0\n"
             "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})\n"
             "print('rea' 'dy', flush=True)\n"
             "while signal.sigwait({signal.SIGUSR1}):\n"
             "    seen += 1\n"
             "    os.write(1, b'us' b'r%d\\n' % seen)\n")
    t = s.terminal()
    t.run("python3 count.py")
    t.wait_for("ready")
    front, _guard, _canary, command = t.job()
    seen = 0
    for number in (signal.SIGSTOP, signal.SIGTSTP):
        for n in range(rounds):
            os.killpg(front, number)
            # Sooner and later than guard has said so.
            for _ in range(n * 100):
                pass
            os.killpg(front, signal.SIGCONT)
            # Front passes them on, the second after whatever the first has met.
            for _ in range(2):
                seen += 1
                os.kill(front, signal.SIGUSR1)
                t.wait_for(r"usr%d\n" % seen)
    os.kill(command, signal.SIGTERM)
    eventually("the end", lambda: t.pump() or not s.left())
    s.check_end()
    print("%d rounds" % (2 * rounds))


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
        t.ask("echo stop\"\"ped%d.\n" % n, r"stopped%d\." % n)
        t.type("fg\n")
        t.ask("echo end\"\"ed%d.\n" % n, r"ended%d\." % n)
    eventually("the end of every process", lambda: t.pump() or not s.left())
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


sys.exit(main())
