# SPDX-License-Identifier: MIT
# The man page of one command, from the page that has them all:
#
#	awk -f command_page.awk run.help holdfast.1.scd >holdfast-run.1.scd
#
# The first file is what `holdfast help run` prints, which says what options the command
# has.  What is not described is said on standard error.

function missing(what)
{
	print "holdfast-" command ".1: " what " is not described" >"/dev/stderr"
}

# Other sections stand in the other page.
function elsewhere(text,    i)
{
	for (i = 1; i <= section_count; i++)
		gsub("\\*" sections[i] "\\*", "*" sections[i] "* in *holdfast*(1)", text)
	return text
}

# How well the section that an option is described under fits this command.
function fitness(heading)
{
	if (heading ~ "(^| )" command "( |,|$)")
		return 3
	return heading ~ /every/ ? 2 : 1
}

# The text behind a heading of its own, as paragraphs or, of several, as they are.
function description(    i, text)
{
	text = body[1]
	if (forms > 1) {
		text = ""
		for (i = 1; i <= forms; i++)
			text = text form[i] "\n" body[i]
		return text
	}
	sub(/^\t/, "", text)
	gsub(/\n\t/, "\n", text)
	return text
}

FNR == NR {
	if (FNR == 1)
		command = $3
	if (FNR == 3)
		summary = $0
	if (match($0, /^  (-.,|   ) --[a-z-]+/)) {
		option = substr($0, RSTART, RLENGTH)
		sub(/.* --/, "--", option)
		if (!(option in wanted))
			order[++count] = option
		wanted[option] = 1
	}
	next
}

/^# / {
	section = substr($0, 3)
	if (section !~ /^(NAME|SYNOPSIS|DESCRIPTION)$/)
		sections[++section_count] = section
	heading = ""
	at = ""
	next
}
/^## / {
	heading = substr($0, 4)
	at = ""
	next
}

section == "SYNOPSIS" && $0 ~ "^\\*holdfast " command "\\*" {
	sub(/\+\+$/, "")
	synopsis = synopsis (synopsis == "" ? "" : "++\n") $0
}

section == "COMMANDS" && /^[^\t]/ {
	at = ""
	if ($0 ~ "^\\*holdfast " command "\\*") {
		form[++forms] = $0
		at = "command"
		next
	}
}
section == "COMMANDS" && at == "command" {
	body[forms] = body[forms] $0 "\n"
}

section == "OPTIONS" && /^[^\t]/ {
	at = ""
	if (match($0, /\*--[a-z-]+\*/)) {
		at = substr($0, RSTART + 1, RLENGTH - 2)
		if (fitness(heading) <= best[at]) {
			at = ""
			next
		}
		best[at] = fitness(heading)
		told[at] = ""
	}
}
section == "OPTIONS" && at != "" {
	told[at] = told[at] $0 "\n"
}

section == "EXIT STATUS" && /^Of \*run\*:$/ { is_other = 0; next }
section == "EXIT STATUS" && /^Of the other commands:$/ { is_other = 1; next }
section == "EXIT STATUS" && is_other == (command != "run") {
	status = status $0 "\n"
}

END {
	if (summary == "")
		missing("what it does")
	if (synopsis == "")
		missing("how it is called")
	if (forms == 0)
		missing("the command")
	print "holdfast-" command "(1)\n"
	print "# NAME\n\nholdfast-" command " - " summary "\n"
	print "# SYNOPSIS\n\n" synopsis "\n"
	print "# DESCRIPTION\n\n" elsewhere(description())
	print "# OPTIONS\n"
	for (i = 1; i <= count; i++) {
		if (told[order[i]] == "")
			missing(order[i])
		printf "%s", elsewhere(told[order[i]])
	}
	print "\n# EXIT STATUS\n" elsewhere(status)
	print "# SEE ALSO\n\n*holdfast*(1), *holdfast.json*(5)"
}
