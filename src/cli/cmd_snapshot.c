/* SPDX-License-Identifier: MIT */
/* holdfast snapshot: record the tree as it is now. */
#include <inttypes.h>

#include "base/fail.h"
#include "base/text.h"
#include "cli/repair.h"
#include "core/nearby.h"
#include "core/retention_store.h"
#include "core/snapshot.h"
#include "guard/recover.h"
#include "report/json.h"

/* A policy that may protect nothing may be recorded; what else it wants is for a
 * run to check. */
static uint64_t minimum(const struct hf_scan_options *scan)
{
	return scan->policy->min_protected > 0 ? 1 : 0;
}

static int decide(void *context, const struct hf_tree *tree,
		  const struct hf_deltas *drift, struct hf_error *err)
{
	return hf_nearby_check(context, tree, drift, minimum(context), "record",
			       err);
}

static void tell(const struct hf_cli_repair *repair,
		 const struct hf_manifest *manifest,
		 const struct hf_snapshot_result *result)
{
	const size_t count = hf_tree_protected_count(&manifest->tree);
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;
	struct hf_short_text size;

	if (repair->options->is_json) {
		hf_buffer_printf(
			&out,
			"{\"holdfast-json\": 1, \"command\": "
			"\"snapshot\", \"snapshot\": \"%s\", "
			"\"new\": %s, \"protected\": %zu, "
			"\"archived\": %zu, \"archived_bytes\": %" PRIu64
			", \"settled\": %zu}\n",
			manifest->name.text, result->is_new ? "true" : "false",
			count, result->archived, result->archived_bytes,
			repair->dead.count);
	} else if (repair->options->is_quiet) {
		return;
	} else if (!result->is_new) {
		hf_buffer_printf(&out, "nothing changed since %s\n",
				 manifest->name.text);
	} else {
		hf_buffer_printf(&out, "recorded %s: ", manifest->name.text);
		hf_text_add_count(&out, count, "entry, ", "entries, ");
		hf_text_add_count(&out, result->archived, "new content",
				  "new contents");
		hf_buffer_printf(&out, " (%s)\n",
				 hf_format_size(&size, result->archived_bytes));
	}
	hf_output_result(repair->output, &out);
}

static void note_lost(struct hf_output *output, const struct hf_pack_lost *lost)
{
	cleanup_buffer struct hf_buffer what = HF_BUFFER_INIT;

	hf_text_add_lost(&what, lost);
	if (what.data != NULL)
		hf_output_mark(output, "note",
			       "%s; what the tree still has of that is "
			       "archived again", what.data);
}

static void note_gone(struct hf_output *output,
		      const struct hf_snapshot_used *gone)
{
	hf_output_mark(output, "note",
		       "snapshot %s, which session %" PRIu64
		       " used, is gone from the store; the tree is recorded as "
		       "it is now",
		       gone->snapshot.text, hf_name_number(&gone->session));
}

/* Nothing is made for a tree in which nothing is protected. */
static int open_store(struct hf_cli_repair *repair,
		      const struct hf_options *options,
		      struct hf_output *output, struct hf_error *err)
{
	struct hf_scan_options scan;
	int rc;

	rc = hf_cli_repair_open(repair, "record", options, output,
				HF_STORE_MUST_EXIST, err);
	if (rc >= 0 || err->code != HF_ERR_NOTHING)
		return rc;
	scan = hf_project_scan_options(&repair->project, NULL);
	rc = hf_nearby_look(&scan, minimum(&scan), "record", err);
	if (rc < 0)
		return rc;
	hf_cli_repair_close(repair);
	*repair = (struct hf_cli_repair)HF_CLI_REPAIR_INIT;
	return hf_cli_repair_open(repair, "record", options, output,
				  HF_STORE_MAKE, err);
}

static int recover(struct hf_cli_repair *repair, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer notes = HF_BUFFER_INIT;
	const int rc = hf_recover_before_record(&repair->project, &repair->dead,
						&notes, err);

	if (!repair->options->is_quiet)
		hf_output_notes(repair->output, notes.data);
	return rc;
}

static int take(struct hf_cli_repair *repair, const struct hf_options *options,
		struct hf_output *output, struct hf_error *err)
{
	cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;
	struct hf_snapshot_result result = { .is_new = false };
	struct hf_retention_hint hint = { .snapshot = 0 };
	struct hf_snapshot_options how = {
		.decide = decide,
		.progress = hf_output_progress(output, "recording"),
		.may_be_gone = true,
	};
	struct hf_scan_options scan;
	int rc;

	rc = open_store(repair, options, output, err);
	if (rc < 0)
		return rc;
	rc = recover(repair, err);
	if (rc < 0)
		return rc;
	scan = hf_project_scan_options(&repair->project, NULL);
	how.scan = &scan;
	how.context = &scan;
	rc = hf_snapshot_take(&repair->project.store, &how, NULL, &manifest,
			      &result, err);
	if (rc < 0)
		return rc;
	if (result.lost.count > 0 && !options->is_quiet)
		note_lost(output, &result.lost);
	if (result.gone.snapshot.text[0] != '\0' && !options->is_quiet)
		note_gone(output, &result.gone);
	/* Who records the tree by hand accepts it as it is. */
	rc = hf_cli_repair_settle(repair, err);
	if (rc < 0)
		return rc;
	tell(repair, &manifest, &result);
	if (result.is_new)
		hint.snapshot = hf_name_number(&manifest.name);
	hf_retention_apply_quietly(&repair->project, &hint);
	return 0;
}

int hf_cmd_snapshot(const struct hf_options *options, struct hf_output *output)
{
	cleanup_cli_repair struct hf_cli_repair repair = HF_CLI_REPAIR_INIT;
	struct hf_error err = { 0 };

	if (options->word_count > 0)
		(void)hf_fail(&err, HF_ERR_USAGE,
			      "cannot record '%s': snapshot takes no arguments",
			      HF_QUOTE(options->words[0]));
	else if (take(&repair, options, output, &err) == 0)
		return HF_STATUS_DONE;
	return hf_output_fail(output, &err);
}
