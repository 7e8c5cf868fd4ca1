# SPDX-License-Identifier: MIT
"""verify --store: a whole store is said to be whole; each file of it, cut, flipped or gone, is named with what
that costs, and what is not named can still be had."""
import glob
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

HOLDFAST = os.path.abspath(sys.argv[1])
SAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../fixtures/sample")
LEAST = 120  # damages that must have been tried

tried = 0


def fail(text):
    sys.exit("44-verify-store: " + text)


def holdfast(status, *words):
    done = subprocess.run((HOLDFAST,) + words, cwd=ROOT, capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL)
    if done.returncode != status:
        fail("status %d, wanted %d: %s\n%s%s" % (done.returncode, status, words, done.stdout, done.stderr))
    return done


def verify(status, *words):
    return json.loads(holdfast(status, "verify", "--store", "--json", *words, "--store", STORE).stdout)


def put(name, data):
    with open(os.path.join(ROOT, name), "wb") as file:
        file.write(data)


def make():
    """Two snapshots, a pack of its own, copies of a file, a link and a directory, an empty file."""
    shutil.copytree(SAMPLE, ROOT)
    os.symlink("presets.toml", os.path.join(ROOT, "link"))
    os.makedirs(os.path.join(ROOT, "deep/er"))
    put("deep/er/empty", b"")
    put("deep/h\xe4\xff".encode("latin-1").decode("utf-8", "surrogateescape"), b"a name that is no text\n")
    put("large", random.Random(1).randbytes((4 << 20) + 1))
    holdfast(0, "snapshot", "--protect", "**", "--store", STORE)
    put("presets.toml", b"second = 1\n")
    holdfast(97, "run", "--gate", "off", "--protect", "**", "--store", STORE, "--", "sh", "-c",
             "echo x >personas.toml; ln -sf nowhere link; mkdir new; echo y >new/file; rm deep/er/empty")
    holdfast(0, "undo", "--protect", "**", "--store", STORE)  # what the command made of it
    holdfast(0, "restore", "--remove-additions", "--protect", "**", "--store", STORE)


def damaged(path, wanted=1):
    """What is told of a store with damage in one file: names of files, snapshots that lose something."""
    global tried
    tried += 1
    told = verify(wanted)
    if told["whole"] == bool(wanted):
        fail("%s: whole is %s" % (path, told["whole"]))
    return {d["path"] for d in told["damaged"]}, {int(s["snapshot"][:6]) for s in told["incomplete"]}


def contents(pack):
    return subprocess.run(["zstd", "-dcq", pack], capture_output=True, check=False).stdout


def with_bytes(path, data, check):
    at = os.path.join(STORE, path)
    with open(at, "rb") as file:
        whole = file.read()
    with open(at, "r+b") as file:
        file.truncate(len(data))
        file.write(data)
    check()
    with open(at, "r+b") as file:
        file.truncate(len(whole))
        file.write(whole)


def must_tell(path, **more):
    files, snapshots = damaged(path)
    # A cut pack may have its index named as well, which has the size of the pack.
    if more.get("file", path) not in files or len(files) > 2:
        fail("%s: told of %s" % (path, files))
    if "lost" in more and snapshots != more["lost"]:
        fail("%s: lost of snapshots %s" % (path, snapshots))


def name_of(path):
    """A journal is named as its session."""
    return path.rsplit(".", 1)[0] if path.startswith("sessions/") else path


