/* SPDX-License-Identifier: MIT */
/*
 * Files that SQLite keeps beside a database.  Pure.
 */
#ifndef HF_CORE_SCAN_SIDE_H
#define HF_CORE_SCAN_SIDE_H

#include <stddef.h>

#include "core/entry.h"

struct hf_tree;

/* Length of NAME in NAME-wal, NAME-journal and NAME-shm; 0 for any other name. */
size_t hf_scan_side_base_len(const char *name);
/* Of such a name: the first two hold data of their own, the last one none. */
enum hf_entry_role hf_scan_side_role(const char *name);
/* The entry NAME of a path like NAME-wal; NULL for any other path, and when there
 * is no such entry.  The tree must be sorted. */
const struct hf_entry *hf_scan_side_base(const struct hf_tree *tree,
					 const char *path);

#endif /* HF_CORE_SCAN_SIDE_H */
