/* SPDX-License-Identifier: MIT */
/*
 * Work through the entries of a tree in order, on two threads where that pays.
 * Private to core/scan*.c.
 *
 * Runs of consecutive entries are handed out, so that each worker mostly stays
 * within one directory, which it keeps open.  The first failure wins and ends
 * both workers.
 */
#ifndef HF_CORE_SCAN_WORK_H
#define HF_CORE_SCAN_WORK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/path.h"
#include "core/tree.h"

struct hf_error;

#define HF_SCAN_WORKERS	2u
/* From this many entries on a second thread pays for its start. */
#define HF_SCAN_MANY	512u

struct hf_scan_run;

struct hf_scan_worker {
	unsigned number;	/* below HF_SCAN_WORKERS */
	/* For strings of entries: the tree's own may be used by one thread
	 * alone.  Becomes part of it in the end. */
	struct hf_arena arena;
	struct hf_scan_run *run;
	int dir_fd;		/* of the last entry, -1 when not open */
	char dir[HF_PATH_MAX];
};

struct hf_scan_work {
	int root_fd;		/* borrowed */
	struct hf_tree *tree;	/* not added to meanwhile */
	bool is_parallel;
	int (*step)(void *context, struct hf_scan_worker *worker,
		    struct hf_entry *entry, struct hf_error *err);
	void *context;
};

MUST_CHECK int hf_scan_work(const struct hf_scan_work *work,
			    struct hf_error *err);

/*
 * The directory that holds path, borrowed until the worker's next call, or
 * -errno.  ret_name points into path.
 */
MUST_CHECK int hf_scan_worker_parent(struct hf_scan_worker *worker,
				     const char *path, const char **ret_name);

/* Has the other worker failed?  For steps that take long. */
bool hf_scan_worker_must_stop(const struct hf_scan_worker *worker);

#endif /* HF_CORE_SCAN_WORK_H */
