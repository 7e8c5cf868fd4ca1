#!/bin/sh
# SPDX-License-Identifier: MIT
# The JUnit report goes where the JSON report may go; annotations go to standard error.
. "$(dirname "$0")/lib.sh"

make_project project
remember project
cd project
expect 0 "$holdfast" run -- true

# cases FILE TEXT: what the parser finds: NAME, or KIND of failure and NAME, a line each.
cases()
{
	found=$(python3 -c '
import sys
import xml.etree.ElementTree as ElementTree
for case in ElementTree.parse(sys.argv[1]).iter("testcase"):
    print(*[part.tag + "/" + part.get("type") for part in case], case.get("name"))' "$1")
	[ "$found" = "$2" ] || fail "$1 holds: $found"
}

# refused REGEX ARGUMENT...: in one line and perhaps a hint, and nothing is started.
refused()
{
	wanted_text=$1
	shift
	expect 125 "$holdfast" run "$@" -- touch "$dir/started"
	said "^holdfast: cannot write the $wanted_text\$"
	[ "$(grep -cv '^holdfast: hint: ' "$dir/err")" = 1 ] || fail "one line: $*"
	[ ! -e "$dir/started" ] || fail "started: $*"
}
refused "JUnit report to '$dir/none/r': No such file or directory" --junit "$dir/none/r"
refused "JUnit report to 'fd:77': Bad file descriptor" --junit fd:77
refused "JUnit report to 'presets.toml': the name is protected by '\\*.toml'" \
	--junit presets.toml
ln -s r ../link
for other in ../r "$dir/r" ../link fd:1; do
	first=../r
	[ "$other" != fd:1 ] || first=fd:1
	refused "JUnit report to '$other': the report goes there" --report "$first" --junit "$other"
done
# The one that can be written says why the other cannot.
refused "JUnit report to 'presets.toml'.*" --report "$dir/report.json" --junit presets.toml
report 'r["status"] == "error"' '"JUnit" in r["error"]'
refused "report to 'presets.toml'.*" --report presets.toml --junit ../j
cases ../j 'error/exit 125 the run'
unchanged project

expect 0 "$holdfast" run --junit ../j -- cp ../j ../while
cases ../while 'error/running the run'
cases ../j 'protected files unchanged'
expect 97 "$holdfast" run --gate off --junit ../j --report "$dir/report.json" \
	--keep-going -- sh -c 'echo x >presets.toml'
cases ../j 'failure/changed presets.toml: write'
grep -q 'file: presets.toml (protected by \*.toml)' ../j || fail 'no file in the text'
report 'r["status"] == "violated"'
expect 97 "$holdfast" run --gate off --junit fd:1 -- sh -c 'rm presets.toml'
cases "$dir/out" 'failure/changed presets.toml: remove'
expect 125 "$holdfast" run --junit ../j --min-protected 7 -- true
cases ../j 'error/exit 125 the run'
expect 127 "$holdfast" run --junit ../j -- no-such-command
cases ../j 'error/exit 127 the run'
# Without a project only its like is replaced.
expect 125 "$holdfast" run --junit ../j --root ../nonexist -- true
cases ../j 'error/exit 125 the run'
expect 125 "$holdfast" run --junit "$dir/report.json" --root ../nonexist -- true
said "it is no earlier report"
# Afterwards it fails the run, unless that fails already.
expect 125 "$holdfast" run --junit /dev/full -- true
said "^holdfast: cannot write the JUnit report to '/dev/full': No space left on device"
expect 97 "$holdfast" run --gate off --junit /dev/full -- sh -c 'rm presets.toml'
unchanged project

# A gate refuses the same, and the command goes on.
if "$holdfast" run --gate require -- true; then
	expect 97 "$holdfast" run --junit ../j -- \
		sh -c 'for i in 1 2 3; do echo x >presets.toml; done'
	cases ../j 'failure/refused presets.toml: open for writing'
	grep -q 'message="presets.toml: refused 3 times: open for writing by sh (pid' ../j ||
		fail 'not what was refused'
fi
unchanged project

# Annotations: only when asked for, also of a quiet run, never in the command's output.
expect 97 "$holdfast" run --gate off -q -- sh -c 'echo said; rm presets.toml'
! grep -q '^::' "$dir/err" || fail 'nobody asked'
expect 97 "$holdfast" run --gate off -q --annotations github -- \
	sh -c 'echo said; rm presets.toml'
said '^::error file=presets.toml,title=holdfast%3A a protected file was changed::presets.toml: '
[ "$(cat "$dir/out")" = said ] || fail 'in the output of the command'
expect 0 "$holdfast" run --gate off --annotations github -- true
silent 'annotations of a clean run'
expect 125 "$holdfast" run --annotations github --min-protected 7 -- true
said '^::error title=holdfast%3A exit 125::cannot '
expect 125 "$holdfast" run --annotations gitlab -- true
said "cannot use '--annotations gitlab'" "hint: 'none', 'github' are possible"

# Inside a run they are the outer one's business.
expect 0 "$holdfast" run --gate off -- "$holdfast" run --junit ../inner \
	--annotations github -x -- true
said 'not used here: --annotations, --fail-fast, --junit$'
[ ! -e ../inner ] || fail 'the inner run has reported'
unchanged project
