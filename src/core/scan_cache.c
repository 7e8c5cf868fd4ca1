/* SPDX-License-Identifier: MIT */
/* Take over what an earlier reading found, where nothing has moved since. */
#include "core/scan.h"

#include "base/path.h"

/* ctime moves with everything else, and no user can set it back. */
static bool is_unchanged(const struct hf_entry *entry,
			 const struct hf_entry *earlier)
{
	const struct hf_stat *const now = &entry->stat;
	const struct hf_stat *const then = &earlier->stat;

	return earlier->has_hash && !earlier->is_racy &&
	       now->kind == HF_KIND_FILE && then->kind == HF_KIND_FILE &&
	       now->size == then->size && now->mtime_ns == then->mtime_ns &&
	       now->ctime_ns == then->ctime_ns && now->dev == then->dev &&
	       now->ino == then->ino && now->mode == then->mode &&
	       now->uid == then->uid && now->gid == then->gid;
}

size_t hf_scan_use_cache(struct hf_tree *tree, const struct hf_tree *earlier)
{
	size_t used = 0;
	size_t at = 0;

	for (size_t i = 0; i < tree->count && at < earlier->count; i++) {
		struct hf_entry *const entry = &tree->entries[i];
		int order = -1;

		while (at < earlier->count) {
			order = hf_path_compare(earlier->entries[at].path,
						entry->path);
			if (order >= 0)
				break;
			at++;
		}
		if (order != 0 || !is_unchanged(entry, &earlier->entries[at]))
			continue;
		entry->has_hash = true;
		entry->hash = earlier->entries[at].hash;
		entry->location = earlier->entries[at].location;
		used++;
	}
	return used;
}
