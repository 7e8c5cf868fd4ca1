/* SPDX-License-Identifier: MIT */
/*
 * The gate's decision about any call and any facts: it ends, and what it
 * refuses is ours.
 *
 * An input is a byte for the patterns, then those of support/decided_any.c.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/decided.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct hf_decided decided;
	const char *wrong;

	if (len == 0)
		return 0;
	hf_decided_setup(&decided,
			 data[0] % 2 == 0 ? HF_DECIDED_WIDE : HF_DECIDED_PLAIN);
	wrong = hf_decided_try(&decided, data + 1, len - 1);
	if (wrong) {
		(void)fprintf(stderr, "fuzz_decide: %s\n", wrong);
		abort();
	}
	hf_decided_teardown(&decided);
	return 0;
}
