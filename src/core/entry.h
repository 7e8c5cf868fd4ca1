/* SPDX-License-Identifier: MIT */
/*
 * What one protected name is: the unit of manifests, comparison and restore.
 *
 * Plain data; all strings belong to the tree (core/tree.h) that holds it.
 */
#ifndef HF_CORE_ENTRY_H
#define HF_CORE_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "core/hash.h"
#include "platform/file.h"

/* Why an entry is in the set. */
enum hf_entry_role {
	HF_ROLE_PROTECTED = 0,
	/*
	 * A directory that leads to a protected entry.  Recorded so that it can
	 * be made again; its own changes are no violation.
	 */
	HF_ROLE_ANCESTOR = 1,
	/* Protected, but the command may change it (allow). */
	HF_ROLE_ALLOWED = 2,
	/* NAME-wal or NAME-journal that stood beside a protected NAME. */
	HF_ROLE_SIDE_FILE = 3,
	/*
	 * NAME-shm that stood beside a protected NAME.  Only its being there is
	 * recorded: its content is SQLite's to rebuild, whoever has NAME open
	 * writes to it, and whatever becomes of it is no change.
	 */
	HF_ROLE_SIDE_CACHE = 4
};

/* Where in the store a content lies.  pack 0: nowhere yet. */
struct hf_location {
	uint32_t pack;		/* number of the pack */
	uint64_t offset;	/* of the member's header in the unpacked tar */
};

struct hf_entry {
	/*
	 * Relative to the root and plain (base/path.h), or absolute outside it.
	 * The root itself is ".".
	 */
	const char *path;
	const char *rule;	/* the pattern that names it; "" for an ancestor */
	const char *link;	/* text of a link; NULL for other kinds */
	/* See hf_file_get_xattrs_at(); "" when none.  Never NULL. */
	const char *xattrs;
	struct hf_stat stat;	/* kind absent: the rest is zero */
	enum hf_entry_role role;
	/* Content of a file; has_hash is false until it was read. */
	bool has_hash;
	/*
	 * ctime was not older than the scan, or a program had the file open for
	 * writing: a change could look the same, so the stat cache must not be
	 * believed (git's racy rule).
	 */
	bool is_racy;
	struct hf_hash hash;
	struct hf_location location;
};

#endif /* HF_CORE_ENTRY_H */
