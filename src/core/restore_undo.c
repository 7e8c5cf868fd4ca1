/* SPDX-License-Identifier: MIT */
/* Decide what undoing a session has to do.  Pure. */
#include "core/restore.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "core/restore_plan.h"

/* By path, the newest record of a path first. */
static int compare_records(const void *left, const void *right)
{
	const struct hf_kept_record *const a =
		*(const struct hf_kept_record *const *)left;
	const struct hf_kept_record *const b =
		*(const struct hf_kept_record *const *)right;
	const int order = hf_path_compare(a->replaced->path, b->replaced->path);

	if (order != 0)
		return order;
	return a < b ? 1 : -1;
}

static int add_record(struct hf_plan *plan, const struct hf_kept_record *record,
		      const struct hf_tree *now_tree, struct hf_error *err)
{
	const struct hf_entry *const now =
		hf_tree_find(now_tree, record->replaced->path);
	const unsigned change = hf_compare_entry(record->replaced, now);
	const struct hf_step step = {
		.action = hf_plan_choose(record->replaced, now, change),
		.want = record->replaced,
		.now = now,
		.change = change,
		.source =
			record->kept_path[0] != '\0' ? record->kept_path : NULL,
	};

	return change == 0 ? 0 : hf_plan_add(plan, &step, err);
}

int hf_restore_plan_undo(const struct hf_session_record *session,
			 const struct hf_tree *now, struct hf_plan *ret_plan,
			 struct hf_error *err)
{
	cleanup_plan struct hf_plan plan = HF_PLAN_INIT;
	cleanup_free const struct hf_kept_record **records =
		calloc(session->kept_count + 1, sizeof(*records));
	int rc;

	if (!records)
		return hf_fail_memory(err);
	for (size_t i = 0; i < session->kept_count; i++)
		records[i] = &session->kept[i];
	qsort(records, session->kept_count, sizeof(*records), compare_records);

	for (size_t i = 0; i < session->kept_count; i++) {
		if (i > 0 && strcmp(records[i]->replaced->path,
				    records[i - 1]->replaced->path) == 0)
			continue;
		rc = add_record(&plan, records[i], now, err);
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
