#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Somebody swaps the root for a link all the while it is opened again: what it leads to is never written to.

A gate would refuse the command that begins it.

    75-swapped-root.py HOLDFAST SUPPORT
"""
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HOLDFAST = os.path.abspath(sys.argv[1])
# Before links were refused, one of a hundred went wrong.
ROUNDS = 150
AT_FDCWD = -100
RENAME_EXCHANGE = 2
libc = ctypes.CDLL(None, use_errno=True)


def put(path, text):
    with open(path, "w") as f:
        f.write(text)


def swap_for_ever(base):
    """In a process of its own, none of the command's."""
    project = os.path.join(base, "project").encode()
    link = os.path.join(base, "link").encode()
    while not os.path.exists(os.path.join(base, "go")):
        time.sleep(0.001)
    first = True
    while libc.renameat2(AT_FDCWD, project, AT_FDCWD, link, RENAME_EXCHANGE) == 0:
        if first:
            put(os.path.join(base, "swapping"), "")
        first = False
    os._exit(1)


def play(base):
    root = os.path.join(base, "project")
    victim = os.path.join(base, "victim")
    for name in ("project", "decoy", "victim"):
        os.mkdir(os.path.join(base, name))
    put(os.path.join(root, "a.toml"), "recorded\n")
    put(os.path.join(victim, "a.toml"), "victim\n")
    put(os.path.join(victim, "b.toml"), "victim\n")
    os.symlink("victim", os.path.join(base, "link"))
    swapper = os.fork()
    if swapper == 0:
        swap_for_ever(base)
    try:
        script = ("cd .. && mv project moved && mv decoy project && touch go;"
                  " until [ -e swapping ]; do sleep 0.01; done")
        run = subprocess.run([HOLDFAST, "run", "--gate", "off", "--root", root, "--", "sh", "-c", script],
                             cwd=root, timeout=60,
                             env=dict(os.environ, XDG_STATE_HOME=os.path.join(base, "state")),
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    finally:
        os.kill(swapper, signal.SIGKILL)
        os.waitpid(swapper, 0)
    there = {name: open(os.path.join(victim, name)).read() for name in sorted(os.listdir(victim))}
    if there != {"a.toml": "victim\n", "b.toml": "victim\n"}:
        sys.exit("75-swapped-root: wrote through the link: %s\n%s" % (there, run.stderr.decode()))
    if run.returncode not in (97, 98, 125):
        sys.exit("75-swapped-root: status %d\n%s" % (run.returncode, run.stderr.decode()))
    return run.returncode


def main():
    statuses = []
    for _ in range(ROUNDS):
        base = os.path.realpath(tempfile.mkdtemp(prefix="hf-swapped-"))
        try:
            statuses.append(play(base))
        finally:
            shutil.rmtree(base)
    print({status: statuses.count(status) for status in set(statuses)})


main()
