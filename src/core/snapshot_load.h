/* SPDX-License-Identifier: MIT */
/*
 * The newest manifest, read by a second thread while this one does something
 * else.  Private to core/snapshot*.c.
 *
 *	rc = hf_snapshot_load_begin(store, &loading, err);
 *	...
 *	rc = hf_snapshot_load_finish(&loading, &manifest, err);
 *
 * cleanup_snapshot_loading waits for the thread when nobody else did.
 */
#ifndef HF_CORE_SNAPSHOT_LOAD_H
#define HF_CORE_SNAPSHOT_LOAD_H

#include "core/journal.h"
#include "core/manifest.h"
#include "core/snapshot_used.h"
#include "core/store.h"

struct hf_snapshot_loading;
#define cleanup_snapshot_loading CLEANUP(hf_snapshot_load_drop)

/*
 * HF_ERR_NOTHING when nothing is recorded yet.  A newer snapshot that a session
 * used and that is gone is a failure, or named in *ret_gone (not touched else)
 * when that is not NULL.  sessions: where they are listed already, else NULL.
 */
MUST_CHECK int hf_snapshot_load_begin(const struct hf_store *store,
				      const struct hf_journal_names *sessions,
				      struct hf_snapshot_used *ret_gone,
				      struct hf_snapshot_loading **ret_loading,
				      struct hf_error *err);
/* Frees *loading, whatever comes of it. */
MUST_CHECK int hf_snapshot_load_finish(struct hf_snapshot_loading **loading,
				       struct hf_manifest *ret_manifest,
				       struct hf_error *err);
void hf_snapshot_load_drop(struct hf_snapshot_loading **loading);

/* -- pieces of reading one ------------------------------------------------- */

/* The file, open. */
MUST_CHECK int hf_snapshot_open(const struct hf_store *store,
				const struct hf_name *name,
				struct hf_error *err);
/* All of it, and what messages call it. */
MUST_CHECK int hf_snapshot_read(int fd, const struct hf_name *name,
				struct hf_buffer *ret_label,
				struct hf_buffer *ret_text,
				struct hf_error *err);
/* Is what says of itself to be found the one of that name? */
MUST_CHECK int hf_snapshot_check_name(const char *label,
				      const struct hf_name *found,
				      const struct hf_name *name,
				      struct hf_error *err);
/* After a failure: what to do about one that is damaged.  The failure's code.
 */
MUST_CHECK int hf_snapshot_add_cure(const struct hf_name *name,
				    struct hf_error *err);

#endif /* HF_CORE_SNAPSHOT_LOAD_H */
