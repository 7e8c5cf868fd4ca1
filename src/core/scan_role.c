/* SPDX-License-Identifier: MIT */
/* What each entry is there for, once it is known what there is. */
#include "core/scan_role.h"

#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "core/policy.h"
#include "core/scan.h"
#include "core/scan_side.h"

void hf_scan_apply_allow(const struct hf_scan_options *options,
			 struct hf_tree *tree)
{
	const struct hf_policy *const policy = options->policy;

	if (policy->command_count == 0 &&
	    (!policy->allow || hf_patterns_count(policy->allow) == 0))
		return;
	for (size_t i = 0; i < tree->count; i++) {
		struct hf_entry *const entry = &tree->entries[i];
		const bool is_directory = entry->stat.kind == HF_KIND_DIRECTORY;

		if (entry->role != HF_ROLE_ANCESTOR &&
		    hf_policy_allows(policy, options->argv, entry->path,
				     is_directory))
			entry->role = HF_ROLE_ALLOWED;
	}
}

/* NAME of the side file NAME-wal; NULL when it is no recorded file. */
static const struct hf_entry *side_base(const struct hf_tree *tree,
					const char *path)
{
	const struct hf_entry *const entry = hf_scan_side_base(tree, path);

	return entry && entry->stat.kind == HF_KIND_FILE ? entry : NULL;
}

/* Decided only now that it is known what there is. */
static bool is_wanted(const struct hf_scan_options *options,
		      const struct hf_tree *tree, struct hf_entry *entry)
{
	const struct hf_entry *base;
	bool is_wanted = true;

	if (entry->role == HF_ROLE_ANCESTOR) {
		if (entry->stat.kind == HF_KIND_ABSENT)
			return false;
		/* Else a file on the way to a literal that cannot exist. */
		is_wanted = entry->stat.kind == HF_KIND_DIRECTORY;
	} else if (entry->role == HF_ROLE_SIDE_FILE) {
		base = side_base(tree, entry->path);
		if (base && base->role == HF_ROLE_ALLOWED)
			entry->role = HF_ROLE_ALLOWED;
		is_wanted = base && entry->stat.kind == HF_KIND_FILE;
	} else if (entry->role == HF_ROLE_SIDE_CACHE) {
		base = side_base(tree, entry->path);
		is_wanted = base && base->role != HF_ROLE_ALLOWED &&
			    entry->stat.kind == HF_KIND_FILE;
	}
	return is_wanted ||
	       (options->before && hf_tree_find(options->before, entry->path));
}

/* Drop what is not wanted; find needs all entries, so that comes second. */
int hf_scan_settle(const struct hf_scan_options *options, struct hf_tree *tree,
		   struct hf_error *err)
{
	cleanup_free bool *wanted = calloc(tree->count + 1, sizeof(*wanted));

	if (!wanted)
		return hf_fail_memory(err);
	for (size_t i = 0; i < tree->count; i++)
		wanted[i] = is_wanted(options, tree, &tree->entries[i]);
	hf_tree_keep(tree, wanted);
	return 0;
}
