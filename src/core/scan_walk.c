/* SPDX-License-Identifier: MIT */
/*
 * The walk: a stack of names still to be handled.  The names of a directory are
 * pushed in reverse order, so that they are taken off, each with all that lies
 * beneath it, in the order of hf_path_compare().
 */
#include "core/scan_walk.h"

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/policy.h"
#include "core/scan.h"
#include "core/scan_entry.h"
#include "core/scan_note.h"
#include "core/scan_side.h"

#define FIRST_CAPACITY	64
/* Of a path that is too long, as much is shown. */
#define LONG_PATH_SHOWN	100

struct item {
	const char *name;
	const char *rule;	/* NULL: only on the way to something */
	size_t parent_len;	/* of what stands before the name in walk.path */
	size_t skipped_len;	/* of the path of the skipped directory that it
				 * is or is in; 0: none */
	bool is_entered;
	bool is_side;
};

struct walk {
	const struct hf_scan_options *options;
	const struct hf_patterns *patterns;
	struct hf_tree *tree;
	struct hf_buffer *notes;
	int base_fd;
	/* The name at hand as patterns see it, room for one name too many. */
	char path[HF_PATH_MAX + HF_NAME_MAX + 2];
	size_t base_len;	/* of it, the path of the base; 0: the root */
	const char *real;	/* canonical path of the base; NULL: the root */
	const char *store;	/* as an entry's path; NULL when there is none */
	struct item *items;
	size_t count;
	size_t capacity;
	size_t found;		/* protected names so far */
	struct hf_arena names;	/* of the items */
	struct hf_buffer listing;	/* kind and name of each, NUL-terminated */
	const char *last_rule;	/* neighbours share one copy */
	const char *last_copy;
};

static void walk_done(struct walk *walk)
{
	hf_file_close_quietly(&walk->base_fd);
	hf_free_pointee(&walk->items);
	hf_arena_done(&walk->names);
	hf_buffer_done(&walk->listing);
}

#define cleanup_walk	CLEANUP(walk_done)

/* What of the name at hand lies beneath the base; "" for the base itself. */
static const char *beneath_base(const struct walk *walk)
{
	const char *const rest = walk->path + walk->base_len;

	return *rest == '/' ? rest + 1 : rest;
}

/* -- recording ----------------------------------------------------------- */

/* The end of a run must know that there was more to see. */
static int note_unread(struct walk *walk, const char *path,
		       struct hf_error *err)
{
	struct hf_tree *const tree = walk->tree;

	if (tree->unread)
		return 0;
	tree->unread = hf_arena_copy(&tree->arena, path, strlen(path));
	return tree->unread ? 0 : hf_fail_memory(err);
}

/* Too long a path: an error, or a note when tolerant. */
static int refuse_long_path(struct walk *walk, struct hf_error *err)
{
	char shown[LONG_PATH_SHOWN + 1];

	memcpy(shown, walk->path, LONG_PATH_SHOWN);
	shown[LONG_PATH_SHOWN] = '\0';
	if (!walk->options->is_tolerant)
		return hf_fail(err, HF_ERR_LIMIT,
			       "cannot look at '%s...': the path is longer than "
			       "%d bytes",
			       HF_QUOTE(shown), HF_PATH_MAX - 1);
	if (walk->notes)
		hf_buffer_printf(walk->notes,
				 "'%s...' was not looked at: the path is longer "
				 "than %d bytes\n",
				 HF_QUOTE(shown), HF_PATH_MAX - 1);
	return note_unread(walk, shown, err);
}

/* The entry path of walk->path in buffer (or in walk->path); NULL: too long. */
static const char *entry_path(const struct walk *walk, char *buffer)
{
	const char *const rest = beneath_base(walk);
	const bool is_slash = walk->real && strcmp(walk->real, "/") == 0;
	int len;

	if (!walk->real)
		return strlen(rest) < HF_PATH_MAX ? rest : NULL;
	len = snprintf(buffer, HF_PATH_MAX, "%s%s%s", is_slash ? "" : walk->real,
		       *rest != '\0' ? "/" : "", rest);
	if (len < 0 || len >= HF_PATH_MAX)
		return NULL;
	return hf_scan_entry_path(walk->options->root, buffer);
}

