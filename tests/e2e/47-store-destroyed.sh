#!/bin/sh
# SPDX-License-Identifier: MIT
# The command removes or rewrites parts of the store: a clean end is none then, and
# what can be put back still is.
. "$(dirname "$0")/lib.sh"

make_project project
remember project
cd project
store=$dir/store

# destroyed REGEX SCRIPT: with $0 the store; the tree stays right.
destroyed()
{
	rm -rf "$store" "$dir/moved"
	expect 98 "$holdfast" run --store "$store" -- sh -c "$2" "$store"
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

# Written again as it was, or linked by a backup: no harm.
rm -rf "$store"
expect 0 "$holdfast" run --store "$store" -- sh -c \
	'for f in "$0"/snapshots/*; do cp -p "$f" x && mv x "$f" || exit 1; done
	cp -al "$0" "$0/../linked"' "$store"

# What is not needed from the store is put back, what is lost is named.
rm -rf "$store"
expect 98 "$holdfast" run --store "$store" -- sh -c \
	'chmod 604 personas.toml; echo >presets.toml; rm -rf "$0/packs"' "$store"
said "^holdfast: the store '$store' was damaged" 'presets.toml.*missing'
[ "$(stat -c %a personas.toml)" != 604 ] || fail 'what could be put back is not'
