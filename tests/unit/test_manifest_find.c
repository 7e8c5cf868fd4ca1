/* SPDX-License-Identifier: MIT */
/* One path of a manifest: what is found is what decoding all of it gives. */
#include "core/manifest_find.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/path.h"
#include "core/manifest.h"
#include "platform/file.h"
#include "support/check.h"
#include "support/tmpdir.h"

static char *dir;
static int dir_fd = -1;

static void setup(void)
{
	dir = hf_tmpdir_make();
	dir_fd = hf_file_open_directory(dir);
	cr_assert_geq(dir_fd, 0);
}

static void teardown(void)
{
	hf_file_close_quietly(&dir_fd);
	hf_tmpdir_remove(dir);
}

TestSuite(manifest_find, .init = setup, .fini = teardown);

static const char *const odd[] = {
	".",	  "a",	      "a b",	"a/b",	  "a.toml",	"ab/c/d",
	"a\nb",	  "q\"uote",  "\x80",	"\x80/x", "ünder/ä",	"/etc/x",
	"/",	  "/etc",     "z/z/z/", "Z",	  "data",	"data/1",
	"data-1", "data/1/2", "data!",	"~",	  "\\back/s\\",
};

static void add(struct hf_tree *tree, const char *path, const char *xattrs)
{
	struct hf_entry *const entry = hf_tree_add(tree, path);

	cr_assert_not_null(entry);
	entry->stat.kind = HF_KIND_DIRECTORY;
	entry->stat.mode = 0755;
	entry->xattrs = xattrs;
}

/* Some hundred lines of all lengths, one of them far larger than a window. */
static void make(struct hf_manifest *manifest, struct hf_buffer *text)
{
	static char large[200 * 1000];
	struct hf_error err;
	char path[64];

	memcpy(large, "user.a=", 7);
	memset(large + 7, 'A', sizeof(large) - 200);
	memcpy(large + 7 + sizeof(large) - 200, "\n", 2);
	for (size_t i = 0; i < HF_COUNT(odd); i++)
		if (hf_path_is_plain(odd[i]))
			add(&manifest->tree, odd[i], "");
	for (int i = 0; i < 300; i++) {
		(void)snprintf(path, sizeof(path), "many/%03d/%.*s", i, i % 50,
			       "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
			       "xxxx");
		add(&manifest->tree, i % 50 == 0 ? "" : path,
		    i == 151 ? large : "");
		if (i % 50 == 0)
			manifest->tree.count--;
	}
	memcpy(manifest->name.text, "000001-20261130T030007Z", 24);
	manifest->root = strdup("/project");
	manifest->patterns = strdup("*.toml\n!a\n");
	cr_assert_eq(hf_tree_sort(&manifest->tree, &err), 0, "%s", err.text);
	cr_assert_eq(hf_manifest_encode(manifest, text, &err), 0, "%s",
		     err.text);
}

/* Are the found ones exactly those that all has? */
static void compare(const struct hf_tree *all, const struct hf_tree *found,
		    const char *path)
{
	size_t at = 0;

	for (size_t i = 0; i < all->count; i++) {
		const char *const have = all->entries[i].path;

		if (strcmp(have, path) != 0 && !hf_path_is_beneath(have, path))
			continue;
		cr_assert_lt(at, found->count, "'%s' lacks '%s'", path, have);
		cr_expect_str_eq(found->entries[at].path, have);
		at++;
	}
	cr_expect_eq(found->count, at, "'%s': %zu", path, found->count);
}

/* Near where it stands, far from it, and beyond all: it is found as well. */
static void look_with_hints(const struct hf_manifest *manifest,
			    const struct hf_buffer *text, int fd,
			    const char *path, uint64_t right)
{
	const uint64_t hints[] = {right,
				  right + 1,
				  right + 900,
				  right + 1500,
				  right + 3000,
				  1,
				  text->len - 1,
				  text->len,
				  UINT64_MAX,
				  right > 900 ? right - 900 : 0,
				  right > 3000 ? right - 3000 : 0,
				  text->len / 2};

	for (size_t i = 0; i < HF_COUNT(hints); i++) {
		cleanup_tree struct hf_tree found = HF_TREE_INIT;
		uint64_t hint = hints[i];
		struct hf_error err = {0};

		cr_expect_eq(hf_manifest_find_in(fd, path, &hint, &found, &err),
			     0, "'%s': %s", path, err.text);
		cr_expect_eq(hint, right);
		compare(&manifest->tree, &found, path);
	}
}

