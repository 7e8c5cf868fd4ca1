/* SPDX-License-Identifier: MIT */
/* What counts as a difference, and how it is told. */
#include "core/compare.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/buffer.h"

#define FILE_94 { .kind = HF_KIND_FILE, .mode = 0600, .size = 94, .uid = 1, \
		  .gid = 1, .mtime_ns = 5, .ctime_ns = 5, .ino = 7, .nlink = 1 }

static const struct hf_entry file = {
	.path = "x", .rule = "", .xattrs = "", .has_hash = true,
	.stat = FILE_94,
};
static const struct hf_entry link_to_a = {
	.path = "x", .rule = "", .xattrs = "", .link = "a",
	.stat = { .kind = HF_KIND_LINK, .mode = 0777, .mtime_ns = 5 },
};
static const struct hf_entry directory = {
	.path = "x", .rule = "", .xattrs = "",
	.stat = { .kind = HF_KIND_DIRECTORY, .mode = 0755, .mtime_ns = 5 },
};
static const struct hf_entry ancestor = {
	.path = "x", .rule = "", .xattrs = "", .role = HF_ROLE_ANCESTOR,
	.stat = { .kind = HF_KIND_DIRECTORY, .mode = 0755, .mtime_ns = 5 },
};
static const struct hf_entry device = {
	.path = "x", .rule = "", .xattrs = "",
	.stat = { .kind = HF_KIND_CHARACTER_DEVICE, .mode = 0600, .rdev = 1 },
};
static const struct hf_entry absent = {
	.path = "x", .rule = "", .xattrs = "",
};

static void check(const char *name, const struct hf_entry *before,
		  const struct hf_entry *after, unsigned change,
		  const char *words)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	const unsigned found = hf_compare_entry(before, after);
	const struct hf_delta delta = {
		.before = before, .after = after, .change = found,
	};

	cr_expect_eq(found, change, "%s: %u", name, found);
	hf_delta_describe(&delta, &text);
	cr_expect_str_eq(text.data, words, "%s: %s", name, text.data);
}

/* Each row changes one thing of a copy. */
#define CHANGED(entry, ...)						\
	({								\
		struct hf_entry changed_ = (entry);			\
		struct hf_entry *const it = &changed_;			\
		__VA_ARGS__;						\
		changed_;						\
	})

Test(compare, nothing_that_counts)
{
	const struct hf_entry rows[] = {
		file,
		CHANGED(file, it->stat.ctime_ns = 6),
		CHANGED(file, it->stat.ino = 8),
		CHANGED(file, it->stat.dev = 8),
		CHANGED(file, it->stat.nlink = 2),
		CHANGED(file, it->stat.blocks = 2),
		CHANGED(file, it->is_racy = true),
		CHANGED(file, it->role = HF_ROLE_ALLOWED),
		CHANGED(file, it->location.pack = 3),
	};
	const struct hf_entry newer = CHANGED(directory, it->stat.mtime_ns = 6);
	const struct hf_entry other_mode =
		CHANGED(link_to_a, it->stat.mode = 0755);

	for (size_t i = 0; i < HF_COUNT(rows); i++)
		cr_expect_eq(hf_compare_entry(&file, &rows[i]), 0, "row %zu",
			     i);
	check("directory's mtime", &directory, &newer, 0, "nothing differs");
	check("link's mode", &link_to_a, &other_mode, 0, "nothing differs");
	check("absent and absent", &absent, &absent, 0, "nothing differs");
	check("absent and nothing", &absent, NULL, 0, "nothing differs");
	check("nothing and absent", NULL, &absent, 0, "nothing differs");
	check("nothing at all", NULL, NULL, 0, "nothing differs");
}

