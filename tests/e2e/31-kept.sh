#!/bin/sh
# SPDX-License-Identifier: MIT
# What was replaced: listed, printed, brought back, by its path and by its name.
. "$(dirname "$0")/lib.sh"

make_project project
cd project
mkdir sub
echo 'deep = 1' >sub/deep.toml
ln -s presets.toml link.toml
cat >holdfast.json <<'END'
{ "protect": ["*.toml", "sub/"] }
END
remember project

expect 0 "$holdfast" snapshot
expect 0 "$holdfast" kept
[ ! -s "$dir/out" ] || fail 'copies of nothing'
said 'there are no kept copies'
expect 0 "$holdfast" kept --json
grep -q '"sessions": \[\], "bytes": 0}' "$dir/out" || fail 'JSON of nothing'

# Session 1 moves an addition away and replaces three entries.
echo 'precious' >personas.toml
printf 'two\nlines \033[31m\0\n' >sub/deep.toml
cp sub/deep.toml "$dir/deep"
ln -sf elsewhere link.toml
echo 'new' >added.toml
chmod 644 credentials.toml
remember project
cp "$dir/project.before" "$dir/damaged.before"
expect 0 "$holdfast" restore --remove-additions

expect 0 "$holdfast" kept
grep -q '^restore 1, [0-9]* s ago: done$' "$dir/out" || fail 'no session'
grep -q '^     9 bytes  personas.toml$' "$dir/out" || fail 'no copy'
grep -q '^     9 bytes  link.toml (a link)$' "$dir/out" || fail 'no link'
grep -q '^     4 bytes  added.toml (moved away)$' "$dir/out" || fail 'no addition'
grep -q '^    17 bytes  sub/deep.toml$' "$dir/out" || fail 'nothing below'
tail -n 1 "$dir/out" | grep -q '^4 copies, 39 bytes; bring back: ' || fail 'no sum'
! grep -q credentials.toml "$dir/out" || fail 'a mode has no copy'

# Bytes, whatever they are.
expect 0 "$holdfast" kept show 1:sub/deep.toml
cmp "$dir/out" "$dir/deep" || fail 'other bytes'
[ ! -s "$dir/err" ] || fail 'show said more'
(cd sub && expect 0 "$holdfast" kept show 1:deep.toml) || exit 1
cmp "$dir/out" "$dir/deep" || fail 'from below: other bytes'
(cd / && expect 0 "$holdfast" kept show --root "$dir/project" 000001-:personas.toml) || exit 1
[ "$(cat "$dir/out")" = precious ] || fail 'from elsewhere'
expect 0 "$holdfast" kept show 1:link.toml
[ "$(cat "$dir/out")" = elsewhere ] || fail 'the text of a link'
expect 0 "$holdfast" kept show --json 1:sub/deep.toml
grep -q '"path": "sub/deep.toml", .*"bytes": 17, "recorded": true' "$dir/out" || fail JSON
! grep -q lines "$dir/out" || fail 'JSON prints the content'

# One comes back; what was there is kept, and the rest can still be undone.
cp -p personas.toml "$dir"
expect 0 "$holdfast" kept restore --dry-run 1 personas.toml
said 'would put back personas.toml'
cmp personas.toml "$dir/personas.toml" || fail 'a dry run acted'
expect 0 "$holdfast" kept restore 1 personas.toml sub
[ "$(cat personas.toml)" = precious ] || fail 'personas.toml did not come back'
cmp sub/deep.toml "$dir/deep" || fail 'what lies beneath a name did not come back'
[ ! -e added.toml ] || fail 'brought back more than was named'
tail -n 1 "$dir/err" | grep -q '^holdfast: undo: holdfast undo 2$' || fail 'the last line'
expect 0 "$holdfast" kept restore 1 personas.toml
said 'undone already'
expect 0 "$holdfast" log
grep -q 'restore 2: done: kept restore 1 personas.toml sub ' "$dir/out" || fail 'log'
expect 0 "$holdfast" undo
[ "$(cat "$dir/personas.toml")" = "$(cat personas.toml)" ] || fail 'not undone'

# All of a session: that is to undo it.
expect 0 "$holdfast" kept restore 1
survey project | diff "$dir/damaged.before" - || fail 'not all came back'
tail -n 1 "$dir/err" | grep -q '^holdfast: undo: holdfast undo 4$' || fail 'the last line'
expect 0 "$holdfast" log
grep -q 'undo 4: done with session 1 ' "$dir/out" || fail 'it is an undo'
expect 0 "$holdfast" kept restore 1
said 'session .* is undone already'

