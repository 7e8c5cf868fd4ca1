/* SPDX-License-Identifier: MIT */
/*
 * The name of the test that runs, from what its runner exports or from the name
 * of a thread.
 */
#ifndef HF_GUARD_TEST_NAME_H
#define HF_GUARD_TEST_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "base/defs.h"

/* With the terminating NUL; longer names are cut. */
#define HF_TEST_NAME_MAX 4096

/* The variables to ask for. */
enum { HF_TEST_VARIABLES = 7 };
extern const char *const hf_test_variables[HF_TEST_VARIABLES];

/*
 * The name from the values of these variables (NULL: not set).  False when no
 * runner has said any; ret_name is untouched then.
 */
bool hf_test_name_of_variables(const char *const values[HF_TEST_VARIABLES],
			       char ret_name[HF_TEST_NAME_MAX]);

/*
 * Is this what Rust's test harness calls a thread that runs a test?  exe is the
 * program, process_name the name of its main thread.  *ret_is_exact is false when
 * it may be another thread, or the kernel has cut the name.
 */
bool hf_test_name_of_thread(const char *thread_name, const char *process_name,
			    const char *exe, bool *ret_is_exact);

#endif /* HF_GUARD_TEST_NAME_H */
