/* SPDX-License-Identifier: MIT */
/*
 * What a git hook does with an entry, from what is known about it: pure.
 *
 * Of what is gone, only that comes back which git does not have and nobody is
 * known to have removed; of what is staged, only that stops a commit which a
 * run is known to have damaged or which would be lost.
 */
#ifndef HF_GUARD_HOOK_H
#define HF_GUARD_HOOK_H

#include <stdbool.h>

/* What the journals say last of a path that is recorded and gone. */
enum hf_hook_past {
	HF_PAST_SEEN,  /* a run has seen it since, or nobody says anything */
	HF_PAST_HOOK,  /* a hook has put it back, and nobody saw it since */
	HF_PAST_PERSON /* a person has removed it, or wants it so */
};

/* -- after a checkout, merge or rewrite -------------------------------------
 */

/* An entry that differs from what is recorded. */
struct hf_hook_after {
	bool is_missing;
	bool is_tracked;  /* it is in the index */
	bool is_clean;	  /* and as git put it there */
	bool is_damage;	  /* as a run left it, which git had taken */
	bool was_tracked; /* in what was checked out before */
	bool is_ignored;  /* by git; asked only where it matters */
	bool has_own;	  /* a content is recorded that git did not have */
	bool is_stashed;
	enum hf_hook_past past;
};

enum hf_hook_fate {
	HF_FATE_LEAVE,
	HF_FATE_LEAVE_STASHED,
	HF_FATE_LEAVE_PERSON, /* who removed it */
	HF_FATE_LEAVE_ONCE,   /* it was put back before */
	HF_FATE_RECORD,	      /* git has done it: that is the new state */
	HF_FATE_PUT_BACK,
	HF_FATE_PUT_BACK_OWN /* what was there before git's */
};

enum hf_hook_fate hf_hook_judge_after(const struct hf_hook_after *entry);

/* -- before a commit --------------------------------------------------------
 */

/* A recorded path that the commit would change. */
struct hf_hook_staged {
	bool is_deleted; /* and not renamed */
	bool is_there;	 /* in the work tree */
	bool is_damage;	 /* what is staged is what a run did to it */
	bool has_damage; /* so is what is in the work tree */
	enum hf_hook_past past;
};

enum hf_hook_verdict {
	HF_VERDICT_PASS,
	HF_VERDICT_STOP, /* the work tree is right, or a person's */
	HF_VERDICT_STOP_PUT_BACK
};

enum hf_hook_verdict hf_hook_judge_staged(const struct hf_hook_staged *entry);

#endif /* HF_GUARD_HOOK_H */
