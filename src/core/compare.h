/* SPDX-License-Identifier: MIT */
/*
 * What differs between two trees.  Pure.
 *
 * ctime, atime, inode and link count alone are no difference; neither is the
 * mtime of a directory (it follows from what happens inside it), nor anything
 * about an ancestor but its absence or kind.  Kind, content, presence, mode,
 * owner, mtime, link text and xattrs are.
 */
#ifndef HF_CORE_COMPARE_H
#define HF_CORE_COMPARE_H

#include <stddef.h>

#include "core/tree.h"

struct hf_error;

struct hf_delta {
	const struct hf_entry *before;	/* NULL when added */
	const struct hf_entry *after;	/* NULL when it is in no tree any more */
	unsigned change;		/* set of enum hf_change */
};

struct hf_deltas {
	struct hf_delta *items;		/* sorted by path */
	size_t count;
	size_t capacity;
};

#define HF_DELTAS_INIT	{ .items = NULL }
#define cleanup_deltas	CLEANUP(hf_deltas_done)

/* The entry that it is about: what was there, else what is. */
static inline const struct hf_entry *
hf_delta_entry(const struct hf_delta *delta)
{
	return delta->before ? delta->before : delta->after;
}

/*
 * Both trees sorted; files need hashes, and a file without one on the after
 * side counts as changed content (it could not be read).  The result borrows
 * from both trees.
 */
MUST_CHECK int hf_compare(const struct hf_tree *before,
			  const struct hf_tree *after,
			  struct hf_deltas *ret_deltas, struct hf_error *err);

/* The same for one name; 0 when nothing differs.  Either may be NULL. */
unsigned hf_compare_entry(const struct hf_entry *before,
			  const struct hf_entry *after);

/* "content", "metadata", "missing", "kind", "added", "none": the worst bit. */
const char *hf_change_name(unsigned change);
/* What differs in words: "94 -> 12 bytes", "mode 0600 -> 0644, mtime". */
struct hf_buffer;
void hf_delta_describe(const struct hf_delta *delta, struct hf_buffer *out);

void hf_deltas_done(struct hf_deltas *deltas);

#endif /* HF_CORE_COMPARE_H */
