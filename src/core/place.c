/* SPDX-License-Identifier: MIT */
/* Open the way to an entry, and close it again. */
#include "core/place.h"

#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/replace.h"
#include "core/scan.h"
#include "platform/system.h"

#define OWNER_ALL     0700u
#define OWNER_CHANGES 0300u

/* May the mode of a directory be in our way, and may we change it? */
static bool is_ours(const struct hf_stat *stat)
{
	return !hf_system_is_root() && stat->uid == hf_system_uid();
}

/* The parent of path cannot be opened: let its owner, us, in. */
static int open_locked(struct hf_place *place, int root_fd, const char *path)
{
	const size_t len = hf_path_parent_len(path);
	cleanup_fd int above_fd = -1;
	char parent[HF_PATH_MAX] = ".";
	struct hf_stat stat;
	const char *name;
	int rc;

	if (len >= sizeof(parent))
		return -ENAMETOOLONG;
	if (len > 0) {
		memcpy(parent, path, len);
		parent[len] = '\0';
	}
	above_fd = hf_scan_open_parent(root_fd, parent, &name);
	if (above_fd < 0)
		return above_fd;
	rc = hf_file_stat_at(above_fd, name, &stat);
	if (rc < 0)
		return rc;
	if (stat.kind != HF_KIND_DIRECTORY || !is_ours(&stat))
		return -EACCES;
	rc = hf_file_set_mode_at(above_fd, name, stat.mode | OWNER_ALL);
	if (rc < 0)
		return rc;
	place->dir_fd = hf_scan_open_parent(root_fd, path, &place->name);
	if (place->dir_fd < 0) {
		const int failure = place->dir_fd;

		place->dir_fd = -1;
		rc = hf_file_set_mode_at(above_fd, name, stat.mode);
		return rc < 0 ? rc : failure;
	}
	place->has_mode = true;
	place->mode = stat.mode;
	return 0;
}

/* The directory is open; see that names in it can be changed. */
static int open_for_changes(struct hf_place *place)
{
	uint32_t flags = 0;
	struct hf_stat stat;
	int rc;

	rc = hf_file_get_protection(place->dir_fd, &flags);
	if (rc == 0 && flags != 0) {
		rc = hf_file_set_protection(place->dir_fd, 0);
		if (rc < 0)
			return rc;
		place->protection = flags;
	}
	if (place->has_mode)
		return 0;
	rc = hf_file_stat(place->dir_fd, &stat);
	if (rc < 0)
		return rc;
	if ((stat.mode & OWNER_CHANGES) == OWNER_CHANGES || !is_ours(&stat))
		return 0;
	rc = hf_file_set_mode(place->dir_fd, stat.mode | OWNER_ALL);
	if (rc < 0)
		return rc;
	place->has_mode = true;
	place->mode = stat.mode;
	return 0;
}

int hf_place_open(struct hf_place *place, int root_fd, const char *path,
		  struct hf_error *err)
{
	int rc;

	place->path = path;
	rc = hf_scan_open_parent(root_fd, path, &place->name);
	if (rc >= 0)
		place->dir_fd = rc;
	else if (rc == -EACCES)
		rc = open_locked(place, root_fd, path);
	if (rc >= 0)
		rc = open_for_changes(place);
	if (rc < 0)
		return hf_fail_system(err, rc,
				      "cannot open the directory of '%s'",
				      HF_QUOTE(path));
	return 0;
}

int hf_place_name(struct hf_place *place, struct hf_error *err)
{
	return hf_replace_name(place->tmp, err);
}

int hf_place_sync(const struct hf_place *place, struct hf_error *err)
{
	const int rc = hf_file_sync(place->dir_fd);

	if (rc < 0)
		return hf_fail_system(err, rc,
				      "cannot flush the directory of '%s'",
				      HF_QUOTE(place->path));
	return 0;
}

