/* SPDX-License-Identifier: MIT */
/*
 * A project in a temporary directory with a store beside it.
 *
 *	static struct hf_stored s;
 *	static void setup(void) { hf_stored_make(&s, "*.toml"); }
 *	static void teardown(void) { hf_stored_remove(&s); }
 */
#ifndef HF_TESTS_STORED_H
#define HF_TESTS_STORED_H

#include "core/manifest.h"
#include "core/policy.h"
#include "core/scan.h"
#include "core/snapshot.h"
#include "core/store.h"

struct hf_buffer;

struct hf_stored {
	char *dir;		/* holds the two */
	char *root;
	char *store_path;
	int root_fd;
	struct hf_policy policy;
	struct hf_scan_options scan;
	struct hf_store store;
};

void hf_stored_make(struct hf_stored *stored, const char *protect);
void hf_stored_remove(struct hf_stored *stored);
/* Open the store anew, as the next command would. */
void hf_stored_reopen(struct hf_stored *stored);

/* Take a snapshot.  Ends the test on failure. */
void hf_stored_take(struct hf_stored *stored, struct hf_manifest *ret_manifest,
		    struct hf_snapshot_result *ret_result);

/* The content of one entry, appended; the failure of hf_pack_read(). */
MUST_CHECK int hf_stored_read(const struct hf_store *store,
			      const struct hf_entry *entry,
			      struct hf_buffer *ret_content,
			      struct hf_error *err);
/* All contents of a tree are in the store, with the right hashes? */
MUST_CHECK int hf_stored_check(const struct hf_store *store,
			       const struct hf_tree *tree,
			       struct hf_error *err);

/* How many names a folder has that begin so ("" for all). */
size_t hf_count_names(int dir_fd, const char *prefix);

#endif /* HF_TESTS_STORED_H */
