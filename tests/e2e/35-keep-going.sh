#!/bin/sh
# SPDX-License-Identifier: MIT
# A run that goes on after damage, which lands without the gate; what the policy has to
# say about a run.
. "$(dirname "$0")/lib.sh"

make_project project
mkdir project/data
for i in 1 2 3 4 5; do echo "data $i" >"project/data/$i.txt"; done
remember project
cd project

keep_going()	# STATUS SCRIPT
{
	expect "$1" "$holdfast" run --gate off --keep-going --report "$dir/report.json" \
		--protect '*.toml' --protect data/ -- \
		sh -c ". '$top/tests/e2e/until.sh'; $2"
}

# One file, damaged again and again: each time it is put back while the command
# runs, and putting it back is no violation of its own.
keep_going 97 '
	for i in 1 2 3; do
		echo damage >personas.toml
		until_true "grep -q Personas personas.toml"
	done
	sleep 0.3
	echo finished'
grep -q finished "$dir/out" || fail 'the command was ended'
report 'len(r["violations"]) == 1' 'v("personas.toml", "operation") == {"write"}' \
	'v("personas.toml", "restored") == {True}' 'r["exit"]["command"]["code"] == 0'
unchanged project

# Who reads the report meanwhile sees what became of it, and how often.
keep_going 97 "
	for i in 1 2 3; do
		echo damage >personas.toml
		until_true 'grep -q Personas personas.toml'
	done
	sleep 0.3
	cp $dir/report.json $dir/meanwhile.json"
counts='[x["count"] for x in r["violations"]]'
at_the_end=$(python3 -c "import json; r = json.load(open('$dir/report.json')); print($counts)")
mv "$dir/meanwhile.json" "$dir/report.json"
report 'r["status"] == "running"' 'v("personas.toml", "restored") == {True}' \
	'None not in v("personas.toml", "kept")' "$counts == $at_the_end" "3 <= $counts[0] < 6"
unchanged project

# One that is damaged again while others are still being put back.
for i in $(seq 100 300); do echo "data $i" >"data/$i.txt"; done
keep_going 97 '
	for file in data/*.txt; do echo damage >$file; done
	until_true "grep -q data data/1.txt"
	echo damage >data/1.txt
	until_true "grep -q data data/1.txt"
	echo finished'
grep -q finished "$dir/out" || fail 'damaged again, and not put back'
rm data/[1-3][0-9][0-9].txt
unchanged project

# Several files, each in its own way, each twice.
keep_going 97 '
	for i in 1 2; do
		echo damage >data/1.txt; rm data/2.txt; mv data/3.txt data/moved.txt
		chmod 600 data/4.txt; echo new >data/new.txt
		until_true "grep -q data data/1.txt && [ -e data/2.txt ]"
		until_true "[ -e data/3.txt ] && [ ! -e data/moved.txt ]"
		until_true "[ \$(stat -c %a data/4.txt) = 644 ]"
		until_true "[ ! -e data/new.txt ]"
	done
	exit 5'
said 'the command said 5'
report 'r["exit"]["command"]["code"] == 5' \
	'{x["path"] for x in r["violations"]} == {"data/1.txt", "data/2.txt",
		"data/3.txt", "data/4.txt", "data/new.txt", "data/moved.txt"}' \
	'all(x["restored"] for x in r["violations"])'
unchanged project

# What it may change is listed once, however often that was looked at.
expect 97 "$holdfast" run --gate off --keep-going --report "$dir/report.json" \
	--allow presets.toml -- sh -c ". '$top/tests/e2e/until.sh'; echo ok >presets.toml
		for i in 1 2; do
			echo damage >personas.toml
			until_true 'grep -q Personas personas.toml'
		done"
report 'r["allowed"] == [{"path": "presets.toml", "path_bytes": None}]'
cp -p "$top/fixtures/sample/presets.toml" .
expect 0 "$holdfast" run -- true
remember project

# A directory removed with all that is in it comes back, and is watched again.
keep_going 97 '
	for i in 1 2; do
		rm -r data
		until_true "[ -e data/1.txt ] && [ -e data/5.txt ]"
	done
	echo damage >data/5.txt
	until_true "grep -q data data/5.txt"'
unchanged project

# What the command leaves behind is waited for, when the policy says so.
echo '{ "protect": ["*.toml"], "leftovers": "wait" }' >holdfast.json
expect 3 "$holdfast" run --verbose -- sh -c "setsid sh -c 'sleep 0.3; : >$dir/late' & exit 3"
[ -e "$dir/late" ] || fail 'did not wait for what the command left behind'
said 'waited for a process the command left behind: '

# A command that a rule names may change what the rule allows, and no other.
cat >holdfast.json <<'END'
{ "protect": ["*.toml"], "on-drift": "stop",
  "commands": [ { "match": "sh allowed*", "allow": ["presets.toml"] } ] }
END
cat >"$dir/ok.sh" <<'END'
echo "a = 1" >presets.toml
END
cp "$dir/ok.sh" allowed.sh
cp "$dir/ok.sh" other.sh
expect 98 "$holdfast" run -- true
said 'changed since the last run' 'accept: holdfast snapshot'
expect 0 "$holdfast" snapshot
expect 97 "$holdfast" run -- sh other.sh
expect 0 "$holdfast" run -- sh allowed.sh
[ "$(cat presets.toml)" = 'a = 1' ] || fail 'an allowed change was undone'
cp "$top/fixtures/sample/presets.toml" presets.toml

# The first run with a policy file has nothing to have drifted from, but what was
# protected before.
mv holdfast.json "$dir/policy"
expect 0 "$holdfast" run -- true
echo '{ "protect": ["*.toml", "data/"], "on-drift": "stop" }' >holdfast.json
expect 0 "$holdfast" run -- true
said 'the policy changed since the last run: protects 6 -> '
rm holdfast.json
expect 0 "$holdfast" run -- true
echo '# edited' >>personas.toml
echo '{ "protect": ["*.toml", "data/"], "on-drift": "stop" }' >holdfast.json
expect 98 "$holdfast" run -- true
said "cannot run: 'personas.toml' has changed since the last run"
cp -p "$top/fixtures/sample/personas.toml" .
mv "$dir/policy" holdfast.json
expect 0 "$holdfast" snapshot

# Drift stops the run; the command is not started.
echo '# edited' >>personas.toml
expect 98 "$holdfast" run -- sh -c ": >'$dir/started'"
[ ! -e "$dir/started" ] || fail 'started in spite of drift'
expect 0 "$holdfast" snapshot
expect 0 "$holdfast" run -- true
rm holdfast.json allowed.sh other.sh
cp -p "$top/fixtures/sample/personas.toml" "$top/fixtures/sample/presets.toml" .
expect 0 "$holdfast" snapshot
remember project
