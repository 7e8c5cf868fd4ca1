#!/bin/sh
# SPDX-License-Identifier: MIT
# All processes of holdfast die in the middle of damage.  Whichever command comes next
# puts back what is certain, and asks about the rest.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/until.sh"

make_project project
cd project
expect 0 "$holdfast" run -- true
remember project
store=$("$holdfast" store path)

# die SCRIPT: of a run whose command does that.  Stopped first, so that none can act on
# the death of another.
die()
{
	expect 137 setsid "$holdfast" run --gate off -- sh -c '
		guard=$PPID
		echo $guard >$0/guard
		front=$(sed "s/.*) . \([0-9]*\).*/\1/" /proc/$guard/stat)
		kill -STOP $front $guard
		'"$1"'
		read -r children </proc/$front/task/$front/children
		kill -STOP $children
		kill -KILL $children $guard $front $$' "$dir"
	has_gone
}

# Guard holds its locks until it is gone, and front may have been faster.
has_gone()
{
	until_true '! grep -qs "^State:.*[^Z] (" "/proc/$(cat "$dir/guard")/status"'
}

# long_ago: nobody knows who has changed what since.
long_ago() { touch -d '2001-01-01' "$store"/sessions/*.open; }

kept() { cat "$store"/kept/"$1"/"$2"; }

# -- what is certain: by each of the commands

damage='echo damage >personas.toml; rm presets.toml; chmod 600 tool_presets.toml; echo >new.toml'
for command in 'run -- true' status verify restore snapshot recover; do
	die "$damage"
	[ "$(cat personas.toml)" = damage ] || fail 'a process of holdfast lived on'
	# shellcheck disable=SC2086	# words are wanted
	expect 0 "$holdfast" $command
	unchanged project
	said 'put back .*(new|personas).toml' 'undo: holdfast undo'
	[ "$(kept "$(ls "$store/kept" | tail -n 1)" personas.toml)" = damage ] ||
		fail "$command: what was put back is not kept"
	expect 0 "$holdfast" run -- true
	silent "a run after $command"
done
# The library, which says nothing.
for what in snapshot restore; do
	die "$damage"
	expect 0 "$support/recorder" $what
	unchanged project
	expect 0 "$holdfast" run -- true
	silent "a run after the library's $what"
done
[ "$(find "$store/snapshots" -type f | wc -l)" = 1 ] || fail "damage was recorded"
expect 0 "$holdfast" undo
[ "$(cat personas.toml)" = damage ] || fail 'not undone'
expect 0 "$holdfast" undo "$("$holdfast" log | sed -n 's/.*undo \([0-9]*\):.*/\1/p' | head -n 1)"
unchanged project

# -- what lived on is ended before

die 'setsid sleep 1000 & echo $! >$0/pid; echo damage >personas.toml'
expect 0 "$holdfast" run -- true
said 'of its processes w[a-z]* still there'
# Whoever reaps it may take a while.
state=$(sed 's/.*) \(.\).*/\1/' "/proc/$(cat "$dir/pid")/stat" 2>/dev/null)
[ -z "${state#Z}" ] || fail "a process of the dead session lives: $state"
unchanged project

# -- what nobody knows: asked, and nothing is recorded

die 'echo damage >personas.toml'
long_ago
echo mine >credentials.toml
rm presets.toml
for command in 'run -- touch started' snapshot; do
	# shellcheck disable=SC2086	# words are wanted
	expect 98 "$holdfast" $command
	said "session [0-9]* did not end, and nobody knows who changed 'credentials.toml' and" \
		'^holdfast: hint: .*recover --put-back PATH.*recover --keep-mine PATH'
done
[ ! -e started ] || fail 'the command ran'
expect 1 "$support/recorder" snapshot
# Missing is certain, whenever that was.
[ -e presets.toml ] || fail 'not put back'
expect 1 "$holdfast" status
grep -q '^undecided credentials.toml' "$dir/out" || fail 'status: credentials.toml'
grep -q '^  now .* 5 bytes' "$dir/out" || fail 'status: what is now'
grep -q '^next .*holdfast recover' "$dir/out" || fail 'status: what next'
expect 98 "$holdfast" recover
expect 98 "$holdfast" recover --json
python3 - "$dir/out" <<'END' || fail 'the JSON'
import json
import sys
told = json.load(open(sys.argv[1], encoding="utf-8"))
[session] = told["sessions"]
assert not session["settled"]
assert {e["path"]: e["decision"] for e in session["entries"]} == \
    {"credentials.toml": "undecided", "personas.toml": "undecided"}, session
assert all(e["left"] is None and e["now"]["size"] for e in session["entries"])
END

# Nothing at all is done when a word is wrong, or nobody is there to ask.
expect 2 "$holdfast" recover --put-back
expect 2 "$holdfast" recover --keep-mine
expect 2 "$holdfast" recover credentials.toml
expect 2 "$holdfast" recover --put-back personas.toml none.toml
expect 2 "$holdfast" recover --put-back presets.toml --keep-mine credentials.toml
[ "$(cat personas.toml credentials.toml)" = "$(printf 'damage\nmine')" ] || fail 'touched'

# One by one; what is decided is remembered, and another change of it is asked again.
expect 98 "$holdfast" recover --keep-mine credentials.toml
said 'kept 1 entry as it is'
expect 98 "$holdfast" run -- true
said "who changed 'personas.toml'$"
echo another >credentials.toml
expect 98 "$holdfast" run -- true
said "who changed 'credentials.toml' and 1 more"
echo mine >credentials.toml
expect 0 "$holdfast" recover --put-back personas.toml
said '^holdfast: session [0-9]*, which did not end, is settled' 'undo: holdfast undo'
[ "$(cat credentials.toml)" = mine ] || fail 'not kept'
expect 0 "$holdfast" run -- true
said 'credentials.toml changed since the last run'
expect 0 "$holdfast" recover
said 'nothing to recover'

# By hand all is put back that is asked for, certain or not.
expect 0 "$holdfast" restore --from 1
remember project
die 'echo damage >personas.toml'
long_ago
expect 0 "$holdfast" restore
unchanged project
expect 0 "$holdfast" recover
said 'nothing to recover'

# A directory that the run made stays when something in it is kept.
mkdir conf
echo kept >conf/a.toml
expect 0 "$holdfast" run --protect 'conf/**' -- true
expect 137 setsid "$holdfast" run --protect 'conf/**' --gate off -- sh -c '
	guard=$PPID
	echo $guard >$0/guard
	front=$(sed "s/.*) . \([0-9]*\).*/\1/" /proc/$guard/stat)
	kill -STOP $front $guard
	mkdir conf/new
	echo mine >conf/new/x.toml
	echo damage >conf/a.toml
	read -r children </proc/$front/task/$front/children
	kill -STOP $children
	kill -KILL $children $guard $front $$' "$dir"
has_gone
expect 0 "$holdfast" recover --protect 'conf/**' --keep-mine conf/new/x.toml
[ "$(cat conf/new/x.toml conf/a.toml)" = "$(printf 'mine\nkept')" ] ||
	fail 'what was kept went with its directory'
