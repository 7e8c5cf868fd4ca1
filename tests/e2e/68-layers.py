#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the gate stands on and beside: other gates, the store, and programs that it makes something different for.

    68-layers.py HOLDFAST SUPPORT [STORY...]
"""
import json
import os
import shutil
import subprocess

from story import FILES, HOLDFAST, SAMPLE, tell

SECOND_LISTENER = """
import ctypes, errno, platform, struct
libc = ctypes.CDLL(None, use_errno=True)
allow = struct.pack("HBBI", 6, 0, 0, 0x7fff0000)
code = ctypes.create_string_buffer(allow)
program = struct.pack("HxxxxxxQ", 1, ctypes.addressof(code))
number = 317 if platform.machine() == "x86_64" else 277
assert libc.syscall(number, 1, 8, program) == -1 and ctypes.get_errno() == errno.EBUSY, ctypes.get_errno()
# One without a listener is its own affair.
assert libc.syscall(number, 1, 0, program) == 0, ctypes.get_errno()
"""
IO_URING = """
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
assert libc.syscall(425, 8, ctypes.create_string_buffer(120)) == -1 and ctypes.get_errno() == errno.ENOSYS
"""
NOT_DUMPABLE = """
import ctypes, os
libc = ctypes.CDLL(None)
assert libc.prctl(4, 0, 0, 0, 0) == 0
open("../tmp/allowed", "w").close()
os.environ["PYTEST_CURRENT_TEST"] = "tests/test_it.py::test_hides (call)"
open("personas.toml", "w")
"""


def other_project(place):
    """Beside the first; its inner runs find a gate above them."""
    other = place.path("other")
    os.mkdir(other)
    for name in FILES:
        shutil.copy2(os.path.join(SAMPLE, name), other)
    place.give(other)
    subprocess.run(place.lead() + [HOLDFAST, "run", "--root", other, "--", "true"], env=place.environ(), check=True,
                   stderr=subprocess.DEVNULL)
    return other


def gate_of(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)["layers"]["gate"]


def below_another(place):
    """auto says so in one note and puts back what it cannot refuse; require does not begin; off says nothing."""
    other = other_project(place)
    place.first()
    # A leak checker traces the program that it is in, which would be told.
    inner = 'cd ../other; export ASAN_OPTIONS=detect_leaks=0; ' \
            'exec "$0" run --report ../inner.json --gate "$1" -- sh -c "$2"'

    def run(gate, script):
        return place.run("sh", "-c", inner, HOLDFAST, gate, script)

    with open(os.path.join(other, "personas.toml"), "rb") as file:
        before = file.read()
    done = run("auto", "exit 5").ended(5)
    done.said("^holdfast: note: the gate is off: the command is below another gate already")
    done.check(one_note=done.err.count("note: the gate") == 1)
    state = gate_of(place.path("inner.json"))
    done.check(unavailable=state["state"] == "unavailable" and state["why"])
    done = run("auto", ": >personas.toml; read -r _ <../never").ended(97)
    with open(os.path.join(other, "personas.toml"), "rb") as file:
        done.check(put_back=file.read() == before)
    done.check(not_the_outer_ones=done.report["violations"] == [])
    run("require", "echo x >../tmp/begun").ended(125).said("the gate is required").check(
        command_did_not_run=not os.path.exists(place.path("tmp", "begun")))
    done = run("off", "exit 3").ended(3)
    done.check(nothing_to_say=done.err == "", off=gate_of(place.path("inner.json"))["state"] == "off")
    place.untouched()


def nested(place):
    """A run of the same project inside one: the outer gate refuses, and names who it was."""
    place.first()
    for gate in ("auto", "require"):
        run = place.run(HOLDFAST, "run", "--gate", gate, "--", "sh", "-c", "exit 6").ended(6)
        run.check(no_violation=run.report["violations"] == [])
        run = place.run(HOLDFAST, "run", "--gate", gate, "--", "sh", "-c", ": >personas.toml").ended(97)
        found = run.of("personas.toml")
        run.check(one=len(run.report["violations"]) == 1, refused=found and not found[0]["landed"],
                  by_the_shell=found and found[0]["process"]["comm"] == "sh")
    place.untouched()


def without(place):
    """With --gate off it lands, is put back, and the report says that nobody wanted a gate."""
    place.first()
    run = place.sh(": >personas.toml; read -r _ <../never", options=("--gate", "off")).ended(97)
    found = run.of("personas.toml")
    run.check(landed=found[0]["landed"], put_back=found[0]["restored"],
              off=run.report["layers"]["gate"]["state"] == "off",
              no_lease=run.report["layers"]["leases"]["wanted"] == 0)
    place.untouched("personas.toml")
    run.check(same=place.survey()["personas.toml"][-1] == place.saved["personas.toml"][-1])


def store(place):
    """Neither what is recorded nor what was kept can be removed or written, by whatever way it is reached."""
    place.first()
    place.sh(": >personas.toml; read -r _ <../never", options=("--gate", "off")).ended(97)
    home = place.path("state/holdfast")
    where = os.path.join(home, os.listdir(home)[0])
    os.symlink(where, place.path("way"))
    os.symlink(home, place.path("over"))

    def survey():
        found = {}
        for directory, folders, files in os.walk(where):
            for name in folders + files:
                path = os.path.join(directory, name)
                if "sessions" not in path:
                    found[path] = (os.stat(path).st_ino, os.stat(path).st_mode, os.path.getsize(path))
        return found

    before = survey()
    ways = (where, place.path("way"), "../project/../state/holdfast/" + os.path.basename(where),
            place.path("over", os.path.basename(where)), "/proc/self/cwd/../way")
    for way in ways:
        run = place.sh("""
            try() { "$@" 2>/dev/null && echo "landed: $*"; }
            find "$1/." -type f | while read -r file; do
                try rm "$file"; try truncate -s 0 "$file"; try mv "$file" ../tmp/gone; try chmod 777 "$file"
                try touch "$file"; try sh -c ': >"$0"' "$file"; try ln -sf nothing "$file"
            done
            find "$1/." -mindepth 1 -type d | while read -r folder; do
                try mv "$folder" ../tmp/gone; try chmod 0 "$folder"
            done
            mv "$2" ../gone; chmod 0 "$2"; mv ../state ../gone; rm -rf ../state; exit 0""", way, where).ended(97)
        run.check(nothing_landed=run.out == "", all_there=survey() == before,
                  each_is_refused=not [one for one in run.report["violations"] if one["landed"]],
                  each_names_the_store={one["rule"] for one in run.of(where)} == {"the store"},
                  or_what_is_above={one["path"] for one in run.report["violations"]} <= {where, os.path.dirname(home)},
                  in_many_ways={one["operation"] for one in run.report["violations"]} >= {
                      "unlinkat", "openat", "fchmodat"})
    place.untouched("personas.toml")
    place.outside('"$1" verify >/dev/null', HOLDFAST)


def io_uring(place):
    place.first()
    run = place.python(IO_URING).ended(0)
    run.check(listed=run.effects() == {"io_uring was refused"})


def second_listener(place):
    place.first()
    run = place.python(SECOND_LISTENER).ended(0)
    run.check(listed=run.effects() == {"a second seccomp listener was refused"})


def traced(place):
    """A debugger gets no further than its child, and is told of."""
    if not shutil.which("strace"):
        return
    place.first()
    run = place.run("strace", "-f", "-o", "../tmp/trace", "sh", "-c", ": >personas.toml").ended(97)
    found = run.of("personas.toml")
    place.untouched()
    run.check(listed=run.effects() == {"a program was traced"},
              refused=len(found) == 1 and not found[0]["landed"] and found[0]["process"]["comm"] == "sh")


def not_dumpable(place):
    """A program that hides its memory is judged and named all the same."""
    place.first()
    run = place.python(NOT_DUMPABLE).ended(97)
    found = run.of("personas.toml")
    place.untouched()
    run.check(one=len(run.report["violations"]) == 1 == len(found), refused=not found[0]["landed"],
              in_its_test=found[0]["test"] == "tests/test_it.py::test_hides (call)",
              unprotected_is_free=os.path.exists(place.path("tmp", "allowed")), no_effect=run.effects() == set())


def copy_of(place, program, mode):
    """A program of root's."""
    path = place.path(program)
    shutil.copy(shutil.which(program), path)
    os.chown(path, 0, 0)
    os.chmod(path, mode)
    return path


def setuid(place):
    """It runs without its privilege."""
    if place.user is None or os.geteuid() != 0:
        return
    program = copy_of(place, "setpriv", 0o4755)
    place.first()
    run = place.run(program, "--reuid", "0", "true")
    run.check(not_root=run.status > 0, listed=run.effects() == {"a setuid program ran without its privilege"})
    run.said("^holdfast: note: a setuid program ran without its privilege")


def not_judged(place):
    """Of a program that nobody may read it is not known what it names: refused, and no violation."""
    if place.user is None or os.geteuid() != 0:
        return
    program = copy_of(place, "rm", 0o711)
    place.first()
    run = place.run(program, "personas.toml").ended(1)
    place.untouched()
    run.check(no_violation=run.report["violations"] == [], listed=run.effects() == {
        "a call was refused, since the program's memory cannot be read"})


tell(below_another, nested, without, store, io_uring, second_listener, traced, not_dumpable, setuid, not_judged)
