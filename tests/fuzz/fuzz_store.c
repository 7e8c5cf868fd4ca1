/* SPDX-License-Identifier: MIT */
/*
 * The small files: store.json, the pointer in the git common directory, what a
 * probe remembers.  None is believed but in its one form, and none leads to a
 * failure that is not one of ours.
 */
/* The assertions are the test. */
#undef NDEBUG
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/path.h"
#include "core/store.h"
#include "core/store_identity.h"
#include "guard/probe.h"
#include "support/tmpdir.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void put(int dir_fd, const char *name, const void *data, size_t len)
{
	int fd = hf_file_unlink_at(dir_fd, name);

	fd = hf_file_create_at(dir_fd, name, 0600);
	assert(fd >= 0 && hf_file_write(fd, data, len) == 0);
	hf_file_close_quietly(&fd);
}

static int make(int dir_fd, const char *name)
{
	int fd;

	assert(hf_file_mkdir_at(dir_fd, name, 0700) == 0);
	fd = hf_file_open_directory_at(dir_fd, name);
	assert(fd >= 0);
	return fd;
}

static void check_identity(int store_fd)
{
	cleanup_store_identity struct hf_store_identity identity =
		HF_STORE_IDENTITY_INIT;
	struct hf_error err;
	const int rc = hf_store_identity_read(store_fd, "x", &identity, &err);

	if (rc == 0) {
		assert(identity.root);
		return;
	}
	assert(rc == err.code && err.text[0] != '\0');
	assert(!strchr(err.text, '\n'));
	assert(rc == HF_ERR_CORRUPT || rc == HF_ERR_UNSUPPORTED ||
	       err.sys_errno == EFBIG);
}

/* A store that a pointer leads to is at an absolute path, and says it is
 * root's. */
static void check_pointer(const char *dir)
{
	cleanup_free char *root = hf_path_join(dir, "root");
	cleanup_free char *store = hf_path_join(dir, "store");
	cleanup_free char *path = NULL;
	struct hf_error err;
	int rc;

	rc = hf_store_check_pointer(root, &err);
	assert(rc == 0 || (rc == err.code && err.text[0] != '\0'));
	rc = hf_store_locate(NULL, root, &path, &err);
	assert(rc < 0 || hf_path_is_absolute(path));
	/* Whatever stood there, our line can be added. */
	hf_store_point(root, store, true);
	rc = hf_store_check_pointer(root, &err);
	assert(rc == 0 || rc == err.code);
}

static void check_probe(const uint8_t *data, size_t len)
{
	struct hf_probe_key key = {
		.version = "1",
		.boot_id = "boot",
		.standing = "here",
	};
	struct hf_buffer text = HF_BUFFER_INIT;
	bool is_same;

	hf_probe_text(&key, &text);
	is_same = len == text.len && memcmp(data, text.data, len) == 0;
	assert(hf_probe_is_known(&key, (const char *)data, len) == is_same);
	key.boot_id[0] = '\0';
	assert(!hf_probe_is_known(&key, (const char *)data, len));
	hf_buffer_done(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *const dir = hf_tmpdir_make();
	struct hf_buffer line = HF_BUFFER_INIT;
	int dir_fd = hf_file_open_directory(dir);
	int store_fd = make(dir_fd, "store");
	int root_fd = make(dir_fd, "root");
	int git_fd = make(root_fd, ".git");

	put(store_fd, HF_STORE_IDENTITY_NAME, data, len);
	check_identity(store_fd);
	put(git_fd, "HEAD", "ref: x\n", 7);
	put(git_fd, "holdfast", data, len);
	check_pointer(dir);
	/* The same as the store of our root. */
	hf_buffer_add(&line, data, len);
	hf_buffer_printf(&line, "\t%s/root\n", dir);
	put(git_fd, "holdfast", line.data, line.len);
	check_pointer(dir);
	check_probe(data, len);

	hf_buffer_done(&line);
	hf_file_close_quietly(&git_fd);
	hf_file_close_quietly(&root_fd);
	hf_file_close_quietly(&store_fd);
	hf_file_close_quietly(&dir_fd);
	hf_tmpdir_remove(dir);
	return 0;
}
