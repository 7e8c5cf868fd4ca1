/* SPDX-License-Identifier: MIT */
/*
 * Leases by number; found by tag, by descriptor and by file.
 *
 * By file, since one of two names of a file cannot be let go without the other:
 * an opener breaks every lease that the file has.
 */
#include <string.h>

#include "platform/linux/lease_internal.h"

#define FIRST_CAPACITY 64

static size_t bucket_of(const struct hf_leases *leases,
			const struct hf_lease_file *file)
{
	const uint64_t mixed =
		(file->ino ^ (file->dev << 32)) * UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)(mixed >> 32) & (leases->bucket_count - 1);
}

/* An array of numbers that holds index; new ones are NO_INDEX. */
static int reserve(size_t **numbers, size_t *size, size_t index)
{
	size_t *grown;
	size_t want = *size ? *size : FIRST_CAPACITY;

	if (index < *size)
		return 0;
	if (index >= SIZE_MAX / 2)
		return -EOVERFLOW;
	while (want <= index)
		want *= 2;
	grown = reallocarray(*numbers, want, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	for (size_t i = *size; i < want; i++)
		grown[i] = HF_LEASE_NO_INDEX;
	*numbers = grown;
	*size = want;
	return 0;
}

static bool is_linked(const struct hf_lease *lease)
{
	return lease->fd >= 0;
}

static void enter(struct hf_leases *leases, size_t index)
{
	struct hf_lease *const lease = &leases->items[index];
	size_t *const head = &leases->buckets[bucket_of(leases, &lease->file)];

	lease->next = *head;
	*head = index;
}

static int grow(struct hf_leases *leases)
{
	const size_t capacity =
		leases->capacity ? 2 * leases->capacity : FIRST_CAPACITY;
	struct hf_lease *items;
	size_t *const buckets = reallocarray(leases->buckets, capacity,
					     sizeof(*leases->buckets));

	if (!buckets)
		return -ENOMEM;
	leases->buckets = buckets;
	items = reallocarray(leases->items, capacity, sizeof(*items));
	if (!items)
		return -ENOMEM;
	leases->items = items;
	leases->capacity = capacity;

	leases->bucket_count = capacity;
	for (size_t i = 0; i < capacity; i++)
		buckets[i] = HF_LEASE_NO_INDEX;
	for (size_t i = 0; i < leases->count; i++)
		if (is_linked(&leases->items[i]))
			enter(leases, i);
	return 0;
}

int hf_lease_table_reserve(struct hf_leases *leases, size_t tag)
{
	if (leases->count == leases->capacity) {
		const int rc = grow(leases);

		if (rc < 0)
			return rc;
	}
	return reserve(&leases->by_tag, &leases->by_tag_size, tag);
}

int hf_lease_table_reserve_fd(struct hf_leases *leases, int fd)
{
	return reserve(&leases->by_fd, &leases->by_fd_size, (size_t)fd);
}

struct hf_lease *hf_lease_of_tag(const struct hf_leases *leases, size_t tag)
{
	if (tag >= leases->by_tag_size ||
	    leases->by_tag[tag] == HF_LEASE_NO_INDEX)
		return NULL;
	return &leases->items[leases->by_tag[tag]];
}

struct hf_lease *hf_lease_of_fd(const struct hf_leases *leases, int fd)
{
	if (fd < 0 || (size_t)fd >= leases->by_fd_size ||
	    leases->by_fd[fd] == HF_LEASE_NO_INDEX)
		return NULL;
	return &leases->items[leases->by_fd[fd]];
}

void hf_lease_link(struct hf_leases *leases, struct hf_lease *lease)
{
	const size_t index = (size_t)(lease - leases->items);

	leases->by_fd[lease->fd] = index;
	enter(leases, index);
}

void hf_lease_unlink(struct hf_leases *leases, struct hf_lease *lease)
{
	const size_t index = (size_t)(lease - leases->items);
	size_t *at = &leases->buckets[bucket_of(leases, &lease->file)];

	if (!is_linked(lease))
		return;
	leases->by_fd[lease->fd] = HF_LEASE_NO_INDEX;
	while (*at != index)
		at = &leases->items[*at].next;
	*at = lease->next;
}

/* The first (from == NO_INDEX) or next lease of the file; NO_INDEX: none. */
static size_t next_of(const struct hf_leases *leases,
		      const struct hf_lease_file *file, size_t from)
{
	size_t at = from == HF_LEASE_NO_INDEX
			    ? leases->buckets[bucket_of(leases, file)]
			    : leases->items[from].next;

	while (at != HF_LEASE_NO_INDEX &&
	       !hf_lease_is_same_file(&leases->items[at].file, file))
		at = leases->items[at].next;
	return at;
}

void hf_lease_each_of_file(struct hf_leases *leases,
			   const struct hf_lease *lease,
			   hf_lease_function *function)
{
	size_t i = HF_LEASE_NO_INDEX;

	while ((i = next_of(leases, &lease->file, i)) != HF_LEASE_NO_INDEX)
		function(&leases->items[i]);
}
