/* SPDX-License-Identifier: MIT */
/*
 * What a scan says about links.  Private to core/scan*.c.
 */
#ifndef HF_CORE_SCAN_NOTE_H
#define HF_CORE_SCAN_NOTE_H

#include <stdbool.h>

#include "base/defs.h"

struct hf_buffer;
struct hf_error;
struct hf_patterns;
struct hf_scan_options;
struct hf_tree;

/*
 * For the final look: is there a link on the way to the absolute path where
 * options->before has a directory?  The policy never meant what lies behind it:
 * that must not be taken for an addition and moved away.
 */
bool hf_scan_is_swapped(const struct hf_scan_options *options,
			const char *path);

/*
 * Does a link stand where path has a directory?  1 or 0; negative when that
 * cannot be found out.  Then path is not followed, and a note (notes may be
 * NULL) says so.
 */
MUST_CHECK int hf_scan_is_behind_link(const struct hf_scan_options *options,
				      const char *path,
				      struct hf_buffer *notes,
				      struct hf_error *err);

/*
 * The link at path (as patterns see it) is not entered.  A note when it leads to
 * a directory and patterns spell it out on the way to something else.
 */
void hf_scan_note_closed_link(const struct hf_patterns *patterns,
			      const char *root, const char *path,
			      struct hf_buffer *notes);

/* A note for every protected link of the sorted tree whose target is not. */
MUST_CHECK int hf_scan_note_links(const struct hf_scan_options *options,
				  const struct hf_tree *tree,
				  struct hf_buffer *notes,
				  struct hf_error *err);

#endif /* HF_CORE_SCAN_NOTE_H */
