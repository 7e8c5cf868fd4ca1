#!/bin/sh
# SPDX-License-Identifier: MIT
# Who requires the gate has it tried before: once a boot, in all its parts.
. "$(dirname "$0")/lib.sh"

make_project project
cd project
probe=$dir/state/holdfast/probe
identity() { stat -c %i,%z "$probe"; }
nothing_left()
{
	left=$(find "$dir" -name 'holdfast-doctor-*' -o -name '.holdfast-*' -o \
		-name probe ! -path "$probe")
	[ -z "$left" ] || fail "left: $left"
}
required() { "$holdfast" run "$@" --gate require -- true; }

"$holdfast" doctor --json >"$dir/doctor" || true
if ! grep -q '"gate": {"state": "on"' "$dir/doctor"; then
	# It says so before anything is recorded, and remembers nothing.
	expect 125 required
	said '^holdfast: cannot run: the gate is required, and '
	[ ! -e "$probe" ] || fail 'a gate that is not there was remembered'
	nothing_left
	skip 'no gate can be had'
fi

# Nobody else pays for it.
expect 0 "$holdfast" run --gate auto -- true
expect 125 "$holdfast" run --gate require
expect 0 "$holdfast" run --gate require --dry-run -- true
[ ! -e "$probe" ] || fail 'it was tried for nothing'

# The first tries and remembers, without a word; its session is no decoys' one.
mkdir "$dir/bare"
cp ./*.toml "$dir/bare"
git init -q "$dir" 2>/dev/null || true
expect 0 "$holdfast" run -q --gate require --root "$dir/bare" -- true
silent first
[ "$(stat -c %a "$probe")" = 600 ] || fail 'readable by others'
[ "$(stat -c %a "$dir/state/holdfast")" = 700 ] || fail 'a directory for others'
[ "$(find "$dir/state/holdfast" -name '*.done' | wc -l)" = 2 ] ||
	fail 'other sessions'
[ ! -e "$dir/.git/holdfast" ] || ! grep -q doctor "$dir/.git/holdfast" ||
	fail 'the repository around knows of the decoys'
rm -rf "$dir/.git"
nothing_left

# The second does not.
was=$(identity)
cp "$probe" "$dir/good"
expect 0 "$holdfast" run -q --gate require -- true
[ "$(identity)" = "$was" ] || fail 'tried twice'
# The policy's word is as good.
echo '{ "protect": ["*.toml"], "gate": "require" }' >holdfast.json
rm "$probe"
expect 0 "$holdfast" run -q -- true
cmp "$probe" "$dir/good" || fail 'not by the policy'
rm holdfast.json

# One of another boot, version or program, a damaged one, or one that others
# could have written.
replaced()
{
	was=$(identity)
	expect 0 "$holdfast" run -q --gate require -- true
	silent "$1"
	cmp -s "$probe" "$dir/good" || fail "$1: not written anew"
	[ "$(identity)" != "$was" ] || fail "$1: taken for good"
	[ "$(stat -c %a "$probe")" = 600 ] || fail "$1: readable by others"
}
sed 's/"boot":"......../"boot":"00000000/' "$dir/good" >"$probe"
replaced 'another boot'
sed 's/"version":"/&9/' "$dir/good" >"$probe"
replaced 'another version'
sed 's/"program":"/&9/' "$dir/good" >"$probe"
replaced 'another program'
sed 's/capabilities /&9/' "$dir/good" >"$probe"
replaced 'other capabilities'
head -c 40 "$dir/good" >"$probe"
replaced 'a cut one'
: >"$probe"
replaced 'an empty one'
cat "$dir/good" "$dir/good" >"$probe"
replaced 'one too much'
chmod 666 "$probe"
replaced 'one that anybody could write'

# No place to remember it in: the decoys lie beside the store.
: >"$dir/file"
(
	export XDG_STATE_HOME="$dir/file"
	expect 0 "$holdfast" run -q --gate require --store "$dir/far/store" -- true
	silent 'no state directory'
	[ "$(ls -A "$dir/far")" = store ] || fail 'more than the store'
)
# What cannot be read stands in nobody's way; what cannot be written, neither.
rm "$probe"
mkdir "$probe"
expect 0 "$holdfast" run -q --gate require -- true
silent 'a directory in its place'
rmdir "$probe"
nothing_left

# Below another gate there is none: every time, also in the reports.
for i in 1 2; do
	expect 0 "$holdfast" run -q --gate require -- true
	expect 125 "$holdfast" run -q --root "$dir/bare" -- "$holdfast" run \
		--report "$dir/report.json" --junit "$dir/junit.xml" \
		--gate require -- touch "$dir/ran"
	said '^holdfast: cannot run: the gate is required, and the command is below'
	said "^holdfast: hint: 'holdfast doctor' shows what holds here"
	report 'r["status"] == "error"' '"gate is required" in r["error"]'
	grep -q 'gate is required' "$dir/junit.xml" || fail 'not in the JUnit report'
	[ ! -e "$dir/ran" ] || fail 'it ran'
	rm "$probe"
done
nothing_left
# Inside a run of the same root nothing is tried.
expect 0 "$holdfast" run -q -- "$holdfast" run -q --gate require -- true
[ ! -e "$probe" ] || fail 'it was tried inside'

# An interrupt meanwhile ends holdfast, and the command does not begin.
cat >"$dir/interrupt.py" <<'EOF'
import os, signal, subprocess, sys
for moment in (0.02, 0.1, 0.25):
    words = [sys.argv[1], "run", "-q", "--gate", "require", "--", "touch", "../ran"]
    process = subprocess.Popen(words, process_group=0, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    try:
        process.communicate(timeout=moment)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=60)
    if process.returncode not in (0, 125, -signal.SIGINT, 130):
        sys.exit("status %d" % process.returncode)
    if process.returncode != 0 and os.path.exists("../state/holdfast/probe"):
        os.unlink("../state/holdfast/probe")
    if os.path.exists("../ran"):
        os.unlink("../ran")
EOF
python3 "$dir/interrupt.py" "$holdfast" || fail 'interrupted'
nothing_left
