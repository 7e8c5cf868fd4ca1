/* SPDX-License-Identifier: MIT */
/*
 * What each path was, and in which snapshots: from their trees, old to new.
 *
 * Only what changes from one tree to the next is remembered, so that many
 * snapshots of many files take little memory.  Private to core/retention*.c.
 */
#ifndef HF_CORE_RETENTION_SPANS_H
#define HF_CORE_RETENTION_SPANS_H

#include "base/arena.h"
#include "core/retention.h"
#include "core/tree.h"

struct hf_error;

/* A path that some tree had, and the newest span of it. */
struct hf_spans_known {
	const char *path;
	size_t span;
};

/* What a run put something else in place of. */
struct hf_spans_damage {
	struct hf_hash key; /* of path and content */
	uint64_t snapshot;  /* the one that it put back */
};

struct hf_spans {
	struct hf_retention_span *items;
	size_t count;
	size_t capacity;
	size_t tree_count;
	uint64_t number;	      /* of the snapshot that is read */
	struct hf_spans_known *known; /* by path up to known_count */
	size_t known_count;
	size_t known_capacity;
	size_t path_count;
	struct hf_spans_damage *damage; /* by key once a tree was added */
	size_t damage_count;
	size_t damage_capacity;
	struct hf_arena arena;
};

#define HF_SPANS_INIT         \
	{                     \
		.items = NULL \
	}
#define cleanup_spans CLEANUP(hf_spans_done)

/* A run found entry and put back what the snapshot with that number had; before
 * the first tree is added. */
MUST_CHECK int hf_spans_add_damage(struct hf_spans *spans,
				   const struct hf_entry *entry,
				   uint64_t snapshot, struct hf_error *err);
/* The tree of the snapshot with that number; it is sorted. */
MUST_CHECK int hf_spans_add_tree(struct hf_spans *spans,
				 const struct hf_tree *tree, uint64_t number,
				 struct hf_error *err);
void hf_spans_done(struct hf_spans *spans);

#endif /* HF_CORE_RETENTION_SPANS_H */
