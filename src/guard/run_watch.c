/* SPDX-License-Identifier: MIT */
/*
 * While the command runs: from events to violations.
 *
 * An event says that something happened to a name; whether it stays is found by
 * the look at the end.  What the watch saw being written, moved or removed is a
 * violation even if it was undone.
 *
 * A program that damages one file often damages the next at once: a formatter, a
 * clean-up, a swap of two names.  The tree is therefore ended when a burst of
 * changes has come to rest or has lasted long enough, and the report names them
 * all.  Nothing depends on these times but how much the report can tell.
 */
#include <string.h>

#include "base/path.h"
#include "core/replace.h"
#include "core/scan_side.h"
#include "guard/run.h"
#include "platform/system.h"

#define NS_PER_MS	((int64_t)1000 * 1000)
#define BURST_REST_NS	(50 * NS_PER_MS)
#define BURST_MAX_NS	(500 * NS_PER_MS)

static const char *operation_of(unsigned kinds)
{
	if (kinds & HF_WATCH_WRITTEN)
		return "write";
	if (kinds & HF_WATCH_REMOVED)
		return "remove";
	if (kinds & HF_WATCH_MOVED_FROM)
		return "rename";
	if (kinds & HF_WATCH_MOVED_TO)
		return "replace";
	if (kinds & HF_WATCH_CREATED)
		return "create";
	return NULL;
}

/* What stands at the path of an entry now; false when that cannot be told. */
static bool look_at(const struct hf_run *run, const struct hf_entry *entry,
		    struct hf_tree *tree, struct hf_entry **ret_now)
{
	cleanup_fd int dir_fd = -1;
	struct hf_error ignored = { 0 };
	const char *name;

	*ret_now = hf_tree_add(tree, entry->path);
	if (!*ret_now)
		return false;
	dir_fd = hf_scan_open_parent(run->project->root_fd, entry->path, &name);
	if (dir_fd < 0)
		return dir_fd == -ENOENT || dir_fd == -ENOTDIR;
	return hf_scan_entry(dir_fd, name, tree, *ret_now, &ignored) == 0;
}

/* An event of our own restore finds the state that it left. */
static bool is_ours(const struct hf_run *run, const struct hf_entry *entry)
{
	const size_t index =
		(size_t)(entry - run->session.snapshot.tree.entries);
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;
	const struct hf_stat *left;
	struct hf_entry *now;

	if (!run->put_back || run->put_back[index].ino == 0)
		return false;
	left = &run->put_back[index];
	return look_at(run, entry, &tree, &now) && now->stat.ino == left->ino &&
	       now->stat.dev == left->dev && now->stat.size == left->size &&
	       now->stat.ctime_ns == left->ctime_ns;
}

static bool has_other_metadata(const struct hf_run *run,
			       const struct hf_entry *entry)
{
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;
	struct hf_entry *now;

	return look_at(run, entry, &tree, &now) &&
	       now->stat.kind == entry->stat.kind &&
	       hf_compare_entry(entry, now) & HF_CHANGE_METADATA;
}

static void begin_burst(struct hf_run *run, struct hf_job *job)
{
	const int64_t now = hf_system_boot_ns();
	int64_t rest = now + BURST_REST_NS;

	if (!job)
		return;
	if (run->burst_ns == 0) {
		run->burst_ns = now;
		/* Who is alive now may have done it; who comes later did not. */
		if (hf_job_processes(job, &run->suspects) < 0)
			hf_processes_done(&run->suspects);
	}
	if (rest > run->burst_ns + BURST_MAX_NS)
		rest = run->burst_ns + BURST_MAX_NS;
	run->burst_end_ns = rest;
	hf_run_set_alarm(run, job);
}

void hf_run_set_alarm(struct hf_run *run, struct hf_job *job)
{
	const int64_t times[] = {
		run->burst_ns != 0 ? run->burst_end_ns : 0,
		run->lease_ns,
		run->store.fill_ns,
		run->beat_ns,
	};
	int64_t next = 0;

	for (size_t i = 0; i < HF_COUNT(times); i++)
		if (times[i] != 0 && (next == 0 || times[i] < next))
			next = times[i];
	hf_job_set_alarm(job, next);
}

