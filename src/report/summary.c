/* SPDX-License-Identifier: MIT */
/*
 * The last words of a run: what happened to each path, what to do, and one line
 * that sums it up.
 */
#include "report/text.h"

#include <inttypes.h>
#include <string.h>

#include "base/buffer.h"
#include "base/text.h"
#include "report/deed.h"
#include "report/groups.h"
#include "report/layers.h"
#include "report/lines.h"

struct tally {
	size_t groups;
	size_t violations;	/* of the command */
	size_t outside;
	size_t changed;
	size_t restored;
	size_t added;
	size_t moved;		/* away, of the added */
	size_t stuck;
	size_t undoable;
};

static void count_group(const struct hf_group *group, struct tally *tally)
{
	const struct hf_violation *best = group->best;
	const bool is_added = (best->change & HF_CHANGE_ADDED) != 0;
	const bool is_changed = best->change != 0 && !is_added;

	tally->groups++;
	tally->outside += group->fate == HF_FATE_OUTSIDE;
	if (group->fate != HF_FATE_OUTSIDE)
		tally->violations += group->count;
	if (group->fate != HF_FATE_LANDED)
		return;
	tally->changed += best->has_landed && is_changed;
	tally->restored += best->is_restored && is_changed;
	tally->added += best->has_landed && is_added;
	tally->moved += best->is_restored && is_added;
	tally->stuck += best->is_stuck;
	tally->undoable += hf_report_can_undo(best);
}

static void add_line(const struct hf_session *session,
		     const struct hf_group *group,
		     const struct hf_text_style *style, struct hf_buffer *out)
{
	hf_text_begin(out, style, NULL);
	hf_text_add_name(out, group->best->path);
	hf_buffer_add_text(out, ": ");
	hf_text_add_group(out, session, group, style->location);
	hf_buffer_add_text(out, "\n");
}

static struct tally add_groups(const struct hf_session *session,
			       struct hf_groups *groups,
			       const struct hf_text_style *style,
			       struct hf_buffer *out)
{
	struct tally tally = {.groups = 0};
	struct hf_group group;

	while (hf_groups_next(groups, &group)) {
		count_group(&group, &tally);
		/* What could not be put back is never left out. */
		if (group.best->is_stuck ||
		    (!style->is_quiet && tally.groups <= HF_GROUPS_SHOWN))
			add_line(session, &group, style, out);
	}
	if (!style->is_quiet && tally.groups > HF_GROUPS_SHOWN) {
		hf_text_begin(out, style, NULL);
		hf_buffer_printf(out,
				 "... and %zu more: see the report or "
				 "'holdfast log --json%s'\n",
				 tally.groups - HF_GROUPS_SHOWN,
				 style->location);
	}
	return tally;
}

static void add_leftovers(const struct hf_session *session,
			  const struct hf_text_style *style,
			  struct hf_buffer *out)
{
	for (size_t i = 0; i < session->leftovers.count; i++) {
		const struct hf_process *process = &session->leftovers.items[i];

		if (process->has_ended && style->is_quiet)
			continue;
		hf_text_begin(out, style, NULL);
		hf_buffer_add_text(
			out,
			process->has_ended_itself ?
				"waited for a process the command left "
				"behind: " :
			process->has_ended ?
				"ended a process the command left behind: " :
				"cannot end a process the command left "
				"behind: ");
		hf_text_add_process(out, process);
		hf_buffer_printf(out, " (pid %" PRId64 ")\n", process->pid);
	}
}

/* "(the command said 0)" */
static void add_command_said(const struct hf_session *session,
			     struct hf_buffer *out)
{
	if (!session->has_command_result)
		hf_buffer_add_text(out, " (the command did not run)");
	else if (session->was_stopped)
		hf_buffer_add_text(out, " (the command was ended)");
	else if (session->command_signal != 0)
		hf_buffer_printf(out, " (the command died of signal %d)",
				 session->command_signal);
	else
		hf_buffer_printf(out, " (the command said %d)",
				 session->command_code);
}

