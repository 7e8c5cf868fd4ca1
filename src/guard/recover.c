/* SPDX-License-Identifier: MIT */
/* Settle sessions that died entirely. */
#include "guard/recover.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/snapshot.h"
#include "guard/repair.h"
#include "guard/session.h"
#include "platform/job.h"
#include "platform/system.h"

void hf_recovery_work_done(struct hf_recovery_work *work)
{
	hf_free_pointee(&work->items);
	work->count = 0;
	hf_dead_done(&work->dead);
	hf_deltas_done(&work->deltas);
	hf_tree_done(&work->now);
	hf_manifest_done(&work->manifest);
	hf_session_record_done(&work->record);
}

size_t hf_recovery_count(const struct hf_recovery_work *work,
			 enum hf_recovery decision)
{
	size_t count = 0;

	for (size_t i = 0; i < work->count; i++)
		count += work->items[i].decision == decision;
	return count;
}

/* -- looking -----------------------------------------------------------------
 */

bool hf_recover_is_of_a_run(const struct hf_project *project,
			    const struct hf_name *name)
{
	cleanup_session_record struct hf_session_record record =
		HF_SESSION_RECORD_INIT;
	struct hf_error ignored;

	return hf_journal_read(&project->store, name, &record, &ignored) == 0 &&
	       strcmp(record.kind, "run") == 0;
}

bool hf_recover_is_half_undone(const struct hf_project *project,
			       const struct hf_name *name, const char *verb,
			       struct hf_error *err)
{
	cleanup_session_record struct hf_session_record record =
		HF_SESSION_RECORD_INIT;

	if (hf_journal_read(&project->store, name, &record, err) < 0 ||
	    strcmp(record.kind, "undo") != 0 || record.kept_count == 0)
		return false;
	(void)hf_fail(err, HF_ERR_UNDECIDED,
		      "cannot %s: undo %" PRIu64 " did not come to its end",
		      verb, hf_name_number(name));
	(void)hf_fail_hint(err, "finish it: holdfast undo; put the tree back: "
				"holdfast restore; keep it as it is: holdfast "
				"snapshot");
	return true;
}

static int read_session(const struct hf_project *project,
			const struct hf_name *name,
			struct hf_recovery_work *work, struct hf_error *err)
{
	char boot_id[37];
	int rc;

	rc = hf_journal_read(&project->store, name, &work->record, err);
	if (rc == HF_ERR_CORRUPT)
		return hf_fail_hint(err, "look: holdfast status; put the tree "
					 "back: holdfast restore; accept it as "
					 "it is: holdfast snapshot");
	if (rc < 0)
		return rc;
	hf_system_boot_id(boot_id);
	return hf_dead_read(&work->record, boot_id, &work->dead, err);
}

static bool is_directory(const struct hf_entry *entry)
{
	return entry && entry->stat.kind == HF_KIND_DIRECTORY;
}

/* Would putting it back take away what lies in it? */
static bool takes_all(const struct hf_recovery_item *item)
{
	return item->decision == HF_RECOVERY_PUT_BACK &&
	       is_directory(item->delta->after) &&
	       !is_directory(item->delta->before);
}

/* Deltas are in the order of trees: what lies in a directory follows it. */
void hf_recovery_spare_directories(struct hf_recovery_work *work)
{
	for (size_t i = 0; i < work->count; i++) {
		struct hf_recovery_item *const item = &work->items[i];
		const char *const path = hf_delta_entry(item->delta)->path;

		for (size_t k = i + 1; takes_all(item) && k < work->count;
		     k++) {
			const struct hf_recovery_item *const inner =
				&work->items[k];

			if (!hf_path_is_beneath(
				    hf_delta_entry(inner->delta)->path, path))
				break;
			if (inner->decision == HF_RECOVERY_LEAVE ||
			    inner->decision == HF_RECOVERY_UNDECIDED)
				item->decision = inner->decision;
		}
	}
}

/*
 * What was done by hand went back to some snapshot; what has been recorded
 * since is nobody's damage.
 */
static bool is_recorded_since(const struct hf_manifest *newest,
			      const struct hf_delta *delta)
{
	const struct hf_entry *const entry =
		hf_tree_find(&newest->tree, hf_delta_entry(delta)->path);

	return hf_compare_entry(entry, delta->after) == 0;
}

