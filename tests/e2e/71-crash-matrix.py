#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holdfast is killed at every call that changes a file, alone or altogether; nothing is lost, and the next command
puts all right.

    71-crash-matrix.py HOLDFAST SUPPORT [--all] [--stride N] [CASE...]
"""
from crash import all_is_right, as_it_was, main, numbers, recorded


def try_case(matrix, case, count, args):
    _name, prepare, words, _ends, settling = case
    # Two guard a run, once it has begun; everything else is one process.
    deeds = ("kill-all", "kill") if words[0] == "run" and prepare is recorded else ("kill-all",)

    def judge(deed, place, _done, _failed):
        # The survivor has put it back.
        if deed == "kill":
            as_it_was(place)
        all_is_right(place, settling)

    return matrix.every(case, lambda _number: deeds, numbers(case, count, args), judge)


main(__doc__, 600, try_case)
