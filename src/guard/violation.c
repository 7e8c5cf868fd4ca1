/* SPDX-License-Identifier: MIT */
/* A list of violations that grows, found by path, all in one arena. */
#include "guard/violation.h"

#include <string.h>

#define SMALLEST_TABLE	64

/* FNV-1a, 64 bits. */
static uint64_t hash_of(const char *path)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *path; path++)
		hash = (hash ^ (unsigned char)*path) * UINT64_C(0x100000001b3);
	return hash;
}

/* Where the path stands in the table, or would. */
static struct hf_violation **slot_of(const struct hf_violations *violations,
				     const char *path)
{
	const size_t mask = violations->table_size - 1;
	size_t at = (size_t)hash_of(path) & mask;

	while (violations->table[at] &&
	       strcmp(violations->table[at]->path, path) != 0)
		at = (at + 1) & mask;
	return &violations->table[at];
}

/* Keep the table at most half full. */
static int grow_table(struct hf_violations *violations)
{
	const size_t old_size = violations->table_size;
	struct hf_violation **const old = violations->table;
	struct hf_violation **table;
	const size_t size = old_size ? 2 * old_size : SMALLEST_TABLE;

	if (2 * (violations->path_count + 1) <= old_size)
		return 0;
	table = calloc(size, sizeof(*table));
	if (!table)
		return -ENOMEM;
	violations->table = table;
	violations->table_size = size;
	for (size_t i = 0; i < old_size; i++)
		if (old[i])
			*slot_of(violations, old[i]->path) = old[i];
	free(old);
	return 0;
}

static int grow_items(struct hf_violations *violations)
{
	const size_t capacity =
		violations->capacity ? 2 * violations->capacity : 16;
	struct hf_violation **items;

	if (violations->count < violations->capacity)
		return 0;
	items = reallocarray(violations->items, capacity, sizeof(*items));
	if (!items)
		return -ENOMEM;
	violations->items = items;
	violations->capacity = capacity;
	return 0;
}

static void insert(struct hf_violations *violations,
		   struct hf_violation *violation)
{
	struct hf_violation **const slot = slot_of(violations, violation->path);

	if (*slot) {
		violation->next = (*slot)->next;
		(*slot)->next = violation;
	} else {
		*slot = violation;
		violations->path_count++;
	}
	violations->items[violations->count++] = violation;
}

struct hf_violation *hf_violations_note(struct hf_violations *violations,
					const char *path, const char *rule,
					const char *operation,
					const struct hf_entry *before,
					int64_t time_ns)
{
	struct hf_arena *const arena = &violations->arena;
	struct hf_violation *violation = hf_violations_find(violations, path);

	for (; violation; violation = violation->next)
		if (strcmp(violation->operation, operation) == 0)
			return violation;

	if (grow_items(violations) < 0 || grow_table(violations) < 0)
		return NULL;
	violation = hf_arena_alloc(arena, sizeof(*violation));
	if (!violation)
		return NULL;
	*violation = (struct hf_violation){
		.path = hf_arena_copy(arena, path, strlen(path)),
		.rule = hf_arena_copy(arena, rule, strlen(rule)),
		.operation = hf_arena_copy(arena, operation, strlen(operation)),
		.detail = "",
		.time_ns = time_ns,
	};
	if (!violation->path || !violation->rule || !violation->operation ||
	    (before && hf_violations_copy_entry(violations, &violation->before,
						before) < 0))
		return NULL;
	insert(violations, violation);
	return violation;
}

struct hf_violation *hf_violations_find(const struct hf_violations *violations,
					const char *path)
{
	return violations->table ? *slot_of(violations, path) : NULL;
}

size_t hf_violations_paths(const struct hf_violations *violations)
{
	return violations->path_count;
}

static const char *copy_text(struct hf_violations *violations, const char *text)
{
	return text ? hf_arena_copy(&violations->arena, text, strlen(text)) :
		      NULL;
}

int hf_violations_copy_entry(struct hf_violations *violations,
			     struct hf_entry *to, const struct hf_entry *from)
{
	struct hf_entry copy = *from;

	copy.path = copy_text(violations, from->path);
	copy.rule = copy_text(violations, from->rule);
	copy.link = copy_text(violations, from->link);
	copy.xattrs = copy_text(violations, from->xattrs);
	if ((from->path && !copy.path) || (from->rule && !copy.rule) ||
	    (from->link && !copy.link) || (from->xattrs && !copy.xattrs))
		return -ENOMEM;
	*to = copy;
	return 0;
}

int hf_violations_set_candidates(struct hf_violations *violations,
				 struct hf_violation *violation,
				 const struct hf_processes *from)
{
	struct hf_process *candidates;

	if (from->count == 0)
		return 0;
	candidates = hf_arena_alloc(&violations->arena,
				    from->count * sizeof(*candidates));
	if (!candidates)
		return -ENOMEM;
	for (size_t i = 0; i < from->count; i++) {
		candidates[i] = from->items[i];
		if (!from->items[i].command_line)
			continue;
		candidates[i].command_line = hf_arena_copy(
			&violations->arena, from->items[i].command_line,
			from->items[i].command_line_len);
		if (!candidates[i].command_line)
			return -ENOMEM;
	}
	violation->candidates = candidates;
	violation->candidate_count = from->count;
	return 0;
}

void hf_violations_done(struct hf_violations *violations)
{
	hf_free_pointee(&violations->items);
	hf_free_pointee(&violations->table);
	hf_arena_done(&violations->arena);
	violations->count = 0;
	violations->capacity = 0;
	violations->table_size = 0;
	violations->path_count = 0;
}
