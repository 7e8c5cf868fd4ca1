#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What holdfast costs, as ratios against named baselines that run in turn with it.

    bench.py --holdfast PROGRAM [--only NAME ...] [--rounds N] [--quick] [--scratch DIR] [--check]

Machines are shared and noisy: a figure is the median of the ratios of neighbouring runs, never a time alone.
Times are of whole processes, those of loops and refusals from inside the command; the memory is the largest resident
set of any process of the run. --quick makes one round with little data, to see that everything runs. --check ends
with 1 when a figure is over its bound. The scratch directory should lie on a disk (default: /var/tmp).
"""
import argparse
import itertools
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from gate import Gate
from history import History
from samples import BLOCK, Samples, Words

HERE = os.path.dirname(os.path.abspath(__file__))
SIX = ["manual_slop.toml", "manual_slop_history.toml", "personas.toml", "presets.toml", "tool_presets.toml",
       "credentials.toml"]


class Bench:
    def __init__(self, args):
        self.args = args
        self.base = tempfile.mkdtemp(prefix="hf-bench-", dir=args.scratch)
        self.rows = []
        self.data = Samples()
        self.notes = ["--quick: these figures say nothing about the bounds"] if args.quick else []
        self.stat_walk = self.program("stat_walk")
        self.gate = Gate(self)

    def program(self, name, *flags):
        """one of the C programs next to this file"""
        path = self.path(name)
        subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", *flags, "-o", path, os.path.join(HERE, name + ".c")], check=True)
        return path

    def count(self, usual):
        return 1000 if self.args.quick else usual

    def rounds(self, usual):
        return self.args.rounds or (1 if self.args.quick else usual)

    def path(self, *parts):
        return os.path.join(self.base, *parts)

    def fresh(self, name):
        path = self.path(name)
        shutil.rmtree(path, ignore_errors=True)
        return path

    def run(self, argv, cwd=None, ok=(0,), stderr=None):
        """seconds and peak memory in KiB of one command"""
        start = time.monotonic()
        child = subprocess.Popen(argv, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr)
        _pid, status, usage = os.wait4(child.pid, 0)
        took = time.monotonic() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode not in ok:
            sys.exit("%s: status %s" % (" ".join(argv[:6]), child.returncode))
        return took, usage.ru_maxrss

    def holdfast(self, command, root, store, *words, ok=(0,), patterns=("*.toml",)):
        protect = [w for p in patterns for w in ("--protect", p)]
        return self.run([self.args.holdfast, command, "--root", root, "--store", store, "--quiet"] + protect +
                        list(words), cwd=root, ok=ok)

    def compare(self, name, ours, base_name, base, rounds, bound):
        """ours and base in turn; both are functions that return what run() does"""
        ours()
        base()
        pairs = [(ours()[0], base()[0]) for _ in range(rounds)]
        self.ratio(name, statistics.median(a / b for a, b in pairs), "%s (%.1f ms against %.1f ms)" % (
            base_name, 1e3 * statistics.median(a for a, _ in pairs), 1e3 * statistics.median(b for _, b in pairs)),
            bound)

    def ratio(self, name, ratio, note, bound):
        self.rows.append((name, "%.2f x" % ratio, note, "%.2f x" % bound if bound else "-",
                          not bound or ratio <= bound))

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)

    def value(self, name, value, unit, bound, note):
        self.rows.append((name, "%.2f %s" % (value, unit), note, "%.2f %s" % (bound, unit) if bound else "-",
                          not bound or value <= bound))

    # -- data ------------------------------------------------------------------

    def six(self):
        root = self.fresh("six")
        os.mkdir(root)
        rnd = random.Random(2)
        for name in SIX:
            with open(os.path.join(root, name), "w", encoding="utf-8") as f:
                f.write("# kept by hand\n" + "".join("key_%d = %d\n" % (i, rnd.getrandbits(30)) for i in range(60)))
        time.sleep(0.05)    # older than the clock tick of the first scan
        return root

    def small(self, count):
        root = self.fresh("small")
        for d in range(count // 1000):
            os.makedirs(os.path.join(root, "d%03d" % d))
            for n in range(1000):
                with open(os.path.join(root, "d%03d" % d, "f%03d.toml" % n), "wb") as f:
                    f.write(self.data.record()[:4096])
        os.sync()
        return root

    def large_size(self):
        return "60 MB" if self.args.quick else "3 GB"

    def large(self):
        root = self.fresh("large")
        os.mkdir(root)
        for n in range(21):
            left = (50 if n == 20 else 148) * BLOCK // (50 if self.args.quick else 1)
            with open(os.path.join(root, "f%02d.toml" % n), "wb") as f:
                while left > 0:
                    block = b"".join(self.data.record() for _ in range(250))[:left]
                    f.write(block)
                    left -= len(block)
        os.sync()
        return root

    # -- measurements ------------------------------------------------------------

    def start(self):
        root = self.six()
        store = self.fresh("store-start")
        rounds = self.rounds(60)
        firsts = itertools.count()

        def first():
            # nothing is removed meanwhile: ext4 passes over what was for half a minute, and each run makes a file
            return self.holdfast("run", root, "%s-%d" % (store, next(firsts)), "--", "true")

        def ungated():
            return self.holdfast("run", root, store, "--gate", "off", "--", "true")

        def gated():
            return self.holdfast("run", root, store, "--gate", self.gate.mode, "--", "true")

        def bwrap():
            return self.run(["bwrap", "--dev-bind", "/", "/", "true"])

        def bare():
            return self.run(["true"])

        base = "bwrap --dev-bind / / true"
        mode = "run --gate %s -- true, six files" % self.gate.mode
        self.compare("run --gate off -- true, six files", ungated, base, bwrap, rounds, 1.25)
        self.compare(mode, gated, base, bwrap, rounds, 1.35)
        self.compare(mode, gated, "true", bare, rounds, None)
        self.compare("run -- true, six files, first", first, base, bwrap, rounds, None)

    def against_tar(self, name, root, store, rounds, bound, patterns=("*.toml",)):
        tar = self.path("out.tar")

        def first():
            shutil.rmtree(store, ignore_errors=True)
            return self.holdfast("snapshot", root, store, patterns=patterns)

        def archive():
            if os.path.exists(tar):
                os.unlink(tar)
            return self.run(["tar", "-cf", tar, "-C", root, "."])

        self.compare(name, first, "tar -cf", archive, rounds, bound)
        os.unlink(tar)
        return first

    def many(self, count, bound):
        root = self.small(count)
        label = "{:,} x 4 KB".format(count)
        patterns = ("**/*.toml",)
        rounds = self.rounds(5)
        store = self.fresh("store-many")
        memory = []

        def unchanged():
            return self.holdfast("snapshot", root, store, patterns=patterns)

        def walk():
            return self.run([self.stat_walk, root])

        def check():
            return self.holdfast("verify", root, store, patterns=patterns)

        def sums():
            return self.run(["sh", "-c", "find . -type f -print0 | xargs -0 xxh128sum 2>/dev/null"], cwd=root)

        first = self.against_tar("first snapshot of %s, durable" % label, root, store, rounds, bound and 1.5,
                                 patterns)
        self.compare("unchanged snapshot of %s" % label, unchanged, "stat walk", walk, rounds, bound and 2.0)
        self.compare("full content check of %s" % label, check, "xxh128sum", sums, rounds, bound and 1.3)
        if bound:
            memory.append(first()[1])
            memory.append(unchanged()[1])
            memory.append(self.holdfast("run", root, store, "--", "true", patterns=patterns)[1])
            self.value("memory at %s" % label, max(memory) / 1024, "MB", 120, "first, unchanged, run")
        shutil.rmtree(root)
        self.fresh("store-many")

    def big(self):
        root = self.large()
        store = self.fresh("store-big")
        rounds = self.rounds(3)
        self.against_tar("first snapshot of %s in 21 files" % self.large_size(), root, store, rounds, 1.5)
        times = []
        for _ in range(rounds):
            with open(os.path.join(root, "f20.toml"), "r+b") as f:
                f.seek(1000)
                f.write(b"damage")
            times.append(self.holdfast("restore", root, store, "f20.toml")[0])
        self.value("restore of one damaged %s MB file among them" % (1 if self.args.quick else 50),
                   statistics.median(times), "s", 0.5, "holdfast restore f20.toml")
        shutil.rmtree(root)
        self.fresh("store-big")

    def words(self):
        """What a first snapshot costs depends on its data: the same with hard ones, for which no bound is set."""
        self.data = Words()
        rounds = self.rounds(3)
        root = self.small(self.count(100000))
        store = self.fresh("store-words")
        self.against_tar("first snapshot of {:,} x 4 KB of random words".format(self.count(100000)), root, store,
                         rounds, None, ("**/*.toml",))
        shutil.rmtree(root)
        root = self.large()
        self.against_tar("first snapshot of %s of random words" % self.large_size(), root, store, rounds, None)
        shutil.rmtree(root)
        self.fresh("store-words")
        self.data = Samples()

    def table(self):
        print("| what | measured | against | at most |")
        print("|---|---|---|---|")
        for name, figure, note, bound, ok in self.rows:
            print("| %s | %s | %s | %s |" % (name, figure, note, bound if ok else bound + ", over"))
        over = [r for r in self.rows if not r[4]]
        for row in over:
            print("over: %s: %s, at most %s" % (row[0], row[1], row[3]))
        for text in self.notes:
            print("note: %s" % text)
        return over


STEPS = {
    "start": Bench.start,
    "opens": lambda bench: bench.gate.opens(),
    "refusals": lambda bench: bench.gate.refusals(),
    "pytest": lambda bench: bench.gate.pytest(),
    "ninja": lambda bench: bench.gate.ninja(),
    "git": lambda bench: bench.gate.git(),
    "10k": lambda bench: bench.many(bench.count(10000), False),
    "100k": lambda bench: bench.many(bench.count(100000), True),
    "big": Bench.big,
    "history": lambda bench: History(bench).measure(),
    "words": Bench.words,
}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--holdfast", required=True)
    p.add_argument("--only", nargs="+", metavar="NAME", choices=STEPS, default=list(STEPS),
                   help="some of " + " ".join(STEPS))
    p.add_argument("--rounds", type=int)
    p.add_argument("--quick", action="store_true")
    p.add_argument("--scratch", default="/var/tmp")
    p.add_argument("--check", action="store_true")
    args = p.parse_args()
    args.holdfast = os.path.abspath(args.holdfast)
    bench = Bench(args)
    try:
        for name in args.only:
            STEPS[name](bench)
        over = bench.table()
    finally:
        shutil.rmtree(bench.base, ignore_errors=True)
    return 1 if over and args.check else 0


if __name__ == "__main__":
    sys.exit(main())
