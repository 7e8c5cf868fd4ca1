# SPDX-License-Identifier: MIT
"""How long one waits for an answer about a long history: 500 runs, 500 snapshots, 10,000 files.

The runs are real. Of the snapshots the first and the last are; those between are made from the first one's manifest,
each with the contents of two files exchanged, since recording so many takes the better part of an hour.
"""
import os
import re
import statistics
import subprocess

BOUND = 0.2
FILE = "d003/f030.toml"


class History:
    def __init__(self, bench):
        self.bench = bench
        self.sessions = 20 if bench.args.quick else 500
        self.root = bench.small(bench.count(10000))
        self.store = bench.fresh("store-history")
        self.file = FILE if not bench.args.quick else "d000/f030.toml"
        with open(os.path.join(self.root, "holdfast.json"), "w", encoding="utf-8") as f:
            f.write('{ "protect": ["**/*.toml"], "gate": "off", "retention": { "size": "8G" } }\n')

    def holdfast(self, *words, ok=(0,)):
        argv = [self.bench.args.holdfast, words[0], "--root", self.root, "--store", self.store] + list(words[1:])
        return self.bench.run(argv, cwd=self.root, ok=ok, stderr=subprocess.DEVNULL)[0]

    def damage(self, text=b"damage"):
        with open(os.path.join(self.root, self.file), "r+b") as f:
            f.write(text)

    # -- the store ---------------------------------------------------------------

    def run_all(self):
        """One in twenty damages a file, which is kept and put back."""
        spoil = 'echo "# damage" >>' + self.file
        for n in range(self.sessions):
            spoils = n % 20 == 0
            self.holdfast("run", "--quiet", "--", *(("sh", "-c", spoil) if spoils else ("true",)),
                          ok=(97,) if spoils else (0,))

    def seal(self, text, count):
        digest = subprocess.run(["xxh128sum"], input=text, stdout=subprocess.PIPE, check=True).stdout.split()[0]
        return text + b'{"entries":%d,"hash":"%s"}\n' % (count, digest)

    def exchange(self, lines, first, second):
        """Each has the size and content of the other, and by its stat data is not what stands in the tree."""
        member = re.compile(rb'"size":\d+|"(?:content|stat)":"[^"]*"')
        parts = member.findall(lines[first]), member.findall(lines[second])
        for line, own, other in ((first, parts[0], parts[1]), (second, parts[1], parts[0])):
            for mine, theirs in zip(own, other):
                lines[line] = lines[line].replace(mine, theirs)

    def record_all(self):
        """So many snapshots that follow the first one."""
        folder = os.path.join(self.store, "snapshots")
        first = os.listdir(folder)[0]
        with open(os.path.join(folder, first), "rb") as f:
            lines = f.read().splitlines(True)[:-1]
        entries = [i for i, line in enumerate(lines) if line.startswith(b'{"path":')]
        files = [i for i in entries if b'"content":' in lines[i]]
        watched = next(i for i in files if b'"path":"%s"' % self.file.encode() in lines[i])
        for n in range(2, self.sessions):
            name = b"%06d" % n + first[6:].encode()
            changed = list(lines)
            changed[0] = changed[0].replace(first.encode(), name)
            # Of the file that is asked about there are ten contents.
            one = watched if n % (self.sessions // 10) == 0 else files[n % len(files)]
            self.exchange(changed, one, files[(n * 7) % len(files)])
            with open(os.path.join(folder, name.decode()), "wb") as f:
                f.write(self.seal(b"".join(changed), len(entries)))
        self.damage(b"# drift")
        self.holdfast("snapshot", "--quiet")

    # -- the answers --------------------------------------------------------------

    def note(self):
        return "%d runs and snapshots, %s files" % (self.sessions, "{:,}".format(self.bench.count(10000)))

    def wait(self, what, *words, ok=(0,), before=None):
        times = []
        for _ in range(self.bench.rounds(7) + 1):
            if before:
                before()
            times.append(self.holdfast(*words, ok=ok))
        self.bench.value(what, statistics.median(times[1:]), "s", BOUND, self.note())
        return max(times)

    def measure(self):
        self.holdfast("snapshot", "--quiet")
        self.run_all()
        self.record_all()
        middle = str(self.sessions // 2)
        self.wait("`log`", "log")
        self.wait("`log --path FILE`", "log", "--path", self.file)
        self.wait("`show @`", "show", "@")
        self.wait("`show @:FILE`", "show", "@:" + self.file)
        self.wait("`show @{5}:FILE`", "show", "@{5}:" + self.file)
        self.wait("`diff`, nothing differs", "diff")
        self.wait("`diff 1 %s`" % middle, "diff", "1", middle, ok=(1,))
        self.damage()
        self.wait("`diff`, a file differs", "diff", ok=(1,))
        self.wait("`diff FILE`", "diff", self.file, ok=(1,))
        self.wait("`diff @{5} FILE`", "diff", "@{5}", self.file, ok=(1,))
        self.wait("`restore --dry-run`", "restore", "--dry-run")
        self.wait("`restore --dry-run FILE`", "restore", "--dry-run", self.file)
        slowest = self.wait("`restore FILE`", "restore", self.file, before=self.damage)
        slowest = max(slowest, self.wait("`restore --from @{5} FILE`", "restore", "--from", "@{5}", self.file,
                                         before=self.damage))
        # Now and then one looks at the whole store for what may be dropped.
        self.bench.value("the slowest of these", slowest, "s", None, self.note())
        self.bench.fresh("small")
        self.bench.fresh("store-history")
