#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every call of holdfast that changes a file fails, once or from then on: it says so, nothing is lost, and without the
fault the next command puts all right.

    72-fault-matrix.py HOLDFAST SUPPORT [--all] [--stride N] [CASE...]

The errors, each once and lasting, take turns from call to call; with --all each is tried at each call.
"""
import re

from crash import COPIES, DAMAGED, KEPT_RESTORE, RESTORE, Wrong, all_is_right, as_it_was, comes_back, copies_are_whole
from crash import dead, main, numbers, old_or_new, read

ERRORS = ("ENOSPC", "EIO", "EDQUOT", "EMFILE", "ENOMEM", "EINTR", "EROFS")
TEXTS = {"ENOSPC": "No space left on device", "EIO": "Input/output error", "EDQUOT": "Disk quota exceeded",
         "EMFILE": "Too many open files", "ENOMEM": "(Cannot allocate|out of) memory",
         "EINTR": "Interrupted system call", "EROFS": "Read-only file system"}
# Of run: a change was seen; something is a person's to look at; it could not do its job.  Of the others: it failed.
MAY_FAIL = {"run": (97, 98, 125)}
FAILS = (3, 98)


def says_why(done, deed):
    """In a line of ours, and not in a crowd of them."""
    lines = [line for line in done.stderr.splitlines() if re.search(TEXTS[deed.rstrip("+")], line)]
    if not lines or not all(line.startswith("holdfast: ") for line in lines):
        raise Wrong("does not say why")


def try_case(matrix, case, count, args):
    _name, prepare, words, ends, settling = case

    def judge(deed, place, done, failed):
        old_or_new(place)
        status = done.returncode
        if status not in ends and status not in MAY_FAIL.get(words[0], FAILS):
            raise Wrong("status %d" % status)
        if status not in ends and failed:
            says_why(done, deed)
        # What ends as ever has done all of it.
        if status in ends and prepare is not dead and (words[0] == "run" or words == RESTORE):
            as_it_was(place)
        if status in ends and words == KEPT_RESTORE and read(place.path("a.toml")) != DAMAGED["a.toml"]:
            raise Wrong("it did not come back")
        if status in ends and words == COPIES:
            copies_are_whole(place, True)
        if status == 0 and words[0] == "snapshot":
            comes_back(place)
        all_is_right(place, settling)

    def deeds(number):
        # An interrupted call is made again until it is not.
        some = [error + lasting for error in ERRORS for lasting in ("", "+") if error + lasting != "EINTR+"]
        return some if args.all else [some[number % len(some)]]

    return matrix.every(case, deeds, numbers(case, count, args), judge)


main(__doc__, 350, try_case)
