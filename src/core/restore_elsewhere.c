/* SPDX-License-Identifier: MIT */
/* Decide what copies to make, and see that nothing is in their way. */
#include "core/restore_elsewhere.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/pack_member.h"
#include "core/scan.h"

/* Of a directory that was never recorded. */
#define PLAIN_MODE 0755u

/* -- what is wanted ----------------------------------------------------------
 */

/* Is there anything to be copied?  Of a side cache only that it was there is
 * recorded. */
static bool is_something(const struct hf_entry *entry)
{
	return entry->stat.kind != HF_KIND_ABSENT &&
	       entry->role != HF_ROLE_SIDE_CACHE &&
	       strcmp(entry->path, ".") != 0 && strcmp(entry->path, "/") != 0;
}

static int add_entry(const struct hf_entry *entry, struct hf_tree *want,
		     struct hf_error *err)
{
	cleanup_free char *name = hf_pack_member_name(entry->path);
	struct hf_entry *const copy =
		name ? hf_tree_add_copy(want, entry) : NULL;

	if (!copy)
		return hf_fail_memory(err);
	copy->path = hf_arena_copy(&want->arena, name, strlen(name));
	/* Who asks for copies wants all of them. */
	if (copy->role == HF_ROLE_ALLOWED)
		copy->role = HF_ROLE_PROTECTED;
	return copy->path ? 0 : hf_fail_memory(err);
}

/* The directories above path that sorted does not have, to added. */
static int add_above(const struct hf_tree *sorted, const char *path,
		     int64_t now_ns, struct hf_tree *added,
		     struct hf_error *err)
{
	cleanup_free char *above = strdup(path);
	size_t len;

	if (!above)
		return hf_fail_memory(err);
	while ((len = hf_path_parent_len(above)) > 0) {
		struct hf_entry *entry;

		above[len] = '\0';
		if (hf_tree_find(sorted, above))
			continue;
		entry = hf_tree_add(added, above);
		if (!entry)
			return hf_fail_memory(err);
		entry->stat.kind = HF_KIND_DIRECTORY;
		entry->stat.mode = PLAIN_MODE;
		entry->stat.mtime_ns = now_ns;
		entry->role = HF_ROLE_ANCESTOR;
	}
	return 0;
}

int hf_elsewhere_tree(const struct hf_tree *wanted, int64_t now_ns,
		      struct hf_tree *ret_want, struct hf_error *err)
{
	cleanup_tree struct hf_tree want = HF_TREE_INIT;
	cleanup_tree struct hf_tree added = HF_TREE_INIT;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < wanted->count; i++)
		if (is_something(&wanted->entries[i]))
			rc = add_entry(&wanted->entries[i], &want, err);
	if (rc == 0)
		rc = hf_tree_sort(&want, err);
	for (size_t i = 0; rc == 0 && i < want.count; i++)
		rc = add_above(&want, want.entries[i].path, now_ns, &added,
			       err);
	if (rc < 0)
		return rc;
	if (hf_tree_adopt(&want, &added) < 0)
		return hf_fail_memory(err);
	rc = hf_tree_sort_merge(&want, err);
	if (rc < 0)
		return rc;
	*ret_want = want;
	want = (struct hf_tree)HF_TREE_INIT;
	return 0;
}

/* -- what is in the way ------------------------------------------------------
 */

/* 0: nothing; 1: a directory, as wanted. */
static int look_at(int dir_fd, const struct hf_entry *want,
		   struct hf_error *err)
{
	cleanup_fd int fd = -1;
	struct hf_stat stat = {.kind = HF_KIND_ABSENT};
	const char *name;
	int rc;

	fd = hf_scan_open_parent(dir_fd, want->path, &name);
	rc = fd < 0 ? fd : hf_file_stat_at(fd, name, &stat);
	if (rc == -ENOENT)
		return 0;
	if (rc < 0 && rc != -ENOTDIR && rc != -ELOOP)
		return hf_fail_system(err, rc, "cannot look at '%s'",
				      HF_QUOTE(want->path));
	if (rc == 0 && stat.kind == HF_KIND_DIRECTORY &&
	    want->stat.kind == HF_KIND_DIRECTORY)
		return 1;
	(void)hf_fail(err, HF_ERR_USAGE,
		      "cannot write '%s': something is there already",
		      HF_QUOTE(want->path));
	return hf_fail_hint(err, "nothing is ever replaced there: name a "
				 "directory that is empty or new");
}

int hf_elsewhere_plan(int dir_fd, struct hf_tree *want,
		      struct hf_plan *ret_plan, struct hf_error *err)
{
	const struct hf_plan_options options = {.paths = NULL};
	const struct hf_tree nothing = HF_TREE_INIT;
	cleanup_deltas struct hf_deltas deltas = HF_DELTAS_INIT;
	cleanup_free bool *is_kept = calloc(want->count + 1, sizeof(*is_kept));
	int rc;

	if (!is_kept)
		return hf_fail_memory(err);
	for (size_t i = 0; i < want->count; i++) {
		rc = dir_fd < 0 ? 0 : look_at(dir_fd, &want->entries[i], err);
		if (rc < 0)
			return rc;
		is_kept[i] = rc == 0;
	}
	hf_tree_keep(want, is_kept);
	rc = hf_compare(want, &nothing, &deltas, err);
	return rc < 0 ? rc
		      : hf_restore_plan(&deltas, want, &options, ret_plan, err);
}
