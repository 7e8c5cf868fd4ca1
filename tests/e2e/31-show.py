# SPDX-License-Identifier: MIT
"""31-show.py PROGRAM HELPERS: what was recorded can be looked at, proven, and never half of it silently."""
import base64
import glob
import json
import os
import pty
import random
import select
import subprocess
import sys
import tempfile

HOLDFAST = os.path.abspath(sys.argv[1])
LARGE = random.Random(1).randbytes((16 << 20) + 5)
TEXT = b"# kept by hand\nvalue = 1\n"


def fail(text):
    sys.exit("31-show: " + text)


def path(name):
    return os.path.join(ROOT, name)


def put(name, data):
    os.makedirs(os.path.dirname(path(name)), exist_ok=True)
    with open(path(name), "wb") as file:
        file.write(data)


def holdfast(status, *words, cwd=None):
    done = subprocess.run((HOLDFAST,) + words + ("--root", ROOT, "--store", STORE), cwd=cwd or ROOT,
                          capture_output=True, timeout=60, stdin=subprocess.DEVNULL, check=False)
    if done.returncode != status:
        fail("status %d, wanted %d: %s\n%s%s" % (done.returncode, status, words, done.stdout[:1000], done.stderr))
    return done


def check(what, is_true, told=None):
    if not is_true:
        fail("%s%s" % (what, "" if told is None else "\n%s%s" % (told.stdout, told.stderr)))


def record():
    holdfast(0, "snapshot", "--protect", "**")


def shown(*words, **kind):
    return holdfast(0, "show", *words, **kind).stdout


def make():
    os.mkdir(ROOT)
    put("config.toml", TEXT)
    put("data/one", b"1")
    put("data/sub/two", b"22")
    put("large", LARGE)
    put("empty", b"")
    put("a:b", b"a colon")
    put("binary", bytes(range(256)))
    put("line\nbreak\x1b[31m", b"x")
    os.symlink("config.toml", path("link"))
    os.mkfifo(path("fifo"))
    record()
    put("config.toml", TEXT + b"more = 2\n")
    os.unlink(path("data/one"))
    record()
    put("config.toml", TEXT)
    record()


def contents():
    check("the newest", shown("@:config.toml") == TEXT)
    check("a number", shown("1:config.toml") == TEXT and shown("2:config.toml") == TEXT + b"more = 2\n")
    check("a step is one of contents", shown("@{1}:config.toml") == TEXT + b"more = 2\n")
    check("what was removed", shown("@{1}:data/one") == b"1")
    check("an age", shown("0s:config.toml") == TEXT and shown("@{0s}:config.toml") == TEXT)
    check("a date", shown("2261-01-01T00:00:00Z:config.toml") == TEXT)
    check("a colon", shown("@:a:b") == b"a colon")
    check("every byte", shown("@:binary") == bytes(range(256)))
    check("an empty one", shown("@:empty") == b"")
    check("a large one", shown("@:large") == LARGE)
    check("from below", shown("1:one", cwd=path("data")) == b"1" and shown("1:sub/two", cwd=path("data")) == b"22")
    check("by its whole path", shown("1:" + path("data/one")) == b"1")


def lists():
    lines = shown("1").decode().splitlines()
    check("how many", lines[0].startswith("snapshot 000001-") and lines[0].endswith(": 12 entries"))
    check("a line each", len(lines) == 13)
    check("a file", any(line.split()[0] == "file" and line.split()[1:3] == ["0644", str(len(TEXT))] and
                        line.endswith("Z  config.toml") for line in lines))
    check("a link", any(line.startswith("link ") and line.endswith("  link -> config.toml") for line in lines))
    check("names are escaped", any(line.endswith("  line\\nbreak\\e[31m") for line in lines))
    beneath = shown("1:data").decode().splitlines()
    check("a directory", [line.split()[-1] for line in beneath[1:]] ==
          ["data", "data/one", "data/sub", "data/sub/two"])
    told = json.loads(shown("1", "--json"))
    check("json", told["holdfast-json"] == 1 and told["command"] == "show" and told["path"] is None and
          told["snapshot"].startswith("000001-") and len(told["entries"]) == 12)
    entry = [one for one in told["entries"] if one["path"] == "config.toml"][0]
    check("an entry", entry["rule"] == "**" and entry["role"] == "protected" and entry["modified"].endswith("Z") and
          entry["entry"]["size"] == len(TEXT) and entry["entry"]["kind"] == "file")
    told = json.loads(shown("1:binary", "--json"))
    check("json of a content", base64.b64decode(told["content"]) == bytes(range(256)) and told["entry"]["size"] == 256)
    check("json of a large one", json.loads(shown("1:large", "--json"))["content"] is None)
    check("json of a link", json.loads(shown("1:link", "--json"))["entry"]["link"] == "config.toml")


def refusals():
    for words, said in (((), "name a snapshot"), (("1", "2"), "more than one"),
                        ((":config.toml",), "names no snapshot"),
                        (("9",), "there is no snapshot '9'"), (("@{9}",), "3 snapshots are recorded"),
                        (("@{9}:config.toml",), "of 'config.toml': 2 contents are recorded"),
                        (("@{x}",), "neither a number of steps nor a time"),
                        (("0000:config.toml",), "means more than one snapshot: 000001-"),
                        (("1h:config.toml",), "there is no snapshot with a content of 'config.toml'"),
                        (("2:data/one",), "cannot show 'data/one': it is not in snapshot 000002-"),
                        (("1:nothing",), "cannot show 'nothing': it is not in snapshot"),
                        (("1:",), "cannot use the path ''"), (("1:/etc/passwd",), "is not in snapshot"),
                        (("1:../..",), "is not in snapshot"),
                        (("1:" + 20 * "../",), "it leads out of everything"),
                        (("1:fifo",), "of a fifo no content is recorded")):
        told = holdfast(2, "show", *words)
        check("%s: nothing on standard output" % (words,), told.stdout == b"")
        check("%s: %s" % (words, said), said in told.stderr.decode(), told)
    told = holdfast(0, "show", "1:link")
    check("a link is a note", told.stdout == b"" and b"note: 'link' is a link to 'config.toml'" in told.stderr, told)


