/* SPDX-License-Identifier: MIT */
/* What a git hook decides about an entry: tables. */
#include "guard/hook.h"

#include <criterion/criterion.h>

#include "base/defs.h"

TestSuite(hook, .timeout = 60);

Test(hook, after)
{
	static const struct {
		const char *name;
		struct hf_hook_after entry;
		enum hf_hook_fate fate;
	} rows[] = {
		{"edited, not tracked", {.is_clean = true}, HF_FATE_LEAVE},
		{"tracked, edited", {.is_tracked = true}, HF_FATE_LEAVE},
		{"git has put it there",
		 {.is_tracked = true, .is_clean = true},
		 HF_FATE_RECORD},
		{"git has put damage there",
		 {.is_tracked = true, .is_clean = true, .is_damage = true},
		 HF_FATE_LEAVE},
		{"gone, not tracked", {.is_missing = true}, HF_FATE_PUT_BACK},
		{"gone, tracked",
		 {.is_missing = true, .is_tracked = true},
		 HF_FATE_LEAVE},
		{"gone, in a stash",
		 {.is_missing = true, .is_stashed = true},
		 HF_FATE_LEAVE_STASHED},
		{"gone with its branch, in a stash",
		 {.is_missing = true, .was_tracked = true, .is_stashed = true},
		 HF_FATE_LEAVE_STASHED},
		{"gone with its branch",
		 {.is_missing = true, .was_tracked = true},
		 HF_FATE_RECORD},
		{"gone with its branch, ignored",
		 {.is_missing = true, .was_tracked = true, .is_ignored = true},
		 HF_FATE_RECORD},
		{"gone with its branch, one of its own before",
		 {.is_missing = true, .was_tracked = true, .has_own = true},
		 HF_FATE_RECORD},
		{"gone with its branch, ignored, one of its own before",
		 {.is_missing = true,
		  .was_tracked = true,
		  .is_ignored = true,
		  .has_own = true},
		 HF_FATE_PUT_BACK_OWN},
		{"the same, removed by a person before",
		 {.is_missing = true,
		  .was_tracked = true,
		  .is_ignored = true,
		  .has_own = true,
		  .past = HF_PAST_PERSON},
		 HF_FATE_PUT_BACK_OWN},
		{"gone, by a person",
		 {.is_missing = true, .past = HF_PAST_PERSON},
		 HF_FATE_LEAVE_PERSON},
		{"gone again after a hook",
		 {.is_missing = true, .past = HF_PAST_HOOK},
		 HF_FATE_LEAVE_ONCE},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++)
		cr_expect_eq(hf_hook_judge_after(&rows[i].entry), rows[i].fate,
			     "%s: %d", rows[i].name,
			     hf_hook_judge_after(&rows[i].entry));
}

/* Whatever else is known, what a stash holds stays away, and so does what git
 * would check out itself. */
Test(hook, never_in_the_way_of_git)
{
	for (unsigned bits = 0; bits < 1u << 7; bits++) {
		const struct hf_hook_after entry = {
			.is_missing = true,
			.is_tracked = bits & 1,
			.is_clean = bits & 2,
			.was_tracked = bits & 4,
			.is_ignored = bits & 8,
			.has_own = bits & 16,
			.is_stashed = bits & 32,
			.past = bits & 64 ? HF_PAST_SEEN : HF_PAST_PERSON,
		};
		const enum hf_hook_fate fate = hf_hook_judge_after(&entry);

		if (entry.is_tracked || entry.is_stashed)
			cr_expect(fate != HF_FATE_PUT_BACK &&
					  fate != HF_FATE_PUT_BACK_OWN &&
					  fate != HF_FATE_RECORD,
				  "%u: %d", bits, fate);
	}
}

Test(hook, staged)
{
	static const struct {
		const char *name;
		struct hf_hook_staged entry;
		enum hf_hook_verdict verdict;
	} rows[] = {
		{"a person's edit", {.is_there = true}, HF_VERDICT_PASS},
		{"damage, and in the work tree",
		 {.is_there = true, .is_damage = true, .has_damage = true},
		 HF_VERDICT_STOP_PUT_BACK},
		{"damage, but the work tree is right",
		 {.is_there = true, .is_damage = true},
		 HF_VERDICT_STOP},
		{"damage in the work tree alone",
		 {.is_there = true, .has_damage = true},
		 HF_VERDICT_PASS},
		{"deleted", {.is_deleted = true}, HF_VERDICT_STOP_PUT_BACK},
		{"no longer tracked",
		 {.is_deleted = true, .is_there = true},
		 HF_VERDICT_PASS},
		{"deleted by a person",
		 {.is_deleted = true, .past = HF_PAST_PERSON},
		 HF_VERDICT_PASS},
		{"put back, and tried again",
		 {.is_deleted = true, .is_there = true, .past = HF_PAST_HOOK},
		 HF_VERDICT_STOP},
		{"put back, and removed again",
		 {.is_deleted = true, .past = HF_PAST_HOOK},
		 HF_VERDICT_PASS},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++)
		cr_expect_eq(hf_hook_judge_staged(&rows[i].entry),
			     rows[i].verdict, "%s: %d", rows[i].name,
			     hf_hook_judge_staged(&rows[i].entry));
}
