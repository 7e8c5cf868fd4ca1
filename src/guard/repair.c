/* SPDX-License-Identifier: MIT */
/* Apply a plan by hand, under the store's lock and in a session of its own. */
#include "guard/repair.h"

#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/pattern.h"
#include "core/snapshot.h"
#include "guard/session.h"
#include "platform/job.h"

static int fail_busy(const char *verb, struct hf_error *err)
{
	(void)hf_fail(err, HF_ERR_BUSY, "cannot %s: a run is in progress",
		      verb);
	return hf_fail_hint(err, "the run puts back what it must by itself; try "
				 "again when it has ended");
}

/* The snapshot that the session restored from; the newest where none is told. */
static int load_snapshot_of(const struct hf_store *store,
			    const struct hf_name *session,
			    struct hf_manifest *ret_manifest,
			    struct hf_error *err)
{
	cleanup_session_record struct hf_session_record record =
		HF_SESSION_RECORD_INIT;
	const char *typed = NULL;
	const int rc = hf_journal_read(store, session, &record, err);

	if (rc == 0 && record.snapshot && record.snapshot[0] != '\0')
		typed = record.snapshot;
	return hf_snapshot_load_typed(store, typed, ret_manifest, err);
}

void hf_repair_sweep(const struct hf_project *project,
		     const struct hf_names *dead)
{
	for (size_t i = 0; i < dead->count; i++) {
		const struct hf_name *const session = &dead->items[i];
		cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;
		struct hf_error ignored;
		int rc;

		rc = load_snapshot_of(&project->store, session, &manifest,
				      &ignored);
		if (rc == 0)
			rc = hf_restore_sweep(&project->store, session,
					      project->root_fd, &manifest.tree,
					      &ignored);
		/* What stays does no harm but that it is seen. */
		(void)rc;
	}
}

/* Is one of them a run?  Of one that cannot be asked the lock tells. */
static bool has_run(const struct hf_store *store, const struct hf_names *living)
{
	bool is_found = false;

	for (size_t i = 0; i < living->count && !is_found; i++) {
		cleanup_session_record struct hf_session_record record =
			HF_SESSION_RECORD_INIT;
		struct hf_error ignored;

		is_found = hf_journal_read_first(store, &living->items[i],
						 &record, &ignored) == 0 &&
			   strcmp(record.kind, "run") == 0;
	}
	return is_found;
}

int hf_repair_lock(struct hf_project *project, const char *verb,
		   enum hf_store_open_mode mode, struct hf_names *ret_dead,
		   struct hf_error *err)
{
	int rc;

	rc = hf_project_open_store(project, mode, err);
	if (rc < 0)
		return rc;
	/* A run holds its journal as long as it lives and the lock only now and
	 * then: look twice, so that nobody waits for a run to end.  What is
	 * done by hand holds both, and is waited for. */
	for (int i = 0; i < 2; i++) {
		cleanup_names struct hf_names living = HF_NAMES_INIT;

		hf_names_done(ret_dead);
		rc = hf_journal_find_open(&project->store, &living, ret_dead,
					  err);
		if (rc < 0)
			return rc;
		if (has_run(&project->store, &living) ||
		    (i > 0 && living.count > 0))
			return fail_busy(verb, err);
		if (i > 0)
			break;
		rc = hf_store_lock(&project->store, true, err);
		if (rc < 0)
			return rc;
	}
	/* Before anybody takes it for the project's. */
	hf_repair_sweep(project, ret_dead);
	return 0;
}

