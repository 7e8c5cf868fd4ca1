/* SPDX-License-Identifier: MIT */
/*
 * The content of one file, made beside it and put in its place.  Private to
 * core/restore*.c.
 *
 *	cleanup_file_maker struct hf_file_maker maker = HF_FILE_MAKER_INIT;
 *
 *	rc = hf_file_maker_begin(&maker, context, step, err);
 *	rc = hf_file_maker_write(&maker, data, len, err);	(any number)
 *	...the content was verified...
 *	rc = hf_file_maker_finish(&maker, err);
 *
 * Without a finish the file is untouched and nothing is left.
 */
#ifndef HF_CORE_RESTORE_FILE_H
#define HF_CORE_RESTORE_FILE_H

#include "core/content.h"
#include "core/place.h"
#include "core/restore.h"

struct hf_file_maker {
	const struct hf_restore_context *context;
	struct hf_step *step;
	struct hf_place place;
	/* A name in the store, where the directory takes no new one: then the
	 * file can only be written in place.  "" for place.tmp. */
	char staged[32];
	int fd;			/* of either; -1 when not open */
	struct hf_content_writer writer;
};

#define HF_FILE_MAKER_INIT	{ .place = HF_PLACE_INIT, .fd = -1 }
#define cleanup_file_maker	CLEANUP(hf_file_maker_done)

MUST_CHECK int hf_file_maker_begin(struct hf_file_maker *maker,
				   const struct hf_restore_context *context,
				   struct hf_step *step, struct hf_error *err);
MUST_CHECK int hf_file_maker_write(struct hf_file_maker *maker,
				   const void *data, size_t len,
				   struct hf_error *err);
/* Everything was written: the temporary file has its size. */
MUST_CHECK int hf_file_maker_complete(struct hf_file_maker *maker,
				      struct hf_error *err);
/* 0 when done, 1 when the file was right already, or the failure. */
MUST_CHECK int hf_file_maker_finish(struct hf_file_maker *maker,
				    struct hf_error *err);
/* What was written, for reading; -errno. */
MUST_CHECK int hf_file_maker_open(const struct hf_file_maker *maker);
void hf_file_maker_done(struct hf_file_maker *maker);

/*
 * A whole step whose content is at hand: from the kept copy step->source, or
 * from an open file (from_fd >= 0), or empty.  As finish.
 */
MUST_CHECK int hf_step_put_file(const struct hf_restore_context *context,
				struct hf_step *step, int from_fd,
				struct hf_error *err);

#endif /* HF_CORE_RESTORE_FILE_H */
