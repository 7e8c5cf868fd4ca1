/* SPDX-License-Identifier: MIT */
/*
 * Record why a call failed, in one line at the place that knows the name.
 *
 *	return hf_fail(err, HF_ERR_LIMIT, "cannot read '%s': too large", name);
 *
 * Nothing is allocated.  Where the line gets too long, the longest of its names
 * loses its middle, never the reason its end.  Names that come from a file
 * system are passed through hf_quote() (base/text.h) first, so that they cannot
 * drive a terminal.
 */
#ifndef HF_BASE_FAIL_H
#define HF_BASE_FAIL_H

#include "base/defs.h"
#include "holdfast/error.h"

/* Fill in *err and return the code, so that callers write one line. */
PRINTF_LIKE(3, 4)
int hf_fail(struct hf_error *err, enum hf_code code, const char *fmt, ...);

/*
 * The same for a failed call of platform/, which returned -errno: ": reason"
 * is appended.  Returns HF_ERR_SYSTEM.
 */
PRINTF_LIKE(3, 4)
int hf_fail_system(struct hf_error *err, int negative_errno, const char *fmt,
		   ...);

/* Add the cure to a failure that was just recorded; returns err->code. */
PRINTF_LIKE(2, 3)
int hf_fail_hint(struct hf_error *err, const char *fmt, ...);

/* Out of memory, the one failure without a name. */
int hf_fail_memory(struct hf_error *err);

#endif /* HF_BASE_FAIL_H */
