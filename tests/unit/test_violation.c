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

/* -- attempts ------------------------------------------------------------------ */

static const struct hf_culprit culprits[] = {
	{.process = {.pid = 7}, .tid = 7},
	{.process = {.pid = 8}, .tid = 8},
};

static struct hf_attempt attempt_of(const char *path, const char *operation)
{
	return (struct hf_attempt){
		.path = path,
		.rule = "*",
		.operation = operation,
		.detail = "O_WRONLY",
		.culprit = &culprits[0],
		.test = "test_a",
		.is_test_exact = true,
		.time_ns = 5,
	};
}

Test(violation, an_attempt_is_what_was_told_of_it)
{
	cleanup_violations struct hf_violations list = HF_VIOLATIONS_INIT;
	const struct hf_attempt attempt = attempt_of("a", "openat");
	const struct hf_violation *const violation =
		hf_violations_note_attempt(&list, &attempt);

	cr_assert(violation);
	cr_expect_str_eq(violation->path, "a");
	cr_expect_str_eq(violation->operation, "openat");
	cr_expect_str_eq(violation->detail, "O_WRONLY");
	cr_expect_str_eq(violation->test, "test_a");
	cr_expect(violation->is_test_exact);
	cr_expect(violation->culprit == &culprits[0]);
	cr_expect_not(violation->has_landed);
	cr_expect_eq(violation->change, 0);
	cr_expect_eq(violation->time_ns, 5);
}

/* What differs from the first one makes it another violation, or not. */
Test(violation, the_same_attempt_by_the_same_in_the_same_test_is_one)
{
	static const struct {
		const char *name;
		const char *path;
		const char *operation;
		const char *test;
		size_t culprit;
		int64_t time_ns;
		bool is_same;
	} rows[] = {
		{"again", "a", "openat", "test_a", 0, 5, true},
		{"later", "a", "openat", "test_a", 0, 99, true},
		{"another path", "b", "openat", "test_a", 0, 5, false},
		{"another operation", "a", "unlink", "test_a", 0, 5, false},
		{"another test", "a", "openat", "test_b", 0, 5, false},
		{"no test", "a", "openat", NULL, 0, 5, false},
		{"another process", "a", "openat", "test_a", 1, 5, false},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		cleanup_violations struct hf_violations list =
			HF_VIOLATIONS_INIT;
		struct hf_attempt attempt = attempt_of("a", "openat");
		const struct hf_violation *const first =
			hf_violations_note_attempt(&list, &attempt);
		const struct hf_violation *second;

		attempt.path = rows[i].path;
		attempt.operation = rows[i].operation;
		attempt.test = rows[i].test;
		attempt.culprit = &culprits[rows[i].culprit];
		attempt.time_ns = rows[i].time_ns;
		second = hf_violations_note_attempt(&list, &attempt);
		cr_assert(first && second);
		cr_expect_eq(first == second, rows[i].is_same, "%s",
			     rows[i].name);
		cr_expect_eq(list.count, rows[i].is_same ? 1 : 2, "%s",
			     rows[i].name);
		cr_expect_eq(first->time_ns, 5, "%s", rows[i].name);
	}
}

Test(violation, what_landed_and_what_was_refused_of_one_path_stay_apart)
{
	cleanup_violations struct hf_violations list = HF_VIOLATIONS_INIT;
	const struct hf_attempt attempt = attempt_of("a", "write");
	const struct hf_violation *const refused =
		hf_violations_note_attempt(&list, &attempt);
	struct hf_violation *landed;

	/* Nothing of it was touched. */
	cr_expect_null(hf_violations_find(&list, "a"));
	cr_expect_eq(hf_violations_paths(&list), 0);
	landed = hf_violations_note(&list, "a", "*", "write", NULL, 6);
	cr_assert(refused && landed && landed != refused);
	cr_expect(hf_violations_find(&list, "a") == landed);
	cr_expect_eq(hf_violations_paths(&list), 1);
	cr_expect(hf_violations_note_attempt(&list, &attempt) == refused);
	cr_expect(hf_violations_note(&list, "a", "*", "write", NULL, 7) ==
		  landed);
	cr_expect_eq(list.count, 2);
}

Test(violation, finds_each_of_many_attempts)
{
	cleanup_violations struct hf_violations list = HF_VIOLATIONS_INIT;
	enum { COUNT = 5000 };
	char name[32];

	for (int round = 0; round < 2; round++)
		for (int i = 0; i < COUNT; i++) {
			struct hf_attempt attempt = attempt_of(name, "openat");
			const struct hf_violation *violation;

			(void)snprintf(name, sizeof(name), "%d", i);
			attempt.time_ns = i;
			violation = hf_violations_note_attempt(&list, &attempt);
			cr_assert(violation && violation->time_ns == i);
			cr_assert_str_eq(violation->path, name);
		}
	cr_expect_eq(list.count, COUNT);
}
