/* SPDX-License-Identifier: MIT */
/*
 * A run from the lock to the result.
 *
 * Order: lock, look for sessions that did not end, scan and commit, journal,
 * unlock, command forked and held, watch armed, look again, "go".  The store's
 * lock is held only while something is recorded or restored, so that other
 * commands work beside a run; that the run lives is told by the lock on its
 * journal.
 */
#include "guard/session.h"

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/text.h"
#include "core/retention_store.h"
#include "guard/run.h"
#include "platform/lease.h"
#include "platform/system.h"
#include "platform/task.h"

/* How long "leftovers": "wait" waits for what the command left behind. */
#define LEFTOVER_LIMIT_MS	60000u

/* Descriptors of a project and its journal that outlive the fork. */
#define OWN_DESCRIPTORS		(4 + HF_STORE_FOLDERS + HF_SPARE_FDS_MAX)

int hf_session_failure_status(const struct hf_error *err)
{
	return err->code == HF_ERR_UNDECIDED ? HF_STATUS_UNDECIDED :
					       HF_STATUS_FAILURE;
}

int hf_session_exec_status(int exec_errno)
{
	return exec_errno == ENOENT ? HF_STATUS_NOT_FOUND :
				      HF_STATUS_NOT_EXECUTABLE;
}

int hf_session_fail_exec(struct hf_error *err, const char *command,
			 int exec_errno)
{
	return hf_fail(err, HF_ERR_SYSTEM, "cannot run '%s': %s",
		       HF_QUOTE(command),
		       exec_errno == ENOENT ? "command not found" :
					      strerror(exec_errno));
}

/* -- the job ---------------------------------------------------------------- */

/* A journal that cannot be kept is no guard: then the command is ended. */
static int sync_journal(void *context, struct hf_error *err)
{
	struct hf_run *const run = context;

	return hf_journal_sync(&run->journal, err);
}

static size_t own_descriptors(const struct hf_run *run, int *fds)
{
	const struct hf_store *const store = &run->project->store;
	size_t count = 0;

	fds[count++] = run->project->root_fd;
	fds[count++] = run->journal.fd;
	fds[count++] = store->dir_fd;
	fds[count++] = store->lock_fd;
	for (size_t i = 0; i < HF_STORE_FOLDERS; i++)
		fds[count++] = store->folder_fd[i];
	if (run->store.spare)
		count += hf_spare_descriptors(run->store.spare, fds + count);
	return count;
}

static int run_job(struct hf_run *run, struct hf_job_result *ret_result,
		   struct hf_error *err)
{
	const struct hf_session_options *const given = run->options;
	cleanup_free int *fds = NULL;
	cleanup_buffer struct hf_buffer store = HF_BUFFER_INIT;
	char name[64];
	const char *variables[3] = {name, NULL};
	struct hf_job_options options = {
		.argv = given->argv,
		.variables = variables,
		.wants_gate = run->project->policy.gate != HF_GATE_OFF,
		.wait_for_leftovers =
			run->project->policy.leftovers == HF_LEFTOVERS_WAIT,
		.leftover_limit_ms = LEFTOVER_LIMIT_MS,
		.hooks =
			{
				.context = run,
				.arm = hf_run_arm,
				.ready = hf_run_ready,
				.signalled = hf_run_lease_signalled,
				.alarm = hf_run_alarm,
				.started = sync_journal,
				.settle = hf_run_settle,
			},
	};
	int rc;

	fds = calloc(OWN_DESCRIPTORS + given->keep_count, sizeof(*fds));
	if (!fds)
		return hf_fail_memory(err);
	options.keep = fds;
	options.keep_count = own_descriptors(run, fds);
	for (size_t i = 0; i < given->keep_count; i++)
		fds[options.keep_count++] = given->keep[i];
	(void)snprintf(name, sizeof(name), "%s=%s", HF_SESSION_VARIABLE,
		       run->session.name.text);
	hf_buffer_printf(&store, "%s=%s", HF_STORE_VARIABLE,
			 run->project->store.path);
	rc = hf_buffer_check(&store, err);
	if (rc < 0)
		return rc;
	variables[1] = store.data;
	return hf_job_run(&options, ret_result, err);
}

/* The command never started: the journal says so, the store stays in order. */
static void end_unstarted(struct hf_run *run)
{
	struct hf_error ignored = { 0 };

	/* If this fails too, the next command finds the session open and the
	 * tree as it was recorded, and settles it. */
	if (run->journal.fd >= 0 &&
	    hf_journal_end(&run->journal, HF_OUTCOME_ERROR, HF_STATUS_FAILURE,
			   0, &ignored) < 0)
		hf_journal_close(&run->journal);
}

