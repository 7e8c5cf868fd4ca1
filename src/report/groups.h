/* SPDX-License-Identifier: MIT */
/*
 * The violations of a run in the groups that are told as one: a loop that was
 * refused 5,000 times is one line.  What landed comes first, a group a path;
 * then what was refused, a group a path and test; then what a person did beside
 * the run, a group a path.
 *
 *	cleanup_groups struct hf_groups groups = HF_GROUPS_INIT;
 *	struct hf_group group;
 *
 *	if (!hf_groups_init(&groups, session))
 *		...out of memory...
 *	while (hf_groups_next(&groups, &group))
 *		...
 */
#ifndef HF_REPORT_GROUPS_H
#define HF_REPORT_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/defs.h"

struct hf_session;
struct hf_violation;

enum hf_fate { HF_FATE_LANDED, HF_FATE_REFUSED, HF_FATE_OUTSIDE };
#define HF_FATES (HF_FATE_OUTSIDE + 1)

enum hf_fate hf_violation_fate(const struct hf_violation *violation);

/* As many are told one by one. */
#define HF_GROUPS_SHOWN 20

struct hf_group {
	enum hf_fate fate;
	/* Tells the most of them all. */
	const struct hf_violation *best;
	const struct hf_violation *const *items;
	size_t count;
	uint64_t times;		/* all counts together */
	size_t test_count;	/* different ones */
	size_t process_count;	/* the same, when they are of one test */
};

struct hf_groups {
	const struct hf_violation **sorted;
	size_t count;
	size_t at;
};

#define HF_GROUPS_INIT { .sorted = NULL }
#define cleanup_groups CLEANUP(hf_groups_done)

/* False when out of memory.  The session must stay as it is. */
MUST_CHECK bool hf_groups_init(struct hf_groups *groups,
			       const struct hf_session *session);
bool hf_groups_next(struct hf_groups *groups, struct hf_group *ret_group);
/* One violation as a group of its own; *violation must live as long. */
struct hf_group hf_group_of(const struct hf_violation *const *violation);
void hf_groups_done(struct hf_groups *groups);

#endif /* HF_REPORT_GROUPS_H */
