/* SPDX-License-Identifier: MIT */
/*
 * The place of one entry while it is being restored: its directory, held open,
 * and a temporary name in it.
 *
 * A directory of ours that may not be written is opened for the time being, and
 * immutable or append-only flags are taken away; hf_place_close() puts all of
 * that back.  What fails there is tried again when the scope is left.
 *
 *	cleanup_place struct hf_place place = HF_PLACE_INIT;
 *
 *	rc = hf_place_open(&place, root_fd, path, err);
 *	...work on place.dir_fd, place.name, place.tmp...
 *	rc = hf_place_close(&place, err);
 *
 * Leaving the scope does the same without a word, and removes what stands at
 * the temporary name unless it is a directory with something in it.
 */
#ifndef HF_CORE_PLACE_H
#define HF_CORE_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/file.h"

struct hf_error;

struct hf_place {
	const char *path;	/* borrowed, for messages */
	const char *name;	/* in path: one component, or "." */
	int dir_fd;		/* -1 when not open */
	char tmp[32];		/* "" when there is nothing to remove */
	bool must_sync;		/* flush the directory when tmp has gone */
	bool has_mode;		/* the directory's mode was changed */
	uint32_t mode;		/* what it was */
	uint32_t protection;	/* flags taken from the directory, */
	uint32_t name_protection;	/* and from what stands at name */
};

#define HF_PLACE_INIT	{ .dir_fd = -1 }
#define cleanup_place	CLEANUP(hf_place_done)

MUST_CHECK int hf_place_open(struct hf_place *place, int root_fd,
			     const char *path, struct hf_error *err);
/* Choose a temporary name; nothing stands there yet. */
MUST_CHECK int hf_place_name(struct hf_place *place, struct hf_error *err);
/* What was done to the directory is on the disk. */
MUST_CHECK int hf_place_sync(const struct hf_place *place,
			     struct hf_error *err);
MUST_CHECK int hf_place_close(struct hf_place *place, struct hf_error *err);
void hf_place_done(struct hf_place *place);

/*
 * Take immutable and append-only away from what stands at the name; what stands
 * there when the place is closed gets them.
 */
MUST_CHECK int hf_place_unprotect(struct hf_place *place,
				  struct hf_error *err);
/* The same for good, of a name of dir_fd.  *ret_flags is what it had, untouched
 * when that was nothing.  -errno on failure. */
MUST_CHECK int hf_place_unprotect_at(int dir_fd, const char *name,
				     enum hf_kind kind, uint32_t *ret_flags);

#endif /* HF_CORE_PLACE_H */
