/* SPDX-License-Identifier: MIT */
/*
 * Decide what a restore has to do.  Pure: from what differs to an ordered list
 * of steps.
 *
 * Every directory above a step gets a step of its own, changed or not: it must
 * stand before anything can be put into it, and its mode and time suffer from
 * what happens in it.
 */
#include "core/restore.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "core/restore_plan.h"

#define FIRST_CAPACITY 16

/* Never freed: what a step says that failed when memory was gone. */
static const struct hf_error no_memory = {
	.code = HF_ERR_SYSTEM,
	.sys_errno = ENOMEM,
	.text = "cannot go on: out of memory",
};

void hf_step_fail(struct hf_step *step, const struct hf_error *err)
{
	struct hf_error *const copy = malloc(sizeof(*copy));

	hf_step_clear(step);
	step->err = &no_memory;
	if (copy) {
		*copy = *err;
		step->err = copy;
	}
}

void hf_step_clear(struct hf_step *step)
{
	/* The cast takes away the const that readers get. */
	struct hf_error *const err = (struct hf_error *)(uintptr_t)step->err;

	if (err != &no_memory)
		free(err);
	step->err = NULL;
}

const char *hf_step_path(const struct hf_step *step)
{
	return step->want ? step->want->path : step->now->path;
}

int hf_plan_add(struct hf_plan *plan, const struct hf_step *step,
		struct hf_error *err)
{
	if (plan->count == plan->capacity) {
		const size_t capacity = plan->capacity > 0 ? 2 * plan->capacity
							   : FIRST_CAPACITY;
		struct hf_step *steps;
		size_t size;

		if (__builtin_mul_overflow(capacity, sizeof(*steps), &size))
			return hf_fail_memory(err);
		steps = realloc(plan->steps, size);
		if (!steps)
			return hf_fail_memory(err);
		plan->steps = steps;
		plan->capacity = capacity;
	}
	plan->steps[plan->count] = *step;
	plan->steps[plan->count].parent = HF_STEP_NONE;
	plan->count++;
	return 0;
}

static bool is_there(const struct hf_entry *entry)
{
	return entry && entry->stat.kind != HF_KIND_ABSENT;
}

bool hf_step_is_shared(const struct hf_entry *want, const struct hf_stat *now)
{
	return want->stat.kind == now->kind &&
	       now->kind != HF_KIND_DIRECTORY && now->nlink > 1 &&
	       (want->stat.dev != now->dev || want->stat.ino != now->ino);
}

bool hf_step_must_survive(const struct hf_entry *want,
			  const struct hf_stat *now)
{
	return want->stat.kind == HF_KIND_FILE && now->kind == HF_KIND_FILE &&
	       want->stat.nlink > 1 && want->stat.dev == now->dev &&
	       want->stat.ino == now->ino;
}

enum hf_action hf_plan_choose(const struct hf_entry *want,
			      const struct hf_entry *now, unsigned change)
{
	if (!is_there(want))
		return HF_ACTION_REMOVE;
	if ((change & ~(unsigned)HF_CHANGE_METADATA) == 0 &&
	    !(now && hf_step_is_shared(want, &now->stat)))
		return HF_ACTION_SET_METADATA;
	switch (want->stat.kind) {
	case HF_KIND_FILE:
		return HF_ACTION_PUT_FILE;
	case HF_KIND_DIRECTORY:
		return HF_ACTION_MAKE_DIRECTORY;
	case HF_KIND_LINK:
		return HF_ACTION_PUT_LINK;
	default:
		return HF_ACTION_PUT_NODE;
	}
}

static int fold(char c)
{
	return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : (unsigned char)c;
}

/* By path without regard to case (of ASCII: the rest is the system's). */
static int compare_folded(const void *left, const void *right)
{
	const char *a = hf_step_path(*(struct hf_step *const *)left);
	const char *b = hf_step_path(*(struct hf_step *const *)right);

	while (*a != '\0' && fold(*a) == fold(*b)) {
		a++;
		b++;
	}
	return fold(*a) - fold(*b);
}

/*
 * Where a system does not tell "Config" from "config" both names are one file:
 * its removal must not take away what has just been put back.
 */
