#!/bin/sh
# SPDX-License-Identifier: MIT
# A finished run leaves nothing: no word, no process, no temporary file, no lock.
. "$(dirname "$0")/lib.sh"

make_project project
echo 'notes' >project/notes.txt
remember project
cd project
store=$dir/store

# --quiet wins over --verbose, in the first run as in all others.
expect 0 "$holdfast" run -qv --gate "$gate" --store "$store" -- true
silent 'a quiet first run'
expect 0 "$holdfast" run -vq --gate "$gate" --store "$store" -- true
silent 'a quiet run'
rm -rf "$store"

# traces WHEN: of anything that should be gone.
traces()
{
	unchanged project
	left=$(find "$dir" -name '.holdfast-*' -o -name '*.open')
	[ -z "$left" ] || fail "$1: left $left"
	# Each process of a run has our directory in its words.
	left=$(pgrep -af "$dir/project-marker" || true)
	[ -z "$left" ] || fail "$1: still runs: $left"
	find "$store" -type f >"$dir/files"
	while read -r file; do
		flock -n "$file" true || fail "$1: still locked: $file"
	done <"$dir/files"
}

# A word for pgrep in the command line of holdfast and of the command.
marked()
{
	expect "$1" "$holdfast" run --gate "$gate" --store "$store" -- \
		sh -c "$2" "$dir/project-marker"
}

marked 0 true			# the first one speaks
traces 'the first run'
marked 0 true
silent 'a clean run'
traces 'a clean run'
marked 7 'exit 7'
silent 'a failing command'
traces 'a failing command'
marked 0 'cat ./*.toml >/dev/null; cp personas.toml /tmp/hf-copy-$$; rm /tmp/hf-copy-$$
	echo more >>notes.txt; echo notes >notes.txt; touch -r personas.toml notes.txt'
silent 'reading is no harm'
cp -p notes.txt "$dir/notes" && remember project

# Background processes in every disguise end with the run.
marked 0 "sleep 1000.$$ & setsid sleep 1001.$$ & (trap '' TERM; sleep 1002.$$) & exit 0"
traces 'with leftovers'
! pgrep -fx "sleep 100[0-9].$$" >/dev/null || fail 'a process was left behind'

# What has landed ends the command; what is refused does not.
if gated; then then=true; else then="sleep 1003.$$"; fi
marked 97 "echo x >personas.toml; $then"
traces 'a violation'
! pgrep -fx "sleep 1003.$$" >/dev/null || fail 'the command outlived its violation'
marked 97 'rm -f ./*.toml'
traces 'a large violation'
expect 127 "$holdfast" run --gate "$gate" --store "$store" -- "$dir/project-marker"
traces 'no command'
marked 143 'kill -TERM $$'
traces 'a signal'

# A slow reader or none: nothing waits for the report of a run.
status=0
"$holdfast" run --gate "$gate" --store "$store" -- sh -c 'echo x >personas.toml' 2>&- >&- <&- ||
	status=$?
[ $status = 97 ] || fail "without standard descriptors: $status"
traces 'without standard descriptors'

# Of twenty runs the store keeps twenty journals and nothing else.
before=$(find "$store" -path '*/sessions/*' -prune -o -type f -print | sort)
i=0
while [ $i -lt 20 ]; do
	marked 0 true
	silent "run $i"
	i=$((i + 1))
done
after=$(find "$store" -path '*/sessions/*' -prune -o -type f -print | sort)
[ "$before" = "$after" ] || fail 'clean runs make the store grow'
