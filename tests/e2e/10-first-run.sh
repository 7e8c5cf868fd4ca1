#!/bin/sh
# SPDX-License-Identifier: MIT
# A new user's first minutes: what is said, what is kept where, and that the
# command behaves as if holdfast were not there.
. "$(dirname "$0")/lib.sh"

make_project project
cd project
remember project

# The first run introduces itself, in three lines; standard output is not ours.
expect 0 "$holdfast" run --report "$dir/report.json" -- true
[ ! -s "$dir/out" ] || fail 'wrote on standard output'
[ "$(wc -l <"$dir/err")" = 3 ] || fail 'wanted three lines'
said '6 ' "$XDG_STATE_HOME/holdfast/project-" 'undo'
unchanged project
report 'r["status"] == "clean"' 'r["protected"] == 6' 'r["violations"] == []' \
	'r["exit"] == {"command": {"code": 0, "signal": None}, "holdfast": 0}' \
	"r['root'] == '$dir/project'" 'r["command"] == ["true"]' \
	'r["layers"]["watch"]["state"] == "complete"' \
	'r["layers"]["final_look"] == "content"'

# What is kept is private, and an archive that tar reads.
store=$(echo "$XDG_STATE_HOME"/holdfast/project-*)
[ -d "$store" ] || fail "no store: $store"
[ "$(stat -c %a "$store")" = 700 ] || fail 'the store is not private'
open=$(find "$store" -type f -perm /077)
[ -z "$open" ] || fail "readable by others: $open"
packs=$(find "$store" -name '*.tar.zst')
[ -n "$packs" ] || fail 'no pack'
mkdir "$dir/extracted"
for pack in $packs; do
	tar --zstd -xf "$pack" -C "$dir/extracted" || fail "tar cannot read $pack"
done
for file in *.toml; do
	found=$(find "$dir/extracted" -name "$file")
	cmp "$file" "$found" || fail "$file is not in the pack"
done

# An unchanged tree writes no pack and no manifest.
count() { find "$store" -path '*/sessions/*' -prune -o -type f -print | wc -l; }
before=$(count)
expect 0 "$holdfast" run -- true
silent 'a clean run'
[ "$(count)" = "$before" ] || fail 'an unchanged tree wrote to the store'

# The command's own results are its own.
expect 3 "$holdfast" run -- sh -c 'echo to-out; echo to-err >&2; exit 3'
[ "$(cat "$dir/out")" = to-out ] || fail 'standard output is not as it was'
[ "$(cat "$dir/err")" = to-err ] || fail 'standard error is not as it was'
expect 143 "$holdfast" run -- sh -c 'kill -TERM $$'
expect 137 "$holdfast" run -- sh -c 'kill -KILL $$'
echo input | "$holdfast" run -- cat >"$dir/out"
[ "$(cat "$dir/out")" = input ] || fail 'standard input did not arrive'
expect 0 "$holdfast" run -- sh -c '[ -n "$HOLDFAST_SESSION" ] && pwd'
[ "$(cat "$dir/out")" = "$dir/project" ] || fail 'another working directory'
expect 127 "$holdfast" run -- "$dir/no-such-command"
said '^holdfast: cannot '
: >"$dir/not-executable"
expect 126 "$holdfast" run -- "$dir/not-executable"
said '^holdfast: cannot '
expect 5 "$holdfast" run sh -c 'exit 5'		# -- may be left out
expect 0 "$holdfast" run -- echo --root		# options end at the command
[ "$(cat "$dir/out")" = --root ] || fail 'took an option of the command'
unchanged project

# In a repository every shell finds the same store, from any directory of it.
git init -q "$dir/repository"
cd "$dir/repository"
cp "$dir/project/presets.toml" .
mkdir -p deep/er
cd deep/er
expect 0 "$holdfast" run -- true
said "$XDG_STATE_HOME/holdfast/repository-"
cd ../..
expect 0 "$holdfast" run -- true
silent 'the same store from the top'

# Nobody needs to know more than this.
expect 0 "$holdfast" --version
grep -q '^holdfast [0-9]*\.[0-9]*\.[0-9]*$' "$dir/out" || fail 'no version'
expect 0 "$holdfast" help
grep -q '^ *run ' "$dir/out" || fail 'help does not name run'
for command in run snapshot status verify log restore undo; do
	expect 0 "$holdfast" help $command
	[ -s "$dir/out" ] || fail "no help for $command"
done
