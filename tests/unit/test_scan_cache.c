/* SPDX-License-Identifier: MIT */
/* When an earlier hash may be believed. */
#include "core/scan.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "core/scan_entry.h"

static void fill(struct hf_entry *entry)
{
	entry->stat = (struct hf_stat){
		.kind = HF_KIND_FILE, .mode = 0600, .uid = 1, .gid = 2,
		.nlink = 1, .size = 94, .dev = 3, .ino = 4, .mtime_ns = 5,
		.ctime_ns = 6,
	};
}

static void fill_earlier(struct hf_entry *entry)
{
	fill(entry);
	entry->has_hash = true;
	entry->hash = hf_hash_of("x", 1);
	entry->location = (struct hf_location){ .pack = 7, .offset = 512 };
}

/* Does the cache hold when change was applied to the earlier entry? */
static bool is_used(void (*change)(struct hf_entry *earlier))
{
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;
	cleanup_tree struct hf_tree earlier = HF_TREE_INIT;
	struct hf_entry *const entry = hf_tree_add(&tree, "x");
	struct hf_entry *const old = hf_tree_add(&earlier, "x");
	const struct hf_hash hash = hf_hash_of("x", 1);
	size_t used;

	cr_assert(entry && old);
	fill(entry);
	fill_earlier(old);
	if (change)
		change(old);
	used = hf_scan_use_cache(&tree, &earlier);
	cr_expect_eq(used, entry->has_hash);
	cr_expect_eq(entry->location.pack, used ? 7 : 0);
	cr_expect_eq(entry->location.offset, used ? 512 : 0);
	cr_expect_eq(hf_hash_equal(&entry->hash, &hash), used);
	return used;
}

#define CHANGE(name, statement)						\
	static void name(struct hf_entry *it)				\
	{								\
		statement;						\
	}

CHANGE(other_size, it->stat.size++)
CHANGE(other_mtime, it->stat.mtime_ns++)
CHANGE(other_ctime, it->stat.ctime_ns++)
CHANGE(other_dev, it->stat.dev++)
CHANGE(other_ino, it->stat.ino++)
CHANGE(other_mode, it->stat.mode = 0644)
CHANGE(other_uid, it->stat.uid++)
CHANGE(other_gid, it->stat.gid++)
CHANGE(other_kind, it->stat.kind = HF_KIND_FIFO)
CHANGE(racy, it->is_racy = true)
CHANGE(unread, it->has_hash = false)
CHANGE(other_links, it->stat.nlink++)
CHANGE(other_role, it->role = HF_ROLE_ALLOWED)

Test(scan_cache, believed_only_when_nothing_moved)
{
	static const struct {
		const char *name;
		void (*change)(struct hf_entry *earlier);
		bool is_used;
	} rows[] = {
		{"nothing", NULL, true},
		{"size", other_size, false},
		{"mtime", other_mtime, false},
		{"ctime", other_ctime, false},
		{"dev", other_dev, false},
		{"ino", other_ino, false},
		{"mode", other_mode, false},
		{"uid", other_uid, false},
		{"gid", other_gid, false},
		{"kind", other_kind, false},
		{"racy", racy, false},
		{"unread", unread, false},
		{"nlink", other_links, true},
		{"role", other_role, true},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++)
		cr_expect_eq(is_used(rows[i].change), rows[i].is_used, "%s",
			     rows[i].name);
}

#define SECOND INT64_C(1000000000)
#define NOW    (1700000000 * SECOND)

