# SPDX-License-Identifier: MIT
"""31-diff.py PROGRAM HELPERS: what differs, told right, and not lost with a pager that fails."""
import json
import os
import pty
import random
import re
import select
import shutil
import subprocess
import sys
import tempfile

HOLDFAST = os.path.abspath(sys.argv[1])
TOML = b"# kept by hand\n[server]\nport = 80\ntoken = \"s3cret-1\"\n\n[[user]]\nname = 'a'\n"
CHANGED = b"[server]\nport = 8080\ntoken = \"s3cret-2\"\n\n[[user]]\nname = 'a'\n[[user]]\nname = 'b'\n"
LARGE = random.Random(2).randbytes((16 << 20) + 7)
ROUNDS = 60


def fail(text):
    sys.exit("31-diff: " + text)


def check(what, is_true, told=None):
    if not is_true:
        fail("%s%s" % (what, "" if told is None else "\n%s" % told))


def path(name):
    return os.path.join(ROOT, name)


def put(name, data):
    os.makedirs(os.path.dirname(path(name)), exist_ok=True)
    with open(path(name), "wb") as file:
        file.write(data)


def words_of(words):
    """Options first: behind "--" everything is a path."""
    return (HOLDFAST, words[0], "--store", STORE, "--protect", "**") + words[1:]


def holdfast(status, *words):
    done = subprocess.run(words_of(words), cwd=ROOT, capture_output=True, timeout=60, stdin=subprocess.DEVNULL,
                          check=False)
    if done.returncode != status:
        fail("status %d, wanted %d: %s\n%s%s" % (done.returncode, status, words, done.stdout[:2000], done.stderr))
    return done


def diff(status, *words):
    return holdfast(status, "diff", *words).stdout


def told(status, *words):
    return json.loads(diff(status, "--json", *words))


def make():
    os.mkdir(ROOT)
    put("config.toml", TOML)
    put("data/lines", b"1\n2\n3\n")
    put("data/gone", b"gone\n")
    put("binary", b"\0" + bytes(range(256)))
    put("large", LARGE)
    put("no end", b"a\nb")
    os.symlink("config.toml", path("link"))
    holdfast(0, "snapshot")
    check("nothing differs", diff(0).startswith(b"nothing differs between snapshot 1 ("))
    put("config.toml", CHANGED)
    holdfast(0, "snapshot")
    put("data/lines", b"1\n2\nthree\n")
    os.unlink(path("data/gone"))
    put("data/new", b"new\n")
    put("binary", b"\0" + bytes(range(255)) + b"x")
    put("large", LARGE[:-1] + bytes([LARGE[-1] ^ 1]))
    put("no end", b"a\nb\n")
    os.unlink(path("link"))
    os.symlink("elsewhere", path("link"))


def summaries():
    text = diff(1).decode()
    for line in ("7 entries differ between snapshot 2 (", "  binary: 257 bytes, other content, no text, "
                 "first difference at byte 256\n", "  data/gone: missing, was a file of 5 bytes\n",
                 "  data/lines: 6 -> 10 bytes", "  data/new: added, a file of 4 bytes\n",
                 "  large: 16777223 bytes, other content", "  link: link 'config.toml' -> 'elsewhere'",
                 "  no end: 3 -> 4 bytes"):
        check("the summary has %r" % line, line in text, text)
    check("no content in it", "three" not in text and "@@" not in text, text)
    text = diff(1, "1", "2").decode()
    check("keys of TOML", "1 entry differs between snapshot 1 (" in text and " and snapshot 2 (" in text and
          "\n    changed server.port, server.token\n    added user[1].name\n" in text and
          ", 1 -> 0 comment lines" in text, text)
    check("no values", "s3cret" not in text and "8080" not in text, text)
    text = diff(1, "2", "1").decode()
    check("and back", "\n    changed server.port, server.token\n    removed user[1].name\n" in text, text)
    check("a directory", diff(1, "data").decode().count("\n  data/") == 3)
    check("what is the same", diff(0, "2", "--", "config.toml").startswith(b"nothing differs"))
    check("quiet", diff(1, "-q") == b"" and diff(0, "-q", "2", "2") == b"")
    check("a step is one of contents", b"and now:" in diff(1, "@{1}", "config.toml"))
    only = told(1, "1", "2")
    check("json", only["holdfast-json"] == 1 and only["command"] == "diff" and only["from"].startswith("000001-") and
          only["to"].startswith("000002-") and [d["path"] for d in only["differences"]] == ["config.toml"], only)
    only = only["differences"][0]
    check("a difference", only["change"] == "content" and only["lines"] == [7, 8] and only["comments"] == [1, 0] and
          only["keys"] == {"changed": ["server.port", "server.token"], "added": ["user[1].name"], "removed": []} and
          only["unified"] is None and only["before"]["size"] == len(TOML), only)
    now = {d["path"]: d for d in told(1)["differences"]}
    check("of the tree", told(1)["to"] is None and now["binary"]["first_difference"] == 256 and
          now["large"]["first_difference"] is None and now["data/gone"]["after"]["kind"] == "absent", now)


