/* SPDX-License-Identifier: MIT */
/* What zsh completes: the arguments of every command. */
#include <string.h>

#include "base/buffer.h"
#include "cli/command.h"
#include "cli/completion.h"
#include "cli/completion_internal.h"

static const char zsh_start[] =
	"#compdef holdfast\n"
	"# holdfast in zsh: made by 'holdfast help --completion zsh'\n"
	"\n"
	"_holdfast_add()	# KIND...\n"
	"{\n"
	"	local kind ret=1\n"
	"	local -a names\n"
	"\n"
	"	for kind; do\n"
	"		case $kind in\n"
	"		DIR) _files -/ && ret=0 ;;\n"
	"		FILE) _files && ret=0 ;;\n"
	"		SNAPSHOT)\n"
	"			names=(\"$(holdfast store path 2>/dev/null)\""
	"/snapshots/*(N:t))\n"
	"			compadd -a names && ret=0 ;;\n"
	"		COMMAND) _describe command _holdfast_commands && ret=0 "
	";;\n"
	"		*) compadd -- $kind && ret=0 ;;\n"
	"		esac\n"
	"	done\n"
	"	return ret\n"
	"}\n"
	"\n";

#define ZSH_SET "\\[]:"

static void add_zsh_option(size_t index, size_t command, struct hf_buffer *out)
{
	const struct hf_option *const option = hf_options_at(index);
	const bool is_repeated = strstr(option->help, "(repeatable)") != NULL;

	for (unsigned i = 0; i < 2; i++) {
		if (i == 1 && option->letter == '\0')
			break;
		hf_buffer_add_text(out,
				   is_repeated ? " \\\n\t\t'*" : " \\\n\t\t'");
		if (i == 0)
			hf_buffer_printf(out, "--%s%s", option->name,
					 option->argument ? "=" : "");
		else
			hf_buffer_printf(out, "-%c", option->letter);
		hf_buffer_add_text(out, "[");
		hf_completion_add_escaped(option->help, ZSH_SET, "'\\''", out);
		hf_buffer_add_text(out, "]");
		if (option->argument) {
			hf_buffer_printf(
				out, "%s%s: _holdfast_add",
				hf_completion_has_second(index, command) ? "::"
									 : ":",
				option->argument);
			hf_completion_add_values(option, out);
		}
		hf_buffer_add_text(out, "'");
	}
}

static void add_zsh_command(size_t id, struct hf_buffer *out)
{
	const struct hf_command *const command = &hf_commands[id];

	hf_buffer_printf(out, "\t%s)\n\t\t_arguments -S", command->name);
	for (size_t i = 0; hf_options_at(i) != NULL; i++)
		if (hf_completion_belongs(hf_options_at(i), id) &&
		    hf_completion_is_first(i, 1u << id))
			add_zsh_option(i, id, out);
	if (id == HF_COMMAND_RUN) {
		hf_buffer_add_text(out,
				   " \\\n\t\t'(-)1:command: _command_names -e'"
				   " \\\n\t\t'*::arguments: _normal'");
	} else {
		hf_buffer_add_text(out, " \\\n\t\t'*:word: _holdfast_add");
		hf_completion_add_words(command->arguments, out);
		hf_buffer_add_text(out, "'");
	}
	hf_buffer_add_text(out, " ;;\n");
}

void hf_completion_add_zsh(struct hf_buffer *out)
{
	hf_buffer_add_text(out, zsh_start);
	hf_buffer_add_text(out, "_holdfast()\n{\n"
				"\tlocal -a _holdfast_commands=(");
	for (size_t id = 0; id < HF_COMMANDS; id++) {
		hf_buffer_printf(out, "\n\t\t'%s:", hf_commands[id].name);
		hf_completion_add_escaped(hf_commands[id].help, "\\:", "'\\''",
					  out);
		hf_buffer_add_text(out, "'");
	}
	hf_buffer_add_text(out, ")\n\n"
				"\tif (( CURRENT == 2 )); then\n"
				"\t\t_holdfast_add COMMAND --help --version\n"
				"\t\treturn\n"
				"\tfi\n"
				"\tshift words\n"
				"\t(( CURRENT-- ))\n"
				"\tcase $words[1] in\n");
	for (size_t id = 0; id < HF_COMMANDS; id++)
		add_zsh_command(id, out);
	hf_buffer_add_text(out, "\tesac\n}\n\n"
				"# Sourced, or loaded by its name.\n"
				"if [[ $funcstack[1] == _holdfast ]]; then\n"
				"\t_holdfast \"$@\"\n"
				"else\n"
				"\tcompdef _holdfast holdfast\n"
				"fi\n");
}
