#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What holdfast costs, as ratios against named baselines that run in turn with it.

    bench.py --holdfast PROGRAM [--only NAME ...] [--rounds N] [--scratch DIR] [--check]

Machines are shared and noisy: a figure is the median of the ratios of neighbouring runs, never a time alone.
Times are of whole processes; the memory is the largest resident set of any process of the run. --check ends
with 1 when a figure misses its bound. The scratch directory should lie on a disk (default: /var/tmp).
"""
import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

SIX = ["manual_slop.toml", "manual_slop_history.toml", "personas.toml", "presets.toml", "tool_presets.toml",
       "credentials.toml"]
BLOCK = 1 << 20


def text_blocks(count, seed=1):
    """Blocks of words and numbers, as sample data is: zstd makes about a third of them."""
    rnd = random.Random(seed)
    words = ["%x" % rnd.getrandbits(rnd.randint(8, 40)) for _ in range(5000)]
    blocks = []
    for _ in range(count):
        lines = []
        size = 0
        while size < BLOCK:
            line = "%s = %s\n" % (rnd.choice(words), rnd.choice(words))
            lines.append(line)
            size += len(line)
        blocks.append("".join(lines).encode()[:BLOCK])
    return blocks


class Bench:
    def __init__(self, args):
        self.args = args
        self.base = tempfile.mkdtemp(prefix="hf-bench-", dir=args.scratch)
        self.rows = []
        self.blocks = None
        self.stat_walk = self.path("stat_walk")
        here = os.path.dirname(os.path.abspath(__file__))
        subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", "-o", self.stat_walk, os.path.join(here, "stat_walk.c")],
                       check=True)

    def path(self, *parts):
        return os.path.join(self.base, *parts)

    def fresh(self, name):
        path = self.path(name)
        shutil.rmtree(path, ignore_errors=True)
        return path

    def run(self, argv, cwd=None, ok=(0,)):
        """seconds and peak memory in KiB of one command"""
        start = time.monotonic()
        child = subprocess.Popen(argv, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
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
        ratio = statistics.median(a / b for a, b in pairs)
        self.rows.append((name, "%.2f x" % ratio, "%s (%.1f ms against %.1f ms)" % (
            base_name, 1e3 * statistics.median(a for a, _ in pairs),
            1e3 * statistics.median(b for _, b in pairs)), "%.2f x" % bound if bound else "-",
            bound is None or ratio <= bound))

    def value(self, name, value, unit, bound, note):
        self.rows.append((name, "%.2f %s" % (value, unit), note, "%.2f %s" % (bound, unit), value <= bound))

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
        self.blocks = self.blocks or text_blocks(16)
        rnd = random.Random(3)
        for d in range(count // 1000):
            os.makedirs(os.path.join(root, "d%03d" % d))
            for n in range(1000):
                at = rnd.randrange(BLOCK - 4096)
                data = b"id = %016x\n" % rnd.getrandbits(64) + rnd.choice(self.blocks)[at:at + 4076]
                with open(os.path.join(root, "d%03d" % d, "f%03d.toml" % n), "wb") as f:
                    f.write(data[:4096])
        os.sync()
        return root

    def large(self):
        root = self.fresh("large")
        os.mkdir(root)
        self.blocks = self.blocks or text_blocks(16)
        rnd = random.Random(4)
        for n in range(21):
            with open(os.path.join(root, "f%02d.toml" % n), "wb") as f:
                for _ in range(50 if n == 20 else 148):
                    cut = rnd.randrange(BLOCK)
                    block = rnd.choice(self.blocks)
                    f.write(b"%016x" % rnd.getrandbits(64) + (block[cut:] + block[:cut])[16:])
        os.sync()
        return root

    # -- measurements ------------------------------------------------------------

    def start(self):
        root = self.six()
        store = self.fresh("store-start")
        rounds = self.args.rounds or 60

        def first():
            shutil.rmtree(store, ignore_errors=True)
            return self.holdfast("run", root, store, "--", "true")

        def unchanged():
            return self.holdfast("run", root, store, "--", "true")

        def bwrap():
            return self.run(["bwrap", "--dev-bind", "/", "/", "true"])

        def bare():
            return self.run(["true"])

        self.compare("run -- true, six files, first", first, "bwrap --dev-bind / / true", bwrap, rounds, None)
        self.compare("run -- true, six files, unchanged", unchanged, "bwrap --dev-bind / / true", bwrap, rounds, 1.25)
        self.compare("run -- true, six files, unchanged", unchanged, "true", bare, rounds, None)

    def many(self, count, bound):
        root = self.small(count)
        label = "{:,} x 4 KB".format(count)
        patterns = ("**/*.toml",)
        rounds = self.args.rounds or 5
        store = self.fresh("store-many")
        tar = self.path("out.tar")
        memory = []

        def first():
            shutil.rmtree(store, ignore_errors=True)
            return self.holdfast("snapshot", root, store, patterns=patterns)

        def archive():
            if os.path.exists(tar):
                os.unlink(tar)
            return self.run(["tar", "-cf", tar, "-C", root, "."])

        def unchanged():
            return self.holdfast("snapshot", root, store, patterns=patterns)

        def walk():
            return self.run([self.stat_walk, root])

        def check():
            return self.holdfast("verify", root, store, patterns=patterns)

        def sums():
            return self.run(["sh", "-c", "find . -type f -print0 | xargs -0 xxh128sum"], cwd=root)

        self.compare("first snapshot of %s, durable" % label, first, "tar -cf", archive, rounds, bound and 1.5)
        self.compare("unchanged snapshot of %s" % label, unchanged, "stat walk", walk, rounds, bound and 2.0)
        self.compare("full content check of %s" % label, check, "xxh128sum", sums, rounds, bound and 1.3)
        if bound:
            memory.append(first()[1])
            memory.append(unchanged()[1])
            memory.append(self.holdfast("run", root, store, "--", "true", patterns=patterns)[1])
            self.value("memory at %s" % label, max(memory) / 1024, "MB", 120, "first, unchanged, run")
        shutil.rmtree(root)
        os.path.exists(tar) and os.unlink(tar)
        self.fresh("store-many")

    def big(self):
        root = self.large()
        store = self.fresh("store-big")
        tar = self.path("out.tar")
        rounds = self.args.rounds or 3

        def first():
            shutil.rmtree(store, ignore_errors=True)
            return self.holdfast("snapshot", root, store)

        def archive():
            if os.path.exists(tar):
                os.unlink(tar)
            return self.run(["tar", "-cf", tar, "-C", root, "."])

        self.compare("first snapshot of 3 GB in 21 files", first, "tar -cf", archive, rounds, 1.5)
        times = []
        for _ in range(rounds):
            with open(os.path.join(root, "f20.toml"), "r+b") as f:
                f.seek(1000)
                f.write(b"damage")
            times.append(self.holdfast("restore", root, store, "f20.toml")[0])
        self.value("restore of one damaged 50 MB file among them", statistics.median(times), "s", 0.5,
                   "holdfast restore f20.toml")
        shutil.rmtree(root)
        os.path.exists(tar) and os.unlink(tar)

    def table(self):
        print("| what | measured | against | at most |")
        print("|---|---|---|---|")
        for name, figure, note, bound, _ok in self.rows:
            print("| %s | %s | %s | %s |" % (name, figure, note, bound))
        missed = [r for r in self.rows if not r[4]]
        for row in missed:
            print("missed: %s: %s, at most %s" % (row[0], row[1], row[3]))
        return missed


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--holdfast", required=True)
    p.add_argument("--only", nargs="*", default=["start", "10k", "100k", "big"])
    p.add_argument("--rounds", type=int)
    p.add_argument("--scratch", default="/var/tmp")
    p.add_argument("--check", action="store_true")
    args = p.parse_args()
    args.holdfast = os.path.abspath(args.holdfast)
    bench = Bench(args)
    steps = {"start": bench.start, "10k": lambda: bench.many(10000, False), "100k": lambda: bench.many(100000, True),
             "big": bench.big}
    try:
        for name in args.only:
            steps[name]()
        missed = bench.table()
    finally:
        shutil.rmtree(bench.base, ignore_errors=True)
    return 1 if missed and args.check else 0


if __name__ == "__main__":
    sys.exit(main())
