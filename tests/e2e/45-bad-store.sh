#!/bin/sh
# SPDX-License-Identifier: MIT
# A store that is another's, of another version, unwritable, full, cut or flipped:
# one clear line, and never a wrong byte in the project.
. "$(dirname "$0")/lib.sh"

make_project project
remember project
cd project
store=$dir/store

# refused REGEX: the command must not start.
refused()
{
	expect 125 "$holdfast" run --store "$store" -- touch "$dir/started"
	said "^holdfast: .*$1"
	[ ! -e "$dir/started" ] || fail "the command was started: $1"
	[ "$(grep -cv '^holdfast: hint: ' "$dir/err")" = 1 ] || fail "not one line: $1"
}

expect 0 "$holdfast" run --store "$store" -- true

# Another project's, also when it has the same path.
mkdir "$dir/other"
cp ./*.toml "$dir/other"
(cd "$dir/other" && refused 'store')
mv "$dir/project" "$dir/moved"
cp -a "$dir/moved" "$dir/project"
cd "$dir/project"
refused 'store'
said '^holdfast: hint: '
cd "$dir" && rm -rf project && mv moved project && cd project

# Of another version.
cp "$store/store.json" "$dir/store.json"
sed -i 's/\("[a-z-]*"[: ]*\)1\b/\17/' "$store/store.json"
! cmp -s "$store/store.json" "$dir/store.json" || fail 'store.json has no version'
refused 'store'
cp "$dir/store.json" "$store/store.json"
expect 0 "$holdfast" run --store "$store" -- true

# No directory at all.
store=$dir/file
echo 'mine' >"$store"
refused 'file'
[ "$(cat "$store")" = mine ] || fail 'overwrote a file that was no store'
store=/proc/hf-no-store
refused 'hf-no-store'
store=$dir/store

# Cut or flipped anywhere: 100 places, each with a damaged project to repair.
echo 'second content' >presets.toml
expect 0 "$holdfast" run --store "$store" -- true
cp "$top/fixtures/sample/presets.toml" presets.toml
touch -r "$top/fixtures/sample/presets.toml" presets.toml
remember project
expect 0 "$holdfast" run --store "$store" -- true
cp -a "$store" "$dir/whole"
cat >"$dir/spoil.py" <<'END'
"""spoil.py STORE N: spoil one place, chosen by N; prints it."""
import os, random, sys
store, number = sys.argv[1], int(sys.argv[2])
rng = random.Random(number)
files = sorted(os.path.join(d, f) for d, _, names in os.walk(store) for f in names)
files = [f for f in files if os.path.getsize(f)]
path = files[number % len(files)]
data = bytearray(open(path, "rb").read())
how = rng.choice(["flip", "flip", "cut", "zero", "gone"])
at = rng.randrange(len(data))
if how == "flip":
    data[at] ^= 1 << rng.randrange(8)
elif how == "cut":
    del data[at:]
elif how == "zero":
    data[at:at + 16] = bytes(len(data[at:at + 16]))
if how == "gone":
    os.unlink(path)
else:
    open(path, "wb").write(data)
print(how, os.path.relpath(path, store), at)
END
number=0
while [ $number -lt 100 ]; do
	number=$((number + 1))
	rm -rf "$store"
	cp -a "$dir/whole" "$store"
	what=$(python3 "$dir/spoil.py" "$store" $number)
	echo 'damage' >personas.toml
	rm presets.toml
	status=0
	timeout 60 "$holdfast" restore --store "$store" >"$dir/out" 2>"$dir/err" || status=$?
	case $status in
	0) ;;
	2 | 3 | 98) said '^holdfast: ' ;;
	*) fail "$what: status $status" ;;
	esac
	# Right, or as it was; or an earlier content that was recorded.
	case $(cat personas.toml) in
	damage) [ $status != 0 ] || fail "$what: 0, but not restored" ;;
	*) cmp personas.toml "$top/fixtures/sample/personas.toml" || fail "$what" ;;
	esac
	[ ! -e presets.toml ] || [ "$(cat presets.toml)" = 'second content' ] ||
		cmp presets.toml "$top/fixtures/sample/presets.toml" || fail "$what"
	[ $status != 0 ] || [ -e presets.toml ] || fail "$what: 0, but still missing"
	cp "$top"/fixtures/sample/p*.toml .
done
rm -rf "$store"
cp -a "$dir/whole" "$store"
expect 0 "$holdfast" restore --store "$store"
unchanged project

# Read-only and full need a file system of our own.
unshare -Urm true 2>/dev/null || skip 'no user namespaces'
cat >"$dir/inside.sh" <<'END'
mount -t tmpfs -o size="$1" tmpfs "$2" || exit 1
shift 2
exec sh "$@"
END
# With $dir/small on a file system of that size: run_in SIZE STATUS SCRIPT ARG...
run_in()
{
	size=$1
	wanted=$2
	shift 2
	expect "$wanted" unshare -Urm sh "$dir/inside.sh" "$size" "$dir/small" "$@"
}
mkdir "$dir/small"
cat >"$dir/full.sh" <<'END'
# full.sh HOLDFAST STORE MARK: no room for the first snapshot.
dd if=/dev/zero of="$2/ballast" bs=4096 2>/dev/null
"$1" run --store "$2/store" -- touch "$3"
END
run_in 64k 125 "$dir/full.sh" "$holdfast" "$dir/small" "$dir/started"
said '^holdfast: cannot .*: [Nn]o space left'
[ ! -e "$dir/started" ] || fail 'the command was started without a snapshot'

cat >"$dir/full-later.sh" <<'END'
# Full when the damage is to be kept: nothing may be overwritten.
"$1" run --gate "$3" --store "$2/store" -- sh -c '
	dd if=/dev/zero of="$0/ballast" bs=4096 2>/dev/null
	dd if=/dev/urandom of=presets.toml bs=1024 count=64 2>/dev/null' "$2"
END
# What is refused needs no room.
run_in 1m 97 "$dir/full-later.sh" "$holdfast" "$dir/small" require
said '^holdfast: .*presets.toml' ' 0 files changed'
unchanged project
run_in 1m 98 "$dir/full-later.sh" "$holdfast" "$dir/small" off
said '^holdfast: .*presets.toml' '^holdfast: hint: make room where the store lies' \
	'^holdfast: note: the store lies in memory: .*gone.*--store DIR'
[ "$(stat -c %s presets.toml)" = 65536 ] || fail 'replaced what it could not keep'
cp "$top/fixtures/sample/presets.toml" presets.toml
expect 0 "$holdfast" restore --store "$store"
unchanged project

cat >"$dir/read-only.sh" <<'END'
"$1" run --store "$2/store" -- true 2>/dev/null || exit 1
mount -o remount,ro "$2"
exec "$1" run --store "$2/store" -- touch "$3"
END
run_in 4m 125 "$dir/read-only.sh" "$holdfast" "$dir/small" "$dir/started"
said '^holdfast: cannot ' '^holdfast: hint: '
[ ! -e "$dir/started" ] || fail 'the command was started without a store'

# A protected file that cannot be read; for root there is none.
cat >"$dir/unreadable.sh" <<'END'
# unreadable.sh HOLDFAST BASE
set -eu
mkdir "$2/own"
cd "$2/own"
echo secret >credentials.toml
chmod 000 credentials.toml
exec "$1" run --store "$2/own-store" -- touch "$2/own/started"
END
cp "$holdfast" "$dir/program"
chmod 755 "$dir"
mkdir -m 777 "$dir/open"
as_user=
[ "$(id -u)" != 0 ] || as_user='setpriv --reuid 65534 --regid 65534 --clear-groups'
expect 125 $as_user sh "$dir/unreadable.sh" "$dir/program" "$dir/open"
said '^holdfast: cannot .*credentials.toml.*: [Pp]ermission denied'
[ ! -e "$dir/open/own/started" ] || fail 'the command was started'
