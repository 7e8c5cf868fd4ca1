#!/bin/sh
# SPDX-License-Identifier: MIT
# A store can be read with tar, zstd and a manifest alone, as docs/formats.md says.
. "$(dirname "$0")/lib.sh"

# The commands of the page: all of it, one file.
page=$top/docs/formats.md
block()
{
	awk -v wanted="$1" '
		/^## / { here = $0 == "## Without holdfast" }
		inside && /^```/ { inside = 0 }
		inside && count == wanted
		here && /^```sh/ { count++; inside = 1 }' "$page"
}
block 1 >"$dir/all.sh"
block 2 >"$dir/one.sh"
[ -s "$dir/all.sh" ] && [ -s "$dir/one.sh" ] || fail 'the page has no commands'

make_project project
cd project
mkdir -p deep/outside outside
long=deep/$(printf '%0120d' 7)
echo 'a long name' >"$long"
echo 'ä name' >'deep/ä b'
cp presets.toml deep/copy
echo inside >outside/file
: >deep/empty
head -c 5000000 /dev/urandom >large.toml
echo 'beside the project' >"$dir/beside.toml"
protect="--protect * --protect ** --protect $dir/beside.toml"
set -f
# shellcheck disable=SC2086
expect 0 "$holdfast" snapshot $protect
cp -r . "$dir/first"
set +f
for name in *.toml; do echo "# second" >>"$name"; done
set -f
# shellcheck disable=SC2086
expect 0 "$holdfast" snapshot $protect
cp -r . "$dir/second"
STORE=$("$holdfast" store path)
set +f

# Nothing of the project is left, and holdfast is not at hand.
cd "$dir"
rm -rf project
one()	# MANIFEST NAME WANTED
{
	rm -rf there && mkdir there
	(cd there && STORE=$STORE MANIFEST=$1 NAME=$2 sh -eu "$dir/one.sh") ||
		fail "the commands for '$2'"
	cmp "there/$(basename "$2")" "$3" || fail "'$2' of ${1##*/}"
	count=$((count + 1))
}
count=0
for tree in first second; do
	case $tree in
	first) manifest=$(ls "$STORE"/snapshots/* | head -1) ;;
	second) manifest=$(ls "$STORE"/snapshots/* | tail -1) ;;
	esac
	find "$tree" -type f | sed "s,^$tree/,," >names
	while read -r name; do
		one "$manifest" "$name" "$tree/$name"
	done <names
	one "$manifest" "$dir/beside.toml" beside.toml
done
[ "$count" -ge 24 ] || fail "only $count files"

# All of it: of each name the latest content.
rm -rf there && mkdir there
(cd there && STORE=$STORE sh -eu "$dir/all.sh") 2>/dev/null || fail 'the commands for all'
cmp there/large.toml second/large.toml || fail 'all: large.toml'
cmp "there/outside$dir/beside.toml" beside.toml || fail 'all: a file from outside'
cmp 'there/outside~/file' second/outside/file || fail 'all: a folder called outside'
cmp "there/$long" "second/$long" || fail 'all: a long name'
