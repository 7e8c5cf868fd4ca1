/* SPDX-License-Identifier: MIT */
/* How contents are spread over packs. */
#include "core/archiver.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "core/pack.h"
#include "support/check.h"
#include "support/stored.h"

static struct hf_stored s;

static void setup(void)
{
	hf_stored_make(&s, "*.toml");
}

static void teardown(void)
{
	hf_stored_remove(&s);
}

TestSuite(archiver, .init = setup, .fini = teardown);

static size_t pack_count(void)
{
	/* Each has an index. */
	return hf_count_names(s.store.folder_fd[HF_STORE_PACKS], "") / 2;
}

static const struct hf_entry *find(const struct hf_manifest *manifest,
				   const char *path)
{
	const struct hf_entry *const entry =
		hf_tree_find(&manifest->tree, path);

	cr_assert(entry, "%s is not in the tree", path);
	return entry;
}

static void expect_content(const struct hf_manifest *manifest, const char *path,
			   const char *content)
{
	cleanup_buffer struct hf_buffer read = HF_BUFFER_INIT;
	struct hf_error err;

	hf_buffer_add(&read, "", 0);
	cr_assert(hf_stored_read(&s.store, find(manifest, path), &read, &err) ==
			  0,
		  "%s", err.text);
	cr_expect_str_eq(read.data, content, "%s", path);
}

/* size bytes that zstd cannot shrink to nothing. */
static char *make_noise(size_t size, unsigned seed)
{
	char *const data = malloc(size + 1);
	uint64_t state = seed;

	cr_assert(data);
	for (size_t i = 0; i < size; i++) {
		state = state * 6364136223846793005U + 1442695040888963407U;
		data[i] = (char)('a' + (state >> 33) % 26);
	}
	data[size] = '\0';
	return data;
}

Test(archiver, a_large_file_has_a_pack_of_its_own)
{
	const size_t size = (size_t)HF_PACK_MEMBER_MAX + 1;
	cleanup_free char *noise = make_noise(size, 1);
	cleanup_manifest struct hf_manifest first = HF_MANIFEST_INIT;
	cleanup_manifest struct hf_manifest second = HF_MANIFEST_INIT;
	struct hf_snapshot_result result;

	hf_put_file(s.root_fd, "small.toml", "x");
	hf_put_file(s.root_fd, "large.toml", noise);
	hf_stored_take(&s, &first, &result);
	cr_expect_eq(result.archived, 2);
	cr_expect_eq(pack_count(), 2);
	cr_expect_neq(find(&first, "large.toml")->location.pack,
		      find(&first, "small.toml")->location.pack);
	expect_content(&first, "large.toml", noise);

	/* Known already: the pack that was begun is dropped. */
	hf_put_file(s.root_fd, "again.toml", noise);
	hf_stored_take(&s, &second, &result);
	cr_expect(result.is_new);
	cr_expect_eq(result.archived, 0);
	cr_expect_eq(pack_count(), 2);
	cr_expect_eq(hf_count_names(s.store.folder_fd[HF_STORE_PACKS],
				    HF_TEMPORARY_PREFIX),
		     0);
	expect_content(&second, "again.toml", noise);
}

Test(archiver, a_full_pack_is_followed_by_another)
{
	const size_t size = (size_t)HF_PACK_MEMBER_MAX;
	const size_t count = (size_t)(HF_PACK_SIZE / HF_PACK_MEMBER_MAX) + 2;
	cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;
	struct hf_snapshot_result result;
	struct hf_error err;
	char name[16];

	for (size_t i = 0; i < 2 * count; i++) {
		cleanup_free char *noise = make_noise(size, (unsigned)i);

		(void)snprintf(name, sizeof(name), "%zu.toml", i);
		hf_put_file(s.root_fd, name, noise);
	}
	hf_stored_take(&s, &manifest, &result);
	cr_expect_eq(result.archived, 2 * count);
	cr_expect_geq(pack_count(), 3);
	cr_expect(hf_stored_check(&s.store, &manifest.tree, &err) == 0, "%s",
		  err.text);
}

Test(archiver, what_needs_a_pax_header_begins_another_pack)
{
	cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;
	struct hf_snapshot_result result;
	char name[128];

	hf_put_file(s.root_fd, "a.toml", "plain");
	(void)snprintf(name, sizeof(name), "b%0100d.toml", 0);
	hf_put_file(s.root_fd, name, "long");
	hf_put_file(s.root_fd, "c.toml", "with the long one");
	hf_stored_take(&s, &manifest, &result);
	cr_expect_eq(result.archived, 3);
	cr_expect_eq(pack_count(), 2);
	expect_content(&manifest, "a.toml", "plain");
	expect_content(&manifest, name, "long");
	cr_expect_eq(find(&manifest, "c.toml")->location.pack,
		     find(&manifest, name)->location.pack);
}

/* The second of two workers, whose content the first one has claimed. */
Test(archiver, one_content_under_many_names_is_archived_once)
{
	cleanup_free char *noise = make_noise(100000, 3);
	cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;
	struct hf_snapshot_result result;
	struct hf_error err;
	char name[16];

	for (size_t i = 0; i < 200; i++) {
		(void)snprintf(name, sizeof(name), "%zu.toml", i);
		hf_put_file(s.root_fd, name, noise);
	}
	hf_stored_take(&s, &manifest, &result);
	cr_expect_eq(result.archived, 1);
	cr_expect_eq(result.archived_bytes, 100000);
	cr_expect(hf_stored_check(&s.store, &manifest.tree, &err) == 0, "%s",
		  err.text);
}
