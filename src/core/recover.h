/* SPDX-License-Identifier: MIT */
/*
 * What to do with an entry that a session which died has left different: pure.
 *
 *	entry now				action
 *	equal to the snapshot			nothing
 *	missing					put back
 *	equal to damage in the journal		put back
 *	changed while the run is known to	put back
 *	have been watched, in the same boot
 *	anything else				undecided: a person looks
 *
 * What a person did beside the run, as the journal tells, and what a person has
 * accepted since, is left.  Whoever puts back keeps a copy first.
 */
#ifndef HF_CORE_RECOVER_H
#define HF_CORE_RECOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/compare.h"
#include "core/journal.h"

struct hf_error;

enum hf_recovery {
	HF_RECOVERY_NOTHING,
	HF_RECOVERY_PUT_BACK,
	HF_RECOVERY_LEAVE,
	HF_RECOVERY_UNDECIDED
};

/* Something that the journal tells of a path. */
struct hf_damage {
	const char *path;
	const struct hf_entry *entry;	/* what was there then; NULL: not known */
	bool is_outside;		/* a person did it */
	size_t order;			/* as they came */
};

/* What a session that died has left to judge by. */
struct hf_dead {
	/* A command ran, and whatever changed then is its doing. */
	bool is_run;
	/* Up to this ctime somebody watched; 0 when that says nothing: the boot
	 * was another one. */
	int64_t alive_ns;
	struct hf_damage *damages;	/* by path, then as they came */
	size_t damage_count;
	struct hf_entry *const *accepted;	/* as in the record */
	size_t accepted_count;
	struct hf_arena arena;
};

#define HF_DEAD_INIT	{ .is_run = false }
#define cleanup_dead	CLEANUP(hf_dead_done)
void hf_dead_done(struct hf_dead *dead);

/*
 * From a journal, which must outlive *ret_dead.  boot_id is that of now.
 * Records of violations that cannot be read are HF_ERR_CORRUPT.
 */
MUST_CHECK int hf_dead_read(const struct hf_session_record *record,
			    const char *boot_id, struct hf_dead *ret_dead,
			    struct hf_error *err);

/* delta: between the session's snapshot and the tree now, which is hashed. */
enum hf_recovery hf_recover_decide(const struct hf_dead *dead,
				   const struct hf_delta *delta);
/* Has a person accepted the entry as it is now? */
bool hf_recover_is_accepted(const struct hf_dead *dead,
			    const struct hf_delta *delta);
/* What the session is known to have left at the path; NULL when not known. */
const struct hf_entry *hf_recover_left(const struct hf_dead *dead,
				       const char *path);

#endif /* HF_CORE_RECOVER_H */
