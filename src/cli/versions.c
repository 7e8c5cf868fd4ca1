/* SPDX-License-Identifier: MIT */
/* Walk the snapshots from new to old and list what differs. */
#include "cli/versions.h"

#include <inttypes.h>

#include "base/text.h"
#include "core/snapshot.h"
#include "platform/system.h"

#define SNAPSHOTS_MAX 200 /* read from disk */
#define VERSIONS_MAX  10  /* listed of one path */

struct version {
	struct hf_name snapshot;
	int64_t created_ns;
	struct hf_hash hash;
	uint64_t size;
};

struct versions {
	const struct hf_entry *now;
	struct version items[VERSIONS_MAX];
	size_t count;
};

static void look_at(struct versions *versions,
		    const struct hf_manifest *manifest)
{
	const struct hf_entry *entry =
		hf_tree_find(&manifest->tree, versions->now->path);

	if (entry == NULL || !entry->has_hash ||
	    versions->count == VERSIONS_MAX ||
	    (versions->now->has_hash &&
	     hf_hash_equal(&entry->hash, &versions->now->hash)))
		return;
	for (size_t i = 0; i < versions->count; i++)
		if (hf_hash_equal(&versions->items[i].hash, &entry->hash))
			return;
	versions->items[versions->count++] = (struct version){
		.snapshot = manifest->name,
		.created_ns = manifest->created_ns,
		.hash = entry->hash,
		.size = entry->stat.size,
	};
}

static void list(struct hf_cli_repair *repair, const struct versions *versions)
{
	cleanup_buffer struct hf_buffer lines = HF_BUFFER_INIT;
	const int64_t now_ns = hf_system_time_ns();

	hf_text_begin(&lines, &repair->output->style, NULL);
	hf_text_add_name(&lines, versions->now->path);
	hf_buffer_add_text(&lines, " is as in the newest snapshot; older ones "
				   "hold other contents:\n");
	for (size_t i = 0; i < versions->count; i++) {
		const struct version *version = &versions->items[i];
		struct hf_short_text size;
		struct hf_short_text age;

		hf_text_begin(&lines, &repair->output->style, NULL);
		hf_buffer_printf(
			&lines, "  %s ago, %s: ",
			hf_format_span(&age, now_ns - version->created_ns),
			hf_format_size(&size, version->size));
		hf_text_add_restore(&lines, &repair->project,
				    &version->snapshot, versions->now->path,
				    repair->output->style.location);
		hf_buffer_add_text(&lines, "\n");
	}
	hf_output_lines(repair->output, &lines);
}

/* count paths at once, so that every snapshot is read once. */
static int walk(struct hf_cli_repair *repair, struct versions *versions,
		size_t count, struct hf_error *err)
{
	const struct hf_store *store = &repair->project.store;
	cleanup_names struct hf_names names = HF_NAMES_INIT;
	int rc;

	rc = hf_store_list(store, HF_STORE_SNAPSHOTS, "", &names, err);
	if (rc < 0)
		return rc;
	for (size_t i = names.count; i > 1 && names.count - i < SNAPSHOTS_MAX;
	     i--) {
		cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;
		struct hf_error damaged;

		/* One that cannot be read is no reason not to show others. */
		if (hf_snapshot_load(store, &names.items[i - 2], &manifest,
				     &damaged) < 0)
			continue;
		for (size_t k = 0; k < count; k++)
			look_at(&versions[k], &manifest);
	}
	return 0;
}

int hf_versions_list(struct hf_cli_repair *repair, const char *const *paths,
		     const struct hf_tree *now, size_t *ret_count,
		     struct hf_error *err)
{
	cleanup_free struct versions *versions = NULL;
	size_t count = 0;
	size_t all = 0;
	int rc;

	while (paths[count] != NULL)
		count++;
	versions = calloc(count + 1, sizeof(*versions));
	count = 0;
	for (size_t i = 0; versions != NULL && paths[i] != NULL; i++) {
		const struct hf_entry *entry = hf_tree_find(now, paths[i]);

		if (entry != NULL && entry->stat.kind == HF_KIND_FILE)
			versions[count++].now = entry;
	}
	if (count > 0) {
		rc = walk(repair, versions, count, err);
		if (rc < 0)
			return rc;
	}
	for (size_t i = 0; i < count; i++) {
		if (versions[i].count > 0)
			list(repair, &versions[i]);
		all += versions[i].count;
	}
	*ret_count = all;
	return 0;
}
