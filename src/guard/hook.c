/* SPDX-License-Identifier: MIT */
/* Decide about one entry in a git hook. */
#include "guard/hook.h"

/*
 * What git had is git's to remove: it brings it back, too.  But where it first
 * wrote over a file that it was told to ignore, that one is in the store alone.
 */
static enum hf_hook_fate judge_removed_by_git(const struct hf_hook_after *entry)
{
	return entry->is_ignored && entry->has_own ? HF_FATE_PUT_BACK_OWN
						   : HF_FATE_RECORD;
}

enum hf_hook_fate hf_hook_judge_after(const struct hf_hook_after *entry)
{
	if (!entry->is_missing)
		return entry->is_tracked && entry->is_clean && !entry->is_damage
			       ? HF_FATE_RECORD
			       : HF_FATE_LEAVE;
	if (entry->is_tracked)
		return HF_FATE_LEAVE;
	/* Popping the stash fails where the name is taken. */
	if (entry->is_stashed)
		return HF_FATE_LEAVE_STASHED;
	if (entry->was_tracked)
		return judge_removed_by_git(entry);
	switch (entry->past) {
	case HF_PAST_PERSON:
		return HF_FATE_LEAVE_PERSON;
	case HF_PAST_HOOK:
		return HF_FATE_LEAVE_ONCE;
	case HF_PAST_SEEN:
		break;
	}
	return HF_FATE_PUT_BACK;
}

/*
 * `git rm --cached` leaves the file where it is: that loses nothing.  But one
 * that a hook has put back may not slip through at the second try.
 */
static enum hf_hook_verdict judge_deleted(const struct hf_hook_staged *entry)
{
	if (entry->past == HF_PAST_PERSON)
		return HF_VERDICT_PASS;
	if (entry->is_there)
		return entry->past == HF_PAST_HOOK ? HF_VERDICT_STOP
						   : HF_VERDICT_PASS;
	/* Who removes it again means it. */
	return entry->past == HF_PAST_HOOK ? HF_VERDICT_PASS
					   : HF_VERDICT_STOP_PUT_BACK;
}

enum hf_hook_verdict hf_hook_judge_staged(const struct hf_hook_staged *entry)
{
	if (entry->is_deleted)
		return judge_deleted(entry);
	if (!entry->is_damage)
		return HF_VERDICT_PASS;
	return entry->has_damage ? HF_VERDICT_STOP_PUT_BACK : HF_VERDICT_STOP;
}
