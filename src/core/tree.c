/* SPDX-License-Identifier: MIT */
/* A sorted array of entries whose strings lie in one arena. */
#include "core/tree.h"

#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"

#define FIRST_CAPACITY	64

static int make_room(struct hf_tree *tree)
{
	size_t capacity = FIRST_CAPACITY;
	struct hf_entry *entries;
	size_t size;

	if (tree->count < tree->capacity)
		return 0;
	/* By half: doubling would waste 10 MB at 100,000 entries. */
	if (tree->capacity > 0 &&
	    __builtin_add_overflow(tree->capacity, tree->capacity / 2,
				   &capacity))
		return -ENOMEM;
	if (__builtin_mul_overflow(capacity, sizeof(*entries), &size))
		return -ENOMEM;
	entries = realloc(tree->entries, size);
	if (!entries)
		return -ENOMEM;
	tree->entries = entries;
	tree->capacity = capacity;
	return 0;
}

struct hf_entry *hf_tree_add(struct hf_tree *tree, const char *path)
{
	struct hf_entry *entry;

	if (make_room(tree) < 0)
		return NULL;
	entry = &tree->entries[tree->count];
	*entry = (struct hf_entry){ .rule = "", .xattrs = "" };
	entry->path = hf_arena_copy(&tree->arena, path, strlen(path));
	if (!entry->path)
		return NULL;
	tree->count++;
	return entry;
}

/* A copy of text; none is made of "". */
static const char *copy_text(struct hf_arena *arena, const char *text)
{
	return text[0] == '\0' ? "" : hf_arena_copy(arena, text, strlen(text));
}

/* Thousands of neighbours share one rule: so does their memory. */
static const char *copy_rule(struct hf_tree *tree, const char *rule)
{
	const size_t count = tree->count;

	if (count > 1 && strcmp(tree->entries[count - 2].rule, rule) == 0)
		return tree->entries[count - 2].rule;
	return copy_text(&tree->arena, rule);
}

struct hf_entry *hf_tree_add_copy(struct hf_tree *tree,
				  const struct hf_entry *entry)
{
	/* entry may lie in this tree, which is about to move. */
	struct hf_entry copied = *entry;
	const bool has_link = copied.link != NULL;
	struct hf_entry *const copy = hf_tree_add(tree, copied.path);

	if (!copy)
		return NULL;
	copied.path = copy->path;
	copied.rule = copy_rule(tree, copied.rule);
	copied.xattrs = copy_text(&tree->arena, copied.xattrs);
	if (copied.link)
		copied.link = hf_arena_copy(&tree->arena, copied.link,
					    strlen(copied.link));
	if (!copied.rule || !copied.xattrs || (has_link && !copied.link)) {
		tree->count--;
		return NULL;
	}
	*copy = copied;
	return copy;
}

int hf_tree_adopt(struct hf_tree *tree, struct hf_tree *from)
{
	const size_t count = tree->count;

	for (size_t i = 0; i < from->count; i++) {
		if (make_room(tree) < 0) {
			tree->count = count;
			return -ENOMEM;
		}
		tree->entries[tree->count++] = from->entries[i];
	}
	hf_arena_adopt(&tree->arena, &from->arena);
	if (!tree->unread)
		tree->unread = from->unread;
	hf_tree_done(from);
	return 0;
}

static int compare_entries(const void *a, const void *b)
{
	const struct hf_entry *const left = a;
	const struct hf_entry *const right = b;

	return hf_path_compare(left->path, right->path);
}

typedef int compare_function(const void *a, const void *b);

/* How many entries stand in order from the first on, each path once. */
static size_t sorted_count(const struct hf_tree *tree)
{
	size_t count = tree->count > 0 ? 1 : 0;

	while (count < tree->count &&
	       compare_entries(&tree->entries[count - 1],
			       &tree->entries[count]) < 0)
		count++;
	return count;
}

