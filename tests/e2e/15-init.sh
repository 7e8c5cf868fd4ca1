#!/bin/sh
# SPDX-License-Identifier: MIT
# holdfast init: what git does not hold comes first, a person is asked, nothing is ever
# overwritten, and what was written is used by the next run.
. "$(dirname "$0")/lib.sh"

make_project project
cd project
git init -q .
mkdir -p data src tests node_modules/x
for name in data/1.csv data/2.csv src/local.json node_modules/x/a.json .env; do
	echo 1 >"$name"
done
echo pass >src/a.py
echo 'def test_a(): pass' >tests/test_a.py
echo data/ >.gitignore
git add .gitignore ./*.toml src/a.py tests

# What it would do; nothing is made.
expect 0 "$holdfast" status
grep -q '^next      holdfast run -- COMMAND$' "$dir/out" || fail 'toml is the default'
expect 0 "$holdfast" init --dry-run
[ ! -e holdfast.json ] || fail 'a dry run wrote'
said '^not in git, or not all of it:$' '^\*   1  \.env  1 file, 2 bytes$' \
	'^\*   2  data/  2 files' '^\*   3  src/local.json ' \
	'^in git:$' '^\*   4  \*\.toml  6 files'
cp "$dir/out" "$dir/planned"

# Without a terminal: what is marked.
expect 0 "$holdfast" init
[ ! -s "$dir/err" ] || fail 'said more'
cmp holdfast.json "$dir/planned" || fail 'wrote something else than planned'
grep -q '^run your tests as: holdfast run -- python3 -m pytest$' "$dir/out" || fail 'no runner'
expect 97 "$holdfast" run -- sh -c 'rm data/1.csv'
[ -e data/1.csv ] || fail 'what init wrote protects nothing'
expect 0 "$holdfast" run --dry-run -- true
! grep -q node_modules "$dir/out" || fail 'went into node_modules'

# What lies too deep is not left out without a word.
rm holdfast.json
mkdir -p 1/2/3/4/5/6/7/8/9
expect 0 "$holdfast" init
said "^holdfast: note: there is more than was looked at"
rm holdfast.json
expect 0 "$holdfast" init --quiet
silent '--quiet'
rm -r 1

# Never over what is there: here, above, a link, with --root and without.
echo '{ "protect": ["data/"] }' >holdfast.json
cp holdfast.json "$dir/mine"
expect 2 "$holdfast" init
said "^holdfast: cannot make '$dir/project/holdfast.json': it is there already$"
(cd src && expect 2 "$holdfast" init) || exit 1
expect 2 "$holdfast" init --root . --protect x
cmp holdfast.json "$dir/mine" || fail 'overwritten'
rm holdfast.json
ln -s nowhere holdfast.json
expect 2 "$holdfast" init --root "$dir/project"
[ "$(readlink holdfast.json)" = nowhere ] || fail 'a link was replaced'
rm holdfast.json

# Named: nothing is asked and nothing else taken.  JSON says all of it.
expect 0 "$holdfast" init --json --protect 'data/' --protect '*.toml' --exclude presets.toml
python3 - "$dir/out" <<'END' || fail 'not this JSON'
import json, sys
said = json.load(open(sys.argv[1]))
assert said["holdfast-json"] == 1 and said["command"] == "init" and said["written"] is True
assert said["protect"] == ["data/", "*.toml", "!presets.toml"], said
assert [one["git"] for one in said["candidates"]] == ["not-held"] * 3 + ["held"], said
assert not any(one["chosen"] for one in said["candidates"])
assert said["runners"] == ["python3 -m pytest"] and said["cut"] is False
END
expect 0 "$holdfast" run -- sh -c 'echo >>presets.toml'
git checkout -q presets.toml
rm holdfast.json

# What git holds changes what is taken: a directory that it has is offered alone.
git add -f data .env
expect 0 "$holdfast" init --dry-run
said '^    .  data/  2 files' '^\*   1  src/local.json '
git config core.splitIndex true
git update-index --split-index
expect 0 "$holdfast" init --dry-run
said '^    .  data/  2 files'
git worktree add -q "$dir/tree" 2>/dev/null || {
	git -c user.name=a -c user.email=a@b commit -q -m a
	git worktree add -q "$dir/tree"
}
echo 1 >"$dir/tree/src/new.json"
expect 0 "$holdfast" init --dry-run --root "$dir/tree"
said '^\*   1  src/new.json ' '^    .  data/  2 files'
! grep -q '^not .*\.toml' "$dir/err" || fail 'the index of the work tree was not read'
mkdir "$dir/held"
cd "$dir/held"
git init -q .
mkdir data
echo 1 >data/1.csv
git add data
expect 2 "$holdfast" init
said '^    1  data/  1 file, 2 bytes$' '^holdfast: cannot tell .*: git holds what there is'
cd "$dir/project"
printf 'DIRCxxxx' >.git/index		# damaged: as without git
expect 0 "$holdfast" init --dry-run
said '^found:$'
rm .git/index

# Nothing there, or nothing that may be written.
mkdir "$dir/empty" "$dir/empty/.git"
cd "$dir/empty"
expect 0 "$holdfast" status
grep -q '^next      holdfast init$' "$dir/out" || fail 'status does not name init'
expect 2 "$holdfast" init
said "^holdfast: cannot tell what to protect in '$dir/empty': nothing there" \
	'^holdfast: hint: .*--protect GLOB$'
[ ! -e holdfast.json ] || fail 'wrote a policy that protects nothing'
expect 2 "$holdfast" init --protect '[a'
expect 2 "$holdfast" init words
expect 0 "$holdfast" init --quiet --protect later.toml
silent quiet
expect 2 "$holdfast" init --root "$dir/nowhere" --protect x
rm holdfast.json
if [ "$(id -u)" != 0 ]; then
	chmod 500 .
	expect 3 "$holdfast" init --protect x
	chmod 700 .
fi

# A person is asked; a wrong answer again.
cd "$dir/project"
asked()	# ANSWERS STATUS
{
	python3 - "$holdfast" "$1" "$2" <<'END' || fail "asked: $1"
import os, pty, sys
program, answers, wanted = sys.argv[1], sys.argv[2], int(sys.argv[3])
answers = answers.encode().decode("unicode_escape")
pid, fd = pty.fork()
if pid == 0:
    os.execv(program, [program, "init"])
os.write(fd, answers.encode())
said = b""
while True:
    try:
        part = os.read(fd, 4096)
    except OSError:
        break
    if not part:
        break
    said += part
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
assert status == wanted and b"protect which?" in said, (status, said)
END
}
protects()
{
	python3 - "$@" <<'END' || fail "not $*"
import json, re, sys
text = re.sub(r"^ *//.*$", "", open("holdfast.json").read(), flags=re.M)
assert json.loads(text)["protect"] == sys.argv[1:], text
END
	rm holdfast.json
}
asked 'none\n' 1
asked '\004' 1
[ ! -e holdfast.json ] || fail 'wrote what nobody wanted'
asked '9\n3\n' 0
protects data/
asked '\n' 0
protects '*.toml' .env data/ src/local.json
asked 'all\n' 0
protects '*.toml' .env data/ src/local.json
