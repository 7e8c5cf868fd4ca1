/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a file on their way from one descriptor to another: hashed, and
 * with long runs of zeros left as holes.
 *
 *	struct hf_content_writer writer;
 *
 *	hf_content_begin(&writer, fd, HF_CONTENT_FRESH);
 *	rc = hf_content_write(&writer, data, len);	(any number of times)
 *	rc = hf_content_end(&writer);			(the size is right now)
 *
 * The writer returns -errno like the file seam it stands on: it knows no path.
 */
#ifndef HF_CORE_CONTENT_H
#define HF_CORE_CONTENT_H

#include <stddef.h>
#include <stdint.h>

#include "core/hash.h"

struct hf_error;

/*
 * Larger files are not read: one call makes a file of exabytes, all of it a hole,
 * and hashing its zeros would never end.
 */
#define HF_CONTENT_MAX	((uint64_t)256 << 30)

/* Shorter runs of zeros are not worth an extent of their own. */
#define HF_CONTENT_HOLE_MIN	((uint64_t)64 << 10)

enum hf_content_mode {
	HF_CONTENT_FRESH,	/* an empty file: zeros may be left out */
	HF_CONTENT_OVER		/* over what is there: every byte is written */
};

struct hf_content_writer {
	int fd;			/* borrowed; stands at its start */
	enum hf_content_mode mode;
	uint64_t size;		/* bytes so far, pending ones included */
	uint64_t zeros;		/* pending: seen, not written yet */
};

void hf_content_begin(struct hf_content_writer *writer, int fd,
		      enum hf_content_mode mode);
MUST_CHECK int hf_content_write(struct hf_content_writer *writer,
				const void *data, size_t len);
MUST_CHECK int hf_content_end(struct hf_content_writer *writer);

/*
 * A file of dir_fd for reading, as hf_file_open_read_at(), mode 0000 or not: one
 * of ours is made readable for the moment.  -errno on failure.
 */
MUST_CHECK int hf_content_open(int dir_fd, const char *name);

/* Its hash; path is for messages. */
MUST_CHECK int hf_content_hash(int dir_fd, const char *name, const char *path,
			       struct hf_hash *ret_hash, struct hf_error *err);

/*
 * All of from_fd, which stands at its start, to writer (NULL: it is only
 * hashed).  Holes are not read.  path is for messages.
 */
MUST_CHECK int hf_content_copy(int from_fd, struct hf_content_writer *writer,
			       const char *path, uint64_t *ret_size,
			       struct hf_hash *ret_hash, struct hf_error *err);

#endif /* HF_CORE_CONTENT_H */
