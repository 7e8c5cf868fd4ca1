#!/bin/sh
# SPDX-License-Identifier: MIT
# Install, build and test everything.
#
#	sh tests/run.sh
#
# Ends with "N passed, 0 failed" and 0, or says what failed.  A skipped test is a
# failure here.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top" || exit 1
export HF_MUST_WORK=1
jobs=$(nproc)
# They wait about as long as they compute.
tests_at_once=$((jobs + 1))
# One that every user can run, whatever else is in the way.
python=/usr/bin/python3
[ -x "$python" ] || python=python3

passed=0
failed=0
complaints=

say()
{
	printf '\n== %s\n' "$*"
}

# complain COUNT WHAT
complain()
{
	failed=$((failed + $1))
	complaints="$complaints
	$2"
}

# build PRESET [CMAKE-ARGUMENT...]
build()
{
	preset=$1
	shift
	say "build $preset"
	if cmake --preset "$preset" "$@" >"$work/log" 2>&1 &&
		cmake --build --preset "$preset" -j "$jobs" >>"$work/log" 2>&1
	then
		return 0
	fi
	tail -n 60 "$work/log"
	complain 1 "build $preset"
	return 1
}

# attribute NAME FILE: of a JUnit file's first element.
attribute()
{
	sed -n "/<testsuite/,/>/s/.*[[:space:]]$1=\"\([0-9]*\)\".*/\1/p" "$2" |
		head -n 1
}

# run_ctest PRESET [CTEST-ARGUMENT...]
run_ctest()
{
	preset=$1
	shift
	say "test $preset"
	ctest --test-dir ".build/$preset" -j "$tests_at_once" --output-on-failure \
		--no-tests=error --output-junit "$work/junit.xml" "$@"
	if [ ! -s "$work/junit.xml" ]; then
		complain 1 "ctest of $preset did not run"
		return
	fi
	tests=$(attribute tests "$work/junit.xml")
	bad=$(attribute failures "$work/junit.xml")
	skipped=$(attribute skipped "$work/junit.xml")
	disabled=$(attribute disabled "$work/junit.xml")
	passed=$((passed + tests - bad - skipped - disabled))
	[ "$bad" = 0 ] || complain "$bad" "$preset: $bad tests failed"
	[ "$skipped$disabled" = 00 ] ||
		complain $((skipped + disabled)) "$preset: tests were skipped"
	rm -f "$work/junit.xml"
}

# begin_scenarios LOG GATE [ARGUMENT...]: in a place that every user can reach.  Behind
# the gate v43 ends with its first move and cannot name the file of the second one:
# tests/e2e/41-three-way-swap.sh demands what it does there.
begin_scenarios()
{
	log=$work/$1
	gate=$2
	shift 2
	ids=
	[ "$gate" = off ] || ids=$(sed '1d; s/\t.*//; /^v43$/d' "$work/scenarios/manifest.tsv")
	# shellcheck disable=SC2086	# words are wanted
	"$python" "$work/scenarios/check.py" --gate "$gate" --verbose \
		--holdfast "$work/holdfast" "$@" "$work/scenarios" $ids >"$log" 2>&1 &
}

# end_scenarios LOG WHAT: when they have ended.
end_scenarios()
{
	say "scenarios $2"
	cat "$work/$1"
	result=$(sed -n 's/^\([0-9]*\) wrong of \([0-9]*\)$/\1 \2/p' "$work/$1")
	if [ -z "$result" ]; then
		complain 1 "scenarios $2: did not run"
		return
	fi
	wrong=${result% *}
	passed=$((passed + ${result#* } - wrong))
	[ "$wrong" = 0 ] || complain "$wrong" "scenarios $2: $wrong wrong"
}

work=$(mktemp -d /tmp/hf-run-XXXXXX) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
chmod 755 "$work"

. tests/packages.sh
hf_install build test || exit 1

if build dev; then
	run_ctest dev
fi
if build asan; then
	run_ctest asan -L '^(unit|fault|fuzz|e2e)$'
fi

# The other compiler, and the fuzzers with it.
build fuzz -DHF_WERROR=ON && passed=$((passed + 1))

if build release; then
	cp .build/release/src/holdfast "$work/holdfast"
	cp -R tests/scenarios "$work/scenarios"
	for gate in off require; do
		begin_scenarios root $gate
		[ "$(id -u)" != 0 ] || begin_scenarios user $gate --user 1000
		wait
		end_scenarios root "--gate $gate"
		[ "$(id -u)" != 0 ] || end_scenarios user "--gate $gate --user 1000"
	done

	say 'demo'
	if sh fixtures/demo.sh; then
		passed=$((passed + 1))
	else
		complain 1 'fixtures/demo.sh'
	fi
fi

[ -z "$complaints" ] || printf '\nfailed:%s\n' "$complaints"
printf '\n%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
