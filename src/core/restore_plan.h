/* SPDX-License-Identifier: MIT */
/*
 * What both kinds of plan are made with.  Private to core/restore*.c.
 */
#ifndef HF_CORE_RESTORE_PLAN_H
#define HF_CORE_RESTORE_PLAN_H

#include "core/restore.h"

/* Append a copy of step. */
MUST_CHECK int hf_plan_add(struct hf_plan *plan, const struct hf_step *step,
			   struct hf_error *err);
/* What makes want of now, given how they differ; now may be NULL. */
enum hf_action hf_plan_choose(const struct hf_entry *want,
			      const struct hf_entry *now, unsigned change);
/* Into order, each with its directory; then the plan is complete. */
MUST_CHECK int hf_plan_arrange(struct hf_plan *plan, struct hf_error *err);

#endif /* HF_CORE_RESTORE_PLAN_H */