void hf_run_beat(struct hf_run *run)
{
	const int64_t now = hf_system_boot_ns();

	if (now < run->beat_ns)
		return;
	/* Journalled already, in the first moment. */
	if (run->beat_ns != 0)
		hf_journal_beat(&run->journal);
	run->beat_ns = now + HF_JOURNAL_BEAT_NS;
}

static void note_landed(struct hf_run *run, struct hf_job *job,
			const struct hf_entry *entry, const char *operation)
{
	/* A person's edit stays, and the run goes on. */
	if (hf_run_is_outside(run, entry->path, entry)) {
		(void)hf_run_note_outside(run, entry->path, entry->rule,
					  operation, entry);
		hf_run_follow(run, entry);
		return;
	}
	begin_burst(run, job);
	(void)hf_run_note(run, entry->path, entry->rule, operation, entry);
}

/* A directory on the way was moved or removed, and all that is in it with it. */
static void note_beneath(struct hf_run *run, struct hf_job *job,
			 const struct hf_entry *directory,
			 const char *operation)
{
	const struct hf_tree *const tree = &run->session.snapshot.tree;
	const struct hf_entry *const end = tree->entries + tree->count;

	for (const struct hf_entry *entry = directory; entry < end; entry++) {
		if (entry != directory &&
		    !hf_path_is_beneath(entry->path, directory->path))
			return;
		if (entry->role == HF_ROLE_PROTECTED &&
		    entry->stat.kind != HF_KIND_ABSENT)
			note_landed(run, job, entry, operation);
	}
}

/*
 * Once we have put an entry back, the next damage may come before the events of
 * our own restore were read, which then seem to be somebody's.  They start a look
 * like any other, but under the name of what was seen before.
 */
static const char *name_of(const struct hf_run *run,
			   const struct hf_entry *entry, const char *operation)
{
	const struct hf_violation *const known =
		hf_violations_find(&run->session.violations, entry->path);

	return run->put_back && known ? known->operation : operation;
}

static void take_entry(struct hf_run *run, struct hf_job *job,
		       const struct hf_entry *entry, unsigned kinds)
{
	const char *const operation = operation_of(kinds);

	if (entry->role == HF_ROLE_ALLOWED ||
	    entry->role == HF_ROLE_SIDE_CACHE || is_ours(run, entry))
		return;
	/* Another file under its name: the old one's watch does not tell of it.
	 */
	if (kinds & (HF_WATCH_CREATED | HF_WATCH_MOVED_TO))
		hf_run_watch_entry(run, entry);
	hf_run_lease_event(run, entry, kinds);
	if (operation && entry->stat.kind == HF_KIND_DIRECTORY) {
		if (kinds & (HF_WATCH_MOVED_FROM | HF_WATCH_REMOVED))
			note_beneath(run, job, entry, operation);
		return;
	}
	if (entry->role == HF_ROLE_ANCESTOR)
		return;
	if (operation)
		note_landed(run, job, entry, name_of(run, entry, operation));
	else if (kinds & HF_WATCH_METADATA && has_other_metadata(run, entry))
		note_landed(run, job, entry, name_of(run, entry, "metadata"));
}

