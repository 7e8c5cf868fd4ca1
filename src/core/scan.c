/* SPDX-License-Identifier: MIT */
/*
 * A scan: find the names, look at each, settle what each is there for.
 *
 * Finding needs no more than the listings of directories; looking (lstat and
 * extended attributes) is what takes time, and is shared by two threads.
 */
#include "core/scan.h"

#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/policy.h"
#include "core/scan_entry.h"
#include "core/scan_note.h"
#include "core/scan_role.h"
#include "core/scan_walk.h"
#include "core/scan_work.h"
#include "platform/system.h"

/* -- names --------------------------------------------------------------- */

char *hf_scan_canonical(const char *path)
{
	cleanup_free char *whole = hf_path_normalize(path);
	cleanup_free char *start = whole ? strdup(whole) : NULL;
	cleanup_free char *real = NULL;
	const char *rest;

	if (!start)
		return NULL;
	while (!(real = hf_file_canonical(start))) {
		const size_t len = hf_path_parent_len(start);

		if (!hf_scan_is_absence(-errno) && errno != EACCES)
			return NULL;
		if (strlen(start) == len)
			return NULL;
		start[len] = '\0';
	}
	rest = whole + strlen(start);
	rest += strspn(rest, "/");
	return *rest != '\0' ? hf_path_join(real, rest) : take_ptr(&real);
}

static int fail_outside(struct hf_error *err, const char *path)
{
	if (errno == ENOMEM)
		return hf_fail_memory(err);
	return hf_fail_system(err, -errno, "cannot look at '%s'",
			      HF_QUOTE(path));
}

static int walk_outside(const struct hf_scan_options *options,
			struct hf_tree *tree, struct hf_buffer *notes,
			struct hf_error *err)
{
	size_t position = 0;
	const char *directory;

