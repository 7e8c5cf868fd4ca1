/* SPDX-License-Identifier: MIT */
/*
 * Snapshots in one file, a .tar.zst that tar reads:
 *
 *	holdfast-export.json		version, and how many snapshots follow
 *	NAME.manifest			the newest of them
 *	NAME/PATH			each of its files
 *	OLDER.manifest			the next one
 *	OLDER/PATH			what no newer one has
 *
 * Files from outside the root are called as in a pack.
 */
#ifndef HF_CORE_EXPORT_H
#define HF_CORE_EXPORT_H

#include "core/store.h"

struct hf_error;
struct hf_progress;

#define HF_EXPORT_VERSION	1
#define HF_EXPORT_HEADER	"holdfast-export.json"
#define HF_EXPORT_MANIFEST	".manifest"
#define HF_EXPORT_SNAPSHOTS_MAX ((size_t)100 * 1000)
/* A manifest is read into memory from a file that may be anybody's. */
#define HF_EXPORT_MANIFEST_MAX	((size_t)256 << 20)

struct hf_export_result {
	size_t files;
	uint64_t bytes; /* of their contents */
	uint64_t archive_bytes;
};

/*
 * Write these snapshots, old to new in names, to fd.  It takes no lock: a
 * content that is dropped meanwhile is a failure, like one that is damaged.
 */
MUST_CHECK int hf_export(const struct hf_store *store,
			 const struct hf_names *names, int fd,
			 struct hf_progress *progress,
			 struct hf_export_result *ret_result,
			 struct hf_error *err);

#endif /* HF_CORE_EXPORT_H */
