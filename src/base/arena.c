/* SPDX-License-Identifier: MIT */
/* Memory in large blocks, newest first. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <string.h>

#define BLOCK_SIZE	((size_t)64 * 1024)
#define ALIGNMENT	alignof(max_align_t)

struct hf_arena_block {
	struct hf_arena_block *next;
	size_t size;
	alignas(max_align_t) char data[];
};

static struct hf_arena_block *new_block(size_t size)
{
	struct hf_arena_block *block;
	size_t total;

	/* No object is larger than PTRDIFF_MAX: pointers into it could not be
	 * subtracted. */
	if (__builtin_add_overflow(sizeof(*block), size, &total) ||
	    total > PTRDIFF_MAX)
		return NULL;
	block = malloc(total);
	if (!block)
		return NULL;
	block->next = NULL;
	block->size = size;
	return block;
}

void *hf_arena_alloc(struct hf_arena *arena, size_t len)
{
	struct hf_arena_block *block = arena->blocks;
	size_t rounded;
	void *data;

	if (__builtin_add_overflow(len, ALIGNMENT - 1, &rounded))
		return NULL;
	rounded &= ~(ALIGNMENT - 1);

	if (!block || block->size - arena->used < rounded) {
		block = new_block(rounded > BLOCK_SIZE ? rounded : BLOCK_SIZE);
		if (!block)
			return NULL;
		block->next = arena->blocks;
		arena->blocks = block;
		arena->used = 0;
	}
	data = block->data + arena->used;
	arena->used += rounded;
	return data;
}

char *hf_arena_copy(struct hf_arena *arena, const char *data, size_t len)
{
	char *copy;

	if (len == SIZE_MAX)
		return NULL;
	copy = hf_arena_alloc(arena, len + 1);
	if (!copy)
		return NULL;
	if (len > 0)
		memcpy(copy, data, len);
	copy[len] = '\0';
	return copy;
}

void hf_arena_adopt(struct hf_arena *arena, struct hf_arena *from)
{
	struct hf_arena_block **tail = &from->blocks;

	if (!from->blocks)
		return;
	while (*tail)
		tail = &(*tail)->next;
	*tail = arena->blocks;
	arena->blocks = take_ptr(&from->blocks);
	arena->used = from->used;
	from->used = 0;
}

void hf_arena_done(struct hf_arena *arena)
{
	const int saved = errno;
	struct hf_arena_block *block = take_ptr(&arena->blocks);

	while (block) {
		struct hf_arena_block *const next = block->next;

		free(block);
		block = next;
	}
	arena->used = 0;
	errno = saved;
}
