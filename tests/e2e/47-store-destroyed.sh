#!/bin/sh
# SPDX-License-Identifier: MIT
# The command removes or rewrites parts of the store.  With the gate it cannot;
# without, a clean end is none then, and what can be put back still is.
. "$(dirname "$0")/lib.sh"

make_project project
remember project
cd project
store=$dir/store

# defended SCRIPT: with $0 the store, of which nothing goes.
defended()
{
	rm -rf "$store" "$dir/moved"
	expect 97 "$holdfast" run --gate require --store "$store" \
		--report "$dir/report.json" -- sh -c "$1" "$store"
	said "^holdfast: '?$store.*: refused" 'exit 97'
	report 'r["violations"]' 'not any(x["landed"] for x in r["violations"])' \
		"{x['path'] for x in r['violations']} == {'$store'}" 'r["verified"] == 6'
	unchanged project
	expect 0 "$holdfast" restore --store "$store"
	rm presets.toml
	expect 0 "$holdfast" restore --store "$store"
	unchanged project
}

# destroyed REGEX SCRIPT: the tree stays right.
destroyed()
{
	defended "$2"
	rm -rf "$store" "$dir/moved"
	expect 98 "$holdfast" run --gate off --store "$store" -- sh -c "$2" "$store"
	said "^holdfast: the store '$store' was damaged while the command ran: $1" \
		'^holdfast: hint: ' 'exit 98'
	unchanged project
}

destroyed 'it is not there' 'rm -rf "$0"'
destroyed 'it is not there' 'mv "$0" "$0/../moved"'
destroyed 'it is not there' 'mv "$0" "$0/../moved"; cp -a "$0/../moved" "$0"'
destroyed 'the journal' 'rm "$0"/sessions/*'
destroyed 'the journal' 'rm -rf "$0/sessions"'
destroyed 'the journal' ': >"$(echo "$0"/sessions/*)"'
destroyed 'snapshot 000001-' 'rm "$0"/snapshots/*'
destroyed 'snapshot 000001-' 'truncate -s 100 "$0"/snapshots/*'
destroyed 'pack 000001' 'rm -rf "$0/packs"'
destroyed 'the kept copies' 'rmdir "$0/kept"'
destroyed 'pack 000001' 'echo x >>"$0/packs/000001.tar.zst"'

defended 'rm "$0"/store.json; rm "$0"/lock'
defended 'echo >>"$0/store.json"; chmod 644 "$0/lock"; mv "$0/kept" "$0/other"'

# Written again as it was, or copied by a backup: no harm.  Behind the gate a second
# name is refused: it would outlive the guard.
rm -rf "$store"
expect 0 "$holdfast" run --gate off --store "$store" -- sh -c \
	'for f in "$0"/snapshots/*; do cp -p "$f" x && mv x "$f" || exit 1; done
	cp -al "$0" "$0/../linked"' "$store"
rm -rf "$dir/linked"
expect 0 "$holdfast" run --gate require --store "$store" -- \
	cp -a "$store" "$dir/linked"
rm -rf "$dir/linked"
expect 97 "$holdfast" run --gate require --store "$store" -- \
	cp -al "$store" "$dir/linked"

# Too much for memory and written over: what is not needed from the store is put back,
# what is lost is named.
rm -rf "$store"
head -c 17000000 /dev/urandom >large.toml
expect 98 "$holdfast" run --gate off --keep-going --store "$store" -- sh -c \
	'for p in "$0"/packs/*.zst; do : >"$p"; done
	chmod 604 personas.toml; echo >presets.toml' "$store"
said "^holdfast: the store '$store' was damaged" 'presets.toml.*damaged'
[ "$(stat -c %a personas.toml)" != 604 ] || fail 'what could be put back is not'
[ "$(cat presets.toml)" = '' ] || fail 'put back what is lost'
rm large.toml
cp -p "$top/fixtures/sample/presets.toml" .

