#!/bin/sh
# SPDX-License-Identifier: MIT
# What is protected: flags, holdfast.json, how it is found, and whose it may be.
. "$(dirname "$0")/lib.sh"

make_project project
mkdir -p project/data/sub project/node_modules/x project/src
for name in data/a.csv data/sub/b.csv node_modules/x/c.csv src/d.csv; do
	echo "$name" >"project/$name"
done
cd project

# protects EXPECTED ARGUMENT...: the number of protected entries.
protects()
{
	number=$1
	shift
	expect 0 "$holdfast" run --report "$dir/report.json" --store "$dir/s-$$" \
		"$@" -- true
	report "r['protected'] == $number"
	rm -rf "$dir/s-$$"
}

protects 6
protects 1 --protect personas.toml
protects 3 --protect '*.toml' --exclude 'p*s.toml' --exclude tool_presets.toml
protects 1 --protect 'data/*.csv'
protects 3 --protect '**/*.csv'			# not what npm installs
protects 1 --protect 'node_modules/**/*.csv'	# unless named
protects 1 --protect absent.txt --protect personas.toml
expect 125 "$holdfast" run --protect absent.txt -- true	# more likely a slip
said 'nothing is protected' "hint: .*'absent.txt'"
protects 6 --protect '[!x]*.toml'
protects 1 --protect 'm*_????.toml' --protect '!*history*'

# The file: comments, and everything it can say.
cat >holdfast.json <<'END'
// What took long to write.
{
  "$schema": "holdfast.schema.json",
  "protect": [
    "*.toml",			// the hand-written ones
    "!tool_presets.toml",
    "data/",
    /* the settings protect themselves */ "!holdfast.json"
  ],
  "allow": ["manual_slop_history.toml"],
  "commands": [{ "match": "sh -c * presets", "allow": ["presets.toml"] }],
  "gate": "auto", "read-write-opens": "observe",
  "on-landed": "stop", "on-outside": "stay", "on-drift": "say", "leftovers": "end",
  "min-protected": 5,
  "retention": { "contents": 20, "days": 90, "size": "2G" }
}
END
guard() { wanted=$1; shift; expect "$wanted" "$holdfast" run "$@"; }
guard 0 -- true
cp holdfast.json "$dir/policy"

# layers POLICY TEXT: what status says that the next run arms.
layers()
{
	echo "$1" >holdfast.json
	"$holdfast" status >"$dir/out" || true
	grep -q "^layers    $2\$" "$dir/out" || fail "$1: not $2"
}
layers '{}' 'gate and leases where .*, watch, look at the content at the end'
layers '{"gate": "require"}' 'gate (required), leases, watch, look at .*'
layers '{"gate": "off"}' 'watch, look at .*; the policy turns gate and leases off'
cp "$dir/policy" holdfast.json
guard 97 -- sh -c 'echo >>holdfast.json'
said 'holdfast.json'
cmp holdfast.json "$dir/policy" || fail 'the policy did not protect itself'
guard 97 -- sh -c 'rm data/sub/b.csv'
[ -e data/sub/b.csv ] || fail 'data/ is not protected'
guard 97 -- sh -c 'touch data/sub/new'
[ ! -e data/sub/new ] || fail 'a new entry stayed'
guard 0 -- sh -c 'echo >>tool_presets.toml'
guard 0 -- sh -c 'echo >>manual_slop_history.toml'
guard 97 -- sh -c 'echo >>presets.toml'
guard 0 -- sh -c 'echo >>presets.toml; : presets'
# It differs, and asks for nothing.
expect 0 "$holdfast" status
grep -q 'presets.toml: .*(commands may change it)' "$dir/out" || fail 'not listed'
grep -q '^next      holdfast run ' "$dir/out" || fail 'wants to restore it'
expect 0 "$holdfast" restore
said '1 entry differs that commands may change, and stays'
! grep -q 'nothing differs' "$dir/err" || fail 'something does differ'
expect 0 "$holdfast" restore presets.toml
said 'put back presets.toml'
expect 0 "$holdfast" undo
guard 125 --min-protected 100 -- true

# Found from below, up to the repository's top and no further.
cd data/sub
guard 97 -- sh -c 'echo >>../../personas.toml'
cmp ../../personas.toml "$top/fixtures/sample/personas.toml" || fail 'not from below'
mkdir -p inner/.git
cd inner
echo 'a = 1' >own.toml
guard 0 -- sh -c 'echo >>../../../personas.toml'	# another project's
guard 97 -- sh -c 'echo >>own.toml'
cd ../../..
rm -rf data/sub/inner
cp "$top/fixtures/sample/personas.toml" .
expect 0 "$holdfast" snapshot

# --config and --root win, from anywhere; the root is the file's directory.
cd /
guard 97 --config "$dir/project/holdfast.json" -- \
	sh -c 'echo >>"$0/personas.toml"' "$dir/project"
