#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a process that the command did not start does to a protected file stays, is named, and the run goes on.

    65-outside.py HOLDFAST SUPPORT [STORY...]
"""
import os
import signal
import stat
import time

from story import HOLDFAST, tell

TEXT = "# edited by a person\n"
ATOMIC = 'printf "%s" "$1" >"$2.new" && mv "$2.new" "$2"'
IN_PLACE = 'printf "%s" "$1" >"$2"'
OTHER = 1001


def read(place, name):
    with open(place.file(name), encoding="utf-8") as file:
        return file.read()


def stays(run, name, change, comm=None):
    """It is the only thing that happened."""
    found = run.ended(97).outside(name)
    run.check(listed_once=len(found) == 1, changed=found and found[0]["changed"] is True,
              as_it_was_changed=found and found[0]["change"] == change, no_violation=run.report["violations"] == [],
              status=run.report["status"] == "violated", with_a_way_back=found and name in found[0]["fix"],
              command_ended_by_itself=run.report["exit"]["command"] == {"code": 0, "signal": None})
    if comm:
        run.check(by_name=found[0]["comm"] == comm and found[0]["pid"] > 0 and found[0]["argv"])
    run.said("^holdfast: .*%s" % name)
    return found[0]


def drift_then_quiet(place, name):
    """The next run says the drift and takes it as what is; the one after has nothing to say."""
    place.run("true", options=()).ended(0).said("note: %s changed since the last run" % name)
    run = place.run("true", options=()).ended(0)
    run.check(quiet=run.err == "")
    run = place.sh(': >"$1"', name).ended(97)
    if read(place, name) != TEXT:
        run.fail("the edited state is what is protected now")


def in_place_save(place):
    place.first()
    run = place.held('echo went on >../tmp/on')
    place.outside(IN_PLACE, TEXT, "personas.toml")
    stays(run.go_and_end(), "personas.toml", "content", comm="sh")
    place.untouched("personas.toml")
    run.check(stayed=read(place, "personas.toml") == TEXT, went_on=os.path.exists(place.path("tmp", "on")))
    drift_then_quiet(place, "personas.toml")


def atomic_save(place):
    place.first()
    run = place.held('echo went on >../tmp/on')
    place.outside(ATOMIC, TEXT, "personas.toml")
    stays(run.go_and_end(), "personas.toml", "content")
    place.untouched("personas.toml")
    run.check(stayed=read(place, "personas.toml") == TEXT, went_on=os.path.exists(place.path("tmp", "on")))
    drift_then_quiet(place, "personas.toml")


def mode_and_removal(place):
    place.first()
    run = place.held(":")
    place.outside("chmod 640 presets.toml; rm personas.toml")
    run.go_and_end().ended(97)
    place.untouched("presets.toml", "personas.toml")
    run.check(two=len(run.report["outside"]) == 2, none_of_the_command=run.report["violations"] == [],
              mode=run.outside("presets.toml")[0]["change"] == "metadata",
              gone=run.outside("personas.toml")[0]["change"] == "missing",
              mode_stayed=stat.S_IMODE(os.stat(place.file("presets.toml")).st_mode) == 0o640,
              still_gone=not os.path.exists(place.file("personas.toml")))
    for one in run.report["outside"]:
        place.outside('PATH="$1:$PATH"; ' + one["fix"], os.path.dirname(HOLDFAST))
    now = place.survey()
    run.check(all_can_go_back=[one[2:] for one in now.values()] == [one[2:] for one in place.saved.values()])


def opens_only(place):
    """An open is an event, not a change: the status is the command's."""
    place.first()
    run = place.held("exit 7")
    place.outside(': >>"$1"', "personas.toml")
    run.go_and_end().ended(7)
    found = run.outside("personas.toml")
    place.untouched()
    run.check(listed=len(found) == 1, unchanged=found and found[0]["changed"] is False,
              by_name=found and found[0]["comm"] == "sh", no_violation=run.report["violations"] == [])


def with_restore(place):
    """"on-outside": "restore" treats all alike."""
    place.write("holdfast.json", '{ "protect": ["*.toml"], "on-outside": "restore" }\n')
    place.first()
    for script in (IN_PLACE, ATOMIC):
        run = place.held("read -r _ <../never", options=("--gate", "require"))
        place.outside(script, TEXT, "personas.toml")
        run.end().ended(97)
        found = run.of("personas.toml")
        run.check(a_violation=len(found) >= 1, landed=found and found[0]["landed"],
                  put_back=found and found[0]["restored"], bytes_are_back=read(place, "personas.toml") != TEXT)


