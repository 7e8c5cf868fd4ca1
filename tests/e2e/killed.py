#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whichever process of a run is killed in the middle of damage: the tree of processes ends, the protected file is
what it was, and a report is written.

    killed.py HOLDFAST [require] [CASE ...]
"""
import os
import signal
import sys

from on_terminal import Failure, GATE, case, eventually, main


def killed_by_the_command(s, script, wanted):
    s.script("kill.sh", script)
    t = s.terminal()
    t.run("sh kill.sh")
    t.wait_for(r"holdfast: (.|\n)*\$ $")
    t.type("echo rc=$?.\n")
    status = int(t.wait_for(r"rc=(\d+)\.").group(1))
    s.check_end()
    if status not in wanted:
        raise Failure("status %d, wanted one of %s" % (status, wanted))
    if status == 97:
        s.check_report()
    if "a process of holdfast was killed; the command was ended" not in t.text:
        raise Failure("it does not say why the command was ended: " + t.text)


@case
def kill_guard_at_once(s):
    """What lands is seen whoever looks; what was refused is in the journal before the command knows."""
    killed_by_the_command(s, "echo bad > config.toml; kill -9 $PPID; sleep 60\n", [97])


@case
def kill_guard_once_it_has_told(s):
    killed_by_the_command(s, "echo bad > config.toml\n"
                          "until grep -q '\"path\": \"config.toml\"' %s; do sleep 0.01; done\n"
                          "kill -9 $PPID; sleep 60\n" % s.report, [97])


def attempted(s, t):
    """Damage has landed, or was refused."""
    if GATE == "off":
        eventually("damage", s.damaged)
    else:
        t.wait_for(r"refused:\S* config\.toml")


def kill_during_damage(s, choose):
    t = s.terminal()
    t.type("%s sh damage.sh\n" % s.keep_going)
    pids = t.job()
    attempted(s, t)
    choose(t, *pids)
    s.check_end()
    s.check_report()


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
    attempted(s, t)
    t.type("\x1a")
    t.wait_for(r"Stopped")
    os.kill(guard, signal.SIGKILL)
    s.check_end()
    s.check_report()


sys.exit(main())