/* Merge the sorted tail of count entries into the sorted ones before it. */
static void merge(struct hf_tree *tree, const struct hf_entry *tail,
		  size_t count, compare_function *compare)
{
	size_t left = tree->count - count;
	size_t end = tree->count;

	while (count > 0) {
		if (left > 0 &&
		    compare(&tree->entries[left - 1], &tail[count - 1]) > 0)
			tree->entries[--end] = tree->entries[--left];
		else
			tree->entries[--end] = tail[--count];
	}
}

/*
 * A walk adds in order, and a little is added behind: only that is sorted.  0:
 * there was nothing to do, and no path is there twice.
 */
static int sort(struct hf_tree *tree, compare_function *compare,
		struct hf_error *err)
{
	const size_t sorted = sorted_count(tree);
	const size_t count = tree->count - sorted;
	cleanup_free struct hf_entry *tail = NULL;

	if (count == 0)
		return 0;
	tail = calloc(count, sizeof(*tail));
	if (!tail)
		return hf_fail_memory(err);
	memcpy(tail, tree->entries + sorted, count * sizeof(*tail));
	qsort(tail, count, sizeof(*tail), compare);
	merge(tree, tail, count, compare);
	return 1;
}

int hf_tree_sort(struct hf_tree *tree, struct hf_error *err)
{
	const int rc = sort(tree, compare_entries, err);

	if (rc <= 0)
		return rc;
	for (size_t i = 1; i < tree->count; i++) {
		const char *const path = tree->entries[i].path;

		if (hf_path_compare(tree->entries[i - 1].path, path) == 0)
			return hf_fail(err, HF_ERR_CORRUPT,
				       "cannot sort the entries: '%s' is there "
				       "twice",
				       HF_QUOTE(path));
	}
	return 0;
}

/* An ancestor gives way to everything else. */
static int rank(enum hf_entry_role role)
{
	return role == HF_ROLE_ANCESTOR ? 1 : 0;
}

static int compare_with_role(const void *a, const void *b)
{
	const struct hf_entry *const left = a;
	const struct hf_entry *const right = b;
	const int order = compare_entries(a, b);

	return order != 0 ? order : rank(left->role) - rank(right->role);
}

int hf_tree_sort_merge(struct hf_tree *tree, struct hf_error *err)
{
	const int rc = sort(tree, compare_with_role, err);
	size_t kept = 0;

	if (rc <= 0)
		return rc;
	for (size_t i = 0; i < tree->count; i++) {
		if (kept > 0 && compare_entries(&tree->entries[kept - 1],
						&tree->entries[i]) == 0)
			continue;
		tree->entries[kept++] = tree->entries[i];
	}
	tree->count = kept;
	return 0;
}

void hf_tree_keep(struct hf_tree *tree, const bool *is_kept)
{
	size_t kept = 0;

	while (kept < tree->count && is_kept[kept])
		kept++;
	/* Mostly all are kept, and nothing moves. */
	for (size_t i = kept; i < tree->count; i++) {
		if (is_kept[i])
			tree->entries[kept++] = tree->entries[i];
	}
	tree->count = kept;
}

struct hf_entry *hf_tree_find(const struct hf_tree *tree, const char *path)
{
	size_t begin = 0;
	size_t end = tree->count;

	while (begin < end) {
		const size_t middle = begin + (end - begin) / 2;
		struct hf_entry *const entry = &tree->entries[middle];
		const int order = hf_path_compare(path, entry->path);

		if (order == 0)
			return entry;
		if (order < 0)
			end = middle;
		else
			begin = middle + 1;
	}
	return NULL;
}

size_t hf_tree_protected_count(const struct hf_tree *tree)
{
	size_t count = 0;
	size_t i;

	for (i = 0; i < tree->count; i++) {
		const struct hf_entry *const entry = &tree->entries[i];

		if (entry->role == HF_ROLE_PROTECTED &&
		    entry->stat.kind != HF_KIND_ABSENT)
			count++;
	}
	return count;
}

void hf_tree_done(struct hf_tree *tree)
{
	hf_free_pointee(&tree->entries);
	tree->count = 0;
	tree->capacity = 0;
	tree->unread = NULL;
	hf_arena_done(&tree->arena);
}