static int load_newest(const struct hf_project *project,
		       const struct hf_recovery_work *work,
		       struct hf_manifest *ret_newest, struct hf_error *err)
{
	return work->dead.is_run ? 0
				 : hf_snapshot_load_newest(&project->store,
							   ret_newest, err);
}

static int judge(const struct hf_project *project,
		 struct hf_recovery_work *work, struct hf_error *err)
{
	cleanup_manifest struct hf_manifest newest = HF_MANIFEST_INIT;
	int rc;

	rc = load_newest(project, work, &newest, err);
	if (rc < 0)
		return rc;
	work->items = calloc(work->deltas.count + 1, sizeof(*work->items));
	if (!work->items)
		return hf_fail_memory(err);
	for (size_t i = 0; i < work->deltas.count; i++) {
		const struct hf_delta *const delta = &work->deltas.items[i];
		const struct hf_entry *const entry = hf_delta_entry(delta);

		work->items[i] = (struct hf_recovery_item){.delta = delta};
		if (entry->role == HF_ROLE_ALLOWED ||
		    entry->role == HF_ROLE_SIDE_CACHE ||
		    (!work->dead.is_run && is_recorded_since(&newest, delta)))
			continue;
		work->items[i].left = hf_recover_left(&work->dead, entry->path);
		work->items[i].decision = hf_recover_decide(&work->dead, delta);
	}
	work->count = work->deltas.count;
	hf_recovery_spare_directories(work);
	return 0;
}

static int compare(const struct hf_project *project,
		   struct hf_progress *progress, struct hf_recovery_work *work,
		   struct hf_error *err)
{
	const struct hf_session_record *const record = &work->record;
	const struct hf_scan_options scan = hf_project_scan_options(
		project, (const char *const *)record->argv);
	int rc;

	if (record->snapshot[0] == '\0')
		return 0;
	rc = hf_snapshot_compare(&project->store, record->snapshot, &scan,
				 progress, &work->manifest, &work->now,
				 &work->deltas, err);
	if (rc < 0)
		return rc;
	if (work->now.unread) {
		(void)hf_fail(err, HF_ERR_UNDECIDED,
			      "cannot look into '%s': what session %" PRIu64
			      " left there is not known",
			      HF_QUOTE(work->now.unread),
			      hf_name_number(&record->name));
		return hf_fail_hint(err, "make it readable, then: holdfast "
					 "recover");
	}
	return judge(project, work, err);
}

int hf_recover_show(const struct hf_project *project,
		    const struct hf_name *name, struct hf_progress *progress,
		    struct hf_recovery_work *ret_work, struct hf_error *err)
{
	int rc;

	rc = read_session(project, name, ret_work, err);
	return rc < 0 ? rc : compare(project, progress, ret_work, err);
}

/* Nobody would notice what they do from now on. */
static int end_processes(const struct hf_project *project,
			 const struct hf_name *name,
			 struct hf_recovery_work *work, struct hf_error *err)
{
	const struct hf_session_record *const record = &work->record;
	cleanup_buffer struct hf_buffer store = HF_BUFFER_INIT;
	char session[64];
	const char *variables[3] = {session, NULL};
	char boot_id[37];
	int rc;

	hf_system_boot_id(boot_id);
	if (strcmp(record->kind, "run") != 0 ||
	    strcmp(record->boot_id, boot_id) != 0)
		return 0;
	(void)snprintf(session, sizeof(session), "%s=%s", HF_SESSION_VARIABLE,
		       name->text);
	hf_buffer_printf(&store, "%s=%s", HF_STORE_VARIABLE,
			 project->store.path);
	rc = hf_buffer_check(&store, err);
	if (rc < 0)
		return rc;
	variables[1] = store.data;
	rc = hf_process_end_marked(variables, record->begun_boot_ns,
				   &work->ended);
	if (rc == 0)
		return 0;
	if (rc < 0)
		return hf_fail_system(err, rc,
				      "cannot look for processes of session "
				      "%" PRIu64,
				      hf_name_number(name));
	(void)hf_fail(err, HF_ERR_BUSY,
		      "session %" PRIu64 " did not end, and %d of its "
		      "processes cannot be ended",
		      hf_name_number(name), rc);
	return hf_fail_hint(err,
			    "end them, as the user that they belong to: "
			    "%s is in their environment",
			    session);
}

