/* SPDX-License-Identifier: MIT */
/* Remove what a crash left in a store, and say how much the rest takes. */
#include "core/store.h"

#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/pack.h"
#include "core/replace.h"

/* Kept directories may be as deep as paths can be. */
#define DEPTH_MAX (HF_PATH_MAX / 2)

/* -- removing ------------------------------------------------------------- */

/* A file, or a directory with all that lies in it; what is mounted there, of
 * another device or of this one, is not ours. */
static int remove_entry(int dir_fd, uint64_t dev, const char *name,
			unsigned depth)
{
	cleanup_directory struct hf_directory *directory = NULL;
	cleanup_fd int fd = -1;
	struct hf_stat stat;
	const char *child;
	enum hf_kind kind;
	int rc;

	rc = hf_file_unlink_at(dir_fd, name);
	if (rc != -EISDIR && rc != -EPERM)
		return rc == -ENOENT ? 0 : rc;
	if (depth >= DEPTH_MAX)
		return -ELOOP;
	fd = hf_file_open_directory_here(dir_fd, name);
	if (fd < 0)
		return fd;
	rc = hf_file_stat(fd, &stat);
	if (rc == 0 && stat.dev != dev)
		return -EXDEV;
	if (rc == 0)
		rc = hf_directory_open(fd, &directory);
	while (rc >= 0) {
		rc = hf_directory_next(directory, &child, &kind);
		if (rc <= 0)
			break;
		rc = remove_entry(fd, dev, child, depth + 1);
	}
	return rc < 0 ? rc : hf_file_rmdir_at(dir_fd, name);
}

int hf_store_remove_at(int folder_fd, const char *name)
{
	struct hf_stat stat;
	const int rc = hf_file_stat(folder_fd, &stat);

	return rc < 0 ? rc : remove_entry(folder_fd, stat.dev, name, 0);
}

/* 1, 0 or -errno. */
static int is_leftover(const struct hf_store *store, int folder_fd,
		       const char *name)
{
	if (hf_replace_is_temporary(name))
		return 1;
	/* An index is renamed before its pack: alone it describes nothing. */
	return folder_fd == store->folder_fd[HF_STORE_PACKS]
		       ? hf_pack_is_stray_index(store, name)
		       : 0;
}

static int sweep_folder(const struct hf_store *store, int folder_fd)
{
	cleanup_directory struct hf_directory *directory = NULL;
	const char *name;
	enum hf_kind kind;
	int rc;

	rc = hf_directory_open(folder_fd, &directory);
	while (rc >= 0) {
		rc = hf_directory_next(directory, &name, &kind);
		if (rc <= 0)
			break;
		rc = is_leftover(store, folder_fd, name);
		if (rc > 0)
			rc = hf_store_remove_at(folder_fd, name);
	}
	return rc;
}

int hf_store_sweep(const struct hf_store *store, struct hf_error *err)
{
	int rc = sweep_folder(store, store->dir_fd);

	for (size_t i = 0; i < HF_STORE_FOLDERS && rc >= 0; i++)
		rc = sweep_folder(store, store->folder_fd[i]);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot clean the store '%s'",
				      HF_QUOTE(store->path));
	return 0;
}

/* -- measuring ------------------------------------------------------------ */

static int add_sizes(int dir_fd, unsigned depth, uint64_t *bytes)
{
	cleanup_directory struct hf_directory *directory = NULL;
	const char *name;
	enum hf_kind kind;
	int rc;

	rc = hf_directory_open(dir_fd, &directory);
	while (rc >= 0) {
		cleanup_fd int fd = -1;
		struct hf_stat stat;

		rc = hf_directory_next(directory, &name, &kind);
		if (rc <= 0)
			return rc;
		rc = hf_file_stat_at(dir_fd, name, &stat);
		/* Others may be at work: what is gone takes nothing. */
		if (rc == -ENOENT) {
			rc = 0;
			continue;
		}
		if (rc < 0)
			return rc;
		*bytes += stat.size;
		if (stat.kind != HF_KIND_DIRECTORY)
			continue;
		if (depth >= DEPTH_MAX)
			return -ELOOP;
		fd = hf_file_open_directory_at(dir_fd, name);
		if (fd == -ENOENT)
			continue;
		rc = fd < 0 ? fd : add_sizes(fd, depth + 1, bytes);
	}
	return rc;
}

int hf_store_size_at(int folder_fd, const char *name, uint64_t *ret_bytes)
{
	cleanup_fd int fd = -1;
	struct hf_stat stat;
	uint64_t bytes;
	int rc;

	rc = hf_file_stat_at(folder_fd, name, &stat);
	if (rc < 0)
		return rc;
	bytes = stat.size;
	if (stat.kind == HF_KIND_DIRECTORY) {
		fd = hf_file_open_directory_at(folder_fd, name);
		rc = fd < 0 ? fd : add_sizes(fd, 0, &bytes);
	}
	if (rc < 0)
		return rc;
	*ret_bytes = bytes;
	return 0;
}

int hf_store_size(const struct hf_store *store, uint64_t *ret_bytes,
		  struct hf_error *err)
{
	uint64_t bytes = 0;
	const int rc = add_sizes(store->dir_fd, 0, &bytes);

	if (rc < 0)
		return hf_fail_system(err, rc, "cannot measure the store '%s'",
				      HF_QUOTE(store->path));
	*ret_bytes = bytes;
	return 0;
}
