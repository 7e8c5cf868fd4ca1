/* SPDX-License-Identifier: MIT */
/* Another program is asked: its answer, its end, what it is given. */
#include "platform/program.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

TestSuite(program, .timeout = 60);

static int ask(const char *script, const char *input, size_t max, bool is_apart,
	       struct hf_buffer *answer)
{
	const char *const argv[] = {"sh", "-c", script, NULL};
	static const char *const variables[] = {"HF_A=new", NULL};
	const struct hf_program program = {
		.argv = argv,
		.variables = variables,
		.is_apart_from_git = is_apart,
		.input = input,
		.input_len = input ? strlen(input) : 0,
		.max = max,
	};

	return hf_program_ask(&program, answer);
}

Test(program, answers)
{
	static const struct {
		const char *name;
		const char *script;
		const char *input;
		size_t max;
		int status;
		const char *answer;
	} rows[] = {
		{"nothing", "true", NULL, 10, 0, ""},
		{"a status", "echo a; exit 7", NULL, 10, 7, "a\n"},
		{"a signal", "kill -9 $$", NULL, 10, 137, ""},
		{"its input", "cat", "a question\n", 100, 0, "a question\n"},
		{"no input", "cat", NULL, 100, 0, ""},
		{"does not read", "echo a", "a question\n", 100, 0, "a\n"},
		{"too much", "echo 0123456789", NULL, 10, -EFBIG, NULL},
		{"without an end", "yes", NULL, 1000, -EFBIG, NULL},
		{"messages", "echo a >&2", NULL, 100, 0, ""},
		{"a variable", "echo $HF_A", NULL, 100, 0, "new\n"},
	};

	(void)setenv("HF_A", "old", 1);
	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		cleanup_buffer struct hf_buffer answer = HF_BUFFER_INIT;
		const int status = ask(rows[i].script, rows[i].input,
				       rows[i].max, false, &answer);

		cr_expect_eq(status, rows[i].status, "%s: %d", rows[i].name,
			     status);
		if (rows[i].answer)
			cr_expect_str_eq(answer.data ? answer.data : "",
					 rows[i].answer, "%s", rows[i].name);
	}
}

Test(program, is_not_there)
{
	static const char *const argv[] = {"/nonexistent/program", NULL};
	const struct hf_program program = {.argv = argv, .max = 10};
	cleanup_buffer struct hf_buffer answer = HF_BUFFER_INIT;

	cr_expect_eq(hf_program_ask(&program, &answer), -ENOENT);
}

/* The more of input and answer than a pipe holds. */
Test(program, long_ones)
{
	enum { LEN = 4 << 20 };
	char *const text = malloc(LEN + 1);
	cleanup_buffer struct hf_buffer answer = HF_BUFFER_INIT;

	cr_assert(text);
	memset(text, 'x', LEN);
	text[LEN] = '\0';
	cr_expect_eq(ask("cat", text, LEN, false, &answer), 0);
	cr_expect(answer.len == LEN && memcmp(answer.data, text, LEN) == 0);
	free(text);
}

static void set_variables(void)
{
	(void)setenv("GIT_DIR", "x", 1);
	(void)setenv("GIT_INDEX_FILE", "x", 1);
	(void)setenv("GIT_AUTHOR_DATE", "x", 1);
	(void)setenv("GIT_CONFIG_COUNT", "0", 1);
	(void)setenv("GIT_CONFIG_GLOBAL", "mine", 1);
	(void)setenv("GIT_SSH_COMMAND", "mine", 1);
	(void)setenv("GITHUB_TOKEN", "mine", 1);
}

static const char show[] = "echo $GIT_DIR$GIT_INDEX_FILE$GIT_AUTHOR_DATE"
			   "$GIT_CONFIG_COUNT$GIT_CONFIG_GLOBAL"
			   "$GIT_SSH_COMMAND$GITHUB_TOKEN";

Test(program, apart_from_git)
{
	cleanup_buffer struct hf_buffer all = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer some = HF_BUFFER_INIT;

	set_variables();
	cr_assert_eq(ask(show, NULL, 100, false, &all), 0);
	cr_expect_str_eq(all.data, "xxx0mineminemine\n");
	cr_assert_eq(ask(show, NULL, 100, true, &some), 0);
	cr_expect_str_eq(some.data, "mineminemine\n");
}

Test(program, forgets_git_where_git_started_it)
{
	cleanup_buffer struct hf_buffer before = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer after = HF_BUFFER_INIT;

	set_variables();
	/* A person has set them. */
	(void)unsetenv("GIT_PREFIX");
	hf_program_forget_git();
	cr_assert_eq(ask(show, NULL, 100, false, &before), 0);
	cr_expect_str_eq(before.data, "xxx0mineminemine\n");
	(void)setenv("GIT_PREFIX", "", 1);
	hf_program_forget_git();
	cr_assert_eq(ask(show, NULL, 100, false, &after), 0);
	cr_expect_str_eq(after.data, "mineminemine\n");
}

Test(program, knows_itself)
{
	char *path = NULL;

	cr_assert_eq(hf_program_self(&path), 0);
	cr_expect(strstr(path, "/test_program"), "%s", path);
	free(path);
}
