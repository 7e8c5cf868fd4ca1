# SPDX-License-Identifier: MIT
"""Projects to work in, generated: each is made once and gives the command that is timed."""
import os
import random
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLE = os.path.join(HERE, "..", "..", "fixtures", "sample")


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def pytest_python():
    """an interpreter that has pytest: what is first on PATH need not"""
    for python in ("python3", "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import pytest"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return python
    sys.exit("no python3 with pytest")


class Pytest:
    """The sample project with its careful tests, many times over. Most write to tmp_path; none harms the samples."""

    def __init__(self, root, scratch, copies):
        self.root = root
        self.scratch = scratch
        shutil.copytree(SAMPLE, root, ignore=shutil.ignore_patterns("__pycache__", "test_workflow.py"))
        os.chmod(os.path.join(root, "credentials.toml"), 0o600)
        tests = os.path.join(root, "tests")
        names = [name for name in os.listdir(tests) if name.startswith("test_") and name.endswith(".py")]
        for name in names:
            for n in range(1, copies):
                shutil.copy2(os.path.join(tests, name), os.path.join(tests, "%s_%02d.py" % (name[:-3], n)))
        self.argv = [pytest_python(), "-m", "pytest", "--basetemp", os.path.join(scratch, "basetemp")]

    def prepare(self):
        shutil.rmtree(os.path.join(self.scratch, "basetemp"), ignore_errors=True)


class Ninja:
    """A C project of small files, built from nothing with as many compilers at once as ninja thinks right."""

    def __init__(self, root, files):
        self.root = root
        source = os.path.join(root, "source")
        lines = ["rule cc\n  command = cc -O1 -MD -MF $out.d -c $in -o $out\n  depfile = $out.d\n  deps = gcc\n",
                 "rule link\n  command = cc $in -o $out\n"]
        objects = ["build/main.o"] + ["build/part_%03d.o" % n for n in range(files)]
        for path in objects:
            lines.append("build %s: cc %s.c\n" % (path, path.replace("build", "source")[:-2]))
        lines.append("build build/program: link %s\n" % " ".join(objects))
        write(os.path.join(root, "build.ninja"), "".join(lines))
        write(os.path.join(source, "parts.h"),
              "".join("int part_%03d(int n, const char *text);\n" % n for n in range(files)))
        for n in range(files):
            write(os.path.join(source, "part_%03d.c" % n), self.part(n))
        write(os.path.join(source, "main.c"), '#include "parts.h"\nint main(void)\n{\n\treturn %s;\n}\n' %
              " + ".join('part_%03d(0, "")' % n for n in range(files)))
        self.argv = ["ninja", "--quiet"]

    @staticmethod
    def part(number):
        body = "".join(
            "static int step_%d(int n, const char *text)\n{\n\tchar line[%d];\n\n"
            "\t(void)snprintf(line, sizeof(line), \"%%d %%s\", n + %d, text);\n"
            "\tfor (size_t i = 0; i < strlen(line); i++)\n\t\tn = n * %d + line[i];\n\treturn n;\n}\n\n" %
            (i, 40 + i, number * i, 31 + i) for i in range(8))
        calls = " ^\n\t       ".join("step_%d(n, text)" % i for i in range(8))
        return ('#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include "parts.h"\n\n%s'
                "int part_%03d(int n, const char *text)\n{\n\treturn n == 0 ? 0 : %s;\n}\n" % (body, number, calls))

    def prepare(self):
        shutil.rmtree(os.path.join(self.root, "build"), ignore_errors=True)
        for name in (".ninja_deps", ".ninja_log"):
            if os.path.exists(os.path.join(self.root, name)):
                os.unlink(os.path.join(self.root, name))


class Git:
    """Clone a local repository and check out a branch in which a third of the files is another."""

    def __init__(self, root, scratch, files):
        self.root = root
        self.origin = os.path.join(scratch, "origin")
        rnd = random.Random(3)
        os.mkdir(self.origin)
        self.git("init", "--quiet", "--initial-branch=main")
        for n in range(files):
            self.file(n, rnd)
        self.commit()
        self.git("checkout", "--quiet", "-b", "other")
        for n in range(0, files, 3):
            self.file(n, rnd)
        self.commit()
        self.git("checkout", "--quiet", "main")
        self.git("gc", "--quiet")
        self.argv = ["sh", "-c", 'git clone --quiet "$1" clone && git -C clone checkout --quiet other', "sh",
                     self.origin]

    def git(self, *words):
        subprocess.run(["git", "-C", self.origin, "-c", "user.name=bench", "-c", "user.email=bench@example.org"] +
                       list(words), check=True)

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "files")

    def file(self, number, rnd):
        write(os.path.join(self.origin, "d%02d" % (number % 40), "f%04d.txt" % number),
              "".join("%x\n" % rnd.getrandbits(64) for _ in range(rnd.randint(5, 200))))

    def prepare(self):
        shutil.rmtree(os.path.join(self.root, "clone"), ignore_errors=True)
