#!/bin/sh
# SPDX-License-Identifier: MIT
# Without inotify the run is still right, and says what is missing.
. "$(dirname "$0")/lib.sh"

make_project project
remember project
cd project
status=0
"$support/no_inotify" watches true 2>/dev/null || status=$?
[ $status != 77 ] || skip 'no user namespaces'

expect 0 "$holdfast" run -- true		# the introduction is not of interest

# The gate is another layer, with a line of its own.
for what in watches instances; do
	expect 0 "$support/no_inotify" $what "$holdfast" run --gate off \
		--report "$dir/report.json" -- true
	said '^holdfast: .*watch.*'
	[ "$(grep -cv '^holdfast: hint: ' "$dir/err")" = 1 ] || fail 'not one line'
	report 'r["layers"]["watch"]["state"] == "incomplete"' \
		'r["layers"]["watch"]["why"]' 'r["status"] == "clean"'

	# Said before the command says anything.
	expect 0 "$support/no_inotify" $what "$holdfast" run --gate off -- \
		sh -c 'echo command >&2'
	[ "$(tail -n 1 "$dir/err")" = command ] || fail 'not said at the start'

	# Seen by the final look instead.
	expect 97 "$support/no_inotify" $what "$holdfast" run --gate off \
		--report "$dir/report.json" -- sh -c 'echo x >personas.toml; rm presets.toml'
	report 'v("personas.toml", "restored") == {True}' \
		'v("presets.toml", "restored") == {True}'
	unchanged project
done