/* A name that was not there: does the policy want it not to be? */
static void take_new_name(struct hf_run *run, struct hf_job *job,
			  const struct hf_watch_event *event, const char *path)
{
	const struct hf_policy *const policy = &run->project->policy;
	const char *rule;

	if (!(event->kinds & (HF_WATCH_CREATED | HF_WATCH_MOVED_TO)) ||
	    /* Our own come and go beside what we have put back. */
	    (run->put_back && hf_replace_is_temporary(event->name)))
		return;
	rule = hf_patterns_match_past(policy->protect, path,
				      hf_scan_skipped_len(path),
				      event->is_directory);
	if (hf_scan_side_base(&run->session.snapshot.tree, path)) {
		/* Beside a database; judged at the end: it mostly goes away again. */
		if (run->burst_ns != 0)
			begin_burst(run, job);
		return;
	}
	if (!rule || hf_policy_allows(policy, run->options->argv, path,
				      event->is_directory))
		return;
	if (hf_run_is_outside(run, path, NULL)) {
		(void)hf_run_note_outside(run, path, rule, "create", NULL);
		return;
	}
	begin_burst(run, job);
	(void)hf_run_note(run, path, rule, "create", NULL);
}

/*
 * The root was moved or removed, or a directory above it: all that is in it went
 * along.  Of any other directory its parent tells the same.
 */
static void take_gone(struct hf_run *run, struct hf_job *job, const char *path)
{
	const struct hf_tree *const tree = &run->session.snapshot.tree;
	const char *const root = run->project->root;

	if (strcmp(path, ".") != 0 && strcmp(path, root) != 0 &&
	    !hf_path_is_beneath(root, path))
		return;
	for (size_t i = 0; i < tree->count; i++) {
		const struct hf_entry *const entry = &tree->entries[i];

		if (entry->role == HF_ROLE_PROTECTED &&
		    entry->stat.kind != HF_KIND_ABSENT &&
		    !hf_path_is_absolute(entry->path) &&
		    !hf_violations_find(&run->session.violations, entry->path))
			note_landed(run, job, entry, "rename");
	}
}

static void take_event(struct hf_run *run, struct hf_job *job,
		       const struct hf_watch_event *event)
{
	const struct hf_place *place;
	const struct hf_entry *entry;
	cleanup_free char *path = NULL;

	if (event->kinds & HF_WATCH_OVERFLOW) {
		run->session.is_watch_complete = false;
		run->session.watch_why = "more events than the queue holds";
		return;
	}
	place = &run->places[event->tag];
	if (event->name[0] == '\0' && !place->is_file) {
		if (event->kinds & HF_WATCH_SELF_GONE)
			take_gone(run, job, place->path);
		return;
	}
	path = place->is_file ? hf_path_join("", place->path) :
				hf_path_join(place->path, event->name);
	if (!path)
		return;
	entry = hf_tree_find(&run->session.snapshot.tree, path);
	if (entry)
		take_entry(run, job, entry, event->kinds);
	else
		take_new_name(run, job, event, path);
}

static void take_events(struct hf_run *run, struct hf_job *job)
{
	struct hf_watch_event event;

	if (!run->watch)
		return;
	while (hf_watch_next(run->watch, &event) > 0)
		take_event(run, job, &event);
}

void hf_run_ready(void *context, struct hf_job *job)
{
	/* Who opened a file, before what was written to it. */
	hf_run_take_gate(context, job);
	take_events(context, job);
	hf_run_lease_alarm(context);
	hf_run_set_alarm(context, job);
}

void hf_run_drain(struct hf_run *run)
{
	hf_run_take_gate(run, NULL);
	take_events(run, NULL);
}

/* The burst has come to rest. */
void hf_run_alarm(void *context, struct hf_job *job)
{
	struct hf_run *const run = context;

	hf_run_beat(run);
	hf_run_lease_alarm(run);
	hf_run_fill_spare(run);
	if (run->burst_ns == 0 || hf_system_boot_ns() < run->burst_end_ns) {
		hf_run_set_alarm(run, job);
		return;
	}
	/* Another run has seen its own change by now. */
	if (hf_run_disown(run)) {
		run->burst_ns = 0;
		hf_run_set_alarm(run, job);
		return;
	}
	if (run->project->policy.on_landed == HF_LANDED_STOP) {
		hf_job_stop(job);
		return;
	}
	run->burst_ns = 0;
	hf_run_release_leases(run);
	hf_run_restore_now(run);
	hf_run_retake_leases(run);
	hf_run_set_alarm(run, job);
}
