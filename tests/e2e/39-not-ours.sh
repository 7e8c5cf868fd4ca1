#!/bin/sh
# SPDX-License-Identifier: MIT
# What a user may not give, read or list is put back as far as can be, and the rest is
# said; and an undo that did not come to its end is not taken for one.
# shellcheck source=tests/e2e/lib.sh disable=SC2016	# the command expands it
. "$(dirname "$0")/lib.sh"

# An undo that fails is neither settled nor forgotten.
make_project project
cd "$dir/project"
expect 97 "$holdfast" run --gate off -- sh -c 'echo 1 >presets.toml; echo 2 >personas.toml'
kept=$(find "$dir/state" -path '*/kept/*' -name personas.toml)
mv "$kept" "$dir/kept"
expect 98 "$holdfast" undo
[ "$(cat presets.toml)" = 1 ] || fail 'the other was not undone'
expect 98 "$holdfast" run -- true
said 'undo 2 did not come to its end' '^holdfast: hint: .*holdfast undo; '
mv "$dir/kept" "$kept"
expect 0 "$holdfast" undo
[ "$(cat personas.toml)" = 2 ] || fail 'not undone'
expect 0 "$holdfast" run -- true
# One that failed, and was brought to its end by hand.
expect 97 "$holdfast" run --gate off -- sh -c 'echo 3 >personas.toml; echo 4 >presets.toml'
kept=$(find "$dir/state" -path '*/kept/*' -name personas.toml | sort | tail -n 1)
mv "$kept" "$dir/kept"
expect 98 "$holdfast" undo
expect 98 "$holdfast" run -- true
mv "$dir/kept" "$kept"
cp -p "$kept" personas.toml
chmod 644 personas.toml
expect 0 "$holdfast" undo
expect 0 "$holdfast" run -- true
cd "$dir"

[ "$(id -u)" = 0 ] || skip 'root alone can make what belongs to others'
chmod 755 "$dir"
user=12345
mkdir "$dir/mine"
chown $user:$user "$dir/mine"
as_user="setpriv --reuid $user --regid $user --clear-groups env XDG_STATE_HOME=$dir/mine"
rm -rf "$dir/project"
mkdir -p "$dir/project/conf" "$dir/closed"
cd "$dir/project"
echo a=1 >a.toml
echo b=1 >b.toml
echo c=1 >conf/c.toml
chown -R $user:$user "$dir/project"
chown :root a.toml
protect="--gate off --protect **/*.toml"
set -f
expect 0 $as_user "$holdfast" run $protect -- true
remember project

# The group is not to be given, but it is still there: the file is written in place.
expect 97 $as_user "$holdfast" run $protect -- sh -c 'echo x >a.toml'
unchanged project
expect 0 $as_user "$holdfast" run $protect -- true

# It has gone with the file: the content comes back, the rest is said.
expect 98 $as_user "$holdfast" run $protect -- sh -c 'rm a.toml'
said "cannot give 'a.toml' back to its owner" 'only root'
[ "$(cat a.toml)" = a=1 ] || fail 'not even the content came back'
chown :root a.toml
expect 0 $as_user "$holdfast" restore --protect **/*.toml
unchanged project

# A directory that takes no new names, but has a file that can be written.
chown root:root "$dir/project"
remember project
expect 97 $as_user "$holdfast" run $protect -- sh -c 'echo x >b.toml'
unchanged project
chown $user:$user "$dir/project"

# What a locked directory hides comes to light when it is unlocked.
remember project
expect 97 $as_user "$holdfast" run $protect -- sh -c 'echo >conf/new.toml; chmod 0 conf'
unchanged project

# One that is new stays as it is, and nobody knows what is in it.
expect 98 $as_user "$holdfast" run $protect -- sh -c 'mkdir t; echo >t/new.toml; chmod 0 t'
said "cannot look into 't'" '^holdfast: hint: .*--exclude'
chmod 755 t
rm -r t
expect 0 $as_user "$holdfast" run $protect -- true
unchanged project
