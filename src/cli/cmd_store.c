/* SPDX-License-Identifier: MIT */
/* holdfast store: where it is, and to whom it belongs. */
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "cli/command.h"
#include "guard/session.h"
#include "report/json.h"

static int show_path(const struct hf_options *options, struct hf_output *output,
		     const struct hf_project *project, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;
	struct hf_stat stat;
	const bool exists = hf_file_stat_path(project->store_path, &stat) == 0;

	if (options->is_json) {
		hf_buffer_add_text(&out, "{\"holdfast-json\": 1, \"command\": "
					 "\"store path\", ");
		hf_report_json_path(project->store_path, &out);
		hf_buffer_printf(&out, ", \"exists\": %s, \"root\": ",
				 exists ? "true" : "false");
		hf_report_json_text(project->root, &out);
		hf_buffer_add_text(&out, "}\n");
	} else {
		/* As it is: for the command line of another program. */
		hf_buffer_add_text(&out, project->store_path);
		hf_buffer_add_text(&out, "\n");
	}
	hf_output_result(output, &out);
	return hf_buffer_check(&out, err);
}

static int adopt(const struct hf_options *options, struct hf_output *output,
		 struct hf_project *project, struct hf_error *err)
{
	int rc;

	if (hf_session_is_inside(project)) {
		(void)hf_fail(err, HF_ERR_BUSY,
			      "cannot adopt the store: a run is in progress");
		return err->code;
	}
	rc = hf_store_adopt(project->store_path, project->root,
			    project->root_fd, err);
	if (rc < 0)
		return rc;
	if (!options->is_quiet)
		hf_output_say(output,
			      "the store '%s' belongs to '%s' from "
			      "now on",
			      HF_QUOTE(project->store_path),
			      HF_QUOTE(project->root));
	return 0;
}

static int store(const struct hf_options *options, struct hf_output *output,
		 struct hf_error *err)
{
	cleanup_project struct hf_project project = HF_PROJECT_INIT;
	const char *word = options->words[0];
	const char *place = options->store;
	int rc;

	if (word != NULL && strcmp(word, "adopt") == 0 &&
	    options->word_count == 2)
		place = options->words[1];
	else if (word == NULL || options->word_count > 1 ||
		 (strcmp(word, "path") != 0 && strcmp(word, "adopt") != 0)) {
		(void)hf_fail(err, HF_ERR_USAGE, "cannot use 'store%s%s'",
			      word == NULL ? "" : " ",
			      word == NULL ? "" : HF_QUOTE(word));
		return hf_fail_hint(err, "holdfast store path, or: holdfast "
					 "store adopt [DIR]");
	}
	rc = hf_command_find_project(&project, options, place, err);
	if (rc < 0)
		return rc;
	return strcmp(word, "path") == 0 ?
		       show_path(options, output, &project, err) :
		       adopt(options, output, &project, err);
}

int hf_cmd_store(const struct hf_options *options, struct hf_output *output)
{
	struct hf_error err = { 0 };

	if (store(options, output, &err) < 0)
		return hf_output_fail(output, &err);
	return HF_STATUS_DONE;
}
