# SPDX-License-Identifier: MIT
# holdfast-store(5) from formats.md, so that there is one description of the store:
#
#	awk -f formats_page.awk formats.md >holdfast-store.5.scd
#
# Knows what that page uses of Markdown: headings, paragraphs, lists of one level,
# fenced code, tables (which become lists, a row an item), `code`, *emphasis*,
# **strong**, and links.

# Emphasis and code as scdoc has them, all else as it stands.
function inline(text,    out, c, rest, end, is_code)
{
	out = ""
	is_code = 0
	while (text != "") {
		c = substr(text, 1, 1)
		rest = substr(text, 2)
		if (c == "`") {
			out = out "*"
			is_code = !is_code
		} else if (!is_code && substr(text, 1, 2) == "**") {
			out = out "*"
			rest = substr(text, 3)
		} else if (!is_code && c == "*") {
			out = out "_"
		} else if (!is_code && c == "[" && match(text, /^\[[^]]*\]\([^)]*\)/)) {
			end = index(text, "](")
			out = out inline(substr(text, 2, end - 2))
			rest = substr(text, RLENGTH + 1)
		} else if (c ~ /[*_\\+~]/) {
			out = out "\\" c
		} else {
			out = out c
		}
		text = rest
	}
	return out ~ /^[[|.#-]/ ? "\\" out : out
}

function flush()
{
	if (paragraph != "")
		print inline(paragraph) "\n"
	paragraph = ""
	if (item != "")
		print "- " inline(item)
	item = ""
}

# | a | b |: the first cell, those between in brackets, the last one as text.
function row(line,    cells, n, i, between)
{
	sub(/^\| */, "", line)
	sub(/ *\|$/, "", line)
	n = split(line, cells, / \| /)
	between = ""
	for (i = 2; i < n; i++)
		between = between (i > 2 ? ", " : "") cells[i]
	print inline(cells[1]) (between == "" ? "" : " (" inline(between) ")")
	print "\t" inline(cells[n]) "\n"
}

BEGIN {
	print "holdfast-store(5)\n\n# NAME\n"
	print "holdfast-store - what lies in a store of holdfast\n\n# DESCRIPTION\n"
}

/^```/ {
	flush()
	is_fenced = !is_fenced
	print "```"
	if (!is_fenced)
		print ""
	next
}
# scdoc takes a backslash for itself even there.
is_fenced { gsub(/\\/, "&&"); print; next }
/^# / { next }
/^#+ / {
	if (item != "")
		is_list = 1
	flush()
	if (is_list)
		print ""
	is_list = 0
	sub(/^#+ /, "")
	gsub(/`/, "")
	print "# " inline(toupper($0)) "\n"
	next
}
/^\|/ {
	# The first row is a heading, the second a line of dashes.
	flush()
	if (++rows > 2)
		row($0)
	next
}
{ rows = 0 }
/^- / {
	flush()
	is_list = 1
	item = substr($0, 3)
	next
}
/^ +[^ ]/ && item != "" {
	sub(/^ +/, "")
	item = item " " $0
	next
}
/^$/ {
	flush()
	if (is_list)
		print ""
	is_list = 0
	next
}
{
	if (item != "") {
		flush()
		print ""
		is_list = 0
	}
	paragraph = paragraph (paragraph == "" ? "" : " ") $0
}
END {
	flush()
	print "\n# SEE ALSO\n\n*holdfast*(1), *holdfast.json*(5), *tar*(1), *zstd*(1)"
}
