/* SPDX-License-Identifier: MIT */
/*
 * A project and its store in a temporary directory: recorded, damaged by the
 * test, restored, compared.
 *
 *	struct hf_bench bench;
 *
 *	hf_bench_begin(&bench, "**", false);
 *	...fill bench.root_fd...
 *	hf_bench_record(&bench);
 *	...damage it...
 *	rc = hf_bench_restore(&bench, true, &err);
 *	...bench.plan tells...
 *	hf_bench_done(&bench);
 *
 * What only prepares a test ends it when it fails.
 */
#ifndef HF_TESTS_WORKBENCH_H
#define HF_TESTS_WORKBENCH_H

#include <stdbool.h>

#include "core/compare.h"
#include "core/journal.h"
#include "core/restore.h"
#include "support/stored.h"

struct hf_bench {
	struct hf_stored at;
	int root_fd;		/* borrowed from it */
	struct hf_manifest manifest;
	/* Of the last restore or undo. */
	struct hf_tree now;
	struct hf_deltas deltas;
	struct hf_session_record session;
	struct hf_plan plan;
	struct hf_name name;
	/* Called right before (true) and after hf_restore_apply(); may be NULL. */
	void (*around)(bool begins);
};

/* With as_user as an ordinary one, for good, if we are root. */
void hf_bench_begin(struct hf_bench *bench, const char *patterns, bool as_user);

void hf_bench_record(struct hf_bench *bench);

/* How many entries differ from what was recorded, by content.  With a note on
 * stderr for each when loud. */
size_t hf_bench_differences(struct hf_bench *bench, bool is_loud);

/* Look, plan.  The plan may be changed before hf_bench_apply(). */
void hf_bench_plan(struct hf_bench *bench, bool remove_additions);
/* Apply the plan under a journal of its own. */
int hf_bench_apply(struct hf_bench *bench, struct hf_error *err);
/* Both. */
int hf_bench_restore(struct hf_bench *bench, bool remove_additions,
		     struct hf_error *err);
/* Undo the session of the last apply; its own name is in bench->name then. */
int hf_bench_undo(struct hf_bench *bench, struct hf_error *err);

/* The step for path; NULL when the plan has none. */
const struct hf_step *hf_bench_step(const struct hf_bench *bench,
				    const char *path);
/* Does the kept copy have this content? */
bool hf_bench_kept_has(const struct hf_bench *bench, const char *kept_path,
		       const char *text);
/* How many temporary names of ours are anywhere in the project. */
size_t hf_bench_temporaries(const struct hf_bench *bench);

void hf_bench_done(struct hf_bench *bench);

#endif /* HF_TESTS_WORKBENCH_H */
