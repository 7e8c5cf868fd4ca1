#!/bin/sh
# SPDX-License-Identifier: MIT
# The library keeps nothing between calls: no object has writable data.
#
#	state.sh TOP BUILD
set -eu
build=$2

objects=$(find "$build/src/CMakeFiles" -name '*.o' |
	grep -v '/holdfast\.dir/\|/hf_cli\.dir/' || true)
if [ -z "$objects" ]; then
	echo "no objects below $build/src: build first"
	exit 1
fi
for object in $objects; do
	# Constants with addresses in them lie in .data.rel.ro.
	objdump -t "$object" | awk -v object="${object#"$build"/}" '
		/[ \t]\.(data|bss)(\.[^ \t]*)?[ \t]/ && $NF !~ /^\.(data|bss)/ &&
		!/[ \t]\.data\.rel\.ro/ {
			print object ": " $NF " can be written"
			bad = 1
		}
		END { exit bad }' || failed=1
done

exit "${failed:-0}"
