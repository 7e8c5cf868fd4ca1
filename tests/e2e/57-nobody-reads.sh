#!/bin/sh
# SPDX-License-Identifier: MIT
# Nobody reads what is said: the run is not held up, and the report counts what was
# lost.  A result that cannot be written is a failure.
. "$(dirname "$0")/lib.sh"

make_project project
mkdir project/data
for i in $(seq 30); do echo "data $i" >"project/data/$i"; done
remember project
cd project
expect 0 "$holdfast" run --gate "$gate" --protect data/ -- true
expect 0 "$holdfast" run --gate "$gate" --protect data/ --report "$dir/report.json" -- true
report 'r["messages_lost"] == 0'

mkfifo "$dir/full"
exec 7<>"$dir/full"
dd if=/dev/zero of="$dir/full" bs=4096 count=1000 oflag=nonblock 2>"$dir/dd" || true
begun=$(date +%s%N)
status=0
# What has landed ends the command; what is refused does not.
if gated; then then=true; else then='sleep 60'; fi
timeout -k 5 60 "$holdfast" run --gate "$gate" --protect data/ --report "$dir/report.json" -- \
	sh -c "for i in data/*; do echo x >\$i; done 2>/dev/null; $then" 2>"$dir/full" || status=$?
took=$((($(date +%s%N) - begun) / 1000000))
[ $status = 97 ] || fail "status $status"
[ $took -lt 4000 ] || fail "held up for $took ms"
unchanged project
report 'len(r["violations"]) == 30' 'r["messages_lost"] > 20'

# full STATUS ARGUMENT...: the result has no room, which takes one line.
full()
{
	wanted=$1
	shift
	status=0
	timeout -k 5 60 "$holdfast" "$@" >/dev/full 2>"$dir/err" || status=$?
	[ $status = "$wanted" ] || fail "status $status, wanted $wanted: $*"
	said '^holdfast: cannot write to standard output: No space left on device$'
	[ "$(wc -l <"$dir/err")" = 1 ] || fail "one line: $*"
}
full 3 status
full 3 status --json
full 3 store path
full 3 log --json
full 3 verify
full 3 restore --json
full 3 snapshot
full 3 --version
full 3 help
full 3 log --help
full 125 run --dry-run --protect data/ -- true
