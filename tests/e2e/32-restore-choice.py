#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which content a restore takes that names a path and no snapshot: the newest that differs and is no damage.

    32-restore-choice.py HOLDFAST [CASE ...]
"""
import os
import re
import subprocess
import sys

from on_terminal import HOLDFAST, ORIGINAL, Failure, case, main


class Project:
    def __init__(self, scratch):
        self.scratch = scratch
        self.environ = dict(os.environ, HOME=scratch.base, XDG_STATE_HOME=os.path.join(scratch.base, "state"))

    def path(self, name):
        return os.path.join(self.scratch.root, name)

    def write(self, text, name="config.toml"):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)

    def read(self, name="config.toml"):
        try:
            with open(self.path(name), encoding="utf-8") as f:
                return f.read()
        except FileNotFoundError:
            return None

    def record(self, *texts):
        for text in texts:
            self.write(text)
            self.run(0, "snapshot")

    def run(self, status, *words):
        done = subprocess.run([HOLDFAST, *words], cwd=self.scratch.root, env=self.environ, stdin=subprocess.DEVNULL,
                              text=True, capture_output=True, timeout=60, check=False)
        if done.returncode != status:
            raise Failure("%s: status %d\n%s%s" % (words, done.returncode, done.stdout, done.stderr))
        return done.stdout + done.stderr

    def holds(self, text, name="config.toml"):
        if self.read(name) != text:
            raise Failure("%s holds %r, not %r" % (name, self.read(name), text))


def says(text, *patterns):
    for pattern in patterns:
        if not re.search(pattern, text, re.MULTILINE):
            raise Failure("does not say %r:\n%s" % (pattern, text))


@case
def the_newest_snapshot_is_taken_where_it_differs(s):
    p = Project(s)
    p.record("one = 1\n", "two = 2\n")
    p.write("damaged\n")
    says(p.run(0, "restore", "config.toml"), "^holdfast: put back config.toml", "^holdfast: undo: holdfast undo 1$")
    p.holds("two = 2\n")


@case
def the_only_other_content_is_taken(s):
    p = Project(s)
    p.record("one = 1\n", "two = 2\n")
    p.write("other\n", "other.toml")
    p.run(0, "snapshot")
    before = p.run(0, "restore", "--dry-run", "config.toml")
    says(before, "of snapshot 1, [0-9]+ s ago$", "would put back config.toml")
    p.holds("two = 2\n")
    says(p.run(0, "restore", "config.toml"), "of snapshot 1, [0-9]+ s ago$", "^holdfast: undo: holdfast undo 1$")
    p.holds("one = 1\n")
    p.holds("other\n", "other.toml")
    p.run(0, "undo")
    p.holds("two = 2\n")
    # There is none of a file that has always been so.
    says(p.run(0, "restore", "other.toml"), "nothing differs")


@case
def without_a_terminal_the_choice_is_listed(s):
    p = Project(s)
    p.record("one = 1\n", "# two\ntwo = 2\n", "three = 3\n")
    text = p.run(2, "restore", "config.toml")
    says(text, r"^holdfast: config\.toml has had 2 other contents",
         r"^holdfast:   1  [0-9]+ s ago, 14 bytes, 2 lines \(1 comment line\): holdfast restore --from 2 config\.toml$",
         r"^holdfast:   2  [0-9]+ s ago, 8 bytes, 1 line: holdfast restore --from 1 config\.toml$",
         "^holdfast: nothing was restored")
    p.holds("three = 3\n")
    p.run(2, "restore", "--json", "config.toml")
    # Nothing is done of the rest either.
    p.write("x\n", "x.toml")
    p.run(0, "snapshot")
    p.write("damaged\n", "x.toml")
    p.run(2, "restore", "x.toml", "config.toml")
    p.holds("damaged\n", "x.toml")
    # A command of the list does it.
    p.run(0, *re.search("holdfast (restore --from 2 .*)", text).group(1).split())
    p.holds("# two\ntwo = 2\n")


@case
def a_long_list_ends_with_where_the_rest_is(s):
    p = Project(s)
    p.record(*("%d = 1\n" % number for number in range(25)))
    text = p.run(2, "restore", "config.toml")
    says(text, "has had 24 other contents", "^holdfast:   20  ",
         r"^holdfast:   and 4 older: holdfast log --path config\.toml$")
    if "holdfast:   21  " in text:
        raise Failure("too long:\n" + text)


@case
def from_counts_the_contents_of_the_path(s):
    p = Project(s)
    p.record("one = 1\n", "two = 2\n")
    for number in range(3):
        p.write("%d\n" % number, "other.toml")
        p.run(0, "snapshot")
    p.run(0, "restore", "--from", "@{1}", "config.toml")
    p.holds("one = 1\n")
    p.holds("2\n", "other.toml")
    p.run(0, "restore", "--from", "@")
    p.holds("two = 2\n")
    p.run(0, "restore", "--from", "@{2}")
    p.holds("0\n", "other.toml")
    p.run(0, "restore", "--from", "@{1}", "--to", "../copies", "config.toml")
    if p.read("../copies/config.toml") != "one = 1\n":
        raise Failure("--to counts otherwise")
    says(p.run(2, "restore", "--from", "2h", "config.toml"), "there is no snapshot")
    says(p.run(2, "restore", "--from", "yesterday"), "there is no snapshot")
    p.run(2, "restore", "--from", "@{9}", "config.toml")
    p.run(2, "restore", "--from", "", "config.toml")
    p.run(2, "restore", "--from", "0000", "config.toml")
    p.holds("two = 2\n")


@case
def what_is_recorded_as_missing_comes_back(s):
    p = Project(s)
    os.mkdir(p.path("sub"))
    p.write('{ "protect": ["*.toml", "sub/"] }\n', "holdfast.json")
    p.write("stays\n", "stays.toml")
    p.write("deep = 1\n", "sub/deep.toml")
    p.record("one = 1\n")
    os.remove(p.path("config.toml"))
    os.remove(p.path("sub/deep.toml"))
    os.rmdir(p.path("sub"))
    p.run(0, "snapshot")
    says(p.run(0, "restore", "config.toml", "sub/deep.toml"), "^holdfast: put back config.toml, was missing")
    p.holds("one = 1\n")
    p.holds("deep = 1\n", "sub/deep.toml")
    p.run(0, "undo")
    p.holds(None)
    if os.path.exists(p.path("sub")):
        raise Failure("the directory stays after an undo")
    # Also when nothing protects it any more.
    p.write("mine\n", "sub.toml")
    p.write('{ "protect": ["sub.toml"] }\n', "holdfast.json")
    p.run(0, "snapshot")
    p.write("not protected\n")
    says(p.run(0, "restore", "config.toml"), "put back config.toml: 14 -> 8 bytes")
    p.holds("one = 1\n")
    p.run(0, "undo")
    p.holds("not protected\n")


@case
def damage_is_never_taken(s):
    p = Project(s)
    p.record("one = 1\n", "two = 2\n")
    p.run(97, "run", "--gate", "off", "--", "sh", "-c", "echo damaged >config.toml")
    p.holds("two = 2\n")
    # The same damage again, and this time nobody guards: it is recorded.
    p.record("damaged\n")
    says(p.run(2, "restore", "config.toml"), "has had 2 other contents")
    p.write("new damage\n")
    # The newest snapshot differs, but is known as damage.
    text = p.run(2, "restore", "config.toml")
    says(text, "--from 2 config.toml", "--from 1 config.toml")
    if "--from 3" in text:
        raise Failure("damage is a candidate:\n" + text)
    # A person may want it all the same.
    p.run(0, "restore", "--from", "3", "config.toml")
    p.holds("damaged\n")


@case
def damage_is_not_taken_for_a_directory_either(s):
    p = Project(s)
    p.record("one = 1\n")
    p.run(97, "run", "--gate", "off", "--", "sh", "-c", "echo damaged >config.toml")
    p.record("damaged\n")
    os.remove(p.path("config.toml"))
    os.mkdir(p.path("config.toml"))
    p.write("deep\n", "config.toml/deep")
    says(p.run(0, "restore", "config.toml"), "of snapshot 1, ", "put back config.toml, was a directory")
    p.holds("one = 1\n")
    p.run(0, "undo")
    p.holds("deep\n", "config.toml/deep")


@case
def what_goes_with_a_directory_does_not_stay(s):
    p = Project(s)
    p.write('{ "protect": ["sub/"] }\n', "holdfast.json")
    os.mkdir(p.path("sub"))
    p.write("file\n", "sub/file")
    p.run(0, "snapshot")
    os.remove(p.path("sub/file"))
    os.makedirs(p.path("sub/file/in"))
    p.write("deep\n", "sub/file/in/deep")
    text = p.run(0, "restore", "--dry-run")
    if "stay" in text:
        raise Failure("what is in the way stays:\n" + text)
    p.write("added\n", "sub/file.added")
    text = p.run(0, "restore")
    says(text, "put back sub/file, was a directory",
         "note: 1 entry is there that the snapshot does not have, and stays")
    p.holds("file\n", "sub/file")
    p.run(0, "undo")
    p.holds("deep\n", "sub/file/in/deep")
    p.holds("added\n", "sub/file.added")


@case
def what_was_kept_alone_is_not_taken(s):
    p = Project(s)
    p.record("one = 1\n")
    p.write("mine\n")
    p.run(0, "restore", "config.toml")
    says(p.run(0, "restore", "config.toml"), "nothing differs")
    p.holds("one = 1\n")


@case
def a_person_chooses_by_number(s):
    p = Project(s)
    p.record("one = 1\n", "two = 2\n", "three = 3\n")
    t = s.terminal()
    t.type("export PAGER=cat; %s restore --color never config.toml; echo status $?\n" % HOLDFAST)
    t.wait_for(r"which one\? \[1-2, d N: how it differs, q: none\] ")
    for nonsense in ("7", "0", "-1", "d", "d 3", "yes", ""):
        t.type(nonsense + "\n")
        t.wait_for(r"which one\? ")
    t.type("d 2\n")
    t.wait_for(r"\n-one = 1\n\+three = 3\n")
    t.wait_for(r"which one\? ")
    t.type("2\n")
    t.wait_for("status 0")
    p.holds("one = 1\n")
    if "undo: holdfast undo 1" not in t.text:
        raise Failure("does not say how to go back:\n" + t.text)
    p.write(ORIGINAL)


@case
def a_person_chooses_none(s):
    p = Project(s)
    p.record("one = 1\n", "two = 2\n", "three = 3\n")
    t = s.terminal()
    t.type("%s restore config.toml; echo status $?\n" % HOLDFAST)
    t.wait_for(r"which one\? ")
    t.type("q\n")
    t.wait_for("nothing was restored")
    t.wait_for("status 2")
    t.type("%s restore config.toml; echo status $?\n" % HOLDFAST)
    t.wait_for(r"which one\? ")
    t.type("\x04")
    t.wait_for("status 2")
    for option in ("--dry-run", "--json"):
        t.type("%s restore %s config.toml; echo status $?\n" % (HOLDFAST, option))
        t.wait_for("status 2")
    t.type("PAGER=cat %s restore -q --color never config.toml; echo status $?\n" % HOLDFAST)
    t.wait_for(r"which one\? ")
    t.type("d 1\n")
    t.wait_for(r"\n-two = 2\n\+three = 3\n")
    t.type("q\n")
    t.wait_for("status 2")
    p.holds("three = 3\n")
    p.write(ORIGINAL)


sys.exit(main())
