/* SPDX-License-Identifier: MIT */
/*
 * Before the command: sessions that did not end, the snapshot, what changed
 * since the last one, the journal.  All under the store's lock.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/text.h"
#include "core/nearby.h"
#include "guard/recover.h"
#include "guard/repair.h"
#include "guard/run.h"

/* -- sessions before ---------------------------------------------------------- */

/*
 * What is certain of sessions that died is put back, and nothing is recorded
 * while something of them is not.  A session that lives judges the tree at its
 * own end: while there is one, nothing is touched.
 */
static int settle_earlier(struct hf_run *run,
			  const struct hf_journal_names *sessions,
			  bool *ret_has_living, struct hf_error *err)
{
	const struct hf_session_observer *const observer =
		run->options->observer;
	cleanup_names struct hf_names living = HF_NAMES_INIT;
	cleanup_names struct hf_names dead = HF_NAMES_INIT;
	cleanup_buffer struct hf_buffer notes = HF_BUFFER_INIT;
	int rc;

	rc = hf_journal_find_open_of(&run->project->store, &sessions->open,
				     &living, &dead, err);
	if (rc < 0)
		return rc;
	*ret_has_living = living.count > 0;
	if (dead.count == 0 || living.count > 0)
		return 0;
	hf_repair_sweep(run->project, &dead);
	rc = hf_recover_all(run->project, &dead, "run", &notes, err);
	if (notes.len > 0 && observer && observer->recovered)
		observer->recovered(observer->context, notes.data);
	return rc;
}

/* -- recording -------------------------------------------------------------- */

struct decision {
	struct hf_run *run;
	bool has_living;
};

/* What commands may change is no drift. */
static size_t count_drift(const struct hf_deltas *drift, bool with_added,
			  const char **ret_first)
{
	size_t count = 0;

	for (size_t i = 0; i < drift->count; i++) {
		const struct hf_delta *const delta = &drift->items[i];

		if (hf_run_is_allowed(delta) ||
		    (!with_added && delta->change & HF_CHANGE_ADDED))
			continue;
		if (count++ == 0)
			*ret_first = hf_delta_entry(delta)->path;
	}
	return count;
}

/* What the first run with a policy file protects for the first time, the file
 * among it, has nothing to have drifted from. */
static bool is_first_with_policy(const struct hf_run *run,
				 const struct hf_deltas *drift)
{
	const char *const file = run->project->policy.file_entry;

	for (size_t i = 0; file && i < drift->count; i++) {
		const struct hf_delta *const delta = &drift->items[i];

		if (delta->change & HF_CHANGE_ADDED &&
		    strcmp(hf_delta_entry(delta)->path, file) == 0)
			return true;
	}
	return false;
}

static int fail_drift(const char *first, size_t count, struct hf_error *err)
{
	char others[48] = " has";

	if (count > 1)
		(void)snprintf(others, sizeof(others), " and %zu %s have",
			       count - 1, count == 2 ? "other" : "others");
	(void)hf_fail(err, HF_ERR_UNDECIDED,
		      "cannot run: '%s'%s changed since the last run, and the "
		      "policy says to stop",
		      HF_QUOTE(first), others);
	return hf_fail_hint(err, "look: holdfast status; accept: holdfast "
				 "snapshot; go back: holdfast restore");
}

/* Look at what is about to be recorded, and at what changed unguarded. */
static int decide(void *context, const struct hf_tree *tree,
		  const struct hf_deltas *drift, struct hf_error *err)
{
	const struct decision *const decision = context;
	struct hf_run *const run = decision->run;
	const struct hf_policy *const policy = &run->project->policy;
	const char *first = NULL;
	size_t drifted;
	int rc;

	rc = hf_nearby_check(&run->scan, tree, drift, policy->min_protected,
			     "run", err);
	if (rc < 0)
		return rc;
	if (decision->has_living && count_drift(drift, true, &first) > 0) {
		(void)hf_fail(err, HF_ERR_BUSY,
			      "cannot run: another run is in progress, and "
			      "'%s' differs from what it recorded",
			      HF_QUOTE(first));
		return hf_fail_hint(err, "wait until it has ended");
	}
	drifted = count_drift(drift, !is_first_with_policy(run, drift), &first);
	if (drifted > 0 && policy->on_drift == HF_DRIFT_STOP)
		return fail_drift(first, drifted, err);
	return 0;
}

/* An unchanged tree is recorded once, and every run has seen it since. */
static void note_last_run(struct hf_run *run)
{
	const struct hf_store *const store = &run->project->store;
	struct hf_session *const session = &run->session;
	cleanup_names struct hf_names names = HF_NAMES_INIT;
	struct hf_error ignored = { 0 };

	if (hf_journal_list(store, &names, &ignored) < 0)
		return;
	for (size_t i = names.count; i > 0; i--) {
		cleanup_session_record struct hf_session_record record =
			HF_SESSION_RECORD_INIT;

		if (hf_journal_read(store, &names.items[i - 1], &record,
				    &ignored) < 0 ||
		    !record.has_ended || strcmp(record.kind, "run") != 0)
			continue;
		if (record.ended_ns > session->previous_ns)
			session->previous_ns = record.ended_ns;
		return;
	}
}

