/* SPDX-License-Identifier: MIT */
/*
 * The loop of a fault test: each error, transient and persistent, at each call.
 */
#ifndef HF_TESTS_FAULTS_H
#define HF_TESTS_FAULTS_H

#include <stdbool.h>

struct hf_error;

struct fault_case {
	void *context;
	/* Bring about what run() begins with; before each run. */
	void (*prepare)(void *context);
	int (*run)(void *context, struct hf_error *err);
	/* What must hold afterwards, nothing failing any more. */
	void (*check)(void *context, int rc);
	/*
	 * Besides fault_may_be_ignored(): may run() work although this call of
	 * its failed?  NULL for no.
	 */
	bool (*may_ignore)(const char *call);
	/* Under a sanitizer, which takes several times as long, some of the errors
	 * are enough: each at every call, once or for good. */
	bool is_long;
};

/*
 * Asserted by itself, besides check(): a failure is not swallowed (unless it may
 * be, see fault_may_be_ignored()) and has a text, no descriptor leaks, and at
 * least so many calls can fail.
 */
void fault_loop(const struct fault_case *fault_case, unsigned points_min);

#endif /* HF_TESTS_FAULTS_H */
