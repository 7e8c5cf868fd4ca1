#!/bin/sh
# SPDX-License-Identifier: MIT
# Copies in another directory: the project is left alone, and nothing there is replaced.
. "$(dirname "$0")/lib.sh"

make_project project
cd project
mkdir -p sub/locked outside "$dir/beyond"
echo 'deep = 1' >sub/locked/deep.toml
echo 'within = 1' >outside/within.toml
echo 'beyond = 1' >"$dir/beyond/beyond.toml"
ln -s presets.toml link.toml
mkfifo pipe.toml
chmod 500 sub/locked
touch -d '2020-01-02 03:04:05.678' personas.toml sub/locked
cat >holdfast.json <<END
{ "protect": ["*.toml", "sub/", "outside/", "absent.toml", "$dir/beyond/*.toml"] }
END
expect 0 "$holdfast" snapshot
cp -Rp . "$dir/good"
first=1

# Damage, recorded or not; the copies are those of the snapshot.
echo damaged >personas.toml
rm presets.toml
remember project
state=$(ls -R "$dir/state" | cksum)
expect 0 "$holdfast" restore --dry-run --to "$dir/a/copies"
said "would write $dir/a/copies/personas.toml"
[ ! -e "$dir/a" ] || fail 'a dry run made something'
expect 0 "$holdfast" restore --to "$dir/a/copies"
unchanged project
[ "$(ls -R "$dir/state" | cksum)" = "$state" ] || fail 'the store is another'
said "^holdfast: wrote $dir/a/copies/sub/locked/deep.toml\$" \
	'^holdfast: 1[0-9] entries of snapshot 000001-.* written; the project is as it was$'
! grep -q undo "$dir/err" || fail 'there is nothing to undo'
for file in ./*.toml sub/locked/deep.toml; do
	[ ! -p "$file" ] || continue
	[ -h "$file" ] || cmp "$dir/good/$file" "$dir/a/copies/$file" || fail "$file"
done
[ "$(readlink "$dir/a/copies/link.toml")" = presets.toml ] || fail 'a link'
[ -p "$dir/a/copies/pipe.toml" ] || fail 'a fifo'
[ ! -e "$dir/a/copies/absent.toml" ] || fail 'what was absent'
cmp "$dir/beyond/beyond.toml" "$dir/a/copies/outside/$dir/beyond/beyond.toml" ||
	fail 'outside the root'
cmp outside/within.toml "$dir/a/copies/outside~/within.toml" || fail 'called outside'
look() { stat -c '%a %U:%G %y' "$1/personas.toml" "$1/credentials.toml" "$1/sub/locked"; }
[ "$(look "$dir/good")" = "$(look "$dir/a/copies")" ] || fail 'metadata'

# A second time everything is in the way, and nothing is done.
find "$dir/a" -printf '%p %T@ %i\n' | sort >"$dir/list"
expect 2 "$holdfast" restore --to "$dir/a/copies"
said 'something is there already' '^holdfast: hint: nothing is ever replaced there'
find "$dir/a" -printf '%p %T@ %i\n' | sort | diff "$dir/list" - || fail 'it acted'

# Some of it, from below, beside what is there; the directory above it stays as it is.
mkdir -p "$dir/b/sub"
chmod 750 "$dir/b/sub"
echo mine >"$dir/b/mine"
(cd sub && expect 0 "$holdfast" restore --to ../../b locked ../personas.toml) || exit 1
files=$(cd "$dir/b" && find . -type f | sort | tr '\n' ' ')
[ "$files" = './mine ./personas.toml ./sub/locked/deep.toml ' ] || fail "other files: $files"
[ "$(stat -c %a "$dir/b/sub")" = 750 ] || fail 'a directory that was there'
unchanged project
expect 0 "$holdfast" restore --json --to "$dir/c" personas.toml
grep -q '"session": null, .*"undo": null, "directory": "'"$dir/c"'"' "$dir/out" || fail JSON
grep -q '"path": "personas.toml", .*"result": "done"' "$dir/out" || fail JSON

# From an older snapshot, also when the newest has the damage.
expect 0 "$holdfast" snapshot
expect 0 "$holdfast" restore --from "$first" --to "$dir/d" personas.toml presets.toml
cmp "$dir/good/presets.toml" "$dir/d/presets.toml" || fail 'an older snapshot'
unchanged project

# Where nothing may be written, and what is no directory.
expect 2 "$holdfast" restore --to . personas.toml
said "cannot write 'personas.toml': the policy protects it"
expect 2 "$holdfast" restore --to sub/new
[ ! -e sub/new ] || fail 'it made a directory that is protected'
expect 0 "$holdfast" restore --to build/copies personas.toml
rm -r build
expect 2 "$holdfast" restore --to "$("$holdfast" store path)/packs"
expect 2 "$holdfast" restore --to ''
expect 2 "$holdfast" restore --to "$dir/e" --remove-additions
expect 2 "$holdfast" restore --to "$dir/e" no-such.toml
expect 2 "$holdfast" restore --to "$dir/e" --from 99
[ ! -e "$dir/e" ] || fail 'a directory for nothing'
expect 3 "$holdfast" restore --to "$dir/list/x"
expect 3 "$holdfast" restore --to "$dir/b/mine"
unchanged project

# Links that stand there lead nowhere.
mkdir "$dir/f" "$dir/victim"
ln -s "$dir/victim" "$dir/f/sub"
expect 2 "$holdfast" restore --to "$dir/f" --from 1 sub
ln -s "$dir/victim/new" "$dir/f/personas.toml"
expect 2 "$holdfast" restore --to "$dir/f" --from 1 personas.toml
[ -z "$(ls "$dir/victim")" ] || fail 'through a link'

# One that cannot be had does not stop the others; the status tells.
rm "$("$holdfast" store path)"/packs/000001.tar.zst
expect 3 "$holdfast" restore --from 1 --to "$dir/g"
said 'not written$'
[ "$(readlink "$dir/g/link.toml")" = presets.toml ] || fail 'one failure stopped the others'
[ ! -e "$dir/g/personas.toml" ] || fail 'a file out of nothing'
[ -z "$(find "$dir/g" -name '.holdfast-*')" ] || fail 'a temporary name is left'
unchanged project

# As another user: what he may not give stays his own.
if [ "$(id -u)" = 0 ]; then
	store=$("$holdfast" store path)
	chown 12345:12345 personas.toml tool_presets.toml
	chmod 6755 tool_presets.toml
	expect 0 "$holdfast" snapshot
	expect 0 "$holdfast" restore --to "$dir/h" tool_presets.toml
	[ "$(stat -c '%a %u' "$dir/h/tool_presets.toml")" = '6755 12345' ] || fail 'as root'
	chmod 755 "$dir" "$dir/project"
	chown -R 12346:12346 "$store"
	mkdir "$dir/i"
	chown 12346:12346 "$dir/i"
	chmod u+r,go+rX "$dir/state" "$dir/state/holdfast"
	as_other="setpriv --reuid 12346 --regid 12346 --clear-groups"
	expect 0 $as_other "$holdfast" restore --store "$store" --to "$dir/i/x" \
		tool_presets.toml personas.toml
	owner=$(stat -c '%a %u' "$dir/i/x/tool_presets.toml")
	[ "$owner" = '755 12346' ] || fail "as another user: $owner"
	cmp personas.toml "$dir/i/x/personas.toml" || fail 'as another user: content'
fi
