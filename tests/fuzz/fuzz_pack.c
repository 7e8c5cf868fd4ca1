/* SPDX-License-Identifier: MIT */
/*
 * Bytes as a pack, compressed or not, and as the index of one, sealed and not.
 * Whatever is read from the pack has the hash that was asked for.
 */
/* The assertions are the test. */
#undef NDEBUG
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "core/pack.h"
#include "core/sealed.h"
#include "support/tmpdir.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* A content that packs of the corpus have. */
static const char wanted[] = "key = 1\n";

static int begin(const struct hf_pack_want *want, struct hf_error *err)
{
	(void)err;
	hf_buffer_clear(want->context);
	return 0;
}

static int add_data(const struct hf_pack_want *want, const void *data,
		    size_t len, struct hf_error *err)
{
	struct hf_buffer *const read = want->context;

	(void)err;
	hf_buffer_add(read, data, len);
	assert(read->len <= want->size);
	return 0;
}

static void end(const struct hf_pack_want *want, int result,
		const struct hf_error *err)
{
	const struct hf_buffer *const read = want->context;

	assert(result == err->code);
	if (result < 0)
		return;
	assert(read->len == strlen(wanted));
	assert(memcmp(read->data, wanted, read->len) == 0);
}

static void check_pack(const struct hf_store *store)
{
	static const struct hf_pack_sink sink = {begin, add_data, end};
	static const uint64_t offsets[] = {0, 1024, 1536, 4096, UINT64_MAX};
	struct hf_buffer read = HF_BUFFER_INIT;
	struct hf_pack_want wants[HF_COUNT(offsets)];
	struct hf_error err;

	for (size_t i = 0; i < HF_COUNT(offsets); i++)
		wants[i] = (struct hf_pack_want){
			.location = {.pack = 1, .offset = offsets[i]},
			.size = strlen(wanted),
			.hash = hf_hash_of(wanted, strlen(wanted)),
			.context = &read,
		};
	assert(hf_pack_read(store, wants, HF_COUNT(offsets), &sink, &err) ==
		       HF_ERR_CORRUPT &&
	       strstr(err.text, "000001.tar.zst"));
	hf_buffer_done(&read);
}

static void check_index(const struct hf_store *store)
{
	struct hf_contents *contents = NULL;
	struct hf_buffer notes = HF_BUFFER_INIT;
	struct hf_error err;

	assert(hf_contents_load(store, &contents, &notes, &err) == 0);
	assert(hf_contents_next_pack(contents) == 2);
	hf_contents_free(&contents);
	hf_buffer_done(&notes);
}

static void put(int dir_fd, const char *name, const void *data, size_t len)
{
	int fd = hf_file_create_at(dir_fd, name, 0600);

	assert(fd >= 0);
	assert(hf_file_write(fd, data, len) == 0);
	hf_file_close_quietly(&fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *const dir = hf_tmpdir_make();
	struct hf_store store = HF_STORE_INIT;
	struct hf_buffer sealed = HF_BUFFER_INIT;
	int fd = hf_file_open_directory(dir);

	assert(fd >= 0);
	store.folder_fd[HF_STORE_PACKS] = fd;
	store.path = dir;
	put(fd, "000001.tar.zst", data, len);
	put(fd, "000001.index", data, len);
	check_pack(&store);
	check_index(&store);

	hf_buffer_add(&sealed, data, len);
	hf_sealed_end(&sealed, "contents", 1);
	assert(hf_file_unlink_at(fd, "000001.index") == 0);
	put(fd, "000001.index", sealed.data, sealed.len);
	check_index(&store);
	hf_buffer_done(&sealed);
	hf_file_close_quietly(&fd);
	hf_tmpdir_remove(dir);
	return 0;
}
