/* SPDX-License-Identifier: MIT */
/*
 * Kept copies: what a restore replaces or removes, saved first.
 *
 * Plain files in the store, kept/SESSION/PATH, 0600; what they were (mode,
 * owner, times, kind) stands in the session's journal.  A path outside the root
 * is kept as kept/SESSION/outside/PATH.  A name that the session has kept
 * already gets "~2", "~3", ... behind it.
 *
 *	cleanup_kept struct hf_kept kept = HF_KEPT_INIT;
 *
 *	rc = hf_kept_copy(store, &session, &source, &kept, err);
 *	...replace what was kept...
 *	rc = hf_kept_seal(store, &kept, err);	(hf_kept_drop() if it stays)
 */
#ifndef HF_CORE_KEPT_H
#define HF_CORE_KEPT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/path.h"
#include "core/entry.h"
#include "core/store.h"

struct hf_error;

/* In the store. */
#define HF_KEPT_FOLDER	"kept"
/* How many copies of one path a session keeps. */
#define HF_KEPT_VARIANTS	10000u

/* What is to be kept. */
struct hf_kept_source {
	int dir_fd;
	const char *name;	/* in dir_fd */
	const char *path;	/* of the entry: where it is kept, and messages */
	/*
	 * The name will leave the tree: where the store lies on the same file
	 * system a file with one name may be kept as a second name of it.
	 */
	bool is_leaving;
};

struct hf_kept {
	char *source;		/* the entry's path */
	char *path;		/* relative to the store; "" for nothing to copy */
	struct hf_stat stat;	/* of the entry, taken when the copy was whole */
	struct hf_hash hash;	/* of a file */
	bool has_hash;
	bool is_shared;		/* kept as a second name of the same file */
};

#define HF_KEPT_INIT	{ .source = NULL }
#define cleanup_kept	CLEANUP(hf_kept_done)

/*
 * Copy what stands there, durably: content of a file, text of a link, an empty
 * directory for a directory (what lies in it is kept entry by entry); fifos and
 * nodes have nothing to copy.  The entry itself is not touched.  HF_ERR_CHANGED
 * when it kept changing, or is not there any more.
 */
MUST_CHECK int hf_kept_copy(const struct hf_store *store,
			    const struct hf_name *session,
			    const struct hf_kept_source *source,
			    struct hf_kept *ret_kept, struct hf_error *err);

/*
 * The entry has left the tree: nobody else reads or writes the copy from now on.
 * Where somebody may still have the file open for writing, a shared copy becomes
 * a file of its own (unless the disk is full), and the open file stays beside it
 * under a further name: what is written to it is not lost either.  1: it was
 * written since it was kept; what it is now is the copy, and in kept->hash,
 * kept->stat.size.
 */
MUST_CHECK int hf_kept_seal(const struct hf_store *store, struct hf_kept *kept,
			    struct hf_error *err);
/* The entry stays: it must not share its bytes with the store. */
void hf_kept_drop(const struct hf_store *store, const struct hf_kept *kept);

/* A kept content for reading; kept_path as recorded.  Refuses to leave kept/. */
MUST_CHECK int hf_kept_open(const struct hf_store *store,
			    const char *kept_path, struct hf_error *err);

void hf_kept_done(struct hf_kept *kept);

/* Private to core/kept*.c: the nth name for a copy of NAME (its first len bytes):
 * NAME, NAME~2, NAME~3, ... */
void hf_kept_variant(char out[HF_NAME_MAX + 1], const char *name, size_t len,
		     unsigned n);

#endif /* HF_CORE_KEPT_H */
