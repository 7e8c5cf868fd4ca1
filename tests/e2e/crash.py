# SPDX-License-Identifier: MIT
"""What the matrices share: a small project, the commands that are disturbed, what must hold afterwards.

A command joins by one line in CASES: how the project gets there, the command, how it ends undisturbed, and what is
typed afterwards to settle what was left.
"""
import argparse
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor

HOLDFAST = os.path.abspath(sys.argv[1])
INJECT = os.path.join(os.path.abspath(sys.argv[2]), "inject")
WORKERS = 2
LIMIT = 30
PROTECT = ("--protect", "*.toml", "--protect", "d/")
OLD_TIME = 1700000000

# What the command does to each entry, and says so outside the tree when it has.
DAMAGE = """
echo damaged >a.toml && echo a >>../marks
chmod 600 b.toml
rm d/e l.toml
ln -s elsewhere l.toml && echo l >>../marks
echo added >n.toml && echo n >>../marks
exit 0
"""
WAS = {"a.toml": b"a = 1  # as it was\n", "b.toml": b"b = 2\n", "d/e": b"e = 3\n"}
DAMAGED = {"a.toml": b"damaged\n", "n.toml": b"added\n", "l.toml": b"elsewhere"}
MARKS = {"a": b"damaged\n", "n": b"added\n", "l": b"elsewhere"}

STORE_NAMES = re.compile(r"store\.json|lock|packs|snapshots|sessions|kept|packs/\d{6}\.(tar\.zst|index)|"
                         r"snapshots/\d{6}-\w+|sessions/\d{6}-\w+\.done|kept/\d{6}-\w+(/.*)?")


class Wrong(Exception):
    pass


