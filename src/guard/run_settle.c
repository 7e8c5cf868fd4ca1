/* SPDX-License-Identifier: MIT */
/*
 * When the tree of processes has ended: look at every protected entry, put back
 * what is not as it was, and say how it ended.
 *
 * Runs in guard, or in front when guard died: then what guard saw is read from
 * the journal.
 */
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "core/restore.h"
#include "guard/run.h"
#include "platform/system.h"

/* What the owner needs to work in a directory. */
#define OWNER_ALL	0700u
/* How often what a restore has opened is looked into. */
#define LOOKS_MAX 3u

/* -- looking ---------------------------------------------------------------- */

/* What is seen at the end was seen by nobody when it happened, or was. */
static struct hf_violation *violation_of(struct hf_run *run,
					 const struct hf_delta *delta)
{
	const struct hf_entry *const entry =
		delta->before ? delta->before : delta->after;
	const char *const operation = hf_change_name(delta->change);
	struct hf_violation *const known =
		hf_violations_find(&run->session.violations, entry->path);

	if (known)
		return known;
	return hf_run_is_outside(run, entry->path, delta->before) ?
		       hf_run_note_outside(run, entry->path, entry->rule,
					   operation, delta->before) :
		       hf_run_note(run, entry->path, entry->rule, operation,
				   delta->before);
}

/* Has only a person changed it, whatever we saw of that? */
static bool is_left_as_it_is(const struct hf_run *run, const char *path)
{
	const struct hf_violation *violation =
		hf_violations_find(&run->session.violations, path);

	for (; violation; violation = violation->next)
		if (!violation->is_outside)
			return false;
	return true;
}

/* What is put back is left by nobody: a person's part of it neither. */
static void own_all(struct hf_run *run, struct hf_violation *first)
{
	for (struct hf_violation *violation = first; violation;
	     violation = violation->next) {
		const bool was_outside = violation->is_outside;

		violation->is_outside = false;
		if (was_outside && violation != first)
			hf_run_journal(run, violation);
	}
}

/* 1 when it is to be put back. */
static int note_delta(struct hf_run *run, const struct hf_delta *delta,
		      struct hf_error *err)
{
	struct hf_violations *const violations = &run->session.violations;
	struct hf_violation *const violation = violation_of(run, delta);

	if (!violation)
		return hf_fail_memory(err);
	violation->change |= delta->change;
	if (delta->after &&
	    hf_violations_copy_entry(violations, &violation->after,
				     delta->after) < 0)
		return hf_fail_memory(err);
	violation->has_after = true;
	if (!is_left_as_it_is(run, violation->path)) {
		own_all(run, violation);
		violation->is_open = true;
	}
	hf_run_journal(run, violation);
	return violation->is_open ? 1 : 0;
}

static int note_allowed(struct hf_run *run, const struct hf_delta *delta,
			struct hf_error *err)
{
	struct hf_session *const session = &run->session;
	const struct hf_entry *const entry =
		delta->before ? delta->before : delta->after;
	const char **const allowed =
		reallocarray(session->allowed, session->allowed_count + 1,
			     sizeof(*allowed));
	char *path;

	if (!allowed)
		return hf_fail_memory(err);
	session->allowed = allowed;
	path = hf_arena_copy(&run->arena, entry->path, strlen(entry->path));
	if (!path)
		return hf_fail_memory(err);
	allowed[session->allowed_count++] = path;
	return 0;
}

/* What is not to be put back is taken out. */
static int note_deltas(struct hf_run *run, struct hf_deltas *deltas,
		       struct hf_error *err)
{
	size_t count = 0;

	/* The last look speaks. */
	run->session.allowed_count = 0;
	for (size_t i = 0; i < deltas->count; i++) {
		const struct hf_delta *const delta = &deltas->items[i];
		const struct hf_entry *const entry =
			delta->before ? delta->before : delta->after;
		int rc = 1;

		if (entry->role != HF_ROLE_ANCESTOR) {
			rc = hf_run_is_allowed(delta) ?
				     note_allowed(run, delta, err) :
				     note_delta(run, delta, err);
			if (rc < 0)
				return rc;
		}
		if (rc > 0 || hf_run_is_allowed(delta))
			deltas->items[count++] = *delta;
	}
	deltas->count = count;
	return 0;
}

/* -- restoring -------------------------------------------------------------- */

