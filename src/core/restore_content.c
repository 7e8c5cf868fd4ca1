/* SPDX-License-Identifier: MIT */
/*
 * Bring contents to their files: each pack is read once, whatever the number of
 * files in it.
 *
 * Files of equal content share one place in a pack.  The first of them is
 * written from the pack; the others are copied from its temporary file, which
 * has been verified by then.
 */
#include "core/restore_run.h"

#include <stdlib.h>

#include "base/fail.h"
#include "core/pack.h"
#include "core/restore_file.h"
#include "core/spare.h"

/* The steps of one content. */
struct group {
	struct hf_restore_run *run;
	struct hf_step **steps; /* borrowed, of the sorted list */
	size_t count;
	size_t leader; /* which of them the maker writes */
	struct hf_file_maker maker;
};

static int compare_steps(const void *left, const void *right)
{
	const struct hf_step *const a = *(struct hf_step *const *)left;
	const struct hf_step *const b = *(struct hf_step *const *)right;
	const struct hf_location *const x = &a->want->location;
	const struct hf_location *const y = &b->want->location;

	if (x->pack != y->pack)
		return x->pack < y->pack ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return a < b ? -1 : a > b;
}

static bool is_equal(const struct hf_step *a, const struct hf_step *b)
{
	return a->want->location.pack == b->want->location.pack &&
	       a->want->location.offset == b->want->location.offset &&
	       a->want->stat.size == b->want->stat.size &&
	       hf_hash_equal(&a->want->hash, &b->want->hash);
}

/* -- what the pack reader calls ------------------------------------------- */

/* Find a leader: the first step whose place can be opened. */
static int begin(const struct hf_pack_want *want, struct hf_error *err)
{
	struct group *const group = want->context;
	int rc = HF_ERR_SYSTEM;

	for (; group->leader < group->count; group->leader++) {
		struct hf_step *const step = group->steps[group->leader];

		if (!hf_restore_may_begin(group->run, step)) {
			*err = *step->err;
			continue;
		}
		rc = hf_file_maker_begin(&group->maker, group->run->context,
					 step, err);
		if (rc == 0)
			return 0;
		hf_file_maker_done(&group->maker);
		hf_restore_finish(group->run, step, rc, err);
	}
	return rc;
}

static int data(const struct hf_pack_want *want, const void *bytes, size_t len,
		struct hf_error *err)
{
	struct group *const group = want->context;

	return hf_file_maker_write(&group->maker, bytes, len, err);
}

/* Those behind the leader, from its temporary file. */
static void copy_to_others(struct group *group)
{
	for (size_t i = group->leader + 1; i < group->count; i++) {
		struct hf_step *const step = group->steps[i];
		cleanup_fd int fd = -1;
		struct hf_error err;
		int rc;

		if (!hf_restore_may_begin(group->run, step))
			continue;
		fd = hf_file_maker_open(&group->maker);
		rc = fd < 0 ? hf_fail_system(&err, fd, "cannot read a copy")
			    : hf_step_put_file(group->run->context, step, fd,
					       &err);
		hf_restore_finish(group->run, step, rc, &err);
	}
}

/* Is there another place where contents may be? */
static bool may_try_again(const struct hf_restore_run *run)
{
	return run->context->spare && !run->is_spare;
}

static void fail_from(struct group *group, size_t index, int rc,
		      const struct hf_error *err)
{
	for (; index < group->count; index++)
		hf_restore_finish(group->run, group->steps[index], rc, err);
}

static void end(const struct hf_pack_want *want, int result,
		const struct hf_error *err)
{
	struct group *const group = want->context;
	struct hf_error own;
	int rc = result;

	if (rc == 0) {
		err = &own;
		rc = hf_file_maker_complete(&group->maker, &own);
	}
	if (rc < 0) {
		hf_file_maker_done(&group->maker);
		/* The steps wait for the second copy, if that may help. */
		if (result < 0 && may_try_again(group->run))
			return;
		fail_from(group, group->leader, rc, err);
		return;
	}
	copy_to_others(group);
	rc = hf_file_maker_finish(&group->maker, &own);
	hf_file_maker_done(&group->maker);
	hf_restore_finish(group->run, group->steps[group->leader], rc, &own);
}

/* ------------------------------------------------------------------------- */

/* Groups for the steps of one pack; returns how many. */
static size_t make_groups(struct hf_restore_run *run, struct hf_step **steps,
			  size_t count, struct group *groups,
			  struct hf_pack_want *wants)
{
	size_t made = 0;

