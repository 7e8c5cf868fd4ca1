# SPDX-License-Identifier: MIT
# libholdfast(3) from the public headers, whose comments are its contract:
#
#	awk -f library_page.awk holdfast.h error.h >libholdfast.3.scd
#
# A comment and what follows it up to an empty line are one entry.

function escape(text)
{
	gsub(/[\\*_+~]/, "\\\\&", text)
	return text
}

# A comment without its frame: paragraphs, and what is indented by a tab as it is.
function tell(lines, n,    i, line, is_code)
{
	for (i = 1; i <= n; i++) {
		line = lines[i]
		sub(/ *\*\/$/, "", line)
		sub(/^ ?\/?\* ?/, "", line)
		if (line ~ /^\t/ && !is_code) {
			print "```"
			is_code = 1
		} else if (is_code && line !~ /^\t/) {
			print "```"
			is_code = 0
		}
		if (is_code)
			print substr(line, 2)
		else if (i > 1 && i < n || line != "")
			print line ~ /^ / || line == "" ? line : escape(line)
	}
	if (is_code)
		print "```"
	print ""
}

function end_entry(    i)
{
	if (comment_count > 0 && !has_top) {
		has_top = 1
		print "# DESCRIPTION\n"
		tell(comment, comment_count)
		print "# TYPES AND FUNCTIONS\n"
	} else if (code_count > 0) {
		if (comment_count > 0)
			tell(comment, comment_count)
		print "```"
		for (i = 1; i <= code_count; i++)
			print code[i]
		print "```\n"
	}
	comment_count = 0
	code_count = 0
}

BEGIN {
	print "libholdfast(3)\n\n# NAME\n"
	print "libholdfast - guard a project's files while a command runs\n"
	print "# SYNOPSIS\n\n```\n#include <holdfast/holdfast.h>\n\ncc ... -lholdfast\n```\n"
}
FNR == 1 { next }	# the licence
# What a further header is for stands in a comment without code, which is left out.
/^#|^extern "C" \{$|^}$/ { next }
/^\/\*/ && code_count == 0 { in_comment = 1 }
in_comment {
	comment[++comment_count] = $0
	if (/\*\//)
		in_comment = 0
	next
}
/^$/ && depth == 0 {
	if (code_count > 0 || !has_top)
		end_entry()
	next
}
/^\/\*/ { end_entry(); in_comment = !/\*\//; comment[++comment_count] = $0; next }
{
	depth += gsub(/\{/, "{") - gsub(/\}/, "}")
	sub(/^HF_API /, "")
	gsub(/\\/, "&&")	# scdoc takes one for itself
	code[++code_count] = $0
}
END {
	end_entry()
	print "# SEE ALSO\n\n*holdfast*(1), *holdfast.json*(5)"
}
