/* SPDX-License-Identifier: MIT */
/*
 * What some paths held, snapshot by snapshot, from new to old.
 *
 *	cleanup_holdings struct hf_holdings holdings = HF_HOLDINGS_INIT;
 *
 *	rc = hf_holdings_begin(&holdings, store, paths, err);
 *	while ((rc = hf_holdings_next(&holdings, &holding, err)) > 0)
 *		...
 *
 * Hundreds of manifests are asked without being proven; one that says something
 * new is read whole before it counts.  One that is damaged is passed over, with
 *a line in notes.
 */
#ifndef HF_CORE_HOLDINGS_H
#define HF_CORE_HOLDINGS_H

#include "core/store.h"
#include "core/tree.h"

struct hf_buffer;
struct hf_error;

struct hf_holdings {
	const struct hf_store *store;
	const char *const *paths; /* NULL-terminated, as entries name them */
	int64_t until_ns;	  /* snapshots after that are passed over */
	struct hf_buffer *notes;  /* may be NULL */
	struct hf_names names;
	size_t left;	      /* of names */
	struct hf_hash *seen; /* new to old */
	size_t seen_count;
	uint64_t *hints; /* where each path stood in the one before */
	struct hf_tree tree;
};

#define HF_HOLDINGS_INIT                                       \
	{                                                      \
		.until_ns = INT64_MAX, .names = HF_NAMES_INIT, \
		.tree = HF_TREE_INIT                           \
	}
#define cleanup_holdings CLEANUP(hf_holdings_done)

/* One snapshot. */
struct hf_holding {
	struct hf_name snapshot;
	/*
	 * The entries of the paths and of what lies beneath, proven where it is
	 * new; valid until the next one.
	 */
	const struct hf_tree *tree;
	/* There is a file or link among them.  Else the rest says nothing. */
	bool has_content;
	bool is_new;  /* and no newer snapshot held the same */
	size_t index; /* of what it held: 0 is what was seen first */
};

/* until_ns and notes are set by then, if they are wanted. */
MUST_CHECK int hf_holdings_begin(struct hf_holdings *holdings,
				 const struct hf_store *store,
				 const char *const *paths,
				 struct hf_error *err);
/* 1 with the next older one, 0 when there is none. */
MUST_CHECK int hf_holdings_next(struct hf_holdings *holdings,
				struct hf_holding *ret_holding,
				struct hf_error *err);
void hf_holdings_done(struct hf_holdings *holdings);

#endif /* HF_CORE_HOLDINGS_H */
