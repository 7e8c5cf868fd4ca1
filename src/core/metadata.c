/* SPDX-License-Identifier: MIT */
/*
 * Set metadata so that each part sticks: a change of owner takes away set-id
 * bits and capabilities, an ACL changes the group bits of the mode, and every
 * one of them may be refused to who is not the owner any more.  Hence: owner,
 * extended attributes, mode, time.
 */
#include "core/metadata.h"

#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/text.h"

/* A mode for whom it was not meant. */
#define NO_SET_ID 01777u

/* An open file, or a name when fd is -1. */
struct target {
	int fd;
	int dir_fd;
	const char *name;
};

static int get_stat(const struct target *target, struct hf_stat *ret_stat)
{
	if (target->fd >= 0)
		return hf_file_stat(target->fd, ret_stat);
	return hf_file_stat_at(target->dir_fd, target->name, ret_stat);
}

static int get_xattrs(const struct target *target, struct hf_buffer *ret_text)
{
	if (target->fd >= 0)
		return hf_file_get_xattrs(target->fd, ret_text);
	return hf_file_get_xattrs_at(target->dir_fd, target->name, ret_text);
}

static int set_owner(const struct target *target, const struct hf_stat *want)
{
	if (target->fd >= 0)
		return hf_file_set_owner(target->fd, want->uid, want->gid);
	return hf_file_set_owner_at(target->dir_fd, target->name, want->uid,
				    want->gid);
}

static int set_xattrs(const struct target *target, const char *text)
{
	if (target->fd >= 0)
		return hf_file_set_xattrs(target->fd, text);
	return hf_file_set_xattrs_at(target->dir_fd, target->name, text);
}

static int set_mode(const struct target *target, const struct hf_stat *want)
{
	if (target->fd >= 0)
		return hf_file_set_mode(target->fd, want->mode);
	return hf_file_set_mode_at(target->dir_fd, target->name, want->mode);
}

static int set_mtime(const struct target *target, const struct hf_stat *want)
{
	if (target->fd >= 0)
		return hf_file_set_mtime(target->fd, want->mtime_ns);
	return hf_file_set_mtime_at(target->dir_fd, target->name,
				    want->mtime_ns);
}

static bool is_owner_equal(const struct hf_stat *a, const struct hf_stat *b)
{
	return a->uid == b->uid && a->gid == b->gid;
}

/* A link has no mode of its own. */
static bool is_mode_equal(const struct hf_stat *a, const struct hf_stat *b)
{
	return a->kind == HF_KIND_LINK || a->mode == b->mode;
}

static bool is_mtime_equal(const struct hf_stat *a, const struct hf_stat *b)
{
	return a->kind == HF_KIND_DIRECTORY || a->mtime_ns == b->mtime_ns;
}

bool hf_metadata_is_equal(const struct hf_entry *a, const struct hf_entry *b)
{
	return is_owner_equal(&a->stat, &b->stat) &&
	       is_mode_equal(&a->stat, &b->stat) &&
	       is_mtime_equal(&a->stat, &b->stat) &&
	       strcmp(a->xattrs, b->xattrs) == 0;
}

static int fail(struct hf_error *err, int rc, const char *what,
		const struct hf_entry *want)
{
	return hf_fail_system(err, rc, "cannot set the %s of '%s'", what,
			      HF_QUOTE(want->path));
}

static int give_back(const struct target *target, const struct hf_entry *want,
		     const struct hf_stat *now, struct hf_error *err)
{
	int rc;

	if (is_owner_equal(now, &want->stat))
		return 0;
	rc = set_owner(target, &want->stat);
	if (rc == 0)
		return 0;
	(void)hf_fail_system(err, rc, "cannot give '%s' back to its owner",
			     HF_QUOTE(want->path));
	if (rc == -EPERM)
		return hf_fail_hint(err, "only root may do that");
	return err->code;
}