static int mark_first(struct hf_plan *plan, struct hf_error *err)
{
	cleanup_free struct hf_step **sorted =
		calloc(plan->count + 1, sizeof(struct hf_step *));
	size_t end_of;

	if (!sorted)
		return hf_fail_memory(err);
	for (size_t i = 0; i < plan->count; i++)
		sorted[i] = &plan->steps[i];
	if (plan->count > 0)
		qsort(sorted, plan->count, sizeof(*sorted), compare_folded);
	for (size_t i = 0; i < plan->count; i = end_of) {
		end_of = i + 1;
		while (end_of < plan->count &&
		       compare_folded(&sorted[i], &sorted[end_of]) == 0)
			end_of++;
		for (size_t j = i; end_of - i > 1 && j < end_of; j++)
			sorted[j]->goes_first =
				sorted[j]->action == HF_ACTION_REMOVE;
	}
	return 0;
}

/* Removals come behind everything else, what lies deeper first. */
static int compare_steps(const void *left, const void *right)
{
	const struct hf_step *const a = left;
	const struct hf_step *const b = right;
	const bool a_removes = a->action == HF_ACTION_REMOVE;
	const bool b_removes = b->action == HF_ACTION_REMOVE;
	const int order = hf_path_compare(hf_step_path(a), hf_step_path(b));

	if (a_removes != b_removes)
		return a_removes ? 1 : -1;
	return a_removes ? -order : order;
}

/* The step that puts path, among the first count ones, sorted. */
static size_t find_step(const struct hf_plan *plan, size_t count,
			const char *path)
{
	size_t low = 0;
	size_t high = count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const int order = hf_path_compare(
			path, hf_step_path(&plan->steps[middle]));

		if (order == 0)
			return middle;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return HF_STEP_NONE;
}

/* The directory of path; false when path has none that could be recorded. */
static bool get_parent(const char *path, char parent[HF_PATH_MAX])
{
	const size_t len = hf_path_parent_len(path);

	if (len >= HF_PATH_MAX || strcmp(path, ".") == 0 ||
	    strcmp(path, "/") == 0)
		return false;
	memcpy(parent, path, len);
	parent[len] = '\0';
	if (len == 0)
		memcpy(parent, ".", 2);
	return true;
}

int hf_plan_arrange(struct hf_plan *plan, struct hf_error *err)
{
	char parent[HF_PATH_MAX];
	size_t puts = 0;

	if (plan->count == 0)
		return 0;
	qsort(plan->steps, plan->count, sizeof(*plan->steps), compare_steps);
	while (puts < plan->count &&
	       plan->steps[puts].action != HF_ACTION_REMOVE)
		puts++;
	for (size_t i = 0; i < plan->count; i++) {
		struct hf_step *const step = &plan->steps[i];

		if (get_parent(hf_step_path(step), parent))
			step->parent = find_step(plan, puts, parent);
	}
	return mark_first(plan, err);
}

/* -- back to a snapshot --------------------------------------------------- */

static const char *delta_path(const struct hf_delta *delta)
{
	return delta->before ? delta->before->path : delta->after->path;
}

static bool is_allowed(const struct hf_entry *entry)
{
	return entry && entry->role == HF_ROLE_ALLOWED;
}

static bool is_selected(const struct hf_delta *delta,
			const struct hf_plan_options *options)
{
	const char *const path = delta_path(delta);

	if (is_allowed(delta->before) || is_allowed(delta->after))
		return false;
	if (!is_there(delta->before) && !options->remove_additions)
		return false;
	if (options->is_left && options->is_left(delta, options->context))
		return false;
	if (!options->paths)
		return true;
	for (size_t i = 0; options->paths[i]; i++) {
		if (strcmp(path, options->paths[i]) == 0 ||
		    hf_path_is_beneath(path, options->paths[i]))
			return true;
	}
	return false;
}

static struct hf_step step_of(const struct hf_delta *delta)
{
	return (struct hf_step){
		.action = hf_plan_choose(delta->before, delta->after,
					 delta->change),
		.want = delta->before,
		.now = delta->after,
		.change = delta->change,
	};
}

