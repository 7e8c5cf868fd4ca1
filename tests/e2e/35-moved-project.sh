#!/bin/sh
# SPDX-License-Identifier: MIT
# A project that was moved takes its store along, when it is told to.
. "$(dirname "$0")/lib.sh"

make_project project
remember project
cd project
expect 0 "$holdfast" run -- true
store=$("$holdfast" store path)

# Elsewhere nothing is recorded of it.
mv "$dir/project" "$dir/moved"
cd "$dir/moved"
for command in restore undo verify log; do
	expect 3 "$holdfast" $command
	said "^holdfast: nothing is recorded yet of '$dir/moved'\$" \
		"hint: 'holdfast run -- COMMAND'"
done
expect 0 "$holdfast" status
expect 3 "$holdfast" store adopt
said 'no store is there' 'hint: .*store adopt DIR'
expect 2 "$holdfast" store
said "^holdfast: cannot use 'store': it is list, path, adopt or drop\$"
expect 2 "$holdfast" store frob
said "^holdfast: cannot use 'store frob'"

# Without a repository the store has the name of the old place.
expect 3 "$holdfast" verify --store "$store"
said "belongs to '$dir/project'" "hint: .*'holdfast store adopt --store $store'"
expect 0 "$holdfast" store adopt "$store"
said "belongs to '$dir/moved' from now on" "hint: .*'--store $store'"
expect 0 "$holdfast" verify --store "$store"
expect 0 "$holdfast" store adopt --store "$store"	# the same, and again

# A repository points to it.
git init -q .
expect 0 "$holdfast" store adopt "$store"
! grep -q hint "$dir/err" || fail 'a hint that nobody needs'
[ "$("$holdfast" store path)" = "$store" ] || fail 'the pointer is not believed'
expect 0 "$holdfast" verify
mv "$dir/moved" "$dir/project"
cd "$dir/project"
expect 0 "$holdfast" store adopt "$store"
expect 0 "$holdfast" verify
rm -rf .git
unchanged project

# Another directory at the same path is another project until told otherwise.
mv "$dir/project" "$dir/old"
cp -a "$dir/old" "$dir/project"
cd "$dir/project"
expect 125 "$holdfast" run -- true
said 'another directory at this path' "hint: 'holdfast store adopt'"
expect 0 "$holdfast" store adopt
expect 0 "$holdfast" run -- true
silent 'adopted'

# What is no store is not made one.
expect 3 "$holdfast" store adopt "$dir/old"
expect 3 "$holdfast" store adopt "$dir/old/presets.toml"
chmod 700 "$dir/old"
expect 3 "$holdfast" store adopt "$dir/old"
said 'no store is there'
chmod 755 "$dir/old"
[ ! -e "$dir/old/store.json" ] && [ ! -e "$dir/old/lock" ] || fail 'touched a project'
