/* SPDX-License-Identifier: MIT */
/* Remove the temporary names that a killed restore left in the project. */
#include "core/restore.h"

#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/kept.h"
#include "core/place.h"
#include "core/replace.h"
#include "core/scan.h"

struct sweep {
	const struct hf_store *store;
	const struct hf_name *session;
	const struct hf_tree *tree;
	int root_fd;
};

/*
 * It may be the new content, half written, or what the old name stood for until
 * the names traded places: a kept copy is made of it, whichever it is.
 */
static int remove_kept(const struct sweep *sweep, int dir_fd, const char *name,
		       const char *path, struct hf_error *err)
{
	const struct hf_kept_source source = {
		.dir_fd = dir_fd,
		.name = name,
		.path = path,
		.is_leaving = true,
	};
	cleanup_kept struct hf_kept kept = HF_KEPT_INIT;
	int rc;

	rc = hf_kept_copy(sweep->store, sweep->session, &source, &kept, err);
	if (rc < 0)
		return rc;
	rc = hf_file_unlink_at(dir_fd, name);
	if (rc < 0) {
		hf_kept_drop(sweep->store, &kept);
		return hf_fail_system(err, rc, "cannot remove '%s'",
				      HF_QUOTE(path));
	}
	rc = hf_kept_seal(sweep->store, &kept, err);
	return rc < 0 ? rc : 0;
}

/* One name that looks like ours: a directory only goes when it is empty. */
static int sweep_name(const struct sweep *sweep, int dir_fd, const char *name,
		      const char *path, struct hf_error *err)
{
	struct hf_stat stat;
	int rc;

	/* A person may have given it to a file that is protected. */
	if (hf_tree_find(sweep->tree, path))
		return 0;
	rc = hf_file_stat_at(dir_fd, name, &stat);
	if (rc == 0 && stat.kind != HF_KIND_DIRECTORY && stat.size > 0)
		return remove_kept(sweep, dir_fd, name, path, err);
	if (rc == 0)
		rc = stat.kind == HF_KIND_DIRECTORY ?
			     hf_file_rmdir_at(dir_fd, name) :
			     hf_file_unlink_at(dir_fd, name);
	if (rc == 0 || rc == -ENOENT || rc == -ENOTEMPTY || rc == -EEXIST)
		return 0;
	return hf_fail_system(err, rc, "cannot remove '%s'", HF_QUOTE(path));
}

/* The path of name in the directory that beside lies in; to free(). */
static char *join_beside(const char *beside, const char *name)
{
	cleanup_buffer struct hf_buffer path = HF_BUFFER_INIT;

	hf_buffer_add(&path, beside, (size_t)(hf_path_name(beside) - beside));
	hf_buffer_add_text(&path, name);
	return hf_buffer_take(&path);
}

/* All of a directory is tried; the first failure is returned. */
static int sweep_names(const struct sweep *sweep, int dir_fd,
		       const char *beside, struct hf_error *err)
{
	cleanup_directory struct hf_directory *directory = NULL;
	struct hf_error failure;
	enum hf_kind kind;
	const char *name;
	int first = 0;
	int rc;

	rc = hf_directory_open(dir_fd, &directory);
	while (rc >= 0) {
		cleanup_free char *path = NULL;
		int swept;

		rc = hf_directory_next(directory, &name, &kind);
		if (rc <= 0)
			break;
		if (!hf_replace_is_temporary(name))
			continue;
		path = join_beside(beside, name);
		swept = path ? sweep_name(sweep, dir_fd, name, path, &failure)
			     : hf_fail_memory(&failure);
		if (swept < 0 && first == 0) {
			first = swept;
			*err = failure;
		}
	}
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot clean up beside '%s'",
				      HF_QUOTE(beside));
	return first;
}

/* The directory that path lies in. */
static int sweep_beside(const struct sweep *sweep, const char *path,
			struct hf_error *err)
{
	cleanup_place struct hf_place place = HF_PLACE_INIT;
	int rc;

	rc = hf_place_open(&place, sweep->root_fd, path, err);
	if (rc < 0) {
		/* No directory, nothing left in it. */
		if (err->sys_errno == ENOENT || err->sys_errno == ENOTDIR ||
		    err->sys_errno == ELOOP)
			return 0;
		return rc;
	}
	rc = sweep_names(sweep, place.dir_fd, path, err);
	if (rc < 0)
		return rc;
	/* Once the session is called settled, nobody would look again. */
	rc = hf_place_sync(&place, err);
	if (rc < 0)
		return rc;
	return hf_place_close(&place, err);
}

/* Do both lie in the same directory? */
static bool is_beside(const char *a, const char *b)
{
	const size_t len = hf_path_parent_len(a);

	return len == hf_path_parent_len(b) && memcmp(a, b, len) == 0 &&
	       hf_path_is_absolute(a) == hf_path_is_absolute(b);
}

int hf_restore_sweep(const struct hf_store *store,
		     const struct hf_name *session, int root_fd,
		     const struct hf_tree *tree, struct hf_error *err)
{
	const struct sweep sweep = {
		.store = store,
		.session = session,
		.tree = tree,
		.root_fd = root_fd,
	};
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
		rc = sweep_beside(&sweep, path, &failure);
		if (rc < 0 && first == 0) {
			first = rc;
			*err = failure;
		}
	}
	return first;
}
