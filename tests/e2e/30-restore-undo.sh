#!/bin/sh
# SPDX-License-Identifier: MIT
# Repair by hand: see what differs, put it back, change one's mind.
. "$(dirname "$0")/lib.sh"

make_project project
remember project
cd project

expect 0 "$holdfast" snapshot
expect 0 "$holdfast" snapshot		# nothing new
expect 0 "$holdfast" verify
expect 0 "$holdfast" status
expect 0 "$holdfast" restore		# nothing to do
unchanged project

# Damage while nobody looks.
damage()
{
	echo 'precious' >personas.toml
	rm presets.toml
	chmod 644 credentials.toml
}
damage
cp -p personas.toml "$dir/damaged"
expect 1 "$holdfast" verify
for file in personas presets credentials; do
	grep -q "$file.toml" "$dir/out" "$dir/err" || fail "verify: no $file.toml"
done
expect 1 "$holdfast" status

# Looking changes nothing.
survey project >"$dir/damaged.survey"
expect 0 "$holdfast" restore --dry-run
grep -q 'presets.toml' "$dir/out" "$dir/err" || fail 'the plan names no file'
survey project | diff "$dir/damaged.survey" - || fail 'a dry run acted'

# One path alone.
expect 0 "$holdfast" restore presets.toml
[ -e presets.toml ] || fail 'presets.toml is still missing'
[ "$(cat personas.toml)" = precious ] || fail 'restored more than was asked for'

# The rest; the last line says how to go back.
expect 0 "$holdfast" restore
unchanged project
undo=$(tail -n 1 "$dir/err" | sed -n 's/.*undo: holdfast undo \([^ ]*\)$/\1/p')
[ -n "$undo" ] || fail 'the last line is not how to undo'
expect 0 "$holdfast" verify

expect 0 "$holdfast" undo "$undo"
cmp personas.toml "$dir/damaged" || fail 'undo did not bring it back'
[ "$(stat -c %a credentials.toml)" = 644 ] || fail 'undo forgot the mode'

# And forward again; without a name it is the last one that is undone.
expect 0 "$holdfast" restore
unchanged project
expect 0 "$holdfast" undo
[ "$(cat personas.toml)" = precious ] || fail 'undo without a name'
expect 0 "$holdfast" restore
unchanged project

# After a guarded run the same holds of what has landed.
expect 97 "$holdfast" run --gate off -- sh -c 'echo worthwhile after all >presets.toml'
unchanged project
said 'holdfast undo'
expect 0 "$holdfast" undo
[ "$(cat presets.toml)" = 'worthwhile after all' ] || fail 'undo of a run'
expect 0 "$holdfast" restore
unchanged project

# The person may go on with a change: it is drift, said once, and recorded.
echo '# changed by hand' >>presets.toml
expect 0 "$holdfast" run -- true
said '^holdfast: note: presets.toml changed since the last run \([0-9]+ s ago\): ' \
	' bytes, 3 -> 4 comment lines; before: holdfast show @\{1\}:presets.toml$'
cp presets.toml "$dir/drifted"
before=$(sed -n 's/.*; before: holdfast //p' "$dir/err")
expect 0 "$holdfast" $before
cmp "$dir/out" "$top/fixtures/sample/presets.toml" || fail 'that was not before'
expect 0 "$holdfast" restore --from '@{1}' presets.toml
unchanged project
cp "$dir/drifted" presets.toml
expect 0 "$holdfast" run -- true
expect 0 "$holdfast" run -- true
silent 'the drift is known'

# From below, the command still means the same file.
mkdir -p sub .git
cp presets.toml sub
echo '# and again' >>presets.toml
(cd sub && expect 0 "$holdfast" run -- true) || exit 1
said "before: holdfast show @\{1\}:$dir/project/presets.toml\$"
before=$(sed -n 's/.*; before: holdfast //p' "$dir/err")
(cd sub && expect 0 "$holdfast" $before) || exit 1
cmp "$dir/out" "$dir/drifted" || fail 'that was not before, from below'
rm -r sub .git

# What a command was allowed to change is no drift, and does not stop a run.
echo '{ "allow": ["tool_presets.toml"], "on-drift": "stop" }' >"$dir/allowing.json"
cp -p tool_presets.toml "$dir"
expect 0 "$holdfast" snapshot --root . --config "$dir/allowing.json"
for i in 1 2; do
	expect 0 "$holdfast" run --root . --config "$dir/allowing.json" -- \
		sh -c 'echo >>tool_presets.toml'
	silent 'an allowed change'
done
mv "$dir/tool_presets.toml" .

# An earlier snapshot by its name, from the log.
expect 0 "$holdfast" log -n 1000
first=$(sed -n 's/.* snapshot \([0-9]*\): 6 entries, .*/\1/p' "$dir/out" | tail -n 1)
[ -n "$first" ] || fail 'the log names no snapshot'
expect 0 "$holdfast" restore --from "$first"
unchanged project

# What cannot be: a name that is not protected, an undo that does not exist.
expect 2 "$holdfast" restore no-such-file.toml
said '^holdfast: '
expect 2 "$holdfast" restore --from no-such-snapshot
expect 2 "$holdfast" undo no-such-undo
unchanged project

# A snapshot by its place or its age.
expect 0 "$holdfast" snapshot
printf 'other = 1\n' >personas.toml
expect 0 "$holdfast" snapshot
expect 0 "$holdfast" verify @
expect 1 "$holdfast" verify '@{1}'
grep -q personas.toml "$dir/out" || fail 'the one before does not differ'
expect 0 "$holdfast" verify 0s
expect 2 "$holdfast" verify 1w
said "there is no snapshot from '1w' or before"
expect 2 "$holdfast" verify '@{9}'
expect 2 "$holdfast" verify '@{nonsense}'
said 'hint: '
expect 0 "$holdfast" restore --from '@{1}'
unchanged project

# Several at once: each waits for the one before it, and none is taken for a run.
seq 4000 >personas.toml
expect 0 "$holdfast" snapshot
cat >"$dir/together.sh" <<'END'
for i in 1 2 3 4 5 6; do
	(for k in 1 2 3 4; do
		"$1" restore -q --from "@{$(((i + k) % 2))}" personas.toml || echo "status $?"
	done) &
done
wait
END
expect 0 sh "$dir/together.sh" "$holdfast"
silent 'one of several at once'
expect 0 "$holdfast" restore --from '@{2}'
unchanged project
