#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""export writes snapshots that tar reads and import takes; of what does not come from it, or was changed since, import
says why not, and neither the tree nor the store is another one afterwards.

    78-export-import.py HOLDFAST SUPPORT [CUTS]
"""
import io
import json
import os
import pty
import random
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

HOLDFAST = os.path.abspath(sys.argv[1])
FORGE = os.path.join(os.path.abspath(sys.argv[2]), "forge")
CUTS = int(sys.argv[3]) if len(sys.argv) > 3 else 15
BASE = tempfile.mkdtemp(prefix="hf-export-")
ROOT = os.path.join(BASE, "project")
OTHER = os.path.join(BASE, "other")
FILE = os.path.join(BASE, "all.tar.zst")
ENVIRON = dict(os.environ, XDG_STATE_HOME=os.path.join(BASE, "state"), LC_ALL="C")
PROTECT = ("--protect", "**")
ODD = b"h\xe4\xff\nline".decode("utf-8", "surrogateescape")


def fail(text):
    sys.exit("78-export-import: " + text)


def holdfast(status, *words, root=ROOT, **kwargs):
    kwargs.setdefault("stdin", subprocess.DEVNULL)
    kwargs.setdefault("stdout", subprocess.PIPE)
    done = subprocess.run((HOLDFAST, words[0], *PROTECT, *words[1:]), cwd=root, env=ENVIRON, timeout=60, check=False,
                          stderr=subprocess.PIPE, **kwargs)
    if done.returncode != status:
        fail("status %d, wanted %d: %s\n%s" % (done.returncode, status, words, done.stderr.decode()))
    done.said = done.stderr.decode()
    return done


def put(path, data, root=ROOT):
    path = os.path.join(root, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def survey(top):
    found = {}
    for directory, directories, files in os.walk(os.fsencode(top)):
        for name in directories + files:
            path = os.path.join(directory, name)
            at = os.lstat(path)
            what = read(path) if name in files and not os.path.islink(path) else None
            found[os.path.relpath(path, os.fsencode(top))] = at.st_mode, at.st_mtime_ns if what is not None else 0, what
    return found


def store_of(root):
    return holdfast(0, "store", "path", root=root).stdout.decode().strip()


def plain(path):
    return subprocess.run(("zstd", "-dc", path), stdout=subprocess.PIPE, check=True).stdout


def pack(data, name="packed.tar.zst"):
    path = os.path.join(BASE, name)
    with open(path, "wb") as file:
        subprocess.run(("zstd", "-qc"), input=data, stdout=file, check=True)
    return path


def members(data):
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return [(m, tar.extractfile(m).read() if m.isreg() else b"") for m in tar.getmembers()]


def build(items):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for member, data in items:
            tar.addfile(member, io.BytesIO(data))
    return out.getvalue()


def item(name, data=b"", **kwargs):
    member = tarfile.TarInfo(name)
    member.size = len(data)
    for key, value in kwargs.items():
        setattr(member, key, value)
    return member, data


# -- there and back

def make():
    os.mkdir(ROOT)
    put("a.toml", b"a = 1\n")
    put("b.toml", b"a = 1\n")
    put("outside/of/it", b"not outside\n")
    put("deep/%s" % ("d" * 120), b"a long name\n")
    put("deep/" + ODD, b"no text\n")
    put("empty", b"")
    put("large", random.Random(1).randbytes((4 << 20) + 1))
    put("large.copy", read(os.path.join(ROOT, "large")))
    os.chmod(os.path.join(ROOT, "a.toml"), 0o640)
    os.symlink("a.toml", os.path.join(ROOT, "link"))
    holdfast(0, "snapshot")
    put("a.toml", b"a = 2\n")
    holdfast(0, "snapshot")
    put("a.toml", b"a = 3\n")
    os.utime(os.path.join(ROOT, "a.toml"), (1700000000, 1700000000.25))
    holdfast(0, "snapshot")


def check_tar():
    """tar alone has the newest snapshot as it is, and what older ones have besides."""
    there = os.path.join(BASE, "unpacked")
    os.mkdir(there)
    subprocess.run(("tar", "--zstd", "-xf", FILE), cwd=there, check=True, stderr=subprocess.DEVNULL)
    names = sorted(name for name in os.listdir(there) if re.fullmatch(r"\d{6}-\w+", name))
    newest = os.path.join(there, names[-1])
    wanted = {name.replace(b"outside", b"outside~", 1): what for name, what in survey(ROOT).items()
              if what[2] is not None}
    found = {name: what for name, what in survey(newest).items() if what[2] is not None}
    for name in {*wanted, *found}:
        if found.get(name, (0, 0, 0))[::2] != wanted.get(name, (0, 0, 0))[::2]:
            fail("tar: %r" % name)
    older = {read(os.path.join(there, name, "a.toml")) for name in names[:-1]}
    if older != {b"a = 2\n"} or len(names) != 2:
        fail("tar: older contents: %r in %r" % (older, names))
    shutil.rmtree(there)


def round_trip():
    was = survey(ROOT)
    said = holdfast(0, "export", "--all", FILE).said
    if "exported 3 snapshots, " not in said:
        fail("export says: " + said)
    if os.stat(FILE).st_mode & 0o777 != 0o600:
        fail("others can read the file")
    check_tar()
    os.mkdir(OTHER)
    done = json.loads(holdfast(0, "import", "--json", FILE, root=OTHER).stdout)
    if done["snapshots"] != 3 or done["root"] != ROOT or done["archived"] != 8 or done["path"] != FILE:
        fail("import says: %s" % done)
    holdfast(0, "restore", root=OTHER)
    if survey(OTHER) != was:
        fail("not as it was: %s" % {*survey(OTHER).items()} ^ {*was.items()})
    holdfast(0, "restore", "--from", "1", "a.toml", root=OTHER)
    if read(os.path.join(OTHER, "a.toml")) != b"a = 1\n":
        fail("the oldest snapshot")
    holdfast(0, "restore", root=OTHER)
    holdfast(0, "verify", "--store", root=OTHER)
    log = holdfast(0, "log", root=OTHER).stdout.decode()
    if not re.search(r" import 1: done: %s \d{6}-\w+\n" % FILE, log):
        fail("the log says: " + log)


def state_stays():
    """What is imported is never the recorded state of a tree that has one."""
    one = os.path.join(BASE, "one.tar.zst")
    done = json.loads(holdfast(0, "export", "--json", "1", one).stdout)
    if len(done["snapshots"]) != 1 or done["files"] != 8 or done["archive_bytes"] != os.stat(one).st_size:
        fail("export says: %s" % done)
    was = survey(ROOT)
    said = holdfast(0, "import", one).said
    if "0 contents are new" not in said or "holdfast restore --from 4" not in said:
        fail("import says: " + said)
    holdfast(0, "verify")
    holdfast(0, "restore")
    if survey(ROOT) != was:
        fail("the tree is another one")
    holdfast(0, "restore", "--from", "4", "a.toml")
    if read(os.path.join(ROOT, "a.toml")) != b"a = 1\n":
        fail("not to be had")
    holdfast(0, "undo")
    holdfast(0, "run", "--gate", "off", "--", "true")
    holdfast(0, "verify", "--store")


# -- where to, where from

def on_a_terminal(*words):
    """Standard output and input are a terminal; what was said there."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.execve(HOLDFAST, (HOLDFAST, words[0], *PROTECT, *words[1:]), ENVIRON)
    text = b""
    try:
        while True:
            text += os.read(terminal, 65536)
    except OSError:
        pass
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), text.decode()


