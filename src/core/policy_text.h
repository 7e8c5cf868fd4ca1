/* SPDX-License-Identifier: MIT */
/* A new holdfast.json, with comments that explain its keys. */
#ifndef HF_CORE_POLICY_TEXT_H
#define HF_CORE_POLICY_TEXT_H

#include <stddef.h>

#include "base/defs.h"

struct hf_buffer;
struct hf_error;

/*
 * Append the text of a policy that protects these patterns and leaves all else
 * at its default.  HF_ERR_USAGE when a pattern is none, or is not UTF-8: what
 * was appended is a policy that hf_policy_parse() accepts.
 */
MUST_CHECK int hf_policy_text(const char *const *patterns, size_t count,
			      struct hf_buffer *text, struct hf_error *err);

/*
 * Give that text its name in the directory, at once and for good.  HF_ERR_USAGE
 * when the name is taken: nothing is ever overwritten.
 */
MUST_CHECK int hf_policy_create(int dir_fd, const char *text, size_t len,
				struct hf_error *err);

#endif /* HF_CORE_POLICY_TEXT_H */
