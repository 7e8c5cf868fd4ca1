# SPDX-License-Identifier: MIT
"""What the stories of the gate share: a project of one user, guarded runs of it, and what it was before."""
import ctypes
import json
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HOLDFAST = os.path.abspath(sys.argv[1])
SUPPORT = os.path.abspath(sys.argv[2])
SAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../fixtures/sample")
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
FILES = ("credentials.toml", "manual_slop.toml", "manual_slop_history.toml", "personas.toml", "presets.toml",
         "tool_presets.toml")
USER = 1000
LIMIT = 30
SKIP = 77
PR_SET_CHILD_SUBREAPER = 36


class Wrong(Exception):
    pass


def skip(why):
    if os.environ.get("HF_MUST_WORK") == "1":
        sys.exit("must not be skipped: " + why)
    print("skipped: " + why)
    sys.exit(SKIP)


def state_of(path):
    """All that a change of any kind moves."""
    with open(path, "rb") as file:
        at = os.fstat(file.fileno())
        return at.st_ino, at.st_ctime_ns, at.st_mtime_ns, at.st_mode, at.st_uid, file.read()


class Run:
    """One that has ended, or with a process that has not."""

    def __init__(self, place, process):
        self.place = place
        self.process = process
        self.status = self.err = self.out = self.report = None

    def begun(self):
        """When the command says so.  What it is told by go() it waits for."""
        with open(self.place.path("up"), "rb") as file:
            if file.read() != b"up\n":
                self.go()
                self.end()
                self.fail("the command was to begin")
        return self

    def go(self):
        with open(self.place.path("down"), "wb") as file:
            file.write(b"go\n")

    def end(self):
        try:
            self.out, self.err = self.process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired as late:
            self.process.kill()
            self.process.communicate()
            raise Wrong("does not end: %s" % late) from late
        self.status = self.process.returncode
        try:
            with open(self.place.path("report.json"), encoding="utf-8") as file:
                self.report = json.load(file)
        except OSError:
            self.report = None
        return self

    def go_and_end(self):
        self.go()
        return self.end()

    def fail(self, what):
        raise Wrong("%s\n  status %s\n  err: %s\n  out: %s\n  report: %s" % (
            what, self.status, self.err.strip().replace("\n", "\n       "), self.out.strip()[-2000:],
            json.dumps(self.report, indent=1)[:4000]))

    def check(self, **facts):
        """Each is a true one; its name says what it is."""
        for name, is_true in facts.items():
            if not is_true:
                self.fail("not so: " + name.replace("_", " "))
        return self

    def ended(self, status):
        if self.status != status:
            self.fail("wanted status %d" % status)
        return self

    def said(self, *texts):
        for text in texts:
            if not re.search(text, self.err, re.M):
                self.fail("did not say: " + text)
        return self

    def of(self, path):
        return [one for one in self.report["violations"] if one["path"] == path]

    def outside(self, path):
        return [one for one in self.report["outside"] if one["path"] == path]

    def effects(self):
        return {one["what"] for one in self.report["side_effects"]}


