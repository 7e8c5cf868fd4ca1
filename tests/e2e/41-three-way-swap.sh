#!/bin/sh
# SPDX-License-Identifier: MIT
# Two files trade names.  Behind the gate the first move is refused and named, and a
# command that stops there has not come to the other file; one that goes on is told
# of both.  Neither is touched.
. "$(dirname "$0")/lib.sh"

make_project project
mkdir project/data
remember project
cd project
identities() { stat -c '%n %i %z' ./*.toml; }
identities >"$dir/identities"

# swap COMMAND...: "mv" takes part in one violation on each path that it names.
swap()
{
	expect 97 "$holdfast" run --gate require --report "$dir/report.json" -- "$@"
	said '^holdfast: personas.toml: refused' ' 0 files changed, 6 of 6 verified; exit 97'
	report 'not any(x["landed"] for x in r["violations"])' \
		'{x["process"]["comm"] for x in r["violations"]} == {"mv"}' \
		'all(x["operation"].startswith("rename") for x in r["violations"])'
	unchanged project
	identities | diff "$dir/identities" - >&2 || fail 'touched'
}

swap bash "$top/tests/scenarios/v43_three_way_swap.sh" "$dir/project"
report '[(x["path"], x["detail"]) for x in r["violations"]] == \
	[("personas.toml", "personas.toml -> .swap")]'

swap sh -c 'mv personas.toml .swap; mv presets.toml personas.toml; mv .swap presets.toml'
report '{(x["path"], x["detail"]) for x in r["violations"]} == {
	("personas.toml", "personas.toml -> .swap"),
	("presets.toml", "presets.toml -> personas.toml"),
	("personas.toml", "presets.toml -> personas.toml")}'
