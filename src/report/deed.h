/* SPDX-License-Identifier: MIT */
/*
 * What was done and by whom, in words: the part that all that is told of a
 * violation has in common.  All of it is safe for a terminal.
 */
#ifndef HF_REPORT_DEED_H
#define HF_REPORT_DEED_H

#include <stdbool.h>

#include "report/groups.h"

struct hf_buffer;

/* What was tried, as a noun: "open for writing"; the call itself when it has no
 * words of its own. */
const char *hf_deed_attempt(const struct hf_violation *violation);
/* "open for writing, rename": of all in the group. */
void hf_text_add_attempts(struct hf_buffer *out, const struct hf_group *group);
/* How a refusal left things: "the file is unchanged". */
const char *hf_deed_unchanged(const struct hf_violation *violation);
/* Is anybody named for certain? */
bool hf_deed_has_actor(const struct hf_group *group);
/*
 * " by TEST (python3, pid 4711)", "during" where the test is not certain, " by
 * python3 (pid 4711: python3 -m x)" without a test; " (perhaps python3 -m x,
 * pid 4711)" where nobody is certain; nothing where nobody is known.
 */
void hf_text_add_actor(struct hf_buffer *out, const struct hf_group *group);
/* " (vim, pid 12)": who has changed this path beside the run, if it is known.
 */
void hf_text_add_outsider(struct hf_buffer *out,
			  const struct hf_session *session,
			  const struct hf_violation *violation);
/* A test as its runner names it; that it was in its "(call)" goes without
 * saying. */
void hf_text_add_test(struct hf_buffer *out, const char *test);

/* Was something replaced?  A mode or a removal is undone without a copy. */
bool hf_report_can_undo(const struct hf_violation *violation);
/* A person's change beside the run that replaced something: does the snapshot
 * of the run hold what was there before? */
bool hf_report_can_go_back(const struct hf_session *session,
			   const struct hf_violation *violation);
/* The command that helps: it puts back, goes back behind a person's change, or
 * brings back what was replaced.  Nothing when there is none, as for what was
 * refused.  location as in struct hf_text_style. */
void hf_text_add_fix(struct hf_buffer *out, const struct hf_session *session,
		     const struct hf_violation *violation,
		     const char *location);
/* Did the command remove the store?  Then no command of ours helps. */
bool hf_report_is_store_gone(const struct hf_session *session);

#endif /* HF_REPORT_DEED_H */
