#!/bin/sh
# SPDX-License-Identifier: MIT
# Whatever is wrong before the start: one clear line, the right status, the command
# not run, nothing lost.
. "$(dirname "$0")/lib.sh"

make_project project
remember project
cd project

# refused STATUS REGEX ARGUMENT...: of `run` with these, the command must not start.
refused()
{
	wanted_status=$1
	wanted_text=$2
	shift 2
	expect "$wanted_status" "$holdfast" run "$@" -- touch "$dir/started"
	said "^holdfast: .*$wanted_text"
	[ ! -e "$dir/started" ] || fail "the command was started: $*"
	[ ! -s "$dir/out" ] || fail "wrote on standard output: $*"
	others=$(grep -cv '^holdfast: hint: ' "$dir/err")
	[ "$others" = 1 ] || fail "wanted one line and hints: $*"
	hints=$(grep -c '^holdfast: hint: ' "$dir/err" || true)
	[ "$hints" -le 1 ] || fail "wanted one hint at most: $*"
}

# Usage.
refused 125 no-such-option --no-such-option
said "hint: 'holdfast help run' lists its options"
refused 125 "'--protct': no such option" --protct x
said "hint: did you mean '--protect'"
refused 125 gate --gate perhaps
refused 125 min-protected --min-protected many
refused 125 "'--fail-fast' ends the command" --fail-fast --keep-going
refused 125 root --root
expect 125 "$holdfast" run
said '^holdfast: '
expect 2 "$holdfast" no-such-command
said '^holdfast: .*no-such-command'

# The root.
refused 125 no-such-directory --root "$dir/no-such-directory"
refused 125 personas.toml --root personas.toml

# The policy: always with its line and column.
policy()
{
	printf '%b' "$1" >"$dir/policy.json"
	refused 125 "$2" --config "$dir/policy.json"
}
policy '{\n  "protekt": ["*.toml"]\n}\n' 'policy.json:2:3: .*protekt'
policy '{\n  "protect": "*.toml"\n}\n' 'policy.json:2:'
policy '{\n  "gate": "perhaps"\n}\n' 'policy.json:2:'
policy '{ "protect": ["*.toml"\n' 'policy.json:[12]:'
policy '{ "protect": ["*.toml"] } x\n' 'policy.json:1:27'
policy '{ "protect": [], "protect": [] }\n' 'policy.json:1:18'
policy '' 'policy.json:1:1'
policy '{ "protect": ["[a"] }' 'policy.json:1:'
policy '{ "protect": ["../x"] }' 'policy.json:1:'
policy '{ "min-protected": -1 }' 'policy.json:1:'
policy '\377\376' 'policy.json:1:1'
refused 125 no-such-policy --config "$dir/no-such-policy"
refused 125 "$dir" --config "$dir"
mkfifo "$dir/fifo.json"
refused 125 fifo.json --config "$dir/fifo.json"
refused 125 'leaves the root' --protect '../x'
refused 125 '' --protect ''
refused 125 '' --protect "$(printf '%05000d' 0)"

# Nothing to protect comes with what was looked for.
mkdir "$dir/empty"
refused 125 '\*\.toml' --root "$dir/empty"
said '^holdfast: hint: '
refused 125 7 --min-protected 7
unchanged project

# 10,000 patterns are many, not wrong.
python3 - >"$dir/many.json" <<'END'
import json
names = ["file-%d.txt" % n for n in range(5000)] + ["d%d/**/x?y*" % n for n in range(4999)]
print(json.dumps({"protect": names + ["*.toml"]}))
END
expect 0 "$holdfast" run --root . --config "$dir/many.json" --store "$dir/many" -- true
expect 97 "$holdfast" run --root . --config "$dir/many.json" --store "$dir/many" -- \
	touch file-4711.txt
unchanged project

# A missing file is protected as such.
expect 0 "$holdfast" run --protect '*.toml' --protect absent.txt -- true
expect 97 "$holdfast" run --protect '*.toml' --protect absent.txt -- touch absent.txt
said 'absent.txt'
unchanged project

# A fifo and a device have no content, and nothing waits for one.
mkfifo pipe.toml
expect 0 "$holdfast" run -- true
expect 97 "$holdfast" run -- rm pipe.toml
[ -p pipe.toml ] || fail 'the fifo did not come back'
rm pipe.toml
if mknod null.toml c 1 3 2>/dev/null; then
	expect 0 "$holdfast" run -- true
	expect 97 "$holdfast" run -- rm null.toml
	[ -c null.toml ] || fail 'the device did not come back'
	rm null.toml
fi

# Names that would drive a terminal are escaped, and exact in the report.
name=$(printf 'a\nb\033[31m\303\244\377.toml')
echo 'x = 1' >"$name"
expect 0 "$holdfast" run -- true
expect 97 "$holdfast" run --report "$dir/report.json" -- rm "$name"
[ -e "$name" ] || fail 'the file with the strange name did not come back'
said 'a\\nb\\e\[31m'
! LC_ALL=C grep -q "$(printf '\033')" "$dir/err" || fail 'an escape sequence got out'
encoded=$(printf %s "$name" | base64)
report "r['violations'][0]['path_bytes'] == '$encoded'"
rm "$name"

# A path longer than the system takes: recorded, or refused by name; no hang.
python3 - <<'END'
import os
os.mkdir("long")
os.chdir("long")
for _ in range(20):
    os.mkdir("d" * 250)
    os.chdir("d" * 250)
open("bottom.txt", "w").write("here\n")
END
status=0
timeout 60 "$holdfast" run --protect long/ --store "$dir/long" -- true \
	>"$dir/out" 2>"$dir/err" || status=$?
case $status in
0) ;;
125) said '^holdfast: cannot .*longer than' ;;
*) fail "a long path: status $status" ;;
esac
rm -rf long
unchanged project

# A limit on the size of files is an error, not a signal that ends us; the command
# has the signal as it was.
head -c 300000 /dev/urandom >"$dir/project/large.toml"
cd "$dir/project"
expect 125 sh -c 'ulimit -f 64; exec "$0" run -- true' "$holdfast"
said '[Ff]ile too large'
rm large.toml
expect 153 "$holdfast" run -- sh -c 'ulimit -f 1
	exec head -c 100000 /dev/zero >"$0"' "$dir/too-large"
