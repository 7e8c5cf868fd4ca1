/* SPDX-License-Identifier: MIT */
/* Failures: what they say, also when it is too long to be said whole. */
#include "base/fail.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct hf_error dirty(void)
{
	struct hf_error err = { .code = 1, .sys_errno = 1 };

	memset(err.text, 'x', sizeof(err.text));
	memset(err.hint, 'x', sizeof(err.hint));
	return err;
}

Test(fail, replaces_what_was_there)
{
	struct hf_error err = dirty();

	cr_expect_eq(hf_fail(&err, HF_ERR_LIMIT, "cannot read '%s'", "a"),
		     HF_ERR_LIMIT);
	cr_expect_eq(err.code, HF_ERR_LIMIT);
	cr_expect_eq(err.sys_errno, 0);
	cr_expect_str_eq(err.text, "cannot read 'a'");
	cr_expect_str_eq(err.hint, "");
}

Test(fail, system_gives_the_reason)
{
	struct hf_error err = dirty();

	cr_expect_eq(hf_fail_system(&err, -ENOENT, "cannot open '%s'", "a"),
		     HF_ERR_SYSTEM);
	cr_expect_eq(err.sys_errno, ENOENT);
	cr_expect_str_eq(err.text, "cannot open 'a': No such file or directory");
	cr_expect_str_eq(err.hint, "");
}

Test(fail, hint_leaves_the_rest)
{
	struct hf_error err = dirty();

	(void)hf_fail(&err, HF_ERR_DENIED, "no");
	cr_expect_eq(hf_fail_hint(&err, "try %d", 7), HF_ERR_DENIED);
	cr_expect_str_eq(err.text, "no");
	cr_expect_str_eq(err.hint, "try 7");
}

Test(fail, memory)
{
	struct hf_error err = dirty();

	cr_expect_eq(hf_fail_memory(&err), HF_ERR_SYSTEM);
	cr_expect_eq(err.sys_errno, ENOMEM);
}

/* The rows end where the memory does, one before and one behind. */
Test(fail, too_long_is_cut)
{
	const int size = (int)sizeof(((struct hf_error *)NULL)->text);

	for (int len = size - 40; len < size + 40; len++) {
		struct hf_error err = dirty();

		(void)hf_fail(&err, HF_ERR_LIMIT, "%*s", len, "");
		cr_assert_lt(strnlen(err.text, sizeof(err.text)),
			     sizeof(err.text));
		(void)hf_fail_system(&err, -EIO, "%*s", len, "");
		cr_assert_lt(strnlen(err.text, sizeof(err.text)),
			     sizeof(err.text));
		(void)hf_fail_hint(&err, "%*s", len, "");
		cr_assert_lt(strnlen(err.hint, sizeof(err.hint)),
			     sizeof(err.hint));
	}
}
