/* SPDX-License-Identifier: MIT */
/*
 * Two texts as a unified diff, the form that `patch` reads.
 */
#ifndef HF_REPORT_UNIFIED_H
#define HF_REPORT_UNIFIED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/defs.h"

struct hf_buffer;
struct hf_error;

/* Larger texts are not compared line by line. */
#define HF_UNIFIED_MAX ((size_t)16 << 20)

struct hf_unified_text {
	const char *name; /* of the file; NULL: it is not there */
	const char *when; /* behind the name: "snapshot 12" */
	const char *data; /* may be NULL when len is 0 */
	size_t len;
};

struct hf_unified_style {
	bool has_color; /* with it the words that differ are marked */
	/* It goes to a terminal: control bytes are shown, not sent. */
	bool is_escaped;
};

/* Has it lines: no NUL byte, and not too large? */
bool hf_unified_is_text(const char *data, size_t len);

/*
 * Append the diff, with "--- a/NAME" and "+++ b/NAME" and three lines around
 * each change; nothing when they are equal.  *ret_is_rough: so much differs
 * that not all that is the same was found.
 */
MUST_CHECK int hf_unified_add(const struct hf_unified_text *before,
			      const struct hf_unified_text *after,
			      const struct hf_unified_style *style,
			      struct hf_buffer *out, bool *ret_is_rough,
			      struct hf_error *err);

#endif /* HF_REPORT_UNIFIED_H */