static int record(struct walk *walk, const char *rule, bool is_side,
		  struct hf_error *err)
{
	char buffer[HF_PATH_MAX];
	const char *const path = entry_path(walk, buffer);
	struct hf_entry *entry;

	if (!path)
		return refuse_long_path(walk, err);
	if (rule != walk->last_rule) {
		walk->last_copy = hf_arena_copy(&walk->tree->arena, rule,
						strlen(rule));
		if (!walk->last_copy)
			return hf_fail_memory(err);
		walk->last_rule = rule;
	}
	entry = hf_tree_add(walk->tree, path);
	if (!entry)
		return hf_fail_memory(err);
	entry->rule = walk->last_copy;
	entry->role = is_side ? hf_scan_side_role(hf_path_name(path)) :
				HF_ROLE_PROTECTED;
	walk->found += is_side ? 0 : 1;
	return 0;
}

/* -- the stack ----------------------------------------------------------- */

static int push(struct walk *walk, const struct item *item,
		struct hf_error *err)
{
	const char *const name =
		hf_arena_copy(&walk->names, item->name, strlen(item->name));

	if (!name)
		return hf_fail_memory(err);
	if (walk->count == walk->capacity) {
		const size_t capacity = walk->capacity > 0 ?
						2 * walk->capacity :
						FIRST_CAPACITY;
		struct item *items;
		size_t size;

		if (__builtin_mul_overflow(capacity, sizeof(*items), &size))
			return hf_fail_memory(err);
		items = realloc(walk->items, size);
		if (!items)
			return hf_fail_memory(err);
		walk->items = items;
		walk->capacity = capacity;
	}
	walk->items[walk->count] = *item;
	walk->items[walk->count++].name = name;
	return 0;
}

static int compare_reversed(const void *a, const void *b)
{
	const struct item *const left = a;
	const struct item *const right = b;

	return strcmp(right->name, left->name);
}

/* -- one directory ------------------------------------------------------- */

/*
 * A failure to read the directory at hand.  One that has gone, or is a link or
 * file by now, holds nothing.
 */
static int refuse_directory(struct walk *walk, int rc, struct hf_error *err)
{
	const char *const path = walk->path[0] != '\0' ? walk->path : ".";

	if (hf_scan_is_absence(rc))
		return 0;
	if (!walk->options->is_tolerant || !hf_scan_is_tolerable(rc))
		return hf_scan_fail_directory(path, rc, err);
	if (walk->notes)
		hf_buffer_printf(walk->notes,
				 "directory '%s' cannot be read: %s\n",
				 HF_QUOTE(path), strerror(-rc));
	return note_unread(walk, path, err);
}

/* Open the directory at hand; it was seen by its name a moment ago. */
static int open_at_hand(const struct walk *walk)
{
	const char *const rest = beneath_base(walk);

	return hf_file_open_beneath(walk->base_fd, *rest != '\0' ? rest : ".");
}

/* A directory that holds this is one that "**" does not enter. */
static bool is_skip_mark(const char *name)
{
	return strcmp(name, "pyvenv.cfg") == 0 ||
	       strcmp(name, "CACHEDIR.TAG") == 0;
}

/* All names of fd into walk->listing; -errno on failure. */
static int list(struct walk *walk, int fd, bool *ret_is_marked)
{
	cleanup_directory struct hf_directory *directory = NULL;
	const char *name;
	enum hf_kind kind;
	int rc;

	hf_buffer_clear(&walk->listing);
	*ret_is_marked = false;
	rc = hf_directory_open(fd, &directory);
	if (rc < 0)
		return rc;
	while ((rc = hf_directory_next(directory, &name, &kind)) > 0) {
		char kind_byte;

		if (kind == HF_KIND_ABSENT) {
			struct hf_stat stat;

			/* A file system that does not tell. */
			rc = hf_file_stat_at(fd, name, &stat);
			if (rc == -ENOENT)
				continue;
			if (rc < 0)
				return rc;
			kind = stat.kind;
		}
		if (is_skip_mark(name))
			*ret_is_marked = true;
		kind_byte = (char)kind;
		hf_buffer_add(&walk->listing, &kind_byte, 1);
		hf_buffer_add(&walk->listing, name, strlen(name) + 1);
	}
	return rc;
}

