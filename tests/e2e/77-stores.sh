#!/bin/sh
# SPDX-License-Identifier: MIT
# store list names every store of the user, store drop removes one: nothing outside
# it, nothing that is none, and nothing that is still needed.
. "$(dirname "$0")/lib.sh"
ask=$(cd "$(dirname "$0")" && pwd)/ask.py

stores=$dir/state/holdfast
make_project one
make_project two
make_project three
git init -q two
for name in one two three; do
	(cd "$name" && "$holdfast" snapshot --quiet) || fail "snapshot of $name"
done
one=$(cd one && "$holdfast" store path)
two=$(cd two && "$holdfast" store path)
three=$(cd three && "$holdfast" store path)
rm -rf three
json() { python3 -c "
import json
r = json.load(open('$dir/out'))
assert r['holdfast-json'] == 1 and r['command'] == '$1', r
stores = {s['path'].rsplit('/', 1)[1]: s for s in r.get('stores', [])}
$2" || fail "JSON: $2"; }

# -- list: no project is needed, roots that are gone are marked

cd /
expect 0 "$holdfast" store list
[ "$(wc -l <"$dir/out")" -eq 3 ] || fail 'not three stores'
grep -qE "^$dir/one: .*, 1 snapshot, used .* ago: $one\$" "$dir/out" ||
	fail 'does not list one'
grep -q "^$dir/three (gone): .*: $three\$" "$dir/out" || fail 'gone is not said'
rm -rf "$dir/two" && mkdir "$dir/two" "$dir/two.new"
expect 0 "$holdfast" store list
grep -q "^$dir/two (another directory is there now): " "$dir/out" ||
	fail 'another root is not said'
expect 0 "$holdfast" store list --json
json 'store list' "
one, gone, other = stores['${one##*/}'], stores['${three##*/}'], stores['${two##*/}']
assert one['root'] == '$dir/one' and one['root_is'] == 'here', one
assert one['snapshots'] == 1 and one['bytes'] > 1000 and one['used'], one
assert gone['root_is'] == 'gone' and other['root_is'] == 'other'
assert not any(s['no_store'] or s['half_dropped'] for s in stores.values())"

# What lies there and is none is said and not entered.
mkdir -p -m 700 "$stores/empty" "$stores/damaged" "$dir/elsewhere/packs"
cp -r "$one" "$stores/open"
chmod 755 "$stores/open"
ln -s "$dir/elsewhere" "$stores/link"
mkfifo "$stores/fifo"
echo 'not ours' >"$stores/file"
echo '{"holdfast-store":1' >"$stores/damaged/store.json"
mkdir -m 700 "$stores/new
line$(printf '\033')[31m"
expect 0 "$holdfast" store list
for name in empty damaged open link fifo file; do
	grep -q "^$stores/$name: no store: " "$dir/out" || fail "$name is not said"
done
grep -q 'is open to other users' "$dir/out" || fail 'open to others'
grep -qF 'new\nline\e[31m: no store: ' "$dir/out" || fail 'a name drives a terminal'
expect 0 "$holdfast" store list --json
json 'store list' "assert stores['link']['no_store'] and not stores['link']['root']"
rm -rf "$stores/empty" "$stores/damaged" "$stores/open" "$stores/link" \
	"$stores/fifo" "$stores/file" "$stores"/new*

# -- drop: named and with a yes, or asked on a terminal

cd "$dir/one"
for words in '' "--yes" "$dir/one --yes" "$one"; do
	# shellcheck disable=SC2086
	expect 2 "$holdfast" store drop $words
	said "cannot drop the store '$one': nobody is at a terminal" 'in full'
done
expect 0 python3 "$ask" n "$holdfast" store drop
grep -q "the store $one of $dir/one has 1 snapshot and 0 sets of kept copies" \
	"$dir/out" || fail 'does not say what goes'
grep -q 'stays, ' "$dir/out" || fail 'takes no for an answer'
[ -e "$one/store.json" ] || fail 'dropped all the same'

# Not what is none: a directory, a file, a name, a root that never was one.
for word in "$dir/elsewhere" "$ask" nowhere /; do
	expect 2 "$holdfast" store drop "$word" --yes
	said 'cannot find a store by '
done
chmod 700 "$dir/elsewhere"
expect 2 "$holdfast" store drop --store "$dir/elsewhere" --yes
said 'it is no store'
[ -d "$dir/elsewhere/packs" ] || fail 'something else was removed'

# Not while a run is in progress, nor before a dead one is settled.
cat >"$dir/inside.sh" <<END
"$holdfast" store drop "$one" --yes 2>"$dir/inside"; echo \$? >>"$dir/inside"
END
expect 0 "$holdfast" run --gate off -- sh "$dir/inside.sh"
grep -q 'a run is in progress' "$dir/inside" || fail 'beside a run'
grep -qx 3 "$dir/inside" || fail 'status beside a run'
flock "$one/lock" timeout 20 "$holdfast" store drop "$one" --yes \
	2>"$dir/err" && fail 'dropped under the lock of another'
said 'is in use by another holdfast'
done_one=$(ls "$one"/sessions/*.done | tail -1)
head -1 "$done_one" >"${done_one%.done}.open"
rm "$done_one"
expect 98 "$holdfast" store drop "$one" --yes
said 'did not end, and is not settled' "holdfast recover"
expect 0 "$holdfast" recover

# Only what is inside: links are removed, not followed; other files stay.
echo precious >"$dir/elsewhere/file"
ln -s "$dir/elsewhere" "$one/kept/link"
ln -s "$dir/elsewhere/file" "$one/packs/000009.tar.zst"
echo mine >"$one/notes"
expect 0 "$holdfast" store drop "$one" --yes
said "dropped the store '$one', " "note: '$one' itself stays"
grep -qx precious "$dir/elsewhere/file" || fail 'a link was followed'
[ "$(ls -A "$one")" = notes ] || fail "left: $(ls -A "$one")"
rm -r "$one"
expect 0 "$holdfast" status
grep -q 'nothing is recorded yet' "$dir/out" || fail 'something is left'
expect 0 "$holdfast" snapshot

# By the root, which is gone, on a terminal; the file is a link to a store.
expect 0 python3 "$ask" y "$holdfast" store drop "$dir/three"
grep -q 'that project is gone' "$dir/out" || fail 'does not say gone'
[ ! -e "$three" ] || fail 'not dropped'
expect 2 "$holdfast" store drop "$three" --yes

# A store elsewhere, that a repository points to: the pointer goes with it.
git init -q "$dir/four"
cd "$dir/four"
cp ../one/*.toml .
expect 0 "$holdfast" snapshot --store "$dir/beside"
grep -q "^$dir/beside	" .git/holdfast || fail 'no pointer'
expect 0 "$holdfast" store drop "$dir/beside" --yes --json
json 'store drop' "assert r['dropped'] and not r['directory_left'], r
assert r['root'] == '$dir/four' and r['path'] == '$dir/beside'"
[ ! -e "$dir/beside" ] && [ ! -e .git/holdfast ] || fail 'something is left'
expect 0 "$holdfast" snapshot

# Cut off half way it is no store, and says so; the same command finishes it.
cd "$dir/one"
one=$("$holdfast" store path)
mv "$one/store.json" "$one/dropping.json"
rm -r "$one/packs"
for words in status snapshot 'run -- true' 'verify --store' 'store adopt'; do
	status=0
	# shellcheck disable=SC2086
	"$holdfast" $words >"$dir/out" 2>"$dir/err" || status=$?
	[ "$status" -ne 0 ] || fail "$words takes it for a store"
	grep -q 'was being dropped' "$dir/err" "$dir/out" || fail "$words"
done
expect 0 "$holdfast" store list
grep -q ', half dropped: ' "$dir/out" || fail 'list does not say half dropped'
expect 0 "$holdfast" store drop "$one" --yes
[ ! -e "$one" ] || fail 'half of it is left'

# What is mounted in it is somebody else's.
unshare -Urm true 2>/dev/null || skip 'no user namespaces'
expect 0 "$holdfast" snapshot
one=$("$holdfast" store path)
mkdir "$one/kept/mounted"
# shellcheck disable=SC2016
expect 3 unshare -Urm sh -c 'mount --bind "$1" "$2/kept/mounted" && "$3" store drop "$2" --yes' sh \
	"$dir/four" "$one" "$holdfast"
[ "$(ls "$dir"/four/*.toml | wc -l)" -gt 0 ] || fail 'removed what is mounted'
expect 0 "$holdfast" store drop "$one" --yes
[ ! -e "$one" ] || fail 'half of it is left'
