#!/bin/sh
# SPDX-License-Identifier: MIT
# Layers include only downward, without cycles; every library has one door.
#
#	includes.sh TOP
set -eu
cd "$1"

found=$(mktemp)
edges=$(mktemp)
trap 'rm -f "$found" "$edges"' EXIT

# Every "quoted" include as: file line target.
find src include -name '*.[ch]' | sort | while read -r file; do
	awk -v file="$file" '
		/^[ \t]*#[ \t]*include[ \t]*"/ {
			split($0, part, "\"")
			print file, FNR, part[2]
		}' "$file"
done >"$found"

awk '
function layer_of(path) {
	sub(/^src\//, "", path)
	sub(/^include\//, "", path)
	sub(/\/.*/, "", path)
	return path
}
function complain(text) {
	print $1 ":" $2 ": " text
	bad = 1
}
BEGIN {
	count = split("holdfast base platform core guard report cli", names, " ")
	for (i = 1; i <= count; i++)
		rank[names[i]] = i
	made["src/platform/linux/gate_install.c"] = "gate_filter.h"
	made["src/platform/linux/gate_decode.c"] = "gate_numbers.h"
	made["src/guard/hook_script.c"] = "hook_text.h"
}
# Made when the program is built, each for one reader.
$3 == made[$1] { next }
{
	from = layer_of($1)
	to = layer_of($3)
	if (!(from in rank))
		complain("lies in no layer")
	else if ($3 !~ /\//)
		complain("\"" $3 "\" must be named with its layer")
	else if (!(to in rank))
		complain("\"" $3 "\" is in no layer")
	else if (rank[to] > rank[from])
		complain("layer " from " includes " $3 " from above")
	else if ($3 ~ /^platform\/[a-z]+\// && $1 !~ /^src\/platform\//)
		complain($3 " is private to the platform")
}
END { exit bad }' "$found" || failed=1

# x.h, x.c and the part of it in platform/linux are one module.  A part may include
# its whole, which names the types: that is no circle.  x_part is a part of x, and
# so are a few with names of their own.
awk '
BEGIN {
	whole["core/swap"] = "core/restore"
	whole["core/swap_set"] = "core/restore"
	whole["guard/run"] = "guard/session"
}
function module(path) {
	sub(/^(src|include)\//, "", path)
	sub(/\.[ch]$/, "", path)
	sub(/^platform\/(linux|windows)\//, "platform/", path)
	return path
}
{
	from = module($1)
	to = module($3)
	if (from != to && index(from, to "_") != 1 && whole[from] != to)
		print from, to
}' "$found" >"$edges"
if ! loops=$(tsort "$edges" 2>&1 >/dev/null); then
	echo "modules include each other in a circle:"
	echo "$loops" | sed 's/^tsort: [^:]*: //'
	failed=1
fi

# door HEADER-PATTERN FILE-PATTERN: who may include a library.
door()
{
	if grep -rnE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]$1" \
		src include | grep -vE "^src/$2:"; then
		echo "$1 has one door: $2"
		failed=1
	fi
}
door 'xxh' 'core/hash\.c'
door 'archive' 'core/pack_(read|write)\.c'
door 'zstd' 'core/pack_(read|write)\.c'
door '(cjson/)?cJSON' 'core/json\.c'
door '(gelf|libelf|elfutils/)' 'platform/linux/task_symbol\.c'
door 'seccomp\.h' 'platform/linux/gate_generate\.c'

exit "${failed:-0}"
