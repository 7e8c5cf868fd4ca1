/* SPDX-License-Identifier: MIT */
/*
 * Before the command: sessions that did not end, the snapshot, what changed
 * since the last one, the journal.  All under the store's lock.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "core/nearby.h"
#include "guard/repair.h"
#include "guard/run.h"

/* -- sessions before ---------------------------------------------------------- */

/* What an undo was to bring about stands in no snapshot. */
static int fail_half_undone(const struct hf_name *name, struct hf_error *err)
{
	(void)hf_fail(err, HF_ERR_UNDECIDED,
		      "cannot run: undo %" PRIu64 " did not come to its end",
		      hf_name_number(name));
	return hf_fail_hint(err, "finish it: holdfast undo; put the tree back: "
				 "holdfast restore; keep it as it is: holdfast "
				 "snapshot");
}

/*
 * A session that died entirely has left the tree as its command made it.  When
 * that is what was recorded all is well; otherwise nobody but a person can say
 * which of the two is right, and a damaged tree must not be recorded.
 */
static int settle_dead(struct hf_run *run, const struct hf_name *name,
		       struct hf_error *err)
{
	cleanup_session_record struct hf_session_record record =
		HF_SESSION_RECORD_INIT;
	cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;
	cleanup_tree struct hf_tree now = HF_TREE_INIT;
	cleanup_deltas struct hf_deltas deltas = HF_DELTAS_INIT;
	const struct hf_store *const store = &run->project->store;
	const struct hf_delta *first = NULL;
	size_t count = 0;
	int rc;

	rc = hf_journal_read(store, name, &record, err);
	if (rc == HF_ERR_CORRUPT)
		return hf_fail_hint(err, "look: holdfast status; put the tree "
					 "back: holdfast restore; accept it as "
					 "it is: holdfast snapshot");
	if (rc < 0)
		return rc;
	if (strcmp(record.kind, "undo") == 0 && record.kept_count > 0)
		return fail_half_undone(name, err);
	if (record.snapshot && record.snapshot[0] != '\0') {
		rc = hf_snapshot_compare(store, record.snapshot, &run->scan,
					 NULL, &manifest, &now, &deltas, err);
		if (rc < 0)
			return rc;
	}
	for (size_t i = 0; i < deltas.count; i++) {
		if (hf_run_is_allowed(&deltas.items[i]))
			continue;
		if (count++ == 0)
			first = &deltas.items[i];
	}
	if (count == 0)
		return hf_journal_settle(store, name, HF_OUTCOME_DONE, err);

	(void)hf_fail(err, HF_ERR_UNDECIDED,
		      "cannot run: session %" PRIu64 " did not end, and '%s'%s "
		      "from what it recorded",
		      hf_name_number(name),
		      HF_QUOTE(hf_delta_entry(first)->path),
		      count == 1 ? " differs" : " and others differ");
	return hf_fail_hint(err, "look: holdfast status; put it back: holdfast "
				 "restore; keep the tree as it is: holdfast "
				 "snapshot");
}

static int settle_earlier(struct hf_run *run,
			  const struct hf_journal_names *sessions,
			  bool *ret_has_living, struct hf_error *err)
{
	cleanup_names struct hf_names living = HF_NAMES_INIT;
	cleanup_names struct hf_names dead = HF_NAMES_INIT;
	int rc;

	rc = hf_journal_find_open_of(&run->project->store, &sessions->open,
				     &living, &dead, err);
	if (rc < 0)
		return rc;
	hf_repair_sweep(run->project, &dead);
	for (size_t i = 0; i < dead.count; i++) {
		rc = settle_dead(run, &dead.items[i], err);
		if (rc < 0)
			return rc;
	}
	*ret_has_living = living.count > 0;
	return 0;
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