int hf_recover_look(const struct hf_project *project,
		    const struct hf_name *name, struct hf_progress *progress,
		    struct hf_recovery_work *ret_work, struct hf_error *err)
{
	int rc;

	rc = read_session(project, name, ret_work, err);
	if (rc < 0)
		return rc;
	rc = end_processes(project, name, ret_work, err);
	return rc < 0 ? rc : compare(project, progress, ret_work, err);
}

/* -- doing -------------------------------------------------------------------
 */

static bool is_left(const struct hf_delta *delta, void *context)
{
	const struct hf_recovery_work *const work = context;

	return work->items[delta - work->deltas.items].decision !=
	       HF_RECOVERY_PUT_BACK;
}

static int put_back(struct hf_project *project, struct hf_recovery_work *work,
		    const struct hf_repair_options *how,
		    struct hf_recovery_result *result, struct hf_error *err)
{
	cleanup_plan struct hf_plan plan = HF_PLAN_INIT;
	const struct hf_plan_options options = {
		.remove_additions = true,
		.is_left = is_left,
		.context = work,
	};
	int rc;

	rc = hf_restore_plan(&work->deltas, &work->manifest.tree, &options,
			     &plan, err);
	if (rc < 0)
		return rc;
	rc = hf_repair_apply(project, &plan, how, &result->session,
			     &result->first_error, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < plan.count; i++) {
		const struct hf_step *const step = &plan.steps[i];

		result->failed += hf_repair_has_failed(step);
		result->put_back +=
			step->result == HF_STEP_DONE && step->change != 0;
	}
	return 0;
}

