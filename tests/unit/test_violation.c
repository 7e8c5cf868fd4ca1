/* SPDX-License-Identifier: MIT */
/* Violations: grouped by path and operation, found by path, owning their text. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "guard/violation.h"

Test(violation, repeats_of_one_operation_on_one_path_are_one)
{
	cleanup_violations struct hf_violations list = HF_VIOLATIONS_INIT;
	struct hf_violation *const first =
		hf_violations_note(&list, "a", "*", "write", NULL, 1);
	struct hf_violation *const again =
		hf_violations_note(&list, "a", "*", "write", NULL, 2);
	struct hf_violation *const other =
		hf_violations_note(&list, "a", "*", "remove", NULL, 3);

	cr_assert(first == again);
	cr_assert(first != other);
	cr_expect_eq(first->time_ns, 1);
	cr_expect_eq(list.count, 2);
	cr_expect_eq(hf_violations_paths(&list), 1);
	cr_expect(hf_violations_find(&list, "a") == first);
	cr_expect(first->next == other);
	cr_expect(hf_violations_find(&list, "b") == NULL);
}

Test(violation, finds_each_of_many)
{
	cleanup_violations struct hf_violations list = HF_VIOLATIONS_INIT;
	enum { COUNT = 20000 };
	char name[32];

	cr_expect(hf_violations_find(&list, "0") == NULL);
	for (int i = 0; i < COUNT; i++) {
		(void)snprintf(name, sizeof(name), "%d", i);
		cr_assert(hf_violations_note(&list, name, "*", "write", NULL,
					     i) != NULL);
	}
	cr_expect_eq(hf_violations_paths(&list), COUNT);
	for (int i = 0; i < COUNT; i++) {
		struct hf_violation *found;

		(void)snprintf(name, sizeof(name), "%d", i);
		found = hf_violations_find(&list, name);
		cr_assert(found != NULL && found->time_ns == i);
	}
}

Test(violation, owns_what_it_is_given)
{
	cleanup_violations struct hf_violations list = HF_VIOLATIONS_INIT;
	char path[] = "config.toml";
	char xattrs[] = "user.a=YQ==\n";
	char words[] = "python3\0-m\0pytest";
	struct hf_process process = { .pid = 7,
				      .comm = "python3",
				      .command_line = words,
				      .command_line_len = sizeof(words) };
	const struct hf_processes processes = { .items = &process, .count = 1 };
	const struct hf_entry before = { .path = path,
					 .rule = "*.toml",
					 .xattrs = xattrs };
	struct hf_violation *const violation = hf_violations_note(
		&list, path, "*.toml", "write", &before, 1);

	cr_assert(violation != NULL);
	cr_assert_eq(hf_violations_set_candidates(&list, violation, &processes),
		     0);
	memset(path, 'x', sizeof(path) - 1);
	memset(xattrs, 'x', sizeof(xattrs) - 1);
	memset(words, 'x', sizeof(words));
	cr_expect_str_eq(violation->path, "config.toml");
	cr_expect_str_eq(violation->before.path, "config.toml");
	cr_expect_str_eq(violation->before.xattrs, "user.a=YQ==\n");
	cr_assert_eq(violation->candidate_count, 1);
	cr_expect(memcmp(violation->candidates[0].command_line,
			 "python3\0-m\0pytest", sizeof(words)) == 0);
}
