#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The doctor tells the truth: as root, as an ordinary user, in a sandbox that allows no further one, below the gate of
another run.  It leaves nothing behind, not even when it is interrupted.

    66-doctor.py HOLDFAST SUPPORT
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

HOLDFAST = os.path.abspath(sys.argv[1])
USER = 1000
SANDBOX = ["bwrap", "--dev-bind", "/", "/", "--unshare-user", "--disable-userns", "--"]
# Those that need another user namespace when root does not perform them.
NAMESPACES = ("openat.chroot", "unlinkat.chroot", "openat.namespace", "unlinkat.namespace", "mkdirat.namespace")
# Flags are no part of what is recorded: only the gate knows of them.
UNRECORDED = ("ioctl.flags", "ioctl.attributes", "file_setattr")
wrong = []


class Place:
    """A project, a second one, and a state directory: all that a setting may touch."""

    def __init__(self, user):
        self.user = user
        self.base = tempfile.mkdtemp(prefix="hf-doctor-")
        for name in ("project", "state"):
            os.mkdir(os.path.join(self.base, name))
        with open(os.path.join(self.base, "project", "a.toml"), "w", encoding="utf-8") as file:
            file.write("a\n")
        if user is not None:
            for directory, names, files in os.walk(self.base):
                for name in [directory] + [os.path.join(directory, one) for one in names + files]:
                    os.chown(name, user, user)

    def __enter__(self):
        return self

    def __exit__(self, *_what):
        shutil.rmtree(self.base)

    def start(self, *command, **more):
        lead = []
        if self.user is not None:
            lead = ["setpriv", "--reuid", str(self.user), "--regid", str(self.user), "--clear-groups"]
        env = dict(os.environ, XDG_STATE_HOME=os.path.join(self.base, "state"))
        return subprocess.Popen(lead + list(command), cwd=os.path.join(self.base, "project"), env=env, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    def call(self, *command):
        process = self.start(*command)
        out, err = process.communicate(timeout=120)
        return process.returncode, out, err

    def decoys(self):
        return [name for name in os.listdir(os.path.join(self.base, "state")) if name.startswith("holdfast-doctor")]

    def gate_is_on(self, lead):
        return self.call(*lead, HOLDFAST, "run", "--gate", "require", "--", "true")[0] == 0


def complain(setting, text):
    wrong.append("%s: %s" % (setting, text))


def check(setting, place, lead, is_on):
    """Its own words against what is known of the setting.  Returns what it said, by operation."""
    status, out, err = place.call(*lead, HOLDFAST, "doctor", "--json")
    if status not in (0, 1) or "cannot" in err:
        complain(setting, "status %d: %s" % (status, err))
        return None
    said = json.loads(out)
    operations = {one["name"]: one for one in said["operations"]}
    uncovered = [name for name, one in operations.items() if one["result"] == "uncovered"]
    if said["covered"] != (not uncovered) or status != (1 if uncovered else 0):
        complain(setting, "status %d, uncovered %s" % (status, uncovered))
    if (said["layers"]["gate"]["state"] == "on") != is_on or bool(said["layers"]["gate"]["why"]) == is_on:
        complain(setting, "gate: %s" % said["layers"]["gate"])
    behind = said["without_gate"]
    if (behind is not None) != is_on or behind and (
            behind["counts"]["refused"] or behind["counts"]["restored"] < 80 or
            {one["name"] for one in behind["uncovered"]} - set(UNRECORDED) or
            len(behind["uncovered"]) != behind["counts"]["uncovered"]):
        complain(setting, "without the gate: %s" % behind)
    for name, one in operations.items():
        # With a gate nothing lands but what is opened for update.  Without, nothing is refused.
        wanted = ["impossible", "refused" if is_on else "restored"]
        if name.startswith("openat.update"):
            wanted = ["restored"] if name != "openat.update-truncate" else wanted
        if not is_on and name in UNRECORDED:
            wanted += ["uncovered"]
        # A lease ends the whole command: the gate has to be there before.
        if one["result"] not in wanted or "lease" in (one["why"] or ""):
            complain(setting, "%s: %s (%s)" % (name, one["result"], one["why"]))
    if operations["openat.write"]["result"] == "impossible":
        complain(setting, "nothing was tried: %s" % operations["openat.write"])
    if said["here"]["root_user"] != (place.user is None and os.geteuid() == 0):
        complain(setting, "another user: %s" % said["here"])
    promised = place.call(*lead, HOLDFAST, "run", "--", "grep", "NoNewPrivs", "/proc/self/status")[1]
    if said["here"]["setuid_in_run"] != (promised.split() == ["NoNewPrivs:", "0"]):
        complain(setting, "setuid programs: %s, but %s" % (said["here"], promised))
    if operations["mount.over"]["why"] != "only root can" and not said["here"]["root_user"]:
        complain(setting, "mount.over: %s" % operations["mount.over"])
    if place.decoys():
        complain(setting, "decoys are left: %s" % place.decoys())
    return said, operations


def caller(setting, user):
    with Place(user) as place:
        check(setting, place, [], place.gate_is_on([]))


def other_forms():
    setting = "other forms"
    with Place(None) as place:
        status, out, err = place.call(HOLDFAST, "doctor", "--quiet")
        if [line for line in out.splitlines() if "not covered" not in line] or err or (status == 0) != (out == ""):
            complain(setting, "--quiet: status %d: %s%s" % (status, out, err))
        place.call("git", "init", "-q", place.base)
        status, out, err = place.call(HOLDFAST, "doctor", ".")
        if os.path.exists(os.path.join(place.base, ".git", "holdfast")):
            complain(setting, "the repository around was told of the decoys' store")
        if status not in (0, 1) or "operations\n" not in out:
            complain(setting, "in a directory: status %d: %s%s" % (status, out, err))
        if os.listdir(os.path.join(place.base, "project")) != ["a.toml"]:
            complain(setting, "left in the directory: %s" % os.listdir(os.path.join(place.base, "project")))
        # Root's setuid programs have all privileges there are.
        if os.geteuid() == 0 and " inside a run (sudo" in out:
            complain(setting, "root is told of setuid programs: %s" % out)
    if os.geteuid() == 0:
        with Place(USER) as place:
            status, out, err = place.call(HOLDFAST, "doctor")
            if place.gate_is_on([]) and " inside a run (sudo" not in out:
                complain(setting, "a user is not told of setuid programs: %s" % out)


def sandboxed(user):
    with Place(user) as place:
        if not shutil.which("bwrap") or place.call(*SANDBOX, "true")[0] != 0:
            return "no sandbox can be made"
        found = check("in a sandbox", place, SANDBOX, place.gate_is_on(SANDBOX))
        if found:
            said, operations = found
            if not said["here"]["user_namespace"]:
                complain("in a sandbox", "no user namespace: %s" % said["here"])
            for name in NAMESPACES:
                if operations[name]["result"] != "impossible":
                    complain("in a sandbox", "%s: %s" % (name, operations[name]))
    return None


def below_another():
    """The gate of the outer run, if it has one, leaves none to the inner one."""
    with Place(None) as place:
        has_gate = place.gate_is_on([])
        outer = [HOLDFAST, "run", "--root", os.path.join(place.base, "project"), "--"]
        found = check("below another", place, outer, False)
        if found and has_gate:
            said, operations = found
            if not said["here"]["filtered"] or operations["io_uring_setup"]["result"] != "impossible":
                complain("below another", "not below a gate: %s" % said["here"])


def cannot_try():
    with Place(None) as place:
        for words, wanted in ((["missing"], 3), ([".", "."], 2), (["/proc"], 3)):
            status, out, err = place.call(HOLDFAST, "doctor", *words)
            if status != wanted or out or not err.startswith("holdfast: cannot "):
                complain("cannot try", "%s: status %d: %s%s" % (words, status, out, err))


def interrupt():
    """Whatever it was doing."""
    with Place(None) as place:
        for moment in (0.02, 0.1, 0.25):
            process = place.start(HOLDFAST, "doctor", process_group=0)
            try:
                process.communicate(timeout=moment)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGINT)
                process.communicate(timeout=60)
            if process.returncode not in (0, 1, -signal.SIGINT) or place.decoys():
                complain("interrupted", "status %d, left: %s" % (process.returncode, place.decoys()))


def main():
    caller("as the caller", None)
    if os.geteuid() == 0:
        caller("as a user", USER)
    other_forms()
    missing = sandboxed(USER if os.geteuid() == 0 else None)
    below_another()
    cannot_try()
    interrupt()
    for text in wrong:
        print(text, file=sys.stderr)
    if missing and os.environ.get("HF_MUST_WORK") == "1":
        sys.exit("must not be skipped: " + missing)
    return 1 if wrong else 0


sys.exit(main())
