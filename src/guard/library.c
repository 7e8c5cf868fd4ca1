/* SPDX-License-Identifier: MIT */
/*
 * The exported functions: what holdfast/holdfast.h promises, over core and guard.
 *
 * Each opens the store, does its work under the lock and closes it again, so that
 * a program may hold a project open for long.
 */
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/version.h"
#include "core/snapshot.h"
#include "guard/recover.h"
#include "guard/repair.h"
#include "guard/session.h"

#define MEMBER_FITS(pointer, type, member)				\
	((pointer)->struct_size >=					\
	 offsetof(type, member) + sizeof((pointer)->member))

struct hf_difference {
	struct hf_manifest manifest;
	struct hf_tree now;
	struct hf_deltas deltas;
};

/* Callers may pass no error. */
static struct hf_error *need(struct hf_error *err, struct hf_error *own)
{
	if (!err)
		err = own;
	*err = (struct hf_error){ 0 };
	return err;
}

const char *hf_version(void)
{
	return HF_VERSION;
}

/* -- a project ---------------------------------------------------------------- */

int hf_project_open(const hf_project_options *options, hf_project **ret_project,
		    struct hf_error *err)
{
	struct hf_error own;
	struct hf_policy_options policy = { .root = NULL };
	hf_project *project;
	int rc;

	err = need(err, &own);
	if (options && !MEMBER_FITS(options, hf_project_options, exclude))
		return hf_fail(err, HF_ERR_USAGE,
			       "cannot open the project: struct_size is not set");
	if (options) {
		policy.root = options->root;
		policy.config = options->config;
		policy.protect = options->protect;
		policy.exclude = options->exclude;
	}
	project = malloc(sizeof(*project));
	if (!project)
		return hf_fail_memory(err);
	*project = (struct hf_project)HF_PROJECT_INIT;
	rc = hf_project_init(project, &policy, options ? options->store : NULL,
			     err);
	if (rc < 0) {
		hf_project_close(project);
		return rc;
	}
	*ret_project = project;
	return 0;
}

void hf_project_close(hf_project *project)
{
	if (!project)
		return;
	hf_project_done(project);
	free(project);
}

const char *hf_project_root(const hf_project *project)
{
	return project->root;
}

const char *hf_project_store(const hf_project *project)
{
	return project->store_path;
}

/* -- recording and comparing --------------------------------------------------- */

static int snapshot_locked(hf_project *project, struct hf_error *err)
{
	const struct hf_scan_options scan =
		hf_project_scan_options(project, NULL);
	const struct hf_snapshot_options options = {
		.scan = &scan,
		.may_be_gone = true,
	};
	cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;
	struct hf_snapshot_result result;
	int rc;

	rc = hf_snapshot_take(&project->store, &options, NULL, &manifest,
			      &result, err);
	if (rc < 0)
		return rc;
	project->named = manifest.name;
	return 0;
}

int hf_project_snapshot(hf_project *project, const char **ret_snapshot,
			struct hf_error *err)
{
	cleanup_names struct hf_names dead = HF_NAMES_INIT;
	cleanup_buffer struct hf_buffer notes = HF_BUFFER_INIT;
	struct hf_error own;
	int rc;

	err = need(err, &own);
	rc = hf_repair_lock(project, "record", HF_STORE_MAKE, &dead, err);
	if (rc >= 0)
		rc = hf_recover_before_record(project, &dead, &notes, err);
	if (rc >= 0)
		rc = snapshot_locked(project, err);
	/* Who records the tree by hand accepts what nobody else can judge. */
	if (rc >= 0)
		rc = hf_repair_settle(project, &dead, err);
	hf_store_close(&project->store);
	if (rc < 0)
		return rc;
	if (ret_snapshot)
		*ret_snapshot = project->named.text;
	return 0;
}

/* Fill in a difference whose store is open. */
static int compare(const hf_project *project, const char *snapshot,
		   struct hf_difference *difference, struct hf_error *err)
{
	const struct hf_scan_options scan =
		hf_project_scan_options(project, NULL);

