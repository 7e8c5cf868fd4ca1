/* SPDX-License-Identifier: MIT */
/* Which contents a store has: found by hash, damaged indexes passed over. */
#include "core/pack.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "support/stored.h"

static struct hf_stored s;
static struct hf_tree tree;

static const char *const texts[] = {"key = 1\n", "", "x"};

static void setup(void)
{
	hf_stored_make(&s, "*.toml");
	tree = (struct hf_tree)HF_TREE_INIT;
}

static void teardown(void)
{
	hf_tree_done(&tree);
	hf_stored_remove(&s);
}

TestSuite(contents, .init = setup, .fini = teardown);

static void write_member(struct hf_pack_writer *writer, const char *text)
{
	struct hf_entry *const entry = hf_tree_add(&tree, "a\xff.toml");
	const size_t len = strlen(text);
	const struct hf_hash hash = hf_hash_of(text, len);
	struct hf_error err;

	cr_assert(entry);
	entry->stat.kind = HF_KIND_FILE;
	entry->stat.size = len;
	cr_assert_eq(
		hf_pack_begin_member(writer, entry, &entry->location, &err), 0);
	cr_assert_eq(hf_pack_write(writer, text, len, &err), 0);
	cr_assert_eq(hf_pack_end_member(writer, &hash, &err), 0);
}

/* One pack with all texts. */
static void write_samples(void)
{
	cleanup_pack_writer struct hf_pack_writer *writer = NULL;
	struct hf_error err;

	cr_assert_eq(hf_pack_writer_new(&s.store, 1, &writer, &err), 0);
	for (size_t i = 0; i < HF_COUNT(texts); i++)
		write_member(writer, texts[i]);
	cr_assert(hf_pack_commit(writer, &err) == 0, "%s", err.text);
}

static void read_file(int dir_fd, const char *name, struct hf_buffer *text)
{
	cleanup_fd int fd = hf_file_open_read_at(dir_fd, name);

	cr_assert(fd >= 0);
	cr_assert_eq(hf_file_read_all(fd, 1 << 20, text), 0);
}

static void write_file(int dir_fd, const char *name, const char *data,
		       size_t len)
{
	cleanup_fd int fd = -1;

	(void)!hf_file_unlink_at(dir_fd, name);
	fd = hf_file_create_at(dir_fd, name, 0600);
	cr_assert(fd >= 0);
	cr_assert_eq(hf_file_write(fd, data, len), 0);
}

static const struct hf_location *find(const struct hf_contents *contents,
				      const char *text)
{
	const struct hf_hash hash = hf_hash_of(text, strlen(text));

	return hf_contents_find(contents, &hash, strlen(text));
}

Test(contents, contents_are_found_by_hash_and_size)
{
	cleanup_contents struct hf_contents *contents = NULL;
	cleanup_buffer struct hf_buffer notes = HF_BUFFER_INIT;
	struct hf_hash hash = hf_hash_of("x", 1);
	struct hf_error err;

	write_samples();
	cr_assert_eq(hf_contents_load(&s.store, &contents, &notes, &err), 0);
	cr_expect_eq(notes.len, 0);
	for (size_t i = 0; i < HF_COUNT(texts); i++) {
		const struct hf_location *const found =
			find(contents, texts[i]);

		cr_assert(found, "%s", texts[i]);
		cr_expect_eq(found->offset, tree.entries[i].location.offset);
		cr_expect_eq(found->pack, 1);
	}
	cr_expect_null(find(contents, "never stored"));
	cr_expect_null(hf_contents_find(contents, &hash, 2));
	cr_expect_eq(hf_contents_next_pack(contents), 2);
}

Test(contents, thousands_of_contents_are_all_found)
{
	cleanup_contents struct hf_contents *contents = NULL;
	struct hf_error err;

	cr_assert_eq(hf_contents_load(&s.store, &contents, NULL, &err), 0);
	for (uint64_t i = 0; i < 20000; i++) {
		const struct hf_hash hash = hf_hash_of(&i, sizeof(i));
		const struct hf_location location = {.pack = 5, .offset = i};

		cr_assert_eq(
			hf_contents_add(contents, &hash, i, location, &err), 0);
	}
	for (uint64_t i = 0; i < 20000; i++) {
		const struct hf_hash hash = hf_hash_of(&i, sizeof(i));
		const struct hf_location *const found =
			hf_contents_find(contents, &hash, i);

		cr_assert(found && found->offset == i);
	}
	cr_expect_eq(hf_contents_next_pack(contents), 6);
}

Test(contents, a_damaged_index_is_passed_over_and_named)
{
	cleanup_buffer struct hf_buffer whole = HF_BUFFER_INIT;
	const int packs_fd = s.store.folder_fd[HF_STORE_PACKS];
	struct hf_error err;

	write_samples();
	read_file(packs_fd, "000001.index", &whole);
	for (size_t i = 0; i <= whole.len; i++) {
		cleanup_contents struct hf_contents *contents = NULL;
		cleanup_buffer struct hf_buffer notes = HF_BUFFER_INIT;

		if (i < whole.len)
			whole.data[i] = (char)(whole.data[i] ^ 0x20);
		write_file(packs_fd, "000001.index", whole.data,
			   i < whole.len ? whole.len : whole.len / 2);
		cr_assert_eq(
			hf_contents_load(&s.store, &contents, &notes, &err), 0);
		cr_expect_null(find(contents, "key = 1\n"), "byte %zu", i);
		cr_assert(notes.data);
		cr_expect(strstr(notes.data, "000001"), "%s", notes.data);
		/* Its number is taken all the same. */
		cr_expect_eq(hf_contents_next_pack(contents), 2);
		if (i < whole.len)
			whole.data[i] = (char)(whole.data[i] ^ 0x20);
	}
}

Test(contents, the_index_of_a_cut_pack_is_passed_over)
{
	cleanup_contents struct hf_contents *contents = NULL;
	cleanup_buffer struct hf_buffer whole = HF_BUFFER_INIT;
	const int packs_fd = s.store.folder_fd[HF_STORE_PACKS];
	struct hf_error err;

	write_samples();
	read_file(packs_fd, "000001.tar.zst", &whole);
	write_file(packs_fd, "000001.tar.zst", whole.data, whole.len - 1);
	cr_assert_eq(hf_contents_load(&s.store, &contents, NULL, &err), 0);
	cr_expect_null(find(contents, "key = 1\n"));
}

Test(contents, an_index_without_its_pack_counts_for_nothing_but_its_number)
{
	cleanup_contents struct hf_contents *contents = NULL;
	const int packs_fd = s.store.folder_fd[HF_STORE_PACKS];
	struct hf_error err;

	write_samples();
	cr_assert_eq(hf_file_unlink_at(packs_fd, "000001.tar.zst"), 0);
	cr_expect(hf_pack_is_stray_index(&s.store, "000001.index"));
	cr_assert_eq(hf_contents_load(&s.store, &contents, NULL, &err), 0);
	cr_expect_null(find(contents, "key = 1\n"));
	cr_expect_eq(hf_contents_next_pack(contents), 2);
}
