#!/bin/sh
# SPDX-License-Identifier: MIT
# Every public header stands alone, as C99 and as C++.
#
#	headers.sh TOP CC
set -eu
cd "$1"
cc=$2
cxx=${CXX:-c++}

c="$cc -std=c99 -fsyntax-only -Iinclude"
cpp="$cxx -std=c++98 -fsyntax-only -Iinclude"
strict='-pedantic -Wall -Wextra -Wshadow -Werror'

for header in include/holdfast/*.h; do
	$c $strict -x c - <<-END || failed=1
		#include "${header#include/}"
		int main(void) { return 0; }
	END
	# C++98 has no <stdint.h> of its own; the C library's is meant.
	$cpp $strict -x c++ - <<-END || failed=1
		#include "${header#include/}"
		int main() { return 0; }
	END
done
$c $strict tests/lint/headers.c || failed=1
$cpp $strict tests/lint/headers.cpp || failed=1

exit "${failed:-0}"
