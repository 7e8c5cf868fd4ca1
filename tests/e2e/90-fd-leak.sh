#!/bin/sh
# SPDX-License-Identifier: MIT
# The command has the caller's descriptors and none of ours; ours do not grow.
. "$(dirname "$0")/lib.sh"

make_project project
cd project
expect 0 "$holdfast" run --gate "$gate" -- true

# The same with and without holdfast, whatever the caller passes on.
compare()
{
	"$support/list_fds" >"$dir/bare"
	"$holdfast" run --gate "$gate" -- "$support/list_fds" >"$dir/guarded" 2>"$dir/err"
	cmp "$dir/bare" "$dir/guarded" || fail "$(cat "$dir/bare" "$dir/guarded")"
}
compare
compare 7</dev/null 9>/dev/null
"$support/list_fds" <&- 2>&- >"$dir/bare"
"$holdfast" run --gate "$gate" -- "$support/list_fds" <&- 2>&- >"$dir/guarded"
cmp "$dir/bare" "$dir/guarded" || fail 'closed descriptors were filled'

# While it runs, holdfast itself holds neither the caller's input and output (a
# pipe must end when the command ends) nor anything else it was given.
cat >"$dir/look.sh" <<'END'
pid=$PPID
given=$(readlink /proc/$$/fd/1 | sed 's/[][]/\\&/g')		# a pipe
while [ "$pid" -gt 1 ] && grep -q '^holdfast' "/proc/$pid/comm"; do
	echo "0 $(readlink "/proc/$pid/fd/0")" "1 $(readlink "/proc/$pid/fd/1")"
	readlink "/proc/$pid"/fd/* | sed "s|^$given\$|given: &|"
	pid=$(sed 's/.*) . \([0-9]*\).*/\1/' "/proc/$pid/stat")
done
END
echo input | "$holdfast" run --gate "$gate" -- sh "$dir/look.sh" 7<"$dir/bare" 2>"$dir/err" |
	sort | uniq -c >"$dir/out"
[ "$(grep -c '0 /dev/null 1 /dev/null$' "$dir/out")" = 1 ] ||
	fail 'holdfast above the command holds its input or output'
! grep -E ' given: |/bare$' "$dir/out" || fail 'held what it was given'

# Fifty violations later it has as many as before, whether they landed or were refused.
cat >"$dir/damage.sh" <<'END'
fds() { ls "/proc/$PPID/fd" | wc -l; }
wait_until()
{
	tries=0
	until "$@"; do
		sleep 0.05
		tries=$((tries + 1))
		[ $tries -lt 400 ] || exit 9
	done
}
intact() { cmp -s personas.toml "$1"; }
i=0
while [ $i -lt 50 ]; do
	echo "damage $i" >personas.toml
	wait_until intact "$1"
	i=$((i + 1))
	[ $i != 5 ] || early=$(fds)
done
sleep 0.2
echo "$early $(fds)"
END
expect 97 "$holdfast" run --gate "$gate" --keep-going -- \
	sh "$dir/damage.sh" "$top/fixtures/sample/personas.toml"
read -r early late <"$dir/out" || fail "damage was not put back while the command ran"
[ "$late" -le "$early" ] || fail "from $early to $late descriptors"
