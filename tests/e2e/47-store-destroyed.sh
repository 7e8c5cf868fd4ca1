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
destroyed 'pack 000001' 'echo x >>"$0/packs/000001.tar.zst"'

defended 'rm "$0"/store.json; rm "$0"/lock; rmdir "$0"/kept'
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

# What is not needed from the store is put back, what is lost is named.
rm -rf "$store"
expect 98 "$holdfast" run --gate off --keep-going --store "$store" -- sh -c \
	'rm -rf "$0/packs"; chmod 604 personas.toml; echo >presets.toml' "$store"
said "^holdfast: the store '$store' was damaged" 'presets.toml.*missing'
[ "$(stat -c %a personas.toml)" != 604 ] || fail 'what could be put back is not'

# Without the store no command of ours helps, and none is named, but where the store
# was moved.
rm -rf "$store"
cp -a . "$dir/whole"
gone()
{
	expect 98 "$holdfast" run --gate off --store "$store" --report "$dir/report.json" -- \
		sh -c "$1" "$store"
	said '^holdfast: hint: what the store held is gone, unless it was moved: ' "$2"
	sed '/^holdfast: what a run changes/d' "$dir/err" >"$dir/end"
	! grep -qE 'holdfast (status|undo)' "$dir/end" || fail 'names what can only fail'
	report 'all(v["fix"] is None for v in r["violations"])' "len(r['violations']) == $3"
}
gone 'rm -rf "$0"' 'else the next run records the files as they are$' 0
expect 0 "$holdfast" run --store "$store" -- true
gone 'rm -rf "$0"; chmod 604 personas.toml' 'else the next run records' 1
gone 'rm -rf "$0"; echo x >presets.toml' 'else bring back what is named above from elsewhere$' 1
said "then move it back for 'holdfast restore --store $store'; "
cp -p "$dir/whole/presets.toml" .
rm -rf "$dir/moved"
gone 'mv "$0" "$0/../moved"; echo x >presets.toml' 'then move it back; else' 1
cmp presets.toml "$dir/whole/presets.toml" || fail 'not put back from a moved store'
mv "$dir/moved" "$store"
expect 0 "$holdfast" restore --store "$store"
expect 0 "$holdfast" run --store "$store" -- true
