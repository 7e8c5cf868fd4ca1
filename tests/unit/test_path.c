/* SPDX-License-Identifier: MIT */
/* Paths as byte strings, hostile ones too. */
#include "base/path.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define NAME_255                                                           \
	"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn" \
	"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn" \
	"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn" \
	"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"

/* A path of exactly len bytes, of components of two bytes. */
static char *long_path(size_t len)
{
	char *const path = malloc(len + 1);

	cr_assert(path);
	for (size_t i = 0; i < len; i++)
		path[i] = i % 3 == 2 ? '/' : 'a';
	if (len > 0 && path[len - 1] == '/')
		path[len - 1] = 'a';
	path[len] = '\0';
	return path;
}

Test(path, is_plain)
{
	static const struct {
		const char *path;
		bool is_plain;
	} rows[] = {
		{".", true},	       {"a", true},
		{"a/b", true},	       {"/a/b", true},
		{"a b/\n", true},      {"\xff\xfe", true},
		{"..a", true},	       {"a..", true},
		{".a", true},	       {"...", true},
		{NAME_255, true},      {"a/" NAME_255, true},
		{"", false},	       {"/", false},
		{"a/", false},	       {"//a", false},
		{"a//b", false},       {"..", false},
		{"a/..", false},       {"../a", false},
		{"a/../b", false},     {"/..", false},
		{"a/.", false},	       {"./a", false},
		{"a/./b", false},      {"/.", false},
		{NAME_255 "n", false}, {"a/" NAME_255 "n", false},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++)
		cr_expect_eq(hf_path_is_plain(rows[i].path), rows[i].is_plain,
			     "'%s'", rows[i].path);
}

Test(path, is_plain_up_to_the_bound)
{
	cleanup_free char *fits = long_path(HF_PATH_MAX - 1);
	cleanup_free char *too_long = long_path(HF_PATH_MAX);

	cr_expect(hf_path_is_plain(fits));
	cr_expect_not(hf_path_is_plain(too_long));
}

Test(path, parts)
{
	static const struct {
		const char *path;
		const char *name;
		size_t parent_len;
	} rows[] = {
		{"a/b/c", "c", 3}, {"c", "c", 0}, {"/c", "c", 1},
		{"/a/c", "c", 2},  {".", ".", 0}, {"a/\n", "\n", 1},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		cr_expect_str_eq(hf_path_name(rows[i].path), rows[i].name);
		cr_expect_eq(hf_path_parent_len(rows[i].path),
			     rows[i].parent_len, "'%s'", rows[i].path);
	}
}

Test(path, is_beneath)
{
	static const struct {
		const char *path;
		const char *ancestor;
		bool is_beneath;
	} rows[] = {
		{"a/b", "a", true},   {"a/b/c", "a", true}, {"a", "a", false},
		{"ab", "a", false},   {"a-/b", "a", false}, {"a/", "a", false},
		{"b/a", "a", false},  {"a", "a/b", false},  {"a", ".", true},
		{".a", ".", true},    {".", ".", false},    {"/a", ".", false},
		{"/a", "/", true},    {"/", "/", false},    {"a", "/", false},
		{"/a/b", "/a", true}, {"/ab", "/a", false}, {"/a", "", false},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++)
		cr_expect_eq(hf_path_is_beneath(rows[i].path, rows[i].ancestor),
			     rows[i].is_beneath, "'%s' in '%s'", rows[i].path,
			     rows[i].ancestor);
}

Test(path, compare_orders_a_tree)
{
	/* In order; every pair is compared both ways. */
	static const char *const sorted[] = {
		".",	"!x", "a",  "a/!", "a/b",  "a/b/c", "a/b!", "a!",
		"a!/b", "a0", "aa", "b",   "\x80", "\xff",  "/a",   "/a/b",
		"/b",
	};

	for (size_t i = 0; i < HF_COUNT(sorted); i++) {
		for (size_t j = 0; j < HF_COUNT(sorted); j++) {
			const int order = hf_path_compare(sorted[i], sorted[j]);

			cr_expect_eq((order > 0) - (order < 0),
				     (i > j) - (i < j), "'%s' and '%s': %d",
				     sorted[i], sorted[j], order);
		}
	}
}

Test(path, join)
{
	static const struct {
		const char *directory;
		const char *name;
		const char *joined;
	} rows[] = {
		{"a", "b", "a/b"},   {"", "b", "b"},
		{".", "b", "b"},     {"/", "b", "/b"},
		{"a/", "b", "a/b"},  {"/a", "b/c", "/a/b/c"},
		{"..", "b", "../b"},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		cleanup_free char *joined =
			hf_path_join(rows[i].directory, rows[i].name);

		cr_assert(joined);
		cr_expect_str_eq(joined, rows[i].joined);
	}
}

Test(path, normalize)
{
	static const struct {
		const char *path;
		const char *normal; /* NULL: error is errno */
		int error;
	} rows[] = {
		{"a//./b/", "a/b", 0},
		{"", ".", 0},
		{".", ".", 0},
		{"./", ".", 0},
		{"/", "/", 0},
		{"//", "/", 0},
		{"/.", "/", 0},
		{"/a//b/.", "/a/b", 0},
		{"a/..", ".", 0},
		{"a/../b", "b", 0},
		{"a/b/../../c", "c", 0},
		{"a/b/..", "a", 0},
		{"/a/..", "/", 0},
		{"/a/../b", "/b", 0},
		{"..a/...", "..a/...", 0},
		{NAME_255, NAME_255, 0},
		{"..", NULL, EINVAL},
		{"../a", NULL, EINVAL},
		{"a/../..", NULL, EINVAL},
		{"./..", NULL, EINVAL},
		{"/..", NULL, EINVAL},
		{"/a/../../b", NULL, EINVAL},
		{NAME_255 "n", NULL, ENAMETOOLONG},
		{"a/" NAME_255 "n/..", NULL, ENAMETOOLONG},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		cleanup_free char *normal = NULL;

		errno = 0;
		normal = hf_path_normalize(rows[i].path);
		if (rows[i].normal) {
			cr_assert(normal, "'%s'", rows[i].path);
			cr_expect_str_eq(normal, rows[i].normal);
			cr_expect(strcmp(normal, "/") == 0 ||
				  hf_path_is_plain(normal));
		} else {
			cr_expect_null(normal, "'%s'", rows[i].path);
			cr_expect_eq(errno, rows[i].error, "'%s'",
				     rows[i].path);
		}
	}
}

Test(path, normalize_up_to_the_bound)
{
	cleanup_free char *fits = long_path(HF_PATH_MAX - 1);
	cleanup_free char *too_long = long_path(HF_PATH_MAX);
	cleanup_free char *normal = hf_path_normalize(fits);
	cleanup_free char *none = hf_path_normalize(too_long);

	cr_expect_eq(errno, ENAMETOOLONG);
	cr_assert(normal);
	cr_expect_str_eq(normal, fits);
	cr_expect_null(none);
}

Test(path, normalize_shrinks_what_is_long_and_empty)
{
	enum { LEN = 100000 };
	cleanup_free char *path = malloc(LEN + 1);
	cleanup_free char *normal = NULL;

	cr_assert(path);
	for (size_t i = 0; i < LEN; i++)
		path[i] = i % 2 == 0 ? '.' : '/';
	path[LEN] = '\0';
	normal = hf_path_normalize(path);
	cr_assert(normal);
	cr_expect_str_eq(normal, ".");
}