def named():
    answer = holdfast(1, "diff", "large")
    check("a large one, which may be text", b" bytes, other content, first difference at byte 16777222\n" in
          answer.stdout and b"note: 'large' is too large to be compared by lines\n" in answer.stderr, answer)
    check("quiet", holdfast(1, "diff", "-q", "large").stderr == b"")
    text = diff(1, "data/lines").decode()
    check("lines", text.endswith("--- a/data/lines\tsnapshot %s\n+++ b/data/lines\tnow\n@@ -1,3 +1,3 @@\n 1\n 2\n-3\n"
                                 "+three\n" % told(1)["from"]), text)
    check("one that is gone", diff(1, "data/gone").decode().endswith("+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n"))
    check("one that is new", diff(1, "data/new").decode().endswith("\n@@ -0,0 +1 @@\n+new\n"))
    check("its end", diff(1, "no end").endswith(b" a\n-b\n\\ No newline at end of file\n+b\n"))
    text = diff(1, "--color", "always", "1", "2", "config.toml").decode()
    check("words", "\x1b[31m-port = \x1b[7m80\x1b[27m\x1b[0m\n" in text and
          "\x1b[32m+port = \x1b[7m8080\x1b[27m\x1b[0m\n" in text, text)
    check("no colour where nobody looks", b"\x1b" not in diff(1, "1", "2", "config.toml"))
    check("nor in JSON", "\x1b" not in told(1, "--color", "always", "data/lines")["differences"][0]["unified"])
    text = diff(1, "data/lines", "no end", "data", "data/lines").decode()
    check("two of them", text.count("@@ -") == 2 and text.count("\n  data/") == 3, text)


def refusals():
    put("2", b"a file called two\n")
    for words, said in ((("2",), "'2' names a snapshot and a path"), (("1", "2"), "'2' names a snapshot and a path"),
                        (("1", "2", "3", "--"), "more than two snapshots"), (("9",), "there is no snapshot '9'"),
                        (("@{9}",), "2 snapshots are recorded"), (("nothing",), "cannot compare 'nothing'"),
                        (("1", "2", "nothing"), "names a snapshot and a path"),
                        (("1", "2", "--", "nothing"), "it is neither in snapshot 000001-"),
                        (("data/lines", "1"), "cannot compare '1'")):
        answer = holdfast(2, "diff", *words)
        check("%s: %s" % (words, said), said in answer.stderr.decode() and answer.stdout == b"", answer)
    check("dashes", b"  2: added" in diff(1, "--", "2") and diff(1, "1", "2", "--").startswith(b"1 entry differs"))
    os.unlink(path("2"))


