#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Anything in any order, many times: damage, death, a person's edits, restore, undo, snapshots, two runs at once.
After each round no file holds damage or half of anything, and every content that was ever there is in the tree, in a
pack or kept.

    73-soak.py HOLDFAST SUPPORT [ROUNDS [SEED]]
"""
import collections
import ctypes
import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time

HOLDFAST = os.path.abspath(sys.argv[1])
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 0
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else random.randrange(10**6)
# A new project after so many, and as often all that the store holds is read again.
EACH = 200
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
LIMIT = 30
PR_SET_CHILD_SUBREAPER = 36
POLICY = '{ "protect": ["*.toml", "data/"] }\n'
NAMES = ("a.toml", "b.toml", "c.toml", "data/d.txt", "data/e.txt")


class Wrong(Exception):
    pass


class Project:
    def __init__(self, rng):
        self.rng = rng
        self.base = os.path.realpath(tempfile.mkdtemp(prefix="hf-soak-", dir=MEMORY))
        self.root = os.path.join(self.base, "project")
        self.store = os.path.join(self.base, "store")
        self.env = dict(os.environ, XDG_STATE_HOME=self.base, HOME=self.base)
        os.makedirs(os.path.join(self.root, "data"))
        with open(os.path.join(self.root, "holdfast.json"), "w", encoding="ascii") as file:
            file.write(POLICY)
        self.count = 0
        self.damage = set()         # contents that nobody wanted
        self.known = set()          # whole ones
        self.must = set()           # those that may not be lost
        self.archived = {}          # {path in the store: contents}
        for name in NAMES:
            self.edit(name)
        self.said = []

    # -- contents ----------------------------------------------------------------------------------------------

    def content(self, what):
        self.count += 1
        text = ("%s %d\n" % (what, self.count)) * self.rng.choice((1, 1, 40, 2000))
        self.known.add(text)
        return text

    def read(self, name):
        try:
            with open(os.path.join(self.root, name), encoding="ascii") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def edit(self, name):
        """By a person, as an editor saves; what was never recorded is theirs to lose."""
        before = self.read(name)
        if before not in self.archive():
            self.must.discard(before)
        text = self.content("edit")
        staged = os.path.join(self.base, "edit")
        with open(staged, "w", encoding="ascii") as file:
            file.write(text)
        os.rename(staged, os.path.join(self.root, name))
        self.must.add(text)

    def archive(self, anew=False):
        """All contents in packs and kept copies."""
        if anew:
            self.archived = {}
        for folder in ("packs", "kept"):
            for directory, _names, files in os.walk(os.path.join(self.store, folder)):
                for name in files:
                    path = os.path.join(directory, name)
                    if path not in self.archived and not name.startswith(".") and not name.endswith(".index"):
                        self.archived[path] = unpack(path) if folder == "packs" else {slurp(path)}
        return set().union(*self.archived.values())

    # -- commands ----------------------------------------------------------------------------------------------

    def start(self, *words):
        """What it says goes to files: what a dead one leaves behind may hold them, and lives until that is settled."""
        streams = [tempfile.TemporaryFile("w+", dir=self.base) for _each in range(2)]
        process = subprocess.Popen([HOLDFAST, words[0], "--store", self.store, *words[1:]], cwd=self.root, env=self.env,
                                   stdin=subprocess.DEVNULL, stdout=streams[0], stderr=streams[1],
                                   start_new_session=True)
        process.streams = streams
        return process

    def end(self, process, *statuses):
        try:
            status = process.wait(LIMIT)
        except subprocess.TimeoutExpired as late:
            raise Wrong("does not end: %s" % "\n".join([str(late)] + self.said[-3:])) from late
        told = []
        for stream in process.streams:
            stream.seek(0)
            told.append(stream.read())
            stream.close()
        self.said.append("%s: %s\n%s" % (" ".join(process.args[1:])[:200], status, told[1]))
        if statuses and status not in statuses:
            raise Wrong("ended with %s, wanted %s\n%s" % (status, statuses, "\n".join(self.said[-6:])))
        return status, told[0]

    def do(self, *words, statuses=(0,)):
        return self.end(self.start(*words), *statuses)

    def script(self, names):
        """Damage to some of the names in several ways, with pauses."""
        lines = []
        for name in names:
            text = self.content("damage")
            self.damage.add(text)
            staged = os.path.join(self.base, "damage%d" % self.count)
            with open(staged, "w", encoding="ascii") as file:
                file.write(text)
            lines.append(self.rng.choice((
                "cat %(new)s >%(old)s", "rm -f %(old)s", "cp %(new)s %(old)s.x; mv %(old)s.x %(old)s", ": >%(old)s",
                "cat %(new)s >>%(old)s", "chmod 777 %(old)s", "mkdir -p data; mv -f %(old)s gone; cat %(new)s >%(old)s",
            )) % {"new": staged, "old": name})
            if self.rng.random() < 0.4:
                lines.append("sleep 0.00%d" % self.rng.randrange(1, 9))
        return "; ".join(lines)

    def options(self):
        options = ["--gate", "off" if self.rng.random() < 0.7 else "auto"]
        return options + ["--keep-going"] * (self.rng.random() < 0.5) + ["--"]

    def some(self):
        return self.rng.sample(NAMES, self.rng.randrange(1, len(NAMES)))

    # -- rounds ------------------------------------------------------------------------------------------------

    def damaged(self):
        self.do("run", *self.options(), "sh", "-c", self.script(self.some()), statuses=(0, 1, 97, -9))

    def killed(self):
        """One or all of holdfast's processes, at any moment; beside it somebody edits what the command leaves alone."""
        names = self.some()
        process = self.start("run", *self.options(), "sh", "-c", self.script(names) + "; sleep 0.01")
        time.sleep(self.rng.random() ** 2 * 0.08)
        others = [name for name in NAMES if name not in names]
        if others and self.rng.random() < 0.3:
            self.edit(self.rng.choice(others))
        roles = kill(process.pid, self.rng)
        self.said.append("killed: %s" % roles)
        self.end(process)
        # Whoever is dying still holds the session: it would count for alive.
        for pid in roles:
            bury(pid)

    def edited(self):
        for name in self.some():
            self.edit(name)

    def snapshot(self):
        self.do("snapshot")

    def restored(self):
        self.edited()
        self.do("restore")

    def killed_restoring(self):
        self.edited()
        process = self.start("restore")
        time.sleep(self.rng.random() * 0.02)
        process.kill()
        self.end(process)

    def undone(self):
        """What comes back is wanted, whatever it was."""
        self.do("undo", statuses=(0, 1, 2, 3, 98))
        for name in NAMES:
            text = self.read(name)
            self.damage.discard(text)
            self.known.add(text)
            if text is None:
                self.edit(name)

    def side_by_side(self):
        first, second = self.some(), self.some()
        both = [self.start("run", *self.options(), "sh", "-c", self.script(names)) for names in (first, second)]
        for process in both:
            self.end(process, 0, 1, 97, 98, 125, -9)

    def looked(self):
        self.do("status", statuses=(0, 1, 98))

    # -- what has to hold --------------------------------------------------------------------------------------

    def settle(self):
        """The next run makes it right, or asks; the answer is the person's edits, and nobody's damage."""
        until = time.monotonic() + LIMIT
        while time.monotonic() < until:
            # 97: beside a survivor whose command damages still, and without a gate nobody knows who did.
            status, _out = self.do("run", "--gate", "off", "--", "true", statuses=(0, 97, 98, 125))
            if status == 0:
                return
            if status == 97 or "in progress" in self.said[-1]:
                time.sleep(0.01)        # a survivor puts back
            else:
                self.decide()
        raise Wrong("is not settled\n" + "\n".join(self.said[-9:]))

    def decide(self):
        status, out = self.do("recover", "--json", statuses=(0, 3, 98))
        if status == 3:
            if "in progress" not in self.said[-1]:
                self.fail("recover failed")
            return      # its command took a file away under the run's eyes
        paths = [entry["path"] for session in json.loads(out)["sessions"] for entry in session["entries"]
                 if entry["decision"] == "undecided"]
        mine = [path for path in paths if self.read(path) in self.known - self.damage]
        back = [path for path in paths if path not in mine]
        if mine:
            self.do("recover", "--keep-mine", *mine, statuses=(0, 98))
        if back:
            self.do("recover", "--put-back", *back, statuses=(0, 98))
        if not paths:
            self.do("restore")

    def check(self):
        left = reap()
        if left:
            self.fail("processes left: %s" % left)
        now = {name: self.read(name) for name in NAMES}
        for name, text in now.items():
            if text not in self.known:
                self.fail("%s is nothing that anybody wrote: %.60r" % (name, text))
            if text in self.damage:
                self.fail("%s is damage" % name)
        lost = self.must - set(now.values()) - self.archive()
        if lost:
            self.fail("lost: %s" % [text[:20] for text in lost])
        left = [name for directory in (self.root, os.path.join(self.root, "data")) for name in os.listdir(directory)
                if name.startswith(".holdfast-")]
        if left:
            self.fail("left: %s" % left)

    def fail(self, what):
        raise Wrong("%s\n%s" % (what, "\n".join(self.said[-8:])))

    def done(self):
        shutil.rmtree(self.base)


