#!/bin/sh
# SPDX-License-Identifier: MIT
# libholdfast exports the functions of its public header and nothing else.
#
#	exports.sh TOP LIBRARY
set -eu
cd "$1"
library=$2

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# A declaration may span lines: join them up to the semicolon.
cat include/holdfast/*.h | awk '
	/^HF_API/ { text = "" ; inside = 1 }
	inside { text = text " " $0 }
	inside && /;/ {
		inside = 0
		sub(/\(.*/, "", text)
		count = split(text, words, /[ \t*]+/)
		print words[count]
	}' | sort >"$dir/declared"

nm -D --defined-only "$library" | awk '
	$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort >"$dir/exported"

[ -s "$dir/declared" ] || { echo 'no HF_API in the public headers'; exit 1; }
if ! diff -u "$dir/declared" "$dir/exported"; then
	echo "'-' is declared but not exported, '+' exported but not declared"
	exit 1
fi
