/* SPDX-License-Identifier: MIT */
/* The second copy: held packs and memory, when the store has lost its own. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "core/spare.h"
#include "support/scanned.h"
#include "support/stored.h"

static struct hf_stored s;
static struct hf_manifest manifest;
static struct hf_packs packs;
static struct hf_spare *spare;

static void setup(void)
{
	hf_stored_make(&s, "**");
}

static void teardown(void)
{
	hf_spare_free(&spare);
	hf_packs_done(&packs);
	hf_manifest_done(&manifest);
	hf_stored_remove(&s);
}

TestSuite(spare, .init = setup, .fini = teardown);

static void put(const char *name, const char *data, size_t len)
{
	int fd = hf_file_create_at(s.root_fd, name, 0600);

	cr_assert(fd >= 0 && hf_file_write(fd, data, len) == 0);
	hf_file_close_quietly(&fd);
}

static void record(void)
{
	struct hf_snapshot_result result;
	struct hf_error err;

	hf_stored_take(&s, &manifest, &result);
	cr_assert(hf_packs_add_tree(&packs, &manifest.tree, &err) == 0);
	cr_assert(hf_spare_new(&s.store, &packs, &spare) == 0);
}

static int begin(const struct hf_pack_want *want, struct hf_error *err)
{
	(void)err;
	hf_buffer_clear(want->context);
	return 0;
}

static int data(const struct hf_pack_want *want, const void *bytes, size_t len,
		struct hf_error *err)
{
	(void)err;
	hf_buffer_add(want->context, bytes, len);
	return 0;
}

static void end(const struct hf_pack_want *want, int result,
		const struct hf_error *err)
{
	(void)want;
	cr_assert(result == err->code);
}

/* The content of an entry by its second copy; NULL when there is none. */
static char *read_spare(const char *path)
{
	static const struct hf_pack_sink sink = { begin, data, end };
	const struct hf_entry *const entry = hf_tree_find(&manifest.tree, path);
	struct hf_buffer content = HF_BUFFER_INIT;
	const struct hf_pack_want want = {
		.location = entry->location,
		.size = entry->stat.size,
		.hash = entry->hash,
		.context = &content,
	};
	struct hf_error err;

	if (hf_spare_read(spare, &want, 1, &sink, &err) < 0) {
		cr_expect(err.code == HF_ERR_CORRUPT);
		hf_buffer_done(&content);
		return NULL;
	}
	return hf_buffer_take(&content);
}

static void expect_content(const char *path, const char *wanted)
{
	char *const got = read_spare(path);

	cr_assert(got, "%s is lost", path);
	cr_expect_str_eq(got, wanted);
	free(got);
}

/* Over all packs, in place. */
static void write_over(void)
{
	for (size_t i = 0; i < packs.count; i++) {
		char name[64];
		int fd;

		(void)snprintf(name, sizeof(name), "%06u.tar.zst",
			       packs.items[i]);
		fd = hf_file_open_write_at(s.store.folder_fd[HF_STORE_PACKS],
					   name);
		cr_assert(fd >= 0 && hf_file_truncate(fd, 10) == 0);
		hf_file_close_quietly(&fd);
	}
}

static void remove_packs(void)
{
	for (size_t i = 0; i < packs.count; i++) {
		char name[64];

		(void)snprintf(name, sizeof(name), "%06u.tar.zst",
			       packs.items[i]);
		cr_assert(hf_file_unlink_at(s.store.folder_fd[HF_STORE_PACKS],
					    name) == 0);
	}
}

Test(spare, held_open)
{
	struct hf_error err;

	put("a", "one", 3);
	put("b", "two", 3);
	put("empty", "", 0);
	record();
	remove_packs();
	expect_content("a", "one");
	expect_content("b", "two");
	expect_content("empty", "");
	cr_assert(hf_spare_write_pack(spare, packs.items[0], &s.store, &err) ==
		  1);
	cr_expect(hf_stored_check(&s.store, &manifest.tree, &err) == 0);
	cr_expect(hf_spare_write_pack(spare, 77, &s.store, &err) == 0);
}

Test(spare, in_memory)
{
	put("a", "one", 3);
	put("same", "one", 3);
	put("empty", "", 0);
	record();
	hf_spare_fill(spare, &manifest.tree);
	write_over();
	expect_content("a", "one");
	expect_content("same", "one");
	expect_content("empty", "");
}

Test(spare, not_filled)
{
	put("a", "one", 3);
	record();
	write_over();
	cr_expect_null(read_spare("a"));
}

/* What is wrong when it is filled is never believed. */
Test(spare, filled_too_late)
{
	put("a", "one", 3);
	record();
	write_over();
	hf_spare_fill(spare, &manifest.tree);
	cr_expect_null(read_spare("a"));
}

Test(spare, too_large)
{
	const size_t len = (size_t)HF_SPARE_SIZE_MAX - 2;
	char *const zeros = calloc(1, len);

	cr_assert(zeros);
	put("a", "one", 3);
	put("large", zeros, len);
	free(zeros);
	record();
	hf_spare_fill(spare, &manifest.tree);
	expect_content("a", "one");
	write_over();
	cr_expect_null(read_spare("a"));
}

Test(spare, as_large_as_may_be)
{
	const size_t len = (size_t)HF_SPARE_SIZE_MAX - 3;
	char *const text = malloc(len + 1);

	cr_assert(text);
	memset(text, 'x', len);
	text[len] = '\0';
	put("a", "one", 3);
	put("large", text, len);
	record();
	hf_spare_fill(spare, &manifest.tree);
	write_over();
	expect_content("a", "one");
	expect_content("large", text);
	free(text);
}