/* One step of the restore: what it means for the violations of its path. */
static void step_done(void *context, const struct hf_step *step)
{
	struct hf_run *const run = context;
	struct hf_arena *const arena = &run->session.violations.arena;
	struct hf_violation *violation =
		hf_violations_find(&run->session.violations,
				   hf_step_path(step));

	for (; violation; violation = violation->next) {
		violation->is_open = false;
		violation->is_stuck = step->err != NULL;
		violation->is_restored = step->err == NULL;
		violation->error =
			step->err ? hf_arena_copy(arena, step->err->text,
						  strlen(step->err->text)) :
				    NULL;
		if (!step->kept || step->kept[0] == '\0')
			continue;
		violation->kept = hf_arena_copy(arena, step->kept,
						strlen(step->kept));
		violation->kept_count++;
	}
}

static int put_back(struct hf_run *run, const struct hf_deltas *deltas,
		    struct hf_error *err)
{
	cleanup_plan struct hf_plan plan = HF_PLAN_INIT;
	const struct hf_plan_options options = { .remove_additions = true };
	const struct hf_restore_context context = {
		.store = &run->project->store,
		.journal = &run->journal,
		.root_fd = run->project->root_fd,
		.spare = run->store.spare,
		.done = step_done,
		.context = run,
	};
	int rc;

	rc = hf_restore_plan(deltas, &run->session.snapshot.tree, &options,
			     &plan, err);
	if (rc < 0)
		return rc;
	return hf_restore_apply(&plan, &context, err);
}

/* Its path had no link in it when the run began: another project may be behind
 * one by now. */
static int open_without_links(const char *root)
{
	cleanup_fd int top_fd = hf_file_open_directory("/");

	if (top_fd < 0 || root[1] == '\0')
		return take_fd(&top_fd);
	return hf_file_open_beneath(top_fd, root + 1);
}

/*
 * The root is looked at through its path.  Where the command has moved or removed
 * it, our descriptor leads elsewhere: make it again and take the new one.  One that
 * its owner has locked is opened again.
 */
static int reopen_root(struct hf_run *run, struct hf_error *err)
{
	const char *const root = run->project->root;
	const struct hf_entry *const entry =
		hf_tree_find(&run->session.snapshot.tree, ".");
	struct hf_stat held;
	struct hf_stat there;
	int fd;
	int rc;

	rc = hf_file_stat(run->project->root_fd, &held);
	if (rc == 0 && (held.mode & OWNER_ALL) != OWNER_ALL && entry)
		rc = hf_file_set_mode(run->project->root_fd, entry->stat.mode);
	if (rc == 0)
		rc = hf_file_stat_at(-1, root, &there);
	if (rc == 0 && there.dev == held.dev && there.ino == held.ino)
		return 0;
	fd = rc < 0 && rc != -ENOENT ? rc : open_without_links(root);
	if (fd == -ENOENT) {
		rc = hf_file_mkdir_path(root);
		fd = rc < 0 ? rc : open_without_links(root);
	}
	if (fd < 0)
		return hf_fail_system(err, fd, "cannot open the root '%s' again",
				      HF_QUOTE(root));
	hf_file_close_quietly(&run->project->root_fd);
	run->project->root_fd = fd;
	run->scan.root_fd = fd;
	/* The project is the same one: the store must not take it for another. */
	return hf_store_note_root(&run->project->store, fd, err);
}

static int fail_unread(const char *path, struct hf_error *err)
{
	(void)hf_fail(err, HF_ERR_UNDECIDED,
		      "cannot look into '%s' at the end: what the command left "
		      "there is not known",
		      HF_QUOTE(path));
	return hf_fail_hint(err, "make it readable and run holdfast verify, or "
				 "take it out of the protected set with "
				 "--exclude");
}

/* 1: look again, since a locked directory may have been opened. */
static int look_once(struct hf_run *run, bool is_last, struct hf_error *err)
{
	cleanup_tree struct hf_tree now = HF_TREE_INIT;
	cleanup_deltas struct hf_deltas deltas = HF_DELTAS_INIT;
	const struct hf_tree *const want = &run->session.snapshot.tree;
	int rc;

	rc = hf_snapshot_look(&run->scan, want, NULL, &now, err);
	if (rc < 0)
		return rc;
	rc = hf_compare(want, &now, &deltas, err);
	if (rc < 0)
		return rc;
	rc = note_deltas(run, &deltas, err);
	if (rc < 0)
		return rc;
	run->session.has_looked = true;
	if (deltas.count > 0) {
		rc = put_back(run, &deltas, err);
		/* What fails now fails in the next look as well. */
		if (rc < 0 && (!now.unread || is_last))
			return rc;
	}
	if (!now.unread)
		return 0;
	return deltas.count > 0 && !is_last ? 1 : fail_unread(now.unread, err);
}

