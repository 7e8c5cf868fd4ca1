#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A guard that stands still lets nothing through, and a clock that jumps changes no verdict.

    38-stops-and-clocks.py HOLDFAST SUPPORT
"""
import errno
import os
import signal
import subprocess
import sys
import time

from story import FILES, HOLDFAST, LIMIT, Wrong, tell

DAY = 24 * 3600


def until(what, condition):
    limit = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > limit:
            raise Wrong("never happened: " + what)
        time.sleep(0.005)


def children(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def state(pid):
    with open("/proc/%d/stat" % pid, encoding="utf-8") as file:
        return file.read().rpartition(")")[2].split()[0]


def front_and_guard(run):
    """Front's number is holdfast's own: what leads to another user is replaced by it."""
    front = run.process.pid
    (guard,) = [pid for pid in children(front) if os.getpgid(pid) == pid]
    return front, guard


def guard_stands_still(place):
    """With front as well, so that nobody continues it: a call waits, and so does a person's open."""
    place.first()
    run = place.held('for name in personas.toml presets.toml; do echo bad >"$name"; rm "$name"; done; exit 3',
                     process_group=0)
    front, guard = front_and_guard(run)
    for pid in (front, guard):
        os.kill(pid, signal.SIGSTOP)
        until("it is stopped", lambda: state(pid) == "T")
    run.go()
    until("the command waits at the gate", lambda: [one for one in place.processes() if "seccomp" in one[1]])
    try:
        os.close(os.open(place.file("credentials.toml"), os.O_WRONLY | os.O_NONBLOCK))
        raise Wrong("the lease of a guard that stands still does not hold")
    except OSError as error:
        if error.errno != errno.EWOULDBLOCK:
            raise
    place.untouched()
    os.kill(front, signal.SIGCONT)
    os.kill(guard, signal.SIGCONT)
    run.end().ended(97)
    run.check(refused=[one["landed"] for one in run.report["violations"]] == [False] * 4)
    place.untouched()


def guard_is_continued(place):
    """Front continues it, as often as it is stopped, while the command hammers at the gate."""
    place.first()
    run = place.held('while :; do echo bad >personas.toml; rm presets.toml; [ ! -e ../tmp/enough ] || exit 3; done'
                     ' 2>/dev/null', process_group=0)
    _front, guard = front_and_guard(run)
    run.go()
    for _ in range(100):
        os.kill(guard, signal.SIGSTOP)
        until("it goes on", lambda: state(guard) != "T")
    with open(place.path("tmp", "enough"), "w", encoding="utf-8"):
        pass
    run.end().ended(97)
    run.check(none_landed=not [one for one in run.report["violations"] if one["landed"]])
    place.untouched()


def at(place, days, script, gate):
    """A run whose boot-time and monotonic clocks differ by days."""
    lead = ["unshare", "--time", "--boottime", str(days * DAY), "--monotonic", str(days * DAY)] if days else []
    place.lead = lambda: lead
    try:
        return place.run("sh", "-c", script, options=("--gate", gate))
    finally:
        del place.lead


def boot_clock_jumps(place):
    """Between runs, forth and back, as after a suspend or in another container."""
    at(place, 0, "exit 0", "off").ended(0)
    place.remember()
    for days in (400, 20, 0):
        for gate in ("off", "require"):
            at(place, days, "exit 4", gate).ended(4).check(says_nothing=at(place, days, "exit 4", gate).err == "")
            run = at(place, days, "echo bad >personas.toml; sleep 0.2; exit 5", gate).ended(97)
            run.check(named=[one["path"] for one in run.report["violations"]] == ["personas.toml"])
            now = place.survey()
            differ = [name for name in now if now[name][2:] != place.saved[name][2:]]
            run.check(as_it_was=now.keys() == place.saved.keys() and not differ)


def one_beside_is_stopped(place):
    """In a group that nothing but the run could tie to its session, as that of a CI job: its end is no hang-up."""
    place.first()
    script = ('sleep 1000 & kill -STOP $!; for gate in off require; do "$0" run --gate $gate -- true; echo $?; done; '
              'kill -KILL $!')
    job = subprocess.run(place.lead() + ["sh", "-c", script, HOLDFAST], cwd=place.root, env=place.environ(),
                         timeout=LIMIT, check=False, start_new_session=True, capture_output=True, text=True)
    if (job.returncode, job.stdout) != (0, "0\n0\n"):
        raise Wrong("ended with %s: %s%s" % (job.returncode, job.stdout, job.stderr))
    place.untouched()


def times_of_another_century(place):
    """What the files and the store say of the time is not the clock's: before it, and long after it."""
    for ahead in (-40 * 365 * DAY, 40 * 365 * DAY, 0):
        now = int(time.time()) + ahead
        for directory, names, files in os.walk(place.base):
            for name in names + files:
                os.utime(os.path.join(directory, name), (now, now), follow_symlinks=False)
        for gate in ("off", "require"):
            place.run("true", options=("--gate", gate)).ended(0)
            place.remember()
            run = place.run("sh", "-c", "touch -d 2100-01-01 personas.toml; echo >>presets.toml; sleep 0.2; exit 5",
                            options=("--gate", gate)).ended(97)
            after = place.survey()
            differ = [name for name in after if after[name][2:] != place.saved[name][2:]]
            run.check(as_it_was=after.keys() == set(FILES) and not differ)
            place.run("true", options=("--gate", gate)).ended(0)


tell(guard_stands_still, guard_is_continued, one_beside_is_stopped, times_of_another_century,
     as_root=(boot_clock_jumps,))
