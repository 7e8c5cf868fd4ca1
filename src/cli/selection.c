/* SPDX-License-Identifier: MIT */
/* Choose the entries that paths name. */
#include "cli/selection.h"

#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "cli/paths.h"

int hf_selection_resolve(const char *root, const char *const *words,
			 char ***ret_paths, struct hf_error *err)
{
	size_t count = 0;
	char **paths;

	while (words[count] != NULL)
		count++;
	if (count == 0)
		return 0;
	paths = calloc(count + 1, sizeof(*paths));
	if (paths == NULL)
		return hf_fail_memory(err);
	*ret_paths = paths;
	for (size_t i = 0; i < count; i++) {
		const int rc = hf_paths_resolve(root, words[i], &paths[i], err);

		if (rc < 0)
			return rc;
	}
	return 0;
}

void hf_selection_free(char ***paths)
{
	for (size_t i = 0; *paths != NULL && (*paths)[i] != NULL; i++)
		free((*paths)[i]);
	hf_free_pointee(paths);
}

/* The names that a path stands for: itself and what lies beneath it. */
static bool is_named(const char *path, const char *named)
{
	return strcmp(path, named) == 0 || hf_path_is_beneath(path, named);
}

static bool has_name(const struct hf_tree *tree, const char *named)
{
	for (size_t i = 0; i < tree->count; i++)
		if (is_named(tree->entries[i].path, named))
			return true;
	return false;
}

int hf_selection_copy(const struct hf_tree *from, const char *const *paths,
		      struct hf_tree *to, struct hf_error *err)
{
	for (size_t i = 0; i < from->count; i++) {
		const struct hf_entry *entry = &from->entries[i];
		struct hf_entry *copy;
		bool is_meant = false;
		bool is_above = false;

		for (size_t k = 0; paths[k] != NULL; k++) {
			is_meant |= is_named(entry->path, paths[k]);
			is_above |= hf_path_is_beneath(paths[k], entry->path);
		}
		if (!is_meant && !is_above)
			continue;
		copy = hf_tree_add_copy(to, entry);
		if (copy == NULL)
			return hf_fail_memory(err);
		/* Who names a path wants it, whatever a command may do. */
		if (is_meant && copy->role == HF_ROLE_ALLOWED)
			copy->role = HF_ROLE_PROTECTED;
	}
	return hf_tree_sort(to, err);
}

int hf_selection_check(const char *const *paths,
		       const struct hf_manifest *manifest,
		       const struct hf_tree *also, const struct hf_tree *or_in,
		       struct hf_error *err)
{
	for (size_t i = 0; paths[i] != NULL; i++) {
		if (has_name(&manifest->tree, paths[i]) ||
		    (also != NULL && has_name(also, paths[i])) ||
		    (or_in != NULL && has_name(or_in, paths[i])))
			continue;
		(void)hf_fail(err, HF_ERR_USAGE,
			      "cannot restore '%s': it is not in snapshot %s",
			      HF_QUOTE(paths[i]), manifest->name.text);
		return hf_fail_hint(err, "'holdfast log' lists the snapshots, "
					 "'--from SNAPSHOT' chooses one");
	}
	return 0;
}
