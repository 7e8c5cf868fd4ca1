/* SPDX-License-Identifier: MIT */
/* What a person answers to a numbered list.  Pure. */
#ifndef HF_CLI_CHOICE_H
#define HF_CLI_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/defs.h"

struct hf_error;

/*
 * Numbers from 1 to count and ranges ("2-4"), separated by blanks or commas; or
 * "all", or "none"; nothing at all leaves chosen as it is.  HF_ERR_USAGE for
 * anything else, with chosen as it was.
 */
MUST_CHECK int hf_choice_parse(const char *answer, size_t count, bool *chosen,
			       struct hf_error *err);

#endif /* HF_CLI_CHOICE_H */
