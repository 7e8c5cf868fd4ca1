/* SPDX-License-Identifier: MIT */
/*
 * What can be told of the contents of one difference, beyond its entries.
 */
#ifndef HF_CLI_DIFF_DETAIL_H
#define HF_CLI_DIFF_DETAIL_H

#include "cli/comparison.h"
#include "report/toml_keys.h"
#include "report/unified.h"

/* Contents that were not named are looked at up to this size, and so many. */
#define HF_DIFF_LOOKED_SIZE ((size_t)1 << 20)
#define HF_DIFF_LOOKED_MAX  ((size_t)100)

struct hf_diff_detail {
	bool is_text;	 /* both: lines were counted */
	size_t lines[2]; /* before, after */
	size_t comments[2];
	bool has_keys; /* both are TOML */
	struct hf_toml_changes keys;
	bool has_offset; /* of the first byte that differs */
	uint64_t offset;
	struct hf_buffer unified; /* of a text that was named */
	bool is_rough;
	bool is_large; /* named, and too large for that */
	/* Why there is nothing of all that; code 0: nothing went wrong. */
	struct hf_error err;
};

/* One for each delta, in order; to hf_diff_details_free(). */
MUST_CHECK int hf_diff_details_load(const struct hf_comparison *comparison,
				    const struct hf_unified_style *style,
				    struct hf_diff_detail **ret_details,
				    struct hf_error *err);
void hf_diff_details_free(struct hf_diff_detail *details, size_t count);

#endif /* HF_CLI_DIFF_DETAIL_H */
