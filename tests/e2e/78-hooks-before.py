#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Git hooks with the real git: what stops a commit or a push, and what a run hands on.

    78-hooks-before.py HOLDFAST SUPPORT [SITUATION...]
"""
import fcntl
import json
import os

from repository import FILES, commit_something, die, main, situation


# -- before a commit ---------------------------------------------------------------

@situation
def first_commit(place):
    place.fresh(commit=False)
    place.git("commit", "-qm", "first")
    place.silent()


@situation
def first_commit_of_damage(place):
    place.fresh(commit=False)
    place.stage_damage()
    place.git("commit", "-qm", "first", ends=(1,))
    place.told("cannot commit: 'a.toml' as staged is as session 1 found it damaged")
    place.has(a_toml=FILES["a.toml"])


@situation
def damaged_file_staged(place):
    place.fresh()
    place.stage_damage()
    before = place.index()
    place.git("commit", "-qm", "damage", ends=(1,))
    place.told("'a.toml' as staged", "put back a.toml", "git add -- a.toml", "then git commit")
    number = place.undo_is_last()
    place.has(a_toml=FILES["a.toml"])
    place.is_true(place.index() == before, "the index has changed")
    # It is stopped again, with nothing to put back.
    place.git("commit", "-qm", "damage", ends=(1,))
    # Accepted: what is staged may be committed, and is what stands there.
    place.fast("undo", number)
    place.has(a_toml="broken\n")
    place.git("commit", "-qm", "damage")
    place.silent()


@situation
def damaged_file_staged_and_mended(place):
    place.fresh()
    place.stage_damage()
    place.git("commit", "-qm", "damage", ends=(1,))
    place.git("add", "--", "a.toml")
    place.write("other.txt", "x\n")
    place.git("add", "other.txt")
    place.git("commit", "-qm", "fine")
    place.silent()


@situation
def damage_that_was_recorded_since(place):
    place.fresh()
    place.stage_damage()
    place.fast("snapshot")
    place.git("commit", "-qm", "accepted")
    place.silent()


@situation
def damage_with_other_ends_of_lines(place):
    """As git would write it, or as the run did."""
    place.fresh()
    place.git("config", "core.autocrlf", "true")
    for text in ("broken\n", "bad\r\n"):
        place.stage_damage(text=text)
        place.git("commit", "-qm", "no", ends=(1,))
        place.told("'a.toml' as staged is as session")
        place.has(a_toml=FILES["a.toml"])


@situation
def commit_all_of_damage(place):
    """`git commit -a` has an index of its own."""
    place.fresh()
    place.damage()
    place.write("a.toml", "broken\n")
    place.git("commit", "-qam", "damage", ends=(1,))
    place.has(a_toml=FILES["a.toml"])
    place.is_true(place.git("diff", "--cached", "--name-only") == "", "the index has changed")


@situation
def partial_staging(place):
    """What is committed counts, not what else is staged or changed."""
    place.fresh()
    place.stage_damage()
    place.write("b.toml", "b = 'mine'\n")
    place.git("commit", "-qm", "only b", "--", "b.toml")
    place.silent()
    place.git("commit", "-qm", "only a", "--", "a.toml", ends=(1,))


@situation
def work_tree_from_below_with_longer_names_of_objects(place):
    """The index of a linked work tree lies elsewhere, and git is started in a directory of it."""
    place.environ["GIT_DEFAULT_HASH"] = "sha256"
    place.fresh()
    tree = os.path.join(place.base, "tree")
    place.git("worktree", "add", "-q", tree)
    place.root = tree
    place.write("sub/other.txt", "x\n")
    place.fast("snapshot")
    place.stage_damage()
    place.git("commit", "-qm", "damage", at=place.path("sub"), ends=(1,))
    place.told("'a.toml' as staged")
    place.has(a_toml=FILES["a.toml"])
    place.git("add", "../a.toml", "other.txt", at=place.path("sub"))
    place.git("commit", "-qm", "fine", at=place.path("sub"))
    place.silent()


@situation
def a_persons_edit_over_staged_damage(place):
    place.fresh()
    place.stage_damage()
    place.write("a.toml", "a = 'mine'\n")
    place.git("commit", "-qm", "damage", ends=(1,))
    place.told("git add -- a.toml", "git commit --no-verify")
    place.has(a_toml="a = 'mine'\n")


@situation
def a_persons_own_edit_staged(place):
    place.fresh()
    place.write("a.toml", "a = 'mine'\n")
    place.git("commit", "-qam", "mine")
    place.silent()
    place.has(a_toml="a = 'mine'\n")


@situation
def deleted_file_staged(place):
    place.fresh()
    place.git("rm", "-q", "a.toml")
    before = place.index()
    place.git("commit", "-qm", "gone", ends=(1,))
    place.told("cannot commit: 'a.toml' would be deleted, and snapshot 1 has it", "put back a.toml")
    number = place.undo_is_last()
    place.has(a_toml=FILES["a.toml"])
    place.is_true(place.index() == before, "the index has changed")
    # Not by trying again.
    place.git("commit", "-qm", "gone", ends=(1,))
    place.told("holdfast undo " + number)
    place.fast("undo", number)
    place.git("commit", "-qm", "gone")
    place.silent()
    place.has(a_toml=None)


@situation
def deleted_and_unstaged_again(place):
    place.fresh()
    place.git("rm", "-q", "a.toml")
    place.git("commit", "-qm", "gone", ends=(1,))
    place.git("add", "--", "a.toml")
    place.git("commit", "-qm", "empty", "--allow-empty")
    place.silent()


@situation
def no_longer_tracked(place):
    """`git rm --cached` takes nothing away."""
    place.fresh()
    place.git("rm", "-q", "--cached", "a.toml")
    place.git("commit", "-qm", "untracked")
    place.silent()
    place.has(a_toml=FILES["a.toml"])


@situation
def renamed_protected_file(place):
    place.fresh()
    place.git("mv", "a.toml", "renamed.toml")
    place.git("commit", "-qm", "renamed")
    place.silent()


@situation
def amend(place):
    place.fresh()
    place.write("a.toml", "a = 'mine'\n")
    place.git("add", "a.toml")
    place.git("commit", "-q", "--amend", "-m", "amended")
    place.has(a_toml="a = 'mine'\n")
    # It is git's now.
    place.told("git changed 'a.toml', which is recorded as snapshot 2")
    place.fast("verify")
    place.stage_damage(text="worse\n")
    place.git("commit", "-q", "--amend", "-m", "again", ends=(1,))


@situation
def session_that_did_not_end(place):
    place.fresh()
    die(place, "echo broken >own.toml")
    place.has(own_toml="broken\n")
    commit_something(place)
    place.told("did not end: put back 'own.toml'")
    place.has(own_toml=FILES["own.toml"])


@situation
def session_that_nobody_can_judge(place):
    place.fresh()
    die(place, "echo broken >own.toml")
    store = place.fast("store", "path").strip()
    for name in os.listdir(os.path.join(store, "sessions")):
        os.utime(os.path.join(store, "sessions", name), (10 ** 9, 10 ** 9))
    place.write("own.toml", "whose = 1\n")
    commit_something(place, ends=(1,))
    place.told("cannot commit: session 1 did not end, and nobody knows who changed 'own.toml'", "holdfast recover")
    place.has(own_toml="whose = 1\n")


@situation
def commit_within_a_run(place):
    place.fresh()
    place.write("other.txt", "x\n")
    place.git("add", "other.txt")
    place.fast("run", "--", "git", "commit", "-qm", "other")


# -- before a push --------------------------------------------------------------------

@situation
def beside_somebody_who_asks(place):
    """Who holds the store may wait for an answer: git does not, and damage stops a commit all the same."""
    place.fresh()
    place.write("a.toml", "a = 'mine'\n")
    with open(os.path.join(place.fast("store", "path").strip(), "lock"), "rb+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        place.git("commit", "-qam", "mine")
        place.told("another holdfast is at work")
        place.remove("own.toml")
        place.git("checkout", "-qb", "new")
        place.told("another holdfast is at work")
        place.has(own_toml=None)
    place.stage_damage()
    with open(os.path.join(place.fast("store", "path").strip(), "lock"), "rb+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        place.git("commit", "-qm", "no", ends=(1,))
        place.told("cannot commit", "in progress: nothing is put back now")
    place.has(a_toml="broken\n")


@situation
def push(place):
    place.fresh()
    remote = os.path.join(place.base, "remote.git")
    place.git("init", "-q", "--bare", remote)
    place.git("push", "-q", remote, "main")
    place.silent()
    place.stage_damage()
    place.git("commit", "-qnm", "damage")
    commit = place.git("rev-parse", "HEAD").strip()
    commit_something(place)
    place.git("push", "-q", remote, "main", ends=(1,))
    place.told("cannot push: 'a.toml' in commit %s is as session 1 found it damaged" % commit[:12], "--no-verify")
    place.git("push", "-q", remote, "main~2:refs/heads/fine")
    place.git("push", "-q", remote, ":refs/heads/fine")
    place.git("push", "-q", "--no-verify", remote, "main")


# -- what a run hands on ---------------------------------------------------------------

@situation
def variables_do_not_leak(place):
    place.fresh(hooks=("post-merge",))
    place.write(".git/hooks/pre-commit", "#!/bin/sh\nexec '%s' run -- sh -c 'env >../seen; git -C ../else add f'\n"
                % os.path.abspath(place.holdfast), 0o755)
    other = os.path.join(place.base, "else")
    os.mkdir(other)
    place.git("init", "-q", at=other)
    place.run("touch", "f", at=other)
    place.write("other.txt", "x\n")
    place.git("add", "other.txt")
    place.git("commit", "-qm", "other")
    with open(os.path.join(place.base, "seen"), encoding="utf-8") as file:
        names = {line.split("=", 1)[0] for line in file if line.startswith("GIT_")}
    place.is_true(names == {"GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"}, "leaked: %s" % names)
    place.is_true(place.git("ls-files", at=other) == "f\n", "git worked on the wrong index")


@situation
def speaks_json(place):
    place.fresh()
    place.stage_damage()
    out = json.loads(place.fast("hook", "run", "pre-commit", "--json", ends=(1,)))
    place.is_true(out["hook"] == "pre-commit" and out["session"] and out["entries"] ==
                  [{"path": "a.toml", "path_bytes": None, "result": "stopped-put-back",
                    "damage": out["entries"][0]["damage"], "commit": None}], "JSON: %s" % out)


@situation
def bad_words(place):
    place.fresh()
    place.fast("hook", ends=(2,))
    place.fast("hook", "run", ends=(2,))
    place.fast("hook", "run", "pre-everything", ends=(2,))
    place.fast("hook", "install", "pre-everything", ends=(2,))
    place.told("there is no such one here")
    place.fast("hook", "install", at=place.base, ends=(3,))
    place.told("cannot find a git repository")


main("78-hooks-before: commits and pushes", 22)
