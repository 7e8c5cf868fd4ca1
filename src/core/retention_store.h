/* SPDX-License-Identifier: MIT */
/*
 * Retention of a real store: read what is in it, drop what a plan names.
 *
 *	rc = hf_retention_read(store, &limits, HF_RETENTION_ALL, &view, err);
 *	rc = hf_retention_decide(&view.input, &plan, err);
 *	...show the plan, hf_retention_describe()...
 *	rc = hf_retention_apply(store, &view, &plan, err);
 *
 * All of it under the store's lock.
 */
#ifndef HF_CORE_RETENTION_STORE_H
#define HF_CORE_RETENTION_STORE_H

#include "base/arena.h"
#include "core/project.h"
#include "core/retention.h"
#include "core/store.h"

struct hf_buffer;
struct hf_error;

enum hf_retention_extent {
	HF_RETENTION_ALL,
	/* Journals alone; snapshots and packs are not looked at, nor dropped.
	 */
	HF_RETENTION_JOURNALS
};

struct hf_retention_view {
	struct hf_retention_input input; /* points into the rest */
	struct hf_names snapshots;
	struct hf_names sessions;
	struct hf_retention_snapshot *snapshot_items;
	struct hf_retention_session *session_items;
	struct hf_retention_span *spans;
	struct hf_retention_pack *packs;
	const char **paths; /* by their numbers in spans */
	struct hf_arena arena;
};

#define HF_RETENTION_VIEW_INIT             \
	{                                  \
		.snapshots = HF_NAMES_INIT \
	}
#define cleanup_retention_view CLEANUP(hf_retention_view_done)

/*
 * A manifest or the journal of a session that has not ended which cannot be
 * read is a failure: what it refers to is not known.
 */
MUST_CHECK int hf_retention_read(const struct hf_store *store,
				 const struct hf_retention *limits,
				 enum hf_retention_extent extent,
				 struct hf_retention_view *ret_view,
				 struct hf_error *err);
void hf_retention_view_done(struct hf_retention_view *view);

/* Its name in the store: "snapshots/000001-20261130T030007Z". */
void hf_retention_name(const struct hf_retention_view *view,
		       enum hf_retention_what what, size_t index,
		       struct hf_buffer *out);
/* "it has one of the newest 20 contents", and of which path; NULL: of none. */
void hf_retention_add_stay(const struct hf_retention_view *view,
			   const struct hf_retention_staying *staying,
			   struct hf_buffer *out);
const char *hf_retention_stay_path(const struct hf_retention_view *view,
				   const struct hf_retention_staying *staying);
/* "2 snapshots, 1 pack, 1.2 MiB" */
void hf_retention_describe(const struct hf_retention_plan *plan,
			   const char *separator, struct hf_buffer *out);

/*
 * Say it in a journal of its own (kind "retention"), durably; then drop.  A
 * crash leaves what nothing refers to, for the next time.  Nothing is written
 * for an empty plan.
 */
MUST_CHECK int hf_retention_apply(const struct hf_store *store,
				  const struct hf_retention_view *view,
				  const struct hf_retention_plan *plan,
				  struct hf_error *err);

/* What a command has added to the store. */
struct hf_retention_hint {
	uint64_t session;  /* the number of its session; 0: none */
	uint64_t snapshot; /* of its snapshot, if that is new; 0 */
	bool has_kept;	   /* it may have kept copies */
};

/*
 * At the end of a command: drop what may go, if enough was added that it may
 * matter and the store's lock is free.  A failure changes nothing for the
 * command; the next one tries again.
 */
void hf_retention_apply_quietly(struct hf_project *project,
				const struct hf_retention_hint *hint);

#endif /* HF_CORE_RETENTION_STORE_H */
