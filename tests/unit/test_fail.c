/* SPDX-License-Identifier: MIT */
/* Failures: what they say, also when it is too long to be said whole. */
#include "base/fail.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

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

/* -- long names --------------------------------------------------------------- */

static const char *name_of(char *name, size_t len, const char *begin,
			   const char *end)
{
	memset(name, 'x', len);
	memcpy(name, begin, strlen(begin));
	memcpy(name + len - strlen(end), end, strlen(end));
	name[len] = '\0';
	return name;
}

static bool ends_with(const char *text, const char *end)
{
	const size_t len = strlen(text);

	return len >= strlen(end) && strcmp(text + len - strlen(end), end) == 0;
}

Test(fail, the_reason_of_a_long_name_is_seen)
{
	for (size_t len = 400; len < 4096; len += 13) {
		struct hf_error err = dirty();
		char name[4096];

		(void)hf_fail_system(&err, -ENOSPC, "cannot write '%s'",
				     name_of(name, len, "first/", "/last"));
		cr_assert_lt(strlen(err.text), sizeof(err.text));
		cr_assert_eq(strncmp(err.text, "cannot write 'first/x", 21), 0,
			     "%s", err.text);
		cr_assert(ends_with(err.text,
				    "x/last': No space left on device"),
			  "%s", err.text);
		cr_assert_eq(strstr(err.text, "\xe2\x80\xa6") != NULL,
			     len > sizeof(err.text) - 42, "%zu", len);
		if (strstr(err.text, "\xe2\x80\xa6"))
			cr_assert_eq(strlen(err.text), sizeof(err.text) - 1);
	}
}

Test(fail, of_two_long_names_both_are_seen)
{
	struct hf_error err = dirty();
	char one[4096];
	char two[4096];

	(void)hf_fail(&err, HF_ERR_DENIED,
		      "the store '%s' belongs to '%s', not here",
		      name_of(one, 4095, "one/", "/eno"),
		      name_of(two, 4000, "two/", "/owt"));
	cr_expect_eq(strncmp(err.text, "the store 'one/x", 16), 0);
	cr_expect(strstr(err.text, "x/eno' belongs to 'two/x"), "%s",
		  err.text);
	cr_expect(ends_with(err.text, "x/owt', not here"), "%s", err.text);
}

Test(fail, a_character_is_not_cut_apart)
{
	for (size_t len = 500; len < 600; len++) {
		struct hf_error err = dirty();
		char name[700];

		for (size_t i = 0; i < len; i++)
			memcpy(name + 2 * (i / 2), "\xc3\xa4", 3);
		(void)hf_fail(&err, HF_ERR_LIMIT, "%.*s'%s' is", (int)(len % 4),
			      "abc", name);
		cr_assert(hf_is_utf8(err.text, strlen(err.text)), "%s",
			  err.text);
	}
}
