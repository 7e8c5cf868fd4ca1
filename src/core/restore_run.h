/* SPDX-License-Identifier: MIT */
/*
 * A restore under way: which steps may begin, how they ended.  Private to
 * core/restore*.c.
 */
#ifndef HF_CORE_RESTORE_RUN_H
#define HF_CORE_RESTORE_RUN_H

#include "core/restore.h"

struct hf_restore_run {
	struct hf_plan *plan;
	const struct hf_restore_context *context;
	bool is_spare;	/* the second copies are read */
	bool has_failed;
	struct hf_error first;		/* valid when has_failed */
};

/*
 * May the step begin?  When the directory that it needs could not be made, it
 * is skipped and told so.
 */
bool hf_restore_may_begin(struct hf_restore_run *run, struct hf_step *step);

/* rc as a step returns it: 0 done, 1 right already, negative with err. */
void hf_restore_finish(struct hf_restore_run *run, struct hf_step *step, int rc,
		       const struct hf_error *err);

/*
 * The steps that put a file, those that write in place or the others: one pass
 * over each pack that has contents of them, then those from kept copies.
 */
void hf_restore_contents(struct hf_restore_run *run, bool in_place);

#endif /* HF_CORE_RESTORE_RUN_H */
