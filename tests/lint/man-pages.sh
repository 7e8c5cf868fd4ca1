#!/bin/sh
# SPDX-License-Identifier: MIT
# Every command has a man page that describes each of its options; the policy's has every
# key of the schema, the library's every exported function, the store's every section of
# formats.md; mandoc finds nothing wrong with any.  And docs/json.md has every command that
# prints JSON.
#
#	man-pages.sh TOP BUILD
set -eu
cd "$1"
built=$2/docs

command -v mandoc >/dev/null || { echo 'mandoc is not installed'; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
complain()
{
	echo "$*"
	failed=1
}

# derived NAME SCRIPT FILE...: what is said about it on standard error is a complaint.
derived()
{
	name=$1
	script=docs/$2
	shift 2
	awk -f "$script" "$@" >"$dir/$name.scd" 2>"$dir/said" || complain "$name: awk failed"
	[ ! -s "$dir/said" ] || complain "$(cat "$dir/said")"
}

commands=$(sed -n '/hf_commands\[HF_COMMANDS\]/,/^};/p' src/cli/commands.c | tr '\n\t' '  ' |
	grep -oE '\{ *"[a-z-]+"' | sed 's/.*"\(.*\)"/\1/')
[ "$(echo "$commands" | wc -l)" -gt 5 ] || complain 'found no table of commands'
for command in $commands; do
	if [ ! -s "$built/$command.help" ]; then
		complain "holdfast-$command.1: not built"
		continue
	fi
	derived "holdfast-$command.1" command_page.awk "$built/$command.help" docs/holdfast.1.scd
	! grep -q -- ' --json ' "$built/$command.help" ||
		grep -qE "^\| (\`[a-z ]+\`, )*\`$command[ \`]" docs/json.md ||
		complain "docs/json.md: does not describe what $command prints"
done
derived holdfast-store.5 formats_page.awk docs/formats.md
derived libholdfast.3 library_page.awk include/holdfast/holdfast.h include/holdfast/error.h
cp docs/*.[135].scd "$dir"

for key in $(grep -oE '^ {4}( {4})?"[$a-z-]+": \{$|^ {8}"[a-z]+": \{$' docs/holdfast.schema.json |
	tr -d '":{ '); do
	case $key in
	patterns|match|items|properties) continue ;;
	esac
	grep -qF "*\"$key\"*" docs/holdfast.json.5.scd ||
		complain "holdfast.json.5: does not describe \"$key\""
	keys=$((${keys:-0} + 1))
done
[ "${keys:-0}" -gt 10 ] || complain 'found no keys in the schema'

for function in $(grep -h '^HF_API' include/holdfast/*.h | grep -oE 'hf_[a-z_]+\('); do
	grep -qF "$function" "$dir/libholdfast.3.scd" ||
		complain "libholdfast.3: does not have $function)"
	functions=$((${functions:-0} + 1))
done
[ "${functions:-0}" -gt 10 ] || complain 'found no functions in the headers'

# Its title is the page's name; NAME, DESCRIPTION and SEE ALSO are added.
wanted=$(($(grep -c '^## ' docs/formats.md) + 3))
[ "$(grep -c '^# ' "$dir/holdfast-store.5.scd")" = $wanted ] ||
	complain 'holdfast-store.5: not the sections of docs/formats.md'

# What is to be typed reads as it stands there.
scdoc <"$dir/holdfast-store.5.scd" | mandoc -T utf8 -O width=400 |
	sed "s/.$(printf '\b')//g" >"$dir/read"
awk '/^```/ { is_fenced = !is_fenced; next } is_fenced' docs/formats.md |
	expand | sed 's/^ *//' >"$dir/typed"
while read -r line; do
	expand "$dir/read" | grep -qF -- "$line" ||
		complain "holdfast-store.5: cannot be read: $line"
done <"$dir/typed"

for page in "$dir"/*.scd; do
	name=$(basename "$page" .scd)
	if ! scdoc <"$page" >"$dir/$name" 2>"$dir/said"; then
		complain "$name: $(cat "$dir/said")"
		continue
	fi
	# What scdoc writes before a list that begins a section.
	mandoc -T lint -W warning "$dir/$name" 2>&1 |
		grep -v 'skipping paragraph macro' >"$dir/said" || true
	[ ! -s "$dir/said" ] || complain "$(cat "$dir/said")"
done
exit "${failed:-0}"
