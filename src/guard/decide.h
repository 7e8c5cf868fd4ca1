/* SPDX-License-Identifier: MIT */
/*
 * The gate's decision: may a call go on?  Pure.
 *
 * A decision is made from what is known of the call; where that is not enough
 *it says what to look for (HF_VERDICT_ASK), so that a call that concerns nobody
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
	HF_VERDICT_ASK
};

struct hf_decision {
	size_t place;		/* that was decided, or is asked about */
	enum hf_gate_fact fact; /* that is asked for */
	const char *path;	/* an entry's, or path_space */
	const char *rule;
	const struct hf_entry *entry; /* NULL for an addition and the store */
	/* A directory goes, and everything protected beneath it. */
	bool takes_all;
	char path_space[HF_DECIDE_PATH_MAX];
};

enum hf_verdict hf_decide(const struct hf_decide_set *set,
			  const struct hf_gate_call *call,
			  struct hf_decision *ret_decision);

#endif /* HF_GUARD_DECIDE_H */
