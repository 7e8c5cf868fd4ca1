/* SPDX-License-Identifier: MIT */
/*
 * What one swap keeps: the entry that is replaced and, when it is a directory,
 * all that lies in it.
 *
 * Begin, keep, (the names trade places,) leave, discard.  Without a leave the
 * end of the scope takes back what the store would share with the tree.
 */
#ifndef HF_CORE_SWAP_SET_H
#define HF_CORE_SWAP_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "core/kept.h"

struct hf_error;
struct hf_place;
struct hf_restore_context;
struct hf_step;

/* How deep a directory that stands in the way may be. */
#define HF_SWAP_DEPTH_MAX	128

struct hf_swap_set {
	const struct hf_restore_context *context;
	struct hf_place *place;
	struct hf_step *step;
	struct hf_kept *items;
	size_t count;
	size_t capacity;
	size_t sorted_count;	/* of the first items, by source */
	bool has_left;
	bool has_absent;	/* it is journalled that nothing was there */
	bool has_removed;	/* the discard has begun to empty a directory */
};

#define HF_SWAP_SET_INIT	{ .items = NULL }
#define cleanup_swap_set	CLEANUP(hf_swap_set_done)

void hf_swap_set_begin(struct hf_swap_set *set,
		       const struct hf_restore_context *context,
		       struct hf_place *place, struct hf_step *step);
/*
 * Keep and journal what stands at the place.  HF_ERR_CHANGED: it changed
 * meanwhile, try again.  Nothing there is journalled as such.
 */
MUST_CHECK int hf_swap_set_keep(struct hf_swap_set *set, bool is_leaving,
				struct hf_error *err);
/* Of what was kept; absent when there was nothing. */
enum hf_kind hf_swap_set_kind(const struct hf_swap_set *set);
/* What was kept is in the tree no more, or (false) again. */
void hf_swap_set_leave(struct hf_swap_set *set, bool has_left);
/*
 * What came out stands at place->tmp.  Keep what changed since, and empty it if
 * it is a directory: nothing is lost when hf_place_close() removes the name.  On
 * failure it must stay: some of it may be nowhere else.
 */
MUST_CHECK int hf_swap_set_discard(struct hf_swap_set *set,
				   struct hf_error *err);
void hf_swap_set_done(struct hf_swap_set *set);

#endif /* HF_CORE_SWAP_SET_H */
