/* SPDX-License-Identifier: MIT */
/* What the facts about an operation mean. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "guard/doctor.h"

static const struct hf_operation plain = {.name = "a", .number = 1};
static const struct hf_operation absent = {.name = "a", .number = -1};
static const struct hf_operation of_root = {
	.name = "a", .number = 1, .traits = HF_OPERATION_PRIVILEGED};
static const struct hf_operation denied = {
	.name = "a", .number = 1, .traits = HF_OPERATION_DENIED};

static const struct {
	const char *name;
	const struct hf_operation *operation;
	struct hf_doctor_row row;
	bool is_root;
	enum hf_layer_state gate;
	enum hf_doctor_verdict verdict;
} rows[] = {
	{"refused",
	 &plain,
	 {.is_tried = true,
	  .is_same = true,
	  .is_refused = true,
	  .error = EACCES},
	 false,
	 HF_LAYER_ON,
	 HF_DOCTOR_REFUSED},
	{"refused, but it happened",
	 &plain,
	 {.is_tried = true, .is_refused = true, .error = EACCES},
	 false,
	 HF_LAYER_ON,
	 HF_DOCTOR_UNCOVERED},
	{"fails, and nobody refused it",
	 &plain,
	 {.is_tried = true, .is_same = true, .error = EACCES},
	 false,
	 HF_LAYER_ON,
	 HF_DOCTOR_IMPOSSIBLE},
	{"restored",
	 &plain,
	 {.is_tried = true,
	  .is_same = true,
	  .is_noticed = true,
	  .was_damaged = true},
	 false,
	 HF_LAYER_UNAVAILABLE,
	 HF_DOCTOR_RESTORED},
	{"noticed, not restored",
	 &plain,
	 {.is_tried = true, .is_noticed = true, .was_damaged = true},
	 false,
	 HF_LAYER_ON,
	 HF_DOCTOR_UNCOVERED},
	{"restored, not told",
	 &plain,
	 {.is_tried = true, .is_same = true, .was_damaged = true},
	 false,
	 HF_LAYER_ON,
	 HF_DOCTOR_UNCOVERED},
	{"nothing happened",
	 &plain,
	 {.is_tried = true, .is_same = true},
	 false,
	 HF_LAYER_ON,
	 HF_DOCTOR_IMPOSSIBLE},
	{"not tried",
	 &plain,
	 {.is_tried = false},
	 false,
	 HF_LAYER_ON,
	 HF_DOCTOR_UNCOVERED},
	{"absent",
	 &absent,
	 {.is_tried = false},
	 true,
	 HF_LAYER_ON,
	 HF_DOCTOR_IMPOSSIBLE},
	{"root's, by a user",
	 &of_root,
	 {.is_tried = false},
	 false,
	 HF_LAYER_ON,
	 HF_DOCTOR_IMPOSSIBLE},
	{"root's, by root, not tried",
	 &of_root,
	 {.is_tried = false},
	 true,
	 HF_LAYER_ON,
	 HF_DOCTOR_UNCOVERED},
	{"denied by the gate",
	 &denied,
	 {.is_tried = true, .is_same = true, .error = ENOSYS},
	 false,
	 HF_LAYER_ON,
	 HF_DOCTOR_REFUSED},
	{"the command was ended",
	 &plain,
	 {.is_tried = true, .is_same = true, .was_ended = true},
	 false,
	 HF_LAYER_ON,
	 HF_DOCTOR_REFUSED},
	{"the command was ended too late",
	 &plain,
	 {.is_tried = true, .was_ended = true},
	 false,
	 HF_LAYER_ON,
	 HF_DOCTOR_UNCOVERED},
	{"unknown to the kernel",
	 &denied,
	 {.is_tried = true, .is_same = true, .error = ENOSYS},
	 false,
	 HF_LAYER_UNAVAILABLE,
	 HF_DOCTOR_IMPOSSIBLE},
};

Test(doctor_judge, verdicts)
{
	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		struct hf_doctor_row row = rows[i].row;

		hf_doctor_judge(&row, rows[i].operation, rows[i].is_root,
				rows[i].gate);
		cr_expect_eq(row.verdict, rows[i].verdict, "%s: %d",
			     rows[i].name, (int)row.verdict);
	}
}

Test(doctor_judge, there_is_room_for_all)
{
	cr_expect_not_null(hf_operation_at(0));
	cr_expect_null(hf_operation_at(HF_DOCTOR_ROWS));
}
