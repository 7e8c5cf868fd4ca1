/* SPDX-License-Identifier: MIT */
/*
 * Every content that the store knows of one path: from the snapshots, and from
 * what sessions replaced and kept.
 *
 *	cleanup_history struct hf_history history = HF_HISTORY_INIT;
 *
 *	rc = hf_history_read(&store, "config.toml", &notes, &history, err);
 *
 * Each content once, the one that was there last first.
 */
#ifndef HF_CORE_HISTORY_H
#define HF_CORE_HISTORY_H

#include "base/arena.h"
#include "core/entry.h"
#include "core/store.h"

struct hf_buffer;
struct hf_error;

/* A session put something else in its place, and kept it. */
struct hf_history_copy {
	struct hf_name session;
	const char *kind;	 /* "run", "restore", ... */
	const char *const *argv; /* of the session; NULL-terminated */
	const char *path;	 /* of the copy in the store */
	int64_t time_ns;	 /* when the session began */
};

struct hf_history_content {
	/*
	 * A file or a link, as the newest snapshot that holds it has it; else
	 * as it was kept, without a location.
	 */
	struct hf_entry entry;
	bool is_recorded;      /* in a snapshot */
	uint64_t step;	       /* the N of @{N} (core/moment.h) */
	struct hf_name newest; /* snapshot that holds it, and the oldest */
	struct hf_name oldest;
	/* A run replaced it, and no snapshot had it before that run. */
	bool is_damage;
	const struct hf_history_copy *copies; /* newest first */
	size_t copy_count;
	int64_t seen_ns; /* when it was there last, as far as that is known */
};

struct hf_history {
	struct hf_history_content *items;
	size_t count;
	size_t capacity;
	struct hf_arena arena; /* all strings and copies */
};

#define HF_HISTORY_INIT       \
	{                     \
		.items = NULL \
	}
#define cleanup_history CLEANUP(hf_history_done)

/*
 * path as entries name it.  Snapshots and journals that are damaged are passed
 * over, each with a line in notes (may be NULL).
 */
MUST_CHECK int hf_history_read(const struct hf_store *store, const char *path,
			       struct hf_buffer *notes,
			       struct hf_history *ret_history,
			       struct hf_error *err);
void hf_history_done(struct hf_history *history);

#endif /* HF_CORE_HISTORY_H */
