#!/bin/sh
# SPDX-License-Identifier: MIT
# Every kind of change fails the run with 97, is named, kept, and undone; with the
# gate it is refused, and has not touched anything.
. "$(dirname "$0")/lib.sh"

make_project project
mkdir -p project/data/deep
echo 'one' >project/data/deep/one.txt
echo 'two' >project/data/two.txt
ln -s personas.toml project/link.toml
echo 'unprotected' >project/notes.txt
ln project/presets.toml project/second-name.txt
remember project
cd project

guarded()
{
	expect "$1" "$holdfast" run --gate "$gate" --root "$dir/project" \
		--protect '*.toml' --protect data/ --report "$dir/report.json" -- sh -c "$2"
}
guarded 0 true

# What a restore would change and a refusal does not.
identities()
{
	find . \( -name '*.toml' -o -path './data*' \) -printf '%p %i %C@\n'
}

# is_undone PATH CHANGE, or else is_refused PATH: as the report says.
is_undone()
{
	report "'$2' in v('$1', 'change')" "v('$1', 'landed') == {True}" \
		"v('$1', 'restored') == {True}"
}
is_refused()
{
	said "^holdfast: $1: refused"
	report "v('$1', 'change') == {'none'}" 'not any(x["landed"] for x in r["violations"])' \
		"v('$1', 'kept') == {None}"
	identities | diff "$dir/identities" - >&2 || fail "touched: $1"
	rm -f new	# nobody protects it
}

# violation NAME CHANGE PATH COMMAND
violation()
{
	story="20-violation-kinds: $1"
	identities >"$dir/identities"
	guarded 97 "$4"
	said "^holdfast: .*$3" 'exit 97'
	report 'r["status"] == "violated"' 'r["exit"]["holdfast"] == 97'
	if gated; then is_refused "$3"; else is_undone "$3" "$2"; fi
	unchanged project
	leftovers=$(find . -name '.holdfast-*')
	[ -z "$leftovers" ] || fail "left: $leftovers"
}

violation overwrite content personas.toml 'echo damage >personas.toml'
violation truncate content personas.toml ': >personas.toml'
violation append content personas.toml 'echo "# more" >>personas.toml'
violation 'same length' content presets.toml \
	'printf X | dd of=presets.toml bs=1 conv=notrunc status=none'
violation 'through a link' content personas.toml 'echo damage >link.toml'
violation 'through a hard link' content presets.toml 'echo damage >second-name.txt'
violation 'rename over' content personas.toml \
	'echo damage >new && mv new personas.toml'
violation 'mode' metadata credentials.toml 'chmod 644 credentials.toml'
violation 'time' metadata personas.toml 'touch -d "2020-01-01" personas.toml'
violation 'removed' missing presets.toml 'rm presets.toml'
violation 'renamed away' missing presets.toml 'mv presets.toml ../elsewhere.txt'
violation 'a directory instead' kind presets.toml \
	'rm presets.toml; mkdir presets.toml; echo x >presets.toml/inside'
violation 'a fifo instead' kind presets.toml 'rm presets.toml; mkfifo presets.toml'
violation 'a link instead' kind presets.toml \
	'rm presets.toml; ln -s notes.txt presets.toml'
[ "$(cat notes.txt)" = unprotected ] || fail 'wrote through the link'
violation 'a file instead of a link' kind link.toml 'rm link.toml; echo x >link.toml'
violation 'another link' content link.toml 'ln -sfn notes.txt link.toml'
violation 'a new name' added new.toml 'echo "a = 1" >new.toml'
violation 'a new name below' added data/three.txt 'echo 3 >data/three.txt'
violation 'a directory removed' missing data/deep/one.txt 'rm -r data/deep'
violation 'locked' content data/deep/one.txt \
	'echo x >data/deep/one.txt; chmod 500 data/deep; chmod 400 data/deep/one.txt'

story=20-violation-kinds

# Attributes, where the file system has them.
if setfattr -n user.hf -v old notes.txt 2>/dev/null; then
	setfattr -n user.kept -v yes personas.toml
	guarded 0 true
	violation 'an attribute' metadata personas.toml \
		'setfattr -x user.kept personas.toml'
	getfattr -n user.kept personas.toml >/dev/null || fail 'the attribute is gone'
	violation 'an attribute too many' metadata presets.toml \
		'setfattr -n user.new -v 1 presets.toml'
	! getfattr -n user.new presets.toml 2>/dev/null || fail 'the attribute stayed'