def try_file(path):
    at = os.path.join(STORE, path)
    with open(at, "rb") as file:
        whole = file.read()
    shown = name_of(path)
    rng = random.Random(path)
    for _ in range(8):
        place = rng.randrange(len(whole))
        data = bytearray(whole)
        data[place] ^= 1 << rng.randrange(8)
        if path.endswith(".zst"):
            # A bit that changes nothing of what is unpacked is no damage.
            before = contents(at)

            def check():
                global tried
                if contents(at) != before:
                    must_tell(path)
                else:
                    tried += 1
            with_bytes(path, bytes(data), check)
        elif path.startswith("sessions/") and place > whole.rindex(b"\n", 0, -1):
            continue  # a torn last line is what a crash leaves
        elif path == "store.json":
            continue  # below
        else:
            with_bytes(path, bytes(data), lambda: must_tell(path, file=shown))
    if path.startswith("sessions/"):
        with_bytes(path, whole[1:], lambda: must_tell(path, file=shown))
    else:
        with_bytes(path, whole[:len(whole) // 2], lambda: must_tell(path, file=shown))
    os.rename(at, at + ".away")
    # Of a session that kept nothing, and of an older snapshot, nobody knows that it was there.
    if not path.startswith("sessions/") and not path.startswith("snapshots/000001") or \
            os.path.isdir(os.path.join(STORE, "kept", shown[9:])):
        must_tell(path, file=shown)
    os.rename(at + ".away", at)


def stories():
    # Who is asked for what.
    whole = verify(0)
    if not whole["whole"] or whole["damaged"] or whole["checked"]["kept"] < 4:
        fail("whole: %s" % whole)
    if whole["checked"]["packs"] < 3 or whole["checked"]["bytes"] < 4 << 20:
        fail("read: %s" % whole["checked"])
    if "is whole: 2 snapshots" not in holdfast(0, "verify", "--store", "--store", STORE).stdout:
        fail("not said to be whole")
    done = holdfast(0, "verify", "-q", "--store", "--store", STORE)
    if done.stdout or done.stderr:
        fail("a quiet one speaks")
    holdfast(2, "verify", "1", "--store", "--store", STORE)
    holdfast(0, "verify", "--protect", "**", "--store", STORE)  # of the tree, as before
    holdfast(2, "status", "--store")
    holdfast(3, "verify", "--store", "--store", os.path.join(DIR, "none"))
    if os.path.exists(os.path.join(DIR, "none")):
        fail("made a store")

    # Beside a run, which may be at any point, and behind its gate.
    for gate in "off", "require":
        holdfast(0, "run", "--gate", gate, "--protect", "**", "--store", STORE, "--", HOLDFAST, "verify", "-q",
                 "--store", "--store", STORE)


def names():
    """What a pack costs, and a manifest: which snapshots, which paths."""
    packs = sorted(glob.glob(STORE + "/packs/*.zst"))
    last = os.path.relpath(packs[-1], STORE)
    os.rename(packs[-1], packs[-1] + ".away")
    told = verify(1)
    paths = [p["path"] for s in told["incomplete"] for p in s["paths"]]
    if paths != ["presets.toml"] or [s["snapshot"][:6] for s in told["incomplete"]] != ["000002"]:
        fail("%s: costs %s" % (last, told["incomplete"]))
    lines = holdfast(1, "verify", "--store", "--store", STORE).stdout
    if "damaged: " + last + ": it is missing\n" not in lines or \
            not re.search("^lost: 1 of [0-9]+ files of snapshot 2: presets.toml$", lines, re.M):
        fail("said: " + lines)
    # What is not named can be had.
    for name in "personas.toml", "large":
        os.unlink(os.path.join(ROOT, name))
    holdfast(0, "restore", "--protect", "**", "--store", STORE, "personas.toml", "large")
    os.rename(packs[-1] + ".away", packs[-1])

    # The newest snapshot is gone, a folder is gone; store.json is another file.
    newest = sorted(os.listdir(STORE + "/snapshots"))[-1]
    with open(os.path.join(STORE, "store.json"), "rb") as file:
        identity = file.read()
    for data in b"", b"{}\n", identity[:-3], b"[" * 5000:
        with_bytes("store.json", data, lambda: must_tell("store.json"))
    for folder in "snapshots", "packs", "sessions", "kept":
        os.rename(os.path.join(STORE, folder), os.path.join(DIR, "away"))
        files, _ = damaged(folder)
        if folder not in files:
            fail("%s: told of %s" % (folder, files))
        if os.path.exists(os.path.join(STORE, folder)):
            fail("made what was missing: " + folder)
        os.rename(os.path.join(DIR, "away"), os.path.join(STORE, folder))
    if not newest.startswith("000002"):
        fail("the newest is " + newest)


DIR = tempfile.mkdtemp(prefix="hf-e2e-")
ROOT = os.path.join(DIR, "project")
STORE = os.path.join(DIR, "store")
os.environ["XDG_STATE_HOME"] = os.path.join(DIR, "state")
try:
    make()
    stories()
    names()
    for folder, _, files in os.walk(STORE):
        for one in sorted(files):
            where = os.path.relpath(os.path.join(folder, one), STORE)
            if os.path.getsize(os.path.join(STORE, where)) > 0 and where != "lock":
                try_file(where)
    verify(0)
finally:
    shutil.rmtree(DIR)
print("%d damages tried" % tried)
if tried < LEAST:
    fail("too few")
