/* SPDX-License-Identifier: MIT */
/*
 * Arm the watch before the command may go, and again what a restore made anew.
 */
#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "guard/run.h"
#include "platform/system.h"

/* A file watch costs 3 us; above this many only those with other names get one,
 * since the directory's watch misses only a write through another name. */
#define FILE_WATCHES_MAX	1000

/* The command may go; one that ends at once needs no second copy of anything but
 * what is held open. */
#define FILL_AFTER_NS	(INT64_C(3) * 1000 * 1000)

static int add_place(struct hf_run *run, const char *path, bool is_file,
		     size_t *ret_tag)
{
	if (run->place_count == run->place_capacity) {
		const size_t capacity =
			run->place_capacity ? 2 * run->place_capacity : 64;
		struct hf_place *const places = reallocarray(
			run->places, capacity, sizeof(*places));

		if (!places)
			return -ENOMEM;
		run->places = places;
		run->place_capacity = capacity;
	}
	run->places[run->place_count] =
		(struct hf_place){ .path = path, .is_file = is_file };
	*ret_tag = run->place_count++;
	return 0;
}

enum watch_kind { WATCH_DIRECTORY, WATCH_NAMES, WATCH_FILE, WATCH_ANCESTOR };

/* Watches run out and file systems have none: the look at the end holds. */
static void degrade(struct hf_run *run, int rc)
{
	struct hf_session *const session = &run->session;

	if (!session->is_watch_complete)
		return;
	session->is_watch_complete = false;
	session->watch_why = rc == -ENOSPC ?
				     "the user's inotify watches are used up" :
			     rc == -EMFILE ?
				     "the user's inotify instances are used up" :
			     rc == -ENOMEM ? "out of memory" :
					     "the file system has no events";
}

static void watch_path(struct hf_run *run, const char *path,
		       enum watch_kind kind)
{
	cleanup_free char *absolute = NULL;
	size_t tag;
	int rc;

	if (!run->watch)
		return;
	absolute = hf_path_is_absolute(path) ?
			   hf_path_join("", path) :
			   hf_path_join(run->project->root, path);
	if (!absolute) {
		degrade(run, -ENOMEM);
		return;
	}
	rc = add_place(run, path, kind == WATCH_FILE, &tag);
	if (rc == 0 && kind == WATCH_DIRECTORY)
		rc = hf_watch_add_directory(run->watch, absolute, tag);
	else if (rc == 0 && kind == WATCH_NAMES)
		rc = hf_watch_add_names(run->watch, absolute, tag);
	else if (rc == 0 && kind == WATCH_FILE)
		rc = hf_watch_add_file(run->watch, absolute, tag);
	else if (rc == 0)
		rc = hf_watch_add_ancestor(run->watch, absolute, tag);
	/* What is not there (the parent of an absent entry) cannot be watched,
	 * and is watched for by its own parent. */
	if (rc < 0 && rc != -ENOENT && rc != -ENOTDIR)
		degrade(run, rc);
}

/*
 * How a directory is watched, of which first is the first entry: by its names
 * alone where all that is protected in it has a watch of its own, that tells of
 * nothing else.
 */
static enum watch_kind kind_for(const struct hf_tree *tree, const char *path,
				const struct hf_entry *first)
{
	const struct hf_entry *const end = tree->entries + tree->count;
	const size_t len = strcmp(path, ".") == 0 ? 0 : strlen(path);

	if (tree->count > FILE_WATCHES_MAX)
		return WATCH_DIRECTORY;
	for (const struct hf_entry *entry = first; entry < end; entry++) {
		if (!hf_path_is_beneath(entry->path, path))
			break;
		if (hf_path_parent_len(entry->path) != len ||
		    entry->role == HF_ROLE_ANCESTOR ||
		    entry->stat.kind == HF_KIND_ABSENT)
			continue;
		if (entry->stat.kind != HF_KIND_FILE || entry->stat.nlink > 1)
			return WATCH_DIRECTORY;
	}
	return WATCH_NAMES;
}

static void watch_parent(struct hf_run *run, const struct hf_entry *entry,
			 const char **last)
{
	const size_t len = hf_path_parent_len(entry->path);
	const char *parent;

	if (*last && strlen(*last) == len &&
	    memcmp(*last, entry->path, len) == 0)
		return;
	parent = hf_arena_copy(&run->arena, entry->path, len);
	if (!parent) {
		degrade(run, -ENOMEM);
		return;
	}
	*last = parent;
	if (len == 0)
		parent = ".";
	watch_path(run, parent,
		   kind_for(&run->session.snapshot.tree, parent, entry));
}

/* The root's own ancestors: moving one takes everything along. */
static void watch_above(struct hf_run *run)
{
	char *path = hf_arena_copy(&run->arena, run->project->root,
				   strlen(run->project->root));

	while (path) {
		const size_t len = hf_path_parent_len(path);

		watch_path(run, path, WATCH_ANCESTOR);
		if (len == 0 || strcmp(path, "/") == 0)
			return;
		path = hf_arena_copy(&run->arena, path, len);
	}
	degrade(run, -ENOMEM);
}

