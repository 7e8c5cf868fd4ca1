/* SPDX-License-Identifier: MIT */
/* Write down whose a store is, and refuse it to others. */
#include "core/store_identity.h"

#include <inttypes.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/text.h"
#include "core/entry_text.h"
#include "core/replace.h"
#include "platform/file.h"
#include "platform/system.h"

#define IDENTITY_MAX ((size_t)64 << 10)

void hf_store_identity_done(struct hf_store_identity *identity)
{
	hf_free_pointee(&identity->root);
}

int hf_store_is_dropping(int dir_fd, const char *path, struct hf_error *err)
{
	struct hf_stat stat;
	const int rc = hf_file_stat_at(dir_fd, HF_STORE_DROPPING_NAME, &stat);

	if (rc == -ENOENT)
		return 0;
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot open the store '%s'",
				      HF_QUOTE(path));
	(void)hf_fail(err, HF_ERR_DENIED,
		      "the store '%s' was being dropped, and that did not come "
		      "to its end",
		      HF_QUOTE(path));
	(void)hf_fail_hint(err, "'holdfast store drop' finishes it");
	return 1;
}

static int read_text(int dir_fd, const char *path, const char *name,
		     struct hf_buffer *text, struct hf_error *err)
{
	cleanup_fd int fd = hf_file_open_read_at(dir_fd, name);
	int rc;

	if (fd < 0)
		return hf_fail_system(err, fd, "cannot open '%s/%s'",
				      HF_QUOTE(path), name);
	rc = hf_file_read_all(fd, IDENTITY_MAX, text);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot read '%s/%s'",
				      HF_QUOTE(path), name);
	return 0;
}

static bool decode_number(const hf_json_value *object, const char *key,
			  uint64_t *ret_number)
{
	const char *const text = hf_json_string(hf_json_get(object, key));

	return text && hf_parse_u64(text, strlen(text), 10, ret_number) == 0;
}

static int fail_damaged(const char *path, struct hf_error *err)
{
	(void)hf_fail(err, HF_ERR_CORRUPT, "cannot read '%s/%s': it is damaged",
		      HF_QUOTE(path), HF_STORE_IDENTITY_NAME);
	return hf_fail_hint(err, "'holdfast store adopt' writes it anew");
}

static int decode(const hf_json_value *object, const char *path,
		  struct hf_store_identity *identity, struct hf_error *err)
{
	cleanup_arena struct hf_arena arena = HF_ARENA_INIT;
	const char *root;
	uint64_t version;
	int rc;

	if (!hf_json_number(hf_json_get(object, "holdfast-store"), &version))
		return fail_damaged(path, err);
	if (version != HF_STORE_VERSION)
		return hf_fail(err, HF_ERR_UNSUPPORTED,
			       "the store '%s' has format %" PRIu64
			       ", known is %d",
			       HF_QUOTE(path), version, HF_STORE_VERSION);
	rc = hf_text_decode(hf_json_get(object, "root"),
			    hf_json_get(object, "root_bytes"), &arena, &root);
	if (rc == -ENOMEM)
		return hf_fail_memory(err);
	if (rc < 0 || !decode_number(object, "dev", &identity->dev) ||
	    !decode_number(object, "ino", &identity->ino))
		return fail_damaged(path, err);
	if (hf_json_get(object, "born") &&
	    !decode_number(object, "born", &identity->born_ns))
		return fail_damaged(path, err);
	identity->root = strdup(root);
	return identity->root ? 0 : hf_fail_memory(err);
}

static int read_identity(int dir_fd, const char *path, const char *name,
			 struct hf_store_identity *ret_identity,
			 struct hf_error *err)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	cleanup_json struct hf_json *json = NULL;
	struct hf_error parse_err;
	int rc;

	rc = read_text(dir_fd, path, name, &text, err);
	if (rc < 0)
		return rc;
	/* The newline is no part of the line. */
	if (text.len > 0 && text.data[text.len - 1] == '\n')
		text.len--;
	rc = hf_json_parse_line(text.data ? text.data : "", text.len, &json,
				&parse_err);
	if (rc < 0)
		return parse_err.code == HF_ERR_CORRUPT
			       ? fail_damaged(path, err)
			       : hf_fail_memory(err);
	return decode(hf_json_root(json), path, ret_identity, err);
}

