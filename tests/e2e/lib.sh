# SPDX-License-Identifier: MIT
# What the stories share.  A story sources this first and is given the program, the
# directory of the test helpers, and "require" if it is to be told with the gate.  It
# then stands in an empty directory, with the user's state directory inside it.
set -eu

story=$(basename "$0" .sh)
top=$(cd "$(dirname "$0")/../.." && pwd)
holdfast=$1
support=$2
gate=${3:-off}
gated() { [ "$gate" = require ]; }

dir=$(mktemp -d /tmp/hf-e2e-XXXXXX)
touch "$dir/.hf-e2e"	# clean_up removes nothing else
clean_up()
{
	[ -e "$dir/.hf-e2e" ] || return 0
	chmod -R u+rwX "$dir" 2>/dev/null || true; rm -rf "$dir"
}
trap clean_up EXIT
trap 'exit 1' HUP INT TERM
export XDG_STATE_HOME="$dir/state"
cd "$dir"

fail()
{
	echo "$story: $*" >&2
	for file in out err; do
		[ ! -s "$dir/$file" ] || sed "s/^/  $file: /" "$dir/$file" >&2
	done
	exit 1
}

skip()
{
	[ "${HF_MUST_WORK:-}" != 1 ] || fail "must not be skipped: $*"
	echo "$story: skipped: $*" >&2
	exit 77
}

# expect STATUS COMMAND...: "not zero" would be satisfied by a crash.
expect()
{
	wanted=$1
	shift
	status=0
	timeout -k 5 60 "$@" >"$dir/out" 2>"$dir/err" || status=$?
	[ "$status" = "$wanted" ] || fail "status $status, wanted $wanted: $*"
}

# said REGEX...: each on standard error; silent: nothing there or on output.
said()
{
	for regex in "$@"; do
		grep -qE -- "$regex" "$dir/err" || fail "did not say: $regex"
	done
}
silent() { [ ! -s "$dir/out" ] && [ ! -s "$dir/err" ] || fail "spoke: $*"; }

make_project()	# with the six files of the sample
{
	mkdir "$1"
	cp "$top"/fixtures/sample/*.toml "$1"
	chmod 600 "$1/credentials.toml"
}

# remember TREE, then unchanged TREE: names, kinds, bytes, modes, owners, mtimes.
survey()
{
	(cd "$dir/$1" && find . \( -type d -printf '%p %y %m %U:%G\n' \) -o \
		-printf '%p %y %m %U:%G %T@ %l\n' | sort &&
		find . -type f -exec sha256sum {} + | sort)
}
remember() { survey "$1" >"$dir/$1.before"; }
unchanged()
{
	survey "$1" >"$dir/$1.after"
	diff "$dir/$1.before" "$dir/$1.after" >&2 || fail "$1 has changed"
}

# report EXPRESSION...: of the report r in report.json, each must be true.
report() { python3 "$top/tests/e2e/report.py" "$dir/report.json" "$@" || fail report; }
