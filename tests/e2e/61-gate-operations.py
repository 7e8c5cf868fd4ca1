#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every operation that can change a protected entry does so without a gate, and does not with one: the call fails,
the report names call and process, inode and ctime stay.  By 64-bit, 32-bit and static programs.

    61-gate-operations.py HOLDFAST SUPPORT
"""
import errno
import sys

import operations
from operations import Place, builds, listed, word

# What a file system or kernel may lack; then there is nothing to refuse.
LACKING = (errno.EOPNOTSUPP, errno.ENOTTY, errno.ENOSYS)
# The C library's name of a call that 32-bit programs make by another number.
FAMILIES = {"socketcall": "bind", "truncate64": "truncate", "chown32": "chown", "lchown32": "lchown",
            "fchown32": "fchown", "utimensat_time64": "utimensat"}
wrong = []


def complain(user, build, name, text):
    wrong.append("%s, %s: %s: %s" % ("user" if user else "caller", build, name, text))


def without(place, build):
    """It does harm, else a guard that holds it off has proved nothing.  The names of those that do."""
    stages = place.prepare(place.bare, build, [])
    harmful = set()
    for name, number, damaged, _pid in place.operate(build, "--all", stages):
        if damaged and number == 0:
            harmful.add(name)
        elif number in LACKING and not damaged:
            print("%s: %s is not possible here: %s" % (build, name, word(number)))
        else:
            complain(place.user, build, name, "without a gate: %s" % word(number))
    return harmful


def judge(place, build, done, report, harmful, is_update):
    table = listed(build)
    for name, number, damaged, pid in done:
        call, traits, _number = table[name]
        found = [one for one in report["violations"] if one["path"].startswith("%s/%s/" % (build, name))]
        if damaged:
            complain(place.user, build, name, "damaged")
        if "denied" in traits:
            if number != errno.ENOSYS or found:
                complain(place.user, build, name, "%s, not denied" % word(number))
            continue
        if name not in harmful:
            continue
        if number != errno.EACCES:
            complain(place.user, build, name, "ended with " + word(number))
        names = {call, FAMILIES.get(call, call)}
        if not [one for one in found if one["operation"] in names and not one["landed"] and one["process"] and
                one["process"]["pid"] == pid and one["process"]["comm"] == build[:15]]:
            complain(place.user, build, name, "not in the report: %s" % found)
    if {name for name, *_more in done} != {name for name, row in table.items() if is_update == ("update" in row[1]) and
                                           "absent" not in row[1] and
                                           not (place.user and "privileged" in row[1])}:
        complain(place.user, build, "all of them", "not performed: " + " ".join(row[0] for row in done))


def refused(user, harmful, is_update):
    """A run of all of them: those that open for update are refused by a policy only."""
    with Place(user) as place:
        place.write_config(**({"read-write-opens": "refuse"} if is_update else {}))
        for build in builds():
            table = listed(build)
            place.prepare(place.root, build, [], lambda name: is_update != ("update" in table[name][1]))
        before = place.survey()
        performed, status, report, told = place.guard(builds(), [], "require")
        if status != 97 or report["status"] != "violated" or report["layers"]["gate"]["state"] != "on":
            complain(user, "holdfast", "status", "%d: %s" % (status, told))
        if [one for one in report["violations"] if one["landed"]]:
            complain(user, "holdfast", "landed", str([one["path"] for one in report["violations"] if one["landed"]]))
        after = place.survey()
        for path in sorted(set(before) | set(after)):
            # A second name for the file is no harm, but known to its inode.
            if before.get(path) != after.get(path) and ".new-hard-link/" not in path:
                complain(user, "holdfast", path, "was touched")
        for build in builds():
            judge(place, build, performed.get(build, []), report, harmful[build], is_update)


def observed(user):
    """By default an open for update passes; the write that follows has landed and is put back."""
    with Place(user) as place:
        build = builds()[0]
        table = listed(build)
        place.write_config()
        place.prepare(place.root, build, [], lambda name: "update" not in table[name][1])
        _performed, status, report, told = place.guard([build], [], "require")
        paths = {one["path"] for one in report["violations"] if one["landed"] and one["restored"]}
        if status != 97 or paths != {"%s/%s/kept.toml" % (build, name) for name, row in table.items()
                                     if "update" in row[1]}:
            complain(user, build, "open for update", "%d: %s: %s" % (status, sorted(paths), told))


def main():
    operations.in_private_mounts()
    harmful = {}
    for user in operations.users():
        with Place(user) as place:
            harmful[user] = {build: without(place, build) for build in builds()}
    is_there, why = operations.gate_is_there()
    if not wrong and not is_there:
        operations.skip("no gate: " + why)
    if is_there:
        for user in operations.users():
            refused(user, harmful[user], False)
            refused(user, harmful[user], True)
            observed(user)
    for text in wrong:
        print(text, file=sys.stderr)
    return 1 if wrong else 0


sys.exit(main())
