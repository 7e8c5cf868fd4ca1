#!/bin/sh
# SPDX-License-Identifier: MIT
# What is to run on Windows one day compiles for it today: base, core, report.
#
#	mingw.sh TOP GENERATED [FILE...]
set -eu
cd "$1"
generated=$2
shift 2
cc=x86_64-w64-mingw32-gcc

if ! command -v $cc >/dev/null; then
	echo "$cc is not installed"
	exit 77
fi

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# The libraries' headers alone: the rest of /usr/include is not Windows'.
mkdir "$dir/include"
for header in xxhash.h archive.h archive_entry.h zstd.h cjson; do
	ln -s "/usr/include/$header" "$dir/include/$header"
done

# No -Wformat: gcc checks for Microsoft's oldest printf, and the other compilers
# have checked already.
[ $# -gt 0 ] || set -- src/base/*.c src/core/*.c src/report/*.c
for file; do
	$cc -std=gnu17 -O2 -Wall -Wextra -Wno-format -Werror \
		-D__USE_MINGW_ANSI_STDIO=1 -Iinclude -Isrc \
		-I"$generated" -isystem "$dir/include" -c "$file" -o "$dir/object.o" ||
		failed=1
done

exit "${failed:-0}"
