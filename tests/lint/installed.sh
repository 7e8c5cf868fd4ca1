#!/bin/sh
# SPDX-License-Identifier: MIT
# What is installed: the program, what shells complete, the pages, the schemas as they
# stand in docs/, where the man page says, and the pages of docs/ that installed ones
# lead to.
#
#	installed.sh TOP BUILD CMAKE
set -eu
top=$1
build=$2
cmake=$3

prefix=$(mktemp -d)
# The component that everything belongs to has a list of its own: the one of a real
# installation stays.
component=Unspecified
trap 'rm -rf "$prefix" "$build/install_manifest_$component.txt"' EXIT
"$cmake" --install "$build" --prefix "$prefix" --component $component >"$prefix/log"

[ -x "$prefix/bin/holdfast" ] || { echo 'no program'; failed=1; }
for file in bash-completion/completions/holdfast zsh/site-functions/_holdfast \
	fish/vendor_completions.d/holdfast.fish man/man1/holdfast.1 man/man1/holdfast-run.1 \
	man/man5/holdfast.json.5 man/man5/holdfast-store.5 man/man3/libholdfast.3; do
	[ -s "$prefix/share/$file" ] || { echo "$file: not installed"; failed=1; }
done
for file in "$top"/docs/*.schema.json; do
	name=$(basename "$file")
	if ! cmp "$file" "$prefix/share/holdfast/$name"; then
		echo "$name: not installed as it is"
		failed=1
	fi
	if ! grep -q "_share/holdfast/$name" "$top/docs/holdfast.1.scd"; then
		echo "$name: the man page does not say where it is"
		failed=1
	fi
done
cd "$prefix/share/doc/holdfast"
for page in $(grep -oh '(docs/[a-z]*\.md)' ./*.md | tr -d '()' | sort -u); do
	[ -e "$page" ] || { echo "$page: not installed"; failed=1; }
done
exit "${failed:-0}"
