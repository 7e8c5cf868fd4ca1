#!/bin/sh
# SPDX-License-Identifier: MIT
# The rules of CONTRIBUTING.md that a script can check.
#
#	style.sh TOP
set -eu
cd "$1"

list=$(mktemp)
trap 'rm -f "$list"' EXIT
find include src tests fixtures .ci -type f ! -path 'tests/scenarios/*' \
	! -path 'tests/fuzz/corpus/*' \
	\( -name '*.[ch]' -o -name '*.sh' -o -name '*.py' -o -name run \) |
	sort >"$list"

# Lengths, long lines and words for unfinished work.
xargs awk '
	function complain(line, text) {
		print FILENAME ":" line ": " text
		bad = 1
	}
	function width(text,    i, column) {
		column = 0
		for (i = 1; i <= length(text); i++)
			if (substr(text, i, 1) == "\t")
				column += 8 - column % 8
			else
				column++
		return column
	}
	FNR == 1 { start = 0 }
	FNR == 501 { complain(FNR, "more than 500 lines") }
	width($0) > (FILENAME ~ /\.py$/ ? 120 : 100) {
		complain(FNR, width($0) " columns")
	}
	/[ \t]+$/ { complain(FNR, "blanks at the end of the line") }
	FILENAME !~ /style\.sh$|selftest\.sh$/ &&
	/(^|[^A-Za-z_])(TODO|FIXME|XXX)([^A-Za-z_]|$)/ {
		complain(FNR, "unfinished work")
	}
	FILENAME ~ /\.c$/ && /^{/ { start = FNR }
	FILENAME ~ /\.c$/ && /^}/ && start {
		if (FNR - start - 1 > 60)
			complain(start, "function of " FNR - start - 1 " lines")
		start = 0
	}
	END { exit bad }' <"$list" || failed=1

# What the code says, without comments and strings; lines keep their numbers.
code()
{
	awk '
		function strip(text,    out, c, i, next_two) {
			out = ""
			for (i = 1; i <= length(text); i++) {
				c = substr(text, i, 1)
				next_two = substr(text, i, 2)
				if (comment) {
					if (next_two == "*/") {
						comment = 0
						i++
					}
				} else if (quote != "") {
					if (c == "\\")
						i++
					else if (c == quote)
						quote = ""
				} else if (next_two == "/*") {
					comment = 1
					i++
				} else if (next_two == "//") {
					break
				} else if (c == "\"" || c == "\047") {
					quote = c
				} else {
					out = out c
				}
			}
			quote = ""
			return out
		}
		FNR == 1 { comment = 0 }
		{ print FILENAME ":" FNR ":" strip($0) }' "$@"
}

# deny WORDS FILES-THAT-MAY WHY
deny()
{
	if echo "$stripped" | grep -E "(^|[^A-Za-z0-9_])($1)" |
		grep -vE "^($2):"; then
		echo "$3"
		failed=1
	fi
}
stripped=$(code $(grep '\.[ch]$' "$list"))

banned='strcpy|strcat|sprintf|vsprintf|strtok|atoi|atol|atoll|strtol|strtoul'
banned="$banned|strtoll|strtoull|gets|system|popen|mktemp|tmpnam"
banned="$banned|alloca"
deny "($banned)[[:space:]]*\(" 'tests/support/[a-z_]+\.c|none' 'a banned function'
deny '(chdir|umask)[[:space:]]*\(' 'tests/[a-z]+/[a-z_]+\.c' \
	'a banned function: the state belongs to the whole process'
deny 'goto[[:space:]]' none 'goto: use the cleanup attribute'
deny '(secure_)?getenv[[:space:]]*\(' \
	'src/platform/linux/(system|pager)\.c|tests/[a-z]+/[a-z_]+\.[ch]' \
	'the environment chooses nothing (src/platform/linux/system.c, pager.c)'

exit "${failed:-0}"
