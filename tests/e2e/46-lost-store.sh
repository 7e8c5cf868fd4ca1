#!/bin/sh
# SPDX-License-Identifier: MIT
# Parts of the store get lost between two runs: that is said, and what the tree still
# has is recorded again.
. "$(dirname "$0")/lib.sh"

make_project project
cd project
store=$dir/store
expect 0 "$holdfast" run --store "$store" -- true

# A pack that is gone: the next run needs it no more, and says so once.
sleep 0.1
rm "$store"/packs/000001.tar.zst
expect 1 "$holdfast" status --store "$store"
grep -q '^lost .*pack 000001 of the store is missing' "$dir/out" || fail 'status'
expect 0 "$holdfast" run --store "$store" -- true
said '^holdfast: note: pack 000001 of the store is missing'
expect 0 "$holdfast" status --store "$store"
expect 0 "$holdfast" run --store "$store" -- true
silent 'about what is healed'
remember project
expect 97 "$holdfast" run --gate off --store "$store" -- sh -c 'echo >presets.toml'
unchanged project

# A cut one, and the file has changed meanwhile: its old content is lost for good.
cp presets.toml "$dir/presets.toml"
truncate -s 100 "$store"/packs/000002.tar.zst
echo 'new' >presets.toml
expect 0 "$holdfast" snapshot --store "$store"
said '^holdfast: note: pack 000002 of the store is missing or cut'
expect 1 "$holdfast" status --store "$store"
grep -q '^lost .*snapshot 1 cannot be restored' "$dir/out" || fail 'status'
expect 98 "$holdfast" restore --store "$store" --from 1 presets.toml
[ "$(cat presets.toml)" = new ] || fail 'replaced by what is lost'
expect 0 "$holdfast" snapshot --store "$store"	# settles it

# The whole store is away, and the pointer in .git still names it.
cd "$dir"
make_project cloned
cd cloned
mkdir .git
echo 'ref: refs/heads/main' >.git/HEAD
expect 0 "$holdfast" run --store "$dir/mounted" -- true
mv "$dir/mounted" "$dir/away"
for command in 'run -- touch started' 'run --dry-run -- true' status snapshot restore; do
	case $command in run*) wanted=125 ;; *) wanted=3 ;; esac
	# shellcheck disable=SC2086	# words are wanted
	expect $wanted "$holdfast" $command
	said "^holdfast: cannot find the store '$dir/mounted'" '^holdfast: hint: .*--store'
done
[ ! -e started ] || fail 'the command was started without its store'
[ ! -e "$dir/state/holdfast" ] || fail 'a second store was made'
mv "$dir/away" "$dir/mounted"
expect 0 "$holdfast" run -- true
silent 'about a store that is back'
rm -rf "$dir/mounted"
expect 125 "$holdfast" run -- true
expect 0 "$holdfast" run --store "$dir/new" -- true
expect 0 "$holdfast" run -- true
silent 'about a new store that was named'
# Another one, as a test may name that runs us, is no move.
expect 0 "$holdfast" run --store "$dir/other" -- true
[ "$("$holdfast" store path)" = "$dir/new" ] || fail 'the project has another store'
rm -rf "$dir/other"
expect 0 "$holdfast" run -- true

# A crash came before the first record of a journal was on the disk; another journal
# is damaged.
cd "$dir/project"
: >"$store/sessions/000097-20260101T000000Z.open"
head -c 300 /dev/zero >"$store/sessions/000098-20260101T000000Z.open"
expect 97 "$holdfast" run --gate off --store "$store" -- sh -c 'echo >presets.toml'
printf '{}\n{}\n' >"$store/sessions/000500-20260101T000000Z.done"
expect 1 "$holdfast" status --store "$store"
expect 0 "$holdfast" undo --store "$store"
said '^holdfast: note: passed over: .*session 000500'
[ "$(cat presets.toml)" = '' ] || fail 'not undone'
expect 0 "$holdfast" undo --quiet --store "$store"
silent 'a quiet undo'
expect 0 "$holdfast" snapshot --store "$store"
printf '{}\n{}\n' >"$store/sessions/000600-20260101T000000Z.open"
expect 125 "$holdfast" run --store "$store" -- true
said '^holdfast: cannot read .*session 000600' '^holdfast: hint: .*holdfast snapshot'
expect 0 "$holdfast" snapshot --store "$store"
expect 0 "$holdfast" run --store "$store" -- true

# The newest manifest is cut: nothing older is taken for it, and the way out is said.
echo 'newer' >presets.toml
expect 0 "$holdfast" snapshot --store "$store"
newest=$(basename "$(ls "$store"/snapshots/* | tail -n 1)")
truncate -s -10 "$store/snapshots/$newest"
for command in 'run -- touch started' status snapshot; do
	case $command in run*) wanted=125 ;; *) wanted=3 ;; esac
	# shellcheck disable=SC2086	# words are wanted
	expect $wanted "$holdfast" ${command%% *} --store "$store" ${command#"${command%% *}"}
	said "^holdfast: cannot read 'snapshot $newest': its end is missing" \
		"^holdfast: hint: no other one is used.*move '$newest' out of"
done
[ ! -e started ] || fail 'the command was started'
expect 0 "$holdfast" restore --store "$store" --from 1 personas.toml
mv "$store/snapshots/$newest" "$dir"
expect 0 "$holdfast" run --store "$store" -- true

# Snapshots that sessions used are gone: nothing older is taken for the newest, and the
# tree is recorded by hand alone.
echo 'damaged' >presets.toml
expect 0 "$holdfast" run --store "$store" -- true
newest=$(basename "$(ls "$store"/snapshots/* | tail -n 1)")
for gone in "$store/snapshots/$newest" "$store"/snapshots/*; do
	rm -f "$gone"
	for command in 'run -- touch started' status verify restore; do
		case $command in run*) wanted=125 ;; *) wanted=3 ;; esac
		# shellcheck disable=SC2086	# words are wanted
		expect $wanted "$holdfast" ${command%% *} --store "$store" \
			${command#"${command%% *}"}
		said "^holdfast: snapshot $newest, which session .* used, is gone" \
			"^holdfast: hint: .*'holdfast snapshot"
	done
done
[ ! -e started ] || fail 'the command was started'
expect 0 "$holdfast" snapshot --store "$store"
said "^holdfast: note: snapshot $newest, which session .* used, is gone"
expect 0 "$holdfast" run --store "$store" -- true
silent 'about what was recorded by hand'
