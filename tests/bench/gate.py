# SPDX-License-Identifier: MIT
"""What it costs to stand in front of a command: loops of system calls, refusals and whole suites, each bare, under
holdfast, under bwrap and under strace -f, in turn."""
import os
import shutil
import statistics
import subprocess
import sys

import workloads

REFUSALS = 5000
REFUSED_IN_PYTHON = """
import os, sys, time
os.environ["PYTEST_CURRENT_TEST"] = "tests/test_bench.py::test_refused (call)"
path, count = sys.argv[1], int(float(sys.argv[2]))
start = time.monotonic_ns()
for _ in range(count):
    try:
        os.close(os.open(path, os.O_WRONLY))
    except PermissionError:
        continue
    sys.exit(3)
print((time.monotonic_ns() - start) / count)
"""


class Gate:
    def __init__(self, bench):
        self.bench = bench
        self.loops = bench.program("loops")
        self.supervisor = bench.program("supervisor", "-pthread")
        self.mode = self.strongest()

    def strongest(self):
        """the gate is required, so that a run without one is no figure; a program that has none is measured as it is"""
        root = self.bench.six()
        argv = self.wrapped("require", root) + ["true"]
        child = subprocess.run(argv, cwd=root, stderr=subprocess.DEVNULL, check=False)
        return "require" if child.returncode == 0 else "auto"

    def wrapped(self, mode, root):
        """each with a store of its own: a store stays with the directory it was made for"""
        store = self.bench.fresh("store-gate")
        return [self.bench.args.holdfast, "run", "--gate", mode, "--root", root, "--store", store, "--quiet",
                "--protect", "*.toml", "--"]

    def wrappers(self, root):
        """name and the words before the command; bare is the first"""
        every = {"bare": [], "holdfast": self.wrapped(self.mode, root),
                 "bwrap": ["bwrap", "--dev-bind", "/", "/"], "strace -f": ["strace", "-f", "-o", "/dev/null"]}
        return {name: words for name, words in every.items() if not words or shutil.which(words[0])}

    def holdfast_name(self):
        return "holdfast --gate %s" % self.mode

    # -- in turn -----------------------------------------------------------------

    def turns(self, what, measures, bases, rounds, unit):
        """
        Every one of measures (name: function that gives a figure) once a round. bases: what is compared with
        which, {base: {name: bound or None}}.
        """
        figures = {name: [] for name in measures}
        for measure in measures.values():
            measure()
        for _ in range(rounds):
            for name, measure in measures.items():
                figures[name].append(measure())
        for base, names in bases.items():
            for name, bound in names.items():
                if name not in figures:
                    continue
                ratio = statistics.median(a / b for a, b in zip(figures[name], figures[base]))
                label = self.holdfast_name() if name == "holdfast" else name
                note = "%s (%.2f %s against %.2f %s)" % (base, statistics.median(figures[name]), unit,
                                                         statistics.median(figures[base]), unit)
                self.bench.ratio("%s, %s" % (what, label), ratio, note, bound)

    def printed(self, argv, root):
        """the microseconds that a program of ours found for one iteration, or None where nothing was refused"""
        child = subprocess.run(argv, cwd=root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, check=False)
        if child.stdout.strip():
            return float(child.stdout) / 1e3
        if child.returncode in (3, 97):
            return None
        sys.exit("%s: status %s\n%s" % (" ".join(argv), child.returncode, child.stderr))

    # -- measurements ------------------------------------------------------------

    def loop(self, what, kind, path, bases):
        root = self.bench.six()
        os.mkdir(os.path.join(root, "below"))
        with open(os.path.join(root, os.path.dirname(path), "plain.txt"), "w", encoding="utf-8") as f:
            f.write("not protected\n")
        wrappers = self.wrappers(root)
        if any("supervisor" in (base, *names) for base, names in bases.items()):
            wrappers["supervisor"] = [self.supervisor]
        seconds = "0.02" if self.bench.args.quick else "0.3"
        self.turns(what, {
            name: lambda words=words: self.printed(words + [self.loops, kind, path, seconds], root)
            for name, words in wrappers.items()}, bases, self.bench.rounds(11), "us")

    def opens(self):
        """
        A supervisor's answers are the yardstick of opens for writing; of those for reading, which are not asked
        about, they show what having a filter costs. The root is watched, what lies below it is not.
        """
        for where, folder in (("in the root", ""), ("below it", "below/")):
            self.loop("open for writing, close, " + where, "write", folder + "plain.txt",
                      {"supervisor": {"holdfast": 1.45},
                       "bare": {"holdfast": None, "supervisor": None, "bwrap": None, "strace -f": None}})
            self.loop("open for reading, close, " + where, "read", folder + "plain.txt",
                      {"bare": {"holdfast": 1.02, "supervisor": None, "bwrap": None, "strace -f": None},
                       "supervisor": {"holdfast": None}})
            self.loop("create, write, close, unlink, " + where, "storm", folder + "new.txt",
                      {"bare": {"holdfast": 3.0, "bwrap": None, "strace -f": None}})

    def refusals(self):
        root = self.bench.six()
        python = workloads.pytest_python()
        for what, command in (("", [self.loops, "refused"]), (" in a named test", [python, "-c", REFUSED_IN_PYTHON])):
            argv = self.wrapped(self.mode, root) + command + ["personas.toml", str(REFUSALS)]
            figures = [self.printed(argv, root) for _ in range(self.bench.rounds(5))]
            if None in figures:
                self.bench.note("nothing refuses an open: no figure for refusals")
                return
            self.bench.value("each of {:,} refused opens{}".format(REFUSALS, what), statistics.median(figures), "us",
                             60, "from inside the command")

    def suite(self, what, work, bound):
        def measure(words):
            work.prepare()
            return self.bench.run(words + work.argv, cwd=work.root)[0]

        self.turns(what, {name: lambda words=words: measure(words) for name, words in
                          self.wrappers(work.root).items()},
                   {"bare": {"holdfast": bound, "bwrap": None, "strace -f": None}}, self.bench.rounds(5), "s")

    def scratch(self, name):
        path = self.bench.fresh(name)
        os.mkdir(path)
        return path

    def pytest(self):
        work = workloads.Pytest(self.bench.fresh("pytest"), self.scratch("pytest-scratch"),
                                2 if self.bench.args.quick else 25)
        self.suite("pytest suite", work, 1.03)

    def ninja(self):
        work = workloads.Ninja(self.bench.six(), 10 if self.bench.args.quick else 150)
        self.suite("C project with ninja", work, 1.03)

    def git(self):
        work = workloads.Git(self.bench.six(), self.scratch("git-scratch"), 120 if self.bench.args.quick else 4000)
        self.suite("git clone and checkout", work, None)
