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

static int fail_nothing(const struct hf_project *project, struct hf_error *err)
{
	(void)hf_fail(err, HF_ERR_NOTHING,
		      "cannot adopt '%s': no store is there",
		      HF_QUOTE(project->store_path));
	return hf_fail_hint(err, "name that of the moved project: 'holdfast "
				 "store adopt DIR'");
}

/* Without a repository that could point to it, a store is found by the path of
 * the root, and this one has the name of another. */
static int say_how_to_find(struct hf_output *output,
			   const struct hf_project *project,
			   struct hf_error *err)
{
	cleanup_free char *found = NULL;
	cleanup_buffer struct hf_buffer word = HF_BUFFER_INIT;
	int rc;

	rc = hf_store_locate(NULL, project->root, &found, err);
	if (rc < 0)
		return rc;
	if (strcmp(found, project->store_path) == 0)
		return 0;
	hf_text_add_shell(&word, project->store_path);
	rc = hf_buffer_check(&word, err);
	if (rc < 0)
		return rc;
	hf_output_mark(output, "hint",
		       "every command for this project needs '--store %s', "
		       "or move it to '%s'",
		       word.data, HF_QUOTE(found));
	return 0;
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
	if (rc == HF_ERR_NOTHING)
		return fail_nothing(project, err);
	if (rc < 0)
		return rc;
	if (!options->is_quiet)
		hf_output_say(output,
			      "the store '%s' belongs to '%s' from "
			      "now on",
			      HF_QUOTE(project->store_path),
			      HF_QUOTE(project->root));
	return say_how_to_find(output, project, err);
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
		(void)hf_fail(err, HF_ERR_USAGE,
			      "cannot use 'store%s%s': it is list, path, adopt "
			      "or drop",
			      word == NULL ? "" : " ",
			      word == NULL ? "" : HF_QUOTE(word));
		return hf_fail_hint(err, "'holdfast store list', 'path', "
					 "'adopt [DIR]' or 'drop [DIR]'");
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
	const char *const word = options->words[0];
	struct hf_error err = { 0 };

	if (word != NULL && strcmp(word, "list") == 0 &&
	    options->word_count == 1)
		return hf_cmd_store_list(options, output);
	if (word != NULL && strcmp(word, "drop") == 0)
		return hf_cmd_store_drop(options, output);
	if (store(options, output, &err) < 0)
		return hf_output_fail(output, &err);
	return HF_STATUS_DONE;
}
