/* SPDX-License-Identifier: MIT */
/* Apply a plan in a session of its own and say what happened. */
#include "cli/repair.h"

#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "core/entry_text.h"
#include "core/moment.h"
#include "core/purge.h"
#include "core/retention_store.h"
#include "core/snapshot.h"
#include "guard/recover.h"
#include "guard/repair.h"
#include "guard/session.h"
#include "platform/job.h"
#include "report/json.h"

int hf_cli_repair_open(struct hf_cli_repair *repair, const char *verb,
		       const struct hf_options *options,
		       struct hf_output *output, enum hf_store_open_mode mode,
		       struct hf_error *err)
{
	int rc;

	repair->options = options;
	repair->output = output;
	if (options->is_dry_run)
		return hf_command_open(&repair->project, options, mode, err);
	rc = hf_command_find_project(&repair->project, options, options->store,
				     err);
	if (rc < 0)
		return rc;
	repair->project.on_wait =
		repair->on_wait ? repair->on_wait : hf_output_say_waiting;
	repair->project.wait_context = output;
	rc = hf_repair_lock(&repair->project, verb, mode, &repair->dead, err);
	if (rc < 0)
		return hf_command_explain(&repair->project, err);
	if (strcmp(verb, "purge") != 0)
		hf_cli_note_purge(repair->project.store_path, output);
	return 0;
}

void hf_cli_note_purge(const char *store_path, struct hf_output *output)
{
	if (!output->style.is_quiet && hf_purge_is_begun(store_path))
		hf_output_mark(
			output, "note",
			"a purge is not finished: 'holdfast purge%s PATH', "
			"of whatever path, finishes it",
			output->style.location);
}

void hf_cli_repair_close(struct hf_cli_repair *repair)
{
	hf_names_done(&repair->dead);
	hf_project_done(&repair->project);
}

int hf_cli_repair_recover(struct hf_cli_repair *repair, const char *verb,
			  struct hf_error *err)
{
	cleanup_buffer struct hf_buffer notes = HF_BUFFER_INIT;
	cleanup_ends unsigned held = 0;
	int rc;

	if (repair->options->is_dry_run || repair->dead.count == 0)
		return 0;
	held = hf_process_hold_ends();
	rc = hf_recover_all(&repair->project, &repair->dead, verb, &notes, err);
	if (!repair->options->is_quiet)
		hf_output_notes(repair->output, notes.data);
	return rc;
}

void hf_cli_recover(struct hf_project *project, struct hf_output *output)
{
	cleanup_buffer struct hf_buffer notes = HF_BUFFER_INIT;
	cleanup_names struct hf_names living = HF_NAMES_INIT;
	cleanup_names struct hf_names dead = HF_NAMES_INIT;
	cleanup_ends unsigned held = 0;
	struct hf_store *const store = &project->store;
	struct hf_error ignored;

	/* Mostly there is none, and no need for the lock. */
	if (hf_journal_find_open(store, &living, &dead, &ignored) < 0 ||
	    living.count > 0 || dead.count == 0 ||
	    hf_store_lock(store, false, &ignored) < 0)
		return;
	hf_names_done(&living);
	hf_names_done(&dead);
	if (hf_journal_find_open(store, &living, &dead, &ignored) == 0 &&
	    living.count == 0) {
		held = hf_process_hold_ends();
		hf_repair_sweep(project, &dead);
		(void)!hf_recover_all(project, &dead, "go on", &notes,
				      &ignored);
	}
	hf_store_unlock(store);
	hf_output_notes(output, notes.data);
}

int hf_cli_repair_load(const struct hf_cli_repair *repair,
		       const char *const *paths,
		       struct hf_manifest *ret_manifest, struct hf_error *err)
{
	const struct hf_store *const store = &repair->project.store;
	cleanup_buffer struct hf_buffer notes = HF_BUFFER_INIT;
	struct hf_name name;
	int rc;

	if (repair->options->from == NULL)
		return hf_snapshot_load_newest(store, ret_manifest, err);
	rc = hf_moment_find(store, repair->options->from, paths, &notes, &name,
			    err);
	if (!repair->options->is_quiet)
		hf_output_notes(repair->output, notes.data);
	return rc < 0 ? rc : hf_snapshot_load(store, &name, ret_manifest, err);
}

