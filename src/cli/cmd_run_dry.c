/* SPDX-License-Identifier: MIT */
/* holdfast run --dry-run: what would be guarded; nothing is started or written.
 */
#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "cli/command.h"
#include "core/entry_text.h"
#include "core/nearby.h"
#include "core/snapshot.h"

static void add_entry(const struct hf_entry *entry, struct hf_buffer *out)
{
	struct hf_short_text size;

	hf_buffer_add_text(out, "  ");
	hf_text_add_name(out, entry->path);
	hf_buffer_printf(out, "  %s",
			 entry->stat.kind == HF_KIND_FILE ?
				 hf_format_size(&size, entry->stat.size) :
			 entry->stat.kind == HF_KIND_ABSENT ?
				 "absent, and is to stay so" :
				 hf_kind_name(entry->stat.kind));
	hf_buffer_add_text(out, "  (");
	hf_text_add_name(out, entry->rule);
	hf_buffer_add_text(out, entry->role == HF_ROLE_ALLOWED ?
					"; the command may change it)\n" :
					")\n");
}

/* Which snapshot there is to compare with; none is an answer, too. */
static int add_snapshot(struct hf_project *project, struct hf_buffer *out,
			struct hf_error *err)
{
	cleanup_names struct hf_names names = HF_NAMES_INIT;
	int rc;

	rc = hf_project_open_store(project, HF_STORE_MUST_EXIST, err);
	if (rc == 0)
		rc = hf_store_list(&project->store, HF_STORE_SNAPSHOTS, "",
				   &names, err);
	if (rc < 0 && err->code != HF_ERR_NOTHING)
		return rc;
	if (names.count == 0)
		hf_buffer_add_text(out, "compared with: nothing is recorded "
					"yet\n");
	else
		hf_buffer_printf(out, "compared with: snapshot %s\n",
				 names.items[names.count - 1].text);
	return 0;
}

static int describe(const struct hf_options *options,
		    struct hf_project *project, struct hf_buffer *out,
		    struct hf_buffer *notes, struct hf_error *err)
{
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;
	const struct hf_scan_options scan =
		hf_project_scan_options(project, options->words);
	size_t count;
	int rc;

	rc = hf_scan(&scan, &tree, notes, err);
	if (rc < 0)
		return rc;
	count = hf_tree_protected_count(&tree);
	hf_buffer_add_text(out, "would run: ");
	hf_text_add_command(out, options->words);
	hf_buffer_add_text(out, "\nroot: ");
	hf_text_add_name(out, project->root);
	hf_buffer_add_text(out, "\npolicy: ");
	hf_text_add_name(out, project->policy.file == NULL ?
				      "none, from options and defaults" :
				      project->policy.file);
	hf_buffer_add_text(out, "\nstore: ");
	hf_text_add_name(out, project->store_path);
	hf_buffer_add_text(out, "\n");
	rc = add_snapshot(project, out, err);
	if (rc < 0)
		return rc;
	hf_buffer_printf(out, "protected: %zu\n", count);
	for (size_t i = 0; i < tree.count; i++)
		if (tree.entries[i].role != HF_ROLE_ANCESTOR)
			add_entry(&tree.entries[i], out);
	rc = hf_buffer_check(out, err);
	if (rc < 0)
		return rc;
	/* At last: who has too few wants to see which. */
	return hf_nearby_check(&scan, &tree, NULL,
			       project->policy.min_protected, "run", err);
}

int hf_cmd_run_dry(const struct hf_options *options, struct hf_project *project,
		   struct hf_output *output)
{
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer notes = HF_BUFFER_INIT;
	struct hf_error err = { 0 };
	const int rc = describe(options, project, &out, &notes, &err);

	for (const char *at = notes.data; at != NULL && *at != '\0';) {
		const size_t len = strcspn(at, "\n");

		hf_buffer_add_text(&out, "note: ");
		hf_buffer_add(&out, at, len);
		hf_buffer_add_text(&out, "\n");
		at += len + (at[len] == '\n' ? 1 : 0);
	}
	hf_output_result(output, &out);
	if (rc == 0)
		return 0;
	hf_output_error(output, &err);
	return HF_STATUS_FAILURE;
}