# Two versions of one path in one session: each by its name, the last by its path.
cat >"$dir/twice.sh" <<'END'
kept=$HOLDFAST_STORE/kept/$HOLDFAST_SESSION/presets.toml
was=$(wc -c <presets.toml)
write()
{
	echo "$1" >presets.toml
	until [ -e "$2" ] && [ "$(wc -c <presets.toml)" = "$was" ]; do sleep 0.01; done
}
write one "$kept"
write two "$kept~2"
"$HOLDFAST" kept --root . >../listed
END
expect 0 "$holdfast" restore --remove-additions
expect 97 env HOLDFAST="$holdfast" "$holdfast" run --gate off --keep-going -- sh "$dir/twice.sh"
grep -q '^run 6, .*: in progress.*twice.sh$' "$dir/listed" || fail 'a run in progress'
run=$(sed -n 's/.*undo: holdfast undo \([0-9]*\).*/\1/p' "$dir/err" | tail -n 1)
expect 0 "$holdfast" kept
grep -q '^run '"$run"', .*: violated' "$dir/out" || fail 'no run'
grep -q 'presets.toml~2 of presets.toml$' "$dir/out" || fail 'no second version'
expect 0 "$holdfast" kept show "$run:presets.toml"
[ "$(cat "$dir/out")" = one ] || fail 'the first version'
expect 0 "$holdfast" kept restore "$run" presets.toml~2
[ "$(cat presets.toml)" = two ] || fail 'the second version'
expect 0 "$holdfast" kept restore "$run" presets.toml
[ "$(cat presets.toml)" = one ] || fail 'the first version again'

# What cannot be.
store=$("$holdfast" store path)
expect 2 "$holdfast" kept shw 1
expect 2 "$holdfast" kept show
expect 2 "$holdfast" kept show personas.toml
expect 2 "$holdfast" kept show 1:
expect 2 "$holdfast" kept show 99:personas.toml
expect 2 "$holdfast" kept show 1:../../../store.json
expect 2 "$holdfast" kept show "1:$store/store.json"
expect 2 "$holdfast" kept show 1:credentials.toml
expect 2 "$holdfast" kept restore
expect 2 "$holdfast" kept restore 1 no-such.toml
said "session 1 has kept no such copy"
expect 2 "$holdfast" kept restore 99
expect 3 "$holdfast" kept --store "$dir/nowhere"

# A copy that no journal tells of is listed and printed; a changed one is said.
folder=$(echo "$store"/kept/000001-*)
echo stray >"$folder/stray"
echo nobody >"$store/kept/stray"
expect 0 "$holdfast" kept
grep -q ' stray (not in the journal)$' "$dir/out" || fail 'no stray copy'
expect 0 "$holdfast" kept show 1:stray
[ "$(cat "$dir/out")" = stray ] || fail 'the stray copy'
expect 2 "$holdfast" kept restore 1 stray
said 'nothing tells where it was'
echo forged >"$folder/personas.toml"
expect 3 "$holdfast" kept show 1:personas.toml
[ "$(cat "$dir/out")" = forged ] || fail 'what there is was not printed'
said "is not what was recorded"
cp presets.toml "$dir"
expect 98 "$holdfast" kept restore 1 personas.toml
cmp "$dir/personas.toml" personas.toml || fail 'a forged copy came back'
ln -s /etc/passwd "$folder/planted"
expect 2 "$holdfast" kept show 1:planted
rm "$store"/sessions/000001-*
expect 0 "$holdfast" kept
grep -q '^session 1, whose journal is lost or damaged$' "$dir/out" || fail 'no journal'
expect 2 "$holdfast" kept restore 1 sub/deep.toml
said "its journal is lost" "hint: 'holdfast kept show SESSION:PATH' prints"
expect 0 "$holdfast" kept show 1:sub/deep.toml
cmp "$dir/out" "$dir/deep" || fail 'without a journal: other bytes'

# However deep it lies.
make_project ../deep-project
cd ../deep-project
deep=data$(printf '/d%.0s' $(seq 300))
mkdir -p "$deep"
echo one >"$deep/file"
expect 0 "$holdfast" snapshot --protect data/
echo two >"$deep/file"
expect 0 "$holdfast" restore --protect data/
expect 0 "$holdfast" kept
grep -q "^     4 bytes  $deep/file\$" "$dir/out" || fail 'no deep copy'
expect 0 "$holdfast" kept show "1:$deep/file"
[ "$(cat "$dir/out")" = two ] || fail 'the deep copy'
expect 0 "$holdfast" kept restore 1 "$deep"
[ "$(cat "$deep/file")" = two ] || fail 'it did not come back'