/* " and put back", or ", 1 put back" of several. */
static void add_settled(size_t settled, size_t all, const char *how,
			struct hf_buffer *out)
{
	if (settled == all)
		hf_buffer_printf(out, " and %s", how);
	else
		hf_buffer_printf(out, ", %zu %s", settled, how);
}

static void add_changed(const struct tally *tally, struct hf_buffer *out)
{
	if (tally->changed > 0 || tally->added == 0)
		hf_text_add_count(out, tally->changed, "file changed",
				  "files changed");
	if (tally->changed > 0)
		add_settled(tally->restored, tally->changed, "put back", out);
	if (tally->added == 0)
		return;
	hf_buffer_add_text(out, tally->changed > 0 ? ", " : "");
	hf_text_add_count(out, tally->added, "file added", "files added");
	add_settled(tally->moved, tally->added, "moved away", out);
}

static void add_left(const struct tally *tally, struct hf_buffer *out)
{
	if (tally->outside > 0)
		hf_buffer_printf(out, ", %zu changed outside the run and left",
				 tally->outside);
}

static void add_last_line(const struct hf_session *session,
			  const struct tally *tally,
			  const struct hf_text_style *style,
			  struct hf_buffer *out)
{
	hf_text_begin(out, style, NULL);
	hf_text_add_count(out, tally->violations, "violation", "violations");
	hf_buffer_add_text(out, ", ");
	add_changed(tally, out);
	add_left(tally, out);
	hf_buffer_printf(out, ", %zu of %zu verified", session->verified_count,
			 session->protected_count);
	if (session->exit_status != 0) {
		hf_buffer_printf(out, "; exit %d", session->exit_status);
		add_command_said(session, out);
	}
	hf_buffer_add_text(out, "\n");
}

/* What it held is gone with the store, unless the command moved it. */
static void add_gone(const struct tally *tally,
		     const struct hf_text_style *style, struct hf_buffer *out)
{
	hf_text_begin(out, style, "hint");
	hf_buffer_add_text(out, "what the store held is gone, unless it was "
				"moved: ");
	if (tally->stuck > 0)
		hf_buffer_printf(out,
				 "then move it back for 'holdfast restore%s'; "
				 "else bring back what is named above from "
				 "elsewhere\n",
				 style->location);
	else
		hf_buffer_add_text(out, "then move it back; else the next run "
					"records the files as they are\n");
}

/* The tree is right; what else the store held is not known here. */
static void add_mended(const struct hf_session *session,
		       const struct hf_text_style *style, struct hf_buffer *out)
{
	hf_text_begin(out, style, "hint");
	hf_buffer_add_text(out, "what this run needs of the store was written "
				"anew in ");
	hf_text_add_name(out, session->project->store.path);
	if (session->is_store_elsewhere)
		hf_buffer_add_text(out, ", since its own name is taken by "
					"something else: --store must name it "
					"from now on\n");
	else
		hf_buffer_printf(out,
				 "; 'holdfast verify --store%s' tells what else "
				 "is lost\n",
				 style->location);
}

/* What a person must do before the next run. */
static void add_unrestored(const struct hf_session *session,
			   const struct tally *tally,
			   const struct hf_text_style *style,
			   struct hf_buffer *out)
{
	if (session->error.code < 0)
		hf_report_text_error(&session->error, style, out);
	if (session->unended > 0) {
		hf_text_begin(out, style, NULL);
		hf_text_add_count(out, session->unended, "process",
				  "processes");
		hf_buffer_add_text(out, " of the command cannot be ended and "
					"may still write\n");
	}
	if (session->is_store_mended && session->unended == 0 &&
	    tally->stuck == 0 && !session->look_failed) {
		add_mended(session, style, out);
		return;
	}
	if (hf_report_is_store_gone(session)) {
		add_gone(tally, style, out);
		return;
	}
	hf_text_begin(out, style, "hint");
	if (session->unended > 0 && tally->stuck == 0 && !session->look_failed)
		hf_buffer_printf(out,
				 "when it has ended, 'holdfast verify%s' tells "
				 "whether it wrote after the last look\n",
				 style->location);
	else
		hf_buffer_printf(
			out,
			"%s'holdfast status%s' shows what differs, 'holdfast "
			"restore%s' tries again\n",
			tally->stuck > 0 ? "remove the cause, then " : "",
			style->location, style->location);
}

