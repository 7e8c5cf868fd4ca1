# SPDX-License-Identifier: MIT
"""What the stories about git hooks share: a repository with a recorded project, git as a person types it."""
import os
import shutil
import subprocess
import sys
import tempfile
import time

HOLDFAST = os.path.abspath(sys.argv[1])
LIMIT = 60
# As recorded: tracked, tracked, and three that git never had.
FILES = {"a.toml": "a = 1\n", "b.toml": "b = 2\n", "own.toml": "own = 3\n", "data/x.toml": "x = 4\n",
         "local.toml": "local = 5\n"}
TRACKED = ("a.toml", "b.toml", ".gitignore", "holdfast.json")
POLICY = '{"protect": ["*.toml", "data/"], "gate": "off"}\n'
SITUATIONS = []


class Wrong(Exception):
    pass


def situation(function):
    SITUATIONS.append(function)
    return function


class Repository:
    def __init__(self, base):
        self.base = base
        self.holdfast = HOLDFAST
        self.root = os.path.join(base, "project")
        home = os.path.join(base, "home")
        os.makedirs(home)
        self.environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        self.environ.update(HOME=home, XDG_STATE_HOME=os.path.join(base, "state"), LC_ALL="C",
                            GIT_CONFIG_NOSYSTEM="1", GIT_CONFIG_GLOBAL=os.path.join(home, "gitconfig"))
        self.said = []
        self.err = ""
        for name, value in (("user.email", "a@example.org"), ("user.name", "A"), ("init.defaultBranch", "main"),
                            ("protocol.file.allow", "always"), ("advice.detachedHead", "false")):
            self.run("git", "config", "--global", name, value, at=base)

    # -- commands

    def run(self, *words, at=None, ends=(0,), extra=None, text=""):
        """In a session of its own, so that there is no terminal to ask on."""
        done = subprocess.run(words, cwd=at or self.root, env={**self.environ, **(extra or {})}, input=text, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT, check=False,
                              start_new_session=True)
        self.said.append("$ %s -> %d\n%s%s" % (" ".join(words), done.returncode, done.stdout, done.stderr))
        self.err = done.stderr
        if ends and done.returncode not in ends:
            raise Wrong("'%s' ended with %d" % (" ".join(words), done.returncode))
        return done.stdout

    def git(self, *words, **how):
        return self.run("git", *words, **how)

    def fast(self, *words, **how):
        return self.run(HOLDFAST, *words, **how)

    # -- the project

    def fresh(self, commit=True, record=True, hooks=()):
        os.mkdir(self.root)
        self.git("init", "-q")
        for name, text in FILES.items():
            self.write(name, text)
        self.write("holdfast.json", POLICY)
        self.write(".gitignore", "local.toml\n")
        self.git("add", *TRACKED)
        if commit:
            self.git("commit", "-qm", "first")
        if record:
            self.fast("snapshot")
        self.fast("hook", "install", *hooks)
        return self

    def path(self, *names):
        return os.path.join(self.root, *names)

    def write(self, name, text, mode=None):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        if mode:
            os.chmod(self.path(name), mode)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def remove(self, *names):
        for name in names:
            os.remove(self.path(name))

    def damage(self, name="a.toml", text="broken\n"):
        """By a run, which puts it back; what it left is known then."""
        self.write("damage.sh", "printf '%s' >%s\n" % (text.replace("\n", "\\n"), name))
        self.fast("run", "--", "sh", "damage.sh", ends=(97,))
        self.remove("damage.sh")

    def stage_damage(self, name="a.toml", text="broken\n"):
        self.damage(name, text)
        self.write(name, text)
        self.git("add", "-f", name)

    # -- what must be

    def has(self, **wanted):
        """has(own_toml="own = 3\\n"); None: is not there."""
        for key, text in wanted.items():
            name = key.replace("__", "/").replace("_toml", ".toml")
            found = self.read(name) if os.path.lexists(self.path(name)) else None
            if found != text:
                raise Wrong("'%s' is %r, not %r" % (name, found, text))

    def told(self, *texts):
        for text in texts:
            if text not in self.err:
                raise Wrong("did not say: %s" % text)

    def silent(self):
        if "holdfast" in self.err:
            raise Wrong("spoke")

    def undo_is_last(self):
        lines = [line for line in self.err.splitlines() if line.startswith("holdfast: ")]
        if not lines or not lines[-1].startswith("holdfast: undo: holdfast undo "):
            raise Wrong("the last line does not name the undo")
        return lines[-1].rsplit(" ", 1)[1]

    def index(self):
        return self.git("ls-files", "-s")

    def is_true(self, fact, why):
        if not fact:
            raise Wrong(why)


# -- what stories begin with ----------------------------------------------------------

def branch_with(place, name, text, branch="other"):
    """A branch on which git has that file, too; made without a checkout."""
    extra = {"GIT_INDEX_FILE": os.path.join(place.base, "index")}
    blob = place.git("hash-object", "-w", "--stdin", text=text).strip()
    place.git("read-tree", "main", extra=extra)
    place.git("update-index", "--add", "--cacheinfo", "100644,%s,%s" % (blob, name), extra=extra)
    tree = place.git("write-tree", extra=extra).strip()
    commit = place.git("commit-tree", "-p", "main", "-m", branch, tree).strip()
    place.git("branch", branch, commit)


def is_gone(pid):
    try:
        with open("/proc/%s/stat" % pid, encoding="utf-8", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0] in "ZX"
    except OSError:
        return True


def die(place, damage):
    """A run of which everything is killed at once; stopped first, so that none acts on the death of another."""
    place.write("die.sh", """
        guard=$PPID
        echo $guard >../guard
        front=$(sed "s/.*) . \\([0-9]*\\).*/\\1/" /proc/$guard/stat)
        kill -STOP $front $guard
        %s
        read -r children </proc/$front/task/$front/children
        kill -STOP $children
        kill -KILL $children $guard $front $$
        """ % damage)
    place.fast("run", "--", "sh", "die.sh", ends=(-9, 137))
    with open(os.path.join(place.base, "guard"), encoding="utf-8") as file:
        pid = file.read().strip()
    end = time.monotonic() + 30
    while not is_gone(pid):
        if time.monotonic() > end:
            raise Wrong("guard lives on")
        time.sleep(0.01)
    place.remove("die.sh")


def commit_something(place, name="other.txt", ends=(0,)):
    place.write(name, "x\n")
    place.git("add", name)
    place.git("commit", "-qm", name, ends=ends)


def main(description, least):
    """Each situation in a directory of its own; all are tried, and counted."""
    only = sys.argv[3:]
    failed = done = 0
    for function in SITUATIONS:
        if only and function.__name__ not in only:
            continue
        base = tempfile.mkdtemp(prefix="hf-hooks-")
        place = None
        try:
            place = Repository(base)
            function(place)
            done += 1
        except (Wrong, OSError, subprocess.SubprocessError) as wrong:
            failed += 1
            print("%s: %s\n%s" % (function.__name__, wrong, "".join(place.said if place else ())))
        finally:
            shutil.rmtree(base, ignore_errors=True)
    print("%s: %d situations, %d wrong" % (description.split(":", 1)[0], done + failed, failed))
    if not only and done < least:
        sys.exit(1)
    sys.exit(1 if failed else 0)
