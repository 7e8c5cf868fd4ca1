/* SPDX-License-Identifier: MIT */
/* Sets of entries: order, search, copies. */
#include "core/tree.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static void add_all(struct hf_tree *tree, const char *const *paths,
		    size_t count)
{
	for (size_t i = 0; i < count; i++)
		cr_assert(hf_tree_add(tree, paths[i]));
}

Test(tree, a_new_entry_is_cleared)
{
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;
	char path[] = "a/b";
	const struct hf_entry *const entry = hf_tree_add(&tree, path);

	cr_assert(entry);
	path[0] = 'x';
	cr_expect_str_eq(entry->path, "a/b");
	cr_expect_str_eq(entry->rule, "");
	cr_expect_str_eq(entry->xattrs, "");
	cr_expect_null(entry->link);
	cr_expect_eq(entry->stat.kind, HF_KIND_ABSENT);
	cr_expect_eq(entry->role, HF_ROLE_PROTECTED);
	cr_expect_not(entry->has_hash);
	cr_expect_eq(entry->location.pack, 0);
}

Test(tree, sorted_with_directories_before_what_they_hold)
{
	static const char *const paths[] = {
		"b", "a!", "a/z", "a", ".", "/etc/x", "a/b/c", "a/b", "\xff",
	};
	static const char *const sorted[] = {
		".", "a", "a/b", "a/b/c", "a/z", "a!", "b", "\xff", "/etc/x",
	};
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;
	struct hf_error err;

	add_all(&tree, paths, HF_COUNT(paths));
	cr_assert_eq(hf_tree_sort(&tree, &err), 0);
	cr_assert_eq(tree.count, HF_COUNT(sorted));
	for (size_t i = 0; i < tree.count; i++)
		cr_expect_str_eq(tree.entries[i].path, sorted[i]);
}

Test(tree, find_each_and_nothing_else)
{
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;
	struct hf_error err;
	char path[32];

	cr_expect_null(hf_tree_find(&tree, "a"));
	for (int i = 999; i >= 0; i--) {
		(void)snprintf(path, sizeof(path), "d%d/f%d", i % 10, i);
		cr_assert(hf_tree_add(&tree, path));
	}
	cr_assert_eq(hf_tree_sort(&tree, &err), 0);
	for (int i = 0; i < 1000; i++) {
		const struct hf_entry *entry;

		(void)snprintf(path, sizeof(path), "d%d/f%d", i % 10, i);
		entry = hf_tree_find(&tree, path);
		cr_assert(entry, "%s", path);
		cr_expect_str_eq(entry->path, path);
	}
	cr_expect_null(hf_tree_find(&tree, "d0"));
	cr_expect_null(hf_tree_find(&tree, "d0/f"));
	cr_expect_null(hf_tree_find(&tree, "d0/f00"));
	cr_expect_null(hf_tree_find(&tree, ""));
	cr_expect_null(hf_tree_find(&tree, "z"));
}

Test(tree, a_path_twice_is_refused)
{
	static const char *const paths[] = { "b", "a\n", "c", "a\n" };
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;
	struct hf_error err = { .code = 0 };

	add_all(&tree, paths, HF_COUNT(paths));
	cr_expect_eq(hf_tree_sort(&tree, &err), HF_ERR_CORRUPT);
	cr_expect_str_eq(err.text,
			 "cannot sort the entries: 'a\\n' is there twice");
}

Test(tree, neighbours_in_order_but_equal_are_refused_too)
{
	static const char *const paths[] = { "a", "a" };
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;
	struct hf_error err;

	add_all(&tree, paths, HF_COUNT(paths));
	cr_expect_eq(hf_tree_sort(&tree, &err), HF_ERR_CORRUPT);
}

Test(tree, merge_prefers_what_is_no_ancestor)
{
	static const char *const paths[] = { "b", "a", "b", "a", "b" };
	static const enum hf_entry_role roles[] = {
		HF_ROLE_ANCESTOR, HF_ROLE_ANCESTOR, HF_ROLE_ALLOWED,
		HF_ROLE_ANCESTOR, HF_ROLE_ANCESTOR,
	};
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;
	struct hf_error err;

	for (size_t i = 0; i < HF_COUNT(paths); i++) {
		struct hf_entry *const entry = hf_tree_add(&tree, paths[i]);

		cr_assert(entry);
		entry->role = roles[i];
	}
	cr_assert_eq(hf_tree_sort_merge(&tree, &err), 0);
	cr_assert_eq(tree.count, 2);
	cr_expect_str_eq(tree.entries[0].path, "a");
	cr_expect_eq(tree.entries[0].role, HF_ROLE_ANCESTOR);
	cr_expect_str_eq(tree.entries[1].path, "b");
	cr_expect_eq(tree.entries[1].role, HF_ROLE_ALLOWED);
}

