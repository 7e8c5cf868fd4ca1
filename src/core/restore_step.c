/* SPDX-License-Identifier: MIT */
/* Put back one directory, link, node or its metadata; remove an addition. */
#include "core/restore_step.h"

#include "base/fail.h"
#include "base/text.h"
#include "core/content.h"
#include "core/metadata.h"
#include "core/place.h"
#include "core/scan.h"
#include "core/swap.h"

#define RIGHT 1

static int look(const struct hf_place *place, struct hf_tree *tree,
		struct hf_entry *ret_entry, struct hf_error *err)
{
	struct hf_entry *const entry = hf_tree_add(tree, place->path);
	int rc;

	if (!entry)
		return hf_fail_memory(err);
	rc = hf_scan_entry(place->dir_fd, place->name, tree, entry, err);
	if (rc < 0)
		return rc;
	*ret_entry = *entry;
	return 0;
}

int hf_step_verify(const struct hf_restore_context *context,
		   const struct hf_step *step, bool reads_content,
		   struct hf_error *err)
{
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;
	const struct hf_entry *const want = step->want;
	cleanup_fd int dir_fd = -1;
	struct hf_entry *now;
	const char *name;
	unsigned change;
	int rc;

	dir_fd = hf_scan_open_parent(context->root_fd, want->path, &name);
	if (dir_fd < 0)
		return hf_fail_system(err, dir_fd, "cannot verify '%s'",
				      HF_QUOTE(want->path));
	now = hf_tree_add(&tree, want->path);
	if (!now)
		return hf_fail_memory(err);
	rc = hf_scan_entry(dir_fd, name, &tree, now, err);
	if (rc < 0)
		return rc;
	now->has_hash = want->has_hash;
	now->hash = want->hash;
	if (now->stat.kind == HF_KIND_FILE && reads_content) {
		rc = hf_content_hash(dir_fd, name, want->path, &now->hash, err);
		if (rc < 0)
			return rc;
	}
	change = hf_compare_entry(want, now);
	if (context->is_elsewhere)
		change &= ~(unsigned)HF_CHANGE_METADATA;
	if (change == 0 &&
	    (context->is_elsewhere || hf_metadata_is_equal(want, now)))
		return 0;
	return hf_fail(err, HF_ERR_CHANGED,
		       "cannot restore '%s': it was changed again meanwhile",
		       HF_QUOTE(want->path));
}

/* -- metadata ------------------------------------------------------------- */

/*
 * What an undo will want again.  The content is as wanted: that tells where it
 * lies.
 */
static int journal_metadata(const struct hf_restore_context *context,
			    const struct hf_entry *want, struct hf_entry *now,
			    struct hf_error *err)
{
	now->has_hash = want->has_hash;
	now->hash = want->hash;
	now->location = want->location;
	return hf_journal_add_kept(context->journal, now, "", want, err);
}

static int set_metadata_at(const struct hf_restore_context *context,
			   struct hf_place *place, const struct hf_step *step,
			   struct hf_error *err)
{
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;
	const struct hf_entry *const want = step->want;
	struct hf_entry now = {.path = want->path};
	int rc;

	rc = look(place, &tree, &now, err);
	if (rc < 0)
		return rc;
	if (now.stat.kind != want->stat.kind)
		return hf_fail(err, HF_ERR_CHANGED,
			       "cannot restore '%s': it was changed meanwhile",
			       HF_QUOTE(want->path));
	if (hf_metadata_is_equal(want, &now))
		return RIGHT;
	rc = journal_metadata(context, want, &now, err);
	if (rc < 0)
		return rc;
	rc = hf_place_unprotect(place, err);
	if (rc < 0)
		return rc;
	rc = hf_metadata_set_in_place(place->dir_fd, place->name, want,
				      HF_METADATA_ALL, err);
	if (rc < 0)
		return rc;
	return hf_step_verify(context, step, false, err);
}

int hf_step_set_metadata(const struct hf_restore_context *context,
			 struct hf_step *step, struct hf_error *err)
{
	cleanup_place struct hf_place place = HF_PLACE_INIT;
	int closed;
	int rc;

	rc = hf_place_open(&place, context->root_fd, step->want->path, err);
	if (rc < 0)
		return rc;
	rc = set_metadata_at(context, &place, step, err);
	if (rc < 0)
		return rc;
	closed = hf_place_close(&place, err);
	return closed < 0 ? closed : rc;
}

/* -- something new -------------------------------------------------------- */

static int make_directory(const struct hf_place *place,
			  const struct hf_entry *want,
			  enum hf_metadata_extent extent, struct hf_error *err)
{
	int rc = hf_file_mkdir_at(place->dir_fd, place->tmp, 0700);

	if (rc < 0)
		return hf_fail_system(err, rc, "cannot make '%s'",
				      HF_QUOTE(want->path));
	return hf_metadata_set_in_place(place->dir_fd, place->tmp, want, extent,
					err);
}

static int make_link(const struct hf_place *place, const struct hf_entry *want,
		     enum hf_metadata_extent extent, struct hf_error *err)
{
	int rc = hf_file_symlink_at(want->link, place->dir_fd, place->tmp);

	if (rc < 0)
		return hf_fail_system(err, rc, "cannot make '%s'",
				      HF_QUOTE(want->path));
	return hf_metadata_set_at(place->dir_fd, place->tmp, want, extent, err);
}

static int make_node(const struct hf_place *place, const struct hf_entry *want,
		     enum hf_metadata_extent extent, struct hf_error *err)
{
	int rc = hf_file_mknod_at(place->dir_fd, place->tmp, want->stat.kind,
				  0600, want->stat.rdev);