/* A status of ours that the command chose itself: one line, always. */
static void add_collision(const struct hf_session *session,
			  const struct hf_text_style *style,
			  struct hf_buffer *out)
{
	const int code = session->command_code;

	if (session->exit_status != 0 || !session->has_command_result ||
	    session->command_signal != 0)
		return;
	if (code != HF_STATUS_VIOLATION && code != HF_STATUS_UNDECIDED &&
	    code != HF_STATUS_FAILURE && code != HF_STATUS_NOT_EXECUTABLE &&
	    code != HF_STATUS_NOT_FOUND)
		return;
	hf_text_begin(out, style, NULL);
	/* It may be that of a run of another project. */
	hf_buffer_printf(out,
			 "exit %d is the command's own: no protected file of ",
			 code);
	hf_text_add_name(out, session->project->root);
	hf_buffer_add_text(out, " was touched\n");
}

static void add_allowed(const struct hf_session *session,
			const struct hf_text_style *style,
			struct hf_buffer *out)
{
	for (size_t i = 0; style->is_verbose && i < session->allowed_count;
	     i++) {
		hf_text_begin(out, style, NULL);
		hf_text_add_name(out, session->allowed[i]);
		hf_buffer_add_text(out, ": changed, as the policy allows\n");
	}
}

static void add_beside(const struct hf_session *session,
		       const struct hf_text_style *style, struct hf_buffer *out)
{
	const size_t others = session->beside_count - 1;

	if (session->beside_count == 0 || style->is_quiet)
		return;
	hf_text_begin(out, style, "note");
	hf_text_add_name(out, session->beside_path);
	if (others > 0)
		hf_buffer_printf(out, " and %zu %s", others,
				 others == 1 ? "other" : "others");
	hf_buffer_printf(out,
			 "%s changed by another run beside this one (session "
			 "%" PRIu64 "), and put back\n",
			 others > 0 ? " were" : " was",
			 hf_name_number(&session->beside_session));
}

void hf_report_text_finished(const struct hf_session *session,
			     const struct hf_text_style *style,
			     struct hf_buffer *out)
{
	const bool has_violations = session->violations.count > 0;
	cleanup_groups struct hf_groups groups = HF_GROUPS_INIT;
	struct tally tally;

	if (!hf_groups_init(&groups, session)) {
		out->is_failed = true;
		return;
	}
	/* Events can be lost at any time; the rest was said at the start. */
	if (!session->is_watch_told)
		hf_report_text_watch(session, style, out);
	if (style->is_verbose || (has_violations && !style->is_quiet) ||
	    session->unended > 0)
		add_leftovers(session, style, out);
	tally = add_groups(session, &groups, style, out);
	add_allowed(session, style, out);
	add_beside(session, style, out);
	hf_text_add_side_effects(out, session, style);
	hf_text_add_layers(out, session, style);
	if (session->status == HF_SESSION_UNRESTORED)
		add_unrestored(session, &tally, style, out);
	else if ((session->status == HF_SESSION_ERROR ||
		  session->exec_errno != 0 || session->is_survivor) &&
		 session->error.code < 0)
		hf_report_text_error(&session->error, style, out);
	if (tally.undoable > 0 && !style->is_quiet &&
	    !hf_report_is_store_gone(session)) {
		hf_text_begin(out, style, NULL);
		hf_buffer_add_text(out, "undo: ");
		hf_text_add_undo(out, &session->name, style->location);
		hf_buffer_add_text(out, "\n");
	}
	if (has_violations || session->status == HF_SESSION_UNRESTORED ||
	    (session->status == HF_SESSION_ERROR &&
	     session->exec_errno == 0) || style->is_verbose)
		add_last_line(session, &tally, style, out);
	add_collision(session, style, out);
}
