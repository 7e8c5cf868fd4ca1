#!/bin/sh
# SPDX-License-Identifier: MIT
# Files outside the root are put back in their place, or nothing happens to them with
# the gate; links lead nowhere else.
. "$(dirname "$0")/lib.sh"

make_project project
mkdir -p outside/app/themes
echo 'colour = 1' >outside/app/settings.toml
echo 'dusk' >outside/app/themes/dusk.txt
echo 'victim' >outside/victim.txt
remember project
remember outside
cd project

guard()
{
	wanted=$1
	shift
	expect "$wanted" "$holdfast" run --gate "$gate" --report "$dir/report.json" \
		--protect '*.toml' --protect "$dir/outside/app/settings.toml" \
		--protect "$dir/outside/app/themes/" -- sh -c "$@"
}

guard 0 true
report 'r["protected"] >= 8'
guard 97 'echo "colour = 2" >"$0/settings.toml"' "$dir/outside/app"
if gated; then wanted=none; else wanted=content; fi
report "v('$dir/outside/app/settings.toml', 'change') == {'$wanted'}" \
	"v('$dir/outside/app/settings.toml', 'landed') == {$(gated && echo False || echo True)}"
said "$dir/outside/app/settings.toml"
unchanged project
unchanged outside
guard 97 'rm -r "$0"' "$dir/outside/app"
unchanged project
unchanged outside
guard 97 'touch "$0/themes/new"' "$dir/outside/app"
unchanged project
unchanged outside
guard 0 'echo >>"$0/victim.txt"; echo victim >"$0/victim.txt"' "$dir/outside"
remember outside

# By hand too, from wherever one stands.
protect_outside="--protect *.toml --protect $dir/outside/app/settings.toml"
set -f
expect 0 "$holdfast" snapshot $protect_outside
echo 'colour = 3' >"$dir/outside/app/settings.toml"
cd /
expect 1 "$holdfast" verify --root "$dir/project" $protect_outside
expect 0 "$holdfast" restore --root "$dir/project" $protect_outside
set +f
cd "$dir/project"
unchanged project
unchanged outside

# What the policy does not name there is not touched by hand, whatever a store says.
echo 'colour = 3' >"$dir/outside/app/settings.toml"
rm presets.toml
expect 98 "$holdfast" restore
said "cannot restore '$dir/outside/app/settings.toml': it lies outside the root, and the"
[ "$(cat "$dir/outside/app/settings.toml")" = 'colour = 3' ] || fail 'written outside the root'
[ -e presets.toml ] || fail 'not restored'
set -f
expect 0 "$holdfast" restore $protect_outside
set +f
unchanged project
unchanged outside

# A parent swapped for a link: the restore must not write where it leads.
mkdir "$dir/trap"
echo 'trapped' >"$dir/trap/settings.toml"
guard 97 'mv "$0/app" "$0/app.old"; ln -sT "$1/trap" "$0/app"' "$dir/outside" "$dir"
[ "$(cat "$dir/trap/settings.toml")" = trapped ] || fail 'wrote through the link'
[ "$(cat "$dir/outside/app/settings.toml")" = 'colour = 1' ] || fail 'not put back'
[ -d "$dir/outside/app.old" ] || gated || fail 'what was moved away is gone'
rm -rf "$dir/outside/app.old"
unchanged project
unchanged outside

# A protected link is protected itself, its target is not.
ln -s "$dir/outside/victim.txt" link.toml
remember project
expect 0 "$holdfast" run --gate "$gate" -- sh -c 'echo changed >"$0"' "$dir/outside/victim.txt"
said '^holdfast: note: .*link.toml' || true
expect 97 "$holdfast" run --gate "$gate" -- sh -c 'rm link.toml && echo x >link.toml'
[ "$(readlink link.toml)" = "$dir/outside/victim.txt" ] || fail 'another link'
[ "$(cat "$dir/outside/victim.txt")" = changed ] || fail 'restored through a link'

# A store beneath the root is no part of what "**" protects.
mkdir "$dir/project/sub"
echo 'a = 1' >"$dir/project/sub/a.toml"
store=$dir/project/.store
expect 0 "$holdfast" run --gate "$gate" --store "$store" --protect '**' -- true
expect 0 "$holdfast" run --gate "$gate" --store "$store" --protect '**' -- true
silent 'an unchanged tree with its store in it'
expect 97 "$holdfast" run --gate "$gate" --store "$store" --protect '**' -- rm -r sub
[ -e sub/a.toml ] || fail 'not put back'

# A folder of the project that is called like the one for files from outside.
cd "$dir"
mkdir -p "twin/outside$dir/outside/app" twin/outside~
cd twin
echo 'inside' >"outside$dir/outside/app/settings.toml"
echo 'marked' >outside~/a.toml
expect 0 "$holdfast" snapshot --store "$dir/twin.store" --protect 'outside*/' \
	--protect "$dir/outside/app/settings.toml"
mkdir "$dir/unpacked"
for pack in "$dir"/twin.store/packs/*.tar.zst; do
	tar --zstd -xf "$pack" -C "$dir/unpacked"
done
cd "$dir/unpacked"
[ "$(cat "outside$dir/outside/app/settings.toml")" = 'colour = 1' ] || fail 'outside'
[ "$(cat "outside~$dir/outside/app/settings.toml")" = inside ] || fail 'outside~'
[ "$(cat outside~~/a.toml)" = marked ] || fail 'outside~~'
cd "$dir/twin"
echo 'damaged' >outside~/a.toml
expect 0 "$holdfast" restore --store "$dir/twin.store" --protect 'outside*/' \
	--protect "$dir/outside/app/settings.toml"
[ "$(cat outside~/a.toml)" = marked ] || fail 'not put back'