	return hf_snapshot_compare(&project->store, snapshot, &scan, NULL,
				   &difference->manifest, &difference->now,
				   &difference->deltas, err);
}

static struct hf_difference *new_difference(struct hf_error *err)
{
	struct hf_difference *const difference = malloc(sizeof(*difference));

	if (!difference) {
		(void)hf_fail_memory(err);
		return NULL;
	}
	*difference = (struct hf_difference){
		.manifest = HF_MANIFEST_INIT,
		.now = HF_TREE_INIT,
		.deltas = HF_DELTAS_INIT,
	};
	return difference;
}

int hf_project_compare(hf_project *project, const char *snapshot,
		       hf_difference **ret, struct hf_error *err)
{
	struct hf_difference *difference;
	struct hf_error own;
	int rc;

	err = need(err, &own);
	difference = new_difference(err);
	if (!difference)
		return err->code;
	rc = hf_project_open_store(project, HF_STORE_MUST_EXIST, err);
	if (rc >= 0)
		rc = compare(project, snapshot, difference, err);
	hf_store_close(&project->store);
	if (rc < 0) {
		hf_difference_free(difference);
		return rc;
	}
	*ret = difference;
	return 0;
}

size_t hf_difference_count(const hf_difference *difference)
{
	return difference->deltas.count;
}

const char *hf_difference_path(const hf_difference *difference, size_t index)
{
	const struct hf_delta *const delta = &difference->deltas.items[index];

	return delta->before ? delta->before->path : delta->after->path;
}

unsigned hf_difference_change(const hf_difference *difference, size_t index)
{
	return difference->deltas.items[index].change;
}

void hf_difference_free(hf_difference *difference)
{
	if (!difference)
		return;
	hf_deltas_done(&difference->deltas);
	hf_tree_done(&difference->now);
	hf_manifest_done(&difference->manifest);
	free(difference);
}

/* -- restoring ------------------------------------------------------------------ */

static int check_result(const hf_restore_result *result, struct hf_error *err)
{
	if (MEMBER_FITS(result, hf_restore_result, undo))
		return 0;
	return hf_fail(err, HF_ERR_USAGE,
		       "cannot restore: struct_size is not set");
}

/* Apply a plan and say how it went; the first failed step is the failure. */
static int apply(hf_project *project, struct hf_plan *plan,
		 const struct hf_repair_options *options,
		 hf_restore_result *result, struct hf_error *err)
{
	struct hf_name session = { "" };
	struct hf_error failed = { 0 };
	int rc;

	result->restored = 0;
	result->failed = 0;
	result->undo[0] = '\0';
	if (plan->count == 0)
		return 0;
	rc = hf_repair_apply(project, plan, options, &session, &failed, err);
	for (size_t i = 0; i < plan->count; i++) {
		const struct hf_step *const step = &plan->steps[i];

		if (hf_repair_has_failed(step))
			result->failed++;
		else if (step->change != 0 && step->result == HF_STEP_DONE)
			result->restored++;
	}
	if (result->restored > 0)
		(void)snprintf(result->undo, sizeof(result->undo), "%s",
			       session.text);
	if (rc < 0)
		return rc;
	if (failed.code == HF_OK)
		return 0;
	*err = failed;
	return failed.code;
}

static int restore(hf_project *project, const char *snapshot,
		   const char *const *paths, hf_restore_result *result,
		   struct hf_error *err)
{
	cleanup_plan struct hf_plan plan = HF_PLAN_INIT;
	const struct hf_plan_options plan_options = { .paths = paths };
	struct hf_repair_options options = { .kind = "restore" };
	struct hf_difference *const difference = new_difference(err);
	int rc;

	if (!difference)
		return err->code;
	rc = compare(project, snapshot, difference, err);
	if (rc >= 0)
		rc = hf_restore_plan(&difference->deltas,
				     &difference->manifest.tree, &plan_options,
				     &plan, err);
	if (rc >= 0) {
		options.snapshot = difference->manifest.name.text;
		options.argv = paths;
		rc = apply(project, &plan, &options, result, err);
	}
	hf_difference_free(difference);
	return rc;
}

