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

/* hf_swap_set_keep() and trade() return this to begin again. */
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

/* Nothing is there: 0, AGAIN when something appeared meanwhile, or -errno. */
static int move_in(struct hf_place *place)
{
	struct hf_stat stat;
	int rc;

	rc = hf_file_rename_new_at(place->dir_fd, place->tmp, place->dir_fd,
				   place->name);
	if (rc == -EINVAL) {
		/* A directory where no exclusive rename is to be had: over an
		 * empty directory at worst, which holds nothing. */
		rc = hf_file_stat_at(place->dir_fd, place->name, &stat);
		if (rc == 0)
			return AGAIN;
		if (rc == -ENOENT)
			rc = hf_file_rename_at(place->dir_fd, place->tmp,
					       place->dir_fd, place->name);
	}
	if (rc == 0)
		place->tmp[0] = '\0';
	return rc == -EEXIST ? AGAIN : rc;
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

/*
 * Where names cannot be exchanged.  A file goes over a file at once; with a
 * directory there is a moment without the name.
 */
static int trade_by_renames(struct hf_place *place, enum hf_kind old_kind,
			    enum hf_kind new_kind, struct hf_error *err)
{
	char aside[sizeof(place->tmp)];
	int rc;

	if (old_kind != HF_KIND_DIRECTORY && new_kind != HF_KIND_DIRECTORY) {
		rc = hf_file_rename_at(place->dir_fd, place->tmp, place->dir_fd,
				       place->name);
		if (rc < 0)
			return fail_trade(err, rc, place->path);
		place->tmp[0] = '\0';
		return 0;
	}
	rc = move_out(place, aside, err);
	if (rc != 0)
		return rc;
	rc = hf_file_rename_at(place->dir_fd, place->tmp, place->dir_fd,
			       place->name);
	if (rc < 0) {
		(void)fail_trade(err, rc, place->path);
		rc = hf_file_rename_new_at(place->dir_fd, aside, place->dir_fd,
					   place->name);
		return rc < 0 ? fail_trade(err, rc, place->path) : err->code;
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

/* One try.  A removal comes with place->tmp "" and leaves it so. */
static int swap_once(const struct hf_restore_context *context,
		     struct hf_place *place, struct hf_step *step,
		     enum hf_kind new_kind, struct hf_error *err)
{
	cleanup_swap_set struct hf_swap_set set = HF_SWAP_SET_INIT;
	int rc;

	hf_swap_set_begin(&set, context, place, step);
	rc = hf_swap_set_keep(&set, true, err);
	if (rc == HF_ERR_CHANGED)
		return AGAIN;
	if (rc < 0)
		return rc;
	rc = trade(place, &set, new_kind, err);
	if (rc != 0)
		return rc;
	hf_swap_set_leave(&set);
	rc = hf_place_sync(place, err);
	if (rc < 0) {
		struct hf_error ignored;
		const int late = hf_swap_set_discard(&set, &ignored);

		/* The first failure is the one to tell. */
		(void)late;
		return rc;
	}
	return hf_swap_set_discard(&set, err);
}

int hf_swap(const struct hf_restore_context *context, struct hf_place *place,
	    struct hf_step *step, struct hf_error *err)
{
	struct hf_stat stat = {.kind = HF_KIND_ABSENT};
	int rc = AGAIN;

	if (place->tmp[0] != '\0') {
		rc = hf_file_stat_at(place->dir_fd, place->tmp, &stat);
		if (rc < 0)
			return hf_fail_system(err, rc, "cannot look at '%s'",
					      HF_QUOTE(place->path));
		rc = AGAIN;
	}
	for (int i = 0; i < TRIES && rc == AGAIN; i++)
		rc = swap_once(context, place, step, stat.kind, err);
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
	hf_swap_set_leave(&set);
	if (set.count == 0 || !set.items[0].has_hash)
		return hf_fail(err, HF_ERR_CHANGED,
			       "cannot restore '%s': it has just been replaced",
			       HF_QUOTE(place->path));
	*ret_stat = set.items[0].stat;
	*ret_hash = set.items[0].hash;
	return 0;
}
