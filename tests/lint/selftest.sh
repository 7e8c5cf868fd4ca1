#!/bin/sh
# SPDX-License-Identifier: MIT
# A lint that cannot fail is worth nothing: put one violation after another into
# a copy of the tree and see each of them found.
#
#	selftest.sh TOP BUILD
set -eu
top=$1
build=$2

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
log=$copy/log

fresh()
{
	rm -rf "$copy/tree" "$copy/build"
	mkdir -p "$copy/tree" "$copy/build/src/CMakeFiles/hf_core.dir"
	for name in include src tests fixtures hooks docs .ci LICENSE; do
		cp -a "$top/$name" "$copy/tree/"
	done
	cd "$copy/tree"
}

# seed FILE LINE...: add lines to a file, a new one has its license.
seed()
{
	file=$1
	shift
	[ -e "$file" ] || echo '/* SPDX-License-Identifier: MIT */' >"$file"
	printf '%s\n' "$@" >>"$file"
}

# sows WHAT: something that the next finds() must hear of, too.
sows()
{
	printf '%s\n' "$1" >>"$copy/sown"
}

# finds WHAT LINT ARG...: the lint must fail and say WHAT, and what was sown before.
finds()
{
	sows "$1"
	lint=$2
	shift 2
	if sh "$top/tests/lint/$lint.sh" "$copy/tree" "$@" >"$log" 2>&1; then
		echo "$lint: found nothing of:"
		cat "$copy/sown"
		failed=1
	fi
	while read -r what; do
		count=$((count + 1))
		grep -q -- "$what" "$log" && continue
		echo "$lint: wanted '$what', said:"
		cat "$log"
		failed=1
	done <"$copy/sown"
	rm "$copy/sown"
	fresh
}

# object CODE: what the compiler makes of one more file of core.
object()
{
	printf '%s\n' "$1" |
		cc -x c -c -o "$copy/build/src/CMakeFiles/hf_core.dir/seed.c.o" -
}

count=0
fresh

seed src/base/text.c '#include "core/tree.h"'
finds 'layer base includes core/tree.h from above' includes
seed src/core/tree.c '#include "platform/linux/private.h"'
finds 'private to the platform' includes
seed src/core/tree.c '#include "tree.h"'
finds 'must be named with its layer' includes
seed src/core/loop_a.h '#include "core/loop_b.h"'
seed src/core/loop_b.h '#include "core/loop_a.h"'
finds 'core/loop_a' includes
seed src/platform/linux/gate.c '#include "gate_numbers.h"'
finds 'must be named with its layer' includes
for header in xxhash.h archive.h archive_entry.h zstd.h cjson/cJSON.h \
	seccomp.h; do
	seed src/core/tree.c "#include <$header>"
	finds 'has one door' includes
done

seed src/core/tree.c '#include <unistd.h>'
finds 'src/core/tree.c:.*unistd.h' platform "$build"
seed src/cli/main.c '#include <sys/stat.h>'
finds 'src/cli/main.c:.*sys/stat.h' platform "$build"
seed src/cli/main.c '#include <getopt.h>'
finds 'src/cli/main.c:.*getopt.h' platform "$build"
seed src/base/text.c '#ifdef _WIN32' '#endif'
finds 'src/base/text.c:.*_WIN32' platform "$build"
object 'int unlink(const char *); int f(void) { return unlink("a"); }'
finds 'calls unlink()' platform "$copy/build"
object 'int open64(const char *, int, ...); int f(void) { return open64("a", 0); }'
finds 'calls open64()' platform "$copy/build"
object 'int getopt_long(void); int f(void) { return getopt_long(); }'
finds 'calls getopt_long()' platform "$copy/build"
finds 'build first' platform "$copy/build"

object 'static int n; int f(void) { return n++; }'
finds 'n can be written' state "$copy/build"
object 'int n = 1; int f(void) { return n++; }'
finds 'n can be written' state "$copy/build"

