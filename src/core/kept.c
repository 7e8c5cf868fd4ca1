/* SPDX-License-Identifier: MIT */
/*
 * Save what is about to be replaced.
 *
 * The place of a copy is walked component by component from the store's kept/,
 * so that no length of path and no link planted in the store leads elsewhere.
 */
#include "core/kept.h"

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/content.h"

#define OUTSIDE_FOLDER "outside"
/* How often a file that is being written is read. */
#define TRIES	       3
/* Room for "~10000" behind a name. */
#define SUFFIX_LEN     6

/* Where a copy is made: an open directory, and its path from the store. */
struct folder {
	int fd;
	struct hf_buffer path;
};

static void folder_done(struct folder *folder)
{
	hf_file_close_quietly(&folder->fd);
	hf_buffer_done(&folder->path);
}

#define cleanup_folder CLEANUP(folder_done)

void hf_kept_variant(char out[HF_NAME_MAX + 1], const char *name, size_t len,
		     unsigned n)
{
	if (n > 1 && len > HF_NAME_MAX - SUFFIX_LEN)
		len = HF_NAME_MAX - SUFFIX_LEN;
	if (n == 1)
		(void)snprintf(out, HF_NAME_MAX + 1, "%.*s", (int)len, name);
	else
		(void)snprintf(out, HF_NAME_MAX + 1, "%.*s~%u", (int)len, name,
			       n);
}

/* Make or enter one directory: -EEXIST when something else has the name. */
static int enter(int dir_fd, const char *name)
{
	int fd;
	int rc;

	rc = hf_file_mkdir_at(dir_fd, name, 0700);
	if (rc == 0)
		rc = hf_file_sync(dir_fd);
	else if (rc == -EEXIST)
		rc = 0;
	if (rc < 0)
		return rc;
	fd = hf_file_open_directory_at(dir_fd, name);
	return fd == -ENOTDIR || fd == -ELOOP ? -EEXIST : fd;
}

static int enter_variant(struct folder *folder, const char *name, size_t len)
{
	char variant[HF_NAME_MAX + 1];
	int fd = -EEXIST;

	for (unsigned n = 1; n <= HF_KEPT_VARIANTS && fd == -EEXIST; n++) {
		hf_kept_variant(variant, name, len, n);
		fd = enter(folder->fd, variant);
	}
	if (fd < 0)
		return fd;
	hf_file_close_quietly(&folder->fd);
	folder->fd = fd;
	hf_buffer_add_text(&folder->path, variant);
	hf_buffer_add_text(&folder->path, "/");
	return 0;
}

/* The folder for copies of what lies beside path. */
static int open_folder(const struct hf_store *store,
		       const struct hf_name *session, const char *path,
		       struct folder *folder)
{
	const char *const end = hf_path_name(path);
	const char *at = path;
	int rc;

	rc = enter(store->folder_fd[HF_STORE_KEPT], session->text);
	if (rc < 0)
		return rc;
	folder->fd = rc;
	hf_buffer_printf(&folder->path, HF_KEPT_FOLDER "/%s/", session->text);

	if (hf_path_is_absolute(path)) {
		rc = enter_variant(folder, OUTSIDE_FOLDER,
				   strlen(OUTSIDE_FOLDER));
		if (rc < 0)
			return rc;
		at++;
	}
	while (at < end) {
		const size_t len = strcspn(at, "/");

		rc = enter_variant(folder, at, len);
		if (rc < 0)
			return rc;
		at += len + 1;
	}
	return folder->path.is_failed ? -ENOMEM : 0;
}

static void unlink_quietly(int dir_fd, const char *name)
{
	const int rc = hf_file_unlink_at(dir_fd, name);

	/* A copy too many does no harm. */
	(void)rc;
}

/* Nothing happened to the file between two looks at it. */
static bool is_untouched(const struct hf_stat *a, const struct hf_stat *b)
{
	return a->size == b->size && a->mtime_ns == b->mtime_ns &&
	       a->ctime_ns == b->ctime_ns;
}

static int fail_keep(struct hf_error *err, int rc, const char *path)
{
	if (rc == -ENOSPC || rc == -EFBIG) {
		(void)hf_fail_system(err, rc, "cannot keep '%s'",
				     HF_QUOTE(path));
		return hf_fail_hint(err, "make room where the store lies; "
					 "nothing was replaced");
	}
	return hf_fail_system(err, rc, "cannot keep '%s'", HF_QUOTE(path));
}

/* Read from_fd into to_fd (-1: only hash), again while it changes. */
static int copy_steady(int from_fd, int to_fd, const char *path,
		       struct hf_kept *kept, struct hf_error *err)
{
	struct hf_content_writer writer;
	struct hf_stat before;
	uint64_t size;
	int rc;

