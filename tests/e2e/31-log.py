# SPDX-License-Identifier: MIT
"""31-log.py PROGRAM HELPERS: what the log tells of runs and snapshots, and of the contents of one file."""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

HOLDFAST = os.path.abspath(sys.argv[1])
NAME = "config\n.toml"
PROTECT = ("--protect", NAME, "--protect", "other")
DAMAGE = "for f in c*; do echo damage >\"$f\"; done"


def fail(text):
    sys.exit("31-log: " + text)


def holdfast(status, *words):
    done = subprocess.run((HOLDFAST,) + words, cwd=ROOT, capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL, check=False)
    if done.returncode != status:
        fail("status %d, wanted %d: %s\n%s%s" % (done.returncode, status, words, done.stdout[:1000], done.stderr))
    return done


def check(what, is_true, told=None):
    if not is_true:
        fail("%s%s" % (what, "" if told is None else "\n%s" % told))


def put(text):
    with open(os.path.join(ROOT, NAME), "w", encoding="utf-8") as file:
        file.write(text)


def ours(*words):
    return words + ("--store", STORE)


def run(status, command, *options):
    holdfast(status, "run", "--gate", "off", *ours(*options), "--", "sh", "-c", command)


def log(*words):
    return json.loads(holdfast(0, *ours("log", "--json", *words)).stdout)


def contents(*words):
    return log("--path", NAME, *words)["contents"]


def make():
    """Recorded: one, two, one again, three, nothing, three.  Kept: damage of two runs, and what a restore replaced."""
    os.mkdir(ROOT)
    with open(os.path.join(ROOT, "other"), "w", encoding="utf-8") as file:
        file.write("x")
    put("# one\nvalue = 1\n")
    holdfast(0, *ours("snapshot", *PROTECT))
    put("two")
    holdfast(0, *ours("snapshot", *PROTECT))
    put("# one\nvalue = 1\n")
    holdfast(0, *ours("snapshot", *PROTECT))
    run(97, DAMAGE, *PROTECT)
    run(97, DAMAGE + "; :", *PROTECT)
    put("three\n")
    holdfast(0, *ours("snapshot", *PROTECT))
    put("by hand")
    holdfast(0, *ours("restore", *PROTECT))
    os.unlink(os.path.join(ROOT, NAME))
    holdfast(0, *ours("snapshot", *PROTECT))
    put("three\n")


def of_a_file():
    told = contents()
    check("five contents", len(told) == 5, told)
    check("steps", sorted(c["step"] for c in told if c["step"] is not None) == [1, 2, 3], told)
    by = {c["entry"]["size"]: c for c in told}
    one, two, three, hand, damage = by[16], by[3], by[6], by[7], None
    damage = [c for c in told if c["damage"]]
    check("one damage", len(damage) == 1 and damage[0]["step"] is None and damage[0]["newest"] is None, told)
    check("sizes", hand is not None and damage[0]["entry"]["size"] == 7)
    damage = damage[0]
    check("of two runs, the newer first", [c["session"][:6] for c in damage["kept"]] == ["000002", "000001"], damage)
    check("their commands", [c["command"] for c in damage["kept"]] ==
          [["sh", "-c", DAMAGE + "; :"], ["sh", "-c", DAMAGE]], damage)
    with open(os.path.join(STORE, damage["kept"][0]["path"]), encoding="utf-8") as file:
        check("the copy is there", file.read() == "damage\n")
    check("what is newest", three["step"] == 1 and three["newest"]["name"][:6] == "000004" and three["now"], told)
    check("what was there twice", one["step"] == 2 and one["newest"]["name"][:6] == "000003" and
          one["oldest"]["name"][:6] == "000001" and not one["now"], one)
    check("lines", (one["lines"], one["comments"]) == (2, 1) and (two["lines"], two["comments"]) == (1, 0) and
          damage["lines"] == 1, told)
    check("what was two", two["step"] == 3 and two["newest"]["name"] == two["oldest"]["name"] and two["kept"] == [])
    hand = [c for c in told if c["step"] is None and not c["damage"]]
    check("what a person had", len(hand) == 1 and hand[0]["kept"][0]["kind"] == "restore", told)
    check("newest first", [c["step"] for c in told if c["step"] is not None] == [1, 2, 3], told)
    for content in told:
        if content["step"] is not None:
            shown = holdfast(0, *ours("show", "@{%d}:%s" % (content["step"], NAME))).stdout
            check("the step shows it", len(shown) == content["entry"]["size"], shown)
            named = holdfast(0, *ours("show", "%s:%s" % (content["newest"]["name"], NAME))).stdout
            check("so does the snapshot", named == shown, named)
    check("a limit", len(contents("-n", "2")) == 2)
    text = holdfast(0, *ours("log", "--path", NAME))
    lines = text.stdout.splitlines()
    check("a line each", len(lines) == 5 and all(re.match(r"(@\{\d\}|-) +20\d\d-[\d-]+ [\d:]+Z  [0-9a-f]{8}  ", line)
                                                for line in lines), text.stdout)
    check("what is now", [line for line in lines if "as it is now" in line][0].startswith("@{1}"))
    check("damage", [line for line in lines if ", damage; kept by run 2: " in line and "; kept by run 1: " in line])
    check("lines of comment", any("16 bytes, 2 lines (1 comment line); snapshots 1 (" in line for line in lines), lines)
    check("what to type", "hint: 'holdfast show" in text.stderr)
    check("quiet", holdfast(0, *ours("log", "-q", "--path", NAME)).stderr == "")


