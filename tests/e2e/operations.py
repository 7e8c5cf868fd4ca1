# SPDX-License-Identifier: MIT
"""What 61 and 62 share: the builds of the helper operate, a place for its stages, a guarded run of them all."""
import errno
import json
import os
import shutil
import subprocess
import sys
import tempfile

HOLDFAST = os.path.abspath(sys.argv[1])
SUPPORT = os.path.abspath(sys.argv[2])
BUILDS = ("operate", "operate-32", "operate-static")
PROTECT = ["**/*.toml", "**/kept.d/"]
USER = 1000
SKIP = 77
LIMIT = 120


def skip(why):
    if os.environ.get("HF_MUST_WORK") == "1":
        sys.exit("must not be skipped: " + why)
    print("skipped: " + why)
    sys.exit(SKIP)


def builds():
    found = [name for name in BUILDS if os.access(os.path.join(SUPPORT, name), os.X_OK)]
    if found != list(BUILDS) and os.environ.get("HF_MUST_WORK") == "1":
        sys.exit("not every build of operate is there: %s" % found)
    return found


def users():
    """As whom: root tries all of it as an ordinary user as well."""
    return [None, USER] if os.geteuid() == 0 else [None]


def in_private_mounts():
    """Root's operations mount: again, where nobody else sees it and all is gone at the end."""
    if os.geteuid() == 0 and os.environ.get("HF_PRIVATE") != "1":
        done = subprocess.run(["unshare", "-m", "--propagation", "private", sys.executable] + sys.argv,
                              env=dict(os.environ, HF_PRIVATE="1"))
        sys.exit(done.returncode)


def remove(directory):
    with open("/proc/self/mounts", encoding="utf-8") as file:
        mounted = [line.split()[1] for line in file]
    for name in mounted:
        if name.startswith(directory + "/"):
            subprocess.run(["umount", "-l", name], check=True)
    shutil.rmtree(directory)


class Place:
    def __init__(self, user):
        self.user = user
        self.base = tempfile.mkdtemp(prefix="hf-operations-")
        self.root = os.path.join(self.base, "project")
        self.bare = os.path.join(self.base, "bare")
        self.report = os.path.join(self.base, "report.json")
        for name in [self.root, self.bare]:
            os.mkdir(name)
        if user is not None:
            for name in [self.base, self.root, self.bare]:
                os.chown(name, user, user)

    def __enter__(self):
        return self

    def __exit__(self, *_what):
        remove(self.base)

    def call(self, *command, **more):
        lead = []
        if self.user is not None:
            lead = ["setpriv", "--reuid", str(self.user), "--regid", str(self.user), "--clear-groups"]
        env = dict(os.environ, XDG_STATE_HOME=os.path.join(self.base, "state"))
        return subprocess.run(lead + list(command), env=env, timeout=LIMIT, stdin=subprocess.DEVNULL, **more)

    def operate(self, build, *words):
        """(name, errno, damaged, pid) of each that was performed."""
        text = self.call(os.path.join(SUPPORT, build), *words, check=True, stdout=subprocess.PIPE, text=True).stdout
        return parse(text)

    def prepare(self, which, build, noop, leave=None):
        """The stages of a build below which, but for those that leave() names."""
        place = os.path.join(which, build)
        self.call("mkdir", place, check=True)
        self.call(os.path.join(SUPPORT, build), *noop, "--build", place, check=True)
        for name in os.listdir(place):
            if leave and leave(name):
                remove(os.path.join(place, name))
        return place

    def write_config(self, **settings):
        with open(os.path.join(self.root, "holdfast.json"), "w", encoding="utf-8") as file:
            json.dump(dict({"protect": PROTECT}, **settings), file)
        if self.user is not None:
            os.chown(file.name, self.user, self.user)

    def guard(self, builds_of, noop, gate):
        """All of them in one run: what was performed by build, the status, the report."""
        script = 'for one; do echo "= ${one##*/}"; "$one" %s --all "${one##*/}" || exit; done' % " ".join(noop)
        programs = [os.path.join(SUPPORT, name) for name in builds_of]
        run = self.call(HOLDFAST, "run", "--gate", gate, "--keep-going", "--report", self.report, "--", "sh", "-c",
                        script, "sh", *programs, cwd=self.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                        text=True)
        if not os.path.exists(self.report):
            sys.exit("no run: " + run.stderr)
        with open(self.report, encoding="utf-8") as file:
            return by_build(run.stdout), run.returncode, json.load(file), run.stderr

    def survey(self):
        """Of every protected entry the inode and the time of the last change of any kind."""
        found = {}
        for directory, names, files in os.walk(self.root):
            for name in files + [name for name in names if name == "kept.d"]:
                path = os.path.join(directory, name)
                if name.endswith(".toml") or name == "kept.d":
                    found[os.path.relpath(path, self.root)] = (os.lstat(path).st_ino, os.lstat(path).st_ctime_ns)
        return found


def parse(text):
    return [(name, int(number), state == "damaged", int(pid))
            for name, number, state, pid in (line.split() for line in text.splitlines())]


def by_build(text):
    return {part.partition("\n")[0]: parse(part.partition("\n")[2]) for part in text.split("= ")[1:]}


def listed(build, *noop):
    """name -> (call, traits, errno) of what this build has."""
    text = subprocess.run([os.path.join(SUPPORT, build), *noop, "--list"], check=True, stdout=subprocess.PIPE,
                          text=True).stdout
    rows = (line.split() for line in text.splitlines())
    return {name: (call, set(traits.split(",")), int(number)) for name, call, traits, number in rows}


def word(number):
    return errno.errorcode.get(number, str(number)) if number else "success"


def gate_is_there():
    """A version or a place without a gate has nothing to show."""
    with Place(None) as place:
        place.write_config()
        with open(os.path.join(place.root, "a.toml"), "w", encoding="utf-8"):
            pass
        run = place.call(HOLDFAST, "run", "--gate", "require", "--", "true", cwd=place.root, stderr=subprocess.PIPE,
                         text=True)
        return run.returncode == 0, run.stderr