static void fill_result(const struct hf_job_result *job,
			struct hf_session_result *ret_result)
{
	*ret_result = (struct hf_session_result){
		.status = job->status,
		.command_code = job->code,
		.command_signal = job->signal,
	};
	if (!job->has_run && job->exec_errno != 0) {
		ret_result->exec_errno = job->exec_errno;
		ret_result->command_code = -1;
		ret_result->command_signal = 0;
		if (job->status == 0)
			ret_result->status =
				hf_session_exec_status(job->exec_errno);
	}
}

/* All is over and told: what is to be dropped delays nothing any more. */
static void drop_old(const struct hf_run *run,
		     const struct hf_session_result *result)
{
	const struct hf_session *const session = &run->session;
	struct hf_retention_hint hint = {
		.session = hf_name_number(&session->name),
		.has_kept = result->status != 0,
	};

	if (session->recorded.is_new)
		hint.snapshot = hf_name_number(&session->snapshot.name);
	hf_retention_apply_quietly(run->project, &hint);
}

/* -- the whole -------------------------------------------------------------- */

static void run_done(struct hf_run *run)
{
	hf_journal_close(&run->journal);
	hf_run_store_done(&run->store);
	hf_watch_free(&run->watch);
	hf_leases_free(&run->leases);
	hf_tasks_free(&run->tasks);
	hf_arena_done(&run->outsider_arena);
	hf_free_pointee(&run->session.outsiders);
	hf_processes_done(&run->suspects);
	hf_free_pointee(&run->places);
	hf_free_pointee(&run->put_back);
	hf_arena_done(&run->arena);
	hf_manifest_done(&run->session.snapshot);
	hf_violations_done(&run->session.violations);
	hf_processes_done(&run->session.leftovers);
	hf_free_pointee(&run->session.allowed);
	hf_free_pointee(&run->session.side_effects);
}

#define cleanup_run	CLEANUP(run_done)

int hf_session_run(struct hf_project *project,
		   const struct hf_session_options *options,
		   struct hf_session_result *ret_result, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer notes = HF_BUFFER_INIT;
	cleanup_run struct hf_run run = {
		.session = {
			.project = project,
			.argv = options->argv,
			.snapshot = HF_MANIFEST_INIT,
			.violations = HF_VIOLATIONS_INIT,
			.leftovers = HF_PROCESSES_INIT,
			.command_code = -1,
			.gate = project->policy.gate == HF_GATE_OFF ?
					HF_LAYER_OFF :
					HF_LAYER_UNAVAILABLE,
			.gate_why = project->policy.gate == HF_GATE_OFF ?
					    "turned off" :
					    "the run did not begin",
			.is_watch_complete = true,
			.notes = &notes,
		},
		.project = project,
		.options = options,
		.scan = hf_project_scan_options(project, options->argv),
		.journal = HF_JOURNAL_INIT,
		.store = { .packs = HF_PACKS_INIT, .lost = HF_STORE_INIT },
		.suspects = HF_PROCESSES_INIT,
	};
	struct hf_job_result job = { 0 };
	int rc;

	run.session.started_ns = hf_system_time_ns();
	rc = hf_run_record(&run, err);
	if (rc >= 0)
		rc = hf_run_check_inherited(&run, err);
	if (rc >= 0)
		rc = run_job(&run, &job, err);
	if (rc < 0) {
		end_unstarted(&run);
		return rc;
	}
	fill_result(&job, ret_result);
	drop_old(&run, ret_result);
	return 0;
}

bool hf_session_is_inside(struct hf_project *project)
{
	cleanup_names struct hf_names living = HF_NAMES_INIT;
	cleanup_names struct hf_names dead = HF_NAMES_INIT;
	struct hf_error ignored = { 0 };

	if (hf_project_open_store(project, HF_STORE_MUST_EXIST, &ignored) < 0 ||
	    hf_journal_find_open(&project->store, &living, &dead, &ignored) < 0)
		return false;
	for (size_t i = 0; i < living.count; i++) {
		cleanup_session_record struct hf_session_record record =
			HF_SESSION_RECORD_INIT;

		if (hf_journal_read(&project->store, &living.items[i], &record,
				    &ignored) == 0 &&
		    hf_process_is_ancestor(record.pid, record.pid_start))
			return true;
	}
	return false;
}
