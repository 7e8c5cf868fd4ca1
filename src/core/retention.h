/* SPDX-License-Identifier: MIT */
/*
 * What of a store may be dropped, and why: a pure function of a description.
 *
 * What is counted are distinct contents of a path, never snapshots or runs.
 * Kept are the newest contents of every path, and all that the path had within
 * the last days.  Content known as damage does not count as one of the newest.
 * Beyond the budget for the whole, copies that runs kept go first, from the old
 * end, then older contents; never the newest of a path, what a session in
 * progress or the newest snapshot has, a pinned content, or the copies of the
 * last session that kept any.
 *
 * Pinned: a content of which no more than half was there ever since: the entry
 * drifted to something much smaller, empty, another kind, or nothing.
 *
 * The unit of dropping is a whole snapshot: one is kept as long as it is the
 * newest to have some content that is to be kept.  A pack goes when the last
 * snapshot that refers to it does.  One that nothing referred to before, since
 * a manifest was taken away, stays for the same days.
 */
#ifndef HF_CORE_RETENTION_H
#define HF_CORE_RETENTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/hash.h"
#include "core/policy.h"

struct hf_error;

/* How many sessions that kept nothing are remembered; so many more that only
 * refused something. */
#define HF_RETENTION_SESSIONS ((size_t)200)

struct hf_retention_snapshot {
	int64_t created_ns;
	uint64_t bytes;
	bool is_in_use;	       /* by a session that has not ended */
	const uint32_t *packs; /* that it refers to, sorted */
	size_t pack_count;
};

/* One state that a path had in snapshots that follow each other. */
struct hf_retention_span {
	uint32_t path;	 /* a number for each */
	bool is_content; /* a file or a link: what is counted */
	bool is_damage;	 /* a run found it, and put something else back */
	uint64_t size;
	struct hf_hash content;
	struct hf_hash state; /* content, mode, owner, extended attributes */
	size_t last;	      /* index of the last snapshot that has it */
};

struct hf_retention_session {
	int64_t begun_ns;
	uint64_t bytes; /* of its journal */
	uint64_t kept_bytes;
	bool has_kept; /* copies in kept/ */
	bool is_open;  /* has not ended, or cannot be read */
	bool is_run;
	bool is_violated;
	size_t undone; /* 1 + index of the session it has undone; 0 */
};

struct hf_retention_pack {
	uint32_t number;
	uint64_t bytes; /* with its index */
	int64_t made_ns;
};

/* All old to new. */
struct hf_retention_input {
	const struct hf_retention_snapshot *snapshots;
	size_t snapshot_count;
	struct hf_retention_span *spans; /* in any order; is_damage changes */
	size_t span_count;
	const struct hf_retention_session *sessions;
	size_t session_count;
	const struct hf_retention_pack *packs;
	size_t pack_count;
	int64_t now_ns;
	struct hf_retention limits;
};

enum hf_retention_what {
	HF_RETENTION_SNAPSHOT,
	HF_RETENTION_KEPT,    /* a session's copies, and its journal */
	HF_RETENTION_SESSION, /* a journal */
	HF_RETENTION_PACK,
	HF_RETENTION_WHATS /* how many */
};

enum hf_retention_why {
	HF_RETENTION_OLDER, /* than what is to be kept */
	HF_RETENTION_SIZE,  /* the store is too large */
	HF_RETENTION_UNUSED /* no snapshot refers to it */
};

/* Why something stays. */
enum hf_retention_stay {
	HF_STAYS_LAST, /* the newest snapshot; the last copies; the newest pack
			*/
	HF_STAYS_IN_USE,  /* its session has not ended, or cannot be read */
	HF_STAYS_PINNED,  /* the path has had no more than half of it since */
	HF_STAYS_NEWEST,  /* the newest content of the path */
	HF_STAYS_AMONG,	  /* as many contents, or sets of copies, are kept */
	HF_STAYS_YOUNG,	  /* it was so within the days */
	HF_STAYS_DAMAGE,  /* the same, of damage */
	HF_STAYS_NEEDED,  /* what stays refers to it */
	HF_STAYS_JOURNAL, /* one of the newest journals, or violated */
	HF_STAYS	  /* how many */
};

#define HF_RETENTION_NO_PATH UINT32_MAX

struct hf_retention_drop {
	enum hf_retention_what what;
	enum hf_retention_why why;
	size_t index; /* in the input's snapshots, sessions or packs */
	uint64_t bytes;
};

/* In the order in which it is to be carried out. */
struct hf_retention_plan {
	struct hf_retention_drop *drops;
	size_t count;
	uint64_t bytes_before;
	uint64_t bytes_after;
	bool is_over; /* more than the budget, and nothing may go */
};

#define HF_RETENTION_PLAN_INIT \
	{                      \
		.drops = NULL  \
	}
#define cleanup_retention_plan CLEANUP(hf_retention_plan_done)

MUST_CHECK int hf_retention_decide(const struct hf_retention_input *input,
				   struct hf_retention_plan *ret_plan,
				   struct hf_error *err);
void hf_retention_plan_done(struct hf_retention_plan *plan);

struct hf_retention_staying {
	enum hf_retention_what what;
	enum hf_retention_stay why;
	size_t index; /* as in a drop */
	uint64_t bytes;
	uint32_t path; /* the number of a span; HF_RETENTION_NO_PATH */
};

/* What is not in the plan, and why it stays: *ret_count items, to free(). */
MUST_CHECK int hf_retention_explain(const struct hf_retention_input *input,
				    const struct hf_retention_plan *plan,
				    struct hf_retention_staying **ret_items,
				    size_t *ret_count, struct hf_error *err);

/* "older than what is kept", ... */
const char *hf_retention_why_text(enum hf_retention_why why);
/* "snapshot", ...; with an s when there are more. */
const char *hf_retention_what_text(enum hf_retention_what what, bool is_plural);

#endif /* HF_CORE_RETENTION_H */
