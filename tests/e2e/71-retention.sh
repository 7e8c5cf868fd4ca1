#!/bin/sh
# SPDX-License-Identifier: MIT
# The store does not grow for ever: runs with contents that change, then runs that
# damage, under a policy that keeps little.  What is kept can be restored.
. "$(dirname "$0")/lib.sh"

make_project project
cd project
noise() { head -c 20000 /dev/urandom | base64 >"$1"; }
store_of() { echo "$dir"/state/holdfast/project-*; }
names() { ls "$(store_of)/$1" | wc -l; }
policy() { echo "{\"protect\": [\"*.toml\"], \"retention\": $1}" >holdfast.json; }

# By contents: nothing is young.  Each eighth snapshot is looked at.
policy '{"contents": 3, "days": 0}'
count=0
while [ "$count" -lt 40 ]; do
	count=$((count + 1))
	echo "count = $count" >config.toml
	expect 0 "$holdfast" run --gate off -- true
	[ "$count" -gt 1 ] && [ "$(wc -l <"$dir/err")" -ne 1 ] &&
		fail "run $count speaks of more than the change"
	[ "$(names snapshots)" -le 11 ] || fail "$(names snapshots) snapshots"
	[ "$(names packs)" -le 26 ] || fail "$(names packs) files of packs"
done
[ "$(names snapshots)" -eq 3 ] || fail "$(names snapshots) snapshots after 40"
expect 0 "$holdfast" log
grep -q ' retention [0-9]*: dropped 8 snapshots, 8 packs, ' "$dir/out" ||
	fail 'the log does not tell'
expect 0 "$holdfast" log --json
python3 -c '
import json, sys
log = json.load(open(sys.argv[1]))["entries"]
told = [e for e in log if e.get("kind") == "retention"]
assert told and all(e["outcome"] == "done" for e in told), told
' "$dir/out" || fail 'JSON of the log'
# What a person asks for is the last thing that a person did.
expect 0 "$holdfast" status
grep -q '^last      run ' "$dir/out" || fail 'status tells of retention'
grep -q '^lost' "$dir/out" && fail 'something is missing'
expect 0 "$holdfast" restore --from 38 config.toml
grep -qx 'count = 38' config.toml || fail 'the third newest is lost'
expect 0 "$holdfast" undo
grep -qx 'count = 40' config.toml || fail 'undo'
expect 2 "$holdfast" restore --from 37 config.toml
grep -rqs 'count = 37' "$(store_of)" && fail 'it is still there'

# Who only looks does not wait, and yet is never told of what is being dropped.
touch "$dir/busy"
(
	for count in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24; do
		echo "again = $count" >config.toml
		"$holdfast" snapshot --quiet || echo "failed $count"
	done >"$dir/snapshots" 2>&1
	rm "$dir/busy"
) &
looks=0
while [ -e "$dir/busy" ]; do
	looks=$((looks + 1))
	status=0
	"$holdfast" status >"$dir/out" 2>"$dir/err" || status=$?
	[ "$status" -le 1 ] && [ ! -s "$dir/err" ] || fail "status says $status"
	grep -q '^lost' "$dir/out" && fail 'what was dropped is called lost'
done
wait
[ ! -s "$dir/snapshots" ] || fail "$(cat "$dir/snapshots")"
echo "$story: looked $looks times" >&2
[ "$looks" -ge 5 ] || fail "looked only $looks times"

# By size: all is young, and yet there is no room for it.
policy '{"contents": 20, "days": 90, "size": "200K"}'
count=0
while [ "$count" -lt 20 ]; do
	count=$((count + 1))
	noise config.toml
	cp config.toml "$dir/before"
	expect 0 "$holdfast" run --gate off -- true
	size=$(du -sb --apparent-size "$(store_of)" | cut -f1)
	[ "$size" -le 300000 ] || fail "the store has $size bytes"
done
# Copies of what a run damaged go before what was recorded.
snapshots=$(names snapshots)
count=0
while [ "$count" -lt 20 ]; do
	count=$((count + 1))
	noise "$dir/damage"
	expect 97 "$holdfast" run --gate off -- cp "$dir/damage" config.toml
	cmp config.toml "$dir/before" || fail 'not put back'
	size=$(du -sb --apparent-size "$(store_of)" | cut -f1)
	[ "$size" -le 300000 ] || fail "the store has $size bytes with copies"
done
# The last copy, which stays, has taken the room of one of them, or two.
[ "$(names snapshots)" -ge $((snapshots - 2)) ] ||
	fail "$((snapshots - $(names snapshots))) contents went before copies"
[ "$(names kept)" -ge 1 ] || fail 'nothing is kept'
# The last one is there in any case.
expect 0 "$holdfast" undo
cmp config.toml "$dir/damage" || fail 'the last copy'