static void tell_begun(struct hf_run *run, const struct hf_manifest *previous)
{
	const struct hf_session_observer *const observer =
		run->options->observer;
	cleanup_deltas struct hf_deltas drift = HF_DELTAS_INIT;
	struct hf_error ignored = { 0 };
	bool has_drift = false;

	if (!observer || !observer->begun)
		return;
	if (previous && run->session.recorded.is_new)
		has_drift = hf_compare(&previous->tree,
				       &run->session.snapshot.tree, &drift,
				       &ignored) == 0;
	if (has_drift && drift.count > 0)
		note_last_run(run);
	observer->begun(observer->context, &run->session,
			has_drift ? &drift : NULL);
}

static void note_policy(struct hf_run *run, const struct hf_manifest *previous)
{
	struct hf_session *const session = &run->session;

	session->is_first = !previous;
	session->protected_count =
		hf_tree_protected_count(&session->snapshot.tree);
	if (!previous)
		return;
	session->previous = previous->name;
	session->previous_ns = previous->created_ns;
	session->protected_before = session->recorded.protected_before;
	session->has_policy_changed =
		previous->patterns && session->snapshot.patterns &&
		strcmp(previous->patterns, session->snapshot.patterns) != 0;
}

static int begin_journal(struct hf_run *run,
			 const struct hf_journal_names *sessions,
			 struct hf_error *err)
{
	struct hf_journal_open_record record = {
		.kind = "run",
		.snapshot = run->session.snapshot.name.text,
		.argv = run->options->argv,
		.names = sessions,
	};
	int rc;

	hf_process_self(&record.pid, &record.pid_start);
	rc = hf_journal_begin(&run->journal, &run->project->store, &record,
			      err);
	if (rc < 0)
		return rc;
	run->session.name = run->journal.name;
	return 0;
}

static int record_locked(struct hf_run *run, struct hf_error *err)
{
	cleanup_journal_names struct hf_journal_names sessions =
		HF_JOURNAL_NAMES_INIT;
	cleanup_manifest struct hf_manifest newest = HF_MANIFEST_INIT;
	struct decision decision = { .run = run };
	struct hf_snapshot_options options = {
		.scan = &run->scan,
		.decide = decide,
		.context = &decision,
		.progress = run->options->progress,
		.notes = run->session.notes,
		.sessions = &sessions,
	};
	const struct hf_manifest *previous;
	int rc;

	rc = hf_journal_names(&run->project->store, &sessions, err);
	if (rc < 0)
		return rc;
	rc = settle_earlier(run, &sessions, &decision.has_living, err);
	if (rc < 0)
		return rc;
	/* A recovery is a session, too. */
	if (sessions.open.count > 0) {
		hf_journal_names_done(&sessions);
		rc = hf_journal_names(&run->project->store, &sessions, err);
		if (rc < 0)
			return rc;
	}
	rc = hf_snapshot_take(&run->project->store, &options, &newest,
			      &run->session.snapshot, &run->session.recorded,
			      err);
	if (rc < 0)
		return rc;
	previous = run->session.recorded.has_previous ? &newest : NULL;
	note_policy(run, previous);
	rc = begin_journal(run, &sessions, err);
	if (rc < 0)
		return rc;
	rc = hf_run_mark_store(run, err);
	if (rc < 0)
		return rc;
	tell_begun(run, previous);
	return 0;
}

/*
 * A store is not made for a tree in which nothing is protected: look first where
 * there is none yet.
 */
static int open_store(struct hf_run *run, struct hf_error *err)
{
	int rc;

	/* hf_session_is_inside() has opened it already. */
	if (run->project->store.dir_fd >= 0)
		return 0;
	rc = hf_project_open_store(run->project, HF_STORE_MUST_EXIST, err);
	if (rc != HF_ERR_NOTHING)
		return rc;
	rc = hf_nearby_look(&run->scan, run->project->policy.min_protected,
			    "run", err);
	if (rc < 0)
		return rc;
	return hf_project_open_store(run->project, HF_STORE_MAKE, err);
}

int hf_run_record(struct hf_run *run, struct hf_error *err)
{
	int rc;

	rc = open_store(run, err);
	if (rc < 0)
		return rc;
	rc = hf_store_lock(&run->project->store, true, err);
	if (rc < 0)
		return rc;
	rc = record_locked(run, err);
	hf_store_unlock(&run->project->store);
	return rc;
}