	for (size_t i = 0; i < count; made++) {
		const struct hf_entry *const want = steps[i]->want;
		size_t end_of = i + 1;

		while (end_of < count && is_equal(steps[i], steps[end_of]))
			end_of++;
		groups[made] = (struct group){
			.run = run,
			.steps = steps + i,
			.count = end_of - i,
			.maker = HF_FILE_MAKER_INIT,
		};
		wants[made] = (struct hf_pack_want){
			.location = want->location,
			.size = want->stat.size,
			.hash = want->hash,
			.context = &groups[made],
		};
		i = end_of;
	}
	return made;
}

static int read_pack(struct hf_restore_run *run, struct hf_step **steps,
		     size_t count, struct hf_error *err)
{
	static const struct hf_pack_sink sink = {
		.begin = begin,
		.data = data,
		.end = end,
	};
	cleanup_free struct group *groups = calloc(count, sizeof(*groups));
	cleanup_free struct hf_pack_want *wants = calloc(count, sizeof(*wants));
	size_t made;

	if (!groups || !wants)
		return hf_fail_memory(err);
	made = make_groups(run, steps, count, groups, wants);
	return run->is_spare ? hf_spare_read(run->context->spare, wants, made,
					     &sink, err)
			     : hf_pack_read(run->context->store, wants, made,
					    &sink, err);
}

static size_t keep_waiting(struct hf_step **steps, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (steps[i]->result == HF_STEP_WAITING)
			steps[kept++] = steps[i];
	}
	return kept;
}

/* What the reader did not get to has its failure. */
static void run_pack(struct hf_restore_run *run, struct hf_step **steps,
		     size_t count)
{
	struct hf_error err;
	int rc = read_pack(run, steps, count, &err);

	if (may_try_again(run)) {
		count = keep_waiting(steps, count);
		run->is_spare = true;
		if (count > 0)
			rc = read_pack(run, steps, count, &err);
		run->is_spare = false;
	}
	for (size_t i = 0; i < count; i++) {
		if (steps[i]->result != HF_STEP_WAITING)
			continue;
		if (rc == 0)
			(void)hf_fail(&err, HF_ERR_CORRUPT,
				      "cannot read the pack: it ends early");
		hf_restore_finish(run, steps[i], err.code, &err);
	}
}

/* Is it this step's turn to put a file? */
static bool is_wanted(const struct hf_step *step, bool in_place)
{
	return step->action == HF_ACTION_PUT_FILE &&
	       step->result == HF_STEP_WAITING &&
	       in_place == (step->now &&
			    hf_step_must_survive(step->want, &step->now->stat));
}

/* Steps whose content lies in a pack, in the packs' order. */
static size_t collect(struct hf_restore_run *run, bool in_place,
		      struct hf_step **steps)
{
	size_t count = 0;

	for (size_t i = 0; i < run->plan->count; i++) {
		struct hf_step *const step = &run->plan->steps[i];

		if (is_wanted(step, in_place) && !step->source &&
		    step->want->location.pack != 0)
			steps[count++] = step;
	}
	if (count > 0)
		qsort(steps, count, sizeof(*steps), compare_steps);
	return count;
}

static void run_packs(struct hf_restore_run *run, struct hf_step **steps,
		      size_t count)
{
	size_t end_of;

	for (size_t i = 0; i < count; i = end_of) {
		end_of = i + 1;
		while (end_of < count && steps[end_of]->want->location.pack ==
						 steps[i]->want->location.pack)
			end_of++;
		run_pack(run, steps + i, end_of - i);
	}
}

void hf_restore_contents(struct hf_restore_run *run, bool in_place)
{
	cleanup_free struct hf_step **steps =
		calloc(run->plan->count + 1, sizeof(struct hf_step *));
	struct hf_error err;
	int rc;

	if (steps)
		run_packs(run, steps, collect(run, in_place, steps));
	for (size_t i = 0; i < run->plan->count; i++) {
		struct hf_step *const step = &run->plan->steps[i];

		if (!is_wanted(step, in_place) ||
		    !hf_restore_may_begin(run, step))
			continue;
		rc = steps ? hf_step_put_file(run->context, step, -1, &err)
			   : hf_fail_memory(&err);
		hf_restore_finish(run, step, rc, &err);
	}
}
