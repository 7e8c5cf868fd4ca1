#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two hundred threads or fifty processes at protected files at once: none comes through, nothing hangs.  And a program
that is interrupted a thousand times a second gets on with its work.

    63-gate-hammer.py HOLDFAST SUPPORT
"""
import os
import sys

import operations
from operations import HOLDFAST, SUPPORT, Place

RUNS = 10
FILES = ["a.toml", "b.toml", "c.toml"]
CROWDS = (("threads", 200, 20), ("processes", 50, 80))
THREADS, HERTZ, ROUNDS = 4, 1000, 1500
wrong = []


def fill(directory):
    for name in FILES:
        with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
            file.write(name)


def run(place, *command):
    """The numbers that the command printed, and how the run ended."""
    done = place.call(HOLDFAST, "run", "--gate", "require", "--report", place.report, "--", *command, cwd=place.root,
                      capture_output=True, text=True)
    return [int(one) for one in done.stdout.split()], done.returncode, done.stderr


def hammer(place, kind, count, rounds):
    before = place.survey()
    numbers, status, told = run(place, os.path.join(SUPPORT, "hammer"), kind, str(count), str(rounds), *FILES)
    # What was refused first is still missing under its other name.
    if len(numbers) != 3 or sum(numbers) != count * rounds or numbers[1] != count * rounds / 5 or numbers[2] != 0:
        wrong.append("%d %s: refused, failed, through: %s: %s" % (count, kind, numbers, told))
    if status != 97 or place.survey() != before:
        wrong.append("%d %s: status %d, or touched: %s" % (count, kind, status, told))


def come_through(kind, count, rounds):
    """Without a gate some do, else the helper would prove nothing."""
    with Place(None) as place:
        fill(place.bare)
        done = place.call(os.path.join(SUPPORT, "hammer"), kind, str(count), str(rounds), *FILES, cwd=place.bare,
                          capture_output=True, text=True)
        if int(done.stdout.split()[2]) == 0:
            wrong.append("without a gate none comes through: " + done.stdout)


def be_interrupted(place):
    numbers, status, told = run(place, os.path.join(SUPPORT, "preempted"), str(THREADS), str(HERTZ), str(ROUNDS),
                                os.path.abspath(os.path.join(place.root, FILES[0])))
    if len(numbers) != 4 or numbers[:3] != [THREADS * ROUNDS, THREADS * ROUNDS, 0] or numbers[3] < 100 or status != 97:
        wrong.append("interrupted: written, refused, otherwise, signals: %s: status %d: %s" % (numbers, status, told))


def main():
    for crowd in CROWDS:
        come_through(*crowd)
    is_there, why = operations.gate_is_there()
    if not wrong and not is_there:
        operations.skip("no gate: " + why)
    if is_there:
        with Place(None) as place:
            place.write_config()
            fill(place.root)
            for _number in range(RUNS):
                for crowd in CROWDS:
                    hammer(place, *crowd)
            be_interrupted(place)
    for text in wrong:
        print(text, file=sys.stderr)
    return 1 if wrong else 0


sys.exit(main())
