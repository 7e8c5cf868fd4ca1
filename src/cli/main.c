/* SPDX-License-Identifier: MIT */
/* Find the command, parse its options, run it. */
#include <string.h>

#include "base/fail.h"
#include "base/version.h"
#include "cli/command.h"
#include "guard/session.h"
#include "platform/file.h"
#include "platform/terminal.h"

/* Words that stand alone. */
static int run_alone(const char *word, struct hf_output *output)
{
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;

	if (strcmp(word, "--version") == 0)
		hf_buffer_add_text(&out, "holdfast " HF_VERSION "\n");
	else
		hf_help_overview(&out);
	hf_output_result(output, &out);
	return hf_output_end(output, HF_STATUS_DONE, HF_STATUS_FAILED);
}

static int fail_unknown(const char *name, struct hf_output *output)
{
	struct hf_error err = { 0 };

	hf_command_fail_unknown(name, &err);
	return hf_output_fail(output, &err);
}

static int show_help(enum hf_command_id id, struct hf_output *output)
{
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;

	hf_help_describe(id, &out);
	hf_output_result(output, &out);
	return hf_output_end(output, HF_STATUS_DONE, HF_STATUS_FAILED);
}

static int run_command(enum hf_command_id id, const char *const *argv,
		       struct hf_output *output)
{
	cleanup_options struct hf_options options = HF_OPTIONS_INIT;
	struct hf_error err = { 0 };

	if (hf_options_parse(&options, id, argv, &err) < 0) {
		if (err.code == HF_ERR_USAGE && err.hint[0] == '\0')
			(void)hf_fail_hint(&err, "'holdfast help %s' lists its "
					   "options", hf_commands[id].name);
		hf_output_error(output, &err);
		return id == HF_COMMAND_RUN ? HF_STATUS_FAILURE :
					      hf_output_status(&err);
	}
	hf_output_init(output, &options);
	if (options.wants_help)
		return show_help(id, output);
	return hf_output_end(output, hf_commands[id].run(&options, output),
			     id == HF_COMMAND_RUN ? HF_STATUS_FAILURE :
						    HF_STATUS_FAILED);
}

int main(int argc, char **argv)
{
	cleanup_output struct hf_output output = HF_OUTPUT_INIT;
	enum hf_command_id id;

	hf_terminal_fill();
	hf_file_expect_limit();
	if (argc < 2) {
		cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;

		hf_help_overview(&out);
		hf_output_lines(&output, &out);
		return HF_STATUS_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0 ||
	    strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return run_alone(argv[1], &output);
	id = hf_command_find(argv[1]);
	if (id == HF_COMMANDS)
		return fail_unknown(argv[1], &output);
	return run_command(id, (const char *const *)argv + 2, &output);
}