# A store that was removed is made anew with what the run knows: what it replaced is
# kept there, the next run and an undo find all they need.  The packs were held open.
made_anew()
{
	rm -rf "$store"
	expect 98 "$holdfast" run --gate off --store "$store" --report "$dir/report.json" -- \
		sh -c "$1" "$store"
	said '^holdfast: hint: what this run needs of the store was written anew in ' \
		"$store; 'holdfast verify --store --store $store' tells"
	unchanged project
	report "len(r['violations']) == $2" 'r["verified"] == 6'
	expect 0 "$holdfast" run --store "$store" -- true
	expect 0 "$holdfast" verify --store --store "$store"
	[ "$2" = 0 ] || expect 0 "$holdfast" undo 1 --store "$store"
}
remember project
made_anew 'rm -rf "$0"' 0
made_anew 'rm -rf "$0"; echo x >presets.toml' 1
[ "$(cat presets.toml)" = x ] || fail 'not undone'
expect 0 "$holdfast" restore --store "$store"
made_anew 'rm -rf "$0"; chmod 604 personas.toml' 1
expect 0 "$holdfast" restore --store "$store"
for part in packs snapshots sessions kept 'packs "$0"/sessions "$0"/kept "$0"/snapshots'; do
	made_anew "rm -rf \"\$0\"/$part; echo x >presets.toml; rm personas.toml" 2
	[ "$(cat presets.toml)" = x ] || fail "$part: not undone"
	[ ! -e personas.toml ] || fail "$part: not undone"
	expect 0 "$holdfast" restore --store "$store"
done

# Its name is taken: beside it, and said so.
rm -rf "$store"
expect 98 "$holdfast" run --gate off --store "$store" -- sh -c \
	'rm -rf "$0"; mkdir "$0"; echo mine >"$0"/mine; echo x >presets.toml' "$store"
said "written anew in $store~2, since its own name is taken" "kept: $store~2/kept/.*/presets.toml"
! grep -q 'holdfast undo' "$dir/err" || [ "$(grep -c 'holdfast undo' "$dir/err")" = 1 ] ||
	fail 'names what can only fail'
unchanged project
[ "$(cat "$store"/mine)" = mine ] || fail 'took what was not ours'
expect 0 "$holdfast" undo --store "$store~2"
[ "$(cat presets.toml)" = x ] || fail 'not undone'
expect 0 "$holdfast" restore --store "$store~2"
rm -rf "$store" "$store~2"

# Where none can be made nothing is replaced.
if [ "$(id -u)" != 0 ]; then
	mkdir "$dir/locked"
	expect 98 "$holdfast" run --gate off --store "$dir/locked/store" -- sh -c \
		'rm -rf "$0"; chmod 555 "$0/.."; echo x >presets.toml' "$dir/locked/store"
	said '^holdfast: hint: what the store held is gone, unless it was moved: '
	[ "$(cat presets.toml)" = x ] || fail 'replaced what it could not keep'
	chmod 755 "$dir/locked"
	cp -p "$top/fixtures/sample/presets.toml" .
fi

# Without the store no command of ours helps, and none is named, but where it was moved.
rm -rf "$store" "$dir/moved"
expect 98 "$holdfast" run --gate off --store "$store" --report "$dir/report.json" -- \
	sh -c 'mv "$0" "$0/../moved"; echo x >presets.toml' "$store"
said '^holdfast: hint: what the store held is gone, unless it was moved: ' 'then move it back; else'
sed '/^holdfast: what a run changes/d' "$dir/err" >"$dir/end"
! grep -qE 'holdfast (status|undo)' "$dir/end" || fail 'names what can only fail'
report 'all(v["fix"] is None for v in r["violations"])' "len(r['violations']) == 1"
unchanged project
mv "$dir/moved" "$store"
expect 0 "$holdfast" restore --store "$store"
expect 0 "$holdfast" run --store "$store" -- true
