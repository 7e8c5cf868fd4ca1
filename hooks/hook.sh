#!/bin/sh
# SPDX-License-Identifier: MIT
# holdfast-hook @SUM@
# Written by 'holdfast hook install'; 'holdfast hook uninstall' takes it away and gives back what was here before,
# which is @NAME@.before-holdfast beside this file and is called first.  Add nothing here: the sum above is that of
# the text below it.
name=@NAME@
program=@PROGRAM@

[ -x "$program" ] || program=$(command -v holdfast) || program=
case $0 in */*) before=${0%/*} ;; *) before=. ;; esac
before=$before/$name.before-holdfast

ours()
{
	code=127
	if [ -n "$program" ]; then
		code=0
		"$program" hook run "$name" -- "$@" || code=$?
	fi
	# Not there, or nothing that this system can execute.
	case $code in 126 | 127) ;; *) return "$code" ;; esac
	echo "holdfast: warning: cannot find holdfast, or execute it: nobody looks at protected files here" >&2
	echo "holdfast: hint: install it again, or remove '$0'" >&2
}

if [ ! -f "$before" ] || [ ! -x "$before" ]; then
	ours "$@"
	exit
fi

# Both read what git says; with a dot behind it no newline at its end is lost.
status=0
case $name in
pre-push | post-rewrite)
	input=$(cat && echo .)
	input=${input%.}
	printf %s "$input" | "$before" "$@" || status=$?
	;;
*)
	input=
	"$before" "$@" || status=$?
	;;
esac
# Nothing will be committed or pushed: nothing to look at.
case $name:$status in pre-*:0 | post-*) ;; *) exit "$status" ;; esac
result=0
if [ -n "$input" ]; then
	printf %s "$input" | ours "$@" || result=$?
else
	ours "$@" </dev/null || result=$?
fi
[ "$status" != 0 ] || status=$result
exit "$status"
