#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What changes nothing, and what the kernel fails by itself, ends with the gate as it does without: same errno, no
violation, the command's own status.

    62-gate-no-change.py HOLDFAST SUPPORT
"""
import sys

import operations
from operations import Place, builds, listed, word

NOOP = ["--noop"]
wrong = []


def compare(user, build, how, done):
    table = listed(build, *NOOP)
    for name, number, damaged, _pid in done:
        if number != table[name][2] or damaged:
            wrong.append("%s, %s, %s: %s: %s%s, wanted %s" % (
                "user" if user else "caller", build, how, name, word(number), " and damaged" if damaged else "",
                word(table[name][2])))
    expected = {name for name, row in table.items()
                if "absent" not in row[1] and not (user and "privileged" in row[1])}
    if {row[0] for row in done} != expected:
        wrong.append("%s, %s: not all performed" % (build, how))


def guarded(user, gate):
    with Place(user) as place:
        place.write_config()
        for build in builds():
            place.prepare(place.root, build, NOOP)
        performed, status, report, told = place.guard(builds(), NOOP, gate)
        if status != 0 or report["status"] != "clean" or report["violations"]:
            wrong.append("gate %s: status %d, %s: %s" % (gate, status, report["status"], told))
            wrong.extend("  %s: %s %s" % (one["path"], one["operation"], one["detail"])
                         for one in report["violations"])
        for build in builds():
            compare(user, build, "gate " + gate, performed.get(build, []))


def main():
    operations.in_private_mounts()
    is_there, why = operations.gate_is_there()
    for user in operations.users():
        with Place(user) as place:
            for build in builds():
                stages = place.prepare(place.bare, build, NOOP)
                compare(user, build, "bare", place.operate(build, *NOOP, "--all", stages))
        guarded(user, "off")
        if is_there:
            guarded(user, "require")
    for text in wrong:
        print(text, file=sys.stderr)
    if not wrong and not is_there:
        operations.skip("no gate: " + why)
    return 1 if wrong else 0


sys.exit(main())
