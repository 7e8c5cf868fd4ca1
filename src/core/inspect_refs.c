/* SPDX-License-Identifier: MIT */
/* Gather references to contents; equal ones are dropped as they become many. */
#include "core/inspect_refs.h"

#include <string.h>

#include "base/fail.h"

#define FIRST_CAPACITY 1024

void hf_refs_done(struct hf_refs *refs)
{
	hf_free_pointee(&refs->items);
	refs->count = 0;
	refs->capacity = 0;
}

bool hf_refs_wants(const struct hf_entry *entry)
{
	return entry->stat.kind == HF_KIND_FILE && entry->location.pack != 0;
}

static int compare(const void *left, const void *right)
{
	const struct hf_ref *const a = left;
	const struct hf_ref *const b = right;

	if (a->location.pack != b->location.pack)
		return a->location.pack < b->location.pack ? -1 : 1;
	if (a->location.offset != b->location.offset)
		return a->location.offset < b->location.offset ? -1 : 1;
	if (a->size != b->size)
		return a->size < b->size ? -1 : 1;
	return memcmp(a->hash.bytes, b->hash.bytes, sizeof(a->hash.bytes));
}

void hf_refs_sort(struct hf_refs *refs)
{
	size_t kept = 0;

	if (refs->count > 1)
		qsort(refs->items, refs->count, sizeof(*refs->items), compare);
	for (size_t i = 0; i < refs->count; i++) {
		if (kept > 0 &&
		    compare(&refs->items[kept - 1], &refs->items[i]) == 0)
			continue;
		refs->items[kept++] = refs->items[i];
	}
	refs->count = kept;
}

/* Snapshots mostly refer to the same: before it grows, what is double goes. */
static int make_room(struct hf_refs *refs, struct hf_error *err)
{
	struct hf_ref *items;
	size_t wanted;
	size_t size;

	if (refs->count < refs->capacity)
		return 0;
	hf_refs_sort(refs);
	if (refs->count < refs->capacity / 2)
		return 0;
	wanted = refs->capacity > 0 ? 2 * refs->capacity : FIRST_CAPACITY;
	if (__builtin_mul_overflow(wanted, sizeof(*items), &size))
		return hf_fail_memory(err);
	items = realloc(refs->items, size);
	if (!items)
		return hf_fail_memory(err);
	refs->items = items;
	refs->capacity = wanted;
	return 0;
}

static struct hf_ref ref_of(const struct hf_entry *entry)
{
	return (struct hf_ref){
		.location = entry->location,
		.size = entry->stat.size,
		.hash = entry->hash,
	};
}

int hf_refs_add_tree(struct hf_refs *refs, const struct hf_tree *tree,
		     struct hf_error *err)
{
	for (size_t i = 0; i < tree->count; i++) {
		int rc;

		if (!hf_refs_wants(&tree->entries[i]))
			continue;
		rc = make_room(refs, err);
		if (rc < 0)
			return rc;
		refs->items[refs->count++] = ref_of(&tree->entries[i]);
	}
	return 0;
}

/* Where the first one that is not less would be. */
static size_t find_place(const struct hf_refs *refs, const struct hf_ref *ref)
{
	size_t low = 0;
	size_t high = refs->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (compare(&refs->items[middle], ref) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct hf_ref *hf_refs_of_pack(const struct hf_refs *refs, uint32_t pack,
			       size_t *ret_count)
{
	const struct hf_ref first = {.location = {.pack = pack}};
	const size_t start = find_place(refs, &first);
	size_t count = 0;

	while (start + count < refs->count &&
	       refs->items[start + count].location.pack == pack)
		count++;
	*ret_count = count;
	return refs->items ? refs->items + start : NULL;
}

const struct hf_ref *hf_refs_find(const struct hf_refs *refs,
				  const struct hf_entry *entry)
{
	const struct hf_ref ref = ref_of(entry);
	const size_t at = find_place(refs, &ref);

	return at < refs->count && compare(&refs->items[at], &ref) == 0
		       ? &refs->items[at]
		       : NULL;
}