static void watch_all(struct hf_run *run)
{
	const struct hf_tree *const tree = &run->session.snapshot.tree;
	const bool is_large = tree->count > FILE_WATCHES_MAX;
	const char *last = NULL;
	int rc;

	rc = hf_watch_new(&run->watch);
	if (rc < 0) {
		degrade(run, rc);
		return;
	}
	for (size_t i = 0; i < tree->count; i++) {
		const struct hf_entry *const entry = &tree->entries[i];

		if (entry->role != HF_ROLE_ANCESTOR)
			watch_parent(run, entry, &last);
		if (entry->stat.kind == HF_KIND_DIRECTORY)
			watch_path(run, entry->path,
				   kind_for(tree, entry->path, entry + 1));
		if (entry->stat.kind == HF_KIND_FILE &&
		    (!is_large || entry->stat.nlink > 1))
			watch_path(run, entry->path, WATCH_FILE);
	}
	watch_above(run);
}

/* The directories above an entry, then the entry itself. */
static void watch_path_again(struct hf_run *run, const char *path)
{
	const struct hf_tree *const tree = &run->session.snapshot.tree;

	for (size_t len = 1; path[len - 1]; len++) {
		char *prefix;
		const struct hf_entry *entry;

		if (path[len] != '/' && path[len])
			continue;
		prefix = hf_arena_copy(&run->arena, path, len);
		if (!prefix) {
			degrade(run, -ENOMEM);
			return;
		}
		entry = hf_tree_find(tree, prefix);
		if (entry && entry->stat.kind == HF_KIND_DIRECTORY)
			watch_path(run, entry->path, WATCH_DIRECTORY);
		else if (entry && entry->stat.kind == HF_KIND_FILE)
			watch_path(run, entry->path, WATCH_FILE);
	}
}

void hf_run_watch_entry(struct hf_run *run, const struct hf_entry *entry)
{
	watch_path_again(run, entry->path);
}

void hf_run_watch_again(struct hf_run *run)
{
	const struct hf_violations *const violations =
		&run->session.violations;

	for (size_t i = 0; i < violations->count; i++)
		if (violations->items[i]->is_restored)
			watch_path_again(run, violations->items[i]->path);
}

static bool is_as_recorded(const struct hf_entry *recorded,
			   const struct hf_entry *now)
{
	const struct hf_stat *const a = &recorded->stat;
	const struct hf_stat *const b = &now->stat;

	if (recorded->role == HF_ROLE_ALLOWED ||
	    recorded->role == HF_ROLE_SIDE_CACHE)
		return true;
	if (a->kind != b->kind || a->ino != b->ino || a->dev != b->dev)
		return false;
	/* What happens inside a directory moves its times. */
	return b->kind == HF_KIND_DIRECTORY ||
	       (a->size == b->size && a->ctime_ns == b->ctime_ns);
}

/* The first entry of two sorted trees that is not the same; NULL when none. */
static const char *first_difference(const struct hf_tree *recorded,
				    const struct hf_tree *now)
{
	const size_t count =
		recorded->count < now->count ? recorded->count : now->count;

	for (size_t i = 0; i < count; i++) {
		const struct hf_entry *const a = &recorded->entries[i];
		const struct hf_entry *const b = &now->entries[i];

		if (strcmp(a->path, b->path) != 0)
			return hf_path_compare(a->path, b->path) < 0 ? a->path :
								       b->path;
		if (!is_as_recorded(a, b))
			return a->path;
	}
	if (recorded->count > count)
		return recorded->entries[count].path;
	return now->count > count ? now->entries[count].path : NULL;
}

/* Between the scan and the watch somebody may have changed something. */
static int look_again(struct hf_run *run, struct hf_error *err)
{
	cleanup_tree struct hf_tree now = HF_TREE_INIT;
	struct hf_scan_options scan = run->scan;
	const char *path;
	int rc;

	scan.before = &run->session.snapshot.tree;
	rc = hf_scan(&scan, &now, NULL, err);
	if (rc < 0)
		return rc;
	path = first_difference(&run->session.snapshot.tree, &now);
	if (!path)
		return 0;
	(void)hf_fail(err, HF_ERR_CHANGED,
		      "cannot run: '%s' changed while it was recorded",
		      HF_QUOTE(path));
	return hf_fail_hint(err, "end what writes to it and run again");
}

int hf_run_arm(void *context, struct hf_job *job, struct hf_error *err)
{
	struct hf_run *const run = context;
	const struct hf_session_observer *const observer =
		run->options->observer;
	struct hf_session *const session = &run->session;
	int rc;

	watch_all(run);
	if (run->watch)
		hf_job_listen(job, hf_watch_fd(run->watch));
	rc = look_again(run, err);
	if (rc < 0)
		return rc;
	hf_run_beat(run);
	hf_run_set_alarm(run, job);
	hf_run_arm_leases(run, job);
	rc = hf_run_arm_gate(run, job, err);
	if (rc < 0)
		return rc;
	if (run->store.spare) {
		run->store.fill_ns = hf_system_boot_ns() + FILL_AFTER_NS;
		hf_run_set_alarm(run, job);
	}
	if ((!session->is_watch_complete ||
	     session->gate == HF_LAYER_UNAVAILABLE) &&
	    observer && observer->degraded) {
		session->is_watch_told = !session->is_watch_complete;
		observer->degraded(observer->context, session);
	}
	return 0;
}
