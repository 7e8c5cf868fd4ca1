/* SPDX-License-Identifier: MIT */
/*
 * Roles of entries that were looked at.  Private to core/scan*.c.
 */
#ifndef HF_CORE_SCAN_ROLE_H
#define HF_CORE_SCAN_ROLE_H

#include "base/defs.h"

struct hf_error;
struct hf_scan_options;
struct hf_tree;

/* What the policy allows the command to change. */
void hf_scan_apply_allow(const struct hf_scan_options *options,
			 struct hf_tree *tree);

/*
 * Drop from the sorted tree what turned out not to matter: ancestors and side
 * files that are none.  What options->before has stays.
 */
MUST_CHECK int hf_scan_settle(const struct hf_scan_options *options,
			      struct hf_tree *tree, struct hf_error *err);

#endif /* HF_CORE_SCAN_ROLE_H */