def slurp(path):
    with open(path, encoding="ascii") as file:
        return file.read()


def unpack(path):
    plain = subprocess.run(["zstd", "-dcq", path], stdout=subprocess.PIPE, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(plain)) as tar:
        return {tar.extractfile(one).read().decode("ascii") for one in tar.getmembers() if one.isfile()}


def children(pid):
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def is_ours(pid):
    try:
        return os.readlink("/proc/%d/exe" % pid) == HOLDFAST
    except OSError:
        return False


def kill(front, rng):
    """They are our children or theirs, and not reaped before: their numbers stay theirs."""
    roles = [(front, "front")] + [(pid, "child %d" % i) for i, pid in enumerate(children(front))]
    roles = [one for one in roles if is_ours(one[0])]
    if roles and rng.random() < 0.5:
        roles = [rng.choice(roles)]
    for pid, _role in roles:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    return dict(roles)


def bury(pid):
    """Its parent may have done so."""
    try:
        os.waitpid(pid, 0)
    except ChildProcessError:
        pass


def reap():
    """What a dead session has left behind was ended by whoever settled it, or ends.  Who does not."""
    until = time.monotonic() + LIMIT
    while time.monotonic() < until:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.001)
        except ChildProcessError:
            return []
    return [(pid, [slurp("/proc/%d/%s" % (pid, name)).replace("\0", " ") for name in ("wchan", "cmdline")])
            for pid in children(os.getpid())]