int hf_cli_repair_settle(struct hf_cli_repair *repair, struct hf_error *err)
{
	int rc;

	rc = hf_repair_settle(&repair->project, &repair->dead, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; !repair->options->is_quiet && i < repair->dead.count;
	     i++)
		hf_output_say(repair->output,
			      "session %s, which did not end, is settled",
			      repair->dead.items[i].text);
	return 0;
}

/* -- words ------------------------------------------------------------------- */

static const char *step_word(const struct hf_cli_repair *repair,
			     const struct hf_step *step, bool is_plan)
{
	if (repair->directory != NULL)
		return is_plan ? "would write" : "wrote";
	if (step->action == HF_ACTION_REMOVE)
		return is_plan ? "would move away" : "moved away";
	return is_plan ? "would put back" : "put back";
}

/* "config.toml: 94 -> 12 bytes", from what it is to what it will be. */
static void add_difference(const struct hf_step *step, struct hf_buffer *out)
{
	const struct hf_delta delta = {
		.before = step->now,
		.after = step->want,
		.change = step->change,
	};

	hf_text_add_name(out, hf_step_path(step));
	if (step->change & HF_CHANGE_MISSING)
		hf_buffer_add_text(out, ", was missing");
	else if (step->change & HF_CHANGE_KIND)
		hf_buffer_printf(out, ", was a %s",
				 hf_kind_name(step->now->stat.kind));
	else if (step->now != NULL && step->want != NULL &&
		 (step->change & (HF_CHANGE_CONTENT | HF_CHANGE_METADATA))) {
		hf_buffer_add_text(out, ": ");
		hf_text_add_difference(out, &delta);
	}
}

static void add_step(const struct hf_cli_repair *repair,
		     const struct hf_step *step, bool is_plan,
		     struct hf_buffer *out)
{
	hf_text_begin(out, &repair->output->style, NULL);
	hf_buffer_printf(out, "%s ", step_word(repair, step, is_plan));
	if (repair->directory != NULL) {
		hf_text_add_name(out, repair->directory);
		hf_buffer_add_text(out, "/");
		hf_text_add_name(out, hf_step_path(step));
	} else {
		add_difference(step, out);
	}
	if (step->kept != NULL && step->kept[0] != '\0') {
		hf_buffer_add_text(out, "; what was there is kept: ");
		hf_text_add_name(out, repair->project.store.path);
		hf_buffer_add_text(out, "/");
		hf_text_add_name(out, step->kept);
	}
	hf_buffer_add_text(out, "\n");
}

void hf_cli_repair_say_step(const struct hf_cli_repair *repair,
			    const struct hf_step *step)
{
	cleanup_buffer struct hf_buffer lines = HF_BUFFER_INIT;

	if (hf_repair_has_failed(step)) {
		hf_report_text_error(step->err, &repair->output->style, &lines);
		hf_output_lines(repair->output, &lines);
	} else if (step->result == HF_STEP_DONE && step->change != 0 &&
		   !repair->options->is_quiet) {
		add_step(repair, step, false, &lines);
		hf_output_lines(repair->output, &lines);
	}
}

static void say_step(void *context, const struct hf_step *step)
{
	hf_cli_repair_say_step(context, step);
}

static void add_json_step(const struct hf_step *step, bool is_first,
			  struct hf_buffer *out)
{
	static const char *const results[] = {
		[HF_STEP_WAITING] = "planned",
		[HF_STEP_DONE] = "done",
		[HF_STEP_FAILED] = "failed",
		[HF_STEP_SKIPPED] = "skipped",
	};

	hf_buffer_add_text(out, is_first ? "\n  {" : ",\n  {");
	hf_report_json_path(hf_step_path(step), out);
	hf_buffer_printf(out,
			 ", \"action\": \"%s\", \"change\": \"%s\", "
			 "\"result\": \"%s\", \"from\": ",
			 step->action == HF_ACTION_REMOVE ? "move-away" :
							    "put-back",
			 hf_change_name(step->change), results[step->result]);
	hf_report_json_entry(step->now, out);
	hf_buffer_add_text(out, ", \"to\": ");
	hf_report_json_entry(step->want, out);
	hf_buffer_add_text(out, ", \"kept\": ");
	hf_report_json_text(step->kept, out);
	hf_buffer_add_text(out, ", \"error\": ");
	hf_report_json_text(step->err == NULL ? NULL : step->err->text, out);
	hf_buffer_add_text(out, "}");
}

