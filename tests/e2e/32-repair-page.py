#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/repair.md, word for word: every command of its console blocks is run in a copy of fixtures/sample, and what it
prints is compared with what stands below it.

    32-repair-page.py HOLDFAST [SUPPORT] [--write]

Evened out on both sides: times, ages, the time in a name, the size of the store, and the two directories, which the
page calls /home/you/sample and /home/you/.local/state/holdfast/sample-....  What says that the system lacks a layer,
or where the store lies, is left out.  With --write the page gets what was printed.
"""
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
PAGE = os.path.join(TOP, "docs/repair.md")
LEAST = 20

# What it is, and how it stands in the page.
EVEN = (
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ", "2026-11-30 09:00:07Z"),
    (r"\b(\d{6})-\d{8}T\d{6}Z", r"\1-20261130T090007Z"),
    (r"\b\d+ (s|min|h|days?) ago\b", "2 min ago"),
    (r"/sample-[0-9a-f]{16}", "/sample-5d1c9a40e7b3f628"),
    (r"(?m)^(store .*) \(\d[\d.]* (bytes|[KM]iB)\)$", r"\1 (21.0 KiB)"),
    (r"(?m)^ +in (memory|the container).*\n", ""),
    (r"(?m)^holdfast: note: .*\b(gate|leases|watch)\b.*\n", ""),
)


def even(text):
    for pattern, instead in EVEN:
        text = re.sub(pattern, instead, text)
    return text


def run(command, base):
    environ = dict(os.environ, PATH=base + "/bin:" + os.environ["PATH"], XDG_STATE_HOME=base + "/.local/state",
                   HOME=base, LC_ALL="C")
    done = subprocess.run(["sh", "-c", command], cwd=base + "/sample", env=environ, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, check=False)
    return even(done.stdout.decode().replace(base, "/home/you"))


def blocks(text):
    """[(text before, [command])], and what follows the last block."""
    parts = re.split(r"(?ms)^```console\n(.*?)^```\n", text)
    return [(before, re.findall(r"(?m)^\$ (.*)$", block)) for before, block in zip(parts[::2], parts[1::2])], parts[-1]


def main():
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    found, rest = blocks(page)
    base = tempfile.mkdtemp(prefix="hf-page-")
    written = ""
    try:
        shutil.copytree(os.path.join(TOP, "fixtures/sample"), base + "/sample")
        for name in os.listdir(base + "/sample"):
            if name.endswith(".toml"):
                os.chmod(os.path.join(base, "sample", name), 0o600 if name == "credentials.toml" else 0o644)
        os.mkdir(base + "/bin")
        os.symlink(os.path.abspath(sys.argv[1]), base + "/bin/holdfast")
        for before, commands in found:
            written += before + "```console\n" + "".join("$ %s\n%s" % (command, run(command, base))
                                                         for command in commands) + "```\n"
        written += rest
    finally:
        shutil.rmtree(base)
    if "--write" in sys.argv:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(written)
        return 0
    count = sum(len(commands) for _before, commands in found)
    if count < LEAST:
        print("only %d commands" % count)
        return 1
    sys.stdout.writelines(difflib.unified_diff(even(page).splitlines(True), written.splitlines(True),
                                               "docs/repair.md", "what was printed"))
    print("%d commands" % count)
    return 0 if even(page) == written else 1


sys.exit(main())