	if (rc < 0)
		return hf_fail_system(err, rc, "cannot make '%s'",
				      HF_QUOTE(want->path));
	return hf_metadata_set_at(place->dir_fd, place->tmp, want, extent, err);
}

static int make(const struct hf_place *place, const struct hf_entry *want,
		enum hf_metadata_extent extent, struct hf_error *err)
{
	if (want->stat.kind == HF_KIND_DIRECTORY)
		return make_directory(place, want, extent, err);
	if (want->stat.kind == HF_KIND_LINK)
		return make_link(place, want, extent, err);
	return make_node(place, want, extent, err);
}

/* Is nothing but metadata to be set, if anything? */
static int is_content_right(const struct hf_place *place,
			    const struct hf_entry *want, struct hf_error *err)
{
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;
	struct hf_entry now = {.path = want->path};
	int rc;

	rc = look(place, &tree, &now, err);
	if (rc < 0)
		return rc;
	return !hf_step_is_shared(want, &now.stat) &&
	       (hf_compare_entry(want, &now) & ~(unsigned)HF_CHANGE_METADATA) ==
		       0;
}

static int put(const struct hf_restore_context *context, struct hf_step *step,
	       struct hf_error *err)
{
	cleanup_place struct hf_place place = HF_PLACE_INIT;
	const struct hf_entry *const want = step->want;
	int rc;

	rc = hf_place_open(&place, context->root_fd, want->path, err);
	if (rc < 0)
		return rc;
	/* Elsewhere nothing may be there. */
	rc = context->is_elsewhere ? 0 : is_content_right(&place, want, err);
	if (rc < 0)
		return rc;
	if (rc > 0) {
		rc = hf_place_close(&place, err);
		return rc < 0 ? rc : hf_step_set_metadata(context, step, err);
	}
	rc = hf_place_name(&place, err);
	if (rc < 0)
		return rc;
	rc = make(&place, want, hf_restore_extent(context), err);
	if (rc < 0)
		return rc;
	rc = hf_swap(context, &place, step, err);
	if (rc < 0)
		return rc;
	rc = hf_step_verify(context, step, false, err);
	if (rc < 0)
		return rc;
	return hf_place_close(&place, err);
}

/* -- removal -------------------------------------------------------------- */

/* Neither the name nor, perhaps, its directory is there any more. */
static bool is_absence(const struct hf_error *err)
{
	return err->sys_errno == ENOENT || err->sys_errno == ENOTDIR ||
	       err->sys_errno == ELOOP;
}

static int remove_addition(const struct hf_restore_context *context,
			   struct hf_step *step, struct hf_error *err)
{
	cleanup_place struct hf_place place = HF_PLACE_INIT;
	struct hf_stat stat;
	int rc;

	rc = hf_place_open(&place, context->root_fd, hf_step_path(step), err);
	if (rc < 0)
		return is_absence(err) ? RIGHT : rc;
	rc = hf_file_stat_at(place.dir_fd, place.name, &stat);
	if (rc == -ENOENT) {
		rc = hf_place_close(&place, err);
		return rc < 0 ? rc : RIGHT;
	}
	rc = hf_swap(context, &place, step, err);
	if (rc < 0)
		return rc;
	rc = hf_file_stat_at(place.dir_fd, place.name, &stat);
	if (rc != -ENOENT)
		return hf_fail(
			err, HF_ERR_CHANGED,
			"cannot remove '%s': it was made again meanwhile",
			HF_QUOTE(place.path));
	return hf_place_close(&place, err);
}

/* ------------------------------------------------------------------------- */

int hf_step_run(const struct hf_restore_context *context, struct hf_step *step,
		struct hf_error *err)
{
	if (step->action == HF_ACTION_REMOVE)
		return remove_addition(context, step, err);
	if (step->action == HF_ACTION_SET_METADATA)
		return hf_step_set_metadata(context, step, err);
	return put(context, step, err);
}

/*
 * With the time every name that was made or removed in the directory gets to
 * the disk: the session is about to be called done, and what is found then
 * under a temporary name is nobody's to sweep.
 */
static int set_time_at(const struct hf_place *place,
		       const struct hf_entry *want, struct hf_error *err)
{
	cleanup_fd int fd =
		hf_file_open_directory_at(place->dir_fd, place->name);
	int rc;

	rc = hf_file_set_mtime_at(place->dir_fd, place->name,
				  want->stat.mtime_ns);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot set the time of '%s'",
				      HF_QUOTE(want->path));
	/* One that may not be read was never worked in. */
	rc = fd < 0 ? 0 : hf_file_sync(fd);
	return rc < 0 ? hf_fail_system(err, rc, "cannot flush '%s'",
				       HF_QUOTE(want->path))
		      : 0;
}

int hf_step_set_time(const struct hf_restore_context *context,
		     const struct hf_step *step, struct hf_error *err)
{
	cleanup_place struct hf_place place = HF_PLACE_INIT;
	struct hf_stat now;
	int rc;

	rc = hf_place_open(&place, context->root_fd, step->want->path, err);
	if (rc < 0)
		return rc;
	/* Nothing moved in it, and it may be another's. */
	rc = hf_file_stat_at(place.dir_fd, place.name, &now);
	if (rc == 0 && now.mtime_ns == step->want->stat.mtime_ns)
		return hf_place_close(&place, err);
	rc = hf_place_unprotect(&place, err);
	if (rc < 0)
		return rc;
	rc = set_time_at(&place, step->want, err);
	if (rc < 0)
		return rc;
	return hf_place_close(&place, err);
}
