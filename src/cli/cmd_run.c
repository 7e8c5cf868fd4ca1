/* SPDX-License-Identifier: MIT */
/* holdfast run: guard one command. */
#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/report_file.h"
#include "guard/probe.h"
#include "guard/session.h"
#include "platform/job.h"
#include "platform/program.h"
#include "platform/system.h"
#include "report/annotations.h"
#include "report/json.h"
#include "report/junit.h"

/* With more violations than this the report is written only now and then: each
 * time it is longer. */
#define REPORTED_AT_ONCE 100
#define REPORT_EVERY_NS	 INT64_C(1000000000)
/* As many are said when they happen, of what was refused and of what was not;
 * the summary counts them all. */
#define SAID_AT_ONCE	 20

struct watcher {
	struct hf_output *output;
	struct hf_report_file *report;
	struct hf_report_file *junit;
	bool has_annotations;
	int64_t reported_ns;
	bool has_failed;	/* the newest report was not written */
	bool has_junit_failed;
	size_t said[HF_FATES];	/* and what was too much to be said */
};

static int write_report(struct watcher *watcher,
			const struct hf_session *session, bool is_last,
			struct hf_error *err)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	int rc;

	if (watcher->report->way == HF_REPORT_NONE)
		return 0;
	hf_report_json(session, watcher->output->style.location,
		       watcher->output->lost, &text);
	rc = hf_buffer_check(&text, err);
	if (rc < 0)
		return rc;
	watcher->reported_ns = hf_system_boot_ns();
	return hf_report_file_write(watcher->report, text.data, text.len,
				    is_last, err);
}

static int write_junit(struct watcher *watcher,
		       const struct hf_session *session, bool is_last,
		       struct hf_error *err)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	int rc;

	if (watcher->junit->way == HF_REPORT_NONE)
		return 0;
	hf_report_junit(session, watcher->output->style.location, &text);
	rc = hf_buffer_check(&text, err);
	if (rc < 0)
		return rc;
	return hf_report_file_write(watcher->junit, text.data, text.len,
				    is_last, err);
}

static void report(struct watcher *watcher, const struct hf_session *session,
		   bool is_last)
{
	struct hf_error err = { 0 };
	const bool had_failed = watcher->has_failed;

	watcher->has_failed = write_report(watcher, session, is_last, &err) < 0;
	if (watcher->has_failed && !had_failed)
		hf_output_error(watcher->output, &err);
}

/* At the start and at the end. */
static void report_junit(struct watcher *watcher,
			 const struct hf_session *session, bool is_last)
{
	struct hf_error err = { 0 };
	const bool had_failed = watcher->has_junit_failed;

	watcher->has_junit_failed =
		write_junit(watcher, session, is_last, &err) < 0;
	if (watcher->has_junit_failed && !had_failed)
		hf_output_error(watcher->output, &err);
}

/* All that is told at the end by others than the summary. */
static void report_at_last(struct watcher *watcher,
			   const struct hf_session *session)
{
	cleanup_buffer struct hf_buffer lines = HF_BUFFER_INIT;

	/* Standard output is the command's; runners read them here, too. */
	if (watcher->has_annotations)
		hf_report_annotations(session, watcher->output->style.location,
				      &lines);
	hf_output_lines(watcher->output, &lines);
	report(watcher, session, true);
	report_junit(watcher, session, true);
}

static void report_in_between(struct watcher *watcher,
			      const struct hf_session *session)
{
	if (session->violations.count <= REPORTED_AT_ONCE ||
	    hf_system_boot_ns() - watcher->reported_ns > REPORT_EVERY_NS)
		report(watcher, session, false);
}

static void on_recovered(void *context, const char *lines)
{
	struct watcher *const watcher = context;

	hf_output_notes(watcher->output, lines);
}

static void on_begun(void *context, const struct hf_session *session,
		     const struct hf_deltas *drift)
{
	struct watcher *watcher = context;
	cleanup_buffer struct hf_buffer lines = HF_BUFFER_INIT;

	hf_report_text_begun(session, drift, &watcher->output->style, &lines);
	hf_output_lines(watcher->output, &lines);
	report(watcher, session, false);
	report_junit(watcher, session, false);
}

static void on_degraded(void *context, const struct hf_session *session)
{
	struct watcher *watcher = context;
	cleanup_buffer struct hf_buffer lines = HF_BUFFER_INIT;

	hf_report_text_gate(session, &watcher->output->style, &lines);
	hf_report_text_watch(session, &watcher->output->style, &lines);
	hf_output_lines(watcher->output, &lines);
	report(watcher, session, false);
}