class Place:
    def __init__(self, user):
        self.user = user
        self.uid = os.geteuid() if user is None else user
        self.base = tempfile.mkdtemp(prefix="hf-story-")
        self.root = self.path("project")
        os.mkdir(self.root)
        os.mkdir(self.path("tmp"))
        for name in FILES:
            shutil.copy2(os.path.join(SAMPLE, name), self.root)
        os.chmod(self.file("credentials.toml"), 0o600)
        for name in ("up", "down", "never"):
            os.mkfifo(self.path(name))
        self.give(self.base)
        self.saved = None

    def give(self, path):
        """What lies there is the user's."""
        for directory, names, files in os.walk(path):
            for name in [directory] + [os.path.join(directory, name) for name in names + files]:
                os.chown(name, self.uid, self.uid if self.user is not None else -1, follow_symlinks=False)

    def path(self, *names):
        return os.path.join(self.base, *names)

    def file(self, name):
        return os.path.join(self.root, name)

    def write(self, name, text, mode=0o644):
        with open(self.file(name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(file.name, mode)
        os.chown(file.name, self.uid, -1)
        return file.name

    def environ(self):
        return dict(os.environ, XDG_STATE_HOME=self.path("state"), TMPDIR=self.path("tmp"), HOME=self.base,
                    PYTHONDONTWRITEBYTECODE="1", UP=self.path("up"), DOWN=self.path("down"))

    def lead(self):
        if self.user is None:
            return []
        return ["setpriv", "--reuid", str(self.user), "--regid", str(self.user), "--clear-groups"]

    def start(self, *words, options=(), **more):
        """A guarded run of the words."""
        settings = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True,
                    "cwd": self.root, "env": self.environ(), "errors": "backslashreplace"}
        settings.update(more)
        return Run(self, subprocess.Popen(
            self.lead() + [HOLDFAST, "run", *options, "--report", self.path("report.json"), "--", *words], **settings))

    def run(self, *words, options=("--gate", "require"), **more):
        return self.start(*words, options=options, **more).end()

    def sh(self, script, *words, **more):
        return self.run("sh", "-c", script, "sh", *words, **more)

    def python(self, code, *words, **more):
        return self.run(PYTHON, "-c", code, *words, **more)

    def held(self, script, options=("--gate", "require"), **more):
        """A run of a script that says when it has begun, and then waits for go()."""
        return self.start("sh", "-c", 'echo up >"$UP"; read -r _ <"$DOWN"; ' + script, options=options,
                          **more).begun()

    def outside(self, script, *words, lead=None, check=True):
        """By a process that no run has started."""
        lead = self.lead() if lead is None else lead
        return subprocess.run(lead + ["sh", "-c", script, "sh", *words], cwd=self.root, env=self.environ(),
                              timeout=LIMIT, check=check, stdin=subprocess.DEVNULL)

    def first(self):
        """What a first session says is said; what is there is remembered."""
        self.run("true", options=()).ended(0)
        return self.remember()

    def remember(self):
        self.saved = self.survey()
        return self

    def survey(self):
        found = {}
        for directory, _names, files in os.walk(self.root):
            if "__pycache__" not in directory and ".pytest_cache" not in directory:
                for path in [os.path.join(directory, name) for name in files if name.endswith((".toml", ".db"))]:
                    found[os.path.relpath(path, self.root)] = state_of(path)
        return found

    def untouched(self, *but):
        """Every file has the inode, ctime and bytes it had; but those are not looked at."""
        now = self.survey()
        differ = [name for name in sorted(now.keys() | self.saved.keys())
                  if name not in but and now.get(name) != self.saved.get(name)]
        if differ:
            raise Wrong("touched: %s" % [(name, self.saved.get(name), now.get(name)) for name in differ])
        return self

    def processes(self):
        """Those of this place that live, with where each waits in the kernel."""
        found = []
        for pid in [name for name in os.listdir("/proc") if name.isdigit()]:
            try:
                with open("/proc/%s/environ" % pid, "rb") as file:
                    if self.base.encode() not in file.read():
                        continue
                with open("/proc/%s/wchan" % pid, encoding="utf-8") as file:
                    found.append((int(pid), file.read()))
            except OSError:
                pass
        return found

    def done(self):
        left = self.processes()
        for pid, _where in left:
            os.kill(pid, signal.SIGKILL)
        subprocess.run(["chmod", "-R", "u+rwX", self.base], check=False, stderr=subprocess.DEVNULL)
        shutil.rmtree(self.base)
        return left


def too_long(_signal, _frame):
    raise TimeoutError("it does not end")


def has_gate():
    place = Place(None)
    try:
        return place.run("true").status == 0
    finally:
        place.done()


def users():
    """As whom: root tries all of it as an ordinary user as well."""
    return [None, USER] if os.geteuid() == 0 else [None]


def tell(*stories, as_root=()):
    """Each in a place of its own, as every user; those as_root only by root."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGALRM, too_long)
    os.umask(0o022)
    if not has_gate():
        skip("there is no gate here")
    wrong = []
    chosen = sys.argv[3:]
    for user in users():
        for story in stories + (as_root if os.geteuid() == 0 and user is None else ()):
            if chosen and story.__name__ not in chosen:
                continue
            place = Place(user)
            signal.alarm(LIMIT)
            try:
                story(place)
            except (Wrong, AssertionError, LookupError, OSError, subprocess.SubprocessError) as error:
                wrong.append("%s, %s: %s" % (story.__name__, user or pwd.getpwuid(place.uid).pw_name,
                                                error if isinstance(error, Wrong) else repr(error)))
            finally:
                signal.alarm(0)
                left = place.done()
            if left:
                wrong.append("%s: processes left: %s" % (story.__name__, left))
    for text in wrong:
        print(text, file=sys.stderr)
    sys.exit(1 if wrong else 0)