Test(compare, of_a_file)
{
	const struct hf_entry shorter = CHANGED(file, it->stat.size = 12);
	const struct hf_entry other = CHANGED(file, it->hash.bytes[15] = 1);
	const struct hf_entry unread = CHANGED(file, it->has_hash = false);
	const struct hf_entry open = CHANGED(file, it->stat.mode = 0644);
	const struct hf_entry given =
		CHANGED(file, it->stat.uid = 2; it->stat.gid = 3);
	const struct hf_entry group = CHANGED(file, it->stat.gid = 3);
	const struct hf_entry newer = CHANGED(file, it->stat.mtime_ns = 6);
	const struct hf_entry xattrs = CHANGED(file, it->xattrs = "user.a=\n");
	const struct hf_entry much =
		CHANGED(file, it->stat.size = 1; it->stat.mode = 07;
			it->stat.mtime_ns = 6);

	check("shorter", &file, &shorter, HF_CHANGE_CONTENT, "94 -> 12 bytes");
	check("other bytes", &file, &other, HF_CHANGE_CONTENT,
	      "94 bytes, other content");
	check("unreadable", &file, &unread, HF_CHANGE_CONTENT,
	      "94 bytes, cannot be read");
	check("mode", &file, &open, HF_CHANGE_METADATA, "mode 0600 -> 0644");
	check("owner", &file, &given, HF_CHANGE_METADATA, "owner 1:1 -> 2:3");
	check("group", &file, &group, HF_CHANGE_METADATA, "owner 1:1 -> 1:3");
	check("mtime", &file, &newer, HF_CHANGE_METADATA, "mtime");
	check("xattrs", &file, &xattrs, HF_CHANGE_METADATA,
	      "extended attributes");
	check("much", &file, &much, HF_CHANGE_CONTENT | HF_CHANGE_METADATA,
	      "94 -> 1 bytes, mode 0600 -> 0007, mtime");
}

Test(compare, of_other_kinds)
{
	const struct hf_entry moved = CHANGED(link_to_a, it->link = "b\n");
	const struct hf_entry closed = CHANGED(directory, it->stat.mode = 0);
	const struct hf_entry other = CHANGED(device, it->stat.rdev = 2);
	const struct hf_entry one = CHANGED(file, it->stat.size = 1);

	check("link text", &link_to_a, &moved, HF_CHANGE_CONTENT,
	      "link 'a' -> 'b\\n'");
	check("directory's mode", &directory, &closed, HF_CHANGE_METADATA,
	      "mode 0755 -> 0000");
	check("device number", &device, &other, HF_CHANGE_CONTENT,
	      "another device");
	check("file to link", &file, &link_to_a, HF_CHANGE_KIND,
	      "file of 94 bytes -> link to 'a'");
	check("directory to file", &directory, &one, HF_CHANGE_KIND,
	      "directory -> file of 1 byte");
	check("link to device", &link_to_a, &device, HF_CHANGE_KIND,
	      "link to 'a' -> character-device");
}

Test(compare, of_presence)
{
	const struct hf_entry side =
		CHANGED(file, it->role = HF_ROLE_SIDE_FILE);
	const struct hf_entry allowed =
		CHANGED(file, it->role = HF_ROLE_ALLOWED);

	check("gone", &file, &absent, HF_CHANGE_MISSING,
	      "missing, was a file of 94 bytes");
	check("in no tree", &link_to_a, NULL, HF_CHANGE_MISSING,
	      "missing, was a link to 'a'");
	check("new", NULL, &file, HF_CHANGE_ADDED, "added, a file of 94 bytes");
	check("was absent", &absent, &directory, HF_CHANGE_ADDED,
	      "added, a directory");
	check("side file", NULL, &side, HF_CHANGE_ADDED,
	      "added, a file of 94 bytes");
	check("allowed", NULL, &allowed, HF_CHANGE_ADDED,
	      "added, a file of 94 bytes");
}

/* What stood there may be rewritten, removed or replaced; a new one may not. */
Test(compare, of_side_caches)
{
	const struct hf_entry cache =
		CHANGED(file, it->role = HF_ROLE_SIDE_CACHE);
	const struct hf_entry other = CHANGED(cache, it->stat.size = 1;
					      it->stat.mtime_ns = 6);

	check("other bytes", &cache, &other, 0, "nothing differs");
	check("gone", &cache, &absent, 0, "nothing differs");
	check("in no tree", &cache, NULL, 0, "nothing differs");
	check("other kind", &cache, &directory, 0, "nothing differs");
	check("new", NULL, &cache, HF_CHANGE_ADDED,
	      "added, a file of 94 bytes");
}

Test(compare, of_ancestors)
{
	const struct hf_entry much =
		CHANGED(ancestor, it->stat.mode = 0; it->stat.uid = 9;
			it->xattrs = "user.a=\n");

	check("all of it", &ancestor, &much, 0, "nothing differs");
	check("new", NULL, &ancestor, 0, "nothing differs");
	check("gone", &ancestor, NULL, HF_CHANGE_MISSING,
	      "missing, was a directory");
	check("link", &ancestor, &link_to_a, HF_CHANGE_KIND,
	      "directory -> link to 'a'");
}

