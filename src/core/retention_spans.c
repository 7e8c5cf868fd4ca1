/* SPDX-License-Identifier: MIT */
/* Put together from the trees of snapshots what each path was, and how long. */
#include "core/retention_spans.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/path.h"

void hf_spans_done(struct hf_spans *spans)
{
	hf_free_pointee(&spans->items);
	hf_free_pointee(&spans->known);
	hf_free_pointee(&spans->damage);
	hf_arena_done(&spans->arena);
}

/* items, with room for one more; NULL when out of memory, and nothing happened.
 */
static void *grow(void *items, size_t count, size_t *capacity, size_t size)
{
	const size_t wanted = 2 * *capacity + 64;
	void *larger;
	size_t bytes;

	if (count < *capacity)
		return items;
	if (__builtin_mul_overflow(wanted, size, &bytes))
		return NULL;
	larger = realloc(items, bytes);
	if (larger)
		*capacity = wanted;
	return larger;
}

/* -- contents ----------------------------------------------------------------
 */

static struct hf_hash content_key(const struct hf_entry *entry)
{
	struct {
		uint64_t kind;
		uint64_t size;
		struct hf_hash content;
	} key;

	memset(&key, 0, sizeof(key));
	key.kind = (uint64_t)entry->stat.kind;
	key.size = entry->stat.size;
	if (entry->has_hash)
		key.content = entry->hash;
	else if (entry->link)
		key.content = hf_hash_of(entry->link, strlen(entry->link));
	return hf_hash_of(&key, sizeof(key));
}

static struct hf_hash state_key(const struct hf_entry *entry)
{
	struct {
		struct hf_hash content;
		struct hf_hash xattrs;
		uint32_t mode;
		uint32_t uid;
		uint32_t gid;
		uint32_t role;
	} key;

	memset(&key, 0, sizeof(key));
	key.content = content_key(entry);
	key.xattrs = hf_hash_of(entry->xattrs, strlen(entry->xattrs));
	key.mode = entry->stat.mode;
	key.uid = entry->stat.uid;
	key.gid = entry->stat.gid;
	return hf_hash_of(&key, sizeof(key));
}

static struct hf_hash damage_key(const struct hf_entry *entry)
{
	const struct hf_hash pair[2] = {
		hf_hash_of(entry->path, strlen(entry->path)),
		content_key(entry),
	};

	return hf_hash_of(pair, sizeof(pair));
}

int hf_spans_add_damage(struct hf_spans *spans, const struct hf_entry *entry,
			uint64_t snapshot, struct hf_error *err)
{
	struct hf_spans_damage *const damage =
		grow(spans->damage, spans->damage_count,
		     &spans->damage_capacity, sizeof(*damage));

	if (!damage)
		return hf_fail_memory(err);
	spans->damage = damage;
	damage[spans->damage_count++] = (struct hf_spans_damage){
		.key = damage_key(entry),
		.snapshot = snapshot,
	};
	return 0;
}

static int compare_damage(const void *a, const void *b)
{
	return memcmp(&((const struct hf_spans_damage *)a)->key,
		      &((const struct hf_spans_damage *)b)->key,
		      sizeof(struct hf_hash));
}

/* Did a run find this before the snapshot that is read had it? */
static bool is_damage(const struct hf_spans *spans,
		      const struct hf_entry *entry)
{
	const struct hf_spans_damage wanted = {.key = damage_key(entry)};
	const struct hf_spans_damage *const end =
		spans->damage + spans->damage_count;
	const struct hf_spans_damage *at =
		spans->damage_count == 0
			? NULL
			: bsearch(&wanted, spans->damage, spans->damage_count,
				  sizeof(wanted), compare_damage);

	if (!at)
		return false;
	while (at > spans->damage && compare_damage(at - 1, &wanted) == 0)
		at--;
	for (; at < end && compare_damage(at, &wanted) == 0; at++)
		if (at->snapshot < spans->number)
			return true;
	return false;
}

/* -- spans -------------------------------------------------------------------
 */

static int add_span(struct hf_spans *spans, const struct hf_entry *entry,
		    size_t path, size_t index, struct hf_error *err)
{
	const enum hf_kind kind = entry->stat.kind;
	struct hf_retention_span *const items = grow(
		spans->items, spans->count, &spans->capacity, sizeof(*items));

	if (!items)
		return hf_fail_memory(err);
	spans->items = items;
	items[spans->count++] = (struct hf_retention_span){
		.path = (uint32_t)path,
		.is_content = kind == HF_KIND_FILE || kind == HF_KIND_LINK,
		.is_damage = is_damage(spans, entry),
		.size = entry->stat.size,
		.content = content_key(entry),
		.state = state_key(entry),
		.last = index,
	};
	return 0;
}

static int add_path(struct hf_spans *spans, const struct hf_entry *entry,
		    size_t index, struct hf_error *err)
{
	struct hf_spans_known *known;
	const char *path;
	int rc;

	if (spans->path_count >= UINT32_MAX)
		return hf_fail(err, HF_ERR_LIMIT,
			       "the snapshots name too many paths");
	known = grow(spans->known, spans->path_count, &spans->known_capacity,
		     sizeof(*known));
	if (!known)
		return hf_fail_memory(err);
	spans->known = known;
	path = hf_arena_copy(&spans->arena, entry->path, strlen(entry->path));
	if (!path)
		return hf_fail_memory(err);
	known[spans->path_count] = (struct hf_spans_known){
		.path = path,
		.span = spans->count,
	};
	rc = add_span(spans, entry, spans->path_count, index, err);
	if (rc == 0)
		spans->path_count++;
	return rc;
}

static int compare_known(const void *a, const void *b)
{
	return hf_path_compare(((const struct hf_spans_known *)a)->path,
			       ((const struct hf_spans_known *)b)->path);
}

/* The path is still what it was, or is something else from here on. */
static int follow(struct hf_spans *spans, struct hf_spans_known *known,
		  const struct hf_entry *entry, size_t index,
		  struct hf_error *err)
{
	struct hf_retention_span *const span = &spans->items[known->span];
	const struct hf_hash state = state_key(entry);

	if (span->last + 1 == index && hf_hash_equal(&span->state, &state)) {
		span->last = index;
		return 0;
	}
	known->span = spans->count;
	return add_span(spans, entry, span->path, index, err);
}

int hf_spans_add_tree(struct hf_spans *spans, const struct hf_tree *tree,
		      uint64_t number, struct hf_error *err)
{
	const size_t index = spans->tree_count++;
	size_t k = 0;
	int rc;

	if (index == 0 && spans->damage_count > 0)
		qsort(spans->damage, spans->damage_count,
		      sizeof(*spans->damage), compare_damage);
	spans->number = number;
	for (size_t i = 0; i < tree->count; i++) {
		const struct hf_entry *const entry = &tree->entries[i];
		int order = 1;

		if (entry->role == HF_ROLE_ANCESTOR ||
		    entry->role == HF_ROLE_SIDE_CACHE)
			continue;
		for (; k < spans->known_count; k++) {
			order = hf_path_compare(spans->known[k].path,
						entry->path);
			if (order >= 0)
				break;
		}
		rc = k < spans->known_count && order == 0
			     ? follow(spans, &spans->known[k], entry, index,
				      err)
			     : add_path(spans, entry, index, err);
		if (rc < 0)
			return rc;
	}
	if (spans->path_count > spans->known_count)
		qsort(spans->known, spans->path_count, sizeof(*spans->known),
		      compare_known);
	spans->known_count = spans->path_count;
	return 0;
}