def places():
    piped = holdfast(0, "export", "-").stdout
    with tempfile.TemporaryFile(dir=BASE) as file:
        file.write(piped)
        file.seek(0)
        holdfast(0, "import", "-", root=OTHER, stdin=file)
    for words, text in ((("export", "-"), "to a terminal"), (("import", "-"), "from a terminal")):
        status, said = on_a_terminal(*words)
        if status != 2 or text not in said:
            fail("%s: %d %s" % (words, status, said))
    held = read(FILE)
    for words, text in ((("export",), "without a file"), (("export", "1", "2", "x"), "more than one"),
                        (("export", "--all", "1", "x"), "more than one"), (("export", FILE), "there already"),
                        (("export", "a.toml"), "there already"), (("export", "deep/"), "there already"),
                        (("export", "--json", "-"), "print JSON"), (("export", "99", "x"), "99"),
                        (("import",), "without a file"), (("import", FILE, FILE), "several"),
                        (("import", BASE), "no regular file")):
        said = holdfast(2, *words).said
        if text not in said:
            fail("%s says: %s" % (words, said))
    holdfast(3, "export", "nowhere/x")
    holdfast(3, "import", "nowhere")
    if read(FILE) != held or read(os.path.join(ROOT, "a.toml")) != b"a = 3\n":
        fail("a file was written over")


def no_place():
    """Where it cannot be written there is a failure, and nothing of it afterwards."""
    there = os.path.join(BASE, "full")
    os.mkdir(there)
    # libarchive 3.6 forgets a few bytes of its zstd filter when it cannot end it.
    environ = dict(ENVIRON, ASAN_OPTIONS=ENVIRON.get("ASAN_OPTIONS", "") + ":detect_leaks=0")
    for script, path in (('ulimit -f 2; exec "$@"', os.path.join(there, "x")), ('exec "$@" >&-', "-"),
                         ('exec "$@" >/dev/full', "-")):
        done = subprocess.run(("sh", "-c", script, "sh", HOLDFAST, "export", *PROTECT, path), cwd=ROOT, env=environ,
                              timeout=60, check=False, stdin=subprocess.DEVNULL, capture_output=True)
        if done.returncode != 3 or b"holdfast: cannot write" not in done.stderr:
            fail("%s: status %d: %s" % (script, done.returncode, done.stderr.decode()))
    if os.listdir(there):
        fail("left behind: %s" % os.listdir(there))


