/* SPDX-License-Identifier: MIT */
/*
 * The snapshot that a person means.
 *
 *	42, 000042-20261130T030007Z	its number, its name, a beginning of
 *that
 *	@, @{0}				the newest
 *	@{1}				the one before it
 *	2h, 30m, 3d, 1w, 3 days ago	as it was then
 *	yesterday			the same as 1d
 *	2026-11-30, 2026-11-30T03:00:07Z  at the end of that day, at that time
 *(UTC)
 *	@{2h}, @{yesterday}		the same in braces
 *
 * Without paths N and ages count snapshots.  With paths they count what the
 * paths held: @{N} is the newest snapshot that holds the N-th other content,
 * each content once, from new to old; an age is the newest snapshot of then
 * that holds one.  A path that is absent in a snapshot, or neither file nor
 *link, has no content there.  A directory stands for what lies beneath it.
 *Several paths are one: what differs in any of them is another content.  @{0}
 *is the newest snapshot in any case.
 *
 *	rc = hf_moment_find(&store, typed, paths, &notes, &name, err);
 *	rc = hf_snapshot_load(&store, &name, &manifest, err);
 *
 * hf_snapshot_load_typed() does that without paths.
 */
#ifndef HF_CORE_MOMENT_H
#define HF_CORE_MOMENT_H

#include <stddef.h>
#include <stdint.h>

#include "core/store.h"

struct hf_buffer;

enum hf_moment_kind {
	HF_MOMENT_NAME,	 /* what was typed is a name, or nothing */
	HF_MOMENT_STEPS, /* so many before the newest */
	HF_MOMENT_TIME	 /* as of then */
};

struct hf_moment {
	enum hf_moment_kind kind;
	uint64_t steps;
	int64_t time_ns; /* the newest that is not later */
};

/* Pure.  HF_ERR_USAGE for what is in braces and no moment. */
MUST_CHECK int hf_moment_parse(const char *typed, int64_t now_ns,
			       struct hf_moment *ret_moment,
			       struct hf_error *err);
/*
 * Of "SNAPSHOT:PATH": how long the snapshot is, which may have colons itself.
 * What stands there is ':' or the end.
 */
MUST_CHECK size_t hf_moment_split(const char *typed);

/*
 * typed NULL: the newest.  paths: NULL-terminated, as entries name them, or
 * NULL. HF_ERR_USAGE: there is none, or a name means several (they are named);
 * HF_ERR_NOTHING: nothing is recorded yet; HF_ERR_CORRUPT: the newest one is
 * gone (hf_snapshot_find_newest()).  Snapshots that are damaged are passed
 * over, each with a line in notes, which may be NULL.
 */
MUST_CHECK int hf_moment_find(const struct hf_store *store, const char *typed,
			      const char *const *paths, struct hf_buffer *notes,
			      struct hf_name *ret_name, struct hf_error *err);

#endif /* HF_CORE_MOMENT_H */
