/* SPDX-License-Identifier: MIT */
/* Try every failure of every call of a function. */
#include "support/faults.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stddef.h>

#include "holdfast/error.h"
#include "support/check.h"
#include "support/fault.h"

#ifdef __SANITIZE_ADDRESS__
#define IS_SANITIZED true
#else
#define IS_SANITIZED false
#endif

static const int errors[] = {ENOSPC, EIO, EACCES, EINTR, EMFILE};

static bool may_ignore(const struct fault_case *fault_case)
{
	return fault_may_be_ignored() ||
	       (fault_case->may_ignore && fault_case->may_ignore(fault_call()));
}

/* One run with one fault; did it fire? */
static bool run_once(const struct fault_case *fault_case, unsigned n, int error,
		     bool is_persistent)
{
	struct hf_error err = {.code = 0};
	bool has_fired;
	int fds;
	int rc;

	fault_case->prepare(fault_case->context);
	fds = hf_open_descriptors();
	fault_arm(n, error, is_persistent);
	rc = fault_case->run(fault_case->context, &err);
	has_fired = fault_disarm();

	cr_expect_eq(rc < 0, err.code < 0 && err.text[0] != '\0',
		     "%s at %u: rc %d, code %d", fault_call(), n, rc, err.code);
	cr_expect(rc < 0 || !has_fired || may_ignore(fault_case),
		  "error %d of %s at %u was swallowed", error, fault_call(), n);
	cr_expect(rc == 0 || has_fired, "it fails by itself: %s", err.text);
	cr_expect_eq(hf_open_descriptors(), fds, "a descriptor leaks: %s at %u",
		     fault_call(), n);
	fault_case->check(fault_case->context, rc);
	return has_fired;
}

void fault_loop(const struct fault_case *fault_case, unsigned points_min)
{
	const size_t step = fault_case->is_long && IS_SANITIZED ? 3 : 1;

	for (size_t e = 0; e < 2 * sizeof(errors) / sizeof(errors[0]);
	     e += step) {
		const bool is_persistent = e % 2 == 1;
		unsigned n = 1;

		while (run_once(fault_case, n, errors[e / 2], is_persistent))
			n++;
		fault_expect_all_tried(n);
		cr_expect_geq(n - 1, points_min, "only %u calls can fail",
			      n - 1);
	}
}
