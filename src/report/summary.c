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
#include "report/comments.h"

#define PATHS_SHOWN 20

/* Which of a path's violations tells the most about how it ended. */
static unsigned weight(const struct hf_violation *violation)
{
	return (violation->is_stuck ? 4u : 0) +
	       (violation->has_landed ? 2u : 0) +
	       (violation->change != 0 ? 1u : 0);
}

static int by_path(const void *a, const void *b)
{
	const struct hf_violation *const *left = a;
	const struct hf_violation *const *right = b;

	return strcmp((*left)->path, (*right)->path);
}

/* The one of the violations of one path that stands for it, and how many there
 * are: sorted[0] and those behind it. */
static const struct hf_violation *spokesman(struct hf_violation *const *sorted,
					    size_t count, size_t *ret_same)
{
	const struct hf_violation *best = sorted[0];
	size_t same = 1;

	while (same < count && strcmp(sorted[same]->path, best->path) == 0) {
		if (weight(sorted[same]) > weight(best))
			best = sorted[same];
		same++;
	}
	*ret_same = same;
	return best;
}

/* "; put back, the other version is kept: PATH" */
static void add_kept(const struct hf_session *session,
		     const struct hf_violation *violation,
		     struct hf_buffer *out)
{
	if (violation->kept == NULL || violation->kept[0] == '\0')
		return;
	if (violation->kept_count > 1)
		hf_buffer_printf(out, ", %zu other versions are kept, the last: ",
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
		hf_buffer_add_text(out, violation->change & HF_CHANGE_ADDED ?
						"; moved away" :
						"; put back");
	}
	add_kept(session, violation, out);
}

/* As it was when it was last looked at: it may have been changed before, too. */
static void add_change(const struct hf_session *session,
		       const struct hf_violation *violation,
		       struct hf_buffer *out)
{
	struct hf_delta delta = {
		.before = violation->before.path == NULL ? NULL :
							   &violation->before,
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

static void add_path(const struct hf_session *session,
		     const struct hf_violation *violation,
		     const struct hf_text_style *style, struct hf_buffer *out)
{
	hf_text_begin(out, style, NULL);
	hf_text_add_name(out, violation->path);
	hf_buffer_add_text(out, ": ");
	if (violation->change == 0 && violation->is_stuck) {
		hf_text_add_done(out, violation->operation);
		add_end_of_path(session, violation, out);
	} else if (violation->change == 0) {
		/* By whom is not known: not by us. */
		hf_text_add_done(out, violation->operation);
		hf_buffer_add_text(out, violation->before.path == NULL ?
						", and is gone again" :
						", and is again as it was");
	} else {
		add_change(session, violation, out);
		add_end_of_path(session, violation, out);
	}
	hf_buffer_add_text(out, "\n");
}

bool hf_report_can_undo(const struct hf_violation *violation)
{
	return violation->kept != NULL ||
	       (violation->is_restored && violation->change != 0);
}

bool hf_report_can_go_back(const struct hf_violation *violation)
{
	return violation->is_outside && violation->change != 0 &&
	       !(violation->change & HF_CHANGE_ADDED);
}

bool hf_report_is_store_gone(const struct hf_session *session)
{
	return session->is_store_lost &&
	       hf_store_is_gone(&session->project->store);
}

struct tally {
	size_t paths;
	size_t changed;
	size_t restored;
	size_t added;
	size_t moved;		/* away, of the added */
	size_t stuck;
	size_t undoable;
};

static void count_path(const struct hf_violation *best, struct tally *tally)
{
	const bool is_added = (best->change & HF_CHANGE_ADDED) != 0;
	const bool is_changed = best->change != 0 && !is_added;

	tally->paths++;
	tally->changed += best->has_landed && is_changed;
	tally->restored += best->is_restored && is_changed;
	tally->added += best->has_landed && is_added;
	tally->moved += best->is_restored && is_added;
	tally->stuck += best->is_stuck;
	tally->undoable += hf_report_can_undo(best);
}

/* sorted: the violations by path. */
static struct tally add_paths(const struct hf_session *session,
			      struct hf_violation *const *sorted,
			      const struct hf_text_style *style,
			      struct hf_buffer *out)
{
	struct tally tally = { .paths = 0 };
	size_t same;

	for (size_t i = 0; i < session->violations.count; i += same) {
		const struct hf_violation *best = spokesman(
			sorted + i, session->violations.count - i, &same);

		count_path(best, &tally);
		/* What could not be put back is never left out. */
		if (best->is_stuck ||
		    (!style->is_quiet && tally.paths <= PATHS_SHOWN))
			add_path(session, best, style, out);
	}
	if (!style->is_quiet && tally.paths > PATHS_SHOWN) {
		hf_text_begin(out, style, NULL);
		hf_buffer_printf(out,
				 "... and %zu more: see the report or "
				 "'holdfast log --json%s'\n",
				 tally.paths - PATHS_SHOWN, style->location);
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

static void add_last_line(const struct hf_session *session,
			  const struct tally *tally,
			  const struct hf_text_style *style,
			  struct hf_buffer *out)
{
	hf_text_begin(out, style, NULL);
	hf_text_add_count(out, session->violations.count, "violation",
			  "violations");
	hf_buffer_add_text(out, ", ");
	add_changed(tally, out);
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

void hf_report_text_watch(const struct hf_session *session,
			  const struct hf_text_style *style,
			  struct hf_buffer *out)
{
	if (session->is_watch_complete || style->is_quiet)
		return;
	hf_text_begin(out, style, "note");
	hf_buffer_add_text(out, "the watch is incomplete: ");
	hf_text_add_name(out, session->watch_why == NULL ? "unknown" :
							   session->watch_why);
	hf_buffer_add_text(out, "; the look at the end still finds every "
				"change\n");
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

void hf_report_text_finished(const struct hf_session *session,
			     const struct hf_text_style *style,
			     struct hf_buffer *out)
{
	const size_t count = session->violations.count;
	const bool has_violations = count > 0;
	cleanup_free struct hf_violation **sorted =
		calloc(count + 1, sizeof(struct hf_violation *));
	struct tally tally;

	if (sorted == NULL) {
		out->is_failed = true;
		return;
	}
	for (size_t i = 0; i < count; i++)
		sorted[i] = session->violations.items[i];
	qsort(sorted, count, sizeof(struct hf_violation *), by_path);
	/* Events can be lost at any time; the rest was said at the start. */
	if (!session->is_watch_told)
		hf_report_text_watch(session, style, out);
	if (style->is_verbose || (has_violations && !style->is_quiet) ||
	    session->unended > 0)
		add_leftovers(session, style, out);
	tally = add_paths(session, sorted, style, out);
	add_allowed(session, style, out);
	if (session->status == HF_SESSION_UNRESTORED)
		add_unrestored(session, &tally, style, out);
	else if ((session->status == HF_SESSION_ERROR ||
		  session->exec_errno != 0) && session->error.code < 0)
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
