/* SPDX-License-Identifier: MIT */
/*
 * Keep, trade places, look at what came out, remove it.
 *
 * A crash leaves the name old or new.  Between the trade and the removal the
 * old state also stands at the temporary name; it was kept before, so a sweep
 * may remove it.
 */
#include "core/swap.h"

#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "core/place.h"
#include "core/replace.h"
#include "core/restore.h"
#include "core/swap_set.h"

/* How often the name may change between keeping and trading. */
#define TRIES 5

/* trade() and swap_once() return this to begin again. */
#define AGAIN 1

static int fail_trade(struct hf_error *err, int rc, const char *path)
{
	if (rc == -EBUSY)
		return hf_fail(
			err, HF_ERR_BUSY,
			"cannot replace '%s': something is mounted there",
			HF_QUOTE(path));
	if (rc == -EXDEV)
		return hf_fail(err, HF_ERR_BUSY,
			       "cannot replace '%s': it cannot be moved",
			       HF_QUOTE(path));
	return hf_fail_system(err, rc, "cannot replace '%s'", HF_QUOTE(path));
}

/*
 * Give the name, which nothing has, to what stands at from: 0, AGAIN when
 * something appeared meanwhile, or -errno.
 */
static int take_name(const struct hf_place *place, const char *from)
{
	struct hf_stat stat;
	int failure;
	int rc;

	failure = hf_file_rename_new_at(place->dir_fd, from, place->dir_fd,
					place->name);
	if (failure == 0)
		return 0;
	if (failure == -EEXIST)
		return AGAIN;
	/* A directory where no exclusive rename is to be had: over an empty
	 * directory at worst, which holds nothing. */
	rc = hf_file_stat_at(place->dir_fd, place->name, &stat);
	if (rc == 0)
		return AGAIN;
	if (rc != -ENOENT)
		return failure;
	return hf_file_rename_at(place->dir_fd, from, place->dir_fd,
				 place->name);
}

static int move_in(struct hf_place *place)
{
	const int rc = take_name(place, place->tmp);

	if (rc == 0)
		place->tmp[0] = '\0';
	return rc;
}

/* Away from its name, to a fresh temporary one. */
static int move_out(struct hf_place *place, char ret_name[32],
		    struct hf_error *err)
{
	char aside[sizeof(place->tmp)];
	int rc;

	rc = hf_replace_name(aside, err);
	if (rc < 0)
		return rc;
	rc = hf_file_rename_at(place->dir_fd, place->name, place->dir_fd,
			       aside);
	if (rc == -ENOENT)
		return AGAIN;
	if (rc < 0)
		return fail_trade(err, rc, place->path);
	memcpy(ret_name, aside, sizeof(aside));
	return 0;
}

/* The failure leaves what was there under a name that nobody would look for. */
static int tell_aside(struct hf_error *err, const char *aside)
{
	return hf_fail_hint(err, "what was there stands beside it as '%s'",
			    aside);
}

/* With a moment in which nothing has the name. */
static int trade_by_moving(struct hf_place *place, struct hf_error *err)
{
	char aside[sizeof(place->tmp)];
	int back;
	int rc;

	rc = move_out(place, aside, err);
	if (rc != 0)
		return rc;
	rc = move_in(place);
	if (rc == 0) {
		memcpy(place->tmp, aside, sizeof(aside));
		return 0;
	}
	back = take_name(place, aside);
	if (rc == AGAIN && back == 0)
		return AGAIN;
	(void)fail_trade(err, rc == AGAIN ? -EEXIST : rc, place->path);
	return back == 0 ? err->code : tell_aside(err, aside);
}

/*
 * Where names cannot be exchanged.  A file gets a second name first, and what
 * takes its name does so at once; a write in between is in what has the second
 * name.  A directory, and a file that can have only one name, are moved.
 */
static int trade_by_renames(struct hf_place *place, enum hf_kind old_kind,
			    enum hf_kind new_kind, struct hf_error *err)
{
	char aside[sizeof(place->tmp)];
	int rc;

	if (old_kind == HF_KIND_DIRECTORY || new_kind == HF_KIND_DIRECTORY)
		return trade_by_moving(place, err);
	rc = hf_replace_name(aside, err);
	if (rc < 0)
		return rc;
	rc = hf_file_link_at(place->dir_fd, place->name, place->dir_fd, aside);
	if (rc == -ENOENT)
		return AGAIN;
	if (rc < 0)
		return trade_by_moving(place, err);
	rc = hf_file_rename_at(place->dir_fd, place->tmp, place->dir_fd,
			       place->name);
	if (rc < 0) {
		(void)fail_trade(err, rc, place->path);
		rc = hf_file_unlink_at(place->dir_fd, aside);
		return rc < 0 ? tell_aside(err, aside) : err->code;
	}
	memcpy(place->tmp, aside, sizeof(aside));
	return 0;
}

