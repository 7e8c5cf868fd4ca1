/* SPDX-License-Identifier: MIT */
/*
 * Carry out a plan, each step for itself.
 *
 * Directories first, parents before children, so that everything else has a
 * place; contents, pack by pack; links and nodes; removals.  Last the times of
 * the directories in which something happened.
 *
 * Names that share a file want an order: what is kept of one must not have been
 * changed through another.  So what changes a file itself (contents written in
 * place, metadata) comes after what only takes names away from it.
 */
#include "core/restore.h"

#include "base/fail.h"
#include "base/text.h"
#include "core/restore_run.h"
#include "core/restore_step.h"

static bool is_of_directory(const struct hf_step *step)
{
	return step->want && step->want->stat.kind == HF_KIND_DIRECTORY &&
	       step->action != HF_ACTION_REMOVE;
}

static void tell(const struct hf_restore_run *run, const struct hf_step *step)
{
	if (run->context->done)
		run->context->done(run->context->context, step);
}

static void note_failure(struct hf_restore_run *run, struct hf_step *step,
			 const struct hf_error *err)
{
	step->result = HF_STEP_FAILED;
	hf_step_fail(step, err);
	if (!run->has_failed)
		run->first = *err;
	run->has_failed = true;
}

bool hf_restore_may_begin(struct hf_restore_run *run, struct hf_step *step)
{
	const struct hf_step *const parent =
		step->parent == HF_STEP_NONE ? NULL
					     : &run->plan->steps[step->parent];
	struct hf_error err;

	/* What already stands can be worked in, wrong mode or not. */
	if (!parent || parent->action != HF_ACTION_MAKE_DIRECTORY ||
	    !parent->err)
		return true;
	step->result = HF_STEP_SKIPPED;
	(void)hf_fail(&err, HF_ERR_SYSTEM,
		      "cannot restore '%s': its directory could not be made",
		      HF_QUOTE(hf_step_path(step)));
	hf_step_fail(step, &err);
	if (!is_of_directory(step))
		tell(run, step);
	return false;
}

void hf_restore_finish(struct hf_restore_run *run, struct hf_step *step, int rc,
		       const struct hf_error *err)
{
	if (rc < 0)
		note_failure(run, step, err);
	else
		step->result = rc > 0 ? HF_STEP_SKIPPED : HF_STEP_DONE;
	/* A step that failed may have worked in its directory as well. */
	if (rc <= 0 && step->parent != HF_STEP_NONE &&
	    step->action != HF_ACTION_SET_METADATA)
		run->plan->steps[step->parent].has_worked = true;
	if (rc == 0 && step->action == HF_ACTION_MAKE_DIRECTORY)
		step->has_worked = true;
	/* A directory's own time is still to come, unless it has failed. */
	if (!is_of_directory(step) || rc < 0)
		tell(run, step);
}

static void run_step(struct hf_restore_run *run, struct hf_step *step)
{
	struct hf_error err;
	int rc;

	if (!hf_restore_may_begin(run, step))
		return;
	rc = hf_step_run(run->context, step, &err);
	hf_restore_finish(run, step, rc, &err);
}

static void run_directories(struct hf_restore_run *run)
{
	for (size_t i = 0; i < run->plan->count; i++) {
		struct hf_step *const step = &run->plan->steps[i];

		if (step->result == HF_STEP_WAITING && is_of_directory(step))
			run_step(run, step);
	}
}

static void run_first(struct hf_restore_run *run)
{
	for (size_t i = 0; i < run->plan->count; i++) {
		struct hf_step *const step = &run->plan->steps[i];

		if (step->goes_first && step->result == HF_STEP_WAITING)
			run_step(run, step);
	}
}

/* Those of one action that have not been their turn yet, in order. */
static void run_action(struct hf_restore_run *run, enum hf_action action)
{
	for (size_t i = 0; i < run->plan->count; i++) {
		struct hf_step *const step = &run->plan->steps[i];

		if (step->result == HF_STEP_WAITING && step->action == action)
			run_step(run, step);
	}
}

/* Deepest first, since setting a time may have to open a locked parent. */
static void set_times(struct hf_restore_run *run)
{
	for (size_t i = run->plan->count; i > 0; i--) {
		struct hf_step *const step = &run->plan->steps[i - 1];
		struct hf_error err;
		int rc;

		if (!is_of_directory(step))
			continue;
		/* That was told, here or by the caller who has refused it. */
		if (step->result == HF_STEP_FAILED)
			continue;
		if (step->has_worked && !step->err) {
			rc = hf_step_set_time(run->context, step, &err);
			if (rc < 0)
				note_failure(run, step, &err);
		}
		tell(run, step);
	}
}

enum hf_metadata_extent hf_restore_extent(
	const struct hf_restore_context *context)
{
	return context->is_elsewhere ? HF_METADATA_ALLOWED : HF_METADATA_ALL;
}

int hf_restore_apply(struct hf_plan *plan,
		     const struct hf_restore_context *context,
		     struct hf_error *err)
{
	struct hf_restore_run run = {
		.plan = plan,
		.context = context,
	};

	run_first(&run);
	run_directories(&run);
	hf_restore_contents(&run, false);
	run_action(&run, HF_ACTION_PUT_LINK);
	run_action(&run, HF_ACTION_PUT_NODE);
	run_action(&run, HF_ACTION_REMOVE);
	hf_restore_contents(&run, true);
	run_action(&run, HF_ACTION_SET_METADATA);
	set_times(&run);
	if (!run.has_failed)
		return 0;
	*err = run.first;
	return err->code;
}