mkdir "$dir/elsewhere"
cp "$dir/project/personas.toml" "$dir/elsewhere"
guard 97 --root "$dir/elsewhere" -- sh -c 'echo >>"$0/personas.toml"' "$dir/elsewhere"
guard 0 --root "$dir/elsewhere" -- sh -c 'echo >>"$0/personas.toml"' "$dir/project"
cp "$top/fixtures/sample/personas.toml" "$dir/project"
cd "$dir/project"

# No environment variable has a say.
printf '{ "protect": ["nothing-of-this"] }' >"$dir/other.json"
HOLDFAST_CONFIG=$dir/other.json HOLDFAST_ROOT=/ HOLDFAST_PROTECT=x \
	HOLDFAST_GATE=off HOME=$dir/elsewhere \
	guard 97 -- sh -c 'echo >>personas.toml'

# A changed policy is said, once.
sed -i '/data/d' holdfast.json
guard 0 --min-protected 1 -- true
said '^holdfast: .*policy changed'
guard 0 --min-protected 1 -- true
silent 'the policy is known'

# Somebody else's policy is not obeyed.
if chown 1 holdfast.json 2>/dev/null; then
	guard 125 -- touch "$dir/started"
	said '^holdfast: .*holdfast.json'
	[ ! -e "$dir/started" ] || fail 'obeyed a stranger'
	chown "$(id -u)" holdfast.json
fi

# on-landed is the file's, --keep-going the caller's; --dry-run only tells.
sed -i 's/"on-landed": "stop"/"on-landed": "keep-going"/' holdfast.json
guard 97 --gate off --min-protected 1 -- sh -c 'echo >>personas.toml; sleep 1; echo went on'
grep -q 'went on' "$dir/out" || fail 'on-landed was ignored'
guard 0 --dry-run --min-protected 1 -- touch "$dir/started"
[ ! -e "$dir/started" ] || fail 'a dry run ran the command'
grep -q 'personas.toml' "$dir/out" "$dir/err" || fail 'a dry run names nothing'

# Nothing is protected, or too little: the hint fits the reason.
cd "$dir"
mkdir nothing
cd nothing
echo '{}' >holdfast.json
guard 125 -- true
said "^holdfast: hint: looked for '\*.toml'; name what to protect"
echo '{ "protect": [] }' >holdfast.json
guard 125 -- true
said '^holdfast: hint: no pattern is given'
rm holdfast.json
echo 'a = 1' >a.toml
guard 125 --allow a.toml -- true
said '^holdfast: hint: all that is named may be changed by the command'
guard 125 --min-protected 2 -- true
said '^holdfast: hint: .*--dry-run'
guard 125 --min-protected 2 --dry-run -- true
grep -q 'a.toml' "$dir/out" || fail 'a dry run does not list what there is'
echo 'b = 1' >b.toml
guard 0 --quiet -- true
rm a.toml
guard 125 --min-protected 2 -- true
said "^holdfast: hint: 'a.toml' is gone since the last snapshot: 'holdfast restore' puts"
rm b.toml
guard 125 -- true
said "^holdfast: hint: 'a.toml' and others are gone"
expect 2 "$holdfast" snapshot
said "^holdfast: hint: 'a.toml' and others are gone"
expect 0 "$holdfast" restore
[ "$(cat a.toml b.toml)" = 'a = 1
b = 1' ] || fail 'not put back'

# Who says 0 may protect nothing; the words count as the list does.
cd "$dir"
mkdir none
cd none
guard 125 -- true
guard 0 --min-protected 0 --dry-run -- true
[ ! -e "$("$holdfast" store path)" ] || fail 'a dry run made a store'
guard 3 --min-protected 0 -- sh -c 'exit 3'
echo '{ "min-protected": 0 }' >holdfast.json
guard 0 --dry-run -- true
guard 0 -- true
guard 97 -- rm holdfast.json
expect 0 "$holdfast" snapshot
guard 125 --min-protected 1 --dry-run -- true
grep -q '^protected: 1$' "$dir/out" || fail 'counted otherwise'
said "^holdfast: cannot run: nothing but the policy file is protected in '"
echo 'a = 1' >a.toml
guard 125 --min-protected 2 --dry-run -- true
said '^holdfast: cannot run: 1 protected beside the policy file, at least 2 wanted$'

# To open for update is no change, unless the policy refuses it; to the command it
# is one thing more that it may not do.
if "$holdfast" run --gate require -- true 2>"$dir/err"; then
	cd "$dir"
	mkdir updates
	cd updates
	echo 'a = 1' | tee a.toml >b
	guard 0 -- sh -c ': <>a.toml'
	echo '{ "read-write-opens": "refuse" }' >holdfast.json
	guard 97 --report "$dir/report.json" -- sh -c ': <>a.toml'
	report 'v("a.toml", "landed") == {False}' 'v("a.toml", "operation") == {"openat"}'
	echo '{ "read-write-opens": "refuse", "allow": ["a.toml"], "protect": ["*.toml", "b"] }' \
		>holdfast.json
	guard 0 -- sh -c ': <>a.toml'
fi
