/* SPDX-License-Identifier: MIT */
/*
 * Put something new where something old stands, or remove the old; never lose
 * a byte of it.
 *
 * What is there is kept and journalled first, entry by entry.  Then the names
 * trade places at once, what came out is compared with what was kept (whatever
 * changed in between is kept as well), and only then it is removed.
 */
#ifndef HF_CORE_SWAP_H
#define HF_CORE_SWAP_H

#include "base/defs.h"

struct hf_entry;
struct hf_error;
struct hf_hash;
struct hf_place;
struct hf_restore_context;
struct hf_stat;
struct hf_step;

/*
 * Make what stands at place->tmp stand at place->name (place->tmp "": remove
 * what is there), durably.  step->kept gets the path of the kept copy.
 * HF_ERR_BUSY when the name cannot be moved: something is mounted there.
 */
MUST_CHECK int hf_swap(const struct hf_restore_context *context,
		       struct hf_place *place, struct hf_step *step,
		       struct hf_error *err);

/*
 * The first part alone, for a file that will be written in place: keep and
 * journal what stands at place->name, sharing nothing with it.  *ret_stat and
 * *ret_hash are what it was when it was kept.
 */
MUST_CHECK int hf_swap_keep(const struct hf_restore_context *context,
			    struct hf_place *place, struct hf_step *step,
			    struct hf_stat *ret_stat, struct hf_hash *ret_hash,
			    struct hf_error *err);

/*
 * Nothing was replaced after all: neither the journal nor the step knows of a kept
 * copy of path any more.
 */
void hf_swap_take_back(const struct hf_restore_context *context,
		       struct hf_step *step, const char *path);

#endif /* HF_CORE_SWAP_H */
