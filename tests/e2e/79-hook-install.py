#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Git hooks come and go: beside hooks that are there, in other places, and without holdfast.

    79-hook-install.py HOLDFAST SUPPORT [SITUATION...]
"""
import json
import os
import shutil
import stat

from repository import FILES, main, situation

NAMES = ("pre-commit", "post-checkout", "post-merge", "post-rewrite", "pre-push")
BEFORE = ".before-holdfast"


def survey(directory):
    """Names, kinds, modes, bytes."""
    found = {}
    for name in os.listdir(directory):
        path = os.path.join(directory, name)
        at = os.lstat(path)
        if stat.S_ISLNK(at.st_mode):
            found[name] = os.readlink(path)
        else:
            with open(path, "rb") as file:
                found[name] = at.st_mode, file.read()
    return found


def hooks(place):
    return place.path(".git", "hooks")


def states(place):
    out = json.loads(place.fast("status", "--json", ends=(0, 1)))
    return {hook["name"]: hook["state"] for hook in out["hooks"]}


def fires(place, at=None):
    """Does a checkout bring back what is gone?"""
    place.remove("own.toml")
    place.git("checkout", "-q", "--detach", at=at)
    place.has(own_toml=FILES["own.toml"])
    place.fast("run", "--", "true")


@situation
def install_says_what_fires_no_hook(place):
    place.fresh()
    place.told("installed: pre-commit, post-checkout, post-merge, post-rewrite, pre-push",
               "'git clean', 'git stash' and 'git reset --hard' call no hook")
    place.is_true(states(place) == dict.fromkeys(NAMES, "fires"), "states")
    place.is_true("hooks     pre-commit, post-checkout" in place.fast("status"), "status does not say so")
    before = survey(hooks(place))
    place.fast("hook", "install")
    place.told("there already")
    place.is_true(survey(hooks(place)) == before, "has changed")
    fires(place)


@situation
def only_some(place):
    place.fresh(hooks=("post-checkout",))
    wanted = dict.fromkeys(NAMES, "absent")
    wanted["post-checkout"] = "fires"
    place.is_true(states(place) == wanted, "states")
    place.fast("hook", "uninstall", "post-checkout")
    place.is_true(states(place) == dict.fromkeys(NAMES, "absent"), "states")
    place.is_true("hooks     none: 'holdfast hook install'" in place.fast("status"), "status does not say so")


@situation
def uninstall_byte_for_byte(place):
    place.fresh(hooks=("pre-push",))
    place.fast("hook", "uninstall")
    place.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 0\n\n# no newline at the end", 0o751)
    place.write(".git/hooks/post-merge", "not executable\n", 0o644)
    place.write("scripts/checkout", "#!/bin/sh\n", 0o755)
    os.symlink("../../scripts/checkout", place.path(".git/hooks/post-checkout"))
    before = survey(hooks(place))
    place.fast("hook", "install")
    place.told("installed in front of the hook that was there", "pre-commit, post-checkout, post-merge")
    place.git("commit", "-q", "--allow-empty", "-m", "empty")
    place.fast("hook", "install")
    place.fast("hook", "uninstall")
    place.told("the hook that was there before is back")
    place.is_true(survey(hooks(place)) == before, "is not as before: %s" % survey(hooks(place)))
    place.is_true(not os.path.exists(place.path(".git", "holdfast-hooks")), "is remembered")
    place.fast("hook", "uninstall")
    place.is_true(survey(hooks(place)) == before, "is not as before")


@situation
def chained_with_a_failing_status(place):
    place.fresh(hooks=("post-merge",))
    place.write(".git/hooks/pre-commit", "#!/bin/sh\necho theirs >&2\nexit 7\n", 0o755)
    place.write(".git/hooks/post-checkout", "#!/bin/sh\nexit 9\n", 0o755)
    place.fast("hook", "install")
    place.stage_damage()
    place.run(os.path.join(hooks(place), "pre-commit"), ends=(7,))
    place.told("theirs")
    place.is_true("holdfast" not in place.err, "ours was called")
    place.git("commit", "-qm", "no", ends=(1,))
    place.has(a_toml="broken\n")
    # After the fact ours is called all the same.
    place.remove("own.toml")
    place.git("checkout", "-q", "-b", "new", ends=(1,))
    place.has(own_toml=FILES["own.toml"])
    place.run(os.path.join(hooks(place), "post-checkout"), "0", "0", "1", ends=(9,))


@situation
def chained_that_passes(place):
    place.fresh(hooks=("post-merge",))
    place.write(".git/hooks/pre-commit", "#!/bin/sh\necho theirs >&2\n", 0o755)
    place.fast("hook", "install")
    place.stage_damage()
    place.git("commit", "-qm", "no", ends=(1,))
    place.told("theirs", "cannot commit")


@situation
def chained_gets_arguments_and_input(place):
    """As git gave them, to the last byte; and so does ours."""
    place.fresh(hooks=("post-merge",))
    for name in ("pre-push", "post-rewrite"):
        place.write(".git/hooks/" + name, "#!/bin/sh\nprintf '<%s>' \"$@\" >../args; cat >../input\n", 0o755)
    place.fast("hook", "install")
    for name in ("pre-push", "post-rewrite"):
        for text in ("a b\nc d\n", "no newline", "\n\n", ""):
            place.run(os.path.join(hooks(place), name), "a b", "", "-x", "c*", text=text)
            with open(os.path.join(place.base, "args"), encoding="utf-8") as file:
                place.is_true(file.read() == "<a b><><-x><c*>", "arguments of " + name)
            with open(os.path.join(place.base, "input"), encoding="utf-8") as file:
                place.is_true(file.read() == text, "input of %s: %r" % (name, text))
    remote = os.path.join(place.base, "remote.git")
    place.git("init", "-q", "--bare", remote)
    place.stage_damage()
    place.git("commit", "-qnm", "damage")
    place.git("push", "-q", remote, "main", ends=(1,))
    place.told("cannot push")


@situation
def holdfast_missing(place):
    other = os.path.join(place.base, "bin", "holdfast")
    os.mkdir(os.path.dirname(other))
    shutil.copy2(place.holdfast, other)
    place.fresh(hooks=("post-merge",))
    place.run(other, "hook", "install")
    os.remove(other)
    place.git("commit", "-q", "--allow-empty", "-m", "empty")
    place.told("holdfast: warning: cannot find holdfast", "hint")
    place.write(".git/hooks/pre-commit" + BEFORE, "#!/bin/sh\nexit 3\n", 0o755)
    place.run(os.path.join(hooks(place), "pre-commit"), ends=(3,))
    # As one for another machine, or whose libraries are gone.
    place.remove(".git/hooks/pre-commit" + BEFORE)
    for text in ("\0\1\2", "#!/nowhere/ld.so\n"):
        place.write("../bin/holdfast", text, 0o755)
        place.git("commit", "-q", "--allow-empty", "-m", "empty")
        place.told("holdfast: warning: cannot find holdfast, or execute it", "hint")
    os.remove(other)
    place.write(".git/hooks/pre-commit" + BEFORE, "#!/bin/sh\nexit 3\n", 0o755)
    # Found by PATH, where it was moved.
    os.mkdir(os.path.join(place.base, "elsewhere"))
    shutil.copy2(place.holdfast, os.path.join(place.base, "elsewhere", "holdfast"))
    place.environ["PATH"] = os.path.join(place.base, "elsewhere") + ":" + place.environ["PATH"]
    fires(place)


@situation
def client_without_a_terminal(place):
    """A graphical one: no terminal, no input, hardly any environment, another working directory."""
    place.fresh()
    place.stage_damage()
    place.environ = {name: place.environ[name] for name in ("XDG_STATE_HOME", "GIT_CONFIG_GLOBAL")}
    place.environ["PATH"] = "/usr/bin:/bin"
    place.git("-C", place.root, "commit", "-qm", "no", at="/", ends=(1,))
    place.told("cannot commit")
    place.has(a_toml=FILES["a.toml"])


@situation
def hooks_path(place):
    place.fresh(hooks=("post-merge",))
    place.fast("hook", "uninstall")
    place.git("config", "core.hooksPath", ".githooks")
    place.fast("hook", "install")
    place.is_true(set(os.listdir(place.path(".githooks"))) == set(NAMES), "is not there")
    place.is_true(states(place) == dict.fromkeys(NAMES, "fires"), "states")
    fires(place)
    place.fast("hook", "uninstall")
    place.is_true(os.listdir(place.path(".githooks")) == [], "is still there")


@situation
def hooks_path_of_all_repositories(place):
    place.git("config", "--global", "core.hooksPath", "~/hooks", at=place.base)
    place.fresh()
    place.told("core.hooksPath is set for all your repositories")
    place.is_true(set(os.listdir(os.path.join(place.base, "home", "hooks"))) == set(NAMES), "is not there")
    fires(place)
    other = os.path.join(place.base, "other")
    os.mkdir(other)
    place.git("init", "-q", at=other)
    place.git("commit", "-q", "--allow-empty", "-m", "nothing recorded here", at=other)
    place.silent()


@situation
def bypassed(place):
    place.fresh()
    elsewhere = os.path.join(place.base, "elsewhere")
    place.git("config", "core.hooksPath", elsewhere)
    place.is_true(states(place) == dict.fromkeys(NAMES, "bypassed"), "states")
    text = place.fast("status")
    for part in ("pre-push is in %s and does not fire: core.hooksPath sends git to %s" % (hooks(place), elsewhere),):
        place.is_true(part in text, "status does not say: " + part)
    # It is uninstalled where it is.
    place.fast("hook", "uninstall")
    place.is_true(not set(NAMES) & set(os.listdir(hooks(place))), "is still there")
    place.is_true(states(place) == dict.fromkeys(NAMES, "absent"), "states")


@situation
def disabled(place):
    place.fresh()
    os.chmod(place.path(".git/hooks/pre-commit"), 0o644)
    place.is_true(states(place)["pre-commit"] == "disabled", "states")
    place.is_true("pre-commit does not fire: git passes over" in place.fast("status"), "status does not say so")
    place.fast("hook", "install")
    place.is_true(states(place)["pre-commit"] == "fires", "states")


@situation
def replaced(place):
    """By another manager of hooks, which knows nothing of ours."""
    place.fresh()
    place.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 0\n", 0o755)
    place.is_true(states(place)["pre-commit"] == "replaced", "states")
    place.is_true("another program has replaced it" in place.fast("status"), "status does not say so")
    place.fast("hook", "install")
    place.is_true(states(place)["pre-commit"] == "fires", "states")
    # And again, with other bytes: neither of the two may be lost.
    place.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n", 0o755)
    place.fast("hook", "install", ends=(3,))
    place.told("cannot keep", "is there already")
    place.is_true(place.read(".git/hooks/pre-commit" + BEFORE) == "#!/bin/sh\nexit 0\n", "is lost")


@situation
def edited(place):
    place.fresh()
    with open(place.path(".git/hooks/pre-commit"), "a", encoding="utf-8") as file:
        file.write("echo mine\n")
    before = survey(hooks(place))
    for word, verb in (("install", "replace"), ("uninstall", "remove")):
        place.fast("hook", word, "pre-commit", ends=(3,))
        place.told("cannot %s '%s': it was edited since holdfast wrote it"
                   % (verb, place.path(".git/hooks/pre-commit")))
    place.is_true(survey(hooks(place)) == before, "has changed")


@situation
def calls_us_itself(place):
    """A person's hook, or a manager's, that has the line."""
    place.fresh(hooks=("post-merge",))
    place.write(".git/hooks/pre-commit", "#!/bin/sh\nexec holdfast hook run pre-commit -- \"$@\"\n", 0o755)
    before = survey(hooks(place))
    place.fast("hook", "install", "pre-commit")
    place.told("there already")
    place.is_true(survey(hooks(place)) == before, "has changed")
    place.is_true(states(place)["pre-commit"] == "fires", "states")


@situation
def one_that_no_longer_calls_us(place):
    place.fresh(hooks=("post-merge",))
    place.write(".git/hooks/pre-commit", "#!/bin/sh\n  # holdfast hook run pre-commit\n", 0o755)
    place.is_true(states(place)["pre-commit"] == "absent", "states")
    place.fast("hook", "install", "pre-commit")
    place.told("installed in front of the hook that was there")


@situation
def directory_that_cannot_be_written(place):
    place.fresh(hooks=("post-merge",))
    place.git("config", "core.hooksPath", "/proc")
    place.fast("hook", "install", "pre-commit", ends=(3,))
    place.told("cannot write '/proc/pre-commit': ")


@situation
def killed_between_two_names(place):
    place.fresh(hooks=("post-merge",))
    place.write(".git/hooks/pre-commit", "#!/bin/sh\n", 0o755)
    before = survey(hooks(place))
    os.link(place.path(".git/hooks/pre-commit"), place.path(".git/hooks/pre-commit" + BEFORE))
    place.fast("hook", "install", "pre-commit")
    place.fast("hook", "uninstall", "pre-commit")
    place.is_true(survey(hooks(place)) == before, "is not as before")
    os.link(place.path(".git/hooks/pre-commit"), place.path(".git/hooks/pre-commit" + BEFORE))
    place.fast("hook", "uninstall", "pre-commit")
    place.is_true(survey(hooks(place)) == before, "is not as before")


@situation
def bare_repository(place):
    """Its hooks are called in the work trees that it has."""
    place.fresh(hooks=("post-merge",))
    bare = os.path.join(place.base, "bare.git")
    tree = os.path.join(place.base, "tree")
    place.git("clone", "-q", "--bare", place.root, bare)
    place.fast("hook", "install", at=bare)
    place.told("the repository is bare")
    place.is_true(os.path.exists(os.path.join(bare, "hooks", "post-checkout")), "is not there")
    place.git("worktree", "add", "-q", tree, at=bare)
    place.root = tree
    place.write("own.toml", FILES["own.toml"])
    place.fast("snapshot")
    place.is_true(states(place) == dict.fromkeys(NAMES, "fires"), "states")
    fires(place)


@situation
def no_template(place):
    """`git init` with an empty template makes no directory for hooks."""
    place.fresh()
    shutil.rmtree(hooks(place))
    place.is_true(states(place) == dict.fromkeys(NAMES, "replaced"), "states")
    place.fast("hook", "install")
    place.is_true(states(place) == dict.fromkeys(NAMES, "fires"), "states")


@situation
def names_with_quotes(place):
    """Of the directory that the program is in."""
    other = os.path.join(place.base, "it's $(a) place", "holdfast")
    os.mkdir(os.path.dirname(other))
    shutil.copy2(place.holdfast, other)
    place.fresh(hooks=("post-merge",))
    place.run(other, "hook", "install")
    fires(place)


@situation
def under_pre_commit(place):
    """What its install makes of a hook that is there: NAME.legacy, which its own calls first."""
    place.fresh(hooks=("post-merge",))
    place.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 0\n", 0o755)
    place.fast("hook", "install")
    os.rename(place.path(".git/hooks/pre-commit"), place.path(".git/hooks/pre-commit.legacy"))
    place.write(".git/hooks/pre-commit", "#!/bin/sh\nexec \"${0%/*}/pre-commit.legacy\" \"$@\"\n", 0o755)
    place.is_true(states(place)["pre-commit"] == "fires", "states")
    place.fast("hook", "install")
    place.stage_damage()
    place.git("commit", "-qm", "no", ends=(1,))
    place.told("cannot commit")
    place.fast("hook", "uninstall")
    place.is_true(place.read(".git/hooks/pre-commit.legacy") == "#!/bin/sh\nexit 0\n", "is not given back")


@situation
def under_husky(place):
    """Its directory is written anew with every install: the files above it are the project's."""
    place.fresh(hooks=("post-merge",))
    place.fast("hook", "uninstall")
    place.write(".husky/_/h", "#!/bin/sh\ns=${0%/*}/../${0##*/}\n[ -f \"$s\" ] || exit 0\nsh -e \"$s\" \"$@\"\n", 0o644)
    for name in NAMES:
        place.write(".husky/_/" + name, "#!/bin/sh\n. \"${0%/*}/h\"\n", 0o755)
    place.write(".husky/pre-commit", "true\n")
    place.git("config", "core.hooksPath", ".husky/_")
    before = survey(place.path(".husky/_"))
    place.fast("hook", "install", ends=(3,))
    place.told("cannot change", "add a line to it: holdfast hook run pre-commit")
    place.is_true(survey(place.path(".husky/_")) == before, "husky's own has changed")
    place.is_true(states(place)["pre-commit"] == "absent" and states(place)["post-checkout"] == "fires", "states")
    fires(place)
    place.write(".husky/pre-commit", "'%s' hook run pre-commit -- \"$@\" # holdfast hook run pre-commit\n"
                % place.holdfast)
    place.is_true(states(place)["pre-commit"] == "fires", "states")
    place.stage_damage()
    place.git("commit", "-qm", "no", ends=(1,))
    place.told("cannot commit")


@situation
def damage_of_what_is_remembered(place):
    """A forged list names directories that are none of ours: nothing happens there."""
    place.fresh()
    victim = os.path.join(place.base, "victim")
    os.mkdir(victim)
    with open(os.path.join(victim, "pre-commit"), "w", encoding="utf-8") as file:
        file.write("precious\n")
    before = survey(victim)
    with open(place.path(".git", "holdfast-hooks"), "a", encoding="utf-8") as file:
        file.write("pre-commit\t%s\nnonsense\n\t\npre-commit\trelative\npre-push\t/dev/null\n" % victim)
    place.fast("status")
    place.fast("hook", "uninstall")
    place.is_true(survey(victim) == before, "has changed")


@situation
def without_git(place):
    place.fresh()
    os.mkdir(os.path.join(place.base, "empty"))
    place.environ["PATH"] = os.path.join(place.base, "empty")
    place.fast("hook", "install", ends=(3,))
    place.told("cannot find git")
    place.is_true(json.loads(place.fast("status", "--json"))["hooks"] is None, "status knows of hooks")


main("79-hook-install: coming and going", 23)