static void on_violation(void *context, const struct hf_session *session,
			 const struct hf_violation *violation)
{
	struct watcher *watcher = context;
	const enum hf_fate fate = hf_violation_fate(violation);
	const size_t count = ++watcher->said[fate];
	cleanup_buffer struct hf_buffer lines = HF_BUFFER_INIT;

	if (count <= SAID_AT_ONCE)
		hf_report_text_violation(session, violation,
					 &watcher->output->style, &lines);
	else if (count == SAID_AT_ONCE + 1 && !watcher->output->style.is_quiet)
		hf_output_mark(watcher->output, hf_report_fate_word(fate),
			       "... and more, which the summary counts");
	hf_output_lines(watcher->output, &lines);
	report_in_between(watcher, session);
}

static void on_restored(void *context, const struct hf_session *session)
{
	report_in_between(context, session);
}

static int on_finished(void *context, const struct hf_session *session)
{
	struct watcher *watcher = context;
	cleanup_buffer struct hf_buffer lines = HF_BUFFER_INIT;

	hf_report_text_finished(session, &watcher->output->style, &lines);
	hf_output_lines(watcher->output, &lines);
	report_at_last(watcher, session);
	return watcher->has_failed || watcher->has_junit_failed ?
		       HF_STATUS_FAILURE :
		       0;
}

/* A report of a run that did not begin. */
static void report_failure(struct watcher *watcher,
			   const struct hf_project *project,
			   const char *const *argv, const struct hf_error *err)
{
	const struct hf_session session = {
		.project = project,
		.argv = argv,
		.snapshot = HF_MANIFEST_INIT,
		.violations = HF_VIOLATIONS_INIT,
		.leftovers = HF_PROCESSES_INIT,
		.status = HF_SESSION_ERROR,
		.exit_status = hf_session_failure_status(err),
		.command_code = -1,
		.started_ns = hf_system_time_ns(),
		.ended_ns = hf_system_time_ns(),
		.gate = HF_LAYER_UNAVAILABLE,
		.gate_why = "the run did not begin",
		.watch_why = "the run did not begin",
		.error = *err,
	};

	report_at_last(watcher, &session);
}

static int say_not_executed(struct hf_output *output, const char *command,
			    int error)
{
	struct hf_error err = { 0 };

	(void)hf_session_fail_exec(&err, command, error);
	hf_output_error(output, &err);
	return hf_session_exec_status(error);
}

static int run_guarded(const struct hf_options *options,
		       struct hf_project *project, struct watcher *watcher)
{
	const struct hf_session_observer observer = {
		.context = watcher,
		.recovered = on_recovered,
		.begun = on_begun,
		.degraded = on_degraded,
		.violation = on_violation,
		.restored = on_restored,
		.finished = on_finished,
	};
	const struct hf_report_file *const files[] = { watcher->report,
						       watcher->junit };
	int keep[HF_COUNT(files)];
	struct hf_session_options session = {
		.argv = options->words,
		.observer = &observer,
		.progress = hf_output_progress(watcher->output, "reading"),
		.fail_fast = options->is_fail_fast,
		.keep = keep,
	};
	struct hf_session_result result = { .status = 0 };
	struct hf_error err = { 0 };
	int rc = 0;

	for (size_t i = 0; i < HF_COUNT(files); i++)
		if (files[i]->way != HF_REPORT_NONE)
			keep[session.keep_count++] = files[i]->fd;
	if (project->policy.gate == HF_GATE_REQUIRE)
		rc = hf_probe_check(project->store_path, &err);
	if (rc == 0)
		rc = hf_session_run(project, &session, &result, &err);
	if (rc < 0) {
		hf_output_error(watcher->output, &err);
		report_failure(watcher, project, options->words, &err);
		return hf_session_failure_status(&err);
	}
	if (result.status != 0)
		return result.status;
	if (result.command_signal != 0)
		hf_process_die_by(result.command_signal);
	return result.command_code;
}

static int check(const struct hf_options *options, struct hf_error *err)
{
	if (options->word_count == 0) {
		(void)hf_fail(err, HF_ERR_USAGE,
			      "cannot run: no command is given");
		return hf_fail_hint(err, "holdfast run -- COMMAND [ARG...]");
	}
	if (options->is_fail_fast && options->policy.has_on_landed)
		return hf_fail(err, HF_ERR_USAGE,
			       "cannot run: '--fail-fast' ends the command "
			       "where '--keep-going' lets it go on");
	return 0;
}