/* Only files and directories carry flags; nothing else is opened. */
static int open_flagged(int dir_fd, const char *name, enum hf_kind kind)
{
	if (kind == HF_KIND_FILE)
		return hf_file_open_read_at(dir_fd, name);
	if (kind == HF_KIND_DIRECTORY)
		return hf_file_open_directory_at(dir_fd, name);
	return -EOPNOTSUPP;
}

int hf_place_unprotect_at(int dir_fd, const char *name, enum hf_kind kind,
			  uint32_t *ret_flags)
{
	cleanup_fd int fd = open_flagged(dir_fd, name, kind);
	uint32_t flags = 0;
	int rc;

	/* Flags are root's business; what root cannot open has other worries.
	 */
	if (fd < 0)
		return 0;
	rc = hf_file_get_protection(fd, &flags);
	if (rc < 0 || flags == 0)
		return 0;
	rc = hf_file_set_protection(fd, 0);
	if (rc < 0)
		return rc;
	*ret_flags = flags;
	return 0;
}

int hf_place_unprotect(struct hf_place *place, struct hf_error *err)
{
	struct hf_stat stat;
	int rc;

	rc = hf_file_stat_at(place->dir_fd, place->name, &stat);
	if (rc == -ENOENT)
		return 0;
	if (rc == 0)
		rc = hf_place_unprotect_at(place->dir_fd, place->name,
					   stat.kind, &place->name_protection);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot unlock '%s'",
				      HF_QUOTE(place->path));
	return 0;
}

/* The flags go to what stands at the name, if that can have any. */
static int protect(const struct hf_place *place)
{
	cleanup_fd int fd = -1;
	struct hf_stat stat;
	int rc;

	rc = hf_file_stat_at(place->dir_fd, place->name, &stat);
	if (rc < 0)
		return rc == -ENOENT ? 0 : rc;
	fd = open_flagged(place->dir_fd, place->name, stat.kind);
	if (fd < 0)
		return fd == -EOPNOTSUPP ? 0 : fd;
	return hf_file_set_protection(fd, place->name_protection);
}

static int remove_tmp(const struct hf_place *place)
{
	int rc = hf_file_unlink_at(place->dir_fd, place->tmp);

	if (rc == -EISDIR || rc == -EPERM)
		rc = hf_file_rmdir_at(place->dir_fd, place->tmp);
	return rc == -ENOENT ? 0 : rc;
}

/* Everything is tried; the first failure is returned. */
static int put_back(struct hf_place *place)
{
	int first = 0;
	int rc;

	if (place->tmp[0] != '\0') {
		first = remove_tmp(place);
		if (first == 0)
			place->tmp[0] = '\0';
	}
	if (place->must_sync) {
		rc = hf_file_sync(place->dir_fd);
		if (rc == 0)
			place->must_sync = false;
		else if (first == 0)
			first = rc;
	}
	if (place->name_protection != 0) {
		rc = protect(place);
		if (rc == 0)
			place->name_protection = 0;
		else if (first == 0)
			first = rc;
	}
	if (place->has_mode) {
		rc = hf_file_set_mode(place->dir_fd, place->mode);
		if (rc == 0)
			place->has_mode = false;
		else if (first == 0)
			first = rc;
	}
	if (place->protection != 0) {
		rc = hf_file_set_protection(place->dir_fd, place->protection);
		if (rc == 0)
			place->protection = 0;
		else if (first == 0)
			first = rc;
	}
	return first;
}

int hf_place_close(struct hf_place *place, struct hf_error *err)
{
	const int rc = put_back(place);

	if (rc < 0)
		return hf_fail_system(
			err, rc, "cannot leave the directory of '%s' as it was",
			HF_QUOTE(place->path));
	hf_file_close_quietly(&place->dir_fd);
	return 0;
}

void hf_place_done(struct hf_place *place)
{
	const int saved = errno;

	if (place->dir_fd >= 0) {
		const int rc = put_back(place);

		/* What failed before is what is told. */
		(void)rc;
		hf_file_close_quietly(&place->dir_fd);
	}
	*place = (struct hf_place)HF_PLACE_INIT;
	errno = saved;
}
