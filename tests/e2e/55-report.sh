#!/bin/sh
# SPDX-License-Identifier: MIT
# Where the report of a run goes, and what happens when it cannot go there.
. "$(dirname "$0")/lib.sh"

make_project project
remember project
cd project

# one STATUS REGEX ARGUMENT...: exactly one line and perhaps a hint.
one()
{
	wanted_status=$1
	wanted_text=$2
	shift 2
	expect "$wanted_status" "$holdfast" run "$@"
	said "^holdfast: cannot write the report to $wanted_text\$"
	[ "$(grep -cv '^holdfast: hint: ' "$dir/err")" = 1 ] || fail "one line: $*"
}
refused() { one 125 "$@" -- touch "$dir/started"; [ ! -e "$dir/started" ] || fail "started: $*"; }

expect 0 "$holdfast" run -- true

# Before the start: the command does not run.
refused "'$dir/none/r': No such file or directory" --report "$dir/none/r"
refused "'$dir': it is a directory" --report "$dir"
refused "'r/': it is a directory" --report r/
refused "'': it is empty" --report ''
refused "'fd:x': not a descriptor's number" --report fd:x
refused "'fd:0': no such descriptor" --report fd:0
refused "'fd:77': Bad file descriptor" --report fd:77
refused "'fd:99999999999': no such descriptor" --report fd:99999999999
refused "'presets.toml': the name is protected by '\\*.toml'" --report presets.toml
refused "'$dir/new.toml': the name is protected by '/.*'" --report "$dir/new.toml" \
	--protect "$dir/*.toml" --protect presets.toml
store=$("$holdfast" store path)
refused "'$store/r': it lies in the store" --report "$store/r"
unchanged project

# Afterwards it fails the run, unless that fails already.
one 125 "'/dev/full': No space left on device" --report /dev/full -- true
one 125 "'/dev/full': No space left on device" --report /dev/full -- false
one 125 "'fd:9': No space left on device" --report fd:9 -- true 9>/dev/full
one 125 "'../r': Is a directory" --report ../r -- sh -c 'rm ../r; mkdir ../r'
rmdir ../r
expect 97 "$holdfast" run --gate off --report /dev/full -- sh -c 'echo x >presets.toml'
said "^holdfast: cannot write the report to '/dev/full'" 'exit 97'
unchanged project

# whole FILE WORD: a report, from its first byte to its last.
whole() { python3 -c '
import json, sys
sys.exit(json.load(open(sys.argv[1]))["status"] != sys.argv[2])' "$1" "$2" || fail "$1"; }

# A file is replaced as a whole, keeps its mode, and is found through a link.
echo old >../r
chmod 640 ../r
ln -s r ../link
expect 0 "$holdfast" run --report ../link -- sh -c 'cp ../r ../while'
whole ../while running
whole ../r clean
[ "$(stat -c %a ../r)" = 640 ] || fail 'another mode'
[ -L ../link ] || fail 'the link was replaced'
(umask 077 && "$holdfast" run --report ../private -- true)
[ "$(stat -c %a ../private)" = 600 ] || fail 'not as the umask says'

# Behind a descriptor; the command's own output stays before it.
"$holdfast" run --report fd:9 -- true 9>../r
whole ../r clean
"$holdfast" run --report fd:9 -- true 9>&1 >../none | cat >../r
whole ../r clean
"$holdfast" run --report fd:1 -- echo first >../r
[ "$(head -n 1 ../r)" = first ] || fail 'the report came first'
sed 1d ../r >../rest
whole ../rest clean
mkfifo ../fifo
expect 124 timeout 0.5 "$holdfast" run --report ../fifo -- touch ../started
[ ! -e ../started ] || fail 'started before somebody reads the report'
cat ../fifo >../r &
expect 0 "$holdfast" run --report ../fifo -- true
wait
whole ../r clean
# Who listened has gone: nobody misses it.
(sleep 0.1; "$holdfast" run --report fd:9 -- true 9>&1 >../none; echo $? >../status) | true
[ "$(cat ../status)" = 0 ] || fail "nobody listens: $(cat ../status)"

# A run that does not begin leaves one as well.
expect 125 "$holdfast" run --report ../r --min-protected 7 -- true
whole ../r error
rm -f ../r
expect 127 "$holdfast" run --report ../r -- no-such-command
whole ../r error
grep -q 'command not found' ../r || fail 'the report does not say why'
# instead REGEX ARGUMENT...: the error takes the place of an earlier "clean".
instead()
{
	wanted_text=$1
	shift
	expect 0 "$holdfast" run --report ../r -- true
	whole ../r clean
	expect 125 "$holdfast" run --report ../r "$@"
	whole ../r error
	grep -q "\"error\": \".*$wanted_text" ../r || fail "the report: $*"
	[ "$(grep -cv '^holdfast: hint: ' "$dir/err")" = 1 ] || fail "one line: $*"
}
echo '{ "protekt": [] }' >../policy.json
instead 'nothing is protected' --protect nothing -- true
instead 'protekt' --config ../policy.json -- true
instead 'nonexist' --root "$dir/nonexist" -- true
grep -q '"root": null' ../r || fail 'a root'
instead 'leaves the root' --protect ../x -- true
instead 'no command'
: >../r
expect 125 "$holdfast" run --report ../r --root "$dir/nonexist" -- true
whole ../r error
"$holdfast" run --report fd:9 --protect nothing -- true 9>../r 2>../err && fail 'started'
whole ../r error
# There is one gate a process: below another root's it cannot be required.
mkdir ../around
echo 'a = 1' >../around/a.toml
(cd ../around && expect 125 "$holdfast" run --gate require -- "$holdfast" run \
	--gate require --root "$dir/project" --report "$dir/r" -- touch "$dir/started") || exit 1
said '^holdfast: cannot run: the gate is required, and ' \
	"^holdfast: hint: 'holdfast doctor --root $dir/project' shows"
[ ! -e "$dir/started" ] || fail 'started without the gate'
whole ../r error
grep -q '"error": ".*the gate is required' ../r || fail 'the report: no gate'
# What may be protected, or is nobody's report, stays.
for option in --root=../nonexist --config=../policy.json; do
	expect 125 "$holdfast" run --report presets.toml "$option" -- true
	said "^holdfast: cannot write the report to 'presets.toml': it is no earlier report"
done
expect 125 "$holdfast" run --report presets.toml --min-protected 7 -- true
said "the name is protected by"
expect 125 "$holdfast" run --report ../none --root ../nonexist --dry-run -- true
[ ! -s ../none ] || fail 'a dry run wrote a report'
unchanged project