/* A ctime reaches as far as the times of its file system are apart. */
Test(scan_cache, racy_by_what_the_file_system_counts)
{
	static const struct {
		const char *name;
		int64_t ctime_ns;
		int64_t since_ns;
		bool is_racy;
	} rows[] = {
		{"later", NOW + 124, NOW + 123, true},
		{"same", NOW + 123, NOW + 123, true},
		{"before", NOW + 123, NOW + 125, false},
		{"second, same", NOW, NOW, true},
		{"second, late in it", NOW, NOW + SECOND - 1, true},
		{"two seconds", NOW, NOW + 2 * SECOND - 1, true},
		{"two seconds over", NOW, NOW + 2 * SECOND, false},
		{"hundredth", NOW + 990000000, NOW + 999999999, true},
		{"hundredth over", NOW + 990000000, NOW + 2 * SECOND, false},
		{"microsecond", NOW + 123456000, NOW + 123456999, true},
		{"microsecond over", NOW + 123456000, NOW + 123459000, false},
		{"1970", 0, NOW, false},
		{"1969", -SECOND, NOW, false},
		{"no end", INT64_MAX, NOW, true},
		{"no beginning", INT64_MIN, NOW, false},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++)
		cr_expect_eq(hf_scan_is_racy(rows[i].ctime_ns,
					     rows[i].since_ns),
			     rows[i].is_racy, "%s", rows[i].name);
}

Test(scan_cache, kinds_without_content)
{
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;
	cleanup_tree struct hf_tree earlier = HF_TREE_INIT;
	struct hf_entry *const entry = hf_tree_add(&tree, "x");
	struct hf_entry *const old = hf_tree_add(&earlier, "x");

	cr_assert(entry && old);
	fill(entry);
	fill_earlier(old);
	entry->stat.kind = HF_KIND_LINK;
	old->stat.kind = HF_KIND_LINK;
	cr_expect_eq(hf_scan_use_cache(&tree, &earlier), 0);
}

Test(scan_cache, trees_that_differ)
{
	static const char *const now[] = {
		"0", "a/1", "a/2", "a!", "b/1", "c", "z",
	};
	static const char *const then[] = {
		"a/0", "a/2", "a/3", "a!", "b/0", "b/1", "y", "z/1",
	};
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;
	cleanup_tree struct hf_tree earlier = HF_TREE_INIT;
	struct hf_error err;

	for (size_t i = 0; i < HF_COUNT(now); i++)
		fill(hf_tree_add(&tree, now[i]));
	for (size_t i = 0; i < HF_COUNT(then); i++)
		fill_earlier(hf_tree_add(&earlier, then[i]));
	cr_assert_eq(hf_tree_sort(&tree, &err), 0);
	cr_assert_eq(hf_tree_sort(&earlier, &err), 0);
	cr_expect_eq(hf_scan_use_cache(&tree, &earlier), 3);
	cr_expect(hf_tree_find(&tree, "a/2")->has_hash);
	cr_expect(hf_tree_find(&tree, "a!")->has_hash);
	cr_expect(hf_tree_find(&tree, "b/1")->has_hash);
	cr_expect_not(hf_tree_find(&tree, "a/1")->has_hash);
}

Test(scan_cache, nothing_to_take_from)
{
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;
	cleanup_tree struct hf_tree earlier = HF_TREE_INIT;

	cr_expect_eq(hf_scan_use_cache(&tree, &earlier), 0);
	fill(hf_tree_add(&tree, "x"));
	cr_expect_eq(hf_scan_use_cache(&tree, &earlier), 0);
	cr_expect_eq(hf_scan_use_cache(&earlier, &tree), 0);
}

static int refuse_begin(void *context, unsigned worker,
			const struct hf_entry *entry, struct hf_error *err)
{
	(void)context;
	(void)worker;
	return hf_fail(err, HF_ERR_CORRUPT, "'%s' is read again", entry->path);
}

/* There is no such root: any look at it would fail. */
Test(scan_cache, what_is_known_is_not_read)
{
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;
	const struct hf_scan_options options = { .root_fd = -1, .root = "/" };
	const struct hf_scan_sink sink = { .begin = refuse_begin };
	struct hf_error err;
	struct hf_entry *entry;

	fill_earlier(hf_tree_add(&tree, "known"));
	entry = hf_tree_add(&tree, "on/the/way");
	fill(entry);
	entry->role = HF_ROLE_ANCESTOR;
	(void)hf_tree_add(&tree, "absent");
	cr_expect_eq(hf_scan_read(&options, &tree, &sink, false, NULL, &err),
		     0);
	fill(hf_tree_add(&tree, "unknown"));
	cr_expect_lt(hf_scan_read(&options, &tree, &sink, false, NULL, &err),
		     0);
}
