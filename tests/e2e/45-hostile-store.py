# SPDX-License-Identifier: MIT
"""A store that somebody has written to do harm, with every seal and sum right: whatever it says, nothing is written,
made, removed or changed outside the root, and nothing of what it names there is read into it."""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

HOLDFAST = os.path.abspath(sys.argv[1])
FORGE = os.path.join(sys.argv[2], "forge")
LEAST = 80

tried = 0


def fail(text):
    sys.exit("45-hostile-store: " + text)


def holdfast(*words):
    """Any status of ours, but no crash."""
    done = subprocess.run((HOLDFAST,) + words, cwd=ROOT, capture_output=True, timeout=60, stdin=subprocess.DEVNULL)
    if done.returncode not in (0, 1, 2, 3, 97, 98, 125):
        fail("%s: status %d\n%s" % (words, done.returncode, done.stderr.decode(errors="replace")))
    return done


def survey():
    """All that is not the project or its store."""
    seen = {}
    for top in OUTSIDE, ETC:
        for folder, folders, files in os.walk(top):
            for name in folders + files + ["."]:
                path = os.path.join(folder, name)
                at = os.lstat(path)
                data = b""
                if not os.path.islink(path) and os.path.isfile(path):
                    with open(path, "rb") as file:
                        data = file.read()
                seen[path] = (at.st_mode, at.st_uid, at.st_ino, at.st_mtime_ns, data)
    return seen


def forge(kind, path, lines):
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    done = subprocess.run((FORGE, kind), input=text.encode(), capture_output=True, check=True)
    with open(path, "wb") as file:
        file.write(done.stdout)


def read_lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def attack(name, spoil):
    """From a good store one that spoil() makes bad; then every command that reads it."""
    global tried
    for path in ROOT, STORE:
        shutil.rmtree(path, ignore_errors=True)
    shutil.copytree(GOOD + "/project", ROOT, symlinks=True)
    shutil.copytree(GOOD + "/store", STORE, symlinks=True)
    holdfast("store", "adopt", STORE)
    spoil()
    before = survey()
    os.unlink(os.path.join(ROOT, "a.toml"))
    with open(os.path.join(ROOT, "b.toml"), "w", encoding="utf-8") as file:
        file.write("damage\n")
    shutil.rmtree(DIR + "/copies", ignore_errors=True)
    for words in (("status",), ("verify", "--store"), ("kept",), ("kept", "show", "1:b.toml"),
                  ("restore", "--to", DIR + "/copies"), ("kept", "restore", "1", "b.toml"), ("undo", "1"), ("restore",),
                  ("restore", "--from", "1", "--remove-additions"), ("run", "--gate", "off", "--", "true")):
        done = holdfast(*words, "--store", STORE)
        after = survey()
        if after != before:
            changed = sorted(path for path in set(before) | set(after) if before.get(path) != after.get(path))
            fail("%s: %s changed %s\n%s" % (name, words, changed, done.stderr.decode(errors="replace")))
        if b"secret" in done.stdout + done.stderr:
            fail("%s: %s told a secret" % (name, words))
    tried += 1


def manifest_with(*entries, drop=()):
    """Entries in place of those of the same path, or added."""
    path = glob.glob(STORE + "/snapshots/*")[0]
    lines = read_lines(path)[:-1]
    body = [x for x in lines if "path" in x and x["path"] not in drop]
    head = [x for x in lines if "path" not in x]
    model = next(x for x in body if x["path"] == "a.toml")
    for entry in entries:
        full = dict(model, **entry) if entry.get("kind", "file") == "file" else dict(
            {key: model[key] for key in ("mode", "owner", "mtime", "rule")}, **entry)
        body.append(full)
    forge("manifest", path, head + sorted(body, key=lambda x: x["path"].replace("/", "\0")))


def journal_with(change, only=None):
    """change() each kept record of the first session."""
    for path in glob.glob(STORE + "/sessions/000001-*"):
        lines = read_lines(path)
        for line in lines:
            line.pop("sum")
            if line["record"] == "kept" and (only is None or line["replaced"]["path"] == only):
                change(line)
        forge("journal", path, lines)


def kept_at(text):
    def change(line):
        line["kept"] = text
    journal_with(change)


def moved_to(text, **more):
    def change(line):
        for side in "replaced", "put":
            line[side]["path"] = text
            line[side].update(more)
    journal_with(change, "b.toml")


def plant_link(inside, target):
    """A link of the store in place of what was there."""
    at = os.path.join(STORE, inside)
    if os.path.isdir(at) and not os.path.islink(at):
        shutil.rmtree(at)
    elif os.path.lexists(at):
        os.unlink(at)
    os.symlink(target, at)


