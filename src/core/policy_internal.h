/* SPDX-License-Identifier: MIT */
/* Shared by the files that implement core/policy.h. */
#ifndef HF_CORE_POLICY_INTERNAL_H
#define HF_CORE_POLICY_INTERNAL_H

#include <stdbool.h>

#include "base/defs.h"

struct hf_error;
struct hf_patterns;
struct hf_policy;

/* What counts where neither file nor options say anything. */
void hf_policy_set_defaults(struct hf_policy *policy);

/* An empty list in *list when there is none. */
MUST_CHECK int hf_policy_need_list(const struct hf_policy *policy,
				   struct hf_patterns **list,
				   struct hf_error *err);
/* Add text as somebody wrote it, "~/" included, to the list. */
MUST_CHECK int hf_policy_add_pattern(const struct hf_policy *policy,
				     struct hf_patterns **list,
				     const char *text, const char *home,
				     struct hf_error *err);

/* The user's home directory, canonical where it exists; NULL when unknown. */
char *hf_policy_home(void);

/*
 * A descriptor of a policy file, which must be a regular file and, unless a
 * person named it, owned by the user or root; or a negative enum hf_code.
 */
MUST_CHECK int hf_policy_open(const char *file, bool is_named,
			      struct hf_error *err);

#endif /* HF_CORE_POLICY_INTERNAL_H */
