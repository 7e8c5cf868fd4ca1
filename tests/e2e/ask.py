#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Give an answer to a command that asks on a terminal, and print what it said; its status is ours.

    ask.py ANSWER COMMAND [ARG...]
"""
import os
import pty
import sys

pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
os.write(fd, sys.argv[1].encode() + b"\n")
text = b""
try:
    while True:
        text += os.read(fd, 65536)
except OSError:
    pass
sys.stdout.write(text.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