def damaged_store():
    """A content that cannot be had: no file, not half of one."""
    packs = os.path.join(store_of(ROOT), "packs")
    path = os.path.join(packs, "000001.tar.zst")
    was = read(path)
    put(path, was[:len(was) // 2])
    if "000001.tar.zst" not in holdfast(3, "export", os.path.join(BASE, "x")).said:
        fail("does not name the pack")
    put(path, was)
    os.chmod(path, 0o600)


# -- what is none

def refused(path, name, wanted="cannot (import|read)", statuses=(3,)):
    """Nothing is another one afterwards; True when it was taken."""
    trees = {top: survey(top) for top in (ROOT, OTHER)}
    store = store_of(OTHER)
    before = survey(store)
    beside = sorted(os.listdir(BASE))
    done = subprocess.run((HOLDFAST, "import", *PROTECT, path), cwd=OTHER, env=ENVIRON, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=60, check=False)
    said = done.stderr.decode()
    if done.returncode not in statuses:
        fail("%s: status %d\n%s" % (name, done.returncode, said))
    if trees != {top: survey(top) for top in (ROOT, OTHER)} or sorted(os.listdir(BASE)) != beside:
        fail("%s: something outside the store has changed" % name)
    if done.returncode == 0:
        return True
    lines = said.splitlines()
    if not re.search(wanted, said) or len(lines) > 2 or not all(line.startswith("holdfast: ") for line in lines):
        fail("%s: says %s" % (name, said))
    after = survey(store)
    if before != after:
        fail("%s: the store: %s" % (name, sorted({*before} ^ {*after})))
    return False


def forged(manifest, change):
    """Sealed again after a change of its lines."""
    lines = change(manifest.decode("utf-8", "surrogateescape").splitlines(keepends=True)[:-1])
    return subprocess.run((FORGE, "manifest"), input="".join(lines).encode("utf-8", "surrogateescape"),
                          stdout=subprocess.PIPE, check=True).stdout


def with_manifest(items, change):
    """The first manifest is another one."""
    member, data = items[1]
    data = forged(data, change)
    return [items[0], item(member.name, data), *items[2:]]


def hostile(items):
    """[(name, what the archive is, what is said)]"""
    name = items[1][0].name.removesuffix(".manifest")
    head, rest = items[:2], items[2:]
    a = next(i for i, (member, _data) in enumerate(rest) if member.name.endswith("/a.toml"))
    other = rest[:a] + [item(rest[a][0].name, b"a = 4\n")] + rest[a + 1:]
    kinds = ((tarfile.SYMTYPE, "symbolic link"), (tarfile.LNKTYPE, "hard link"), (tarfile.DIRTYPE, "directory"),
             (tarfile.FIFOTYPE, "fifo"), (tarfile.CHRTYPE, "device"))
    targets = ("../../../escaped", "/etc/passwd", name + "/a.toml")
    for number, (kind, what) in enumerate(kinds):
        yield what, [*head, item(name + "/a.toml", type=kind, linkname=targets[number % 3]), *rest], "no regular file"
    for path in ("/etc/escaped", "../escaped", name + "/../../escaped", name + "/./a.toml", name + "//a.toml",
                 name + "/../" + name + "/a.toml", "a.toml", name, name + "/", name + "/new", name + "/link",
                 name + "/outside", name + "/outside/of/it", name + "/outside//etc/passwd", name + "/deep",
                 "000009-20261130T180256Z/a.toml", name + "/\x1b[31m\n"):
        yield path, [*head, item(path, b"x\n"), *rest], "no (regular )?file"
    yield "twice", [*head, rest[a], *rest], "is in it twice"
    yield "missing", [*head, *(i for i in rest if not i[0].name.endswith("/empty"))], None
    yield "another content", [*head, *other], "another hash"
    yield "a size", [*head, item(rest[a][0].name, b"a = 33\n")], "wrong size"
    yield "no header", items[1:], "not made by"
    yield "nothing", [], "ends too early"
    yield "a header alone", items[:1], "ends too early"
    yield "a file first", [items[0], rest[a], *items[1:]], "has no file"
    yield "two headers", [items[0], *items], "has no file"
    for text, said in ((b"", "damaged"), (b"{", "damaged"), (b'{"holdfast-export":2,"snapshots":1}', "has format 2"),
                       (b'{"holdfast-export":1,"snapshots":0}', "no snapshots"), (b"[" * 4000, "damaged"),
                       (b'{"holdfast-export":1,"snapshots":999999999999}', "no snapshots, or too many"),
                       (b'{"holdfast-export":1,"snapshots":2}', "ends too early"), (b" " * 5000, "too large")):
        yield "header %r" % text[:40], [item("holdfast-export.json", text), *items[1:]], said
    yield "more than it says", [*items, item("000000-20201130T180256Z.manifest", head[1][1])], "more snapshots"
    yield "a manifest twice", [item("holdfast-export.json", b'{"holdfast-export":1,"snapshots":2}'), head[1], head[1],
                               *rest], "does not come before"
    yield "a manifest of another name", [head[0], item("000099-20201130T180256Z.manifest", head[1][1])], "is called"
    yield "a manifest that is cut", [head[0], item(head[1][0].name, head[1][1][:-1])], "cannot (import|read)"
    for path in ("../escaped", "/etc/../escaped", "a//b", ""):
        yield "a manifest with %r" % path, with_manifest(
            items, lambda lines, path=path: [line.replace('"path":"a.toml"', '"path":"%s"' % path)
                                             for line in lines]), "cannot (import|read)"
    for size in (1 << 60, (1 << 64) - 1):
        yield "a manifest with a size", with_manifest(
            items, lambda lines, size=size: [re.sub(r'("path":"a.toml".*"size":)6', r'\g<1>"%d"' % size, line)
                                             for line in lines]), "wrong size"


def bombs(items):
    """So large that whoever believes them has no memory or time left."""
    name = items[1][0].name
    zeros = tarfile.TarInfo(name)
    zeros.size = 1 << 33
    text = items[0][0].tobuf() + items[0][1].ljust(512, b"\0") + zeros.tobuf() + bytes(1 << 20)
    refused(pack(text), "a manifest of zeros", "too large")
    member = tarfile.TarInfo("x")
    member.pax_headers = {"path": "y" * (8 << 20)}
    refused(pack(member.tobuf(tarfile.PAX_FORMAT) + bytes(1024)), "a long name")


def attacks():
    newest = os.path.join(BASE, "newest.tar.zst")
    holdfast(0, "export", newest)
    data = plain(newest)
    items = members(data)
    count = 0
    for name, archive, said in hostile(items):
        raw = build(archive)
        # The content is in the store: that is as good.
        taken = refused(pack(raw), name, said or "cannot", (3,) if said else (0,))
        if taken != (said is None):
            fail("%s: taken: %s" % (name, taken))
        count += 1
    bombs(items)
    # As it is, compressed or not, in another order, with what tar adds.
    put(os.path.join(BASE, "plain.tar"), data)
    shuffled = items[2:]
    random.Random(2).shuffle(shuffled)
    for path in (os.path.join(BASE, "plain.tar"), pack(build(items[:2] + shuffled))):
        if not refused(path, "another order", statuses=(0,)):
            fail("another order is refused")
    for content in (b"", b"\0", bytes(10240), b"no archive\n" * 100, read(HOLDFAST)[:100000]):
        put(os.path.join(BASE, "none"), content)
        refused(os.path.join(BASE, "none"), "no archive")
    cut(newest, data)
    return count


def cut(path, data):
    """Short of any byte, or with one changed: refused, or all of it is proven."""
    compressed = read(path)
    rng = random.Random(3)
    other = os.path.join(BASE, "cut")
    # What a file ends with may be missing; no byte of a content.  Of a member that is given up with more than a
    # MiB to come libarchive forgets some bytes, which sanitizers mind.
    for at in [len(compressed) - 64 - rng.randrange(900000) for _ in range(CUTS // 3)]:
        put(other, compressed[:at])
        refused(other, "cut at %d" % at)
    small = data[:data.index(b"large") - 512] if b"/large" in data else data
    for at in [rng.randrange(len(small)) for _ in range(CUTS)]:
        put(other, data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1:])
        refused(other, "changed at %d" % at, statuses=(0, 3))


def beside():
    """Not while a run is in progress, nor before a dead session is settled."""
    script = os.path.join(BASE, "inside.sh")
    with open(script, "w", encoding="ascii") as file:
        file.write("'%s' import '%s'; test $? = 3\n" % (HOLDFAST, FILE))
    said = holdfast(0, "run", "--gate", "off", "--", "sh", script).said
    if "cannot import: a run is in progress" not in said:
        fail("beside a run: " + said)


try:
    make()
    round_trip()
    state_stays()
    places()
    no_place()
    damaged_store()
    tried = attacks()
    beside()
    for tree in (ROOT, OTHER):
        holdfast(0, "verify", "--store", root=tree)
    if tried < 45:
        fail("only %d archives were tried" % tried)
    print("%d archives, %d cuts and changes" % (tried, CUTS // 3 + CUTS))
finally:
    shutil.rmtree(BASE, ignore_errors=True)
