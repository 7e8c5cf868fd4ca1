#!/bin/sh
# SPDX-License-Identifier: MIT
# Every option and command of the tables is in the man page, and the man page has
# no others.  Options stand there as *--name* and *-n*, commands as *holdfast name*.
#
#	man-options.sh TOP
set -eu
cd "$1"
page=docs/holdfast.1.scd

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# The rows of the table, joined: { "name", ..., OPTION_NAME, 'letter' },
sed -n '/^static const struct hf_option table\[\]/,/^};/p' src/cli/options.c |
	tr '\n\t' '  ' >"$dir/rows"
{
	grep -oE '\{ "[a-z-]+"' "$dir/rows" | sed 's/.*"\(.*\)"/--\1/'
	grep -oE "OPTION_[A-Z_]+, '.'" "$dir/rows" | sed "s/.*'\(.\)'/-\1/"
	echo --version		# stands alone, before any command
} | sort -u >"$dir/have"
[ "$(wc -l <"$dir/have")" -gt 5 ] || { echo 'found no table of options'; exit 1; }

grep -oE '\*-[a-zA-Z]\*|\*--[a-z-]+\*' "$page" | tr -d '*' | sort -u >"$dir/told"
if ! diff "$dir/have" "$dir/told" >"$dir/diff"; then
	sed -n 's/^< /not in the man page: /p; s/^> /no such option: /p' "$dir/diff"
	failed=1
fi

sed -n '/hf_commands\[HF_COMMANDS\]/,/^};/p' src/cli/*.c | tr '\n\t' '  ' |
	grep -oE '(\{|\.name =) *"[a-z-]+"' | sed 's/.*"\(.*\)"/\1/' |
	sort -u >"$dir/have"
[ "$(wc -l <"$dir/have")" -gt 5 ] || { echo 'found no table of commands'; exit 1; }
grep -oE '\*holdfast [a-z-]+\*' "$page" | tr -d '*' | cut -d' ' -f2 |
	sort -u >"$dir/told"
if ! diff "$dir/have" "$dir/told" >"$dir/diff"; then
	sed -n 's/^< /not in the man page: /p; s/^> /no such command: /p' "$dir/diff"
	failed=1
fi

exit "${failed:-0}"
