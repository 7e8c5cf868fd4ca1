#!/bin/sh
# SPDX-License-Identifier: MIT
# A mount namespace that clone3() makes, of which no filter can be told: what is
# mounted in it leads to the protected files by paths that mean others outside.
. "$(dirname "$0")/lib.sh"

make_project project
cd project
mkdir ../other
touch ../other/presets.toml
"$holdfast" run --gate require -- true 2>/dev/null || skip 'no gate here'

cat >"$dir/mounts.py" <<'PY'
import ctypes, os, struct, sys
project, other, act = sys.argv[1:]
libc = ctypes.CDLL(None, use_errno=True)
# CLONE_NEWNS | CLONE_NEWUSER, and SIGCHLD at the end.
arguments = ctypes.create_string_buffer(struct.pack("8Q", 0x10020000, 0, 0, 0, 17, 0, 0, 0))
pid = libc.syscall(ctypes.c_long(435), arguments, ctypes.c_long(64))
if pid < 0:
    sys.exit(3)
if pid > 0:
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
# MS_BIND | MS_REC
if libc.mount(project.encode(), other.encode(), None, ctypes.c_ulong(0x5000), None) < 0:
    os._exit(3)
try:
    if act == "write":
        open(other + "/presets.toml", "w").close()
    elif act == "rename":
        os.rename(other + "/presets.toml", other + "/x")
    else:
        os.unlink(other + "/presets.toml")
except PermissionError:
    os._exit(0)
os._exit(1)
PY

# It works unguarded.
cp -R . ../copy
status=0
python3 "$dir/mounts.py" "$dir/copy" "$dir/other" remove || status=$?
[ "$status" != 3 ] || skip 'no user namespaces here'
[ "$status" = 1 ] && [ ! -e ../copy/presets.toml ] || fail "unguarded: $status"

remember project
for act in write rename remove; do
	expect 97 "$holdfast" run -- python3 "$dir/mounts.py" "$dir/project" "$dir/other" $act
	said '^holdfast: presets.toml: refused: ' 'the command said 0'
	unchanged project
done
