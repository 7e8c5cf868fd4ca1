#!/bin/sh
# SPDX-License-Identifier: MIT
# What the command has from its caller: descriptors through which it could write
# without opening anything, and ignored signals.
. "$(dirname "$0")/lib.sh"

make_project project
remember project
cd project

# held REDIRECTION WORDS
held()
{
	expect 125 sh -c "exec \"\$0\" run --gate $gate -- touch ran $1" "$holdfast"
	said "^holdfast: cannot run: $2 is open for writing to 'presets.toml'" \
		"^holdfast: hint: .*--allow presets.toml"
	[ ! -e ran ] || fail 'the command has run'
}
held '>>presets.toml' 'standard output'
held '1<>presets.toml' 'standard output'
held '<>presets.toml' 'standard input'
held '7>>presets.toml' 'descriptor 7'
ln presets.toml ../other
held '8<>../other' 'descriptor 8'
rm ../other
unchanged project

# To read is harmless, and whoever allows it means it.
expect 0 sh -c 'exec "$0" run -- true 7<presets.toml' "$holdfast"
expect 0 sh -c 'exec "$0" run --allow presets.toml -- echo "# more" >>presets.toml' \
	"$holdfast"
[ "$(tail -n 1 presets.toml)" = '# more' ] || fail 'what is allowed was not written'

# A caller that ignores the ends of its children passes that on, and nobody hangs.
ignored='grep ^SigIgn /proc/self/status'
sh -c "trap '' CHLD; exec $ignored" >"$dir/bare"
expect 0 sh -c "trap '' CHLD; exec \"\$0\" run --gate $gate -- $ignored" "$holdfast"
cmp "$dir/bare" "$dir/out" || fail 'the command ignores other signals'