def on_a_terminal():
    """A text is shown there; what could drive it is not, nor where it is read in two parts."""
    put("binary", b"x\x1b[2J")
    put("config.toml", TEXT + b"by hand\n")
    put("a:b", b"x" * 65535 + "\x9b2J".encode())
    holdfast(0, "restore", "--from", "@", "binary", "config.toml", "a:b")
    for words, status, seen in ((("show", "@:config.toml"), 0, b"# kept by hand\r\n"),
                                (("show", "@:binary"), 2, b"it is no text"), (("show", "@:large"), 2, b"it is no text"),
                                (("kept", "show", "1:config.toml"), 0, b"by hand\r\n"),
                                (("kept", "show", "1:binary"), 2, b"binary' on a terminal: it is no text"),
                                (("kept", "show", "1:a:b"), 2, b"it is no text")):
        name = " ".join(words)
        pid, fd = pty.fork()
        if pid == 0:
            os.chdir(ROOT)
            os.execv(HOLDFAST, (HOLDFAST,) + words + ("--color", "never", "--store", STORE))
        text = b""
        while select.select([fd], [], [], 30)[0]:
            try:
                data = os.read(fd, 65536)
            except OSError:
                break
            text += data
        os.close(fd)
        got = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        check("%s on a terminal: %d %r" % (name, got, text[:200]), got == status and seen in text)
        check("no escape reached it", b"\x1b" not in text and b"\x00" not in text and b"\x9b" not in text)


def nobody_reads():
    """One that has seen enough is no failure, and what is left is not made."""
    for words in (("show", "@:large"), ("show", "@:config.toml"), ("show", "@"), ("kept", "show", "1:a:b")):
        name = " ".join(words)
        process = subprocess.Popen((HOLDFAST,) + words + ("--store", STORE), cwd=ROOT, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, restore_signals=True)
        process.stdout.read(1)
        process.stdout.close()
        told = process.stderr.read()
        process.stderr.close()
        check("%s with a reader that left: %d %r" % (name, process.wait(30), told),
              process.wait() == 0 and told == b"")
    with open("/dev/full", "wb") as full:
        done = subprocess.run([HOLDFAST, "show", "@:large", "--store", STORE], cwd=ROOT, stdout=full, timeout=60,
                              stderr=subprocess.PIPE, check=False)
    check("a full disk", done.returncode == 3 and done.stderr.count(b"\n") == 1 and b"No space left" in done.stderr)


def damaged():
    """Each pack with one byte changed: an error, and of what is small nothing at all."""
    errors = 0
    lost = []
    for pack in sorted(glob.glob(os.path.join(STORE, "packs", "*.tar.zst"))):
        with open(pack, "rb") as file:
            whole = file.read()
        is_large = len(whole) > len(LARGE) // 2
        for at in (len(whole) // 3, len(whole) // 2) if is_large else range(9, len(whole), len(whole) // 20):
            with open(pack, "r+b") as file:
                file.seek(at)
                file.write(bytes([whole[at] ^ 0x55]))
            for name, data in (("large", LARGE),) if is_large else (("config.toml", TEXT), ("a:b", b"a colon")):
                done = subprocess.run([HOLDFAST, "show", "1:" + name, "--store", STORE], cwd=ROOT, capture_output=True,
                                      timeout=60, check=False)
                if done.returncode == 0:
                    check("%s is whole" % name, done.stdout == data)
                    continue
                errors += 1
                check("an error: %d" % done.returncode, done.returncode == 3, done)
                check("one that names it", b"cannot show '%s' of snapshot 000001-" % name.encode() in done.stderr, done)
                check("nothing of a small one", name == "large" or done.stdout == b"")
            with open(pack, "wb") as file:
                file.write(whole)
        os.rename(pack, pack + ".away")
        lost += [name for name in ("config.toml", "large")
                 if subprocess.run([HOLDFAST, "show", "1:" + name, "--store", STORE], cwd=ROOT, capture_output=True,
                                   timeout=60, check=False).returncode == 3]
        os.rename(pack + ".away", pack)
    check("damage was found", errors >= 10)
    # Which pack has which rests on who read first.
    check("each is gone with one pack", sorted(lost) == ["config.toml", "large"], lost)
    manifest = glob.glob(os.path.join(STORE, "snapshots", "000002-*"))[0]
    with open(manifest, "rb") as file:
        whole = file.read()
    with open(manifest, "wb") as file:
        file.write(whole.replace(b'"size":', b'"size":1', 1))
    told = holdfast(3, "show", "2:config.toml")
    check("a manifest that is damaged", told.stdout == b"" and b"it is damaged" in told.stderr, told)
    check("the same cure as of all of it", told.stderr == holdfast(3, "show", "2").stderr and
          b"hint: no other one is used in its place" in told.stderr, told)
    told = holdfast(2, "show", "@{1}:config.toml")
    check("it is passed over, and said", b"note: passed over: cannot read 'snapshot 000002-" in told.stderr, told)
    with open(manifest, "wb") as file:
        file.write(whole)


with tempfile.TemporaryDirectory(prefix="hf-e2e-") as BASE:
    ROOT = os.path.join(BASE, "project")
    STORE = os.path.join(BASE, "store")
    make()
    contents()
    lists()
    refusals()
    on_a_terminal()
    nobody_reads()
    damaged()
    contents()
