/* SPDX-License-Identifier: MIT */
/* A list of violations that grows, found by path, all in one arena. */
#include "guard/violation.h"

#include <string.h>

#include "base/text.h"

#define SMALLEST_TABLE 64

/* FNV-1a, 64 bits. */
static uint64_t hash_of(const char *path)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *path; path++)
		hash = (hash ^ (unsigned char)*path) * UINT64_C(0x100000001b3);
	return hash;
}

/* Where the path stands in the table, or would. */
static struct hf_violation **slot_of(struct hf_violation **slots, size_t size,
				     const char *path)
{
	size_t at = (size_t)hash_of(path) & (size - 1);

	while (slots[at] && strcmp(slots[at]->path, path) != 0)
		at = (at + 1) & (size - 1);
	return &slots[at];
}

static struct hf_violation *first_of(const struct hf_violation_table *table,
				     const char *path)
{
	return table->slots ? *slot_of(table->slots, table->size, path) : NULL;
}

/* Keep the table at most half full. */
static int grow_table(struct hf_violation_table *table)
{
	const size_t size = table->size ? 2 * table->size : SMALLEST_TABLE;
	struct hf_violation **slots;

	if (2 * (table->path_count + 1) <= table->size)
		return 0;
	slots = calloc(size, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < table->size; i++)
		if (table->slots[i])
			*slot_of(slots, size, table->slots[i]->path) =
				table->slots[i];
	free(table->slots);
	table->slots = slots;
	table->size = size;
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
		   struct hf_violation_table *table,
		   struct hf_violation *violation)
{
	struct hf_violation **const slot =
		slot_of(table->slots, table->size, violation->path);

	if (*slot) {
		violation->next = (*slot)->next;
		(*slot)->next = violation;
	} else {
		*slot = violation;
		table->path_count++;
	}
	violations->items[violations->count++] = violation;
}

static const char *copy_text(struct hf_violations *violations, const char *text)
{
	return text ? hf_arena_copy(&violations->arena, text, strlen(text))
		    : NULL;
}

/* A copy, in no table yet. */
static struct hf_violation *make(struct hf_violations *violations,
				 const struct hf_attempt *attempt)
{
	struct hf_arena *const arena = &violations->arena;
	struct hf_violation *const violation =
		hf_arena_alloc(arena, sizeof(*violation));

	if (!violation)
		return NULL;
	*violation = (struct hf_violation){
		.path = copy_text(violations, attempt->path),
		.rule = copy_text(violations, attempt->rule),
		.operation = copy_text(violations, attempt->operation),
		.detail = copy_text(violations, attempt->detail),
		.culprit = attempt->culprit,
		.test = copy_text(violations, attempt->test),
		.is_test_exact = attempt->is_test_exact,
		.time_ns = attempt->time_ns,
	};
	if (!violation->path || !violation->rule || !violation->operation ||
	    !violation->detail || (attempt->test && !violation->test) ||
	    (attempt->before &&
	     hf_violations_copy_entry(violations, &violation->before,
				      attempt->before) < 0))
		return NULL;
	return violation;
}

static struct hf_violation *add(struct hf_violations *violations,
				struct hf_violation_table *table,
				const struct hf_attempt *attempt)
{
	struct hf_violation *violation;

	if (grow_items(violations) < 0 || grow_table(table) < 0)
		return NULL;
	violation = make(violations, attempt);
	if (violation)
		insert(violations, table, violation);
	return violation;
}

static struct hf_violation *
add_landed(struct hf_violations *violations, const char *path, const char *rule,
	   const char *operation, const struct hf_entry *before, int64_t time_ns)
{
	struct hf_violation *const violation =
		add(violations, &violations->landed,
		    &(struct hf_attempt){
			    .path = path,
			    .rule = rule,
			    .operation = operation,
			    .detail = "",
			    .before = before,
			    .time_ns = time_ns,
		    });

	if (violation)
		violation->has_landed = true;
	return violation;
}

struct hf_violation *hf_violations_note(struct hf_violations *violations,
					const char *path, const char *rule,
					const char *operation,
					const struct hf_entry *before,
					int64_t time_ns)
{
	struct hf_violation *violation = first_of(&violations->landed, path);

	for (; violation; violation = violation->next)
		if (!violation->is_outside &&
		    strcmp(violation->operation, operation) == 0)
			return violation;
	return add_landed(violations, path, rule, operation, before, time_ns);
}

struct hf_violation *
hf_violations_note_outside(struct hf_violations *violations, const char *path,
			   const char *rule, const char *operation,
			   const struct hf_entry *before, int64_t time_ns)
{
	struct hf_violation *violation = first_of(&violations->landed, path);

	for (; violation; violation = violation->next)
		if (violation->is_outside)
			return violation;
	violation = add_landed(violations, path, rule, operation, before,
			       time_ns);
	if (violation)
		violation->is_outside = true;
	return violation;
}

static int64_t pid_of(const struct hf_culprit *culprit)
{
	return culprit ? culprit->process.pid : 0;
}

struct hf_violation *hf_violations_note_attempt(
	struct hf_violations *violations, const struct hf_attempt *attempt)
{
	struct hf_violation *violation =
		first_of(&violations->refused, attempt->path);

	for (; violation; violation = violation->next)
		if (strcmp(violation->operation, attempt->operation) == 0 &&
		    pid_of(violation->culprit) == pid_of(attempt->culprit) &&
		    hf_is_same_text(violation->test, attempt->test))
			return violation;
	return add(violations, &violations->refused, attempt);
}

struct hf_violation *hf_violations_find(const struct hf_violations *violations,
					const char *path)
{
	return first_of(&violations->landed, path);
}

struct hf_violation *
hf_violations_find_attempt(const struct hf_violations *violations,
			   const char *path)
{
	return first_of(&violations->refused, path);
}

size_t hf_violations_paths(const struct hf_violations *violations)
{
	return violations->landed.path_count;
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
	hf_free_pointee(&violations->landed.slots);
	hf_free_pointee(&violations->refused.slots);
	hf_arena_done(&violations->arena);
	violations->count = 0;
	violations->capacity = 0;
	violations->landed = (struct hf_violation_table){.size = 0};
	violations->refused = (struct hf_violation_table){.size = 0};
}