class Place:
    """One worker's; its project is made anew for every point."""

    def __init__(self, base, number):
        self.base = os.path.join(base, "w%d" % number)
        self.root = os.path.join(self.base, "project")
        self.store = os.path.join(self.base, "store")
        self.copies = os.path.join(self.base, "copies")
        self.list = os.path.join(self.base, "list")
        self.said = []
        self.was = {}
        os.mkdir(self.base)
        os.mkdir(os.path.join(self.base, "home"))
        self.environ = dict(os.environ, XDG_STATE_HOME=os.path.join(self.base, "home"), LC_ALL="C")
        # No leak can be looked for under a tracer.
        self.traced = dict(self.environ, ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0")

    # -- commands

    def command(self, words, environ=None, before=()):
        """In a session of its own: where a group of processes is orphaned, as that of a CI job may be, and one in it is
        stopped, the end of the last that has a parent in another group is a hang-up for all of them."""
        done = subprocess.run([*before, HOLDFAST, words[0], "--store", self.store, *PROTECT, *words[1:]],
                              cwd=self.root, env=environ or self.environ, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT, check=False,
                              start_new_session=True)
        self.said.append("$ %s -> %d\n%s%s" % (" ".join(words), done.returncode, done.stdout, done.stderr))
        return done

    def must(self, statuses, *words):
        done = self.command(words)
        if done.returncode not in statuses:
            raise Wrong("%s: status %d" % (words[0], done.returncode))
        return done

    def inject(self, deed, number, words):
        return self.command(words, self.traced, (INJECT, self.list, deed, str(number)))

    def calls(self):
        """The last list: [(name, what about)], and the numbers of those that failed."""
        calls, failed = [], []
        with open(self.list, encoding="utf-8", errors="replace") as file:
            for line in file:
                words = line.rstrip("\n").split(" ", 2)
                if len(words) == 2:
                    failed.append(int(words[0]))
                elif len(words) == 3:
                    calls.append((words[1], words[2]))
        return calls, failed

    # -- the project

    def fresh(self):
        self.said = []
        for path in (self.root, self.store, self.copies):
            shutil.rmtree(path, ignore_errors=True)
        for name in os.listdir(self.base):
            if name.startswith("out.tar.zst"):
                os.remove(os.path.join(self.base, name))
        os.mkdir(self.root)
        os.mkdir(self.path("d"))
        for name, content in WAS.items():
            with open(self.path(name), "wb") as file:
                file.write(content)
            os.chmod(self.path(name), 0o644)
        os.symlink("there", self.path("l.toml"))
        for name in (*WAS, "l.toml"):
            os.utime(self.path(name), (OLD_TIME, OLD_TIME), follow_symlinks=False)
        self.script("damage", DAMAGE)
        self.script("marks", "")
        self.was = self.survey()

    def path(self, name):
        return os.path.join(self.root, name)

    def script(self, name, text):
        """Beside the project."""
        with open(os.path.join(os.path.dirname(self.root), name), "w", encoding="utf-8") as file:
            file.write(text)

    def damage(self):
        subprocess.run(["sh", "../damage"], cwd=self.root, check=True)

    def edit(self):
        """As a person does it."""
        with open(self.path("a.toml"), "ab") as file:
            file.write(b"# mine\n")
        self.was = self.survey()

    # -- what is there

    def survey(self):
        """All names but the root: what of each must come back."""
        found = {}
        for directory, directories, files in os.walk(self.root):
            for name in directories + files:
                path = os.path.join(directory, name)
                at = os.lstat(path)
                what = None
                if stat.S_ISREG(at.st_mode):
                    what = read(path), at.st_mtime_ns
                elif stat.S_ISLNK(at.st_mode):
                    what = os.readlink(os.fsencode(path)), at.st_mtime_ns
                found[os.path.relpath(path, self.root)] = at.st_mode, what
        return found

    def contents(self, top):
        found = set()
        for directory, _directories, files in os.walk(top):
            for name in files:
                path = os.path.join(directory, name)
                if stat.S_ISREG(os.lstat(path).st_mode):
                    found.add(read(path))
        return found

    def landed(self):
        """What a deed of the command has left, whoever took it away since."""
        with open(os.path.join(os.path.dirname(self.root), "marks"), encoding="utf-8") as file:
            return {MARKS[mark] for mark in file.read().split()}


def read(path):
    with open(path, "rb") as file:
        return file.read()


# -- how the project gets there --------------------------------------------------------

def untouched(_place):
    pass


def recorded(place):
    place.must((0,), "snapshot")


def edited(place):
    recorded(place)
    place.edit()


def damaged(place):
    recorded(place)
    place.damage()


def restored(place):
    damaged(place)
    place.must((0,), *RESTORE)


def dead(place):
    """A session of which everything died while it was putting things back."""
    for _ in range(3):
        place.fresh()
        recorded(place)
        place.inject("kill-all", 25, RUN_DAMAGE)
        if [name for name in os.listdir(os.path.join(place.store, "sessions")) if name.endswith(".open")]:
            return
    raise Wrong("the session to be settled has ended: %s" % place.calls()[0])


def vanished(place):
    """Out of a repository, which has two of them, what git does not have."""
    for words in (("init", "-q", "--template="), ("add", "a.toml", "b.toml")):
        subprocess.run(("git", *words), cwd=place.root, check=True)
    recorded(place)
    place.was = place.survey()
    shutil.rmtree(place.path("d"))
    os.remove(place.path("l.toml"))


def many(place):
    """More contents than are to be kept; at the eighth snapshot some are dropped."""
    with open(place.path("holdfast.json"), "w", encoding="utf-8") as file:
        file.write('{"protect": ["*.toml", "d/"], "retention": {"contents": 2, "days": 0}}\n')
    for _ in range(7):
        place.edit()
        place.must((0,), "snapshot")
    place.edit()


def exported(place):
    """All there is, in a file beside the project; an edit since."""
    recorded(place)
    place.must((0,), *EXPORT)
    os.rename(place.path(EXPORTED), place.path(EXPORTED) + ".whole")
    edited(place)


SNAPSHOT = ("snapshot",)
EXPORTED = "../out.tar.zst"
EXPORT = ("export", "--all", EXPORTED)
IMPORT = ("import", EXPORTED + ".whole")
RUN_CLEAN = ("run", "--gate", "off", "--", "sh", "-c", "cat *.toml >/dev/null; exit 0")
RUN_DAMAGE = ("run", "--gate", "off", "--keep-going", "--", "sh", "../damage")
RUN_STOP = ("run", "--gate", "off", "--", "sh", "../damage")
RUN_GATE = ("run", "--gate", "require", "--", "sh", "../damage")
RESTORE = ("restore", "--remove-additions")
DROP = ("store", "drop", "--yes")
KEPT_RESTORE = ("kept", "restore", "1", "a.toml", "d")
COPIES = ("restore", "--to", "../copies")
PURGE = ("purge", "--yes", "b.toml")
HOOK = ("hook", "run", "post-checkout")

CASES = (
    ("snapshot", untouched, SNAPSHOT, (0,), (SNAPSHOT,)),
    ("snapshot of an edit", edited, SNAPSHOT, (0,), (SNAPSHOT,)),
    ("first run", untouched, RUN_CLEAN, (0,), (RUN_CLEAN,)),
    ("clean run", recorded, RUN_CLEAN, (0,), (RUN_CLEAN,)),
    ("damage put back", recorded, RUN_DAMAGE, (97,), (RUN_CLEAN, RESTORE)),
    ("damage refused", recorded, RUN_GATE, (97,), (RUN_CLEAN, RESTORE)),
    ("restore", damaged, RESTORE, (0,), (RESTORE,)),
    ("undo", restored, ("undo",), (0,), (RESTORE,)),
    ("kept restore", restored, KEPT_RESTORE, (0,), (RESTORE,)),
    ("copies", damaged, COPIES, (0,), (RESTORE,)),
    ("status after death", dead, ("status",), (0, 1, 98), (RUN_CLEAN, RESTORE)),
    ("recover", dead, ("recover",), (0,), (RUN_CLEAN, RESTORE)),
    ("hook", vanished, HOOK, (0,), (HOOK, RESTORE)),
    ("retention", many, SNAPSHOT, (0,), (SNAPSHOT,)),
    ("prune", many, ("prune",), (0,), (SNAPSHOT,)),
    ("export", recorded, EXPORT, (0,), (SNAPSHOT,)),
    ("import", exported, IMPORT, (0,), (SNAPSHOT,)),
    ("purge", restored, PURGE, (0,), (PURGE, SNAPSHOT)),
    ("store drop", edited, DROP, (0,), (DROP, SNAPSHOT)),
)

# What takes the way of another case is tried at every so many calls, without --all.
ALIKE = {"kept restore": 4, "copies": 4, "prune": 3, "export": 2, "import": 4, "purge": 5, "store drop": 3}

# With --all: much the same calls as above, in another order.
MORE = (
    ("damage ends the run", recorded, RUN_STOP, (97,), (RUN_CLEAN, RESTORE)),
    ("run after death", dead, RUN_CLEAN, (0, 98), (RUN_CLEAN, RESTORE)),
    ("restore after death", dead, RESTORE, (0,), (RUN_CLEAN, RESTORE)),
)


# -- what must hold --------------------------------------------------------------------

def is_in_store(place, content):
    for directory, _directories, files in os.walk(place.store):
        for name in files:
            path = os.path.join(directory, name)
            found = read(path)
            if name.endswith(".tar.zst"):
                found = subprocess.run(("zstd", "-dc", path), stdout=subprocess.PIPE, check=True).stdout
            if content in found:
                return True
    return False


def recover(place, settling):
    """What a person types after a crash: each command settles all, or says 98 and the next one does."""
    if DROP in settling:
        # Whole, or gone, or half of it, which is said.
        done = place.must((0, 1, 3), "status")
        if done.returncode == 3 and "was being dropped" not in done.stderr:
            raise Wrong("status does not say what is left")
        place.must((0, 2), *DROP)
    else:
        place.must((0, 1, 98), "status")
    if PURGE in settling:
        place.must((0,), "verify", "--store")
        place.must((0, 2), *PURGE)
        if is_in_store(place, WAS["b.toml"]):
            raise Wrong("purged, and still there")
    for words in settling[:-1]:
        if words not in (DROP, PURGE) and place.must((0, 98), *words).returncode == 0:
            return
    place.must((0,), *settling[-1])


def old_or_new(place):
    """Of each entry, whatever was going on; returns the contents that are there."""
    now = place.survey()
    for name, (mode, what) in now.items():
        content = what[0] if what else None
        old = place.was.get(name)
        if old == (mode, what) or os.path.basename(name).startswith(".holdfast-"):
            continue
        # The shell empties a file before it writes.
        if old and content == old[1][0] or name in DAMAGED and content in (DAMAGED[name], b""):
            continue
        raise Wrong("'%s' is neither old nor new: %o %r" % (name, mode, what))
    return contents_of(now)


def contents_of(survey):
    return {what[0] for _mode, what in survey.values() if what and what[0]}


def as_it_was(place):
    now = place.survey()
    if now != place.was:
        raise Wrong("not as it was: %s" % sorted((name, place.was.get(name), now.get(name))
                                                 for name in {*place.was, *now}
                                                 if place.was.get(name) != now.get(name)))


def copies_are_whole(place, must_be):
    """Each is there as it was recorded, or not at all; a temporary name is in nobody's way."""
    there = set()
    for directory, _directories, files in os.walk(place.copies):
        for name in files:
            path = os.path.join(directory, name)
            if not name.startswith(".holdfast-"):
                there.add(os.path.relpath(path, place.copies))
                if not os.path.islink(path) and read(path) != WAS[os.path.relpath(path, place.copies)]:
                    raise Wrong("'%s' is not what was recorded" % path)
    if must_be and there != {*WAS, "l.toml"}:
        raise Wrong("copies: %s" % sorted(there))


def comes_back(place):
    """What is said to be recorded can be had."""
    for name in WAS:
        os.remove(place.path(name))
    place.must((0,), "restore")
    as_it_was(place)


def numbers(case, count, args):
    """Of the calls at which it is tried."""
    return range(1, count + 1, args.stride * (1 if args.all else ALIKE.get(case[0], 1)))


def all_is_right(place, settling):
    """Settled: all is as it was, all that was replaced is kept, the store is whole, and what follows works."""
    copies_are_whole(place, False)
    if os.path.exists(place.path(EXPORTED)):
        # Not half of one under its name.
        place.must((0,), "import", EXPORTED)
    wanted = old_or_new(place) | place.landed()
    recover(place, settling)
    as_it_was(place)
    lost = wanted - contents_of(place.was) - place.contents(os.path.join(place.store, "kept"))
    if lost:
        raise Wrong("nowhere any more: %r" % sorted(lost))
    place.must((0,), "log")
    place.must((0,), "verify")
    place.must((0,), "verify", "--store")
    place.edit()
    place.must((0,), "snapshot")
    comes_back(place)
    for directory, directories, files in os.walk(place.store):
        for name in directories + files:
            path = os.path.relpath(os.path.join(directory, name), place.store)
            if not STORE_NAMES.fullmatch(path):
                raise Wrong("left in the store: '%s'" % path)


# -- the matrix ------------------------------------------------------------------------

class Matrix:
    """Points are tried by several workers; each has a place of its own."""

    def __init__(self, base):
        self.free = [Place(base, number) for number in range(WORKERS)]
        self.pool = ThreadPoolExecutor(WORKERS)
        self.lock = threading.Lock()
        self.calls = set()
        self.failures = []
        for place in self.free:
            place.fresh()
            # The gate is tried once, and that remembered for the like of it: under a tracer.
            place.inject("count", 0, ("run", "--gate", "require", "--", "true"))

    def point(self, case, deed, number, judge):
        """How many calls were seen; judge(place, done, failed) says Wrong."""
        name, prepare, words, _ends, _settling = case
        with self.lock:
            place = self.free.pop()
        calls, failed = [], []
        try:
            place.fresh()
            prepare(place)
            done = place.inject(deed, number, words)
            calls, failed = place.calls()
            judge(place, done, failed)
        except (Wrong, OSError, subprocess.SubprocessError) as wrong:
            self.failures.append("%s, %s at %d of %d (%s): %s\n%s" % (
                name, deed, number, len(calls), " ".join(calls[number - 1]) if 0 < number <= len(calls) else "-",
                wrong, "".join(place.said)))
        with self.lock:
            self.free.append(place)
            self.calls |= {call for call, _about in calls}
        return len(calls)

    def count(self, case):
        """Not the same every time: threads and timers have their part in it."""
        def judge(_place, done, _failed):
            if done.returncode not in case[3]:
                raise Wrong("undisturbed: status %d" % done.returncode)
        return max(self.pool.map(lambda _: self.point(case, "count", 0, judge), range(2 * WORKERS)))

    def every(self, case, deeds, numbers, judge):
        """Try each deed of deeds(number) at each number; how many were reached."""
        points = [(deed, number) for number in numbers for deed in deeds(number)]
        seen = self.pool.map(lambda point: self.point(case, *point, lambda *args: judge(point[0], *args)), points)
        return sum(calls >= point[1] for point, calls in zip(points, seen))


def main(description, least, try_case):
    """try_case(matrix, case, count, stride) returns how many points were tried."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("holdfast")
    parser.add_argument("support")
    parser.add_argument("only", nargs="*")
    parser.add_argument("--stride", type=int, default=1)
    parser.add_argument("--all", action="store_true", help="also what is much alike")
    args = parser.parse_intermixed_args()
    total = 0
    with tempfile.TemporaryDirectory(prefix="hf-crash-") as base:
        matrix = Matrix(base)
        for case in CASES + (MORE if args.all or args.only else ()):
            if args.only and case[0] not in args.only:
                continue
            count = matrix.count(case)
            tried = try_case(matrix, case, count, args)
            total += tried
            print("%-22s %4d calls, %5d points" % (case[0], count, tried), flush=True)
        matrix.pool.shutdown()
    for failure in matrix.failures[:5]:
        print(failure)
    for failure in matrix.failures[5:]:
        print(failure.split("\n", 1)[0])
    print("%d points, %d wrong; %s" % (total, len(matrix.failures), " ".join(sorted(matrix.calls))))
    if not args.only and total * args.stride < least:
        sys.exit("too few points: %d" % total)
    sys.exit(1 if matrix.failures else 0)
