/* SPDX-License-Identifier: MIT */
/*
 * The gate's decision: may a call go on?  Pure.
 *
 * A decision is made from what is known of the call; where that is not enough
 * it says what to look for (HF_VERDICT_ASK), so that a call that concerns nobody
 * costs no look at all:
 *
 *	while (hf_decide(&set, call, &decision) == HF_VERDICT_ASK)
 *		hf_gate_learn(question, decision.place, decision.fact);
 *
 * Only what would change something is refused: what the system fails by itself
 * keeps its own error, and what leaves all as it is goes on.
 */
#ifndef HF_GUARD_DECIDE_H
#define HF_GUARD_DECIDE_H

#include <stdbool.h>
#include <stddef.h>

#include "guard/decide_set.h"
#include "platform/gate.h"

/* As long as a path of the kernel. */
#define HF_DECIDE_PATH_MAX 8192

enum hf_verdict {
	HF_VERDICT_PASS,
	HF_VERDICT_REFUSE,
	/* Opened for reading and writing: goes on, and is remembered. */
	HF_VERDICT_OBSERVE,
	/*
	 * A second name for a protected file: it gets a copy.  The name would
	 * outlive the run, and a write through it later would find nobody.
	 */
	HF_VERDICT_COPY,
	/* It would set what is set: done, without a new change time (ctime). */
	HF_VERDICT_DONE,
	HF_VERDICT_ASK
};

/* What a refused or observed call was about to change. */
struct hf_target {
	const char *path;		/* an entry's, or in the decision */
	const char *rule;
	const struct hf_entry *entry;	/* NULL for an addition and the store */
	/* A directory goes, and everything protected beneath it. */
	bool takes_all;
};

/* An exchange of two names takes both and makes both. */
#define HF_TARGETS_MAX	4

struct hf_decision {
	size_t place;			/* that is asked about */
	enum hf_gate_fact fact;		/* that is asked for */
	struct hf_target targets[HF_TARGETS_MAX];
	size_t target_count;
	char path_space[HF_TARGETS_MAX][HF_DECIDE_PATH_MAX];
};

enum hf_verdict hf_decide(const struct hf_decide_set *set,
			  const struct hf_gate_call *call,
			  struct hf_decision *ret_decision);

#endif /* HF_GUARD_DECIDE_H */
