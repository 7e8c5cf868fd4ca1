/* SPDX-License-Identifier: MIT */
/*
 * Keep an entry with all that lies in it; take it apart once it was kept.
 *
 * Both walk by descriptors, follow no link and stay on one file system.
 */
#include "core/swap_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/content.h"
#include "core/place.h"
#include "core/restore.h"
#include "core/scan.h"
#include "platform/system.h"

#define FIRST_CAPACITY 4
#define OWNER_ALL      0700u

/* One name on a walk. */
struct at {
	int dir_fd;
	const char *name;
	const char *path;
	unsigned depth;
};

/* Out of line: a quoted name takes 16 KiB of stack, and its callers recurse. */
__attribute__((noinline)) static int fail_at(struct hf_error *err, int rc,
					     const char *verb, const char *path)
{
	return hf_fail_system(err, rc, "cannot %s '%s'", verb, HF_QUOTE(path));
}

__attribute__((noinline)) static int refuse(struct hf_error *err,
					    enum hf_code code, const char *path,
					    const char *why)
{
	return hf_fail(err, code, "cannot keep '%s': %s", HF_QUOTE(path), why);
}

void hf_swap_set_begin(struct hf_swap_set *set,
		       const struct hf_restore_context *context,
		       struct hf_place *place, struct hf_step *step)
{
	set->context = context;
	set->place = place;
	set->step = step;
}

static int add_item(struct hf_swap_set *set, struct hf_kept *kept,
		    struct hf_error *err)
{
	if (set->count == set->capacity) {
		const size_t capacity =
			set->capacity > 0 ? 2 * set->capacity : FIRST_CAPACITY;
		struct hf_kept *items;
		size_t size;

		if (__builtin_mul_overflow(capacity, sizeof(*items), &size))
			return hf_fail_memory(err);
		items = realloc(set->items, size);
		if (!items)
			return hf_fail_memory(err);
		set->items = items;
		set->capacity = capacity;
	}
	set->items[set->count++] = *kept;
	*kept = (struct hf_kept)HF_KEPT_INIT;
	return 0;
}

/* The copy of the top entry is what a person looks for. */
static int tell_step(struct hf_swap_set *set, const char *kept_path,
		     struct hf_error *err)
{
	char *copy;

	if (kept_path[0] == '\0')
		return 0;
	copy = strdup(kept_path);
	if (!copy)
		return hf_fail_memory(err);
	free(set->step->kept);
	set->step->kept = copy;
	return 0;
}

static int journal(struct hf_swap_set *set, const struct at *at,
		   const struct hf_entry *replaced, const char *kept_path,
		   struct hf_error *err)
{
	const struct hf_entry nothing = {
		.path = at->path,
		.rule = "",
		.xattrs = "",
	};
	const struct hf_entry *put = &nothing;

	if (at->depth == 0 && set->step->want)
		put = set->step->want;
	return hf_journal_add_kept(set->context->journal, replaced, kept_path,
				   put, err);
}

/* Is the copy of what the scan saw? */
static bool is_of(const struct hf_kept *kept, const struct hf_stat *seen)
{
	return kept->stat.kind == seen->kind && kept->stat.ino == seen->ino &&
	       kept->stat.size == seen->size &&
	       kept->stat.mtime_ns == seen->mtime_ns;
}

/* Keep and journal this entry alone; 1 when it is there, 0 when not. */
static int keep_entry(struct hf_swap_set *set, const struct at *at,
		      bool is_leaving, struct hf_stat *ret_stat,
		      struct hf_error *err)
{
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;
	cleanup_kept struct hf_kept kept = HF_KEPT_INIT;
	const struct hf_kept_source source = {
		.dir_fd = at->dir_fd,
		.name = at->name,
		.path = at->path,
		.is_leaving = is_leaving,
	};
	struct hf_entry *const entry = hf_tree_add(&tree, at->path);
	int rc;

	if (!entry)
		return hf_fail_memory(err);
	rc = hf_scan_entry(at->dir_fd, at->name, &tree, entry, err);
	if (rc < 0)
		return rc;
	if (entry->stat.kind == HF_KIND_ABSENT) {
		/* Nothing in the place of nothing is no record. */
		if (at->depth > 0 || !set->step->want ||
		    set->step->want->stat.kind == HF_KIND_ABSENT)
			return 0;
		set->has_absent = true;
		return journal(set, at, entry, "", err);
	}

	rc = hf_kept_copy(set->context->store, &set->context->journal->name,
			  &source, &kept, err);
	if (rc < 0)
		return rc;
	if (!is_of(&kept, &entry->stat)) {
		hf_kept_drop(set->context->store, &kept);
		return refuse(err, HF_ERR_CHANGED, at->path, "it is changing");
	}
	entry->has_hash = kept.has_hash;
	entry->hash = kept.hash;
	*ret_stat = entry->stat;
	rc = journal(set, at, entry, kept.path, err);
	if (rc == 0 && at->depth == 0)
		rc = tell_step(set, kept.path, err);
	if (rc == 0)
		rc = add_item(set, &kept, err);
	if (rc < 0) {
		hf_kept_drop(set->context->store, &kept);
		return rc;
	}
	return 1;
}