def tar_with(kind):
    """A pack whose members are links that lead away, under the offsets of the real ones."""
    import tarfile
    pack = glob.glob(STORE + "/packs/*.zst")[0]
    plain = os.path.join(DIR, "plain.tar")
    with tarfile.open(plain, "w", format=tarfile.USTAR_FORMAT) as tar:
        for name in "a.toml", "b.toml", "../x", ETC + "/x":
            member = tarfile.TarInfo(name)
            member.type = kind
            member.linkname = OUTSIDE + "/victim.toml"
            tar.addfile(member)
    subprocess.run(["zstd", "-qf", plain, "-o", pack], check=True)


def attacks():
    for path in ("../../outside/x.toml", "../outside/x.toml", "a/../../outside/x.toml", "./x", "a//b", "", "..",
                 OUTSIDE + "/x.toml", ETC + "/passwd", OUTSIDE + "/victim.toml", OUTSIDE + "/new/deep/x.toml"):
        attack("manifest: file " + path, lambda: manifest_with({"path": path}))
        attack("manifest: link " + path, lambda: manifest_with({"path": path, "kind": "link", "link": "/etc"}))
        attack("journal: " + path, lambda: moved_to(path))
        attack("kept at " + path, lambda: kept_at(path))
    for path in OUTSIDE, OUTSIDE + "/empty", ETC:
        attack("manifest: directory " + path,
               lambda: manifest_with({"path": path, "kind": "directory", "mode": "0777", "owner": "1:1"}))
        attack("manifest: absent " + path, lambda: manifest_with({"path": path, "kind": "absent"}))
        attack("journal: put absent " + path, lambda: moved_to(path))
    # A parent that is a link when its child's turn comes; in the manifest and in the tree.
    for target in OUTSIDE, "../outside":
        attack("manifest: a parent that is a link", lambda: manifest_with(
            {"path": "dir", "kind": "link", "link": target}, {"path": "dir/x.toml"}))

        def link_in_tree():
            manifest_with({"path": "dir", "kind": "directory"}, {"path": "dir/victim.toml"})
            os.symlink(target, os.path.join(ROOT, "dir"))
        attack("a link in the tree", link_in_tree)
    attack("manifest: the same path twice", lambda: manifest_with({"path": "a.toml"}, {"path": "a.toml"}))
    attack("manifest: a file with children", lambda: manifest_with({"path": "a.toml/../../x"}, {"path": "a.toml/x"}))
    # Kept copies that lie elsewhere.
    for text in ("kept/../../outside/victim.toml", "../outside/victim.toml", OUTSIDE + "/victim.toml", "kept",
                 "kept/..", "packs/000001.tar.zst", "store.json", "kept/link/victim.toml"):
        def change_kept():
            os.symlink(OUTSIDE, os.path.join(STORE, "kept/link"))
            kept_at(text)
        attack("kept at " + text, change_kept)
    kept = os.path.relpath(glob.glob(GOOD + "/store/kept/*/b.toml")[0], GOOD + "/store")
    attack("a kept copy that is a link", lambda: plant_link(kept, OUTSIDE + "/victim.toml"))
    attack("a kept folder that is a link", lambda: plant_link(os.path.dirname(kept), OUTSIDE))
    for folder in "kept", "packs", "snapshots", "sessions":
        attack(folder + " is a link", lambda: plant_link(folder, OUTSIDE))
    attack("a pack that is a link", lambda: plant_link("packs/000001.tar.zst", OUTSIDE + "/victim.toml"))
    attack("a lock that is a link", lambda: plant_link("lock", OUTSIDE + "/victim.toml"))
    attack("store.json is a link", lambda: plant_link("store.json", OUTSIDE + "/victim.toml"))
    for kind in b"1", b"2", b"5", b"3":
        attack("a pack of members of kind %r" % kind, lambda: tar_with(kind))


def make():
    os.makedirs(ROOT)
    os.makedirs(OUTSIDE + "/empty")
    os.makedirs(ETC)
    for name, data in ((OUTSIDE + "/victim.toml", "secret\n"), (ETC + "/passwd", "secret too\n"),
                       (ROOT + "/a.toml", "a = 1\n"), (ROOT + "/b.toml", "b = 1\n")):
        with open(name, "w", encoding="utf-8") as file:
            file.write(data)
    holdfast("run", "--gate", "off", "--store", STORE, "--", "sh", "-c", "echo x >b.toml; rm a.toml; echo y >n.toml")
    for path, to in (ROOT, "project"), (STORE, "store"):
        shutil.copytree(path, os.path.join(GOOD, to), symlinks=True)


DIR = tempfile.mkdtemp(prefix="hf-e2e-")
ROOT = os.path.join(DIR, "work/project")
STORE = os.path.join(DIR, "work/store")
OUTSIDE = os.path.join(DIR, "work/outside")
ETC = os.path.join(DIR, "etc")
GOOD = os.path.join(DIR, "good")
os.environ["XDG_STATE_HOME"] = os.path.join(DIR, "state")
try:
    make()
    attacks()
finally:
    shutil.rmtree(DIR)
print("%d hostile stores tried" % tried)
if tried < LEAST:
    fail("too few")