static int accept_left(const struct hf_project *project,
		       const struct hf_recovery_work *work,
		       struct hf_error *err)
{
	for (size_t i = 0; i < work->count; i++) {
		const struct hf_delta *const delta = work->items[i].delta;
		struct hf_entry gone = *hf_delta_entry(delta);
		int rc;

		if (work->items[i].decision != HF_RECOVERY_LEAVE ||
		    hf_recover_is_accepted(&work->dead, delta))
			continue;
		gone.stat = (struct hf_stat){.kind = HF_KIND_ABSENT};
		gone.has_hash = false;
		gone.link = NULL;
		gone.xattrs = "";
		gone.location = (struct hf_location){.pack = 0};
		rc = hf_journal_accept(&project->store, &work->record.name,
				       delta->after ? delta->after : &gone,
				       err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int hf_recover_apply(struct hf_project *project, struct hf_recovery_work *work,
		     void (*done)(void *context, const struct hf_step *step),
		     void *context, struct hf_recovery_result *ret_result,
		     struct hf_error *err)
{
	const char *const argv[] = {work->record.name.text, NULL};
	const struct hf_repair_options how = {
		.kind = "recover",
		.snapshot = work->manifest.name.text,
		.argv = argv,
		.done = done,
		.context = context,
	};
	struct hf_recovery_result result = {
		.undecided = hf_recovery_count(work, HF_RECOVERY_UNDECIDED),
	};
	int rc = 0;

	if (hf_recovery_count(work, HF_RECOVERY_PUT_BACK) > 0)
		rc = put_back(project, work, &how, &result, err);
	/* One that is closed has nothing to remember. */
	if (rc == 0 && result.undecided + result.failed > 0)
		rc = accept_left(project, work, err);
	else if (rc == 0)
		rc = hf_journal_settle(&project->store, &work->record.name,
				       HF_OUTCOME_DONE, err);
	if (rc < 0)
		return rc;
	*ret_result = result;
	return 0;
}

/* -- all of them -------------------------------------------------------------
 */

static const char *first_path(const struct hf_recovery_work *work,
			      enum hf_recovery decision)
{
	for (size_t i = 0; i < work->count; i++)
		if (work->items[i].decision == decision)
			return hf_delta_entry(work->items[i].delta)->path;
	return "";
}

static void note(const struct hf_recovery_work *work,
		 const struct hf_recovery_result *result,
		 struct hf_buffer *notes)
{
	const uint64_t number = hf_name_number(&work->record.name);

	if (work->ended > 0)
		hf_buffer_printf(notes,
				 "session %" PRIu64 " did not end: %zu of its "
				 "processes %s still there and %s ended\n",
				 number, work->ended,
				 work->ended == 1 ? "was" : "were",
				 work->ended == 1 ? "was" : "were");
	if (result->put_back == 0)
		return;
	hf_buffer_printf(
		notes, "session %" PRIu64 " did not end: put back '%s'", number,
		HF_QUOTE(first_path(work, HF_RECOVERY_PUT_BACK)));
	if (result->put_back > 1)
		hf_buffer_printf(notes, " and %zu more", result->put_back - 1);
	hf_buffer_printf(notes, "; undo: holdfast undo %" PRIu64 "\n",
			 hf_name_number(&result->session));
}

static int fail_undecided(const struct hf_recovery_work *work,
			  const struct hf_recovery_result *result,
			  const char *verb, struct hf_error *err)
{
	const char *const first = first_path(work, HF_RECOVERY_UNDECIDED);
	char others[48] = "";

	if (result->undecided > 1)
		(void)snprintf(others, sizeof(others), " and %zu more",
			       result->undecided - 1);
	(void)hf_fail(err, HF_ERR_UNDECIDED,
		      "cannot %s: session %" PRIu64 " did not end, and nobody "
		      "knows who changed '%s'%s",
		      verb, hf_name_number(&work->record.name), HF_QUOTE(first),
		      others);
	return hf_fail_hint(err, "look: holdfast recover; put back: holdfast "
				 "recover --put-back PATH...; keep: holdfast "
				 "recover --keep-mine PATH...");
}

static int fail_put_back(const struct hf_recovery_work *work,
			 const struct hf_recovery_result *result,
			 const char *verb, struct hf_error *err)
{
	(void)hf_fail(err, HF_ERR_UNDECIDED,
		      "cannot %s: session %" PRIu64 " did not end, and %zu %s "
		      "not be put back: %s",
		      verb, hf_name_number(&work->record.name), result->failed,
		      result->failed == 1 ? "entry can" : "entries can",
		      result->first_error.text);
	return hf_fail_hint(err, "remove the cause, then: holdfast recover");
}

/* 1 when it is closed. */
static int recover_one(struct hf_project *project, const struct hf_name *name,
		       const char *verb, struct hf_buffer *notes,
		       struct hf_error *err)
{
	cleanup_recovery struct hf_recovery_work work = HF_RECOVERY_WORK_INIT;
	struct hf_recovery_result result = {0};
	int rc;

	if (hf_recover_is_half_undone(project, name, verb, err))
		return err->code;
	rc = hf_recover_look(project, name, NULL, &work, err);
	if (rc < 0)
		return rc;
	rc = hf_recover_apply(project, &work, NULL, NULL, &result, err);
	if (rc < 0)
		return rc;
	note(&work, &result, notes);
	if (result.failed > 0)
		return fail_put_back(&work, &result, verb, err);
	if (result.undecided > 0)
		return fail_undecided(&work, &result, verb, err);
	return 1;
}

int hf_recover_all(struct hf_project *project, struct hf_names *dead,
		   const char *verb, struct hf_buffer *notes,
		   struct hf_error *err)
{
	size_t left = 0;
	int first = 0;

	for (size_t i = 0; i < dead->count; i++) {
		const struct hf_name name = dead->items[i];
		struct hf_error failure;
		const int rc =
			recover_one(project, &name, verb, notes, &failure);

		if (rc > 0)
			continue;
		dead->items[left++] = name;
		/* What a person can decide comes before what is damaged. */
		if (first == 0 ||
		    (rc == HF_ERR_UNDECIDED && first != HF_ERR_UNDECIDED)) {
			first = rc;
			*err = failure;
		}
	}
	dead->count = left;
	return first;
}

int hf_recover_before_record(struct hf_project *project, struct hf_names *dead,
			     struct hf_buffer *notes, struct hf_error *err)
{
	const int rc = hf_recover_all(project, dead, "record", notes, err);

	for (size_t i = 0; rc < 0 && i < dead->count; i++)
		if (hf_recover_is_of_a_run(project, &dead->items[i]))
			return rc;
	return 0;
}
