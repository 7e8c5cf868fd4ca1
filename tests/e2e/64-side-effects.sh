#!/bin/sh
# SPDX-License-Identifier: MIT
# What the gate makes different for a program is said, and nothing else is.
. "$(dirname "$0")/lib.sh"

make_project project
cd project
expect 0 "$holdfast" run -- true
"$holdfast" run --gate require -- true 2>/dev/null || skip 'no gate here'

# noted REGEX COMMAND...: the run is clean, and says this; silent_about the same.
noted()
{
	regex=$1
	shift
	expect 0 "$holdfast" run -- "$@"
	said "^holdfast: note: $regex: .*\(pid [0-9]+\)\$"
}
silent_about()
{
	what=$1
	shift
	expect 0 "$holdfast" run -- "$@"
	[ ! -s "$dir/err" ] || fail "$what"
}

# call NUMBER-ON-X86 NUMBER-ON-ARM ARGUMENT...: a system call, its errno on output.
cat >"$dir/call.py" <<'PY'
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
number = int(sys.argv[1 if os.uname().machine == "x86_64" else 2])
space = ctypes.create_string_buffer(256)
libc.prctl(38, 1, 0, 0, 0)              # a filter needs no_new_privs
# A filter of one instruction: allow.
code = ctypes.create_string_buffer(b"\x06\0\0\0\0\0\xff\x7f", 8)
program = ctypes.create_string_buffer(
    b"\x01\0\0\0\0\0\0\0" + ctypes.addressof(code).to_bytes(8, sys.byteorder), 16)
named = {"space": space, "program": program, "null": None}
arguments = [ctypes.c_long(int(a)) if a.isdigit() else named[a] for a in sys.argv[3:]]
result = libc.syscall(ctypes.c_long(number), *arguments)
print(0 if result >= 0 else ctypes.get_errno())
PY
call() { echo "python3 $dir/call.py $*"; }

noted 'io_uring was refused' $(call 425 425 4 space)
[ "$(cat "$dir/out")" = 38 ] || fail 'io_uring_setup is not ENOSYS'

noted 'a second seccomp listener was refused' $(call 317 277 1 8 program)
[ "$(cat "$dir/out")" = 16 ] || fail 'a second listener is not EBUSY'
# Runtimes of containers ask so what the kernel has; a plain filter is theirs.
silent_about 'a question is no listener' $(call 317 277 1 8 null)
[ "$(cat "$dir/out")" = 14 ] || fail 'the question is not answered with EFAULT'
silent_about 'a filter is no listener' $(call 317 277 1 0 program)
[ "$(cat "$dir/out")" = 0 ] || fail 'a filter of its own is refused'

# A setuid program keeps its privilege when root has started the run, also while
# it lays it down for a moment.
[ "$(id -u)" = 0 ] || exit 0
python=/usr/bin/python3		# that every user can start
[ -x "$python" ] || skip "there is no $python"
cp "$python" "$dir/with-privilege"
chmod 4755 "$dir/with-privilege"
chmod 755 "$dir"
cat >"$dir/lay-down.py" <<'PY'
import os
owner = os.geteuid()
os.setresuid(-1, 1000, owner)
os.setresuid(-1, owner, -1)
PY
silent_about 'root has all privileges' "$dir/with-privilege" -S "$dir/lay-down.py"

mkdir "$dir/theirs"
echo 'a = 1' >"$dir/theirs/a.toml"
chown -R 1000:1000 "$dir/theirs"
cd "$dir/theirs"
user="setpriv --reuid 1000 --regid 1000 --clear-groups"
expect 0 $user "$holdfast" run --store "$dir/theirs/store" -- \
	"$dir/with-privilege" -S "$dir/lay-down.py"
said '^holdfast: note: a setuid program ran without its privilege, 2 times: '
