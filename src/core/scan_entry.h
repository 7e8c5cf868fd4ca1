/* SPDX-License-Identifier: MIT */
/*
 * Look at one name.  Private to core/scan*.c; see also core/scan.h.
 */
#ifndef HF_CORE_SCAN_ENTRY_H
#define HF_CORE_SCAN_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "core/entry.h"

struct hf_error;

/*
 * May a change after since_ns leave this ctime as it is?  Not every file system
 * counts nanoseconds: a whole second may be the start of two (vfat), a whole
 * hundredth that of one (exFAT), so the zeros at its end tell how far the ctime
 * reaches.  By chance there are some, too: a file is then read once more.
 */
bool hf_scan_is_racy(int64_t ctime_ns, int64_t since_ns);

/*
 * hf_scan_entry() with the strings in arena.  since_ns: see hf_scan_is_racy().
 */
MUST_CHECK int hf_scan_fill(int dir_fd, const char *name,
			    struct hf_arena *arena, int64_t since_ns,
			    struct hf_entry *entry, struct hf_error *err);

/* Nothing is there: all but path, rule and role is cleared. */
void hf_scan_set_absent(struct hf_entry *entry);

/* Does this failure mean that the name is not there (or behind a link)? */
bool hf_scan_is_absence(int rc);

/*
 * May a tolerant look pass over this failure?  It must lie in the tree (no
 * permission, a broken disk), not in us: out of memory or descriptors, every
 * entry would seem to be missing.
 */
bool hf_scan_is_tolerable(int rc);

/* "cannot read directory 'PATH': REASON", with a hint when it may not be read. */
MUST_CHECK int hf_scan_fail_directory(const char *path, int rc,
				      struct hf_error *err);

/* The entry path of an absolute, canonical path; points into it or is ".". */
const char *hf_scan_entry_path(const char *root, const char *absolute);

#endif /* HF_CORE_SCAN_ENTRY_H */