def of_a_dash():
    """What the hint says can be typed: a name is no option."""
    with open(os.path.join(ROOT, "-n"), "w", encoding="utf-8") as file:
        file.write("dash\n")
    holdfast(0, *ours("snapshot", *PROTECT, "--protect", "-n"))
    hint = holdfast(0, *ours("log", "--path", "-n")).stderr
    os.unlink(os.path.join(ROOT, "-n"))
    command = re.search(r"'holdfast (restore [^']*)'", hint)
    check("a command", command is not None and "show --store %s @{N}:./-n'" % STORE in hint, hint)
    holdfast(0, *command.group(1).replace("@{N}", "@{0}").split())
    check("it restores", os.path.exists(os.path.join(ROOT, "-n")))
    os.unlink(os.path.join(ROOT, "-n"))


def of_everything():
    told = log("-n", "100")["entries"]
    snapshots = [e for e in told if e["type"] == "snapshot"]
    check("snapshots", [(e["entries"], e["bytes"]) for e in snapshots] ==
          [(2, 1), (2, 7), (2, 17), (2, 4), (2, 17)], snapshots)
    runs = [e for e in told if e["type"] == "session" and e["kind"] == "run"]
    check("runs", [(e["outcome"], e["exit"], e["violations"], e["replaced"], e["kept_bytes"]) for e in runs] ==
          [("violated", 97, 1, 1, 7)] * 2, runs)
    lines = holdfast(0, *ours("log")).stdout.splitlines()
    check("a run", any(line.endswith("  run 1: violated, 1 violation, exit 97: sh -c '%s' " % DAMAGE +
                                     "[1 entry replaced, 7 bytes kept]") for line in lines), lines)
    check("a snapshot", any(line.endswith("  snapshot 3: 2 entries, 17 bytes") for line in lines), lines)


def of_what_is_not():
    for words, said in ((ours("--path", "nothing"), "there is no content of 'nothing'"),
                        (ours("--path", ""), "it is empty"), (ours("--path", "."), "there is no content of '.'"),
                        (ours("config"), "log takes no arguments"), (("--path",), "without a value")):
        told = subprocess.run((HOLDFAST, "log") + words, cwd=ROOT, timeout=60, capture_output=True, text=True,
                              check=False)
        check("%s: %s" % (words, told), told.returncode == 2 and said in told.stderr and told.stdout == "")


def damaged():
    """A manifest and a journal that say nothing any more are named, the rest is told."""
    for name in ("snapshots/000004-*", "sessions/000002-*"):
        path = glob.glob(os.path.join(STORE, name))[0]
        with open(path, "rb") as file:
            whole = file.read()
        with open(path, "wb") as file:
            file.write(whole.replace(b'"path":', b'"patH":', 1))
        told = holdfast(0, *ours("log", "--path", NAME))
        check("what is passed over is said", "note: passed over: cannot read '" in told.stderr and
              os.path.basename(path)[:20] in told.stderr, told.stderr)
        check("the rest", len(told.stdout.splitlines()) in (4, 5), told.stdout)
        if name.startswith("snapshots"):
            told = holdfast(0, *ours("log"))
            check("the log goes on", "snapshot 4: damaged\n" in told.stdout and "is damaged" in told.stderr, told)
            check("null", {"entries": None, "bytes": None}.items() <= [
                e for e in log()["entries"] if e["name"].startswith("000004") and e["type"] == "snapshot"][0].items())
        with open(path, "wb") as file:
            file.write(whole)


def of_one_second():
    """Runs that each record something come in their order, however fast they follow each other."""
    for number in range(2):
        with open(os.path.join(ROOT, "other"), "w", encoding="utf-8") as file:
            file.write("%d\n" % number)
        run(0, "true", *PROTECT)
    kinds = [entry["type"] for entry in log()["entries"][:4]]
    check("in turn", kinds == ["session", "snapshot"] * 2, kinds)


with tempfile.TemporaryDirectory(prefix="hf-e2e-") as BASE:
    ROOT = os.path.join(BASE, "project")
    STORE = os.path.join(BASE, "store")
    make()
    of_a_file()
    of_everything()
    of_what_is_not()
    damaged()
    of_one_second()
    of_a_dash()