/*
 * A directory for a walk, locked or not: the owner may open it.  *ret_mode is
 * what to put back, or the same as stat->mode when nothing was changed.
 */
static int open_directory(const struct at *at, const struct hf_stat *stat,
			  bool *ret_is_opened)
{
	int rc;

	*ret_is_opened = false;
	if ((stat->mode & OWNER_ALL) != OWNER_ALL && !hf_system_is_root() &&
	    stat->uid == hf_system_uid()) {
		rc = hf_file_set_mode_at(at->dir_fd, at->name,
					 stat->mode | OWNER_ALL);
		if (rc < 0)
			return rc;
		*ret_is_opened = true;
	}
	return hf_file_open_directory_at(at->dir_fd, at->name);
}

typedef int visit_function(struct hf_swap_set *set, const struct at *at,
			   struct hf_error *err);

/* Call visit for every name in a directory. */
static int walk(struct hf_swap_set *set, const struct at *at, int fd,
		visit_function *visit, struct hf_error *err)
{
	cleanup_directory struct hf_directory *directory = NULL;
	enum hf_kind kind;
	const char *name;
	int rc;

	if (at->depth >= HF_SWAP_DEPTH_MAX)
		return refuse(err, HF_ERR_LIMIT, at->path, "it is too deep");
	rc = hf_directory_open(fd, &directory);
	if (rc < 0)
		return fail_at(err, rc, "read", at->path);
	while ((rc = hf_directory_next(directory, &name, &kind)) > 0) {
		cleanup_free char *path = hf_path_join(at->path, name);
		const struct at child = {
			.dir_fd = fd,
			.name = name,
			.path = path,
			.depth = at->depth + 1,
		};

		if (!path)
			return hf_fail_memory(err);
		rc = visit(set, &child, err);
		if (rc < 0)
			return rc;
	}
	return rc < 0 ? fail_at(err, rc, "read", at->path) : 0;
}

/* Not across a mount, not into the store: neither can be removed after. */
static int check_directory(const struct hf_swap_set *set, const struct at *at,
			   const struct hf_stat *stat, struct hf_error *err)
{
	struct hf_stat parent;
	struct hf_stat store;
	int rc;

	rc = hf_file_stat(set->place->dir_fd, &parent);
	if (rc == 0)
		rc = hf_file_stat(set->context->store->dir_fd, &store);
	if (rc < 0)
		return fail_at(err, rc, "keep", at->path);
	if (stat->dev == store.dev && stat->ino == store.ino)
		return refuse(err, HF_ERR_BUSY, at->path,
			      "it is the store itself");
	if (stat->dev != parent.dev)
		return refuse(err, HF_ERR_BUSY, at->path,
			      "something is mounted there");
	return 0;
}

static int keep_all(struct hf_swap_set *set, const struct at *at,
		    bool is_leaving, struct hf_error *err);

static int keep_leaving(struct hf_swap_set *set, const struct at *at,
			struct hf_error *err)
{
	return keep_all(set, at, true, err);
}

/* Keep what lies in a directory, which is left as locked as it was. */
static int keep_content(struct hf_swap_set *set, const struct at *at,
			const struct hf_stat *stat, struct hf_error *err)
{
	cleanup_fd int fd = -1;
	bool is_opened;
	int back;
	int rc;

	rc = check_directory(set, at, stat, err);
	if (rc < 0)
		return rc;
	fd = open_directory(at, stat, &is_opened);
	rc = fd < 0 ? fail_at(err, fd, "open", at->path)
		    : walk(set, at, fd, keep_leaving, err);
	if (!is_opened)
		return rc;
	back = hf_file_set_mode_at(at->dir_fd, at->name, stat->mode);
	if (back < 0 && rc == 0)
		return fail_at(err, back, "keep", at->path);
	return rc;
}

static int keep_all(struct hf_swap_set *set, const struct at *at,
		    bool is_leaving, struct hf_error *err)
{
	struct hf_stat stat = {.kind = HF_KIND_ABSENT};
	uint32_t flags = 0;
	int rc;

	if (at->depth > 0) {
		/* It is taken apart later; at the top the place sees to it. */
		rc = hf_file_stat_at(at->dir_fd, at->name, &stat);
		if (rc == 0)
			rc = hf_place_unprotect_at(at->dir_fd, at->name,
						   stat.kind, &flags);
		if (rc < 0 && rc != -ENOENT)
			return fail_at(err, rc, "keep", at->path);
	}
	rc = keep_entry(set, at, is_leaving, &stat, err);
	if (rc <= 0)
		return rc;
	if (stat.kind != HF_KIND_DIRECTORY)
		return 0;
	return keep_content(set, at, &stat, err);
}

static int compare_items(const void *left, const void *right)
{
	const struct hf_kept *const a = left;
	const struct hf_kept *const b = right;

	return hf_path_compare(a->source, b->source);
}

int hf_swap_set_keep(struct hf_swap_set *set, bool is_leaving,
		     struct hf_error *err)
{
	const struct at top = {
		.dir_fd = set->place->dir_fd,
		.name = set->place->name,
		.path = set->place->path,
	};
	int rc;

