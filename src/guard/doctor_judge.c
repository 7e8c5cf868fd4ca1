/* SPDX-License-Identifier: MIT */
/* What the facts about one operation mean; pure. */
#include "guard/doctor.h"

static void set(struct hf_doctor_row *row, enum hf_doctor_verdict verdict,
		const char *why)
{
	row->verdict = verdict;
	row->why = why;
}

/* It was not performed, or the calls have failed. */
static void judge_failed(struct hf_doctor_row *row,
			 const struct hf_operation *operation, bool is_root,
			 enum hf_layer_state gate)
{
	if (operation->number < 0)
		set(row, HF_DOCTOR_IMPOSSIBLE,
		    "this architecture has no such call");
	else if (!is_root && (operation->traits & HF_OPERATION_PRIVILEGED))
		set(row, HF_DOCTOR_IMPOSSIBLE, "only root can");
	else if (!row->is_tried)
		set(row, HF_DOCTOR_UNCOVERED, "it could not be tried");
	else if (row->was_ended)
		set(row, HF_DOCTOR_REFUSED,
		    "by a lease: the whole command was ended");
	else if (row->is_refused)
		set(row, HF_DOCTOR_REFUSED, "");
	else if ((operation->traits & HF_OPERATION_DENIED) &&
		 row->error == ENOSYS && gate == HF_LAYER_ON)
		set(row, HF_DOCTOR_REFUSED, "the call is denied altogether");
	else
		set(row, HF_DOCTOR_IMPOSSIBLE, NULL);
}

/* It happened, and is still so. */
static const char *why_uncovered(const struct hf_doctor_row *row)
{
	if (row->is_stuck)
		return "it could not be put back";
	if (row->is_left)
		return "it was taken for an edit from outside, and left";
	if (row->is_noticed)
		return "it was noticed, but not undone";
	return "nothing noticed it";
}

void hf_doctor_judge(struct hf_doctor_row *row,
		     const struct hf_operation *operation, bool is_root,
		     enum hf_layer_state gate)
{
	const char *lets_through = operation->traits & HF_OPERATION_UPDATE
					   ? "opened for update"
					   : "the gate let it through";

	if (row->is_tried && !row->is_same)
		set(row, HF_DOCTOR_UNCOVERED, why_uncovered(row));
	else if (row->is_noticed)
		set(row, HF_DOCTOR_RESTORED,
		    gate == HF_LAYER_ON ? lets_through : "there is no gate");
	else if (row->was_damaged)
		set(row, HF_DOCTOR_UNCOVERED, "it was undone, but not told");
	else if (row->is_tried && row->error == 0 && !row->was_ended)
		set(row, HF_DOCTOR_IMPOSSIBLE, "it changes nothing here");
	else
		judge_failed(row, operation, is_root, gate);
}
