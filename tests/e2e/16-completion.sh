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
python3 - "$holdfast" "$dir" <<'END' || fail 'not all is completed'
import re, subprocess, sys
def said(*words):
    ran = subprocess.run([sys.argv[1], "help", *words], stdout=subprocess.PIPE, check=True)
    return ran.stdout.decode()
scripts = {name: said("--completion", name) for name in ("bash", "zsh", "fish")}
count = 0
for command in re.findall(r"^  ([a-z]+) ", said(), re.M):
    zsh = re.search(r"^\t%s\)\n.*?;;$" % command, scripts["zsh"], re.M | re.S).group()
    bash = re.search(r"_holdfast_options.*?^\t%s\) (echo [^;]*);;$" % command, scripts["bash"],
                     re.M | re.S).group(1)
    for option in re.findall(r"^  (?:-.,|   ) --([a-z-]+)", said(command), re.M):
        count += 1
        fish = "'__holdfast_is %s' -l %s " % (command, option)
        for shell, is_there in (("bash", "--%s " % option in bash),
                                ("fish", fish in scripts["fish"]),
                                ("zsh", re.search("--%s[=[]" % option, zsh))):
            if not is_there:
                sys.exit("%s does not complete: %s --%s" % (shell, command, option))
if count < 80:
    sys.exit("only %d options" % count)
END

make_project project
cd project
mkdir 'a dir'
"$holdfast" snapshot --quiet
mkdir "$dir/bin"
ln -s "$holdfast" "$dir/bin/holdfast"
ln -s "$holdfast" "$dir/bin/a-lone-command"
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
offers 'status' holdfast sta
offers 'doctor' holdfast doc
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
offers '' holdfast restore 0
offers 'pre-commit|pre-push' holdfast hook install pre-
offers 'undo' holdfast help un
number=$(ls "$("$holdfast" store path)/snapshots")
offers "$number" holdfast verify 0
offers "$number" holdfast restore --from ''
# What lies in a store is no code.
touch "$("$holdfast" store path)/snapshots/\$(touch ran)" \
	"$("$holdfast" store path)/snapshots/0\`touch ran\`"
offers "$number" holdfast restore --from ''
[ ! -e ran ] || fail 'a name in a store was run'
rm "$("$holdfast" store path)"/snapshots/*touch*
# The command's own words are not ours.
offers 'presets.toml' holdfast run cat --gate pre
offers '' holdfast run cat --ga
offers 'presets.toml' holdfast run -- cat pre
offers 'a-lone-command' holdfast run -x a-lone
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
offers 'status' 'holdfast sta'
offers '--gate' 'holdfast run --ga'
offers 'auto|off|require' 'holdfast run --gate '
offers 'personas.toml' 'holdfast restore pe'
offers 'adopt' 'holdfast store ad'
offers "$number" 'holdfast verify 0'
offers 'presets.toml' 'holdfast run -x cat pre'
offers 'a-lone-command' 'holdfast run -x a-lone'
offers 'undo' 'holdfast help un'

# zsh completes on a terminal alone; it loads what is installed by its name.
mkdir "$dir/site"
cp "$dir/holdfast.zsh" "$dir/site/_holdfast"
HOME=$dir python3 - "$dir/site" <<'END' || fail zsh
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
type_in("fpath=(%s $fpath); autoload -U compinit && compinit -u -D; echo rea''dy\n" % sys.argv[1])
expect(rb"ready\r?\n")
for typed, wanted in (("run --ga", rb"run --gate="), ("run --gate=r", rb"--gate=require"),
                      ("sta", rb"status "), ("restore pe", rb"restore personas.toml"),
                      ("verify 0", rb"verify 0\d+-"), ("store ado", rb"store adopt"),
                      ("run -x a-lone", rb"-x a-lone-command"),
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
