/* SPDX-License-Identifier: MIT */
/* holdfast import: take the snapshots of an exported file into the store. */
#include "core/import.h"

#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "cli/repair.h"
#include "core/journal_text.h"
#include "platform/terminal.h"
#include "report/json.h"

/* Standard input for "-". */
static int open_file(const char *file, int *ret_fd, struct hf_error *err)
{
	cleanup_fd int fd = -1;
	struct hf_stat stat;
	int rc;

	if (strcmp(file, "-") == 0) {
		if (hf_terminal_is(HF_STDIN))
			return hf_fail(err, HF_ERR_USAGE,
				       "cannot import from a terminal");
		fd = hf_file_duplicate(HF_STDIN);
	} else {
		fd = hf_file_open_read_path(file);
	}
	if (fd < 0)
		return hf_fail_system(err, fd, "cannot open '%s'",
				      HF_QUOTE(file));
	rc = hf_file_stat(fd, &stat);
	if (rc == 0 && stat.kind != HF_KIND_FILE && strcmp(file, "-") != 0) {
		(void)hf_fail(err, HF_ERR_USAGE,
			      "cannot import '%s': it is no regular file",
			      HF_QUOTE(file));
		return hf_fail_hint(err, "'-' reads from standard input");
	}
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot look at '%s'",
				      HF_QUOTE(file));
	*ret_fd = take_fd(&fd);
	return 0;
}

/* A line in the log: a snapshot does not say where it comes from. */
static int note(const struct hf_store *store, const char *file,
		const struct hf_import_result *result, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer words = HF_BUFFER_INIT;

	hf_buffer_add_json(&words, file, strlen(file));
	hf_buffer_printf(&words, ",\"%s\"", result->original.text);
	return hf_journal_write_done(store, "import", result->last.text, &words,
				     NULL, err);
}

static void print_json(const char *file, const struct hf_import_result *result,
		       struct hf_output *output)
{
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;

	hf_buffer_add_text(&out, "{\"holdfast-json\": 1, \"command\": "
				 "\"import\", ");
	hf_report_json_path(file, &out);
	hf_buffer_printf(&out,
			 ", \"snapshot\": \"%s\", \"oldest\": \"%s\", "
			 "\"snapshots\": %zu, \"original\": \"%s\", "
			 "\"root\": ",
			 result->last.text, result->first.text,
			 result->snapshots, result->original.text);
	hf_report_json_text(result->root, &out);
	hf_buffer_printf(&out,
			 ", \"files\": %zu, \"archived\": %zu, "
			 "\"archived_bytes\": %" PRIu64 "}\n",
			 result->files, result->archived,
			 result->archived_bytes);
	hf_output_result(output, &out);
}

static void tell(const struct hf_cli_repair *repair, const char *file,
		 const struct hf_import_result *result)
{
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;

	if (repair->options->is_json) {
		print_json(file, result, repair->output);
		return;
	}
	if (repair->options->is_quiet)
		return;
	if (result->snapshots > 1)
		hf_buffer_printf(&out, "%zu snapshots as %s to %s",
				 result->snapshots, result->first.text,
				 result->last.text);
	else
		hf_buffer_printf(&out, "%s as %s", result->original.text,
				 result->last.text);
	hf_output_say(repair->output, "imported %s; %zu %s new", out.data,
		      result->archived,
		      result->archived == 1 ? "content is" : "contents are");
	if (strcmp(result->root, repair->project.root) != 0)
		hf_output_mark(repair->output, "note",
			       "it was recorded in '%s'",
			       HF_QUOTE(result->root));
	hf_output_mark(
		repair->output, "hint",
		"the tree is as it was; holdfast restore%s --from %" PRIu64
		" takes from it",
		repair->output->style.location, hf_name_number(&result->last));
}

static int import(struct hf_cli_repair *repair, struct hf_import_result *result,
		  const struct hf_options *options, struct hf_output *output,
		  struct hf_error *err)
{
	cleanup_buffer struct hf_buffer what = HF_BUFFER_INIT;
	cleanup_fd int fd = -1;
	int rc;

	if (options->word_count != 1) {
		(void)hf_fail(err, HF_ERR_USAGE, "cannot import %s",
			      options->word_count == 0 ? "without a file"
						       : "several files");
		return hf_fail_hint(err, "holdfast import FILE");
	}
	rc = open_file(options->words[0], &fd, err);
	if (rc < 0)
		return rc;
	hf_buffer_printf(&what, "'%s'", HF_QUOTE(options->words[0]));
	rc = hf_buffer_check(&what, err);
	if (rc == 0)
		rc = hf_cli_repair_open(repair, "import", options, output,
					HF_STORE_MAKE, err);
	if (rc == 0)
		rc = hf_cli_repair_recover(repair, "import", err);
	if (rc == 0)
		rc = hf_import(&repair->project.store, fd, what.data, result,
			       err);
	if (rc == 0)
		rc = note(&repair->project.store, options->words[0], result,
			  err);
	return rc;
}

int hf_cmd_import(const struct hf_options *options, struct hf_output *output)
{
	cleanup_cli_repair struct hf_cli_repair repair = HF_CLI_REPAIR_INIT;
	struct hf_import_result result = {.root = NULL};
	struct hf_error err = {0};
	int rc;

	rc = import(&repair, &result, options, output, &err);
	if (rc == 0)
		tell(&repair, options->words[0], &result);
	free(result.root);
	return rc < 0 ? hf_output_fail(output, &err) : HF_STATUS_DONE;
}