	while (hf_patterns_outside(options->policy->protect, &position,
				   &directory)) {
		cleanup_free char *within = hf_path_join(directory, "x");
		cleanup_free char *real = NULL;
		int rc;

		if (!within)
			return hf_fail_memory(err);
		if (hf_scan_is_swapped(options, within))
			continue;
		real = hf_scan_canonical(directory);
		if (!real)
			return fail_outside(err, directory);
		rc = hf_scan_walk_outside(options, directory, real, tree, notes,
					  err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* The entry path of a literal pattern; to free(); NULL with errno. */
static char *literal_entry_path(const struct hf_scan_options *options,
				const char *path)
{
	cleanup_free char *parent = NULL;
	cleanup_free char *real = NULL;
	cleanup_free char *joined = NULL;

	if (!hf_path_is_absolute(path))
		return strdup(path);
	parent = strdup(path);
	if (!parent)
		return NULL;
	parent[hf_path_parent_len(parent)] = '\0';
	real = hf_scan_canonical(parent);
	if (!real)
		return NULL;
	/* The last component may be a link: that one is protected itself. */
	joined = hf_path_join(real, hf_path_name(path));
	if (!joined)
		return NULL;
	return strdup(hf_scan_entry_path(options->root, joined));
}

static int add_literal(const struct hf_scan_options *options,
		       struct hf_tree *tree, const struct hf_tree *found,
		       const char *literal, const char *rule,
		       struct hf_buffer *notes, struct hf_error *err)
{
	cleanup_free char *path = literal_entry_path(options, literal);
	struct hf_entry *entry;
	int rc;

	if (!path)
		return fail_outside(err, literal);
	if (hf_tree_find(found, path))
		return 0;
	rc = hf_scan_is_behind_link(options, path, notes, err);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	entry = hf_tree_add(tree, path);
	if (!entry)
		return hf_fail_memory(err);
	entry->rule = hf_arena_copy(&tree->arena, rule, strlen(rule));
	return entry->rule ? 0 : hf_fail_memory(err);
}

/* Literals that the walk did not come across: nothing is there, mostly. */
static int add_literals(const struct hf_scan_options *options,
			struct hf_tree *tree, struct hf_buffer *notes,
			struct hf_error *err)
{
	size_t position = 0;
	const size_t count = tree->count;
	const char *path;
	const char *rule;

	while (hf_patterns_literal(options->policy->protect, &position, &path,
				   &rule)) {
		struct hf_tree found = *tree;
		int rc;

		if (hf_scan_is_swapped(options, path))
			continue;
		found.count = count;
		rc = add_literal(options, tree, &found, path, rule, notes, err);
		if (rc < 0)
			return rc;
	}
	return tree->count > count ? hf_tree_sort_merge(tree, err) : 0;
}

static int add_ancestor(struct hf_tree *tree, const char *path,
			struct hf_error *err)
{
	struct hf_entry *const entry = hf_tree_add(tree, path);

	if (!entry)
		return hf_fail_memory(err);
	entry->role = HF_ROLE_ANCESTOR;
	return 0;
}

/*
 * The directories above path that previous, the entry before it in order, does
 * not have above it or is.  What lies beneath one directory is contiguous, so
 * each ancestor comes up once.
 */
static int add_ancestors_of(struct hf_tree *tree, const char *path,
			    const char *previous, struct hf_error *err)
{
	char ancestor[HF_PATH_MAX];
	const char *slash = path;
	int rc;

	if (hf_path_is_absolute(path))
		slash++;
	while ((slash = strchr(slash, '/')) != NULL) {
		const size_t len = (size_t)(slash - path);

		slash++;
		memcpy(ancestor, path, len);
		ancestor[len] = '\0';
		if (strcmp(previous, ancestor) == 0 ||
		    hf_path_is_beneath(previous, ancestor))
			continue;
		rc = add_ancestor(tree, ancestor, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int add_ancestors(struct hf_tree *tree, struct hf_error *err)
{
	const size_t count = tree->count;
	const char *previous = "";
	bool has_relative = false;
	int rc;

	for (size_t i = 0; i < count; i++) {
		const char *const path = tree->entries[i].path;

		if (!hf_path_is_absolute(path))
			has_relative = true;
		rc = add_ancestors_of(tree, path, previous, err);
		if (rc < 0)
			return rc;
		previous = path;
	}
	if (has_relative) {
		rc = add_ancestor(tree, ".", err);
		if (rc < 0)
			return rc;
	}
	return hf_tree_sort_merge(tree, err);
}

static int find_names(const struct hf_scan_options *options,
		      struct hf_tree *tree, struct hf_buffer *notes,
		      struct hf_error *err)
{
	int rc;

	rc = hf_scan_walk_root(options, tree, notes, err);
	if (rc < 0)
		return rc;
	rc = walk_outside(options, tree, notes, err);
	if (rc < 0)
		return rc;
	rc = hf_tree_sort_merge(tree, err);
	if (rc < 0)
		return rc;
	rc = add_literals(options, tree, notes, err);
	if (rc < 0)
		return rc;
	return add_ancestors(tree, err);
}

/* -- looking ------------------------------------------------------------- */

struct looking {
	const struct hf_scan_options *options;
	/*
	 * git's racy rule.  ctime moves in ticks of the kernel's clock: a file
	 * that changes again within the tick in which it was looked at looks the
	 * same.  Only a ctime older than the scan proves that no change can hide
	 * behind it; all others are marked, and read again the next time.
	 */
	int64_t since_ns;
};

/*
 * The parent of an ancestor outside the root, such as /home, need not be
 * readable.  The path has no links (it is canonical), and an ancestor's
 * attributes are not restored.
 */
static bool look_at_ancestor(const struct looking *looking,
			     struct hf_entry *entry)
{
	struct hf_stat stat;

	if (entry->role != HF_ROLE_ANCESTOR ||
	    !hf_path_is_absolute(entry->path) ||
	    hf_file_stat_at(looking->options->root_fd, entry->path, &stat) < 0)
		return false;
	entry->stat = stat;
	return true;
}

static int look_at(void *context, struct hf_scan_worker *worker,
		   struct hf_entry *entry, struct hf_error *err)
{
	const struct looking *const looking = context;
	const bool is_tolerant = looking->options->is_tolerant;
	const char *name;
	int dir_fd;
	int rc;

	dir_fd = hf_scan_worker_parent(worker, entry->path, &name);
	if (dir_fd == -EACCES && look_at_ancestor(looking, entry))
		return 0;
	if (hf_scan_is_absence(dir_fd) ||
	    (is_tolerant && hf_scan_is_tolerable(dir_fd))) {
		hf_scan_set_absent(entry);
		return 0;
	}
	if (dir_fd < 0)
		return hf_fail_system(err, dir_fd, "cannot look at '%s'",
				      HF_QUOTE(entry->path));

	rc = hf_scan_fill(dir_fd, name, &worker->arena, looking->since_ns,
			  entry, err);
	if (is_tolerant && rc == HF_ERR_SYSTEM &&
	    hf_scan_is_tolerable(-err->sys_errno)) {
		hf_scan_set_absent(entry);
		return 0;
	}
	return rc;
}

static int look(const struct hf_scan_options *options, struct hf_tree *tree,
		int64_t since_ns, struct hf_error *err)
{
	struct looking looking = {
		.options = options,
		.since_ns = since_ns,
	};
	const struct hf_scan_work work = {
		.root_fd = options->root_fd,
		.tree = tree,
		.is_parallel = tree->count > HF_SCAN_MANY,
		.step = look_at,
		.context = &looking,
	};
	const int rc = hf_scan_work(&work, err);

	if (rc < 0)
		return rc;
	hf_scan_apply_allow(options, tree);
	return 0;
}

/* What the earlier tree has and this one has not. */
static int find_missing(const struct hf_tree *before,
			const struct hf_tree *tree, struct hf_tree *ret_missing,
			struct hf_error *err)
{
	size_t at = 0;

	for (size_t i = 0; i < before->count; i++) {
		const struct hf_entry *const old = &before->entries[i];
		struct hf_entry *entry;
		int order = 1;

		while (at < tree->count && order > 0) {
			order = hf_path_compare(old->path,
						tree->entries[at].path);
			if (order >= 0)
				at++;
		}
		if (order == 0)
			continue;
		entry = hf_tree_add_copy(ret_missing, old);
		if (!entry)
			return hf_fail_memory(err);
		hf_scan_set_absent(entry);
	}
	return 0;
}

/* Look at that, too: it may be there and merely not found any more. */
static int look_before(const struct hf_scan_options *options,
		       struct hf_tree *tree, struct hf_error *err)
{
	const int64_t since_ns = hf_system_file_time_ns();
	cleanup_tree struct hf_tree missing = HF_TREE_INIT;
	int rc;

	rc = find_missing(options->before, tree, &missing, err);
	if (rc < 0 || missing.count == 0)
		return rc;
	rc = add_ancestors(&missing, err);
	if (rc < 0)
		return rc;
	rc = look(options, &missing, since_ns, err);
	if (rc < 0)
		return rc;
	if (hf_tree_adopt(tree, &missing) < 0)
		return hf_fail_memory(err);
	return hf_tree_sort_merge(tree, err);
}

int hf_scan_begin(const struct hf_scan_options *options,
		  struct hf_tree *ret_tree, struct hf_buffer *ret_notes,
		  struct hf_error *err)
{
	const int64_t since_ns = hf_system_file_time_ns();
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;
	int rc;

	rc = find_names(options, &tree, ret_notes, err);
	if (rc < 0)
		return rc;
	rc = look(options, &tree, since_ns, err);
	if (rc < 0)
		return rc;
	*ret_tree = tree;
	tree = (struct hf_tree)HF_TREE_INIT;
	return 0;
}

int hf_scan_finish(const struct hf_scan_options *options, struct hf_tree *tree,
		   struct hf_buffer *ret_notes, struct hf_error *err)
{
	int rc;

	if (options->before) {
		rc = look_before(options, tree, err);
		if (rc < 0)
			return rc;
	}
	rc = hf_scan_settle(options, tree, err);
	if (rc < 0 || !ret_notes)
		return rc;
	rc = hf_scan_note_links(options, tree, ret_notes, err);
	if (rc < 0)
		return rc;
	return hf_buffer_check(ret_notes, err);
}

int hf_scan(const struct hf_scan_options *options, struct hf_tree *ret_tree,
	    struct hf_buffer *ret_notes, struct hf_error *err)
{
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;
	int rc;

	rc = hf_scan_begin(options, &tree, ret_notes, err);
	if (rc < 0)
		return rc;
	rc = hf_scan_finish(options, &tree, ret_notes, err);
	if (rc < 0)
		return rc;
	*ret_tree = tree;
	tree = (struct hf_tree)HF_TREE_INIT;
	return 0;
}
