/* SPDX-License-Identifier: MIT */
/*
 * Take the snapshots of a file that hf_export() has written into a store.
 *
 * Nothing in the file is believed: every content is compared with the hash that
 * its manifest has, every name with the manifest's, and all of it is read
 * before a snapshot gets its name.  They become older than the newest one,
 * which stays the recorded state of the tree; in a store without any they are
 * the first.
 */
#ifndef HF_CORE_IMPORT_H
#define HF_CORE_IMPORT_H

#include "core/store.h"

struct hf_error;

struct hf_import_result {
	size_t snapshots;
	struct hf_name first; /* the oldest of them, as it is called now */
	struct hf_name last;
	struct hf_name original; /* what the newest of them was called */
	char *root;		 /* and of which root it is; to free() */
	size_t files;
	size_t archived; /* contents that are new */
	uint64_t archived_bytes;
};

/* Under the store's lock.  what names the file in messages, quoted: "'FILE'".
 */
MUST_CHECK int hf_import(const struct hf_store *store, int fd, const char *what,
			 struct hf_import_result *ret_result,
			 struct hf_error *err);

#endif /* HF_CORE_IMPORT_H */