int hf_store_identity_read(int dir_fd, const char *path,
			   struct hf_store_identity *ret_identity,
			   struct hf_error *err)
{
	struct hf_error dropping;
	const int rc = read_identity(dir_fd, path, HF_STORE_IDENTITY_NAME,
				     ret_identity, err);

	if (rc < 0 && err->sys_errno == ENOENT &&
	    hf_store_is_dropping(dir_fd, path, &dropping) == 1)
		*err = dropping;
	return rc < 0 ? err->code : 0;
}

int hf_store_identity_read_dropping(int dir_fd, const char *path,
				    struct hf_store_identity *ret_identity,
				    struct hf_error *err)
{
	return read_identity(dir_fd, path, HF_STORE_DROPPING_NAME, ret_identity,
			     err);
}

int hf_store_identity_write(int dir_fd, const char *root, int root_fd,
			    struct hf_error *err)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	struct hf_short_text created;
	struct hf_stat stat;
	int rc;

	rc = hf_file_stat(root_fd, &stat);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot look at '%s'",
				      HF_QUOTE(root));
	hf_buffer_printf(&text, "{\"holdfast-store\":%d,", HF_STORE_VERSION);
	hf_text_encode("root", root, &text);
	hf_buffer_printf(&text,
			 ",\"dev\":\"%" PRIu64 "\",\"ino\":\"%" PRIu64
			 "\",\"born\":\"%" PRIu64 "\",\"created\":\"%s\"}\n",
			 stat.dev, stat.ino, hf_file_birth_ns(root_fd),
			 hf_format_time(&created, hf_system_time_ns()));
	rc = hf_buffer_check(&text, err);
	if (rc < 0)
		return rc;
	return hf_replace_write(dir_fd, HF_STORE_IDENTITY_NAME, 0600, text.data,
				text.len, err);
}

/*
 * A directory of an overlay is born again when something is first written in it,
 * and keeps its numbers.
 */
static bool may_be_reborn(int fd)
{
	unsigned traits;

	return hf_file_system_traits(fd, &traits) == 0 &&
	       (traits & HF_FS_OVERLAY) != 0;
}

/*
 * The same path is asked for before.  Another directory may have the same number,
 * even on the same device (the root of a fresh tmpfs), but was made at another
 * time; where that cannot be told it is believed to be the same.
 */
static bool is_same(const struct hf_store_identity *identity, int root_fd,
		    const struct hf_stat *stat)
{
	const uint64_t born_ns = hf_file_birth_ns(root_fd);

	if (stat->ino != identity->ino)
		return false;
	if (identity->born_ns == 0 || born_ns == 0 ||
	    identity->born_ns == born_ns)
		return true;
	return stat->dev == identity->dev && may_be_reborn(root_fd);
}

int hf_store_identity_check(const struct hf_store_identity *identity,
			    const char *path, const char *root, int root_fd,
			    struct hf_error *err)
{
	struct hf_stat stat;
	int rc;

	if (strcmp(identity->root, root) != 0) {
		(void)hf_fail(err, HF_ERR_DENIED,
			      "the store '%s' belongs to '%s'", HF_QUOTE(path),
			      HF_QUOTE(identity->root));
		return hf_fail_hint(err, "name another one with --store DIR, "
					 "or type 'holdfast store adopt' if "
					 "that project has moved here");
	}
	rc = hf_file_stat(root_fd, &stat);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot look at '%s'",
				      HF_QUOTE(root));
	if (!is_same(identity, root_fd, &stat)) {
		(void)hf_fail(err, HF_ERR_DENIED,
			      "the store '%s' was made for another directory "
			      "at this path",
			      HF_QUOTE(path));
		return hf_fail_hint(err, "'holdfast store adopt' if it is the "
					 "same project");
	}
	return 0;
}

int hf_store_check_owner(int dir_fd, const char *path, struct hf_error *err)
{
	struct hf_stat stat;
	int rc;

	rc = hf_file_stat(dir_fd, &stat);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot look at '%s'",
				      HF_QUOTE(path));
	if (stat.uid != hf_system_uid() && stat.uid != 0)
		return hf_fail(err, HF_ERR_DENIED,
			       "the store '%s' belongs to another user",
			       HF_QUOTE(path));
	if ((stat.mode & 077) != 0) {
		(void)hf_fail(err, HF_ERR_DENIED,
			      "the store '%s' is open to other users",
			      HF_QUOTE(path));
		return hf_fail_hint(err, "chmod 700 '%.200s'", HF_QUOTE(path));
	}
	return 0;
}
