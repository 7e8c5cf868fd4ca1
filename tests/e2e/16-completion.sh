#!/bin/sh
# SPDX-License-Identifier: MIT
# What bash, zsh and fish complete behind holdfast: made from the tables, understood by
# these shells, and right in what they offer.
. "$(dirname "$0")/lib.sh"

for shell in bash zsh fish; do
	command -v $shell >/dev/null || skip "no $shell"
	expect 0 "$holdfast" help --completion $shell
	cp "$dir/out" "$dir/holdfast.$shell"
done
expect 2 "$holdfast" help --completion tcsh
said "hint: 'bash', 'zsh' or 'fish' are possible"
expect 2 "$holdfast" help run --completion bash
expect 2 "$holdfast" help --completion
bash -n "$dir/holdfast.bash" || fail 'no bash'
zsh -n "$dir/holdfast.zsh" || fail 'no zsh'
fish --no-execute "$dir/holdfast.fish" || fail 'no fish'

# Every option of every command, as help has them.
for command in $("$holdfast" help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
	for option in $("$holdfast" help "$command" | grep -oE -- '(^  |, |    )--[a-z-]+' |
		grep -oE -- '--[a-z-]+'); do
		grep -q "^	$command) echo .*$option " "$dir/holdfast.bash" &&
			grep -q "__holdfast_is $command' -l ${option#--} " "$dir/holdfast.fish" &&
			sed -n "/^	$command)$/,/;;$/p" "$dir/holdfast.zsh" |
			grep -q "'\**$option[=[]" ||
			fail "not completed: $command $option"
		count=$((${count:-0} + 1))
	done
done
[ "$count" -gt 60 ] || fail "only $count options"

make_project project
cd project
mkdir 'a dir'
"$holdfast" snapshot --quiet
mkdir "$dir/bin"
ln -s "$holdfast" "$dir/bin/holdfast"
PATH=$dir/bin:$PATH

# bash: offers WANTED WORD...; the last word is the one to complete.
offers()
{
	wanted=$1
	shift
	got=$(bash --norc -c '
		. "$0"
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_holdfast
		printf "%s|" "${COMPREPLY[@]}"' "$dir/holdfast.bash" "$@")
	[ "$got" = "$wanted|" ] || fail "bash, $*: wanted $wanted, got $got"
}
offers 'status|snapshot|store' holdfast s
offers '--version' holdfast --v
offers '--gate' holdfast run --ga
offers '--gate' holdfast run -x --root . --ga
offers '' holdfast run --limi
offers 'auto|require|off' holdfast run --gate ''
offers 'require' holdfast run --gate = r
offers 'auto|require|off' holdfast run --gate =
offers 'require' holdfast run --root = . --gate r
offers 'a dir' holdfast status --root a
offers 'personas.toml|presets.toml' holdfast restore --from 1 p
offers 'personas.toml' holdfast restore -q -- pe
offers '' holdfast restore -- --fr
offers 'path' holdfast store pa
offers 'undo' holdfast help u
number=$(ls "$("$holdfast" store path)/snapshots")
offers "$number" holdfast verify 0
offers "$number" holdfast restore --from ''
# The command's own words are not ours.
offers 'presets.toml' holdfast run cat --gate pre
offers '' holdfast run cat --ga
offers 'presets.toml' holdfast run -- cat pre
got=$(bash --norc -c '
	. "$0"
	_command_offset() { echo "offset $1"; }
	COMP_WORDS=(holdfast run --root . -x make -j2 "") COMP_CWORD=7
	_holdfast' "$dir/holdfast.bash")
[ "$got" = 'offset 5' ] || fail "bash does not complete the command: $got"

# fish says what it would offer.
offers()
{
	wanted=$1
	got=$(HOME=$dir fish --no-config -c 'source $argv[1]; complete -C $argv[2]' \
		"$dir/holdfast.fish" "$2" | cut -f1 | tr '\n' '|')
	[ "$got" = "$wanted|" ] || fail "fish, $2: wanted $wanted, got $got"
}
offers 'snapshot|status|store' 'holdfast s'
offers '--gate' 'holdfast run --ga'
offers 'auto|off|require' 'holdfast run --gate '
offers 'personas.toml' 'holdfast restore pe'
offers 'adopt' 'holdfast store ad'
offers "$number" 'holdfast verify 0'
offers 'presets.toml' 'holdfast run -x cat pre'
offers 'undo' 'holdfast help u'

# zsh completes on a terminal alone.
HOME=$dir python3 - "$dir/holdfast.zsh" <<'END' || fail zsh
import os, pty, re, select, sys
pid, fd = pty.fork()
if pid == 0:
    os.environ.update(TERM="dumb", PS1="> ")
    os.execvp("zsh", ["zsh", "-f", "-i"])
said = b""
def expect(text):
    global said
    while not re.search(text, said):
        if not select.select([fd], [], [], 30)[0]:
            sys.exit("zsh: no %r: %r" % (text, said))
        said += os.read(fd, 4096)
    said = b""
def type_in(text):
    os.write(fd, text.encode())
expect(rb"> ")
type_in("autoload -U compinit && compinit -u -D; source %s; echo rea''dy\n" % sys.argv[1])
expect(rb"ready\r?\n")
for typed, wanted in (("run --ga", rb"run --gate="), ("run --gate=r", rb"--gate=require"),
                      ("sta", rb"status "), ("restore pe", rb"restore personas.toml"),
                      ("verify 0", rb"verify 0\d+-"), ("store ado", rb"store adopt"),
                      ("run -x cat pre", rb"cat presets.toml")):
    type_in("holdfast %s\t" % typed)
    expect(wanted)
    type_in("\x15")
type_in("\x15exit\n")
while True:
    try:
        if not os.read(fd, 4096):
            break
    except OSError:
        break
os.waitpid(pid, 0)
END
