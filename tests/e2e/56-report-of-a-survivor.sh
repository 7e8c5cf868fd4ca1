#!/bin/sh
# SPDX-License-Identifier: MIT
# What a report says when the process that saw it all was killed.
. "$(dirname "$0")/lib.sh"

make_project project
remember project
name=$(printf 'a\377.toml')
echo 'a = 1' >"project/$name"
remember project
cd project

# Each is damaged and put back twice, and kept, or refused twice; then guard, the
# parent of the command, is killed, and front reports.
cat >"$dir/command.sh" <<'END_OF_COMMAND'
for i in 1 2; do
	echo damage >personas.toml
	echo damage >"$1"
	tries=0
	while grep -q damage personas.toml "$1" || [ ! -e "$1" ]; do
		tries=$((tries + 1))
		[ $tries -lt 1000 ] || exit 9
		sleep 0.02
	done
done
sleep 0.5
date +%s.%N >"$2"
kill -KILL $PPID
sleep 60
END_OF_COMMAND
expect 97 "$holdfast" run --gate "$gate" --keep-going --report "$dir/report.json" -- \
	sh "$dir/command.sh" "$name" "$dir/killed"
[ -e "$dir/killed" ] || fail 'the command did not come to its end'
unchanged project
report 'len(r["violations"]) == 2' \
	'{x["path_bytes"] for x in r["violations"]} == {None, "Yf8udG9tbA=="}' \
	'all(x["before"]["kind"] == "file" for x in r["violations"])'
if gated; then
	report 'not any(x["landed"] for x in r["violations"])' \
		'all(x["change"] == "none" for x in r["violations"])' \
		'all(x["operation"] == "openat" for x in r["violations"])' \
		'all(x["count"] == 2 for x in r["violations"])' \
		'all(x["kept"] is None for x in r["violations"])' \
		'r["verified"] == 7'
else
	report 'all(x["landed"] for x in r["violations"])' \
		'all(x["after"]["size"] == 7 for x in r["violations"])' \
		'all(x["change"] == "content" for x in r["violations"])' \
		'all(2 <= x["count"] < 5 for x in r["violations"])' \
		'all(x["kept"].startswith("kept/") for x in r["violations"])' \
		'all("undo" in x["fix"] for x in r["violations"])'
fi
python3 - "$dir/report.json" "$dir/killed" <<'END_OF_CHECK' || fail 'another time'
import datetime, json, sys
report = json.load(open(sys.argv[1]))
killed = float(open(sys.argv[2]).read())
for one in report["violations"]:
    time = datetime.datetime.fromisoformat(one["time"][:26] + "+00:00")
    if time.timestamp() > killed - 0.4:
        sys.exit(1)
END_OF_CHECK
