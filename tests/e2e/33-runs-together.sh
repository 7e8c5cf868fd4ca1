#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs beside and inside each other; a run whose processes all died.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/until.sh"

make_project project
remember project
cd project

expect 0 "$holdfast" run --gate "$gate" -- true

# A run inside a run is passed through: the run around it judges.
sessions=$(find "$XDG_STATE_HOME" -path '*/sessions/*' | wc -l)
expect 7 "$holdfast" run --gate "$gate" -- "$holdfast" run -- sh -c 'exit 7'
# What is refused ends nothing.
if gated; then then=true; else then='sleep 50'; fi
expect 97 "$holdfast" run --gate "$gate" -- "$holdfast" run -- \
	sh -c "echo x >personas.toml; $then"
[ "$(find "$XDG_STATE_HOME" -path '*/sessions/*' | wc -l)" = $((sessions + 2)) ] ||
	fail 'a run inside a run has a session of its own'
# What was said to it is not used, and it says so.
expect 7 "$holdfast" run --gate "$gate" -- \
	"$holdfast" run --protect 'x*' --min-protected 99 --report "$dir/inner.json" \
	--keep-going --root . -- sh -c 'exit 7'
said '^holdfast: note: .*: --protect, --keep-going, --min-protected, --report$'
[ ! -e "$dir/inner.json" ] || fail 'a run inside a run reports'
expect 0 "$holdfast" run --gate "$gate" -- "$holdfast" run --quiet --protect 'x*' -- true
silent 'a quiet run inside a run'
expect 0 "$holdfast" run --gate "$gate" -- "$holdfast" run --root . --color never -- true
silent 'nothing was unused'
unchanged project

# Two at once on one root: each has its own session and status.
. "$top/tests/e2e/until.sh"
"$holdfast" run --gate "$gate" -- sh -c ". '$top/tests/e2e/until.sh'; : >'$dir/first'
	until_true \"[ -e '$dir/second' ]\"; exit 3" 2>"$dir/first.err" &
first=$!
until_true "[ -e '$dir/first' ]"
expect 4 "$holdfast" run --gate "$gate" -- sh -c ": >'$dir/second'; exit 4"
status=0
wait $first || status=$?
[ $status = 3 ] || fail "the first of two ended with $status"
unchanged project

# Who waits for another says so, and goes on by itself.
store=$("$holdfast" store path)
sh -c 'exec 9<"$1/lock"; flock 9; : >"$2/locked"
	until [ -e "$2/release" ]; do sleep 0.02; done' sh "$store" "$dir" &
other=$!
until_true '[ -e "$dir/locked" ]'
"$holdfast" run --gate "$gate" -- true 2>"$dir/waiting" &
waiting=$!
until_true 'grep -q "^holdfast: waiting: another holdfast is at work" "$dir/waiting"'
: >"$dir/release"
wait $waiting || fail 'the one that waited'
wait $other

# All of its processes die at once: the next run does not take the damage for what
# is right, and says what to do.
die()
{
	expect 137 setsid "$holdfast" run --gate "$gate" -- sh -c '
		guard=$PPID
		echo $guard >$0/guard
		front=$(sed "s/.*) . \([0-9]*\).*/\1/" /proc/$guard/stat)
		echo damage >personas.toml
		'"${1:-}"'
		# Stopped first, so that none can act on the death of another, and
		# none is missing in a list of children that change.
		kill -STOP $front $guard
		read -r children </proc/$front/task/$front/children
		kill -STOP $children
		kill -KILL $children $guard $front $$' "$dir"
	# Guard holds its locks until it is gone, and front may have been faster.
	until_true '! grep -qs "^State:.*[^Z] (" "/proc/$(cat "$dir/guard")/status"'
}

# With the gate there is none, and what lives on has nobody who would let it pass.
if gated; then
	cat >"$dir/survivor.sh" <<'END'
exec 9>>"$0.tried"
while kill -0 "$1" 2>/dev/null; do sleep 0.02; done
echo late >>personas.toml
echo late >late.toml
mv presets.toml elsewhere
rm credentials.toml
echo tried >&9
END
	die 'setsid sh "$0/survivor.sh" $guard &
		until [ -e "$0/survivor.sh.tried" ]; do sleep 0.01; done'
	until_true '[ -s "$dir/survivor.sh.tried" ]'
	unchanged project
	expect 0 "$holdfast" run --gate require -- true
	expect 0 "$holdfast" log
	grep -q 'did not end, settled later: sh' "$dir/out" || fail 'the log'
	exit 0
fi
die
[ "$(cat personas.toml)" = damage ] || fail 'a process of holdfast lived on'
# What a restore had under a temporary name is swept, but not lost.
echo half >.holdfast-0123456789abcdef
mkdir .holdfast-0123456789abcde0
expect 0 "$holdfast" restore
said "^holdfast: note: session .* did not end: put back 'personas.toml'; undo: holdfast undo"
unchanged project
swept=$(find "$dir/state" -path '*/kept/*' -name .holdfast-0123456789abcdef)
[ "$(cat "$swept")" = half ] || fail 'what stood under a temporary name is lost'
expect 0 "$holdfast" run -- true
die
echo half >.holdfast-0123456789abcdef
packs=$(find "$dir/state" -name packs)
echo half >"$packs/.holdfast-0123456789abcdef"
expect 0 "$holdfast" snapshot
said "did not end: put back 'personas.toml'"
[ ! -e .holdfast-0123456789abcdef ] || fail 'a temporary name was left'
unchanged project
die
expect 0 "$holdfast" recover --keep-mine personas.toml
[ "$(cat personas.toml)" = damage ] || fail 'what was accepted is gone'
expect 0 "$holdfast" run -- true
[ ! -e "$packs/.holdfast-0123456789abcdef" ] || fail 'a part of a pack was left'
[ "$(cat personas.toml)" = damage ] || fail 'what was accepted is gone'
