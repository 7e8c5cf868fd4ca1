/* SPDX-License-Identifier: MIT */
/*
 * What the journals of a store say of paths: who removed them, what damaged
 *them.
 *
 *	cleanup_hook_history struct hf_hook_history history =
 *HF_HOOK_HISTORY_INIT;
 *
 *	rc = hf_hook_history_read(store, &history, err);
 *	past = hf_hook_history_past(&history, "config.toml");
 */
#ifndef HF_GUARD_HOOK_PAST_H
#define HF_GUARD_HOOK_PAST_H

#include "core/journal.h"
#include "guard/hook.h"

struct hf_error;

/* Journals, new to old. */
struct hf_hook_history {
	const struct hf_store *store;
	struct hf_session_record *records;
	size_t count;
};

#define HF_HOOK_HISTORY_INIT    \
	{                       \
		.records = NULL \
	}
#define cleanup_hook_history CLEANUP(hf_hook_history_done)
void hf_hook_history_done(struct hf_hook_history *history);

/* One that is damaged says nothing. */
MUST_CHECK int hf_hook_history_read(const struct hf_store *store,
				    struct hf_hook_history *ret_history,
				    struct hf_error *err);

/* Pure. */
enum hf_hook_past hf_hook_history_past(const struct hf_hook_history *history,
				       const char *path);

/*
 * Has nobody but an import recorded that snapshot?  It tells of another tree
 * until a run has begun with it, or a person has restored from it.  Pure.
 */
bool hf_hook_history_is_imported(const struct hf_hook_history *history,
				 const struct hf_name *snapshot);

/* The session that put something of ours there or took it away last; "". */
const char *hf_hook_history_session(const struct hf_hook_history *history,
				    const char *path);

/* Is anything known that a run has done to the path? */
bool hf_hook_history_has_damage(const struct hf_hook_history *history,
				const char *path);
/* The size of the largest of these. */
uint64_t hf_hook_history_damage_size(const struct hf_hook_history *history,
				     const char *path);
/*
 * The session that found such a file or link at the path and replaced it; NULL
 * when none did, or when a person brought it back or recorded it since.  kind
 * and hash, or link, are what counts.  Snapshots are asked only where one did.
 */
MUST_CHECK int hf_hook_history_find_damage(
	const struct hf_hook_history *history, const struct hf_entry *entry,
	const struct hf_name **ret_session, struct hf_error *err);

#endif /* HF_GUARD_HOOK_PAST_H */
