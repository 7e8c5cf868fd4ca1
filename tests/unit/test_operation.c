/* SPDX-License-Identifier: MIT */
/* The table of operations: what it says of itself, and what counts as damage.
 */
#include "platform/operation.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/tmpdir.h"

static char *top;
static int top_fd;
static const struct hf_operation *write_it;

static void setup(void)
{
	top = hf_tmpdir_make();
	top_fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	write_it = hf_operation_find("openat.write");
	cr_assert(top_fd >= 0 && write_it != NULL);
	cr_assert_eq(hf_stage_build(write_it, top_fd), 0);
}

static void teardown(void)
{
	(void)close(top_fd);
	hf_tmpdir_remove(top);
}

TestSuite(operation, .init = setup, .fini = teardown, .timeout = 60);

Test(operation, every_name_is_its_calls_and_its_own)
{
	const struct hf_operation *one;
	size_t count = 0;

	for (size_t i = 0; (one = hf_operation_at(i)) != NULL; i++) {
		const size_t len = strlen(one->call);

		cr_expect_eq(strncmp(one->name, one->call, len), 0, "%s",
			     one->name);
		cr_expect(one->name[len] == '\0' || one->name[len] == '.', "%s",
			  one->name);
		cr_expect_eq(hf_operation_find(one->name), one, "%s",
			     one->name);
		count++;
	}
	cr_expect_gt(count, 100);
	cr_expect_null(hf_operation_find("none"));
}

Test(operation, a_stage_is_made_once)
{
	cr_expect_eq(hf_stage_build(write_it, top_fd), -EEXIST);
}

static void spoil_content(void)
{
	const int fd = openat(top_fd, "near/kept.toml", O_WRONLY);

	cr_assert(fd >= 0 && write(fd, "!", 1) == 1);
	(void)close(fd);
}

static void spoil_mode(void)
{
	cr_assert_eq(fchmodat(top_fd, "kept.d", 0700, 0), 0);
}

static void spoil_times(void)
{
	const struct timespec times[2] = {{1, 0}, {1, 0}};

	cr_assert_eq(utimensat(top_fd, "kept.toml", times, 0), 0);
}

static void spoil_presence(void)
{
	cr_assert_eq(unlinkat(top_fd, "kept.toml", 0), 0);
}

static void spoil_absence(void)
{
	cr_assert_eq(mkfifoat(top_fd, "absent.toml", 0600), 0);
}

Test(operation, damage_is_seen)
{
	static void (*const ways[])(void) = {
		spoil_content, spoil_mode,     spoil_times,
		spoil_absence, spoil_presence,
	};
	struct hf_stage_state before;
	struct hf_stage_state after;

	for (size_t i = 0; i < HF_COUNT(ways); i++) {
		cr_assert_eq(hf_stage_look(top_fd, &before), 0);
		cr_assert_eq(hf_stage_look(top_fd, &after), 0);
		cr_expect(hf_stage_is_same(&before, &after), "%zu", i);
		ways[i]();
		cr_assert_eq(hf_stage_look(top_fd, &after), 0);
		cr_expect(!hf_stage_is_same(&before, &after), "%zu", i);
	}
}

Test(operation, what_is_not_protected_does_not_count)
{
	struct hf_stage_state before;
	struct hf_stage_state after;

	cr_assert_eq(hf_stage_look(top_fd, &before), 0);
	cr_assert_eq(unlinkat(top_fd, "other.txt", 0), 0);
	cr_assert_eq(unlinkat(top_fd, "hard", 0), 0);
	cr_assert_eq(hf_stage_look(top_fd, &after), 0);
	cr_expect(hf_stage_is_same(&before, &after));
}

static long fail_with_enospc(const struct hf_stage *stage)
{
	(void)stage;
	return -ENOSPC;
}

static long be_killed(const struct hf_stage *stage)
{
	(void)stage;
	abort();
}

Test(operation, what_became_of_it)
{
	struct hf_operation mine = {.perform = fail_with_enospc};
	struct hf_operation_outcome outcome;

	cr_assert_eq(hf_operation_perform(write_it, top_fd, top, &outcome), 0);
	cr_expect_eq(outcome.error, 0);
	cr_expect_gt(outcome.pid, 0);
	cr_assert_eq(hf_operation_perform(&mine, top_fd, top, &outcome), 0);
	cr_expect_eq(outcome.error, ENOSPC);
	mine.perform = be_killed;
	cr_expect_eq(hf_operation_perform(&mine, top_fd, top, &outcome),
		     -ECHILD);
}
