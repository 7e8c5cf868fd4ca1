/* SPDX-License-Identifier: MIT */
/*
 * Fail the Nth wrapped call made by our own objects, or die at it.
 *
 *	for (unsigned n = 1; fired; n++) {
 *		fault_arm(n, ENOSPC, false);
 *		rc = f();
 *		fired = fault_disarm();
 *		...what must hold whether f() worked or not...
 *	}
 *
 * Wrapped is what the test is linked with: hf_fault_test(NAME
 * ${HF_FAULT_CALLS}) for all of them.  Calls made inside libraries are not seen.
 * Allocations fail with ENOMEM whatever the error.  Counting is thread-safe.
 */
#ifndef HF_TESTS_FAULT_H
#define HF_TESTS_FAULT_H

#include <stdbool.h>

/*
 * The nth call from now (from 1) fails so; with is_persistent all later ones,
 * too.  A persistent EINTR ends after some calls, as a storm of signals does.
 */
void fault_arm(unsigned nth, int error, bool is_persistent);
/* From then on a persistent one stays with calls of the first one's name: a disk
 * that is full, a table of descriptors that is. */
void fault_stay_with_call(bool stays);
/* RENAME_EXCHANGE is EINVAL, as on file systems that lack it. */
void fault_take_exchange_away(bool is_away);
/* Stop; did it fire? */
bool fault_disarm(void);

/* How many calls were counted since fault_arm(), or in the child of a
 * fault_crash() that returned false. */
unsigned fault_count(void);
/*
 * After a loop: nothing fired in its last round, at call nth, and all rounds were
 * equally long (but for a few calls that rest on the moment), or calls of this
 * round were jumped over in those before.
 */
void fault_expect_all_tried(unsigned nth);
/* The name of the first call that failed ("fsync"); "" when none did. */
const char *fault_call(void);
/*
 * May a function work although this call failed?  True for what is ignored by
 * right: giving up a descriptor, hints to the kernel, removing temporary names,
 * a second thread; and for EINTR, which is tried again.
 */
bool fault_may_be_ignored(void);
/* Was fault_arm() told so? */
bool fault_is_persistent(void);

/*
 * Run body in a child that is killed at its nth call (a write is cut in half
 * before).  False when body ended before: then the loop is over.  A child that
 * ends otherwise than by returning from body ends the test.
 */
bool fault_crash(unsigned nth, void (*body)(void *argument), void *argument);

#endif /* HF_TESTS_FAULT_H */