	for (int i = 0; i < TRIES; i++) {
		rc = hf_file_stat(from_fd, &before);
		if (rc == 0 && before.size > HF_CONTENT_MAX) {
			/* A second name keeps it without its hash. */
			kept->stat = before;
			rc = to_fd < 0 ? 0 : -EFBIG;
			if (rc == 0)
				return 0;
		}
		if (rc < 0)
			return fail_keep(err, rc, path);
		rc = hf_file_seek(from_fd, 0);
		if (rc == 0 && to_fd >= 0) {
			rc = hf_file_truncate(to_fd, 0);
			if (rc == 0)
				rc = hf_file_seek(to_fd, 0);
		}
		if (rc < 0)
			return fail_keep(err, rc, path);
		hf_content_begin(&writer, to_fd, HF_CONTENT_FRESH);
		rc = hf_content_copy(from_fd, to_fd >= 0 ? &writer : NULL, path,
				     &size, &kept->hash, err);
		/* It is the store that is full, and there is a cure. */
		if (rc < 0 && err->sys_errno == ENOSPC)
			return fail_keep(err, -ENOSPC, path);
		if (rc < 0)
			return rc;
		rc = hf_file_stat(from_fd, &kept->stat);
		if (rc < 0)
			return fail_keep(err, rc, path);
		kept->has_hash = true;
		if (is_untouched(&before, &kept->stat) && size == before.size)
			return 0;
	}
	return hf_fail(err, HF_ERR_CHANGED,
		       "cannot keep '%s': it is being written", HF_QUOTE(path));
}

/* A second name in the store, where that is possible: 0, or -errno. */
static int share_file(const struct hf_kept_source *source, int from_fd,
		      int folder_fd, const char *name)
{
	struct hf_stat opened;
	struct hf_stat linked;
	int rc;

	rc = hf_file_stat(from_fd, &opened);
	if (rc < 0)
		return rc;
	if (!source->is_leaving || opened.nlink != 1)
		return -EXDEV;
	rc = hf_file_link_at(source->dir_fd, source->name, folder_fd, name);
	if (rc < 0)
		return rc;
	/* The name may lead to another file by now. */
	rc = hf_file_stat_at(folder_fd, name, &linked);
	if (rc == 0 && linked.dev == opened.dev && linked.ino == opened.ino)
		return 0;
	unlink_quietly(folder_fd, name);
	return rc < 0 ? rc : -EXDEV;
}

/* The content of an open file under a fresh name, to the disk. */
static int copy_file(int from_fd, const char *path, int folder_fd,
		     const char *name, struct hf_kept *kept,
		     struct hf_error *err)
{
	cleanup_fd int to_fd = hf_file_create_at(folder_fd, name, 0600);
	int rc;

	if (to_fd < 0)
		return fail_keep(err, to_fd, path);
	rc = copy_steady(from_fd, to_fd, path, kept, err);
	if (rc < 0)
		return rc;
	rc = hf_file_sync(to_fd);
	if (rc == 0)
		rc = hf_file_close(&to_fd);
	return rc < 0 ? fail_keep(err, rc, path) : 0;
}

static int keep_file(const struct hf_kept_source *source, int folder_fd,
		     const char *name, struct hf_kept *kept,
		     struct hf_error *err)
{
	cleanup_fd int from_fd = hf_content_open(source->dir_fd, source->name);
	int rc;

	if (from_fd == -ENOENT || from_fd == -ELOOP || from_fd == -ENXIO)
		return hf_fail(err, HF_ERR_CHANGED,
			       "cannot keep '%s': it is being replaced",
			       HF_QUOTE(source->path));
	if (from_fd < 0)
		return fail_keep(err, from_fd, source->path);

	rc = hf_file_stat(from_fd, &kept->stat);
	if (rc < 0)
		return fail_keep(err, rc, source->path);
	if (kept->stat.kind != HF_KIND_FILE)
		return hf_fail(err, HF_ERR_CHANGED,
			       "cannot keep '%s': it is being replaced",
			       HF_QUOTE(source->path));
	rc = share_file(source, from_fd, folder_fd, name);
	if (rc < 0)
		return copy_file(from_fd, source->path, folder_fd, name, kept,
				 err);
	kept->is_shared = true;
	rc = copy_steady(from_fd, -1, source->path, kept, err);
	if (rc < 0)
		return rc;
	rc = hf_file_sync(from_fd);
	return rc < 0 ? fail_keep(err, rc, source->path) : 0;
}

