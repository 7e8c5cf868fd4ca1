/* SPDX-License-Identifier: MIT */
/* Make a directory under a name that nobody has, and remove it again. */
#include "guard/scratch.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/encode.h"
#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "platform/file.h"
#include "platform/system.h"

#define PREFIX	     "holdfast-doctor-"
#define RANDOM_BYTES 6
#define NAME_MAX_LEN (sizeof(PREFIX) + 2 * RANDOM_BYTES)

/* Something may still be going away while we look: not for ever. */
#define PASSES 8

static int remove_tree(int dir_fd, const char *name);

static int remove_entry(int dir_fd, const char *name)
{
	const int rc = hf_file_unlink_at(dir_fd, name);

	/* Which error a directory gives is the system's choice. */
	return rc == 0 || rc == -ENOENT ? 0 : remove_tree(dir_fd, name);
}

static int empty(int dir_fd)
{
	cleanup_directory struct hf_directory *directory = NULL;
	enum hf_kind kind;
	const char *name;
	int rc = hf_directory_open(dir_fd, &directory);

	if (rc < 0)
		return rc;
	while ((rc = hf_directory_next(directory, &name, &kind)) == 1)
		(void)remove_entry(dir_fd, name);
	return rc;
}

static int remove_tree(int dir_fd, const char *name)
{
	int rc = -ENOTEMPTY;

	for (unsigned i = 0; i < PASSES && rc == -ENOTEMPTY; i++) {
		cleanup_fd int fd = hf_file_open_directory_at(dir_fd, name);

		if (fd < 0)
			return fd;
		rc = empty(fd);
		if (rc == 0)
			rc = hf_file_rmdir_at(dir_fd, name);
	}
	return rc;
}

static int find_directory(const char *directory, char **ret_path,
			  struct hf_error *err)
{
	cleanup_free char *state = NULL;
	int rc;

	if (directory == NULL) {
		rc = hf_system_state_directory(&state);
		if (rc >= 0)
			rc = hf_file_mkdir_path(state);
		if (rc < 0)
			return hf_fail_system(err, rc,
					      "cannot find a place for decoys");
		directory = state;
	}
	*ret_path = hf_file_canonical(directory);
	if (*ret_path == NULL)
		return hf_fail_system(err, -errno, "cannot use '%s'",
				      HF_QUOTE(directory));
	return 0;
}

static int make_in(struct hf_scratch *scratch, const char *parent)
{
	uint8_t bytes[RANDOM_BYTES];
	char name[NAME_MAX_LEN] = PREFIX;
	cleanup_free char *path = NULL;
	int rc = hf_system_random(bytes, sizeof(bytes));

	if (rc < 0)
		return rc;
	hf_hex_encode(name + strlen(PREFIX), bytes, sizeof(bytes));
	path = hf_path_join(parent, name);
	if (path == NULL)
		return -ENOMEM;
	scratch->parent_fd = hf_file_open_directory(parent);
	if (scratch->parent_fd < 0)
		return scratch->parent_fd;
	rc = hf_file_mkdir_at(scratch->parent_fd, name, 0700);
	if (rc < 0)
		return rc;
	scratch->path = take_ptr(&path);
	scratch->fd = hf_file_open_directory_at(scratch->parent_fd, name);
	return scratch->fd < 0 ? scratch->fd : 0;
}

int hf_scratch_make(struct hf_scratch *scratch, const char *directory,
		    struct hf_error *err)
{
	cleanup_free char *parent = NULL;
	int rc;

	rc = find_directory(directory, &parent, err);
	if (rc < 0)
		return rc;
	rc = make_in(scratch, parent);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot make decoys in '%s'",
				      HF_QUOTE(parent));
	return 0;
}

void hf_scratch_remove(struct hf_scratch *scratch)
{
	const int saved = errno;

	if (scratch->path != NULL)
		(void)remove_tree(scratch->parent_fd,
				  hf_path_name(scratch->path));
	hf_file_close_quietly(&scratch->fd);
	hf_file_close_quietly(&scratch->parent_fd);
	hf_free_pointee(&scratch->path);
	errno = saved;
}
