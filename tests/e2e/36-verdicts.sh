#!/bin/sh
# SPDX-License-Identifier: MIT
# What must not be taken for a restore, and what must not be missed.
. "$(dirname "$0")/lib.sh"

make_project project
mkdir project/data
echo 'data' >project/data/1.txt
remember project
cd project
guarded() { wanted=$1; shift; expect "$wanted" "$holdfast" run --gate "$gate" "$@"; }
guarded 0 -- true
# What has landed ends the command; what is refused does not.
if gated; then then=true; else then='sleep 60'; fi

# A root that its command has locked is opened again by its owner.
guarded 97 -- sh -c "echo bad >personas.toml; chmod 0 .; $then"
unchanged project

# A root that is no directory any more cannot be looked at: nothing is put back.  With
# the gate it stays what it is.
replace_root()
{
	guarded "$1" --report "$dir/report.json" -- \
		sh -c 'cd ..; mv project elsewhere; echo x >project'
}
if gated; then
	replace_root 97
	report 'not any(x["landed"] for x in r["violations"])' 'r["verified"] == 6' \
		'{x["operation"] for x in r["violations"]} == {"renameat2"}'
else
	replace_root 98
	said 'cannot be put back' '0 of'
	report '{x["restored"] for x in r["violations"]} == {False}' 'r["verified"] == 0'
	rm "$dir/project"
	mv "$dir/elsewhere" "$dir/project"
	cd "$dir/project"
	expect 0 "$holdfast" restore
fi
unchanged project

# Moved away and back is seen, of the root as of a file.
guarded 97 -- sh -c 'cd ..; mv project p2; mv p2 project'
unchanged project

# Names like our temporary ones are no way around the watch.
guarded 97 --protect data/ -- \
	sh -c 'echo x >data/.holdfast-0123456789abcdef; rm data/.holdfast-*'
unchanged project

# What the policy names no more is free, and is no drift.
guarded 0 --exclude personas.toml -- \
	sh -c 'echo changed >personas.toml'
said 'the policy changed'
[ "$(cat personas.toml)" = changed ] || fail 'put back though excluded'
guarded 0 --exclude personas.toml -- rm personas.toml
[ ! -e personas.toml ] || fail 'put back though excluded'

# Of many violations the first are said when they happen, and once that there are
# more.
for i in $(seq 30); do echo "data $i" >"many$i.txt"; done
guarded 0 --protect 'many*' -- true
guarded 97 --protect 'many*' -- \
	sh -c "for i in many*; do echo x >\$i; done 2>/dev/null; $then"
if gated; then happened=refused; else happened=changed; fi
said "^holdfast: $happened: \.\.\. and more"
[ "$(grep -c "^holdfast: $happened: " "$dir/err")" = 21 ] || fail 'not 21 lines'

# Two runs at once watch the same files: what one of the commands damages ends both,
# and what is refused to one is no matter of the other's.
rm many*
guarded 0 -- true
if gated; then until='until [ -e "$0.refused" ]; do sleep 0.05; done'; else until='sleep 60'; fi
(status=0; timeout -k 5 60 "$holdfast" run --gate "$gate" -- sh -c ": >\"\$0\"; $until" \
	"$dir/begun" 2>"$dir/beside" || status=$?; echo $status >"$dir/status") &
until [ -e "$dir/begun" ] || [ -e "$dir/status" ]; do sleep 0.05; done
guarded 97 -- sh -c "echo x >presets.toml; $then"
: >"$dir/begun.refused"
wait
if gated; then wanted=0; else wanted=97; fi
[ "$(cat "$dir/status")" = $wanted ] || fail "the run beside it: $(cat "$dir/status" "$dir/beside")"