static bool is_skipped_name(const char *name, size_t len)
{
	static const char *const names[] = {
		".git", ".hg", ".svn", ".bzr", "CVS", "_darcs",
		".jj", "node_modules",
	};

	for (size_t i = 0; i < HF_COUNT(names); i++) {
		if (strlen(names[i]) == len && memcmp(name, names[i], len) == 0)
			return true;
	}
	return false;
}

size_t hf_scan_skipped_len(const char *path)
{
	const char *const end = path + hf_path_parent_len(path);
	size_t skipped_len = 0;

	for (const char *name = path; name < end;) {
		const char *slash = memchr(name, '/', (size_t)(end - name));

		if (!slash)
			slash = end;
		if (is_skipped_name(name, (size_t)(slash - name)))
			skipped_len = (size_t)(slash - path);
		name = slash + 1;
	}
	return skipped_len;
}

/* Is the directory at hand one that "**" does not enter, by its name? */
static bool is_skipped(const struct walk *walk, const char *name)
{
	char buffer[HF_PATH_MAX];
	const char *path;

	if (is_skipped_name(name, strlen(name)))
		return true;
	path = walk->store ? entry_path(walk, buffer) : NULL;
	return path && strcmp(path, walk->store) == 0;
}

/* The rule of the NAME that the name at hand is a side file of. */
static const char *side_rule(struct walk *walk, size_t skipped_len)
{
	const size_t len = strlen(walk->path);
	const char *const name = hf_path_name(walk->path);
	const size_t base_len = hf_scan_side_base_len(name);
	char *const end = walk->path + len - strlen(name) + base_len;
	const char *rule;

	if (base_len == 0)
		return NULL;
	*end = '\0';
	rule = hf_patterns_match_past(walk->patterns, walk->path, skipped_len,
				      false);
	*end = '-';
	return rule;
}

/* Decide about the name at hand, and push it if it matters. */
static int consider(struct walk *walk, enum hf_kind kind, struct item *item,
		    struct hf_error *err)
{
	item->rule = hf_patterns_match_past(walk->patterns, walk->path,
					    item->skipped_len,
					    kind == HF_KIND_DIRECTORY);
	if (kind == HF_KIND_DIRECTORY) {
		if (is_skipped(walk, item->name))
			item->skipped_len = strlen(walk->path);
		item->is_entered = hf_patterns_reach_past(
			walk->patterns, walk->path, item->skipped_len);
	} else if (kind == HF_KIND_FILE && !item->rule) {
		item->rule = side_rule(walk, item->skipped_len);
		item->is_side = item->rule != NULL;
	} else if (kind == HF_KIND_LINK && !item->rule && walk->notes) {
		hf_scan_note_closed_link(walk->patterns, walk->options->root,
					 walk->path, walk->notes);
	}
	if (!item->rule && !item->is_entered)
		return 0;
	return push(walk, item, err);
}

/* Push what matters of walk->listing, which is of the directory at hand. */
static int push_listed(struct walk *walk, size_t skipped_len,
		       struct hf_error *err)
{
	const size_t first = walk->count;
	size_t len = strlen(walk->path);
	size_t at = 0;
	int rc = 0;