static void look(const struct hf_manifest *manifest,
		 const struct hf_buffer *text, int fd, const char *path)
{
	cleanup_tree struct hf_tree in_memory = HF_TREE_INIT;
	cleanup_tree struct hf_tree in_file = HF_TREE_INIT;
	struct hf_error err = {0};
	uint64_t none = 0;

	cr_expect_eq(
		hf_manifest_find(text->data, text->len, path, &in_memory, &err),
		0, "'%s': %s", path, err.text);
	compare(&manifest->tree, &in_memory, path);
	cr_expect_eq(hf_manifest_find_in(fd, path, &none, &in_file, &err), 0,
		     "'%s': %s", path, err.text);
	compare(&manifest->tree, &in_file, path);
	look_with_hints(manifest, text, fd, path, none);
}

Test(manifest_find, every_path)
{
	cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	static const char *const others[] = {"aa", "b",	 "many/0", "many/151/y",
					     "0",  "zz", "/zz",	   "data/0"};
	cleanup_fd int fd = -1;

	make(&manifest, &text);
	hf_put_file(dir_fd, "manifest", text.data);
	fd = hf_file_open_read_at(dir_fd, "manifest");
	cr_assert_geq(fd, 0);
	for (size_t i = 0; i < manifest.tree.count; i++)
		look(&manifest, &text, fd, manifest.tree.entries[i].path);
	for (size_t i = 0; i < HF_COUNT(others); i++)
		look(&manifest, &text, fd, others[i]);
}

Test(manifest_find, measure)
{
	static const char text[] =
		"{\"holdfast-manifest\":1,\"name\":\"x\"}\n"
		"{\"protect\":\"\\\"path\\\":\"}\n"
		"{\"path\":\".\",\"kind\":\"directory\",\"role\":\"ancestor\"}"
		"\n"
		"{\"kind\":\"file\",\"size\":94,\"path\":\"a\"}\n"
		"{\"path\":\"\\\"size\\\":7\",\"kind\":\"file\",\"size\":6}\n"
		"{\"path\":\"large\",\"size\":\"9007199254740993\"}\n"
		"{\"path\":\"link\",\"kind\":\"link\"}\n"
		"{\"entries\":5,\"hash\":\"0\"}\n";
	uint64_t bytes;
	size_t entries;

	hf_manifest_measure(text, sizeof(text) - 1, &entries, &bytes);
	cr_expect_eq(entries, 4, "%zu", entries);
	cr_expect_eq(bytes, 100, "%llu", (unsigned long long)bytes);
	hf_manifest_measure("", 0, &entries, &bytes);
	cr_expect_eq(entries, 0);
}

/* Whatever the bytes are: an answer or a failure, in bounds and in time. */
Test(manifest_find, damaged_ones)
{
	static const char *const texts[] = {
		"",
		"x",
		"\n",
		"\n\n\n",
		"{}\n",
		"{}\n{}\n",
		"[]\n",
		"{\"path\":1}\n",
		"{\"path\":\"a\"}\n",
		"{\"entries\":1}",
		"{\"path\":\"a\",\"kind\":\"directory\"}\nx",
	};
	struct hf_error err;

	for (size_t i = 0; i < HF_COUNT(texts); i++) {
		cleanup_tree struct hf_tree tree = HF_TREE_INIT;
		cleanup_fd int fd = -1;
		const size_t len = strlen(texts[i]);
		uint64_t hint = 0;
		const int rc =
			hf_manifest_find(texts[i], len, "a", &tree, &err);

		cr_expect(rc == 0 || rc == HF_ERR_CORRUPT, "%zu: %d", i, rc);
		hf_put_file(dir_fd, "manifest", texts[i]);
		fd = hf_file_open_read_at(dir_fd, "manifest");
		cr_expect_eq(hf_manifest_find_in(fd, "a", &hint, &tree, &err),
			     rc, "%zu", i);
	}
}

Test(manifest_find, cut_anywhere)
{
	cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	struct hf_name name;
	struct hf_error err;

	make(&manifest, &text);
	cr_expect_eq(hf_manifest_check("x", text.data, text.len, &name, &err),
		     0);
	cr_expect_str_eq(name.text, manifest.name.text);
	for (size_t len = 0; len < text.len; len += 997) {
		cleanup_tree struct hf_tree tree = HF_TREE_INIT;
		const int rc =
			hf_manifest_find(text.data, len, "many", &tree, &err);

		cr_expect(rc == 0 || rc == HF_ERR_CORRUPT, "%zu: %d", len, rc);
		cr_expect_eq(
			hf_manifest_check("x", text.data, len, &name, &err),
			HF_ERR_CORRUPT);
	}
	text.data[text.len / 2] ^= 1;
	cr_expect_eq(hf_manifest_check("x", text.data, text.len, &name, &err),
		     HF_ERR_CORRUPT);
}
