/* SPDX-License-Identifier: MIT */
/*
 * Memory that is given back all at once: the names and entries of one tree.
 *
 * Pointers stay valid until hf_arena_done().  Not thread-safe.
 */
#ifndef HF_BASE_ARENA_H
#define HF_BASE_ARENA_H

#include <stddef.h>

#include "base/defs.h"

struct hf_arena_block;

struct hf_arena {
	struct hf_arena_block *blocks;
	size_t used;		/* bytes used of the newest block */
};

#define HF_ARENA_INIT	{ .blocks = NULL }
#define cleanup_arena	CLEANUP(hf_arena_done)

/* len bytes aligned for any object, not cleared; NULL when out of memory. */
MUST_CHECK void *hf_arena_alloc(struct hf_arena *arena, size_t len);

/* A NUL-terminated copy of len bytes; NULL when out of memory. */
MUST_CHECK char *hf_arena_copy(struct hf_arena *arena, const char *data,
			       size_t len);

/* Move all memory of from into arena, so that it lives as long. */
void hf_arena_adopt(struct hf_arena *arena, struct hf_arena *from);

void hf_arena_done(struct hf_arena *arena);

#endif /* HF_BASE_ARENA_H */
