#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""purge takes all that a path has ever held out of the store, hashes included, and nothing else.

    79-purge.py HOLDFAST SUPPORT
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HOLDFAST = os.path.abspath(sys.argv[1])
BASE = tempfile.mkdtemp(prefix="hf-purge-")
ROOT = os.path.join(BASE, "project")
STORE = os.path.join(BASE, "store")
PROTECT = ("--protect", "**")
SECRETS = (b"token = 'first'\n", b"token = 'second'\n", b"token = 'from a test'\n")
LARGE = b"token = 'large'\n" + os.urandom(4 << 20)


def fail(text):
    sys.exit("79-purge: " + text)


def holdfast(status, *words):
    done = subprocess.run((HOLDFAST, words[0], "--store", STORE, *PROTECT, *words[1:]), cwd=ROOT, text=True,
                          env=dict(os.environ, XDG_STATE_HOME=BASE), stdin=subprocess.DEVNULL, timeout=60, check=False,
                          capture_output=True)
    if done.returncode != status:
        fail("status %d, wanted %d: %s\n%s%s" % (done.returncode, status, words, done.stdout, done.stderr))
    return done


def asked(*words):
    """On a terminal, where the answer is no."""
    done = subprocess.run((sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "ask.py"), "n",
                           HOLDFAST, words[0], "--store", STORE, *PROTECT, *words[1:]), cwd=ROOT, text=True,
                          env=dict(os.environ, XDG_STATE_HOME=BASE), capture_output=True, timeout=60, check=False)
    if done.returncode != 0:
        fail("%s: %s%s" % (words, done.stdout, done.stderr))
    return done.stdout


