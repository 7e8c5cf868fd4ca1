/* SPDX-License-Identifier: MIT */
/*
 * What is protected, as the gate's decisions need it: found by identity, and by
 * the last component of a path, so that most calls need no look at a directory.
 *
 *	cleanup_decide_set struct hf_decide_set set = HF_DECIDE_SET_INIT;
 *
 *	rc = hf_decide_set_fill(&set, tree, policy, argv, err);
 *	rc = hf_decide_set_add_store(&set, store_path, dev, ino, kind, name);
 *
 * Pure: everything is given.  Tree, policy and argv are borrowed.
 */
#ifndef HF_GUARD_DECIDE_SET_H
#define HF_GUARD_DECIDE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/policy.h"
#include "core/tree.h"

enum hf_known_kind {
	HF_KNOWN_ENTRY, /* of the tree */
	HF_KNOWN_COPY,	/* made instead of a second name of an entry */
	HF_KNOWN_ABOVE, /* a directory above the root or the store */
	HF_KNOWN_GONE,	/* was one of these; the number may be used again */
	HF_KNOWN_STORE	/* the store and what is in it */
};

/* A file, link or directory by its identity. */
struct hf_known {
	uint64_t dev;
	uint64_t ino; /* 0: a free place of the table */
	enum hf_known_kind kind;
	const struct hf_entry *entry; /* of an entry */
	/* Of a directory: relative to the root, "." for itself; else absolute.
	 */
	const char *path;
	bool is_directory;
};

struct hf_decide_set {
	const struct hf_tree *tree;
	const struct hf_policy *policy;
	const char *const *argv;
	const char *store_path;
	struct hf_known *known;
	size_t known_count;
	size_t known_size; /* a power of two, or 0 */
	const char **names;
	size_t name_count;
	size_t name_size;
	/* The last components with wildcards of the patterns. */
	const char **globs;
	size_t glob_count;
	/* Patterns name whole trees: any name in them is protected. */
	bool has_trees;
	/* An open for reading and writing counts as a change ("refuse"). */
	bool refuses_updates;
	/* Patterns reach into directories that are not there yet. */
	bool is_deep;
	struct hf_arena arena;
};

#define HF_DECIDE_SET_INIT { .tree = NULL }
#define cleanup_decide_set CLEANUP(hf_decide_set_done)

MUST_CHECK int hf_decide_set_fill(struct hf_decide_set *set,
				  const struct hf_tree *tree,
				  const struct hf_policy *policy,
				  const char *const *argv,
				  struct hf_error *err);
/* One more directory above the root or the store; its path is absolute. */
MUST_CHECK int hf_decide_set_add_above(struct hf_decide_set *set,
				       const char *path, uint64_t dev,
				       uint64_t ino);
/* The store itself (name "") or something in it. */
MUST_CHECK int hf_decide_set_add_store(struct hf_decide_set *set,
				       const char *name, uint64_t dev,
				       uint64_t ino, bool is_directory);
/* An entry is this file now, put back by us or replaced by a person, and no other
 * any more. */
MUST_CHECK int hf_decide_set_renew(struct hf_decide_set *set,
				   const struct hf_entry *entry, uint64_t dev,
				   uint64_t ino);
/* A copy that stands for the entry; whoever adds it keeps its number in use. */
MUST_CHECK int hf_decide_set_add_copy(struct hf_decide_set *set,
				      const struct hf_entry *entry,
				      uint64_t dev, uint64_t ino);

/* NULL when it is none of ours. */
const struct hf_known *hf_decide_set_find(const struct hf_decide_set *set,
					  uint64_t dev, uint64_t ino);
/* Does anything protected have this name, in whatever directory? */
bool hf_decide_set_has_name(const struct hf_decide_set *set, const char *name);
/* Could the policy want a new entry of this name? */
bool hf_decide_set_may_name(const struct hf_decide_set *set, const char *name);
void hf_decide_set_done(struct hf_decide_set *set);

#endif /* HF_GUARD_DECIDE_SET_H */
