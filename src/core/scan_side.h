/* SPDX-License-Identifier: MIT */
/*
 * Files that SQLite keeps beside a database.  Private to core/scan*.c; pure.
 */
#ifndef HF_CORE_SCAN_SIDE_H
#define HF_CORE_SCAN_SIDE_H

#include <stddef.h>

#include "core/entry.h"

/* Length of NAME in NAME-wal, NAME-journal and NAME-shm; 0 for any other name. */
size_t hf_scan_side_base_len(const char *name);
/* Of such a name: the first two hold data of their own, the last one none. */
enum hf_entry_role hf_scan_side_role(const char *name);

#endif /* HF_CORE_SCAN_SIDE_H */
