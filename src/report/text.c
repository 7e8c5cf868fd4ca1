/* SPDX-License-Identifier: MIT */
/* What a run says at its start and when something happens. */
#include "report/text.h"

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/text.h"
#include "report/comments.h"
#include "report/deed.h"
#include "report/lines.h"

#define NAMES_SHOWN 3 /* protected names on a first session */
#define DRIFT_SHOWN 10

static void begin_note(struct hf_buffer *out, const struct hf_text_style *style)
{
	hf_text_begin(out, style, "note");
}

/* "6 entries (a.toml, b.toml, c.toml and 3 more)" */
static void add_protected(const struct hf_session *session,
			  struct hf_buffer *out)
{
	const struct hf_tree *tree = &session->snapshot.tree;
	size_t shown = 0;

	hf_text_add_count(out, session->protected_count, "entry", "entries");
	for (size_t i = 0; i < tree->count && shown < NAMES_SHOWN; i++) {
		const struct hf_entry *entry = &tree->entries[i];

		if (entry->role != HF_ROLE_PROTECTED ||
		    entry->stat.kind == HF_KIND_ABSENT)
			continue;
		hf_buffer_add_text(out, shown++ == 0 ? " (" : ", ");
		hf_text_add_name(out, entry->path);
	}
	if (shown < session->protected_count && shown > 0)
		hf_buffer_printf(out, " and %zu more",
				 session->protected_count - shown);
	hf_buffer_add_text(out, shown > 0 ? ")" : "");
}

static void add_first(const struct hf_session *session,
		      const struct hf_text_style *style, struct hf_buffer *out)
{
	hf_text_begin(out, style, NULL);
	hf_buffer_add_text(out, "first run here: protects ");
	add_protected(session, out);
	hf_buffer_add_text(out, " in ");
	hf_text_add_name(out, session->project->root);
	hf_buffer_add_text(out, "\n");
	hf_text_begin(out, style, NULL);
	hf_buffer_add_text(out, "what they hold is recorded in ");
	hf_text_add_name(out, session->project->store_path);
	hf_buffer_add_text(out, "\n");
	hf_text_begin(out, style, NULL);
	hf_buffer_printf(out,
			 "what a run changes is put back, and the changed "
			 "version kept: 'holdfast undo%s' brings it "
			 "back\n",
			 style->location);
}

/* Has what was before another content, of the kind that can be looked at? */
static bool has_other_content(const struct hf_delta *delta)
{
	return (delta->change &
		(HF_CHANGE_CONTENT | HF_CHANGE_MISSING | HF_CHANGE_KIND)) &&
	       (delta->before->has_hash || delta->before->link != NULL);
}

/* What a person did to it, and how to look at, or go back to, what was.  It is
 * recorded by now, so that what was before is the first step. */
static void add_drifted(const struct hf_session *session,
			const struct hf_delta *delta, const char *ago,
			const struct hf_text_style *style,
			struct hf_buffer *out)
{
	begin_note(out, style);
	hf_text_add_name(out, hf_delta_entry(delta)->path);
	hf_buffer_printf(out, " changed since the last run%s: ", ago);
	hf_text_add_difference(out, delta);
	hf_report_drift_comments(session, delta, out);
	if (delta->before != NULL && !(delta->change & HF_CHANGE_ADDED)) {
		hf_buffer_add_text(out, "; before: ");
		if (has_other_content(delta))
			hf_text_add_show_before(out, session->project,
						delta->before->path,
						style->location);
		else
			hf_text_add_restore(
				out, session->project, &session->previous,
				delta->before->path, style->location);
	}
	hf_buffer_add_text(out, "\n");
}

/* What commands may change is no drift; nor is what the policy did not name. */
static bool is_drift(const struct hf_session *session,
		     const struct hf_delta *delta)
{
	return hf_delta_entry(delta)->role != HF_ROLE_ALLOWED &&
	       !(session->has_policy_changed &&
		 delta->change & HF_CHANGE_ADDED);
}

static void add_drift(const struct hf_session *session,
		      const struct hf_deltas *drift,
		      const struct hf_text_style *style, struct hf_buffer *out)
{
	char ago[sizeof(struct hf_short_text) + 8] = "";
	struct hf_short_text span;
	size_t count = 0;

	if (session->previous_ns > 0)
		(void)snprintf(ago, sizeof(ago), " (%s ago)",
			       hf_format_span(&span, session->started_ns -
							     session->previous_ns));
	for (size_t i = 0; i < drift->count; i++)
		if (is_drift(session, &drift->items[i]) &&
		    count++ < DRIFT_SHOWN)
			add_drifted(session, &drift->items[i], ago, style, out);
	if (count <= DRIFT_SHOWN)
		return;
	begin_note(out, style);
	hf_buffer_printf(out,
			 "... and %zu more changed; all: holdfast verify ",
			 count - DRIFT_SHOWN);
	hf_text_add_number(out, &session->previous);
	hf_buffer_printf(out, "%s\n", style->location);
}