def put(name, data):
    path = os.path.join(ROOT, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def all_bytes():
    """Every file of the store, packs unpacked."""
    for directory, _directories, files in os.walk(STORE):
        for name in files:
            path = os.path.join(directory, name)
            data = read(path)
            if name.endswith(".tar.zst"):
                data = subprocess.run(("zstd", "-dc", path), stdout=subprocess.PIPE, check=False,
                                      stderr=subprocess.DEVNULL).stdout
            yield os.path.relpath(path, STORE), data


def where(data):
    return [name for name, content in all_bytes() if data in content]


def hashes_of(name):
    """As manifests and journals have them."""
    found = set()
    for _name, content in all_bytes():
        for line in content.split(b"\n"):
            if line.startswith(b"{") and b'"path":"%s"' % name in line:
                found |= set(re.findall(rb'"content":"([0-9a-f]{32})', line))
    return found


def make(damages=True):
    shutil.rmtree(ROOT, ignore_errors=True)
    shutil.rmtree(STORE, ignore_errors=True)
    put("a.toml", b"a = 1\n")
    put("secret.toml", SECRETS[0])
    put("empty", b"")
    put("deep/copy.toml", SECRETS[0])
    put("large/secret", LARGE)
    holdfast(0, "snapshot")
    put("secret.toml", SECRETS[1])
    put("a.toml", b"a = 2\n")
    put("deep/copy.toml", b"none any more\n")
    holdfast(0, "snapshot")
    if damages:
        script = os.path.join(BASE, "damage")
        with open(script, "wb") as file:
            file.write(b"printf \"token = 'from a test'\\n\" >secret.toml; echo x >a.toml; rm large/secret\n")
        holdfast(97, "run", "--gate", "off", "--keep-going", "--", "sh", script)


def is_gone():
    hashes = make.hashes
    for secret in (*SECRETS, LARGE[:100]):
        if where(secret):
            fail("%r is still in %s" % (secret[:30], where(secret)))
    for digits in hashes:
        if where(digits):
            fail("the hash %s is still in %s" % (digits, where(digits)))
    holdfast(0, "verify", "--store")


def rest_is_there():
    for number, content in (("1", b"a = 1\n"), ("2", b"a = 2\n")):
        holdfast(0, "restore", "--from", number, "a.toml")
        if read(os.path.join(ROOT, "a.toml")) != content:
            fail("a.toml of snapshot " + number)
    holdfast(0, "restore", "--from", "1", "empty")
    # What the run made of the other file is kept.
    holdfast(0, "undo", "1")
    if read(os.path.join(ROOT, "a.toml")) != b"x\n":
        fail("the other kept copy")


def purge():
    make()
    make.hashes = hashes_of(b"secret.toml") | hashes_of(b"large/secret")
    if len(make.hashes) != 4 or not all(where(secret) for secret in SECRETS):
        fail("not recorded: %s" % make.hashes)
    before = {name: data for name, data in all_bytes()}
    said = holdfast(2, "purge", "secret.toml").stderr
    if "nobody is at a terminal" not in said:
        fail("says: " + said)
    said = holdfast(0, "purge", "--dry-run", "secret.toml", "large").stderr
    if not re.search(r"would purge 4 contents: in 2 snapshots, 3 packs, 1 kept copy, 1 journal\n", said) or \
            "'deep/copy.toml' has one of these contents" not in said:
        fail("a dry run says: " + said)
    said = asked("purge", "secret.toml", "large")
    if not re.search("'deep/copy.toml' has one of these contents.*for good\\?", said, re.DOTALL):
        fail("does not say before it asks what else goes: " + said)
    if {name: data for name, data in all_bytes()} != before:
        fail("a dry run, or an answer of no, changes the store")
    said = holdfast(0, "purge", "--yes", "secret.toml", "large").stderr
    for text in ("purged 4 contents: in 2 snapshots, 3 packs, 1 kept copy, 1 journal",
                 "'deep/copy.toml' had one of these contents", "'secret.toml' still has it in the project",
                 "free blocks", "holdfast export", "store list"):
        if text not in said:
            fail("does not say '%s': %s" % (text, said))
    is_gone()
    log = holdfast(0, "log").stdout
    if " purge 2: done: secret.toml large" not in log or "token" in log:
        fail("the log says: " + log)
    said = holdfast(2, "purge", "--yes", "secret.toml").stderr
    if "nothing of it is in the store" not in said:
        fail("a second one says: " + said)
    rest_is_there()
    # It is as it was not recorded: the next one does.
    holdfast(0, "snapshot")
    holdfast(0, "verify", "--store")


def words():
    for typed, said in (((), "without a path"), ((".",), "whole project"), (("nowhere",), "nothing of it")):
        if said not in holdfast(2, "purge", "--yes", *typed).stderr:
            fail("purge %s does not say '%s'" % (typed, said))
    script = os.path.join(BASE, "inside")
    with open(script, "w", encoding="utf-8") as file:
        file.write("'%s' purge --store '%s' --yes secret.toml; test $? = 3\n" % (HOLDFAST, STORE))
    said = holdfast(0, "run", "--gate", "off", "--", "sh", script).stderr
    if "cannot purge: a run is in progress" not in said:
        fail("beside a run: " + said)


def other_names():
    """Copies that only their content, or only their name, gives away; what its own name looks like stays."""
    make()
    kept = glob.glob(os.path.join(STORE, "kept", "*"))[0]
    with open(os.path.join(kept, "elsewhere"), "wb") as file:
        file.write(SECRETS[0])
    with open(os.path.join(kept, "secret.toml~2"), "wb") as file:
        file.write(b"half of it")
    with open(os.path.join(kept, "secret.toml~x"), "wb") as file:
        file.write(b"another file")
    os.symlink("/etc/passwd", os.path.join(kept, "link"))
    holdfast(0, "purge", "--yes", "secret.toml")
    left = sorted(os.listdir(kept))
    if "elsewhere" in left or "secret.toml~2" in left or "secret.toml" in left or "secret.toml~x" not in left:
        fail("kept: %s" % left)
    if not os.path.exists("/etc/passwd"):
        fail("a link was followed")


def damaged():
    """What cannot be searched is named, and the rest is gone; not guessed at, not removed."""
    make(damages=False)
    path = os.path.join(STORE, "packs", "000002.tar.zst")
    data = read(path)
    for file in glob.glob(os.path.join(STORE, "packs", "*.tar.zst")):
        if SECRETS[1] in subprocess.run(("zstd", "-dc", file), stdout=subprocess.PIPE, check=True).stdout:
            path, data = file, read(file)
    os.chmod(path, 0o600)
    with open(path, "wb") as file:
        file.write(data[:-8])
    done = json.loads(holdfast(98, "purge", "--yes", "--json", "secret.toml").stdout)
    if done["not_searched"] != ["packs/" + os.path.basename(path)] or not done["done"]:
        fail("JSON: %s" % done)
    if where(SECRETS[0]) or not os.path.exists(path):
        fail("the rest, or the damaged one")
    # Repaired or removed it is searched again, though nothing else knows by now what for.
    with open(path, "wb") as file:
        file.write(data)
    said = holdfast(0, "prune").stderr
    if "a purge is not finished" not in said:
        fail("what is open is not said: " + said)
    holdfast(0, "purge", "--yes", "nowhere")
    if where(SECRETS[0]) or where(SECRETS[1]):
        fail("what was damaged still has it")
    path = sorted(glob.glob(os.path.join(STORE, "snapshots", "*")))[0]
    with open(path, "ab") as file:
        file.write(b"x")
    said = holdfast(98, "purge", "--yes", "nowhere").stderr
    if "nothing of it was found, but 'snapshots/%s' is damaged" % os.path.basename(path) not in said:
        fail("of a damaged manifest: " + said)


def cut_off():
    """What was begun is finished by the purge of any other path."""
    make(damages=False)
    make.hashes = hashes_of(b"secret.toml") | hashes_of(b"large/secret")
    before = {name for name, _data in all_bytes()}
    inject = os.path.join(os.path.abspath(sys.argv[2]), "inject")
    environ = dict(os.environ, ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0")
    subprocess.run((inject, os.path.join(BASE, "list"), "kill-all", "12", HOLDFAST, "purge", "--store", STORE, *PROTECT,
                    "--yes", "secret.toml", "large"), cwd=ROOT, env=environ, capture_output=True, timeout=60,
                   check=False)
    if not os.path.exists(os.path.join(STORE, "purging")):
        fail("not cut off where it should be: %s" % sorted({name for name, _data in all_bytes()} ^ before))
    for words in (("verify", "--store"), ("prune",)):
        said = holdfast(0, *words).stderr
        if "a purge is not finished: 'holdfast purge --store" not in said:
            fail("%s says: %s" % (words, said))
    holdfast(0, "purge", "--yes", "nothing")
    if "not finished" in holdfast(0, "verify", "--store").stderr:
        fail("it is finished")
    if os.path.exists(os.path.join(STORE, "purging")):
        fail("not finished")
    is_gone()


try:
    purge()
    words()
    other_names()
    damaged()
    cut_off()
finally:
    shutil.rmtree(BASE, ignore_errors=True)
