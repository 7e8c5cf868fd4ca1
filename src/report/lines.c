/* SPDX-License-Identifier: MIT */
/* One line a group: what was done, by whom, and what came of it. */
#include "report/lines.h"

#include <string.h>

#include "base/buffer.h"
#include "report/comments.h"
#include "report/deed.h"
#include "report/words.h"

/* "; put back, the other version is kept: PATH" */
static void add_kept(const struct hf_session *session,
		     const struct hf_violation *violation,
		     struct hf_buffer *out)
{
	if (violation->kept == NULL || violation->kept[0] == '\0')
		return;
	if (violation->kept_count > 1)
		hf_buffer_printf(out,
				 ", %zu other versions are kept, the last: ",
				 violation->kept_count);
	else if (violation->change & HF_CHANGE_ADDED)
		hf_buffer_add_text(out, ", kept: ");
	else
		hf_buffer_add_text(out, ", the other version is kept: ");
	hf_text_add_name(out, session->project->store_path);
	hf_buffer_add_text(out, "/");
	hf_text_add_name(out, violation->kept);
}

static void add_end_of_path(const struct hf_session *session,
			    const struct hf_violation *violation,
			    struct hf_buffer *out)
{
	if (violation->is_stuck) {
		hf_buffer_add_text(out, "; cannot be put back");
		if (violation->error != NULL)
			hf_buffer_printf(out, ": %s", violation->error);
	} else if (violation->is_restored) {
		hf_buffer_add_text(out, violation->change & HF_CHANGE_ADDED
						? "; moved away"
						: "; put back");
	}
	add_kept(session, violation, out);
}

/* As it was when it was last looked at: it may have been changed before, too.
 */
static void add_change(const struct hf_session *session,
		       const struct hf_violation *violation,
		       struct hf_buffer *out)
{
	struct hf_delta delta = {
		.before = violation->before.path == NULL ? NULL
							 : &violation->before,
		.after = violation->has_after ? &violation->after : NULL,
		.change = violation->change,
	};
	const unsigned last = hf_compare_entry(delta.before, delta.after);

	if (delta.after != NULL && last != 0)
		delta.change = last;
	hf_text_add_difference(out, &delta);
	if (!(delta.change & HF_CHANGE_MISSING))
		hf_report_comments(session, violation, out);
}

/* Without an actor what is different says enough of what was done. */
static void add_landed(const struct hf_session *session,
		       const struct hf_group *group, struct hf_buffer *out)
{
	const struct hf_violation *violation = group->best;
	const bool is_told = violation->change == 0 || hf_deed_has_actor(group);

	if (is_told)
		hf_text_add_done(out, violation->operation);
	if (hf_deed_has_actor(group))
		hf_text_add_actor(out, group);
	if (violation->change != 0) {
		hf_buffer_add_text(out, is_told ? ": " : "");
		add_change(session, violation, out);
	}
	if (violation->change != 0 || violation->is_stuck)
		add_end_of_path(session, violation, out);
	else
		/* By whom is not known: not by us. */
		hf_buffer_add_text(out, violation->before.path == NULL
						? ", and is gone again"
						: ", and is again as it was");
}

static void add_refused(const struct hf_group *group, struct hf_buffer *out)
{
	hf_buffer_add_text(out, "refused");
	if (group->times > 1) {
		hf_buffer_add_text(out, " ");
		hf_text_add_many(out, group->times);
		hf_buffer_add_text(out, " times");
	}
	hf_buffer_add_text(out, ": ");
	hf_text_add_attempts(out, group);
	hf_text_add_actor(out, group);
}

void hf_text_add_left(struct hf_buffer *out, const struct hf_session *session,
		      const struct hf_violation *violation)
{
	static const char *const edits[] = {"write", "content", "replace"};
	bool is_edit = false;

	for (size_t i = 0; i < HF_COUNT(edits); i++)
		is_edit |= strcmp(violation->operation, edits[i]) == 0;
	if (is_edit)
		hf_buffer_add_text(out, "edited");
	else
		hf_text_add_done(out, violation->operation);
	hf_buffer_add_text(out, " outside the run");
	hf_text_add_outsider(out, session, violation);
	hf_buffer_add_text(out, " and left so");
}

/* What a person did stays, so they must know how to go back. */
static void add_outside(const struct hf_session *session,
			const struct hf_violation *violation,
			const char *location, struct hf_buffer *out)
{
	hf_text_add_left(out, session, violation);
	if (violation->change != 0) {
		hf_buffer_add_text(out, ": ");
		add_change(session, violation, out);
	}
	if (hf_report_can_go_back(session, violation) &&
	    !hf_report_is_store_gone(session)) {
		hf_buffer_add_text(out, "; before: ");
		hf_text_add_restore(out, session->project,
				    &session->snapshot.name, violation->path,
				    location);
	}
}

void hf_text_add_group(struct hf_buffer *out, const struct hf_session *session,
		       const struct hf_group *group, const char *location)
{
	switch (group->fate) {
	case HF_FATE_REFUSED:
		add_refused(group, out);
		break;
	case HF_FATE_OUTSIDE:
		add_outside(session, group->best, location, out);
		break;
	case HF_FATE_LANDED:
		add_landed(session, group, out);
		break;
	}
}
