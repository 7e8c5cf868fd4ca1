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

const struct hf_entry *hf_scan_side_base(const struct hf_tree *tree,
					 const char *path)
{
	const char *const name = hf_path_name(path);
	const size_t base_len = hf_scan_side_base_len(name);
	const size_t len = (size_t)(name - path) + base_len;
	char base[HF_PATH_MAX];

	if (base_len == 0 || len >= sizeof(base))
		return NULL;
	memcpy(base, path, len);
	base[len] = '\0';
	return hf_tree_find(tree, base);
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

/* The directory path, in which file lies. */
static int search_directory(struct search *search, const char *path,
			    const char *file, struct hf_error *err)
{
	cleanup_directory struct hf_directory *directory = NULL;
	const char *name;
	cleanup_fd int fd = hf_scan_open_parent(search->options->root_fd, file,
						&name);
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
	return hf_scan_fail_directory(path, rc, err);
}

/* The directory that path lies in; NULL when it is no entry, as "/". */
static const struct hf_entry *find_parent(const struct hf_tree *tree,
					  const char *path)
{
	char parent[HF_PATH_MAX];
	const size_t len = hf_path_parent_len(path);

	memcpy(parent, path, len);
	parent[len] = '\0';
	return hf_tree_find(tree, len > 0 ? parent : ".");
}

static bool lies_in(const char *path, const char *directory)
{
	const size_t len = hf_path_parent_len(path);

	return strlen(directory) == len && memcmp(directory, path, len) == 0;
}

/*
 * Each directory that has a NAME is listed, once, instead of asking for three
 * names beside each.  Those that only lead there are not: they may be closed, or
 * as large as /tmp.
 */
static int search_directories(struct search *search, bool *is_searched,
			      struct hf_error *err)
{
	/* What is found may be added to this tree, too. */
	const size_t count = search->before->count;
	const char *last = "/";

	for (size_t i = 0; i < count; i++) {
		const struct hf_entry *const file = &search->before->entries[i];
		const struct hf_entry *directory;
		bool *is_known;
		int rc;

		if (file->role != HF_ROLE_PROTECTED ||
		    file->stat.kind != HF_KIND_FILE ||
		    lies_in(file->path, last))
			continue;
		directory = find_parent(search->before, file->path);
		if (!directory)
			continue;
		last = directory->path;
		is_known = &is_searched[directory - search->before->entries];
		if (*is_known)
			continue;
		*is_known = true;
		rc = search_directory(search, last, file->path, err);
		if (rc < 0)
			return rc;
	}
	return 0;
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
	cleanup_free bool *is_searched =
		calloc(before->count + 1, sizeof(*is_searched));
	int rc;

	if (!is_searched)
		return hf_fail_memory(err);
	rc = search_directories(&search, is_searched, err);
	if (rc < 0)
		return rc;
	return hf_tree_sort(after, err);
}