static const struct hf_delta *find_delta(const struct hf_deltas *deltas,
					 const char *path)
{
	size_t low = 0;
	size_t high = deltas->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct hf_delta *const delta = &deltas->items[middle];
		const int order = hf_path_compare(path, delta_path(delta));

		if (order == 0)
			return delta;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

/* Which directories of want have a step already. */
struct planning {
	struct hf_plan *plan;
	const struct hf_deltas *deltas;
	const struct hf_tree *want;
	bool *is_planned; /* for each entry of want */
};

static int add_directory(struct planning *planning,
			 const struct hf_entry *entry, struct hf_error *err)
{
	const struct hf_delta *const delta =
		find_delta(planning->deltas, entry->path);
	struct hf_step step = {
		.action = HF_ACTION_SET_METADATA,
		.want = entry,
	};

	if (delta && delta->change & (HF_CHANGE_MISSING | HF_CHANGE_KIND))
		step = step_of(delta);
	else if (is_allowed(entry))
		return 0;
	return hf_plan_add(planning->plan, &step, err);
}

/* A step for every recorded directory above path that has none. */
static int add_ancestors(struct planning *planning, const char *path,
			 struct hf_error *err)
{
	char parent[HF_PATH_MAX];
	char above[HF_PATH_MAX];
	int rc;

	while (get_parent(path, parent)) {
		const struct hf_entry *const entry =
			hf_tree_find(planning->want, parent);

		memcpy(above, parent, sizeof(above));
		path = above;
		if (!entry || entry->stat.kind != HF_KIND_DIRECTORY)
			continue;
		if (planning->is_planned[entry - planning->want->entries])
			continue;
		planning->is_planned[entry - planning->want->entries] = true;
		rc = add_directory(planning, entry, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int add_deltas(struct planning *planning,
		      const struct hf_plan_options *options,
		      struct hf_error *err)
{
	const struct hf_deltas *const deltas = planning->deltas;
	int rc;

	for (size_t i = 0; i < deltas->count; i++) {
		const struct hf_step step = step_of(&deltas->items[i]);
		const struct hf_entry *entry;

		if (!is_selected(&deltas->items[i], options))
			continue;
		rc = hf_plan_add(planning->plan, &step, err);
		if (rc < 0)
			return rc;
		entry = hf_tree_find(planning->want, hf_step_path(&step));
		if (entry)
			planning->is_planned[entry - planning->want->entries] =
				true;
	}
	return 0;
}

int hf_restore_plan(const struct hf_deltas *deltas, const struct hf_tree *want,
		    const struct hf_plan_options *options,
		    struct hf_plan *ret_plan, struct hf_error *err)
{
	cleanup_plan struct hf_plan plan = HF_PLAN_INIT;
	cleanup_free bool *is_planned =
		calloc(want->count + 1, sizeof(*is_planned));
	struct planning planning = {
		.plan = &plan,
		.deltas = deltas,
		.want = want,
		.is_planned = is_planned,
	};
	size_t count;
	int rc;

	if (!is_planned)
		return hf_fail_memory(err);
	rc = add_deltas(&planning, options, err);
	if (rc < 0)
		return rc;
	count = plan.count;
	for (size_t i = 0; i < count; i++) {
		rc = add_ancestors(&planning, hf_step_path(&plan.steps[i]),
				   err);
		if (rc < 0)
			return rc;
	}
	rc = hf_plan_arrange(&plan, err);
	if (rc < 0)
		return rc;
	*ret_plan = plan;
	plan = (struct hf_plan)HF_PLAN_INIT;
	return 0;
}

size_t hf_plan_count(const struct hf_plan *plan, enum hf_step_result result)
{
	size_t count = 0;

	for (size_t i = 0; i < plan->count; i++)
		count += plan->steps[i].result == result;
	return count;
}

void hf_plan_done(struct hf_plan *plan)
{
	for (size_t i = 0; i < plan->count; i++) {
		hf_free_pointee(&plan->steps[i].kept);
		hf_step_clear(&plan->steps[i]);
	}
	hf_free_pointee(&plan->steps);
	plan->count = 0;
	plan->capacity = 0;
}