def apply(before, text):
    """The text that the hunks make of before."""
    lines = before.splitlines(True)
    out = []
    at = 0
    last = None
    for line in text.splitlines(True)[2:]:
        place = re.match(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@\n", line)
        if place:
            begin = int(place.group(1)) - (place.group(2) != b"0")
            out += lines[at:begin]
            at = begin
            check("where it stands", len(out) == int(place.group(3)) - (place.group(4) != b"0"), text)
        elif line.startswith(b"\\"):
            if last != b"-":
                out[-1] = out[-1][:-1]
        else:
            last = line[:1]
            if last != b"+":
                check("what was there", lines[at].rstrip(b"\n") == line[1:-1], text)
                at += 1
            if last != b"-":
                out.append(line[1:])
    return b"".join(out + lines[at:])


def any_texts():
    """What a diff says makes of the one text the other, whatever they are."""
    rng = random.Random(int(os.environ.get("HF_SEED", "3")))

    def text():
        lines = [b"x" * rng.randrange(3) + bytes([97 + rng.randrange(4)]) for _ in range(rng.randrange(40))]
        return b"\n".join(lines) + (b"\n" if rng.randrange(2) else b"")

    names = ["any/%d" % i for i in range(ROUNDS)]
    first = {name: text() for name in names}
    second = {name: text() if rng.randrange(4) else first[name][:len(first[name]) // 2] for name in names}
    for name in names:
        put(name, first[name])
    holdfast(0, "snapshot")
    for name in names:
        put(name, second[name])
    found = {d["path"]: d for d in told(1, *names)["differences"]}
    for name in names:
        if first[name] == second[name]:
            check("the same", name not in found or found[name]["unified"] is None)
        else:
            check("seed 3: " + name, apply(first[name], found[name]["unified"].encode()) == second[name],
                  (first[name], second[name], found[name]["unified"]))
    shutil.rmtree(path("any"))


def on_a_terminal(pager, *words):
    """What is seen there, and how it ended."""
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        env = dict(os.environ, TERM="dumb", PATH=BASE + "/bin:" + os.environ["PATH"])
        env.pop("PAGER", None)
        env.pop("LESS", None)
        if pager is not None:
            env["PAGER"] = pager
        os.execve(HOLDFAST, words_of(("diff",) + words), env)
    text = b""
    while select.select([fd], [], [], 30)[0]:
        try:
            data = os.read(fd, 65536)
        except OSError:
            break
        text += data
    os.close(fd)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), text.replace(b"\r\n", b"\n")


def pagers():
    """Each shows everything, once if it works; what it does not show is shown without it."""
    os.mkdir(BASE + "/bin")
    with open(BASE + "/bin/less", "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\necho less $LESS \"$@\"\nexec cat\n")
    os.chmod(BASE + "/bin/less", 0o755)
    put("escape", b"\x1b[2J\xff\\\n")
    whole = b"+three\x1b[0m\n"
    for pager, first in ((None, b"less FRX\n"), ("", b"1 entry"), ("cat", b"1 entry"), ("cat -s", b"1 entry"),
                         ("no-such-pager -x", None), ("false", b"1 entry"), ("kill -9 $$", None),
                         ("head -n 1; exit 1", b"1 entry"), ("less --option", b"less FRX --option\n")):
        status, text = on_a_terminal(pager, "data/lines")
        check("%s: %d %r" % (pager, status, text), status == 1 and whole in text and
              (first is None or text.startswith(first)))
    status, text = on_a_terminal("head -n 1", "data/lines")
    check("one who has seen enough", status == 1 and text.count(b"\n") == 1, text)
    status, text = on_a_terminal("kill -INT $$", "data/lines")
    check("one who leaves by a key", status == 1 and text == b"", text)
    status, text = on_a_terminal("sed 's/^/| /'", "--json", "data/lines")
    check("JSON has no pager", status == 1 and text.startswith(b"{") and b"\x1b" not in text, text)
    status, text = on_a_terminal("sed 's/^/| /'", "--color", "never", "data/lines")
    check("no colour", status == 1 and b"\x1b" not in text and b"| +three\n" in text, text)
    status, text = on_a_terminal("", "--color", "never", "escape")
    check("nothing drives the terminal", status == 1 and b"+\\e[2J\\xff\\\n" in text and b"\x1b" not in text, text)
    check("but a file gets every byte", diff(1, "escape").endswith(b"+\x1b[2J\xff\\\n"))


def damaged():
    """A content that cannot be read is named, the others are told."""
    pack = os.path.join(STORE, "packs", "000001.tar.zst")
    os.rename(pack, pack + ".away")
    answer = holdfast(3, "diff", "data/lines", "data/new")
    check("what is whole", b"+new\n" in answer.stdout and b"  data/lines: 6 -> 10 bytes" in answer.stdout, answer)
    check("what is not", b"holdfast: " in answer.stderr and b"000001" in answer.stderr, answer)
    check("a summary needs no content", diff(1).startswith(b"8 entries differ"))
    os.rename(pack + ".away", pack)


with tempfile.TemporaryDirectory(prefix="hf-e2e-") as BASE:
    ROOT = os.path.join(BASE, "project")
    STORE = os.path.join(BASE, "store")
    make()
    summaries()
    named()
    refusals()
    pagers()
    damaged()
    any_texts()
