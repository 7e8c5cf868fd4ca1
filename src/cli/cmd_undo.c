/* SPDX-License-Identifier: MIT */
/* holdfast undo: bring back what a restore has replaced. */
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "cli/repair.h"
#include "guard/repair.h"

static int undo(struct hf_cli_repair *repair, const struct hf_options *options,
		struct hf_output *output, int *ret_status, struct hf_error *err)
{
	cleanup_session_record struct hf_session_record record =
		HF_SESSION_RECORD_INIT;
	cleanup_buffer struct hf_buffer notes = HF_BUFFER_INIT;
	int rc;

	rc = hf_cli_repair_open(repair, "undo", options, output,
				HF_STORE_MUST_EXIST, err);
	if (rc < 0)
		return rc;
	rc = hf_repair_find_undo(&repair->project.store, options->words[0],
				 &record, &notes, err);
	if (!options->is_quiet)
		hf_output_notes(output, notes.data);
	if (rc < 0)
		return rc;
	return hf_cli_repair_undo(repair, &record, NULL, ret_status, err);
}

int hf_cmd_undo(const struct hf_options *options, struct hf_output *output)
{
	cleanup_cli_repair struct hf_cli_repair repair = HF_CLI_REPAIR_INIT;
	struct hf_error err = { 0 };
	int status = HF_STATUS_DONE;

	if (options->word_count > 1) {
		(void)hf_fail(&err, HF_ERR_USAGE,
			      "cannot undo more than one session at a time");
		return hf_output_fail(output, &err);
	}
	if (undo(&repair, options, output, &status, &err) < 0)
		return hf_output_fail(output, &err);
	return status;
}
