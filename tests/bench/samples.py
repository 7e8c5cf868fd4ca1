# SPDX-License-Identifier: MIT
"""Sample data of two kinds: as a project has them, and hard to compress."""
import random

BLOCK = 1 << 20
SYLLABLES = "al ar con de en er ex in ing ka la ly ment mi ne ous pro re so st ti tion to un ver".split()


class Samples:
    """Sample data: records of one schema, as a project with many data files has.

    Keys and comments recur, some values differ from their default: as many as it takes for zstd at level 1 to make
    of them what it makes of real ones. All 12,329 .json, .toml, .yaml, .ini, .conf and .cfg files of a Debian system
    (125 MB one behind the other) became 1/8.4, these become 1/8.4.
    """
    CHANGED = 0.38

    def __init__(self, seed=1):
        self.rnd = random.Random(seed)
        self.words = ["".join(self.rnd.choices(SYLLABLES, k=self.rnd.randint(1, 4))) for _ in range(4000)]
        self.weights = [1 / (i + 3) for i in range(len(self.words))]
        schema = self.schema()
        self.thirds = [[], [], []]
        for _ in range(4000):
            lines = ["%s = %s" % (line[0], self.value() if self.rnd.random() < self.CHANGED else line[1])
                     if isinstance(line, tuple) else line for line in schema]
            cut = len(lines) // 3
            for i, part in enumerate((lines[:cut], lines[cut:2 * cut], lines[2 * cut:])):
                self.thirds[i].append(("\n".join(part) + "\n").encode())

    def some(self, least, most):
        return " ".join(self.rnd.choices(self.words, self.weights, k=self.rnd.randint(least, most)))

    def value(self):
        kind = self.rnd.random()
        if kind < 0.3:
            return str(self.rnd.randrange(10 ** self.rnd.randint(1, 6)))
        if kind < 0.45:
            return "%.*f" % (self.rnd.randint(1, 4), self.rnd.random() * 100)
        if kind < 0.55:
            return self.rnd.choice(("true", "false"))
        if kind < 0.6:
            return '"%08x-%04x"' % (self.rnd.getrandbits(32), self.rnd.getrandbits(16))
        if kind < 0.7:
            return "[%s]" % ", ".join(str(self.rnd.randrange(100)) for _ in range(self.rnd.randint(2, 8)))
        return '"%s"' % self.some(2, 14)

    def schema(self):
        """some 4 KB of headings, comments and (key, default)"""
        lines = []
        size = 0
        while size < 4700:
            lines += ["", "[%s]" % self.some(1, 1), "# " + self.some(5, 12)]
            lines += [(self.some(1, 3).replace(" ", "_"), self.value()) for _ in range(self.rnd.randint(5, 12))]
            size = sum(len(x) if isinstance(x, str) else len(x[0]) + len(x[1]) + 4 for x in lines)
        return lines

    def record(self):
        """one that is like no other"""
        return b"id = %016x\n" % self.rnd.getrandbits(64) + b"".join(self.rnd.choice(third) for third in self.thirds)


class Words:
    """Hard to compress: two random words a line. zstd at level 1 makes 1/2.8 of them, and works long for that."""

    def __init__(self, seed=1):
        self.rnd = random.Random(seed)
        words = ["%x" % self.rnd.getrandbits(self.rnd.randint(8, 40)) for _ in range(5000)]
        self.blocks = []
        for _ in range(16):
            lines = ["%s = %s\n" % (self.rnd.choice(words), self.rnd.choice(words)) for _ in range(BLOCK // 14)]
            self.blocks.append("".join(lines).encode())

    def record(self):
        block = self.rnd.choice(self.blocks)
        at = self.rnd.randrange(len(block) - 4400)
        return b"id = %016x\n" % self.rnd.getrandbits(64) + block[at:at + 4400]
