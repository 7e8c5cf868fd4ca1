#!/bin/sh
# SPDX-License-Identifier: MIT
# What a run may have to put back is also held where the command cannot reach it: a store
# that is removed or written over meanwhile loses nothing of a small set, whichever process
# of holdfast is killed besides.
. "$(dirname "$0")/lib.sh"

make_project project
cp project/personas.toml project/same.toml
: >project/empty.toml
remember project
cd project
store=$dir/store
count=0

# once SCRIPT: as one run, with $0 the store; all is put back, what was replaced is kept.
once()
{
	rm -rf "$store"
	status=0
	timeout 60 "$holdfast" run --gate off --store "$store" -- sh -c "$1" "$store" \
		>"$dir/out" 2>"$dir/err" || status=$?
	[ $status = 98 ] || fail "status $status: $1"
	survey project >"$dir/project.after"
	cmp -s "$dir/project.before" "$dir/project.after"
}

# held SCRIPT DAMAGE: the packs are held open, from the first moment on.
held()
{
	once "$1" || fail "$1: lost"
	kept=$(sed -n 's/.*the other version is kept: \(.*\)$/\1/p' "$dir/err")
	[ "$(cat "$kept")" = x ] || fail "$1: not kept: $kept"
	expect 0 "$holdfast" run --store "$store" -- true
	expect 0 "$holdfast" undo 1 --store "$store"
	[ "$(cat presets.toml)" = x ] || fail "$1: not undone"
	expect 0 "$holdfast" restore --store "$store"
	unchanged project
	count=$((count + 1))
}

# in_memory SCRIPT: against what writes over the packs there is the memory, filled once the
# command runs.
in_memory()
{
	for wait in 0.1 0.5 2 8; do
		if once "sleep $wait; for p in \"\$0\"/packs/*.zst; do $1"; then
			count=$((count + 1))
			return 0
		fi
		# Whatever cannot be put back is left, and named.
		said 'cannot be put back'
		cp -p "$dir/whole"/* .
	done
	fail "$1: lost"
}

cp -pR . "$dir/whole"
damage='echo x >presets.toml; rm personas.toml same.toml empty.toml'
for end in '' '; kill -9 $PPID; sleep 10'; do	# guard is the command's parent
	held "rm -rf \"\$0\"; $damage$end"
	held "rm -rf \"\$0\"/packs \"\$0\"/sessions; $damage$end"
	in_memory ": >\"\$p\"; done; $damage$end"
	in_memory "printf xxxxxxxx | dd of=\"\$p\" bs=8 seek=5 conv=notrunc 2>/dev/null; done
		$damage$end"
	in_memory "cp /bin/sh \"\$p\"; rm \"\$p\"; done; rm -rf \"\$0\"; $damage$end"
done

# Where descriptors are few the run needs them more.
rm -rf "$store"
for i in 1 2 3 4 5 6 7 8; do
	echo $i >many$i.toml
	expect 0 "$holdfast" snapshot --store "$store"
done
[ "$(ls "$store"/packs/*.zst | wc -l)" = 8 ] || fail 'not 8 packs'
expect 0 sh -c 'ulimit -n 26; exec "$@"' sh "$holdfast" run --gate off --store "$store" -- true
rm many*.toml

# One who writes bytes of his own there is not believed.
in_memory 'printf x >>"$p"; done; echo x >presets.toml'
[ $count = 11 ] || fail "$count ways tried"
