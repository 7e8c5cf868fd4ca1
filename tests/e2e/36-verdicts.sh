#!/bin/sh
# SPDX-License-Identifier: MIT
# What must not be taken for a restore, and what must not be missed.
. "$(dirname "$0")/lib.sh"

make_project project
mkdir project/data
echo 'data' >project/data/1.txt
remember project
cd project
expect 0 "$holdfast" run -- true

# A root that its command has locked is opened again by its owner.
expect 97 "$holdfast" run -- sh -c 'echo bad >personas.toml; chmod 0 .; sleep 60'
unchanged project

# A root that is no directory any more cannot be looked at: nothing is put back.
expect 98 "$holdfast" run --report "$dir/report.json" -- \
	sh -c 'cd ..; mv project elsewhere; echo x >project'
said 'cannot be put back' '0 of'
report '{x["restored"] for x in r["violations"]} == {False}' 'r["verified"] == 0'
rm "$dir/project"
mv "$dir/elsewhere" "$dir/project"
cd "$dir/project"
expect 0 "$holdfast" restore

# Moved away and back is seen, of the root as of a file.
expect 97 "$holdfast" run -- sh -c 'cd ..; mv project p2; mv p2 project'
unchanged project

# Names like our temporary ones are no way around the watch.
expect 97 "$holdfast" run --protect data/ -- \
	sh -c 'echo x >data/.holdfast-0123456789abcdef; rm data/.holdfast-*'
unchanged project

# What the policy names no more is free, and is no drift.
expect 0 "$holdfast" run --exclude personas.toml -- \
	sh -c 'echo changed >personas.toml'
said 'the policy changed'
[ "$(cat personas.toml)" = changed ] || fail 'put back though excluded'
expect 0 "$holdfast" run --exclude personas.toml -- rm personas.toml
[ ! -e personas.toml ] || fail 'put back though excluded'

# Of many violations the first are said when they happen, and once that there are
# more.
for i in $(seq 30); do echo "data $i" >"many$i.txt"; done
expect 0 "$holdfast" run --protect 'many*' -- true
expect 97 "$holdfast" run --protect 'many*' -- \
	sh -c 'for i in many*; do echo x >$i; done; sleep 60'
said '^holdfast: changed: \.\.\. and more'
[ "$(grep -c '^holdfast: changed: ' "$dir/err")" = 21 ] || fail 'not 21 lines'

# Two runs at once watch the same files: what one of the commands damages ends both.
rm many*
expect 0 "$holdfast" run -- true
(status=0; timeout -k 5 60 "$holdfast" run -- sh -c ': >"$0"; sleep 60' "$dir/begun" \
	2>"$dir/beside" || status=$?; echo $status >"$dir/status") &
until [ -e "$dir/begun" ] || [ -e "$dir/status" ]; do sleep 0.05; done
expect 97 "$holdfast" run -- sh -c 'echo x >presets.toml; sleep 60'
wait
[ "$(cat "$dir/status")" = 97 ] || fail "the run beside it: $(cat "$dir/status" "$dir/beside")"