/*
 * The new stands at the name, the old at place->tmp ("" when there is none).
 * AGAIN: the name is not what was kept any more, nothing was done.
 */
static int trade(struct hf_place *place, const struct hf_swap_set *set,
		 enum hf_kind new_kind, struct hf_error *err)
{
	const enum hf_kind old_kind = hf_swap_set_kind(set);
	int rc;

	if (place->tmp[0] == '\0') {
		if (old_kind == HF_KIND_ABSENT)
			return 0;
		return move_out(place, place->tmp, err);
	}
	if (old_kind == HF_KIND_ABSENT) {
		rc = move_in(place);
		return rc < 0 ? fail_trade(err, rc, place->path) : rc;
	}
	rc = hf_file_exchange_at(place->dir_fd, place->tmp, place->dir_fd,
				 place->name);
	if (rc == -ENOENT)
		return AGAIN;
	if (rc == -EINVAL || rc == -ENOSYS)
		return trade_by_renames(place, old_kind, new_kind, err);
	return rc < 0 ? fail_trade(err, rc, place->path) : 0;
}

/* Does what came back still stand as we made it? */
static bool is_ours(const struct hf_place *place, const struct hf_stat *new)
{
	struct hf_stat now;

	return hf_file_stat_at(place->dir_fd, place->tmp, &now) == 0 &&
	       now.dev == new->dev && now.ino == new->ino &&
	       now.size == new->size && now.mtime_ns == new->mtime_ns;
}

/*
 * The old goes back to the name, and what took it to place->tmp: what came out
 * cannot be kept, and must not stay under a name that nobody looks for.
 */
static bool trade_back(struct hf_place *place, enum hf_kind old_kind,
		       const struct hf_stat *new, struct hf_error *err)
{
	const enum hf_kind new_kind = new->kind;
	struct hf_error second;
	int rc;

	if (new_kind == HF_KIND_ABSENT)
		rc = move_in(place);
	else
		rc = hf_file_exchange_at(place->dir_fd, place->tmp,
					 place->dir_fd, place->name);
	if (rc == -EINVAL || rc == -ENOSYS)
		rc = trade_by_renames(place, new_kind, old_kind, &second);
	if (rc != 0) {
		(void)tell_aside(err, place->tmp);
		place->tmp[0] = '\0';
		return false;
	}
	if (place->tmp[0] != '\0' && !is_ours(place, new)) {
		/* A person was faster. */
		(void)hf_fail_hint(err, "what was written there meanwhile "
					"stands beside it as '%s'",
				   place->tmp);
		place->tmp[0] = '\0';
	}
	return true;
}

/* The copy is the store's alone now; what was written meanwhile counts. */
static int seal(const struct hf_swap_set *set, struct hf_kept *kept,
		struct hf_error *err)
{
	const struct hf_restore_context *const context = set->context;
	const struct hf_entry nothing = {
		.path = kept->source,
		.rule = "",
		.xattrs = "",
	};
	const bool is_top = strcmp(kept->source, set->place->path) == 0;
	struct hf_entry entry = nothing;
	int rc;

	rc = hf_kept_seal(context->store, kept, err);
	if (rc < 0)
		rc = hf_kept_seal(context->store, kept, err);
	if (rc <= 0)
		return rc;
	entry.stat = kept->stat;
	entry.hash = kept->hash;
	entry.has_hash = true;
	return hf_journal_add_kept(
		context->journal, &entry, kept->path,
		is_top && set->step->want ? set->step->want : &nothing, err);
}

/* What came out is looked at once more, and kept or put back. */
static int discard(struct hf_swap_set *set, const struct hf_stat *new,
		   struct hf_error *err)
{
	struct hf_place *const place = set->place;
	int rc;

	rc = hf_swap_set_discard(set, err);
	for (size_t i = 0; rc == 0 && i < set->count; i++) {
		rc = seal(set, &set->items[i], err);
		if (rc < 0)
			return rc;
	}
	if (rc == 0)
		return 0;
	if (!set->has_removed) {
		if (trade_back(place, hf_swap_set_kind(set), new, err))
			hf_swap_set_leave(set, false);
		return err->code;
	}
	/* It cannot go back whole: what is left of it is a person's to see to. */
	(void)hf_fail_hint(err, "what is left of it stands beside it as '%s'",
			   place->tmp);
	place->tmp[0] = '\0';
	return rc;
}