Test(compare, long_link_texts_are_cut)
{
	char text[400];
	struct hf_entry other = link_to_a;
	cleanup_buffer struct hf_buffer words = HF_BUFFER_INIT;
	const struct hf_delta delta = {
		.before = &link_to_a, .after = &other,
		.change = HF_CHANGE_CONTENT,
	};

	memset(text, 'y', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	other.link = text;
	hf_delta_describe(&delta, &words);
	cr_expect_lt(words.len, 160);
	cr_expect(strstr(words.data, "yyy...'"));
}

Test(compare, words_are_added_to_what_stands)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	const struct hf_entry open = CHANGED(file, it->stat.mode = 0644);
	const struct hf_delta delta = {
		.before = &file, .after = &open, .change = HF_CHANGE_METADATA,
	};

	hf_buffer_add_text(&text, "x: ");
	hf_delta_describe(&delta, &text);
	cr_expect_str_eq(text.data, "x: mode 0600 -> 0644");
}

Test(compare, names_of_changes)
{
	static const struct {
		unsigned change;
		const char *name;
	} rows[] = {
		{0, "none"},
		{HF_CHANGE_METADATA, "metadata"},
		{HF_CHANGE_CONTENT, "content"},
		{HF_CHANGE_CONTENT | HF_CHANGE_METADATA, "content"},
		{HF_CHANGE_ADDED, "added"},
		{HF_CHANGE_KIND, "kind"},
		{HF_CHANGE_KIND | HF_CHANGE_CONTENT, "kind"},
		{HF_CHANGE_MISSING, "missing"},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++)
		cr_expect_str_eq(hf_change_name(rows[i].change), rows[i].name);
}

static void add(struct hf_tree *tree, const char *path, uint64_t size,
		enum hf_entry_role role)
{
	struct hf_entry *const entry = hf_tree_add(tree, path);

	cr_assert(entry);
	entry->stat = (struct hf_stat){ .kind = HF_KIND_FILE, .size = size };
	entry->has_hash = true;
	entry->role = role;
}

Test(compare, trees_side_by_side)
{
	static const struct {
		const char *path;
		unsigned change;
		bool has_before;
		bool has_after;
	} rows[] = {
		{"a", HF_CHANGE_ADDED, false, true},
		{"b", HF_CHANGE_MISSING, true, false},
		{"d", HF_CHANGE_CONTENT, true, true},
		{"e/f", HF_CHANGE_ADDED, false, true},
		{"y", HF_CHANGE_MISSING, true, false},
	};
	cleanup_tree struct hf_tree before = HF_TREE_INIT;
	cleanup_tree struct hf_tree after = HF_TREE_INIT;
	cleanup_deltas struct hf_deltas deltas = HF_DELTAS_INIT;
	struct hf_error err;

	add(&before, "b", 1, HF_ROLE_PROTECTED);
	add(&before, "c", 1, HF_ROLE_PROTECTED);
	add(&before, "d", 1, HF_ROLE_PROTECTED);
	add(&before, "y", 1, HF_ROLE_ALLOWED);
	add(&after, "a", 1, HF_ROLE_PROTECTED);
	add(&after, "c", 1, HF_ROLE_PROTECTED);
	add(&after, "d", 2, HF_ROLE_PROTECTED);
	add(&after, "e", 1, HF_ROLE_ANCESTOR);
	add(&after, "e/f", 1, HF_ROLE_SIDE_FILE);
	cr_assert_eq(hf_compare(&before, &after, &deltas, &err), 0);
	cr_assert_eq(deltas.count, HF_COUNT(rows));
	for (size_t i = 0; i < deltas.count; i++) {
		const struct hf_delta *const delta = &deltas.items[i];

		cr_expect_eq(delta->change, rows[i].change, "%s", rows[i].path);
		cr_expect_eq(delta->before != NULL, rows[i].has_before);
		cr_expect_eq(delta->after != NULL, rows[i].has_after);
		cr_expect_str_eq(delta->before ? delta->before->path :
						 delta->after->path,
				 rows[i].path);
	}
}

Test(compare, many_deltas)
{
	cleanup_tree struct hf_tree before = HF_TREE_INIT;
	cleanup_tree struct hf_tree after = HF_TREE_INIT;
	cleanup_deltas struct hf_deltas deltas = HF_DELTAS_INIT;
	char path[] = "aaa";
	struct hf_error err;

	for (path[0] = 'a'; path[0] <= 'z'; path[0]++)
		for (path[1] = 'a'; path[1] <= 'z'; path[1]++)
			add(&before, path, 1, HF_ROLE_PROTECTED);
	cr_assert_eq(hf_compare(&before, &after, &deltas, &err), 0);
	cr_expect_eq(deltas.count, 26 * 26);
}
