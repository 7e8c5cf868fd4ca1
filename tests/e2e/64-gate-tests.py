#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A refusal names the test: of pytest, of bats, of a harness that names its threads, and of what a test starts.

    64-gate-tests.py HOLDFAST SUPPORT [STORY...]
"""
import os
import shutil

from story import PYTHON, SAMPLE, tell

WORKFLOW = "tests/test_workflow.py::%s (call)"
# What each test of the sample does to which file; the last leaves a process that does it after the test.
DAMAGE = {
    "manual_slop.toml": {"test_change_the_theme"},
    "presets.toml": {"test_presets_are_cleaned_up"},
    "tool_presets.toml": {"test_set_up_tools_from_nothing"},
    "credentials.toml": {"test_open_credentials_are_refused", "test_credentials_are_shown_masked"},
    "personas.toml": {"test_persona_is_saved", "test_broken_persona_is_reported"},
    "manual_slop_history.toml": {"test_discussion_is_appended"},
}
PYTEST = (PYTHON, "-m", "pytest", "-p", "no:cacheprovider", "-q")
LOOP = """
def test_loops():
    for _ in range(5000):
        try:
            open("presets.toml", "w")
        except PermissionError:
            pass

def test_starts_another():
    import subprocess
    subprocess.run(["sh", "-c", ": >personas.toml"])
    subprocess.run(["/bin/sh", "-c", ": >credentials.toml"], env={})

def test_comes_after():
    open("../tmp/after", "w").close()
"""
BATS = """
@test "says 'no' to me" {
	run rm personas.toml
	[ "$status" = 1 ]
}
@test "is harmless" {
	cat personas.toml >/dev/null
}
"""
THREADS = """
import ctypes, threading
def work():
    ctypes.CDLL(None).prctl(15, NAME, 0, 0, 0)
    try:
        open("presets.toml", "a")
    except PermissionError:
        pass
for name in (b"a::writes", b"a::is_much_too_long"):
    NAME = name
    one = threading.Thread(target=work)
    one.start()
    one.join()
"""


def sample_suite(place):
    """The sample project's own suite, as it stands."""
    shutil.rmtree(place.root)
    shutil.copytree(SAMPLE, place.root, ignore=shutil.ignore_patterns("__pycache__", ".pytest_cache"))
    os.chmod(place.file("credentials.toml"), 0o600)
    place.give(place.root)
    place.first()
    mode_set = place.saved["credentials.toml"]
    run = place.run(*PYTEST).ended(97)
    place.untouched("credentials.toml")
    now = place.survey()["credentials.toml"]
    for path, tests in DAMAGE.items():
        found = {one["test"] for one in run.of(path)}
        for name in tests:
            if WORKFLOW % name not in found:
                run.fail("%s of %s is not named: %s" % (name, path, found))
    # One test gives this file the mode it has, which changes nothing but its ctime.
    run.check(credentials_are_the_same=now[:1] + now[2:] == mode_set[:1] + mode_set[2:])
    run.check(nothing_landed=not [one for one in run.report["violations"] if one["landed"] or one["restored"]],
              each_test_is_exact={one["test_certainty"] for one in run.report["violations"] if one["test"]} == {
                  "exact"},
              each_has_its_process=all(one["process"] for one in run.report["violations"]),
              no_careful_test_is_named={one["test"].partition("::")[0] for one in run.report["violations"]
                                        if one["test"]} == {"tests/test_workflow.py"},
              all_verified=run.report["verified"] == run.report["protected"])
    run.said("^holdfast: refused: presets.toml: .* by tests/test_workflow.py::test_presets_are_cleaned_up")


def loops_and_children(place):
    """Five thousand refusals of one loop are one; what a test starts is named with the test."""
    place.first()
    place.write("test_it.py", LOOP)
    run = place.run(*PYTEST, "test_it.py").ended(97)
    place.untouched()
    loop = run.of("presets.toml")
    child = run.of("personas.toml")
    bare = run.of("credentials.toml")
    run.check(one_violation=len(loop) == 1, five_thousand=loop and loop[0]["count"] == 5000,
              by_the_loop=loop and loop[0]["test"] == "test_it.py::test_loops (call)",
              exact=loop and loop[0]["test_certainty"] == "exact", one_of_the_child=len(child) == 1,
              by_its_test=child and child[0]["test"] == "test_it.py::test_starts_another (call)",
              by_the_shell=child and child[0]["process"]["comm"] == "sh",
              started_by_python=child and "pytest" in child[0]["process"]["parents"][0]["argv"],
              of_its_parent_without_environment=[(one["test"], one["test_certainty"]) for one in bare] ==
              [("test_it.py::test_starts_another (call)", "near")],
              went_on=os.path.exists(place.path("tmp", "after")))
    run.said("5,000 times")


def fail_fast(place):
    """It ends at the first: within the loop, and no test comes after."""
    place.first()
    place.write("test_it.py", LOOP)
    run = place.run(*PYTEST, "test_it.py", options=("--gate", "require", "--fail-fast")).ended(97)
    place.untouched()
    run.check(one_violation=len(run.report["violations"]) == 1,
              by_the_loop=run.of("presets.toml")[0]["test"] == "test_it.py::test_loops (call)",
              no_test_came_after=not os.path.exists(place.path("tmp", "after")),
              command_was_ended=run.report["exit"]["command"]["signal"] is not None)


def bats(place):
    if not shutil.which("bats"):
        return
    place.first()
    place.write("it.bats", BATS)
    run = place.run("bats", "it.bats").ended(97)
    place.untouched()
    found = run.of("personas.toml")
    run.check(one_violation=len(run.report["violations"]) == 1 == len(found),
              by_its_description=found[0]["test"] == "it.bats: says 'no' to me",
              by_rm=found[0]["process"]["comm"] == "rm",
              both_passed="ok 2 is harmless" in run.out and "not ok" not in run.out)


def threads(place):
    """A name of fifteen bytes may be a longer one's beginning."""
    place.first()
    run = place.python(THREADS).ended(97)
    place.untouched()
    found = {one["test"]: one["test_certainty"] for one in run.of("presets.toml")}
    run.check(two_threads=found == {"a::writes": "exact", "a::is_much_too_": "near"})


tell(sample_suite, loops_and_children, fail_fast, bats, threads)
