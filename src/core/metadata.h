/* SPDX-License-Identifier: MIT */
/*
 * Give a file, directory, link or node the owner, extended attributes, mode and
 * time that an entry has.
 *
 * What is right already is left alone: an ordinary user may restore what needs
 * no privilege.
 */
#ifndef HF_CORE_METADATA_H
#define HF_CORE_METADATA_H

#include <stdbool.h>

#include "core/entry.h"

struct hf_error;

/* All but the mtime of a directory, which follows from what happens in it. */
bool hf_metadata_is_equal(const struct hf_entry *a, const struct hf_entry *b);

/* How much of it. */
enum hf_metadata_extent {
	HF_METADATA_ALL,
	/*
	 * What the user may give: an owner and extended attributes that he may
	 * not stay as they are, and then nothing is set-id.
	 */
	HF_METADATA_ALLOWED
};

/*
 * Of an open file or directory (whose mtime is left alone).
 * HF_ERR_SYSTEM "cannot give 'x' back to its owner" when the user may not.
 */
MUST_CHECK int hf_metadata_set(int fd, const struct hf_entry *want,
			       enum hf_metadata_extent extent,
			       struct hf_error *err);
/* Of a link or node, which cannot be opened. */
MUST_CHECK int hf_metadata_set_at(int dir_fd, const char *name,
				  const struct hf_entry *want,
				  enum hf_metadata_extent extent,
				  struct hf_error *err);

/*
 * The same for what stands at a name and was seen to be of want's kind.  One of
 * ours that may not be opened is given its mode first.
 */
MUST_CHECK int hf_metadata_set_in_place(int dir_fd, const char *name,
					const struct hf_entry *want,
					enum hf_metadata_extent extent,
					struct hf_error *err);

#endif /* HF_CORE_METADATA_H */