def both(place):
    """A person edits the file, and then the command tries to; once also the other way round."""
    place.first()
    for script, comes_first in ((IN_PLACE, True), (ATOMIC, True), (IN_PLACE, False), (ATOMIC, False)):
        place.sh(':', options=())
        text = "%s %d\n" % (script[:6], comes_first)
        attempt = 'printf bad >"$1"; '
        run = place.start("sh", "-c", ("" if comes_first else attempt) + 'echo up >"$UP"; read -r _ <"$DOWN"; ' +
                          (attempt if comes_first else "") + "exit 0", "sh", "personas.toml",
                          options=("--gate", "require")).begun()
        place.outside(script, text, "personas.toml")
        run.go_and_end().ended(97)
        tried = run.of("personas.toml")
        edited = run.outside("personas.toml")
        run.check(the_attempt_is_named=len(tried) == 1 and not tried[0]["landed"] and
                  tried[0]["process"]["comm"] == "sh" and tried[0]["process"]["inside"],
                  the_edit_is_named=len(edited) == 1 and edited[0]["changed"],
                  the_edit_stayed=read(place, "personas.toml") == text)
        place.untouched("personas.toml")


def renamed_then_tried(place):
    """A new file in the place of a protected one is protected, whatever else was at its place before."""
    place.first()
    run = place.held('rm "$1"; chmod 600 "$1"; mv presets.toml "$1"; exit 0'.replace("$1", "personas.toml"))
    place.outside(ATOMIC, TEXT, "personas.toml")
    run.go_and_end().ended(97)
    tried = run.of("personas.toml")
    run.check(three={one["operation"] for one in tried} >= {"unlinkat", "fchmodat"} and len(tried) == 3,
              none_landed=not [one for one in tried if one["landed"]], stayed=read(place, "personas.toml") == TEXT)
    place.untouched("personas.toml")


def guard_of(front):
    with open("/proc/%d/task/%d/children" % (front, front), encoding="ascii") as file:
        return [pid for pid in map(int, file.read().split()) if os.getpgid(pid) == pid][0]


def tried_before_it_was_seen(place):
    """The command is refused before guard has looked at what a person did: what was there before is not its work."""
    place.first()
    run = place.held("mv presets.toml personas.toml; exit 0")
    stopped = [run.process.pid, guard_of(run.process.pid)]
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    place.outside(ATOMIC, TEXT, "personas.toml")
    # Longer ago than a file's times can be behind the clock.
    until(lambda: time.time_ns() - os.stat(place.file("personas.toml")).st_ctime_ns > 50 * 10**6)
    run.go()
    until(lambda: [where for _pid, where in place.processes() if "seccomp" in where])
    for pid in reversed(stopped):
        os.kill(pid, signal.SIGCONT)
    run.end().ended(97)
    tried = run.of("personas.toml")
    run.check(one=len(tried) == 1 and not tried[0]["landed"], stayed=read(place, "personas.toml") == TEXT,
              named=[one["changed"] for one in run.outside("personas.toml")] == [True])
    place.untouched("personas.toml")


def until(condition):
    limit = time.monotonic() + 60
    while not condition():
        if time.monotonic() > limit:
            raise TimeoutError("it did not come to that")
        time.sleep(0.005)


def of_another_user(place):
    """What another user writes, as a service or container would, counts as the command's."""
    os.chmod(place.file("personas.toml"), 0o666)
    os.chmod(place.base, 0o755)
    place.first()
    run = place.held("read -r _ <../never")
    place.outside(IN_PLACE, TEXT, "personas.toml",
                  lead=["setpriv", "--reuid", str(OTHER), "--regid", str(OTHER), "--clear-groups"])
    run.end().ended(97)
    found = run.of("personas.toml")
    run.check(a_violation=len(found) == 1 and found[0]["landed"] and found[0]["restored"],
              no_edit=not [one for one in run.report["outside"] if one["changed"]],
              bytes_are_back=read(place, "personas.toml").encode() == place.saved["personas.toml"][-1])


tell(in_place_save, atomic_save, mode_and_removal, opens_only, with_restore, both, renamed_then_tried,
     tried_before_it_was_seen, as_root=(of_another_user,))
