/* SPDX-License-Identifier: MIT */
/* Remove the temporary names that a killed restore left in the project. */
#include "core/restore.h"

#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/place.h"
#include "core/replace.h"
#include "core/scan.h"

/* One name that looks like ours: a directory only goes when it is empty. */
static int sweep_name(int dir_fd, const char *name)
{
	struct hf_stat stat;
	int rc;

	rc = hf_file_stat_at(dir_fd, name, &stat);
	if (rc < 0)
		return rc == -ENOENT ? 0 : rc;
	if (stat.kind != HF_KIND_DIRECTORY)
		return hf_file_unlink_at(dir_fd, name);
	rc = hf_file_rmdir_at(dir_fd, name);
	return rc == -ENOTEMPTY || rc == -EEXIST ? 0 : rc;
}

static int sweep_names(int dir_fd)
{
	cleanup_directory struct hf_directory *directory = NULL;
	enum hf_kind kind;
	const char *name;
	int first = 0;
	int rc;

	rc = hf_directory_open(dir_fd, &directory);
	if (rc < 0)
		return rc;
	while ((rc = hf_directory_next(directory, &name, &kind)) > 0) {
		int removed;

		if (!hf_replace_is_temporary(name))
			continue;
		removed = sweep_name(dir_fd, name);
		if (removed < 0 && first == 0)
			first = removed;
	}
	return first < 0 ? first : rc;
}

/* The directory that path lies in. */
static int sweep_beside(int root_fd, const char *path, struct hf_error *err)
{
	cleanup_place struct hf_place place = HF_PLACE_INIT;
	int rc;

	rc = hf_place_open(&place, root_fd, path, err);
	if (rc < 0) {
		/* No directory, nothing left in it. */
		if (err->sys_errno == ENOENT || err->sys_errno == ENOTDIR ||
		    err->sys_errno == ELOOP)
			return 0;
		return rc;
	}
	rc = sweep_names(place.dir_fd);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot clean up beside '%s'",
				      HF_QUOTE(path));
	return hf_place_close(&place, err);
}

/* Do both lie in the same directory? */
static bool is_beside(const char *a, const char *b)
{
	const size_t len = hf_path_parent_len(a);

	return len == hf_path_parent_len(b) && memcmp(a, b, len) == 0 &&
	       hf_path_is_absolute(a) == hf_path_is_absolute(b);
}

int hf_restore_sweep(int root_fd, const struct hf_tree *tree,
		     struct hf_error *err)
{
	struct hf_error failure;
	const char *last = NULL;
	int first = 0;
	int rc;

	for (size_t i = 0; i < tree->count; i++) {
		const char *const path = tree->entries[i].path;

		/* Beside the root and what leads to the project nothing is
		 * ever put. */
		if (strcmp(path, ".") == 0 || strcmp(path, "/") == 0 ||
		    (last && is_beside(path, last)))
			continue;
		last = path;
		rc = sweep_beside(root_fd, path, &failure);
		if (rc < 0 && first == 0) {
			first = rc;
			*err = failure;
		}
	}
	return first;
}