def is_sanitized():
    with open(HOLDFAST, "rb") as file:
        return b"__asan_init" in file.read()


WEIGHTS = {"damaged": 8, "killed": 10, "edited": 6, "snapshot": 2, "restored": 3, "killed_restoring": 4, "undone": 2,
           "side_by_side": 2, "looked": 2}


def main():
    rounds = ROUNDS or (300 if is_sanitized() else 2000)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    print("seed %d, %d rounds" % (SEED, rounds), flush=True)
    rng = random.Random(SEED)
    tried = collections.Counter()
    project = None
    try:
        for i in range(rounds):
            if i % EACH == 0:
                if project:
                    project.archive(anew=True)
                    project.check()
                    project.done()
                project = Project(rng)
                project.settle()
            if i % 1000 == 0:
                print("%d rounds" % i, flush=True)
            kind = rng.choices(list(WEIGHTS), WEIGHTS.values())[0]
            tried[kind] += 1
            try:
                getattr(project, kind)()
                if rng.random() < 0.8 or kind in ("killed", "killed_restoring", "side_by_side"):
                    project.settle()
                project.check()
            except Wrong as wrong:
                sys.exit("seed %d, round %d, %s: %s" % (SEED, i, kind, wrong))
    finally:
        if project:
            for pid, _words in reap():
                os.kill(pid, signal.SIGKILL)
                bury(pid)
            project.done()
    print(", ".join("%s %d" % (kind.replace("_", " "), count) for kind, count in sorted(tried.items())))
    if sum(tried.values()) != rounds or len(tried) < len(WEIGHTS) and rounds >= 300:
        sys.exit("not all was tried")


main()