void hf_swap_take_back(const struct hf_restore_context *context,
		       struct hf_step *step, const char *path)
{
	const struct hf_entry nothing = {
		.path = path,
		.rule = "",
		.xattrs = "",
	};
	struct hf_error ignored;
	const int rc = hf_journal_add_kept(context->journal, &nothing, "",
					   &nothing, &ignored);

	/* The failure before it is the one to tell. */
	(void)rc;
	hf_free_pointee(&step->kept);
}

/* The journal says that it was kept; an undo must not believe more. */
static void take_back(const struct hf_swap_set *set)
{
	if (set->has_absent)
		hf_swap_take_back(set->context, set->step, set->place->path);
	for (size_t i = 0; i < set->count; i++)
		hf_swap_take_back(set->context, set->step,
				  set->items[i].source);
}

/* One try.  A removal comes with place->tmp "" and leaves it so. */
static int swap_once(const struct hf_restore_context *context,
		     struct hf_place *place, struct hf_step *step,
		     const struct hf_stat *new, struct hf_error *err)
{
	cleanup_swap_set struct hf_swap_set set = HF_SWAP_SET_INIT;
	struct hf_error second;
	int late;
	int rc;

	hf_swap_set_begin(&set, context, place, step);
	rc = hf_swap_set_keep(&set, true, err);
	if (rc == 0)
		rc = trade(place, &set, new->kind, err);
	else if (rc == HF_ERR_CHANGED)
		rc = AGAIN;
	if (rc == 0) {
		hf_swap_set_leave(&set, true);
		/* Else it is flushed once for all, when its time is set. */
		place->must_sync = step->parent == HF_STEP_NONE;
		rc = hf_place_sync(place, err);
		late = discard(&set, new, rc < 0 ? &second : err);
		if (rc < 0 && late < 0)
			(void)hf_fail_hint(err, "%s", second.hint);
		if (rc == 0)
			rc = late;
	}
	/* A part of it may be kept, but nothing is replaced. */
	if (!set.has_left)
		take_back(&set);
	return rc;
}

/* Where nothing is replaced: the name must be free. */
static int take_free_name(struct hf_place *place, const struct hf_step *step,
			  struct hf_error *err)
{
	const int rc = move_in(place);

	if (rc == AGAIN)
		return hf_fail(err, HF_ERR_CHANGED,
			       "cannot write '%s': something is there already",
			       HF_QUOTE(place->path));
	if (rc < 0)
		return fail_trade(err, rc, place->path);
	return step->parent == HF_STEP_NONE ? hf_place_sync(place, err) : 0;
}

int hf_swap(const struct hf_restore_context *context, struct hf_place *place,
	    struct hf_step *step, struct hf_error *err)
{
	struct hf_stat stat = {.kind = HF_KIND_ABSENT};
	int rc = AGAIN;

	if (context->is_elsewhere)
		return take_free_name(place, step, err);

	if (place->tmp[0] != '\0') {
		rc = hf_file_stat_at(place->dir_fd, place->tmp, &stat);
		if (rc < 0)
			return hf_fail_system(err, rc, "cannot look at '%s'",
					      HF_QUOTE(place->path));
		rc = AGAIN;
	}
	for (int i = 0; i < TRIES && rc == AGAIN; i++)
		rc = swap_once(context, place, step, &stat, err);
	if (rc == AGAIN)
		return hf_fail(err, HF_ERR_CHANGED,
			       "cannot replace '%s': it keeps changing",
			       HF_QUOTE(place->path));
	return rc;
}

int hf_swap_keep(const struct hf_restore_context *context,
		 struct hf_place *place, struct hf_step *step,
		 struct hf_stat *ret_stat, struct hf_hash *ret_hash,
		 struct hf_error *err)
{
	cleanup_swap_set struct hf_swap_set set = HF_SWAP_SET_INIT;
	int rc;

	hf_swap_set_begin(&set, context, place, step);
	rc = hf_swap_set_keep(&set, false, err);
	if (rc < 0)
		return rc;
	hf_swap_set_leave(&set, true);
	if (set.count == 0 || !set.items[0].has_hash)
		return hf_fail(err, HF_ERR_CHANGED,
			       "cannot restore '%s': it has just been replaced",
			       HF_QUOTE(place->path));
	*ret_stat = set.items[0].stat;
	*ret_hash = set.items[0].hash;
	return 0;
}
