/* SPDX-License-Identifier: MIT */
/* holdfast help: from the tables of commands and options. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/completion.h"
#include "cli/suggest.h"

#define LEFT_WIDTH 34 /* of the column before the explanation */

static void add_row(struct hf_buffer *out, const char *left, const char *right)
{
	if (strlen(left) > LEFT_WIDTH)
		hf_buffer_printf(out, "  %s\n  %-*s  %s\n", left, LEFT_WIDTH,
				 "", right);
	else
		hf_buffer_printf(out, "  %-*s  %s\n", LEFT_WIDTH, left, right);
}

static void add_command(struct hf_buffer *out, const struct hf_command *command)
{
	char left[128];

	(void)snprintf(left, sizeof(left), "%s%s%s", command->name,
		       command->arguments[0] == '\0' ? "" : " ",
		       command->arguments);
	add_row(out, left, command->help);
}

void hf_help_overview(struct hf_buffer *out)
{
	const char *group = "";

	hf_buffer_add_text(out, "usage: holdfast COMMAND [options] ...\n");
	for (size_t i = 0; i < HF_COMMANDS; i++) {
		const struct hf_command *command = &hf_commands[i];

		if (strcmp(command->group, group) != 0)
			hf_buffer_printf(out, "\n%s\n", command->group);
		group = command->group;
		add_command(out, command);
	}
	add_row(out, "--version", "print the version");
	hf_buffer_add_text(out, "\n'holdfast help COMMAND' lists its options; "
				"'man holdfast' explains it all\n");
}

void hf_help_describe(enum hf_command_id id, struct hf_buffer *out)
{
	const struct hf_command *command = &hf_commands[id];
	const struct hf_option *option;

	hf_buffer_printf(out, "usage: holdfast %s%s%s\n\n%s\n\n", command->name,
			 command->arguments[0] == '\0' ? "" : " ",
			 command->arguments, command->help);
	for (size_t i = 0; (option = hf_options_at(i)) != NULL; i++) {
		char left[64];

		if (!(option->commands & (1u << id)))
			continue;
		(void)snprintf(left, sizeof(left), "%c%c%s --%s%s%s",
			       option->letter == '\0' ? ' ' : '-',
			       option->letter == '\0' ? ' ' : option->letter,
			       option->letter == '\0' ? " " : ",", option->name,
			       option->argument == NULL ? "" : " ",
			       option->argument == NULL ? "" :
							  option->argument);
		add_row(out, left, option->help);
	}
	hf_buffer_printf(out, "\n'man holdfast-%s' explains them\n",
			 command->name);
}

int hf_cmd_help(const struct hf_options *options, struct hf_output *output)
{
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;
	struct hf_error err = { 0 };
	enum hf_command_id id;

	if (options->shell != HF_SHELL_NONE && options->word_count > 0) {
		(void)hf_fail(&err, HF_ERR_USAGE,
			      "cannot describe '%s' and complete at once",
			      HF_QUOTE(options->words[0]));
		return hf_output_fail(output, &err);
	}
	if (options->word_count == 0) {
		if (options->shell != HF_SHELL_NONE)
			hf_completion_add(options->shell, &out);
		else
			hf_help_overview(&out);
		hf_output_result(output, &out);
		return HF_STATUS_DONE;
	}
	if (options->word_count > 1) {
		(void)hf_fail(&err, HF_ERR_USAGE,
			      "cannot describe more than one command at a "
			      "time");
		return hf_output_fail(output, &err);
	}
	id = hf_command_find(options->words[0]);
	if (id == HF_COMMANDS) {
		hf_command_fail_unknown(options->words[0], &err);
		return hf_output_fail(output, &err);
	}
	hf_help_describe(id, &out);
	hf_output_result(output, &out);
	return HF_STATUS_DONE;
}
