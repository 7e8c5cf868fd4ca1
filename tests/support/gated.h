/* SPDX-License-Identifier: MIT */
/*
 * A process behind the gate, and what the gate tells of each of its calls.
 *
 *	hf_gated_setup(&gated);
 *	hf_gated_run(&gated, body, context);	(body runs in the child)
 *	call = hf_gated_find(&gated, "row");
 *
 * The body numbers what it does with hf_gated_mark(); a call is recorded under
 * the last mark, all facts learnt, and answered with gated->answer.
 */
#ifndef HF_TESTS_GATED_H
#define HF_TESTS_GATED_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "platform/gate.h"

#define HF_GATED_MAX 256

struct hf_gated_place {
	struct hf_gate_place facts;
	char last[NAME_MAX + 1];
	char parent_path[PATH_MAX];
};

struct hf_gated_call {
	unsigned count; /* of judged calls under this mark */
	struct hf_gate_call call;
	char name[32];
	char detail[2 * PATH_MAX + 64];
	int64_t tid;
	struct hf_gated_place places[2];
	unsigned effects; /* set of 1 << enum hf_gate_effect */
	int copy_rc;
	struct hf_gate_identity copy;
};

/* In memory that both processes share. */
struct hf_gated_shared {
	size_t mark;
	long results[HF_GATED_MAX]; /* the call's, or -errno */
	struct hf_stat objects[HF_GATED_MAX];
	struct hf_stat parents[HF_GATED_MAX];
};

struct hf_gated {
	char *dir;
	int dir_fd;
	int proc_fd;
	int answer;	 /* errno; 0: goes on */
	bool lets_mount; /* mounts go on, and all under mark 0 */
	bool copies;	 /* links become copies */
	struct hf_gated_shared *shared;
	struct hf_gated_call calls[HF_GATED_MAX];
};

void hf_gated_setup(struct hf_gated *gated);
void hf_gated_teardown(struct hf_gated *gated);
/* Fork, install the filter, call body, wait; its exit status must be 0. */
void hf_gated_run(struct hf_gated *gated, void (*body)(struct hf_gated *gated));

/* -- for the body: nothing here is judged -----------------------------------
 */

void hf_gated_mark(struct hf_gated *gated, size_t mark);
/* One call by its number; keeps the result under the mark. */
void hf_gated_call(struct hf_gated *gated, long number, const long args[6]);
/* End the child when this is false. */
void hf_gated_need(bool is_so, const char *what);

#endif /* HF_TESTS_GATED_H */
