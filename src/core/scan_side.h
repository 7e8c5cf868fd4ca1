/* SPDX-License-Identifier: MIT */
/*
 * Files that SQLite keeps beside a database.  Private to core/scan*.c; pure.
 */
#ifndef HF_CORE_SCAN_SIDE_H
#define HF_CORE_SCAN_SIDE_H

#include <stddef.h>

/* Length of NAME in NAME-wal and NAME-journal (they hold data of their own);
 * 0 for any other name. */
size_t hf_scan_side_base_len(const char *name);

#endif /* HF_CORE_SCAN_SIDE_H */