static int put_xattrs(const struct target *target, const struct hf_entry *want,
		      struct hf_error *err)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	int rc;

	rc = get_xattrs(target, &text);
	if (rc == 0 && text.is_failed)
		rc = -ENOMEM;
	if (rc == 0 && strcmp(text.data ? text.data : "", want->xattrs) != 0)
		rc = set_xattrs(target, want->xattrs);
	return rc < 0 ? fail(err, rc, "extended attributes", want) : 0;
}

/* Is a failure none, since only so much is wanted? */
static bool is_allowed(enum hf_metadata_extent extent,
		       const struct hf_error *err)
{
	return extent == HF_METADATA_ALLOWED &&
	       (err->sys_errno == EPERM || err->sys_errno == EOPNOTSUPP);
}

static int apply(const struct target *target, const struct hf_entry *want,
		 enum hf_metadata_extent extent, struct hf_error *err)
{
	struct hf_stat stat = want->stat;
	struct hf_stat now;
	int rc;

	rc = get_stat(target, &now);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot look at '%s'",
				      HF_QUOTE(want->path));
	rc = give_back(target, want, &now, err);
	if (rc < 0 && !is_allowed(extent, err))
		return rc;
	if (rc < 0)
		stat.mode &= NO_SET_ID;
	rc = put_xattrs(target, want, err);
	if (rc < 0 && !is_allowed(extent, err))
		return rc;

	/* The two above may have changed it. */
	rc = get_stat(target, &now);
	if (rc == 0 && !is_mode_equal(&now, &stat))
		rc = set_mode(target, &stat);
	if (rc < 0)
		return fail(err, rc, "mode", want);
	if (!is_mtime_equal(&now, &want->stat))
		rc = set_mtime(target, &want->stat);
	return rc < 0 ? fail(err, rc, "time", want) : 0;
}

int hf_metadata_set(int fd, const struct hf_entry *want,
		    enum hf_metadata_extent extent, struct hf_error *err)
{
	return apply(&(struct target){.fd = fd}, want, extent, err);
}

int hf_metadata_set_at(int dir_fd, const char *name,
		       const struct hf_entry *want,
		       enum hf_metadata_extent extent, struct hf_error *err)
{
	const struct target target = {
		.fd = -1,
		.dir_fd = dir_fd,
		.name = name,
	};

	return apply(&target, want, extent, err);
}

static int open_target(int dir_fd, const char *name, enum hf_kind kind)
{
	return kind == HF_KIND_DIRECTORY
		       ? hf_file_open_directory_at(dir_fd, name)
		       : hf_file_open_read_at(dir_fd, name);
}

int hf_metadata_set_in_place(int dir_fd, const char *name,
			     const struct hf_entry *want,
			     enum hf_metadata_extent extent,
			     struct hf_error *err)
{
	const enum hf_kind kind = want->stat.kind;
	cleanup_fd int fd = -1;
	struct hf_stat now;
	int rc;

	if (kind != HF_KIND_FILE && kind != HF_KIND_DIRECTORY)
		return hf_metadata_set_at(dir_fd, name, want, extent, err);

	fd = open_target(dir_fd, name, kind);
	if (fd == -EACCES) {
		/* Mode 0000 and the like; the right one comes below. */
		rc = hf_file_set_mode_at(
			dir_fd, name,
			want->stat.mode |
				(kind == HF_KIND_DIRECTORY ? 0700 : 0600));
		if (rc == 0)
			fd = open_target(dir_fd, name, kind);
	}
	if (fd < 0)
		return hf_fail_system(err, fd, "cannot open '%s'",
				      HF_QUOTE(want->path));
	rc = hf_file_stat(fd, &now);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot look at '%s'",
				      HF_QUOTE(want->path));
	if (now.kind != kind)
		return hf_fail(err, HF_ERR_CHANGED,
			       "cannot restore '%s': it is being replaced",
			       HF_QUOTE(want->path));
	rc = hf_metadata_set(fd, want, extent, err);
	if (rc < 0)
		return rc;
	rc = hf_file_sync(fd);
	return rc < 0 ? hf_fail_system(err, rc, "cannot flush '%s'",
				       HF_QUOTE(want->path))
		      : 0;
}
