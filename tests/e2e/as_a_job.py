#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run a command as a shell with job control starts a job: in a group of its own, whose parent could continue it.  The
end of a process of an orphaned group hangs up and continues those of it that are stopped.

    as_a_job.py COMMAND [ARG...]
"""
import os
import subprocess
import sys

os.setsid()
ended = subprocess.run(sys.argv[1:], process_group=0, check=False).returncode
sys.exit(ended if ended >= 0 else 128 - ended)