static void print_json(const struct hf_cli_repair *repair,
		       const struct hf_plan *plan,
		       const struct hf_cli_repair_words *words,
		       const char *session, const char *undo)
{
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;
	bool is_first = true;

	hf_buffer_printf(&out,
			 "{\"holdfast-json\": 1, \"command\": \"%s\", "
			 "\"session\": ",
			 words->kind);
	hf_report_json_text(session, &out);
	hf_buffer_add_text(&out, ", \"snapshot\": ");
	hf_report_json_text(words->snapshot[0] == '\0' ? NULL : words->snapshot,
			    &out);
	hf_buffer_printf(&out, ", \"additions_left\": %zu, \"undo\": ",
			 words->additions);
	hf_report_json_text(undo, &out);
	hf_buffer_add_text(&out, ", \"directory\": ");
	hf_report_json_text(repair->directory, &out);
	hf_buffer_add_text(&out, ", \"entries\": [");
	for (size_t i = 0; i < plan->count; i++) {
		if (plan->steps[i].change == 0 &&
		    !hf_repair_has_failed(&plan->steps[i]))
			continue;
		add_json_step(&plan->steps[i], is_first, &out);
		is_first = false;
	}
	hf_buffer_add_text(&out, is_first ? "]}\n" : "\n]}\n");
	hf_output_result(repair->output, &out);
}

static void note_count(const struct hf_cli_repair *repair, size_t count,
		       const char *one, const char *many)
{
	if (count > 0)
		hf_output_mark(repair->output, "note", "%zu %s", count,
			       count == 1 ? one : many);
}

static void say_left(const struct hf_cli_repair *repair,
		     const struct hf_cli_repair_words *words)
{
	if (repair->options->is_quiet)
		return;
	note_count(repair, words->allowed,
		   "entry differs that commands may change, and stays; name "
		   "it to put it back",
		   "entries differ that commands may change, and stay; name "
		   "them to put them back");
	note_count(repair, words->additions,
		   "entry is there that the snapshot does not have, and "
		   "stays; '--remove-additions' moves it to the kept copies",
		   "entries are there that the snapshot does not have, and "
		   "stay; '--remove-additions' moves them to the kept copies");
}

/* -- doing ------------------------------------------------------------------- */

static size_t count_worked(const struct hf_plan *plan)
{
	size_t count = 0;

	for (size_t i = 0; i < plan->count; i++)
		count += plan->steps[i].result == HF_STEP_DONE &&
			 plan->steps[i].change != 0;
	return count;
}

static size_t count_failures(const struct hf_plan *plan)
{
	size_t count = 0;

	for (size_t i = 0; i < plan->count; i++)
		count += hf_repair_has_failed(&plan->steps[i]);
	return count;
}

static void tell(const struct hf_cli_repair *repair, const struct hf_plan *plan,
		 const struct hf_cli_repair_words *words,
		 const struct hf_name *session)
{
	cleanup_buffer struct hf_buffer undo = HF_BUFFER_INIT;
	const size_t failures = count_failures(plan);

	if (count_worked(plan) > 0)
		hf_text_add_undo(&undo, session,
				 repair->output->style.location);
	if (repair->options->is_json)
		print_json(repair, plan, words, session->text, undo.data);
	if (failures > 0) {
		hf_output_say(repair->output, "%zu %s not put back", failures,
			      failures == 1 ? "entry is" : "entries are");
		hf_output_mark(repair->output, "hint",
			       "remove the cause and "
			       "try again; 'holdfast status%s' shows what "
			       "differs",
			       repair->output->style.location);
	}
	say_left(repair, words);
	if (undo.len > 0 && !repair->options->is_quiet)
		hf_output_say(repair->output, "undo: %s", undo.data);
}

