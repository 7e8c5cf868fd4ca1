/* SPDX-License-Identifier: MIT */
/* What bash completes: three functions from the tables, and one that calls
 * them. */
#include <string.h>

#include "base/buffer.h"
#include "cli/command.h"
#include "cli/completion.h"
#include "cli/completion_internal.h"

/* case $1 in OPTION) echo VALUES ;; ... */
static void add_bash_values(struct hf_buffer *out)
{
	const struct hf_option *option;

	hf_buffer_add_text(out, "_holdfast_values()	# OPTION\n"
				"{\n\tcase $1 in\n");
	for (size_t i = 0; (option = hf_options_at(i)) != NULL; i++) {
		if (option->argument == NULL)
			continue;
		hf_buffer_printf(out, "\t--%s", option->name);
		if (option->letter != '\0')
			hf_buffer_printf(out, "|-%c", option->letter);
		hf_buffer_add_text(out, ") echo value");
		hf_completion_add_values(option, out);
		hf_buffer_add_text(out, " ;;\n");
	}
	hf_buffer_add_text(out, "\tesac\n}\n\n");
}

static void add_bash_options(struct hf_buffer *out)
{
	const struct hf_option *option;

	hf_buffer_add_text(out, "_holdfast_options()	# COMMAND\n"
				"{\n\tcase $1 in\n");
	for (size_t id = 0; id < HF_COMMANDS; id++) {
		hf_buffer_printf(out, "\t%s) echo", hf_commands[id].name);
		for (size_t i = 0; (option = hf_options_at(i)) != NULL; i++) {
			if (!hf_completion_belongs(option, id) ||
			    !hf_completion_is_first(i, 1u << id))
				continue;
			hf_buffer_printf(out, " --%s", option->name);
			if (option->letter != '\0')
				hf_buffer_printf(out, " -%c", option->letter);
		}
		hf_buffer_add_text(out, " ;;\n");
	}
	hf_buffer_add_text(out, "\tesac\n}\n\n");
}

static void add_bash_words(struct hf_buffer *out)
{
	hf_buffer_add_text(out, "_holdfast_words()	# COMMAND\n"
				"{\n\tcase $1 in\n");
	for (size_t id = 0; id < HF_COMMANDS; id++) {
		hf_buffer_printf(out, "\t%s) echo", hf_commands[id].name);
		hf_completion_add_words(hf_commands[id].arguments, out);
		hf_buffer_add_text(out, " ;;\n");
	}
	hf_buffer_add_text(out, "\tesac\n}\n\n");
}

static const char bash_rest[] =
	"_holdfast_add()	# KIND...: to COMPREPLY what it may be\n"
	"{\n"
	"	local kind found=() more name\n"
	"\n"
	"	for kind; do\n"
	"		more=()\n"
	"		case $kind in\n"
	"		DIR) compopt -o filenames 2>/dev/null\n"
	"			mapfile -t more < <(compgen -d -- \"$cur\") "
	";;\n"
	"		FILE) compopt -o filenames 2>/dev/null\n"
	"			mapfile -t more < <(compgen -f -- \"$cur\") "
	";;\n"
	"		# No word list, which would be expanded: no name is "
	"code.\n"
	"		SNAPSHOT) for name in \"$(holdfast store path "
	"2>/dev/null)\"/snapshots/\"$cur\"*; do\n"
	"				name=${name##*/}\n"
	"				[[ ! $name =~ ^[0-9]+-[0-9TZ]+$ ]] ||\n"
	"					more+=(\"$name\")\n"
	"			done ;;\n"
	"		COMMAND) mapfile -t more < <(\n"
	"			compgen -W \"$_holdfast_commands\" -- "
	"\"$cur\") ;;\n"
	"		*) mapfile -t more < <(compgen -W \"$kind\" -- "
	"\"$cur\") ;;\n"
	"		esac\n"
	"		found+=(\"${more[@]}\")\n"
	"	done\n"
	"	COMPREPLY+=(\"${found[@]}\")\n"
	"}\n"
	"\n"
	"_holdfast()\n"
	"{\n"
	"	local cur=${COMP_WORDS[COMP_CWORD]} prev= "
	"command=${COMP_WORDS[1]}\n"
	"	local at=2 values\n"
	"\n"
	"	COMPREPLY=()\n"
	"	[ \"$COMP_CWORD\" -lt 1 ] || prev=${COMP_WORDS[COMP_CWORD - "
	"1]}\n"
	"	if [ \"$COMP_CWORD\" -le 1 ]; then\n"
	"		_holdfast_add COMMAND --help --version\n"
	"		return\n"
	"	fi\n"
	"	# Bash makes three words of \"--gate=auto\".\n"
	"	if [ \"$cur\" = = ]; then\n"
	"		cur=\n"
	"	elif [ \"$prev\" = = ]; then\n"
	"		prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
	"	fi\n"
	"	# Options end at \"--\", those of run at the first word that "
	"is none.\n"
	"	while [ \"$at\" -lt \"$COMP_CWORD\" ]; do\n"
	"		case ${COMP_WORDS[at]} in\n"
	"		--) at=$((at + 1)); break ;;\n"
	"		-*) if [ \"${COMP_WORDS[at + 1]}\" = = ]; then\n"
	"				at=$((at + 2))\n"
	"			elif [ -n \"$(_holdfast_values "
	"\"${COMP_WORDS[at]}\")\" ]; then\n"
	"				at=$((at + 1))\n"
	"			fi ;;\n"
	"		*) [ \"$command\" != run ] || break ;;\n"
	"		esac\n"
	"		at=$((at + 1))\n"
	"	done\n"
	"	if [ \"$at\" -le \"$COMP_CWORD\" ]; then\n"
	"		values=\n"
	"	else\n"
	"		values=$(_holdfast_values \"$prev\")\n"
	"	fi\n"
	"	if [ -n \"$values\" ]; then\n"
	"		# shellcheck disable=SC2086	# words are wanted\n"
	"		_holdfast_add ${values#value}\n"
	"	elif [[ $cur == -* && $at = \"$COMP_CWORD\" &&\n"
	"		${COMP_WORDS[at - 1]} != -- ]]; then\n"
	"		# shellcheck disable=SC2046\n"
	"		_holdfast_add $(_holdfast_options \"$command\")\n"
	"	elif [ \"$command\" = run ]; then\n"
	"		if declare -F _command_offset >/dev/null; then\n"
	"			_command_offset \"$at\"\n"
	"		elif [ \"$at\" = \"$COMP_CWORD\" ]; then\n"
	"			mapfile -t COMPREPLY < <(compgen -c -- "
	"\"$cur\")\n"
	"		else\n"
	"			_holdfast_add FILE\n"
	"		fi\n"
	"	else\n"
	"		# shellcheck disable=SC2046\n"
	"		_holdfast_add $(_holdfast_words \"$command\")\n"
	"	fi\n"
	"}\n"
	"complete -F _holdfast holdfast\n";

void hf_completion_add_bash(struct hf_buffer *out)
{
	hf_buffer_add_text(out, "# holdfast in bash: made by 'holdfast help "
				"--completion bash'\n_holdfast_commands='");
	for (size_t id = 0; id < HF_COMMANDS; id++)
		hf_buffer_printf(out, "%s%s", id == 0 ? "" : " ",
				 hf_commands[id].name);
	hf_buffer_add_text(out, "'\n\n");
	add_bash_values(out);
	add_bash_options(out);
	add_bash_words(out);
	hf_buffer_add_text(out, bash_rest);
}