/* Each line of text as a note of its own. */
static void add_notes(const char *text, const struct hf_text_style *style,
		      struct hf_buffer *out)
{
	while (text != NULL && text[0] != '\0') {
		const size_t len = strcspn(text, "\n");

		begin_note(out, style);
		hf_buffer_add_quoted(out, text, len);
		hf_buffer_add_text(out, "\n");
		text += len;
		text += text[0] == '\n' ? 1 : 0;
	}
}

static void add_verbose(const struct hf_session *session,
			const struct hf_text_style *style,
			struct hf_buffer *out)
{
	hf_text_begin(out, style, NULL);
	hf_buffer_add_text(out, "protects ");
	add_protected(session, out);
	hf_buffer_printf(out, "; snapshot %s, ", session->snapshot.name.text);
	if (session->recorded.is_new) {
		struct hf_short_text size;

		hf_text_add_count(out, session->recorded.archived,
				  "new content", "new contents");
		hf_buffer_printf(
			out, " (%s)\n",
			hf_format_size(&size,
				       session->recorded.archived_bytes));
	} else {
		hf_buffer_add_text(out, "nothing new\n");
	}
	hf_text_begin(out, style, NULL);
	hf_buffer_printf(out, "session %s\n", session->name.text);
}

static void add_risk(const struct hf_session *session,
		     const struct hf_text_style *style, struct hf_buffer *out)
{
	const char *const risk = hf_text_store_risk(&session->project->store);

	if (!risk)
		return;
	begin_note(out, style);
	hf_buffer_printf(out, "the store lies %s; --store DIR puts it "
			      "elsewhere\n",
			 risk);
}

static void add_lost(const struct hf_pack_lost *lost,
		     const struct hf_text_style *style, struct hf_buffer *out)
{
	begin_note(out, style);
	hf_text_add_lost(out, lost);
	hf_buffer_add_text(out, "; what the tree still has of that is archived "
				"again\n");
}

void hf_report_text_begun(const struct hf_session *session,
			  const struct hf_deltas *drift,
			  const struct hf_text_style *style,
			  struct hf_buffer *out)
{
	if (style->is_quiet)
		return;
	if (session->is_first)
		add_first(session, style, out);
	if (session->is_first)
		add_risk(session, style, out);
	if (style->is_verbose)
		add_verbose(session, style, out);
	if (session->has_policy_changed) {
		begin_note(out, style);
		hf_buffer_add_text(out, "the policy changed since the last "
					"run: ");
		if (session->protected_before == session->protected_count)
			hf_buffer_printf(out, "it still protects %zu\n",
					 session->protected_count);
		else
			hf_buffer_printf(out, "protects %zu -> %zu\n",
					 session->protected_before,
					 session->protected_count);
	}
	if (session->recorded.lost.count > 0)
		add_lost(&session->recorded.lost, style, out);
	if (drift != NULL)
		add_drift(session, drift, style, out);
	/* What is worth a note does not change from run to run. */
	if (session->notes != NULL &&
	    (session->is_first || session->has_policy_changed ||
	     style->is_verbose))
		add_notes(session->notes->data, style, out);
}

void hf_report_text_violation(const struct hf_session *session,
			      const struct hf_violation *violation,
			      const struct hf_text_style *style,
			      struct hf_buffer *out)
{
	const struct hf_group group = hf_group_of(&violation);

	if (style->is_quiet)
		return;
	hf_text_begin(out, style, hf_report_fate_word(group.fate));
	hf_text_add_name(out, violation->path);
	hf_buffer_add_text(out, ": ");
	switch (group.fate) {
	case HF_FATE_REFUSED:
		hf_text_add_attempts(out, &group);
		hf_text_add_actor(out, &group);
		hf_buffer_printf(out, "; %s", hf_deed_unchanged(violation));
		break;
	case HF_FATE_OUTSIDE:
		hf_text_add_left(out, session, violation);
		break;
	case HF_FATE_LANDED:
		hf_text_add_done(out, violation->operation);
		hf_text_add_actor(out, &group);
		break;
	}
	hf_buffer_add_text(out, "\n");
}

const char *hf_report_fate_word(enum hf_fate fate)
{
	return fate == HF_FATE_REFUSED ? "refused" : "changed";
}