echo 'int hf_stray(void); int hf_stray(void) { return 0; }' |
	cc -x c -shared -fPIC -o "$copy/lib.so" -
finds '+hf_stray' exports "$copy/lib.so"
finds '-hf_project_open' exports "$copy/lib.so"

seed include/holdfast/error.h '// not C99 -pedantic: ' 'enum x { X, };;'
finds 'holdfast/error.h' headers cc
seed include/holdfast/holdfast.h 'int template(int class);'
finds 'holdfast.h' headers cc

if command -v x86_64-w64-mingw32-gcc >/dev/null; then
	seed src/base/text.c '#include <sys/inotify.h>'
	finds 'sys/inotify.h' mingw "$build/generated" src/base/text.c
	seed src/report/text.c 'int f(void) { return fork(); }'
	finds 'fork' mingw "$build/generated" src/report/text.c
fi

sed -i 1d src/base/text.c
finds 'src/base/text.c: no SPDX line' license
sed -i 's/^MIT License/Other License/' LICENSE
finds 'LICENSE is not MIT' license

echo ' ' >>docs/report.schema.json
finds 'report.schema.json: not installed as it is' installed "$build" cmake
echo '{}' >docs/other.schema.json
finds 'other.schema.json: the man page does not say' installed "$build" cmake

seed tests/unit/test_forgotten.c
finds 'tests/unit/test_forgotten.c is in no list' listed
seed tests/e2e/99-forgotten.sh
finds 'tests/e2e/99-forgotten.sh is in no list' listed
seed src/core/forgotten.c
finds 'src/core/forgotten.c is in no list' listed

seed src/base/text.c "$(printf '/* %0100d */' 0)"
sows 'src/base/text.c:.* columns'
seed src/base/text.c 'int f(void)' '{' "$(yes '	g();' | head -n 61)" '}'
sows 'function of 61 lines'
seed src/base/text.c "$(yes '/* - */' | head -n 500)"
sows 'more than 500 lines'
seed src/base/text.c '/* TODO: later */'
sows 'unfinished work'
seed src/base/text.c 'int f(void); '
sows 'blanks at the end'
seed src/core/tree.c 'void f(void) { strcpy(a, b); }'
sows 'a banned function'
seed src/core/tree.c 'void f(void) { goto out; }'
sows 'goto'
seed src/core/tree.c 'char *f(void) { return getenv("X"); }'
finds 'the environment' style

sed -i 's/\*--quiet\*/*--silent*/' docs/holdfast.1.scd
sows 'not in the man page: --quiet'
printf '\n*--unheard-of*\n\tNo such option.\n' >>docs/holdfast.1.scd
sows 'no such option: --unheard-of'
printf '\n*holdfast unheard*\n\tNo such command.\n' >>docs/holdfast.1.scd
finds 'no such command: unheard' man-options

sed -i 's/^\*holdfast undo\* /*holdfast undone* /' docs/holdfast.1.scd
sows 'holdfast-undo.1: the command is not described'
sed -i 's/^\*--leftovers\*/*--remains*/' docs/holdfast.1.scd
sows 'holdfast-run.1: --leftovers is not described'
sed -i 's/^| `init` |/| `unit` |/' docs/json.md
sows 'does not describe what init prints'
sed -i 's/"min-protected": {/"max-protected": {/' docs/holdfast.schema.json
sows 'does not describe "max-protected"'
sed -i 's/sub(\/^HF_API \/, "")/next/' docs/library_page.awk
sows 'does not have hf_version()'
sed -i 's/^# NAME/ # NAME/' docs/holdfast.json.5.scd
sows 'holdfast.json.5: '
sed -i 's/^\/^#+ \/ {/\/^## [^P]\/ {/' docs/formats_page.awk
finds 'not the sections of' man-pages "$build"

echo "$count violations sown"
exit "${failed:-0}"
