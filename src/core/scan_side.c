/* SPDX-License-Identifier: MIT */
/* Tell side files by their names, and find those that a run left behind. */
#include "core/scan_side.h"

#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/scan.h"
#include "core/scan_entry.h"

static size_t base_len_with(const char *name, const char *suffix)
{
	const size_t len = strlen(name);
	const size_t suffix_len = strlen(suffix);

	if (len <= suffix_len ||
	    strcmp(name + len - suffix_len, suffix) != 0)
		return 0;
	return len - suffix_len;
}

size_t hf_scan_side_base_len(const char *name)
{
	static const char *const suffixes[] = { "-wal", "-journal", "-shm" };
	size_t len = 0;

	for (size_t i = 0; i < HF_COUNT(suffixes) && len == 0; i++)
		len = base_len_with(name, suffixes[i]);
	return len;
}

enum hf_entry_role hf_scan_side_role(const char *name)
{
	return base_len_with(name, "-shm") > 0 ? HF_ROLE_SIDE_CACHE :
						 HF_ROLE_SIDE_FILE;
}

struct search {
	const struct hf_scan_options *options;
	const struct hf_tree *before;
	struct hf_tree *after;
	/* Of after, this many are sorted; what is found comes behind. */
	size_t sorted_count;
};

static bool is_listed(const struct search *search, const char *path)
{
	struct hf_tree sorted = *search->after;

	sorted.count = search->sorted_count;
	return hf_tree_find(search->before, path) ||
	       hf_tree_find(&sorted, path);
}

/* name stands in the directory dir_fd, whose entry path is dir. */
static int consider(struct search *search, int dir_fd, const char *dir,
		    const char *name, struct hf_error *err)
{
	const size_t base_len = hf_scan_side_base_len(name);
	cleanup_free char *path = NULL;
	const struct hf_entry *base;
	struct hf_entry *entry;
	char suffix;
	char *end;

	if (base_len == 0)
		return 0;
	path = hf_path_join(dir, name);
	if (!path)
		return hf_fail_memory(err);
	end = path + strlen(path) - strlen(name) + base_len;
	suffix = *end;
	*end = '\0';
	base = hf_tree_find(search->before, path);
	*end = suffix;
	if (!base || base->role != HF_ROLE_PROTECTED ||
	    base->stat.kind != HF_KIND_FILE || is_listed(search, path))
		return 0;

	entry = hf_tree_add(search->after, path);
	if (!entry)
		return hf_fail_memory(err);
	entry->role = hf_scan_side_role(name);
	entry->rule = hf_arena_copy(&search->after->arena, base->rule,
				    strlen(base->rule));
	if (!entry->rule)
		return hf_fail_memory(err);
	return hf_scan_entry(dir_fd, name, search->after, entry, err);
}

/* A directory that is gone or unreadable by now is told by its own entry. */
static bool is_passed_over(const struct search *search, int rc)
{
	return hf_scan_is_absence(rc) || (search->options->is_tolerant &&
					  hf_scan_is_tolerable(rc));
}

static int open_directory(int root_fd, const char *path)
{
	cleanup_fd int parent_fd = -1;
	const char *name;

	parent_fd = hf_scan_open_parent(root_fd, path, &name);
	if (parent_fd < 0)
		return parent_fd;
	return hf_file_open_beneath(parent_fd, name);
}

static int search_directory(struct search *search, const char *path,
			    struct hf_error *err)
{
	cleanup_directory struct hf_directory *directory = NULL;
	cleanup_fd int fd = open_directory(search->options->root_fd, path);
	const char *name;
	enum hf_kind kind;
	int rc = fd;

	if (rc >= 0)
		rc = hf_directory_open(fd, &directory);
	while (rc >= 0) {
		rc = hf_directory_next(directory, &name, &kind);
		if (rc == 0)
			return 0;
		if (rc > 0) {
			const int failed =
				consider(search, fd, path, name, err);

			if (failed < 0)
				return failed;
		}
	}
	if (is_passed_over(search, rc))
		return 0;
	return hf_fail_system(err, rc, "cannot read directory '%s'",
			      HF_QUOTE(path));
}

int hf_scan_side_files(const struct hf_scan_options *options,
		       const struct hf_tree *before, struct hf_tree *after,
		       struct hf_error *err)
{
	struct search search = {
		.options = options,
		.before = before,
		.after = after,
		.sorted_count = after->count,
	};

	/*
	 * Every entry's directory (but "/") is an entry too, so each is listed
	 * just once instead of asking for three names beside many files.
	 */
	for (size_t i = 0; i < before->count; i++) {
		const struct hf_entry *const entry = &before->entries[i];
		int rc;

		if (entry->stat.kind != HF_KIND_DIRECTORY)
			continue;
		rc = search_directory(&search, entry->path, err);
		if (rc < 0)
			return rc;
	}
	return hf_tree_sort(after, err);
}
