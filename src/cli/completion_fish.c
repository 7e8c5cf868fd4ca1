/* SPDX-License-Identifier: MIT */
/* What fish completes: a line for every option of every command. */
#include <string.h>

#include "base/buffer.h"
#include "cli/command.h"
#include "cli/completion.h"
#include "cli/completion_internal.h"

static const char fish_start[] =
	"# holdfast in fish: made by 'holdfast help --completion fish'\n"
	"function __holdfast_is\n"
	"    set -l words (commandline -opc)\n"
	"    test (count $words) -ge 2; and test $words[2] = $argv[1]\n"
	"end\n"
	"function __holdfast_is_first\n"
	"    test (count (commandline -opc)) -lt 2\n"
	"end\n"
	"function __holdfast_snapshots\n"
	"    command ls (holdfast store path 2>/dev/null)/snapshots "
	"2>/dev/null\n"
	"end\n"
	"complete -c holdfast -f\n"
	"complete -c holdfast -n __holdfast_is_first -l help -l version\n";

/* -a for each word of a list, paths by -F where they are wanted. */
static void add_fish_kinds(const char *list, struct hf_buffer *out)
{
	const bool has_paths = hf_completion_has_word(list, "FILE", 4);
	bool has_words = false;

	for (const char *at = list; *at != '\0';) {
		const size_t start = strspn(at, " ");
		const size_t len = strcspn(at + start, " ");
		const char *const word = at + start;

		at = word + len;
		if (len == 0 || hf_completion_is_text(word, len, "FILE"))
			continue;
		hf_buffer_add_text(out, has_words ? " " : " -a '");
		has_words = true;
		if (hf_completion_is_text(word, len, "DIR"))
			hf_buffer_add_text(out,
					   "(__fish_complete_directories)");
		else if (hf_completion_is_text(word, len, "SNAPSHOT"))
			hf_buffer_add_text(out, "(__holdfast_snapshots)");
		else if (!hf_completion_is_text(word, len, "COMMAND"))
			hf_buffer_add(out, word, len);
		for (size_t id = 0;
		     hf_completion_is_text(word, len, "COMMAND") &&
		     id < HF_COMMANDS;
		     id++)
			hf_buffer_printf(out, "%s%s", id == 0 ? "" : " ",
					 hf_commands[id].name);
	}
	hf_buffer_add_text(out, has_words ? "'" : "");
	hf_buffer_add_text(out, has_paths ? " -F" : "");
}

/* A value, and no file where none is meant. */
static void add_value_kinds(const char *list, struct hf_buffer *out)
{
	hf_buffer_add_text(
		out, hf_completion_has_word(list, "FILE", 4) ? " -r" : " -x");
	add_fish_kinds(list, out);
}

static void add_fish_options(size_t id, struct hf_buffer *out)
{
	const struct hf_option *option;

	for (size_t i = 0; (option = hf_options_at(i)) != NULL; i++) {
		cleanup_buffer struct hf_buffer values = HF_BUFFER_INIT;

		if (!hf_completion_belongs(option, id) ||
		    !hf_completion_is_first(i, 1u << id))
			continue;
		hf_buffer_printf(out,
				 "complete -c holdfast -n '__holdfast_is %s' "
				 "-l %s",
				 hf_commands[id].name, option->name);
		if (option->letter != '\0')
			hf_buffer_printf(out, " -s %c", option->letter);
		if (option->argument) {
			hf_completion_add_values(option, &values);
			add_value_kinds(values.data ? values.data : "", out);
		}
		hf_buffer_add_text(out, " -d '");
		hf_completion_add_escaped(option->help, "\\", "\\'", out);
		hf_buffer_add_text(out, "'\n");
	}
}

static void add_fish_words(size_t id, struct hf_buffer *out)
{
	cleanup_buffer struct hf_buffer words = HF_BUFFER_INIT;
	const struct hf_option *option;

	hf_buffer_printf(out, "complete -c holdfast -n '__holdfast_is %s'",
			 hf_commands[id].name);
	if (id != HF_COMMAND_RUN) {
		hf_completion_add_words(hf_commands[id].arguments, &words);
		add_fish_kinds(words.data ? words.data : "", out);
		hf_buffer_add_text(out, "\n");
		return;
	}
	/* Those of the options that take the next word, so that it is not
	 * taken for the command. */
	hf_buffer_add_text(out, " -a '(__fish_complete_subcommand "
				"--fcs-skip=2");
	for (size_t i = 0; (option = hf_options_at(i)) != NULL; i++)
		if (hf_completion_belongs(option, id) && option->argument)
			hf_buffer_printf(out, " --%s", option->name);
	hf_buffer_add_text(out, ")'\n");
}

void hf_completion_add_fish(struct hf_buffer *out)
{
	hf_buffer_add_text(out, fish_start);
	for (size_t id = 0; id < HF_COMMANDS; id++) {
		hf_buffer_printf(out,
				 "complete -c holdfast -n __holdfast_is_first "
				 "-a %s -d '",
				 hf_commands[id].name);
		hf_completion_add_escaped(hf_commands[id].help, "\\", "\\'",
					  out);
		hf_buffer_add_text(out, "'\n");
		add_fish_options(id, out);
		add_fish_words(id, out);
	}
}