static int keep_link(const struct hf_kept_source *source, int folder_fd,
		     const char *name, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	cleanup_fd int to_fd = -1;
	int rc;

	rc = hf_file_read_link_at(source->dir_fd, source->name, &text);
	if (rc == 0 && text.is_failed)
		rc = -ENOMEM;
	if (rc < 0)
		return fail_keep(err, rc, source->path);
	to_fd = hf_file_create_at(folder_fd, name, 0600);
	if (to_fd < 0)
		return fail_keep(err, to_fd, source->path);
	rc = hf_file_write(to_fd, text.data, text.len);
	if (rc == 0)
		rc = hf_file_sync(to_fd);
	if (rc == 0)
		rc = hf_file_close(&to_fd);
	return rc < 0 ? fail_keep(err, rc, source->path) : 0;
}

/* A name in the folder that nothing has yet; a directory may be there. */
static int find_free(int folder_fd, const char *name, bool is_directory,
		     char variant[HF_NAME_MAX + 1])
{
	struct hf_stat stat;
	int rc;

	for (unsigned n = 1; n <= HF_KEPT_VARIANTS; n++) {
		hf_kept_variant(variant, name, strlen(name), n);
		rc = hf_file_stat_at(folder_fd, variant, &stat);
		if (rc == -ENOENT)
			return 0;
		if (rc < 0)
			return rc;
		if (is_directory && stat.kind == HF_KIND_DIRECTORY)
			return 0;
	}
	return -EEXIST;
}

static int keep_directory(const char *path, int folder_fd, const char *name,
			  struct hf_error *err)
{
	cleanup_fd int fd = enter(folder_fd, name);

	return fd < 0 ? fail_keep(err, fd, path) : 0;
}

/* By kind; kept->stat is what was there before. */
static int keep_at(const struct hf_kept_source *source, int folder_fd,
		   const char *name, struct hf_kept *kept, struct hf_error *err)
{
	int rc;

	if (kept->stat.kind == HF_KIND_DIRECTORY)
		return keep_directory(source->path, folder_fd, name, err);
	if (kept->stat.kind == HF_KIND_FILE)
		rc = keep_file(source, folder_fd, name, kept, err);
	else
		rc = keep_link(source, folder_fd, name, err);
	if (rc < 0)
		/* Ours alone: nothing had this name. */
		unlink_quietly(folder_fd, name);
	return rc;
}

/* Into the folder, under a free name, durably. */
static int keep_in_folder(const struct hf_store *store,
			  const struct hf_name *session,
			  const struct hf_kept_source *source,
			  struct hf_kept *kept, struct hf_error *err)
{
	cleanup_folder struct folder folder = {.fd = -1};
	char name[HF_NAME_MAX + 1];
	int rc;

	rc = open_folder(store, session, source->path, &folder);
	if (rc == 0)
		rc = find_free(folder.fd, hf_path_name(source->path),
			       kept->stat.kind == HF_KIND_DIRECTORY, name);
	if (rc < 0)
		return fail_keep(err, rc, source->path);
	hf_buffer_add_text(&folder.path, name);

	rc = keep_at(source, folder.fd, name, kept, err);
	if (rc < 0)
		return rc;
	rc = hf_file_sync(folder.fd);
	if (rc < 0)
		return fail_keep(err, rc, source->path);
	kept->path = hf_buffer_take(&folder.path);
	return kept->path ? 0 : hf_fail_memory(err);
}

int hf_kept_copy(const struct hf_store *store, const struct hf_name *session,
		 const struct hf_kept_source *source, struct hf_kept *ret_kept,
		 struct hf_error *err)
{
	cleanup_kept struct hf_kept kept = HF_KEPT_INIT;
	int rc;

	rc = hf_file_stat_at(source->dir_fd, source->name, &kept.stat);
	if (rc == -ENOENT)
		return hf_fail(err, HF_ERR_CHANGED,
			       "cannot keep '%s': it has just vanished",
			       HF_QUOTE(source->path));
	if (rc < 0)
		return fail_keep(err, rc, source->path);

	if (kept.stat.kind == HF_KIND_FILE || kept.stat.kind == HF_KIND_LINK ||
	    kept.stat.kind == HF_KIND_DIRECTORY) {
		rc = keep_in_folder(store, session, source, &kept, err);
		if (rc < 0)
			return rc;
	} else {
		kept.path = strdup("");
	}
	kept.source = strdup(source->path);
	if (!kept.path || !kept.source)
		return hf_fail_memory(err);
	*ret_kept = kept;
	kept = (struct hf_kept)HF_KEPT_INIT;
	return 0;
}