Test(tree, what_is_added_behind_is_sorted_in)
{
	static const char *const tails[] = {
		"0", "9", "48", "84", "0159", "9510", "35353", "123456789",
	};
	static const char in_order[] = "1357";

	for (size_t t = 0; t < HF_COUNT(tails); t++) {
		cleanup_tree struct hf_tree tree = HF_TREE_INIT;
		struct hf_error err;
		char path[2] = "";

		for (const char *c = in_order; *c != '\0'; c++) {
			path[0] = *c;
			cr_assert(hf_tree_add(&tree, path));
		}
		for (const char *c = tails[t]; *c != '\0'; c++) {
			path[0] = *c;
			cr_assert(hf_tree_add(&tree, path));
		}
		cr_assert_eq(hf_tree_sort_merge(&tree, &err), 0);
		for (size_t i = 1; i < tree.count; i++)
			cr_expect_lt(tree.entries[i - 1].path[0],
				     tree.entries[i].path[0], "%s", tails[t]);
		for (char c = '0'; c <= '9'; c++) {
			path[0] = c;
			cr_expect_eq(hf_tree_find(&tree, path) != NULL,
				     strchr(in_order, c) ||
					     strchr(tails[t], c),
				     "%s: %c", tails[t], c);
		}
	}
}

Test(tree, only_what_is_marked_is_kept)
{
	static const char *const rows[] = { "", "1", "0", "11", "01", "10",
					    "1101", "0000", "10010" };

	for (size_t r = 0; r < HF_COUNT(rows); r++) {
		cleanup_tree struct hf_tree tree = HF_TREE_INIT;
		bool is_kept[8] = { false };
		char path[2] = "";
		size_t count = 0;

		for (size_t i = 0; rows[r][i] != '\0'; i++) {
			path[0] = (char)('a' + i);
			is_kept[i] = rows[r][i] == '1';
			count += is_kept[i];
			cr_assert(hf_tree_add(&tree, path));
		}
		hf_tree_keep(&tree, is_kept);
		cr_expect_eq(tree.count, count, "%s", rows[r]);
		for (size_t i = 0; rows[r][i] != '\0'; i++) {
			path[0] = (char)('a' + i);
			cr_expect_eq(hf_tree_find(&tree, path) != NULL,
				     is_kept[i], "%s: %s", rows[r], path);
		}
	}
}

Test(tree, a_copy_lives_on_its_own)
{
	cleanup_tree struct hf_tree copy = HF_TREE_INIT;
	const struct hf_entry *entry;

	{
		cleanup_tree struct hf_tree tree = HF_TREE_INIT;
		struct hf_entry *const old = hf_tree_add(&tree, "a");
		char rule[] = "*";
		char link[] = "target";
		char xattrs[] = "user.x=eA==\n";

		cr_assert(old);
		old->rule = rule;
		old->link = link;
		old->xattrs = xattrs;
		old->stat.size = 7;
		old->has_hash = true;
		cr_assert(hf_tree_add_copy(&copy, old));
		cr_assert(hf_tree_add_copy(&copy, old));
		memset(rule, 'x', sizeof(rule) - 1);
		memset(link, 'x', sizeof(link) - 1);
		memset(xattrs, 'x', sizeof(xattrs) - 1);
	}
	for (size_t i = 0; i < 2; i++) {
		entry = &copy.entries[i];
		cr_expect_str_eq(entry->path, "a");
		cr_expect_str_eq(entry->rule, "*");
		cr_expect_str_eq(entry->link, "target");
		cr_expect_str_eq(entry->xattrs, "user.x=eA==\n");
		cr_expect_eq(entry->stat.size, 7);
		cr_expect(entry->has_hash);
	}
}

Test(tree, copy_an_entry_of_the_tree_itself)
{
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;

	cr_assert(hf_tree_add(&tree, "first"));
	/* Often enough that the array moves. */
	for (int i = 0; i < 1000; i++)
		cr_assert(hf_tree_add_copy(&tree, &tree.entries[0]));
	cr_expect_str_eq(tree.entries[1000].path, "first");
}

Test(tree, protected_are_those_that_exist)
{
	static const struct {
		enum hf_entry_role role;
		enum hf_kind kind;
	} rows[] = {
		{HF_ROLE_PROTECTED, HF_KIND_FILE},
		{HF_ROLE_PROTECTED, HF_KIND_DIRECTORY},
		{HF_ROLE_PROTECTED, HF_KIND_ABSENT},
		{HF_ROLE_ANCESTOR, HF_KIND_DIRECTORY},
		{HF_ROLE_ALLOWED, HF_KIND_FILE},
		{HF_ROLE_SIDE_FILE, HF_KIND_FILE},
	};
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		struct hf_entry *const entry = hf_tree_add(&tree, "x");

		cr_assert(entry);
		entry->role = rows[i].role;
		entry->stat.kind = rows[i].kind;
	}
	cr_expect_eq(hf_tree_protected_count(&tree), 2);
}

Test(tree, done_twice)
{
	struct hf_tree tree = HF_TREE_INIT;

	cr_assert(hf_tree_add(&tree, "a"));
	hf_tree_done(&tree);
	hf_tree_done(&tree);
	cr_expect_eq(tree.count, 0);
	cr_assert(hf_tree_add(&tree, "b"));
	hf_tree_done(&tree);
}

/* What tree.h promises of 100,000 files, without the strings. */
Test(tree, an_entry_is_small)
{
	cr_expect_leq(sizeof(struct hf_entry), 200);
}
