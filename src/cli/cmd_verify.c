/* SPDX-License-Identifier: MIT */
/* holdfast verify: compare every protected entry with a snapshot, by content.
 */
#include "base/fail.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/differences.h"
#include "cli/repair.h"
#include "core/snapshot.h"
#include "report/json.h"

static void tell(const struct hf_options *options, struct hf_output *output,
		 const struct hf_manifest *manifest,
		 const struct hf_deltas *deltas)
{
	const size_t count = hf_tree_protected_count(&manifest->tree);
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;

	if (options->is_json) {
		hf_buffer_printf(&out,
				 "{\"holdfast-json\": 1, \"command\": "
				 "\"verify\", \"snapshot\": \"%s\", "
				 "\"protected\": %zu, \"differences\": ",
				 manifest->name.text, count);
		hf_differences_add_json(deltas, &out);
		hf_buffer_add_text(&out, "}\n");
	} else if (deltas->count == 0) {
		if (options->is_quiet)
			return;
		hf_text_add_count(&out, count, "entry is", "entries are");
		hf_buffer_printf(&out, " as in snapshot %s\n",
				 manifest->name.text);
	} else {
		hf_text_add_count(&out, deltas->count, "entry differs",
				  "entries differ");
		hf_buffer_printf(&out, " from snapshot %s:\n",
				 manifest->name.text);
		hf_differences_add(deltas, 0, &out);
	}
	hf_output_result(output, &out);
}

static int verify(const struct hf_options *options, struct hf_output *output,
		  bool *ret_differs, struct hf_error *err)
{
	cleanup_project struct hf_project project = HF_PROJECT_INIT;
	cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;
	cleanup_tree struct hf_tree now = HF_TREE_INIT;
	cleanup_deltas struct hf_deltas deltas = HF_DELTAS_INIT;
	struct hf_scan_options scan;
	int rc;

	if (options->word_count > 1)
		return hf_fail(err, HF_ERR_USAGE,
			       "cannot verify more than one "
			       "snapshot at a time");
	rc = hf_command_open(&project, options, HF_STORE_MUST_EXIST, err);
	if (rc < 0)
		return rc;
	hf_cli_recover(&project, output);
	scan = hf_project_scan_options(&project, NULL);
	rc = hf_snapshot_compare(&project.store, options->words[0], &scan,
				 hf_output_progress(output, "verifying"),
				 &manifest, &now, &deltas, err);
	if (rc < 0)
		return rc;
	tell(options, output, &manifest, &deltas);
	*ret_differs = hf_differences_matter(&deltas);
	return 0;
}

int hf_cmd_verify(const struct hf_options *options, struct hf_output *output)
{
	struct hf_error err = { 0 };
	bool differs = false;

	if (options->checks_store)
		return hf_cmd_verify_store(options, output);
	if (verify(options, output, &differs, &err) < 0)
		return hf_output_fail(output, &err);
	return differs ? HF_STATUS_DIFFERS : HF_STATUS_DONE;
}
