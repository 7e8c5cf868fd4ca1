/* SPDX-License-Identifier: MIT */
/*
 * One step of a restore, everything but the content of files.  Private to
 * core/restore*.c.
 *
 * These return 0 when the step is done, 1 when there was nothing to do, or the
 * failure.
 */
#ifndef HF_CORE_RESTORE_STEP_H
#define HF_CORE_RESTORE_STEP_H

#include "core/restore.h"

struct hf_place;

/* Any step but HF_ACTION_PUT_FILE. */
MUST_CHECK int hf_step_run(const struct hf_restore_context *context,
			   struct hf_step *step, struct hf_error *err);

/* Whatever the action says: the kind and the content are right already. */
MUST_CHECK int hf_step_set_metadata(const struct hf_restore_context *context,
				    struct hf_step *step, struct hf_error *err);

/*
 * Look through the path, once more from the root: is everything as wanted?  The
 * place is still open, so that a locked directory can be entered.
 */
MUST_CHECK int hf_step_verify(const struct hf_restore_context *context,
			      const struct hf_step *step, bool reads_content,
			      struct hf_error *err);

/* The mtime of a directory, after all that happens in it. */
MUST_CHECK int hf_step_set_time(const struct hf_restore_context *context,
				const struct hf_step *step,
				struct hf_error *err);

#endif /* HF_CORE_RESTORE_STEP_H */
