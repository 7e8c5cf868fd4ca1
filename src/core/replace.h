/* SPDX-License-Identifier: MIT */
/*
 * Replace one file beneath a directory we hold open.
 *
 * Whoever opens the name sees the old content or the new, never a mixture.
 * Once hf_replace_commit() has returned 0 the new content survives a power cut.
 *
 *	cleanup_replace struct hf_replace rep = HF_REPLACE_INIT;
 *
 *	rc = hf_replace_begin(&rep, dir_fd, "a.txt", 0644, err);
 *	...write the content to rep.fd...
 *	rc = hf_replace_commit(&rep, err);
 *
 * Leaving the scope without a commit removes the temporary file.
 */
#ifndef HF_CORE_REPLACE_H
#define HF_CORE_REPLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/defs.h"

struct hf_error;

/* How the name of every temporary file of holdfast begins. */
#define HF_TEMPORARY_PREFIX	".holdfast-"

struct hf_replace {
	int fd;			/* the new content; -1 when not open */
	int dir_fd;		/* borrowed; readable, since commit syncs it */
	const char *name;	/* borrowed; one component, no '/' */
	char tmp[32];		/* "" when there is nothing to remove */
};

#define HF_REPLACE_INIT	{ .fd = -1, .dir_fd = -1 }
#define cleanup_replace	CLEANUP(hf_replace_done)

MUST_CHECK int hf_replace_begin(struct hf_replace *rep, int dir_fd,
				const char *name, uint32_t mode,
				struct hf_error *err);
MUST_CHECK int hf_replace_commit(struct hf_replace *rep, struct hf_error *err);
/* The same, but what has the name already stays: HF_ERR_USAGE. */
MUST_CHECK int hf_replace_commit_new(struct hf_replace *rep,
				     struct hf_error *err);
/*
 * The steps of a commit, for several files that shall appear together: content
 * on the disk and closed; the name taken (not durable until the directory is
 * synced).
 */
MUST_CHECK int hf_replace_flush(struct hf_replace *rep, struct hf_error *err);
MUST_CHECK int hf_replace_rename(struct hf_replace *rep, struct hf_error *err);
/* All of it at once: begin, write, commit. */
MUST_CHECK int hf_replace_write(int dir_fd, const char *name, uint32_t mode,
				const void *data, size_t len,
				struct hf_error *err);
void hf_replace_done(struct hf_replace *rep);
/* A fresh temporary name (HF_TEMPORARY_PREFIX and 16 digits). */
MUST_CHECK int hf_replace_name(char ret_name[32], struct hf_error *err);
/* Is it such a name? */
bool hf_replace_is_temporary(const char *name);

#endif /* HF_CORE_REPLACE_H */
