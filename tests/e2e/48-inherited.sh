#!/bin/sh
# SPDX-License-Identifier: MIT
# Descriptors through which the command could write without opening anything.
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
