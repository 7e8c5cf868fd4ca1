#!/bin/sh
# SPDX-License-Identifier: MIT
# prune drops by hand what the policy does not keep, says what and why, and why the
# rest stays.
. "$(dirname "$0")/lib.sh"
ask=$(cd "$(dirname "$0")" && pwd)/ask.py

make_project project
cd project
policy() { echo "{\"protect\": [\"*.toml\"], \"retention\": $1}" >holdfast.json; }
names() { ls "$dir"/state/holdfast/project-*/"$1" | wc -l; }
json() { python3 -c "
import json, sys
r = json.load(open('$dir/out'))
assert r['holdfast-json'] == 1 and r['command'] == 'prune', r
drops = [d['name'] for d in r['drops']]
keeps = r['keeps']
$1" || fail "JSON: $1"; }

expect 3 "$holdfast" prune
said 'nothing is recorded yet'
policy '{"contents": 20, "days": 90}'
for count in 1 2 3 4 5 6; do
	echo "count = $count" >config.toml
	expect 0 "$holdfast" snapshot
done
expect 97 "$holdfast" run --gate off -- sh -c 'echo damage >config.toml'
expect 0 "$holdfast" prune
grep -q '^nothing to drop; ' "$dir/out" || fail 'drops what is young'

# Stricter now: what would go, what stays and why, and nothing is done.
policy '{"contents": 2, "days": 0}'
expect 0 "$holdfast" snapshot
before=$(names snapshots)
expect 0 "$holdfast" prune --dry-run
grep -q '^drop snapshots/000001-.*: older than what is kept$' "$dir/out" ||
	fail 'does not say what goes'
grep -q '^keep 1 snapshot, .*: the newest snapshot$' "$dir/out" ||
	fail 'does not say that the newest stays'
grep -q '^keep .* snapshot.*one of the newest 2 contents of config.toml' \
	"$dir/out" || fail 'does not say why contents stay'
grep -q '^keep 1 set of kept copies, .*: the last that were kept$' "$dir/out" ||
	fail 'does not say why copies stay'
grep -q '^would drop 4 snapshots, .* would stay$' "$dir/out" || fail 'no total'
[ "$(names snapshots)" -eq "$before" ] || fail 'a dry run drops'
expect 0 "$holdfast" prune --dry-run --verbose
grep -q '^keep snapshots/00000[0-9]-.* of config.toml$' "$dir/out" ||
	fail 'verbose does not name them'
expect 0 "$holdfast" prune --dry-run --json
json 'assert not r["done"] and len([d for d in drops if "snapshots/" in d]) == 4
assert all(k["why"] for k in keeps), keeps
assert [k for k in keeps if k["of"] == "config.toml"]
assert r["bytes_after"] < r["bytes_before"]'

# On a terminal it asks, and anything but a yes leaves all.
expect 0 python3 "$ask" n "$holdfast" prune
grep -q 'drop all of this for good' "$dir/out" || fail 'does not ask'
[ "$(names snapshots)" -eq "$before" ] || fail 'takes no for an answer'

# Without one it does what the policy says, and says it.
expect 0 "$holdfast" prune
grep -q '^dropped 4 snapshots, .* stay$' "$dir/out" || fail 'does not say it'
[ "$(names snapshots)" -eq $((before - 4)) ] || fail 'has not dropped'
expect 0 "$holdfast" log
grep -q ' retention [0-9]*: dropped 4 snapshots' "$dir/out" || fail 'no log'
expect 0 "$holdfast" verify --store
expect 0 "$holdfast" undo
grep -qx damage config.toml || fail 'the copy is lost'
expect 0 "$holdfast" prune --quiet
silent quiet

# By size, with a yes on the terminal; what must stay is said to be too much.
policy '{"contents": 20, "days": 90, "size": "2K"}'
expect 0 "$holdfast" snapshot
expect 0 python3 "$ask" y "$holdfast" prune
grep -q 'and all of it must stay' "$dir/out" || fail 'does not say too large'
expect 0 "$holdfast" verify --store

# Not beside a run, and nothing by a path.
expect 2 "$holdfast" prune config.toml
said "cannot prune 'config.toml'" 'holdfast purge PATH'
cat >"$dir/inside.sh" <<END
"$holdfast" prune 2>"$dir/inside"; echo \$? >>"$dir/inside"
END
expect 0 "$holdfast" run --gate off -- sh "$dir/inside.sh"
grep -q 'cannot prune: a run is in progress' "$dir/inside" || fail 'beside a run'
grep -qx 3 "$dir/inside" || fail 'status beside a run'
