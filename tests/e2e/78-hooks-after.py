#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Git hooks with the real git: what comes back after a checkout, merge or rewrite, and what is left alone.

    78-hooks-after.py HOLDFAST SUPPORT [SITUATION...]
"""
import json
import os
import shutil

from repository import FILES, POLICY, branch_with, commit_something, main, situation


# -- after a checkout ---------------------------------------------------------------

@situation
def nothing_to_do(place):
    place.fresh()
    place.git("checkout", "-qb", "new")
    place.silent()


@situation
def clean_fdx(place):
    """Fires no hook; the next checkout brings back what git does not have."""
    place.fresh()
    place.git("clean", "-qfdx")
    place.silent()
    place.has(own_toml=None, local_toml=None, data__x_toml=None)
    place.git("checkout", "-qb", "new")
    place.told("put back own.toml, was missing")
    number = place.undo_is_last()
    place.has(own_toml=FILES["own.toml"], local_toml=FILES["local.toml"], data__x_toml=FILES["data/x.toml"])
    place.fast("verify")
    place.fast("undo", number)
    place.has(own_toml=None)


@situation
def once_per_deletion(place):
    place.fresh()
    place.remove("own.toml")
    place.git("checkout", "-qb", "new")
    place.has(own_toml=FILES["own.toml"])
    # Who removes it again means it.
    place.remove("own.toml")
    place.git("checkout", "-q", "main")
    place.told("'own.toml' stays away: a hook has put it back", "holdfast restore own.toml")
    place.has(own_toml=None)
    # A run that has seen it makes the next deletion another one.
    place.fast("restore", "own.toml")
    place.fast("run", "--", "true")
    place.remove("own.toml")
    place.git("checkout", "-q", "new")
    place.has(own_toml=FILES["own.toml"])


@situation
def undone_is_a_persons_wish(place):
    place.fresh()
    place.remove("own.toml")
    place.git("checkout", "-qb", "new")
    place.fast("undo")
    place.git("checkout", "-q", "main")
    place.silent()
    place.has(own_toml=None)


@situation
def stash_of_untracked_and_pop(place):
    place.fresh()
    place.write("a.toml", "a = 'mine'\n")
    place.git("stash", "-q", "-a")
    place.has(own_toml=None, local_toml=None)
    place.git("checkout", "-qb", "new")
    place.has(own_toml=None, local_toml=None, data__x_toml=None)
    place.git("stash", "pop", "-q")
    place.has(own_toml=FILES["own.toml"], local_toml=FILES["local.toml"], a_toml="a = 'mine'\n")


@situation
def stash_of_an_added_file(place):
    place.fresh()
    place.git("add", "own.toml")
    place.git("stash", "-q")
    place.git("stash", "-q", "-u")
    place.git("checkout", "-qb", "new")
    place.has(own_toml=None)
    place.git("stash", "pop", "-q")
    place.git("stash", "pop", "-q")
    place.has(own_toml=FILES["own.toml"])


@situation
def checkout_that_overwrites_and_removes_an_ignored_file(place):
    """What git ignores on one branch and has on another it writes over, and takes away with it."""
    place.fresh()
    branch_with(place, "local.toml", "theirs = 1\n")
    for _ in range(2):
        place.git("checkout", "-q", "other")
        place.has(local_toml="theirs = 1\n")
        place.told("git changed 'local.toml', which is recorded")
        place.git("checkout", "-q", "main")
        place.told("put back local.toml, was missing")
        place.undo_is_last()
        place.has(local_toml=FILES["local.toml"])
    place.fast("verify")


@situation
def contents_that_git_had_of_an_ignored_file(place):
    """Of a path that git has on a branch only what it never had comes back, however often it was recorded."""
    place.fresh()
    place.write(".gitignore", "local.toml\nnew.toml\n")
    place.git("commit", "-qam", "ignore")
    place.git("checkout", "-qb", "other")
    for text in ("theirs = 1\n", "theirs = 2\n"):
        for name in ("local.toml", "new.toml"):
            place.write(name, text)
            place.git("add", "-f", name)
        place.git("commit", "-qm", text)
        place.fast("snapshot")
    place.git("checkout", "-q", "main")
    place.has(local_toml=FILES["local.toml"], new_toml=None)
    place.told("put back local.toml", "git changed 'new.toml'")


@situation
def checkout_of_another_content(place):
    place.fresh()
    branch_with(place, "a.toml", "a = 'other'\n")
    branch_with(place, "new.toml", "new = 1\n", "third")
    place.git("checkout", "-q", "other")
    place.told("git changed 'a.toml', which is recorded as snapshot 2; before: holdfast restore --from 1")
    place.fast("verify")
    # What git brings and takes away with a branch is its own.
    place.git("checkout", "-q", "third")
    place.told("git changed 'a.toml' and 1 more")
    place.fast("verify")
    place.git("checkout", "-q", "main")
    place.told("git changed 'new.toml', which is recorded")
    place.has(new_toml=None)
    place.fast("verify")


@situation
def checkout_does_not_record_damage_beside(place):
    place.fresh()
    branch_with(place, "a.toml", "a = 'other'\n")
    place.write("own.toml", "broken\n")
    place.write("b.toml", "edited\n")
    place.git("checkout", "-q", "other")
    out = json.loads(place.fast("verify", "--json", ends=(1,)))
    place.is_true([entry["path"] for entry in out["differences"]] == ["b.toml", "own.toml"], "differs: %s" % out)
    place.fast("restore")
    place.has(own_toml=FILES["own.toml"], b_toml=FILES["b.toml"], a_toml="a = 'other'\n")


@situation
def checkout_records_neither_damage_nor_what_is_staged(place):
    place.fresh()
    place.stage_damage()
    place.write("b.toml", "b = 'mine'\n")
    place.git("add", "b.toml")
    place.git("checkout", "-qb", "new")
    place.silent()
    # Nor when git has the damage.
    place.git("commit", "-qnm", "damage")
    place.git("checkout", "-q", "main")
    place.git("checkout", "-q", "new")
    out = json.loads(place.fast("verify", "--json", ends=(1,)))
    place.is_true([entry["path"] for entry in out["differences"]] == ["a.toml"], "differs: %s" % out)


@situation
def checkout_of_one_file(place):
    place.fresh()
    place.write("a.toml", "a = 'mine'\n")
    place.fast("snapshot")
    place.git("checkout", "-q", "--", "a.toml")
    place.told("git changed 'a.toml', which is recorded as snapshot 3")
    place.fast("verify")


@situation
def what_git_is_told_not_to_look_at(place):
    """It calls that unchanged; a person's edit, or damage, is the next run's to tell of."""
    place.fresh()
    place.git("update-index", "--skip-worktree", "a.toml")
    place.git("update-index", "--assume-unchanged", "b.toml")
    place.write("a.toml", "a = 'mine'\n")
    place.write("b.toml", "")
    place.git("checkout", "-qb", "new")
    place.silent()
    place.fast("verify", ends=(1,))
    place.remove("a.toml", "b.toml")
    place.git("checkout", "-q", "main")
    place.silent()


@situation
def place_is_taken(place):
    """A file of git stands where a directory was: nothing is put there, until it is free again."""
    place.fresh()
    shutil.rmtree(place.path("data"))
    branch_with(place, "data", "a file\n")
    place.git("checkout", "-q", "other")
    place.is_true(os.path.isfile(place.path("data")), "the file of git is gone")
    place.git("checkout", "-q", "main")
    place.has(data__x_toml=FILES["data/x.toml"])


@situation
def merge(place):
    place.fresh()
    branch_with(place, "a.toml", "a = 'other'\n")
    commit_something(place)
    place.remove("own.toml")
    place.git("merge", "-q", "-m", "merged", "other")
    place.told("git changed 'a.toml'", "put back own.toml")
    place.undo_is_last()
    place.has(own_toml=FILES["own.toml"], a_toml="a = 'other'\n")
    place.fast("verify")


@situation
def merge_with_conflicts(place):
    """Until it is over nothing is put back."""
    place.fresh()
    branch_with(place, "a.toml", "a = 'other'\n")
    place.write("a.toml", "a = 'mine'\n")
    place.git("commit", "-qam", "mine")
    place.git("merge", "-q", "other", ends=(1,))
    place.remove("own.toml")
    place.git("checkout", "-q", "--ours", "a.toml")
    place.silent()
    place.has(own_toml=None)
    place.git("merge", "--abort")
    place.git("checkout", "-qb", "new")
    place.has(own_toml=FILES["own.toml"])


@situation
def rebase(place):
    place.fresh()
    branch_with(place, "a.toml", "a = 'other'\n")
    commit_something(place, "one.txt")
    commit_something(place, "two.txt")
    # Removed while it goes on, and still gone while it stands still.
    place.git("rebase", "-q", "-x", "rm -f own.toml", "-x", "git checkout -q -- one.txt; test ! -e own.toml",
              "--no-reschedule-failed-exec", "other")
    place.told("git changed 'a.toml'", "put back own.toml")
    place.has(own_toml=FILES["own.toml"], a_toml="a = 'other'\n")


@situation
def bisect(place):
    place.fresh()
    commit_something(place, "one.txt")
    commit_something(place, "two.txt")
    commit_something(place, "three.txt")
    place.remove("own.toml")
    place.git("bisect", "start", "HEAD", "HEAD~3")
    place.has(own_toml=None)
    place.git("bisect", "good")
    place.has(own_toml=None)
    # Neither where it stays, nor where it goes to some other commit.
    place.git("checkout", "-q", "--", "a.toml")
    place.git("checkout", "-q", "main~1")
    place.has(own_toml=None)
    place.git("bisect", "reset")
    place.has(own_toml=FILES["own.toml"])


@situation
def bisect_that_ends_elsewhere(place):
    place.fresh()
    commit_something(place, "one.txt")
    commit_something(place, "two.txt")
    place.git("bisect", "start", "HEAD", "HEAD~2")
    place.remove("own.toml")
    place.git("bisect", "reset", "HEAD~1")
    place.has(own_toml=None)
    place.git("checkout", "-qb", "new")
    place.has(own_toml=FILES["own.toml"])


@situation
def snapshots_of_another_tree(place):
    """What was imported into an empty store tells of this project only when somebody has said so."""
    place.fresh()
    file = os.path.join(place.base, "all.tar.zst")
    place.fast("export", file)
    place.fast("store", "drop", place.fast("store", "path").strip(), "--yes")
    place.remove("own.toml", "b.toml")
    place.git("rm", "-q", "--cached", "b.toml")
    place.fast("import", file)
    place.git("commit", "-qm", "without")
    place.git("checkout", "-qb", "new")
    place.silent()
    place.has(own_toml=None, b_toml=None)
    place.fast("restore", "own.toml")
    place.remove("own.toml")
    place.git("checkout", "-q", "main")
    place.has(own_toml=FILES["own.toml"])


@situation
def reset_hard(place):
    """Fires no hook; what git did is not recorded before it calls one."""
    place.fresh()
    place.write("a.toml", "a = 'mine'\n")
    place.fast("snapshot")
    place.git("reset", "-q", "--hard")
    place.silent()
    place.git("checkout", "-qb", "new")
    place.told("git changed 'a.toml', which is recorded as snapshot 3")


@situation
def work_tree(place):
    """Each has a store of its own; the hooks are those of the repository."""
    place.fresh()
    tree = os.path.join(place.base, "tree")
    place.git("worktree", "add", "-q", tree)
    place.silent()
    place.run("cp", place.path("own.toml"), tree)
    place.fast("snapshot", at=tree)
    os.remove(os.path.join(tree, "own.toml"))
    place.git("checkout", "-qb", "new", at=tree)
    place.told("put back own.toml")
    place.is_true(os.path.exists(os.path.join(tree, "own.toml")), "is not back")
    place.has(own_toml=FILES["own.toml"])
    place.fast("hook", "uninstall", at=tree)
    place.is_true(not os.path.exists(place.path(".git", "hooks", "pre-commit")), "is still there")


@situation
def submodule(place):
    place.fresh()
    inner = Inner(place)
    place.git("submodule", "--quiet", "add", inner.source, "inner")
    place.git("commit", "-qm", "inner")
    place.fast("snapshot", at=inner.root)
    place.fast("hook", "install", at=inner.root)
    place.is_true(os.path.exists(place.path(".git", "modules", "inner", "hooks", "post-checkout")), "is not there")
    os.remove(os.path.join(inner.root, "own.toml"))
    place.git("checkout", "-qb", "new", at=inner.root)
    place.told("put back own.toml")
    # The variables that git gives the hooks of the one are not for the other.
    os.remove(os.path.join(inner.root, "own.toml"))
    commit_something(place)
    place.silent()


@situation
def submodule_that_is_protected(place):
    """What lies in it comes and goes with its own repository."""
    place.fresh()
    inner = Inner(place)
    place.git("submodule", "--quiet", "add", inner.source, "inner")
    place.write("holdfast.json", POLICY.replace('"data/"', '"data/", "inner/"'))
    place.git("commit", "-qam", "inner")
    place.fast("snapshot", at=place.root)
    place.git("submodule", "--quiet", "deinit", "-f", "inner")
    place.git("checkout", "-qb", "new")
    place.silent()
    place.is_true(os.listdir(inner.root) == [], "something is back in it")


@situation
def repository_without_a_git_directory_in_it(place):
    """What lies above its work tree is another project."""
    place.fresh()
    bare = os.path.join(place.base, "dots.git")
    inner = place.path("inner")
    os.mkdir(inner)
    place.git("init", "-q", "--bare", bare)
    place.fast("hook", "install", at=bare)
    place.remove("own.toml")
    words = ("--git-dir", bare, "--work-tree", inner)
    place.git(*words, "commit", "-q", "--allow-empty", "-m", "empty", at=inner)
    place.git(*words, "checkout", "-q", "-b", "new", at=inner)
    place.silent()
    place.has(own_toml=None)


class Inner:
    """A repository that becomes a part of another one."""

    def __init__(self, place):
        self.source = os.path.join(place.base, "source")
        self.root = place.path("inner")
        os.mkdir(self.source)
        place.git("init", "-q", at=self.source)
        place.run("cp", place.path("a.toml"), self.source)
        place.git("add", "a.toml", at=self.source)
        place.git("commit", "-qm", "inner", at=self.source)
        original = place.fast

        def fast(*words, at=None, **how):
            if at == self.root and words[0] == "snapshot":
                place.run("cp", place.path("own.toml"), at)
            return original(*words, at=at, **how)
        place.fast = fast


main("78-hooks-after: checkouts, merges, rewrites", 20)