/* Everything before the session; the command has not been looked at. */
static int prepare(const struct hf_options *options, struct hf_project *project,
		   struct hf_error *err)
{
	int rc;

	rc = check(options, err);
	if (rc < 0)
		return rc;
	return hf_project_init(project, &options->policy, options->store, err);
}

/* What cannot be opened is said and left out; the rest can still tell of it.  The
 * first failure stands in *err. */
static int open_reports(struct watcher *watcher,
			const struct hf_project *project, struct hf_error *err)
{
	struct hf_report_file *const files[] = { watcher->report,
						 watcher->junit };
	struct hf_error why = { 0 };
	int result = 0;

	for (size_t i = 0; i < HF_COUNT(files); i++) {
		int rc = hf_report_file_open(files[i], project, &why);

		if (rc == 0 && i > 0)
			rc = hf_report_file_check_apart(files[i], files[0],
							&why);
		if (rc == 0)
			continue;
		hf_output_error(watcher->output, &why);
		hf_report_file_done(files[i]);
		if (result == 0)
			*err = why;
		result = rc;
	}
	return result;
}

/* An earlier run's "clean" must not stand for this one. */
static void report_refusal(struct watcher *watcher, struct hf_project *project,
			   const struct hf_options *options,
			   const struct hf_error *why)
{
	struct hf_error err = { 0 };

	if (options->is_dry_run ||
	    (project->store_path != NULL && hf_session_is_inside(project)))
		return;
	(void)open_reports(watcher, project, &err);
	report_failure(watcher, project, options->words, why);
}

/* What was said here and counts for nothing: the run around it has its own. */
static void say_unused(const struct hf_options *options,
		       struct hf_output *output)
{
	const struct hf_policy_options *policy = &options->policy;
	const struct {
		const char *name;
		bool is_given;
	} rows[] = {
		{ "--config", policy->config != NULL },
		{ "--protect", options->protect[0] != NULL },
		{ "--exclude", options->exclude[0] != NULL },
		{ "--allow", options->allow[0] != NULL },
		{ "--annotations", options->has_annotations },
		{ "--fail-fast", options->is_fail_fast },
		{ "--gate", policy->has_gate },
		{ "--junit", options->junit != NULL },
		{ "--keep-going", policy->has_on_landed },
		{ "--leftovers", policy->has_leftovers },
		{ "--min-protected", policy->has_min_protected },
		{ "--report", options->report != NULL },
	};
	cleanup_buffer struct hf_buffer names = HF_BUFFER_INIT;

	for (size_t i = 0; i < HF_COUNT(rows); i++)
		if (rows[i].is_given)
			hf_buffer_printf(&names, "%s%s",
					 names.len == 0 ? "" : ", ",
					 rows[i].name);
	if (names.len > 0 && !output->style.is_quiet)
		hf_output_mark(output, "note",
			       "inside a run of this project, which guards and "
			       "reports by its own options; not used here: %s",
			       names.data);
}

int hf_cmd_run(const struct hf_options *options, struct hf_output *output)
{
	cleanup_project struct hf_project project = HF_PROJECT_INIT;
	cleanup_report_file struct hf_report_file report_file =
		HF_REPORT_FILE_INIT("report", HF_REPORT_JSON_START);
	cleanup_report_file struct hf_report_file junit =
		HF_REPORT_FILE_INIT("JUnit report", HF_REPORT_JUNIT_START);
	struct watcher watcher = {
		.output = output,
		.report = &report_file,
		.junit = &junit,
		.has_annotations = options->has_annotations,
	};
	struct hf_error err = { 0 };

	hf_program_forget_git();
	if (hf_report_file_inherit(&report_file, options->report, &err) < 0 ||
	    hf_report_file_inherit(&junit, options->junit, &err) < 0) {
		hf_output_error(output, &err);
		return HF_STATUS_FAILURE;
	}
	if (prepare(options, &project, &err) < 0) {
		hf_output_error(output, &err);
		report_refusal(&watcher, &project, options, &err);
		return HF_STATUS_FAILURE;
	}
	project.on_wait = hf_output_say_waiting;
	project.wait_context = output;
	if (options->is_dry_run)
		return hf_cmd_run_dry(options, &project, output);
	/* The run around it guards the same files: step aside. */
	if (hf_session_is_inside(&project)) {
		say_unused(options, output);
		return say_not_executed(output, options->words[0],
					-hf_process_exec(options->words));
	}
	if (open_reports(&watcher, &project, &err) < 0) {
		report_failure(&watcher, &project, options->words, &err);
		return HF_STATUS_FAILURE;
	}
	return run_guarded(options, &project, &watcher);
}
