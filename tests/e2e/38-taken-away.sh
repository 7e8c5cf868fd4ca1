#!/bin/sh
# SPDX-License-Identifier: MIT
# What the command takes away from those who have to end it and to look.
. "$(dirname "$0")/lib.sh"

make_project project
mkdir -p project/data/deep
for i in 1 2 3; do echo "data $i" >"project/data/$i.txt"; done
echo deep >project/data/deep/4.txt
remember project
cd project
# What has landed ends the command; what is refused does not.
if gated; then then=true; else then="sleep 1114$$"; fi

# no_process WORD: none that was started with it lives.
no_process()
{
	for file in /proc/[0-9]*/cmdline; do
		! { tr '\0' ' ' <"$file"; } 2>/dev/null | grep -q -- "$1" || fail "lives: $1"
	done
}

# /proc: the processes of the command are found all the same.
own=
for how in 'unshare -m' 'unshare -rm'; do
	[ -n "$own" ] || ! $how mount -t tmpfs none /proc 2>/dev/null || own=$how
done
if [ -n "$own" ]; then
	# The search for leaks itself needs /proc.
	own="env ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 $own"
	expect 97 $own "$holdfast" run --gate "$gate" -- sh -c "setsid sleep 1113$$ &
		mount -t tmpfs none /proc; echo bad >personas.toml; $then"
	no_process "sleep 111[34]$$"
	expect 3 $own "$holdfast" run --gate "$gate" --verbose -- sh -c "setsid sleep 1115$$ &
		mount -t tmpfs none /proc; exit 3"
	said 'ended a process the command left behind: '
	no_process "sleep 1115$$"
	unchanged project
fi

# A directory that its owner cannot enter any more.
as=
if [ "$(id -u)" = 0 ]; then
	as='setpriv --reuid 1000 --regid 1000 --clear-groups'
	chmod 711 "$dir"
	rm -rf "$dir/state"
	mkdir "$dir/state"
	chown -R 1000:1000 "$dir/state" "$dir/project"
	cd .. && remember project && cd project
fi
locked()	# STATUS SCRIPT
{
	expect "$1" $as "$holdfast" run --gate "$gate" --protect '*.toml' --protect data/ \
		--report "$dir/state/report.json" -- sh -c "$2"
}
locked 0 true
locked 97 "echo bad >data/1.txt; chmod 0 data; $then"
unchanged project
locked 97 'echo bad >data/deep/4.txt; rm data/2.txt; chmod 0 data/deep data; exit 5'
unchanged project
locked 97 'chmod 0 data; exit 5'
unchanged project