int hf_project_restore(hf_project *project, const char *snapshot,
		       const char *const *paths, hf_restore_result *result,
		       struct hf_error *err)
{
	cleanup_names struct hf_names dead = HF_NAMES_INIT;
	cleanup_buffer struct hf_buffer notes = HF_BUFFER_INIT;
	struct hf_error own;
	int rc;

	err = need(err, &own);
	rc = check_result(result, err);
	if (rc < 0)
		return rc;
	rc = hf_repair_lock(project, "restore", HF_STORE_MUST_EXIST, &dead,
			    err);
	if (rc >= 0)
		rc = hf_recover_all(project, &dead, "restore", &notes, err);
	/* What a person asks for is put back, certain or not. */
	if (rc == HF_ERR_UNDECIDED || rc == HF_ERR_CORRUPT)
		rc = 0;
	if (rc >= 0)
		rc = restore(project, snapshot, paths, result, err);
	if (rc >= 0 && !paths)
		rc = hf_repair_settle(project, &dead, err);
	hf_store_close(&project->store);
	return rc;
}

static int undo(hf_project *project, const char *name,
		hf_restore_result *result, struct hf_error *err)
{
	cleanup_session_record struct hf_session_record record =
		HF_SESSION_RECORD_INIT;
	cleanup_tree struct hf_tree now = HF_TREE_INIT;
	cleanup_plan struct hf_plan plan = HF_PLAN_INIT;
	const char *argv[2] = { NULL };
	const struct hf_repair_options options = {
		.kind = "undo",
		.snapshot = "",
		.argv = argv,
	};
	int rc;

	rc = hf_repair_find_undo(&project->store, name, &record, NULL, err);
	if (rc < 0)
		return rc;
	argv[0] = record.name.text;
	rc = hf_repair_plan_undo(project, &record, NULL, &now, &plan, err);
	if (rc < 0)
		return rc;
	return apply(project, &plan, &options, result, err);
}

int hf_project_undo(hf_project *project, const char *name,
		    hf_restore_result *result, struct hf_error *err)
{
	cleanup_names struct hf_names dead = HF_NAMES_INIT;
	struct hf_error own;
	int rc;

	err = need(err, &own);
	rc = check_result(result, err);
	if (rc < 0)
		return rc;
	rc = hf_repair_lock(project, "undo", HF_STORE_MUST_EXIST, &dead, err);
	if (rc >= 0)
		rc = undo(project, name, result, err);
	hf_store_close(&project->store);
	return rc;
}

/* -- guarding ------------------------------------------------------------------- */

struct guarding {
	hf_project *project;
	const char *const *argv;
};

struct guarded {
	int rc;
	struct hf_session_result result;
	struct hf_error err;
};

static void guard_apart(void *context, void *result)
{
	const struct guarding *const guarding = context;
	struct guarded *const guarded = result;
	const struct hf_session_options options = { .argv = guarding->argv };

	guarded->rc = hf_session_run(guarding->project, &options,
				     &guarded->result, &guarded->err);
}

int hf_project_guard(hf_project *project, const char *const *argv,
		     hf_guard_result *result, struct hf_error *err)
{
	struct guarding guarding = { .project = project, .argv = argv };
	struct guarded guarded = { .rc = 0 };
	struct hf_error own;
	int rc;

	err = need(err, &own);
	if (!MEMBER_FITS(result, hf_guard_result, command_signal))
		return hf_fail(err, HF_ERR_USAGE,
			       "cannot guard: struct_size is not set");
	rc = hf_process_apart(guard_apart, &guarding, &guarded,
			      sizeof(guarded));
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot guard the command");
	if (guarded.rc < 0) {
		*err = guarded.err;
		return guarded.rc;
	}
	result->status = guarded.result.status;
	result->command_code = guarded.result.command_code;
	result->command_signal = guarded.result.command_signal;
	return 0;
}
