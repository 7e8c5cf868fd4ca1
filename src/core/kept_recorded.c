/* SPDX-License-Identifier: MIT */
/* What stands in the store's kept/ already: open it, make it its own, drop it. */
#include "core/kept.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/content.h"
#include "core/replace.h"

static int fail_open(struct hf_error *err, int rc, const char *kept_path)
{
	return hf_fail_system(err, rc, "cannot open the kept copy '%s'",
			      HF_QUOTE(kept_path));
}

static int refuse(struct hf_error *err, const char *kept_path)
{
	return hf_fail(err, HF_ERR_CORRUPT,
		       "cannot open '%s': it is no kept copy",
		       HF_QUOTE(kept_path));
}

/*
 * The folder of a recorded copy; *ret_name is its last component.  Nothing but
 * kept/ is ever entered, whatever a journal says.  The whole may be longer than
 * a path may be: there is a folder in front of the entry's.
 */
static int open_folder(const struct hf_store *store, const char *kept_path,
		       const char **ret_name, struct hf_error *err)
{
	cleanup_fd int fd = -1;
	char name[HF_NAME_MAX + 1];
	const char *at = kept_path + strlen(HF_KEPT_FOLDER "/");
	size_t len;

	if (!hf_path_is_beneath(kept_path, HF_KEPT_FOLDER))
		return refuse(err, kept_path);
	for (;; at += len + 1) {
		const int from_fd =
			fd >= 0 ? fd : store->folder_fd[HF_STORE_KEPT];
		int next_fd;

		len = hf_path_name_len(at);
		if (len == 0)
			return refuse(err, kept_path);
		if (at[len] == '\0')
			break;
		(void)snprintf(name, sizeof(name), "%.*s", (int)len, at);
		next_fd = hf_file_open_directory_at(from_fd, name);
		if (next_fd < 0)
			return fail_open(err, next_fd, kept_path);
		hf_file_close_quietly(&fd);
		fd = next_fd;
	}
	if (fd < 0)
		return refuse(err, kept_path);
	*ret_name = at;
	return take_fd(&fd);
}

int hf_kept_open(const struct hf_store *store, const char *kept_path,
		 struct hf_error *err)
{
	cleanup_fd int folder_fd = -1;
	const char *name;
	int fd;

	folder_fd = open_folder(store, kept_path, &name, err);
	if (folder_fd < 0)
		return folder_fd;
	fd = hf_content_open(folder_fd, name);
	return fd < 0 ? fail_open(err, fd, kept_path) : fd;
}

/* A further name for what is still written to. */
static int keep_open_file(int folder_fd, const char *name)
{
	char variant[HF_NAME_MAX + 1];
	int rc = -EEXIST;

	for (unsigned n = 2; n <= HF_KEPT_VARIANTS && rc == -EEXIST; n++) {
		hf_kept_variant(variant, name, strlen(name), n);
		rc = hf_file_link_at(folder_fd, name, folder_fd, variant);
	}
	return rc;
}

/* A file of its own in place of the second name of somebody's. */
static int unshare(int folder_fd, const char *name, int from_fd,
		   struct hf_kept *kept, struct hf_error *err)
{
	cleanup_replace struct hf_replace rep = HF_REPLACE_INIT;
	struct hf_content_writer writer;
	struct hf_hash hash;
	uint64_t size;
	int rc;

	rc = hf_replace_begin(&rep, folder_fd, name, 0600, err);
	if (rc < 0)
		return rc;
	hf_content_begin(&writer, rep.fd, HF_CONTENT_FRESH);
	rc = hf_content_copy(from_fd, &writer, kept->path, &size, &hash, err);
	if (rc < 0)
		return rc;
	rc = keep_open_file(folder_fd, name);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot keep '%s'",
				      HF_QUOTE(kept->path));
	rc = hf_replace_commit(&rep, err);
	if (rc < 0)
		return rc;
	kept->is_shared = false;
	if (hf_hash_equal(&hash, &kept->hash))
		return 0;
	kept->hash = hash;
	kept->stat.size = size;
	return 1;
}

int hf_kept_seal(const struct hf_store *store, struct hf_kept *kept,
		 struct hf_error *err)
{
	cleanup_fd int folder_fd = -1;
	cleanup_fd int fd = -1;
	const char *name;
	int rc;

	if (!kept->is_shared)
		return 0;
	folder_fd = open_folder(store, kept->path, &name, err);
	if (folder_fd < 0)
		return folder_fd;
	fd = hf_content_open(folder_fd, name);
	if (fd < 0)
		return fail_open(err, fd, kept->path);
	/* What is too large to be read stays as it is. */
	if (kept->has_hash && hf_file_has_writer(fd) != 0) {
		rc = unshare(folder_fd, name, fd, kept, err);
		/* Without room for it a shared copy is better than none. */
		return rc < 0 && err->sys_errno == ENOSPC ? 0 : rc;
	}
	/* Of somebody else's file the mode stays: the store's own keeps others
	 * out. */
	rc = hf_file_set_mode_at(folder_fd, name, 0600);
	(void)rc;
	return 0;
}

void hf_kept_drop(const struct hf_store *store, const struct hf_kept *kept)
{
	cleanup_fd int folder_fd = -1;
	struct hf_error ignored;
	const char *name;
	int rc;

	if (!kept->is_shared)
		return;
	folder_fd = open_folder(store, kept->path, &name, &ignored);
	if (folder_fd < 0)
		return;
	rc = hf_file_unlink_at(folder_fd, name);
	/* A copy too many does no harm. */
	(void)rc;
}

void hf_kept_done(struct hf_kept *kept)
{
	hf_free_pointee(&kept->source);
	hf_free_pointee(&kept->path);
	kept->is_shared = false;
	kept->has_hash = false;
}