	if (len > 0 && walk->path[len - 1] != '/')
		walk->path[len++] = '/';
	while (at < walk->listing.len && rc == 0) {
		const enum hf_kind kind =
			(enum hf_kind)walk->listing.data[at];
		const char *const name = walk->listing.data + at + 1;
		const size_t name_len = strlen(name);
		struct item item = {
			.name = name,
			.parent_len = len,
			.skipped_len = skipped_len,
		};

		at += 1 + name_len + 1;
		/* Only a foreign file system has longer ones. */
		if (name_len > HF_NAME_MAX)
			continue;
		memcpy(walk->path + len, name, name_len + 1);
		rc = consider(walk, kind, &item, err);
	}
	if (walk->count > first)
		qsort(walk->items + first, walk->count - first,
		      sizeof(*walk->items), compare_reversed);
	return rc;
}

/* Enter the directory at hand. */
static int enter(struct walk *walk, size_t skipped_len, struct hf_error *err)
{
	cleanup_fd int fd = open_at_hand(walk);
	const bool is_base = strlen(walk->path) <= walk->base_len;
	bool is_marked;
	int rc;

	if (fd < 0)
		return refuse_directory(walk, fd, err);
	rc = list(walk, fd, &is_marked);
	if (rc < 0)
		return refuse_directory(walk, rc, err);
	rc = hf_buffer_check(&walk->listing, err);
	if (rc < 0)
		return rc;
	/* Where a walk begins was named by the user. */
	if (is_marked && !is_base) {
		if (!hf_patterns_reach_beneath(walk->patterns, walk->path,
					       true))
			return 0;
		skipped_len = strlen(walk->path);
	}
	return push_listed(walk, skipped_len, err);
}

/* Take the next name off the stack. */
static int handle_next(struct walk *walk, struct hf_error *err)
{
	const struct item item = walk->items[--walk->count];
	const size_t name_len = strlen(item.name);
	int rc;

	/* What stands before the name is still there: only deeper names were
	 * written since. */
	memcpy(walk->path + item.parent_len, item.name, name_len + 1);
	if (item.parent_len + name_len >= HF_PATH_MAX)
		return refuse_long_path(walk, err);
	if (item.rule) {
		rc = record(walk, item.rule, item.is_side, err);
		if (rc < 0)
			return rc;
	}
	return item.is_entered ? enter(walk, item.skipped_len, err) : 0;
}

static int run(struct walk *walk, struct hf_error *err)
{
	const size_t enough = walk->options->enough;
	int rc;

	rc = enter(walk, 0, err);
	while (rc == 0 && walk->count > 0 &&
	       (enough == 0 || walk->found < enough))
		rc = handle_next(walk, err);
	return rc;
}

static void begin(struct walk *walk, const struct hf_scan_options *options,
		  struct hf_tree *tree, struct hf_buffer *notes)
{
	walk->options = options;
	walk->tree = tree;
	walk->notes = notes;
	walk->patterns = options->policy->protect;
	if (options->store)
		walk->store = hf_scan_entry_path(options->root, options->store);
}

int hf_scan_walk_root(const struct hf_scan_options *options,
		      struct hf_tree *tree, struct hf_buffer *notes,
		      struct hf_error *err)
{
	cleanup_walk struct walk walk = { .base_fd = -1 };

	begin(&walk, options, tree, notes);
	walk.base_fd = hf_file_open_beneath(options->root_fd, ".");
	if (walk.base_fd < 0)
		return hf_fail_system(err, walk.base_fd,
				      "cannot read directory '%s'",
				      HF_QUOTE(options->root));
	return run(&walk, err);
}

int hf_scan_walk_outside(const struct hf_scan_options *options,
			 const char *written, const char *real,
			 struct hf_tree *tree, struct hf_buffer *notes,
			 struct hf_error *err)
{
	cleanup_walk struct walk walk = { .base_fd = -1 };
	int rc;

	begin(&walk, options, tree, notes);
	(void)snprintf(walk.path, sizeof(walk.path), "%s", written);
	if (strlen(walk.path) >= HF_PATH_MAX)
		return refuse_long_path(&walk, err);
	walk.real = real;
	walk.base_len = strlen(walk.path);
	rc = hf_file_open_directory(real);
	if (rc < 0)
		return refuse_directory(&walk, rc, err);
	walk.base_fd = rc;
	return run(&walk, err);
}