int hf_cli_repair_apply(struct hf_cli_repair *repair, struct hf_plan *plan,
			const struct hf_cli_repair_words *words,
			int *ret_status, struct hf_error *err)
{
	const struct hf_repair_options options = {
		.kind = words->kind,
		.snapshot = words->snapshot,
		.argv = words->argv,
		.done = say_step,
		.context = repair,
	};
	cleanup_ends unsigned held = hf_process_hold_ends();
	struct hf_retention_hint hint = { .has_kept = true };
	struct hf_error failed = { 0 };
	struct hf_name session;
	int rc;

	rc = hf_repair_apply(&repair->project, plan, &options, &session,
			     &failed, err);
	if (rc < 0)
		return rc;
	if (failed.code < 0 && count_failures(plan) == 0)
		hf_output_error(repair->output, &failed);
	if (failed.code == 0 && words->is_settling) {
		rc = hf_cli_repair_settle(repair, err);
		if (rc < 0)
			return rc;
	}
	tell(repair, plan, words, &session);
	hf_process_release_ends(&held);
	hint.session = hf_name_number(&session);
	hf_retention_apply_quietly(&repair->project, &hint);
	*ret_status = failed.code < 0 ? HF_STATUS_UNDECIDED : HF_STATUS_DONE;
	return 0;
}

/* Nothing to do: it is as the session had found it. */
static int say_undone(struct hf_cli_repair *repair, const struct hf_plan *plan,
		      const struct hf_session_record *record,
		      const struct hf_cli_repair_words *words,
		      struct hf_error *err)
{
	const struct hf_options *const options = repair->options;
	const bool is_whole = strcmp(words->kind, "undo") == 0;

	if (options->is_json)
		print_json(repair, plan, words, NULL, NULL);
	else if (!options->is_quiet)
		hf_output_say(repair->output, "%s %s is undone already",
			      is_whole ? "session"
				       : "what was named of session",
			      record->name.text);
	if (!is_whole || options->is_dry_run)
		return 0;
	return hf_repair_settle_undos(&repair->project.store, record->name.text,
				      err);
}

int hf_cli_repair_undo(struct hf_cli_repair *repair,
		       const struct hf_session_record *record,
		       const char *const *argv, int *ret_status,
		       struct hf_error *err)
{
	cleanup_tree struct hf_tree now = HF_TREE_INIT;
	cleanup_plan struct hf_plan plan = HF_PLAN_INIT;
	const char *const undone[] = {record->name.text, NULL};
	const struct hf_cli_repair_words words = {
		.kind = argv == NULL ? "undo" : "restore",
		.snapshot = "",
		.argv = argv == NULL ? undone : argv,
	};
	int rc;

	rc = hf_repair_plan_undo(
		&repair->project, record,
		hf_output_progress(repair->output, "comparing"), &now, &plan,
		err);
	if (rc < 0)
		return rc;
	if (plan.count == 0)
		return say_undone(repair, &plan, record, &words, err);
	if (repair->options->is_dry_run)
		return hf_cli_repair_preview(repair, &plan, &words, err);
	return hf_cli_repair_apply(repair, &plan, &words, ret_status, err);
}

int hf_cli_repair_tell_copies(const struct hf_cli_repair *repair,
			      const struct hf_plan *plan,
			      const struct hf_cli_repair_words *words,
			      struct hf_error *err)
{
	const size_t failures = count_failures(plan);
	cleanup_buffer struct hf_buffer line = HF_BUFFER_INIT;

	if (repair->options->is_json)
		print_json(repair, plan, words, NULL, NULL);
	if (failures > 0)
		hf_output_say(repair->output, "%zu %s not written", failures,
			      failures == 1 ? "entry is" : "entries are");
	if (repair->options->is_quiet || repair->options->is_json)
		return 0;
	hf_text_begin(&line, &repair->output->style, NULL);
	hf_text_add_count(&line, count_worked(plan), "entry", "entries");
	hf_buffer_printf(&line,
			 " of snapshot %s written; the project is as "
			 "it was\n",
			 words->snapshot);
	hf_output_lines(repair->output, &line);
	return hf_buffer_check(&line, err);
}

int hf_cli_repair_preview(struct hf_cli_repair *repair,
			  const struct hf_plan *plan,
			  const struct hf_cli_repair_words *words,
			  struct hf_error *err)
{
	cleanup_buffer struct hf_buffer lines = HF_BUFFER_INIT;

	if (repair->options->is_json) {
		print_json(repair, plan, words, NULL, NULL);
		return 0;
	}
	for (size_t i = 0; i < plan->count; i++)
		if (plan->steps[i].change != 0)
			add_step(repair, &plan->steps[i], true, &lines);
	hf_output_lines(repair->output, &lines);
	say_left(repair, words);
	return hf_buffer_check(&lines, err);
}