int hf_repair_settle(const struct hf_project *project,
		     const struct hf_names *dead, struct hf_error *err)
{
	int rc;

	for (size_t i = 0; i < dead->count; i++) {
		rc = hf_journal_settle(&project->store, &dead->items[i],
				       HF_OUTCOME_DONE, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

bool hf_repair_has_failed(const struct hf_step *step)
{
	return step->result == HF_STEP_FAILED ||
	       (step->result == HF_STEP_SKIPPED && step->err);
}

int hf_repair_settle_undos(const struct hf_store *store, const char *undone,
			   struct hf_error *err)
{
	cleanup_names struct hf_names living = HF_NAMES_INIT;
	cleanup_names struct hf_names dead = HF_NAMES_INIT;
	int rc;

	rc = hf_journal_find_open(store, &living, &dead, err);
	for (size_t i = 0; rc >= 0 && i < dead.count; i++) {
		cleanup_session_record struct hf_session_record record =
			HF_SESSION_RECORD_INIT;
		struct hf_error ignored;

		/* A damaged one is not for us to judge. */
		if (hf_journal_read(store, &dead.items[i], &record, &ignored) <
			    0 ||
		    strcmp(record.kind, "undo") != 0 ||
		    (strcmp(record.name.text, undone) != 0 &&
		     (!record.argv || !record.argv[0] ||
		      strcmp(record.argv[0], undone) != 0)))
			continue;
		/* Half a one must not count for a whole one later. */
		rc = hf_journal_settle(store, &dead.items[i],
				       HF_OUTCOME_UNRESTORED, err);
	}
	return rc < 0 ? rc : 0;
}

/*
 * What a store says is not enough to write outside the root: it may have come from
 * elsewhere.  The policy must name the entry, or something beneath it.
 */
static bool may_touch(const struct hf_policy *policy, const char *path)
{
	return !hf_path_is_absolute(path) ||
	       hf_patterns_match(policy->protect, path, false) != NULL ||
	       hf_patterns_match(policy->protect, path, true) != NULL ||
	       hf_patterns_reach_beneath(policy->protect, path, false);
}

static void refuse(struct hf_step *step, struct hf_error *err)
{
	const char *const path = hf_step_path(step);

	(void)hf_fail(err, HF_ERR_DENIED,
		      "cannot restore '%s': it lies outside the root, and the "
		      "policy does not name it",
		      HF_QUOTE(path));
	(void)hf_fail_hint(err, "if it is yours to change, name it with "
				"--protect");
	step->result = HF_STEP_FAILED;
	hf_step_fail(step, err);
}

/* Steps that have failed are not begun. */
static void refuse_foreign(const struct hf_project *project,
			   struct hf_plan *plan,
			   const struct hf_repair_options *options,
			   struct hf_error *first)
{
	for (size_t i = 0; i < plan->count; i++) {
		struct hf_step *const step = &plan->steps[i];
		struct hf_error err;

		if (may_touch(&project->policy, hf_step_path(step)))
			continue;
		refuse(step, &err);
		if (first->code == 0)
			*first = err;
		if (options->done)
			options->done(options->context, step);
	}
}

int hf_repair_apply(struct hf_project *project, struct hf_plan *plan,
		    const struct hf_repair_options *options,
		    struct hf_name *ret_session, struct hf_error *ret_failed,
		    struct hf_error *err)
{
	cleanup_journal struct hf_journal journal = HF_JOURNAL_INIT;
	struct hf_journal_open_record record = {
		.kind = options->kind,
		.snapshot = options->snapshot,
		.argv = options->argv,
	};
	const struct hf_restore_context context = {
		.store = &project->store,
		.journal = &journal,
		.root_fd = project->root_fd,
		.done = options->done,
		.context = options->context,
	};
	struct hf_error refused = { .code = HF_OK };
	bool is_whole;
	int rc;

	hf_process_self(&record.pid, &record.pid_start);
	rc = hf_journal_begin(&journal, &project->store, &record, err);
	if (rc < 0)
		return rc;
	*ret_session = journal.name;
	rc = hf_journal_sync(&journal, err);
	if (rc < 0)
		return rc;
	refuse_foreign(project, plan, options, &refused);
	is_whole = hf_restore_apply(plan, &context, ret_failed) == 0;
	if (is_whole)
		*ret_failed = refused;
	is_whole = ret_failed->code == HF_OK;
	rc = hf_journal_end(&journal,
			    is_whole ? HF_OUTCOME_DONE : HF_OUTCOME_UNRESTORED,
			    is_whole ? 0 : HF_STATUS_UNDECIDED, 0, err);
	if (rc < 0 || !is_whole || strcmp(options->kind, "undo") != 0)
		return rc;
	return hf_repair_settle_undos(&project->store, options->argv[0], err);
}
