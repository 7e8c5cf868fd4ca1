/* SPDX-License-Identifier: MIT */
/*
 * A policy and a scan of a temporary directory in one line, and a tree as text.
 */
#ifndef HF_TESTS_SCANNED_H
#define HF_TESTS_SCANNED_H

#include "core/policy.h"
#include "core/scan.h"

/* A policy of these patterns, one after the other separated by spaces. */
void hf_make_policy(struct hf_policy *policy, const char *protect,
		    const char *allow);

/*
 * One line an entry: role (P protected, A ancestor, L allowed, S side file,
 * C side cache),
 * kind (f d l p s c b, - for absent), path.  Valid until the next call.
 */
const char *hf_tree_text(const struct hf_tree *tree);

#endif /* HF_TESTS_SCANNED_H */
