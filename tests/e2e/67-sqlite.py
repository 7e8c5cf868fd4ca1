#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Databases are opened for reading and writing so to be read: that is no change, and a commit is one.

    67-sqlite.py HOLDFAST SUPPORT [STORY...]
"""
import os
import sqlite3

from story import tell

POLICY = '{ "protect": ["*.db", "*.toml"]%s }\n'
MODES = {"rollback.db": "DELETE", "wal.db": "WAL"}
READ = """
import sqlite3, sys
base = sqlite3.connect(sys.argv[1])
for _ in range(20):
    assert base.execute("SELECT count(*), sum(n) FROM t").fetchone() == (100, 4950)
if len(sys.argv) > 2:
    other = sqlite3.connect(sys.argv[1])
    assert other.execute("SELECT max(n) FROM t").fetchone() == (99,)
    other.close()
base.close()
"""
WRITE = """
import sqlite3, sys
base = sqlite3.connect(sys.argv[1])
base.execute("DELETE FROM t")
base.commit()
base.close()
open("../tmp/committed", "w").close()
open("../never").read()
"""
OPENS = """
import os, sys
for _ in range(2500):
    fd = os.open(sys.argv[1], os.O_RDWR)
    os.read(fd, 16)
    os.close(fd)
"""


def make(place, more=""):
    place.write("holdfast.json", POLICY % more)
    for name, mode in MODES.items():
        base = sqlite3.connect(place.file(name))
        base.execute("PRAGMA journal_mode=" + mode)
        base.execute("CREATE TABLE t (n)")
        base.executemany("INSERT INTO t VALUES (?)", [(n,) for n in range(100)])
        base.commit()
        base.close()
        os.chown(place.file(name), place.uid, -1)
    place.first()
    return place


def names(place):
    return sorted(name for name in os.listdir(place.root) if ".db" in name)


def reads(place):
    make(place)
    for name in MODES:
        for more in ((), ("twice",)):
            run = place.python(READ, name, *more).ended(0)
            run.check(no_violation=run.report["violations"] == [], quiet=run.err == "",
                      nothing_is_left=names(place) == sorted(MODES))
            place.untouched()


def many_opens(place):
    """Four programs at once, each open meets the leases of all."""
    make(place)
    with open(place.path("opens.py"), "w", encoding="utf-8") as file:
        file.write(OPENS)
    run = place.sh('for i in 1 2 3 4; do /usr/bin/env python3 ../opens.py "$1" & all="$all $!"; done; '
                   'for one in $all; do wait "$one" || exit; done', "rollback.db").ended(0)
    run.check(no_violation=run.report["violations"] == [], nobody_outside=run.report["outside"] == [])
    place.untouched()


def commits(place):
    """It lands, the opener is who did it, and all of it is put back."""
    make(place)
    for name in MODES:
        run = place.python(WRITE, name).ended(97)
        found = [one for one in run.report["violations"] if one["path"] == name]
        run.check(one_violation=len(found) == 1, landed=found and found[0]["landed"],
                  put_back=found and found[0]["restored"], of_the_content=found and found[0]["change"] == "content",
                  kept=found and found[0]["kept"],
                  by_the_opener=found and found[0]["process"] and "sqlite3" in found[0]["process"]["argv"][2],
                  nothing_is_left=names(place) == sorted(MODES))
        place.untouched(name)
        run.check(same_bytes=place.survey()[name][-1] == place.saved[name][-1])
        place.remember()
        place.python(READ, name).ended(0)


def two_openers(place):
    """With two of them neither is asserted, both are candidates."""
    make(place)
    run = place.sh("""
        mkfifo ../tmp/fifo; exec 3<>../tmp/fifo
        python3 -c 'import os, sys; fd = os.open(sys.argv[1], os.O_RDWR); print(flush=True); sys.stdin.read()' \\
            rollback.db <>../down >&3 & read -r _ <&3
        python3 -c 'import os, sys; fd = os.open(sys.argv[1], os.O_RDWR); os.pwrite(fd, b"x", 30); sys.stdin.read()' \\
            rollback.db <>../down &
        wait""").ended(97)
    found = run.of("rollback.db")
    run.check(one_violation=len(found) == 1, landed=found[0]["landed"], put_back=found[0]["restored"],
              not_asserted=found[0]["process"] is None,
              two_candidates=len({one["pid"] for one in found[0]["candidates"]}) == 2)


def refused(place):
    """Asked for, such an open is refused like any other; then reading falls back to what is read-only."""
    make(place, ', "read-write-opens": "refuse"')
    run = place.python(READ, "rollback.db").ended(97)
    found = run.of("rollback.db")
    run.check(refused=len(found) == 1 and not found[0]["landed"], what=found and "O_RDWR" in found[0]["detail"],
              was_read=run.report["exit"]["command"] == {"code": 0, "signal": None})
    place.untouched()
    run = place.python(WRITE, "wal.db").ended(97)
    # What SQLite makes beside it is moved away.
    run.check(nothing_landed=not [one for one in run.of("wal.db") if one["landed"]],
              no_side_file=names(place) == sorted(MODES),
              no_commit=not os.path.exists(place.path("tmp", "committed")))
    place.untouched()


tell(reads, many_opens, commits, two_openers, refused)
