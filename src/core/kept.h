/* SPDX-License-Identifier: MIT */
/*
 * Kept copies: what a restore replaces or removes, saved first.
 *
 * Plain files in the store, kept/SESSION/PATH, 0600; what they were (mode,
 * owner, times, kind) stands in the session's journal.  A path outside the root
 * is kept as kept/SESSION/outside/PATH.
 */
#ifndef HF_CORE_KEPT_H
#define HF_CORE_KEPT_H

#include <stddef.h>

#include "core/entry.h"
#include "core/store.h"

struct hf_error;
struct hf_buffer;

/*
 * Copy what stands at (dir_fd, name) into the store under the session's name,
 * durably: content of a file, text of a link, all that lies in a directory;
 * fifos and nodes have nothing to copy.  ret_path: relative to the store, "" when
 * there was nothing to copy.  The entry itself is not touched.
 */
MUST_CHECK int hf_kept_copy(const struct hf_store *store,
			    const struct hf_name *session, int dir_fd,
			    const char *name, const char *path,
			    struct hf_buffer *ret_path, struct hf_error *err);

/* A kept content for reading; kept_path as recorded.  Refuses to leave kept/. */
MUST_CHECK int hf_kept_open(const struct hf_store *store,
			    const char *kept_path, struct hf_error *err);

#endif /* HF_CORE_KEPT_H */