	rc = hf_place_unprotect(set->place, err);
	if (rc < 0)
		return rc;
	rc = keep_all(set, &top, is_leaving, err);
	if (rc < 0)
		return rc;
	if (set->count > 0)
		qsort(set->items, set->count, sizeof(*set->items),
		      compare_items);
	set->sorted_count = set->count;
	return 0;
}

enum hf_kind hf_swap_set_kind(const struct hf_swap_set *set)
{
	/* What lies in a directory sorts behind it. */
	return set->count > 0 ? set->items[0].stat.kind : HF_KIND_ABSENT;
}

void hf_swap_set_leave(struct hf_swap_set *set, bool has_left)
{
	set->has_left = has_left;
}

/* -- afterwards ----------------------------------------------------------- */

static const struct hf_kept *find_item(const struct hf_swap_set *set,
				       const char *path)
{
	const struct hf_kept key = {
		.source = (char *)(uintptr_t)path,
	};

	if (set->sorted_count == 0)
		return NULL;
	return bsearch(&key, set->items, set->sorted_count, sizeof(*set->items),
		       compare_items);
}

/*
 * Is this still what was kept?  ctime tells nothing: the move has changed it.
 * Hence the content of a file is read again; it was read a moment ago.
 */
static bool is_kept(const struct hf_kept *kept, const struct at *at,
		    const struct hf_stat *now)
{
	struct hf_error ignored;
	struct hf_hash hash;

	if (!kept || kept->stat.kind != now->kind || kept->stat.ino != now->ino)
		return false;
	if (now->kind != HF_KIND_FILE)
		return true;
	if (kept->stat.size != now->size ||
	    kept->stat.mtime_ns != now->mtime_ns)
		return false;
	/* A second name of a file too large to be read is that file. */
	if (!kept->has_hash)
		return kept->is_shared;
	/* When it cannot be told, it is kept once more. */
	return hf_content_hash(at->dir_fd, at->name, at->path, &hash,
			       &ignored) == 0 &&
	       hf_hash_equal(&hash, &kept->hash);
}

/* See to it that nothing of this entry alone would be lost. */
static int keep_change(struct hf_swap_set *set, const struct at *at,
		       const struct hf_stat *now, struct hf_error *err)
{
	struct hf_stat ignored;
	int rc;

	if (is_kept(find_item(set, at->path), at, now))
		return 0;
	rc = keep_entry(set, at, false, &ignored, err);
	return rc < 0 ? rc : 0;
}

static int discard_all(struct hf_swap_set *set, const struct at *at,
		       struct hf_error *err);

static int remove_entry(struct hf_swap_set *set, const struct at *at,
			struct hf_error *err)
{
	struct hf_stat now;
	int rc;

	rc = discard_all(set, at, err);
	if (rc < 0)
		return rc;
	set->has_removed = true;
	rc = hf_file_stat_at(at->dir_fd, at->name, &now);
	if (rc == 0)
		rc = now.kind == HF_KIND_DIRECTORY
			     ? hf_file_rmdir_at(at->dir_fd, at->name)
			     : hf_file_unlink_at(at->dir_fd, at->name);
	return rc < 0 && rc != -ENOENT ? fail_at(err, rc, "remove", at->path)
				       : 0;
}

/* Make sure it is kept, and empty it. */
static int discard_all(struct hf_swap_set *set, const struct at *at,
		       struct hf_error *err)
{
	cleanup_fd int fd = -1;
	struct hf_stat now;
	bool is_opened;
	int rc;

	rc = hf_file_stat_at(at->dir_fd, at->name, &now);
	if (rc == -ENOENT)
		return 0;
	if (rc < 0)
		return fail_at(err, rc, "look at", at->path);
	rc = keep_change(set, at, &now, err);
	if (rc < 0 || now.kind != HF_KIND_DIRECTORY)
		return rc;

	rc = check_directory(set, at, &now, err);
	if (rc < 0)
		return rc;
	fd = open_directory(at, &now, &is_opened);
	if (fd < 0)
		return fail_at(err, fd, "open", at->path);
	return walk(set, at, fd, remove_entry, err);
}

int hf_swap_set_discard(struct hf_swap_set *set, struct hf_error *err)
{
	const struct at top = {
		.dir_fd = set->place->dir_fd,
		.name = set->place->tmp,
		.path = set->place->path,
	};
	int rc;

	if (set->place->tmp[0] == '\0')
		return 0;
	rc = discard_all(set, &top, err);
	if (rc == 0)
		return 0;
	/* Once more: nobody else will ever look for it there. */
	return discard_all(set, &top, err);
}

void hf_swap_set_done(struct hf_swap_set *set)
{
	const int saved = errno;

	for (size_t i = 0; i < set->count; i++) {
		if (!set->has_left)
			hf_kept_drop(set->context->store, &set->items[i]);
		hf_kept_done(&set->items[i]);
	}
	free(set->items);
	set->items = NULL;
	set->count = 0;
	errno = saved;
}
