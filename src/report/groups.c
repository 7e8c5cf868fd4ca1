/* SPDX-License-Identifier: MIT */
/* Sort, and cut where path or test change. */
#include "report/groups.h"

#include <stdlib.h>
#include <string.h>

#include "guard/session.h"

enum hf_fate hf_violation_fate(const struct hf_violation *violation)
{
	if (violation->is_outside)
		return HF_FATE_OUTSIDE;
	return violation->has_landed || violation->change != 0 ||
			       violation->is_stuck
		       ? HF_FATE_LANDED
		       : HF_FATE_REFUSED;
}

static const char *test_of(const struct hf_violation *violation)
{
	return violation->test == NULL ? "" : violation->test;
}

/* 0: unknown. */
static int64_t pid_of(const struct hf_violation *violation)
{
	return violation->culprit == NULL ? 0 : violation->culprit->process.pid;
}

/* What is one group is equal. */
static int compare_keys(const struct hf_violation *left,
			const struct hf_violation *right)
{
	const enum hf_fate fate = hf_violation_fate(left);
	int order = (int)fate - (int)hf_violation_fate(right);

	if (order == 0)
		order = strcmp(left->path, right->path);
	if (order == 0 && fate == HF_FATE_REFUSED)
		order = strcmp(test_of(left), test_of(right));
	return order;
}

/* In a group by test and process, so that both can be counted; then by time. */
static int compare(const void *a, const void *b)
{
	const struct hf_violation *left =
		*(const struct hf_violation *const *)a;
	const struct hf_violation *right =
		*(const struct hf_violation *const *)b;
	int order = compare_keys(left, right);

	if (order == 0)
		order = strcmp(test_of(left), test_of(right));
	if (order == 0)
		order = (pid_of(left) > pid_of(right)) -
			(pid_of(left) < pid_of(right));
	if (order == 0)
		order = (left->time_ns > right->time_ns) -
			(left->time_ns < right->time_ns);
	return order != 0 ? order : strcmp(left->operation, right->operation);
}

bool hf_groups_init(struct hf_groups *groups, const struct hf_session *session)
{
	const struct hf_violations *violations = &session->violations;

	groups->sorted = calloc(violations->count + 1, sizeof(*groups->sorted));
	if (groups->sorted == NULL)
		return false;
	for (size_t i = 0; i < violations->count; i++)
		groups->sorted[i] = violations->items[i];
	groups->count = violations->count;
	qsort(groups->sorted, groups->count, sizeof(*groups->sorted), compare);
	return true;
}

/* How much it tells about how the path ended. */
static unsigned weight(const struct hf_violation *violation)
{
	return (violation->is_stuck ? 4u : 0) +
	       (violation->has_landed ? 2u : 0) +
	       (violation->change != 0 ? 1u : 0);
}

static bool is_better(const struct hf_violation *a,
		      const struct hf_violation *b)
{
	if (weight(a) != weight(b))
		return weight(a) > weight(b);
	return a->time_ns < b->time_ns;
}

static void add(struct hf_group *group, const struct hf_violation *violation)
{
	const struct hf_violation *before = group->items[group->count - 1];
	const bool is_other_test =
		strcmp(test_of(before), test_of(violation)) != 0;

	if (is_better(violation, group->best))
		group->best = violation;
	group->count++;
	group->times += violation->count;
	group->test_count += is_other_test && violation->test != NULL;
	group->process_count += pid_of(violation) != 0 &&
				pid_of(before) != pid_of(violation);
}

struct hf_group hf_group_of(const struct hf_violation *const *violation)
{
	return (struct hf_group){
		.fate = hf_violation_fate(*violation),
		.best = *violation,
		.items = violation,
		.count = 1,
		.times = (*violation)->count,
		.process_count = pid_of(*violation) != 0,
		.test_count = (*violation)->test != NULL,
	};
}

bool hf_groups_next(struct hf_groups *groups, struct hf_group *ret_group)
{
	if (groups->at == groups->count)
		return false;
	*ret_group = hf_group_of(groups->sorted + groups->at);
	while (++groups->at < groups->count &&
	       compare_keys(ret_group->best, groups->sorted[groups->at]) == 0)
		add(ret_group, groups->sorted[groups->at]);
	return true;
}

void hf_groups_done(struct hf_groups *groups)
{
	free(groups->sorted);
	*groups = (struct hf_groups)HF_GROUPS_INIT;
}
