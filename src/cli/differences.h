/* SPDX-License-Identifier: MIT */
/* What differs, as `status` and `verify` print it. */
#ifndef HF_CLI_DIFFERENCES_H
#define HF_CLI_DIFFERENCES_H

#include <stdbool.h>

#include "core/compare.h"

struct hf_buffer;

/* Does anything differ that no command may change? */
bool hf_differences_matter(const struct hf_deltas *deltas);
/* A line each, at most limit of them (0: all): "  config.toml: 94 -> 12 bytes". */
void hf_differences_add(const struct hf_deltas *deltas, size_t limit,
			struct hf_buffer *out);
/* A JSON list: {path, change, allowed, before, after}. */
void hf_differences_add_json(const struct hf_deltas *deltas,
			     struct hf_buffer *out);

#endif /* HF_CLI_DIFFERENCES_H */
