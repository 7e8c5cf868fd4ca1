/* SPDX-License-Identifier: MIT */
/* Give a file new content under its old name, whole or not at all. */
#include "core/replace.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/encode.h"
#include "base/fail.h"
#include "base/text.h"
#include "platform/file.h"
#include "platform/system.h"

#define TAG_SIZE   8
#define TAG_DIGITS ((size_t)2 * TAG_SIZE)

int hf_replace_name(char ret_name[32], struct hf_error *err)
{
	uint8_t tag[TAG_SIZE];
	char digits[TAG_DIGITS + 1];
	int rc;

	rc = hf_system_random(tag, sizeof(tag));
	if (rc < 0)
		return hf_fail_system(err, rc,
				      "cannot choose a temporary name");
	hf_hex_encode(digits, tag, sizeof(tag));
	(void)snprintf(ret_name, 32, HF_TEMPORARY_PREFIX "%s", digits);
	return 0;
}

bool hf_replace_is_temporary(const char *name)
{
	const size_t prefix = strlen(HF_TEMPORARY_PREFIX);

	return strncmp(name, HF_TEMPORARY_PREFIX, prefix) == 0 &&
	       strlen(name + prefix) == TAG_DIGITS &&
	       strspn(name + prefix, "0123456789abcdef") == TAG_DIGITS;
}

int hf_replace_begin(struct hf_replace *rep, int dir_fd, const char *name,
		     uint32_t mode, struct hf_error *err)
{
	char tmp[sizeof(rep->tmp)];
	int rc;

	assert(rep->fd < 0);
	assert(!strchr(name, '/'));

	rc = hf_replace_name(tmp, err);
	if (rc < 0)
		return rc;
	/* A file without a name could not take over a name that exists. */
	rc = hf_file_create_at(dir_fd, tmp, mode);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot create a copy of '%s'",
				      HF_QUOTE(name));
	rep->fd = rc;
	rep->dir_fd = dir_fd;
	rep->name = name;
	memcpy(rep->tmp, tmp, sizeof(tmp));
	return 0;
}

int hf_replace_flush(struct hf_replace *rep, struct hf_error *err)
{
	int rc;

	assert(rep->fd >= 0);

	rc = hf_file_sync(rep->fd);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot flush '%s'",
				      HF_QUOTE(rep->name));
	/* Some file systems report a failed write only here. */
	rc = hf_file_close(&rep->fd);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot close '%s'",
				      HF_QUOTE(rep->name));
	return 0;
}

int hf_replace_rename(struct hf_replace *rep, struct hf_error *err)
{
	int rc;

	assert(rep->fd < 0 && rep->tmp[0] != '\0');

	rc = hf_file_rename_at(rep->dir_fd, rep->tmp, rep->dir_fd, rep->name);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot replace '%s'",
				      HF_QUOTE(rep->name));
	rep->tmp[0] = '\0';
	return 0;
}

int hf_replace_commit(struct hf_replace *rep, struct hf_error *err)
{
	int rc;

	rc = hf_replace_flush(rep, err);
	if (rc < 0)
		return rc;
	rc = hf_replace_rename(rep, err);
	if (rc < 0)
		return rc;

	/* The new name is visible; make it last. */
	rc = hf_file_sync(rep->dir_fd);
	if (rc < 0)
		return hf_fail_system(err, rc,
				      "cannot flush the directory of '%s'",
				      HF_QUOTE(rep->name));
	return 0;
}

int hf_replace_commit_new(struct hf_replace *rep, struct hf_error *err)
{
	int rc;

	rc = hf_replace_flush(rep, err);
	if (rc < 0)
		return rc;
	rc = hf_file_rename_new_at(rep->dir_fd, rep->tmp, rep->dir_fd,
				   rep->name);
	if (rc == -EEXIST)
		return hf_fail(err, HF_ERR_USAGE,
			       "cannot write '%s': it is there already",
			       HF_QUOTE(rep->name));
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot write '%s'",
				      HF_QUOTE(rep->name));
	rep->tmp[0] = '\0';
	rc = hf_file_sync(rep->dir_fd);
	if (rc < 0)
		return hf_fail_system(err, rc,
				      "cannot flush the directory of '%s'",
				      HF_QUOTE(rep->name));
	return 0;
}

int hf_replace_write(int dir_fd, const char *name, uint32_t mode,
		     const void *data, size_t len, struct hf_error *err)
{
	cleanup_replace struct hf_replace rep = HF_REPLACE_INIT;
	int rc;

	rc = hf_replace_begin(&rep, dir_fd, name, mode, err);
	if (rc < 0)
		return rc;
	rc = hf_file_write(rep.fd, data, len);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot write '%s'",
				      HF_QUOTE(name));
	return hf_replace_commit(&rep, err);
}

void hf_replace_done(struct hf_replace *rep)
{
	const int saved = errno;

	hf_file_close_quietly(&rep->fd);
	if (rep->tmp[0] != '\0') {
		const int rc = hf_file_unlink_at(rep->dir_fd, rep->tmp);

		/* What cannot be removed now is swept by the next command. */
		(void)rc;
	}
	rep->tmp[0] = '\0';
	errno = saved;
}