fi
if setfacl -m u:1:r notes.txt 2>/dev/null; then
	violation 'a list of rights' metadata credentials.toml \
		'setfacl -m u:1:r credentials.toml'
	! getfacl -nc credentials.toml | grep -q '^user:1:' || fail 'the ACL stayed'
fi

# Several at once, and two names that trade places.
guarded 97 'mv personas.toml x; mv presets.toml personas.toml; mv x presets.toml'
unchanged project
guarded 97 'rm -rf ./*.toml data'
unchanged project

# What was seen being written is a violation even when it was undone.
guarded 97 'cp -p personas.toml /tmp/hf-$$; echo x >personas.toml
	cat /tmp/hf-$$ >personas.toml; touch -r /tmp/hf-$$ personas.toml; rm /tmp/hf-$$'
if gated; then wanted=False; else wanted=True; fi
report "v('personas.toml', 'landed') == {$wanted}"
unchanged project

if ! gated; then
	# Damage is kept, and the process tree ended at once: the sleep is not waited for.
	guarded 97 'echo precious >personas.toml; sleep 50; echo late >presets.toml'
	kept=$(grep -rl '^precious$' "$XDG_STATE_HOME/holdfast" | head -n 1)
	[ -n "$kept" ] || fail 'what was replaced is lost'
	[ "$(stat -c %a "$kept")" = 600 ] || fail 'a kept copy is not private'
	report 'len(r["violations"]) == 1'

	# --keep-going puts back and goes on; the command's own status is told.
	expect 97 "$holdfast" run --gate off --keep-going --report "$dir/report.json" \
		--protect '*.toml' --protect data/ -- sh -c '
		echo x >personas.toml
		i=0
		until grep -q Personas personas.toml || [ $i = 100 ]; do
			sleep 0.1; i=$((i + 1))
		done
		grep -q Personas personas.toml && echo "it is back"
		rm presets.toml
		exit 4'
	grep -q 'it is back' "$dir/out" || fail 'not put back while the command ran'
	said 'the command said 4'
	report 'len(r["violations"]) == 2' 'r["exit"]["command"]["code"] == 4'
	unchanged project
fi

# What SQLite shares memory by: one that stood there may come and go, a new one is
# taken away.
echo cache >personas.toml-shm
guarded 0 'echo other >personas.toml-shm'
[ "$(cat personas.toml-shm)" = other ] || fail 'a cache was put back'
expect 0 "$holdfast" verify --protect '*.toml' --protect data/
guarded 0 'rm personas.toml-shm'
[ ! -e personas.toml-shm ] || fail 'a cache was put back'
guarded 97 'echo new >personas.toml-shm'
report 'v("personas.toml-shm", "change") == {"added"}'
unchanged project

# An allowed change stays, is no violation, and is listed.
expect 0 "$holdfast" run --gate "$gate" --allow presets.toml \
	--report "$dir/report.json" --protect '*.toml' --protect data/ -- \
	sh -c 'echo "a = 1" >presets.toml'
report 'r["violations"] == []' 'any("presets.toml" in str(a) for a in r["allowed"])'
[ "$(cat presets.toml)" = 'a = 1' ] || fail 'an allowed change was undone'
for command in status verify; do
	expect 0 "$holdfast" $command
	grep -q 'presets.toml: .*(commands may change it)' "$dir/out" || fail "$command: not listed"
	expect 0 "$holdfast" $command --json
	grep -q '"presets.toml".*"allowed": true' "$dir/out" || fail "$command: not in JSON"
done
cp -p personas.toml "$dir/personas.toml"
echo '# mine' >>personas.toml
for command in status verify; do
	expect 1 "$holdfast" $command --json
	grep -q '"personas.toml".*"allowed": false' "$dir/out" || fail "$command: not in JSON"
done
cp -p "$dir/personas.toml" .

# 97 may be the command's own: then a line says so, even under --quiet.
expect 97 "$holdfast" run --gate "$gate" --quiet -- sh -c 'exit 97'
said '^holdfast: .*97'

# The log has their times in the one form of all JSON output, and nothing else of them
# is changed.
name=$(printf 'a "time":"1.000000002" \344.toml')
expect 97 "$holdfast" run --gate "$gate" -- touch "$name"
expect 0 "$holdfast" log --json -n 1
python3 - "$dir/out" <<'END' || fail 'the records of the log'
import json, re, sys

entry = json.load(open(sys.argv[1], encoding="utf-8"))["entries"][0]
assert entry["records"], entry
for record in entry["records"]:
    assert record["path"] == 'a "time":"1.000000002" \ufffd.toml', record
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z", record["time"]), record
    assert entry["time"][:16] <= record["time"][:16] <= entry["ended"][:16], record
END
