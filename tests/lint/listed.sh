#!/bin/sh
# SPDX-License-Identifier: MIT
# A source or test that no list names is neither built nor run.
#
#	listed.sh TOP
set -eu
cd "$1"

# listed FILE IN WHAT
listed()
{
	if ! grep -qF -- "$3" "$2"; then
		echo "$1 is in no list of $2"
		failed=1
	fi
}

for file in src/*/*.c src/*/*/*.c; do
	listed "$file" src/CMakeLists.txt "${file#src/}"
done
tests=tests/CMakeLists.txt
for file in tests/unit/*.c tests/fault/*.c tests/fuzz/fuzz_*.c tests/support/*.c \
	tests/e2e/[0-9]* tests/lint/*.sh; do
	name=$(basename "$file")
	name=${name%.*}
	case $file in
	tests/unit/*) name="hf_unit_test(${name#test_})" ;;
	tests/fault/*) name=${name#test_} name="hf_fault_test(${name%_faults} " ;;
	tests/fuzz/*) name="hf_fuzz_replay(${name#fuzz_})" ;;
	tests/e2e/*) name="hf_e2e_test($name" ;;
	tests/lint/*) name="hf_lint($name" ;;
	tests/support/*)
		grep -qF "hf_helper($name)" $tests && continue
		name="support/$name.c"
		;;
	esac
	listed "$file" $tests "$name"
done

exit "${failed:-0}"