static int look_and_restore(struct hf_run *run, struct hf_error *err)
{
	int rc;

	rc = reopen_root(run, err);
	if (rc < 0)
		return rc;
	/* The other process may have been killed at its restore. */
	if (run->session.is_survivor) {
		struct hf_error ignored;

		rc = hf_restore_sweep(&run->project->store, &run->journal.name,
				      run->project->root_fd,
				      &run->session.snapshot.tree, &ignored);
		/* What stays is seen. */
		(void)rc;
	}
	rc = 1;
	for (unsigned i = 1; rc > 0; i++)
		rc = look_once(run, i == LOOKS_MAX, err);
	return rc;
}

/* Under the store's lock: another session of this root may restore as well. */
static int restore_locked(struct hf_run *run, struct hf_error *err)
{
	int rc;

	rc = hf_store_lock(&run->project->store, true, err);
	if (rc < 0)
		return rc;
	rc = look_and_restore(run, err);
	if (run->session.is_store_mended)
		hf_run_mend_packs(run);
	hf_store_unlock(&run->project->store);
	return rc;
}

/* Did our restore leave it so?  The command may have been there since. */
static bool is_as_recorded(const struct hf_stat *left,
			   const struct hf_stat *recorded)
{
	return left->kind == recorded->kind && left->mode == recorded->mode &&
	       (left->kind == HF_KIND_DIRECTORY ||
		(left->size == recorded->size &&
		 left->mtime_ns == recorded->mtime_ns));
}

/* So that the events of our own restore are known for what they are. */
static void remember_put_back(struct hf_run *run)
{
	const struct hf_tree *const tree = &run->session.snapshot.tree;
	const struct hf_violations *const violations =
		&run->session.violations;

	if (!run->put_back)
		run->put_back = calloc(tree->count, sizeof(*run->put_back));
	for (size_t i = 0; run->put_back && i < violations->count; i++) {
		const struct hf_entry *const entry =
			hf_tree_find(tree, violations->items[i]->path);
		cleanup_fd int dir_fd = -1;
		struct hf_stat *left;
		const char *name;

		if (!entry || !violations->items[i]->is_restored)
			continue;
		left = &run->put_back[entry - tree->entries];
		dir_fd = hf_scan_open_parent(run->project->root_fd,
					     entry->path, &name);
		if (dir_fd < 0 || hf_file_stat_at(dir_fd, name, left) < 0 ||
		    !is_as_recorded(left, &entry->stat))
			left->ino = 0;
		else
			hf_run_gate_renew(run, entry, left);
	}
}

void hf_run_restore_now(struct hf_run *run)
{
	const struct hf_session_observer *const observer =
		run->options->observer;
	struct hf_error ignored = { 0 };

	(void)restore_locked(run, &ignored);
	remember_put_back(run);
	hf_run_watch_again(run);
	if (observer && observer->restored)
		observer->restored(observer->context, &run->session);
}

int hf_run_settle(void *context, const struct hf_job_end *end)
{
	struct hf_run *const run = context;
	struct hf_session *const session = &run->session;
	const struct hf_session_observer *const observer =
		run->options->observer;
	struct hf_error err = { 0 };
	int status = 0;
	int rc;

	hf_run_take_end(run, end);
	if (!run->watch)
		hf_run_adopt(run);
	hf_run_drain(run);
	hf_run_count_leases(run);
	hf_run_release_leases(run);
	/* From here on the content speaks. */
	hf_watch_free(&run->watch);
	session->has_looked = false;
	if (hf_run_check_store(run, &err) < 0) {
		hf_run_fail(run, &err);
		session->is_store_lost = true;
		session->is_store_mended = hf_run_mend_store(run, &err) == 0;
	}
	rc = restore_locked(run, &err);
	if (rc < 0) {
		hf_run_fail(run, &err);
		session->look_failed = !hf_run_has_stuck(run);
	}
	/* After what went wrong with the tree, which matters more. */
	if (session->exec_errno != 0) {
		(void)hf_session_fail_exec(&err, session->argv[0],
					   session->exec_errno);
		hf_run_fail(run, &err);
	}
	hf_run_decide(run);
	session->ended_ns = hf_system_time_ns();
	hf_run_close_journal(run);
	if (observer && observer->finished)
		status = observer->finished(observer->context, session);
	if (session->exit_status != 0)
		status = session->exit_status;
	/* Borrowed from the job, which frees them. */
	session->leftovers = (struct hf_processes)HF_PROCESSES_INIT;
	return status;
}
