/* SPDX-License-Identifier: MIT */
/*
 * What of two sequences of texts (lines, words) differs: as few as possible are
 * taken out of the first and put into the second.
 *
 *	cleanup_edits struct hf_edits edits = HF_EDITS_INIT;
 *
 *	rc = hf_edits_find(a, a_count, b, b_count, HF_EDITS_EFFORT, &edits);
 *
 * What is neither removed nor added is the same in both, in the same order.
 * Time and memory are bounded: with the effort used up the parts that are not
 * understood yet are removed and added as a whole (is_rough).
 */
#ifndef HF_BASE_EDITS_H
#define HF_BASE_EDITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/defs.h"

/* A few tenths of a second. */
#define HF_EDITS_EFFORT ((uint64_t)50 * 1000 * 1000)
/* Together; more are -EFBIG. */
#define HF_EDITS_MAX	((size_t)64 * 1000 * 1000)

struct hf_span {
	const char *text;
	size_t len;
};

struct hf_edits {
	bool *is_removed; /* by index in the first */
	bool *is_added;	  /* by index in the second */
	bool is_rough;
};

#define HF_EDITS_INIT              \
	{                          \
		.is_removed = NULL \
	}
#define cleanup_edits CLEANUP(hf_edits_done)

/* 0, -ENOMEM or -EFBIG. */
MUST_CHECK int hf_edits_find(const struct hf_span *a, size_t a_count,
			     const struct hf_span *b, size_t b_count,
			     uint64_t effort, struct hf_edits *ret_edits);
void hf_edits_done(struct hf_edits *edits);

#endif /* HF_BASE_EDITS_H */
