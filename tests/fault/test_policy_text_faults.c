/* SPDX-License-Identifier: MIT */
/* Writing a new policy while calls fail: all of it is there, or nothing. */
#include <criterion/criterion.h>

#include "base/fail.h"
#include "core/policy_text.h"
#include "core/replace.h"
#include "platform/file.h"
#include "support/check.h"
#include "support/fault.h"
#include "support/faults.h"
#include "support/stored.h"
#include "support/tmpdir.h"

static char *dir;
static int dir_fd = -1;

static void setup(void)
{
	dir = hf_tmpdir_make();
	dir_fd = hf_file_open_directory(dir);
	cr_assert(dir_fd >= 0);
}

static void teardown(void)
{
	hf_file_close_quietly(&dir_fd);
	hf_tmpdir_remove(dir);
}

TestSuite(policy_text_faults, .init = setup, .fini = teardown);

static int create(void *context, struct hf_error *err)
{
	(void)context;
	return hf_policy_create(dir_fd, "{}\n", 3, err);
}

static void check(void *context, int rc)
{
	const bool is_there = hf_file_has(dir_fd, "holdfast.json", "{}\n");

	(void)context;
	cr_expect(rc < 0 || is_there);
	/* Only when removing fails as well may a temporary name stay. */
	cr_expect(hf_count_names(dir_fd, "") == (is_there ? 1 : 0) ||
			  fault_is_persistent(),
		  "%s", fault_call());
}

static void remove_all(void *context)
{
	cleanup_directory struct hf_directory *directory = NULL;
	const char *name;
	enum hf_kind kind;

	(void)context;
	cr_assert_eq(hf_directory_open(dir_fd, &directory), 0);
	while (hf_directory_next(directory, &name, &kind) == 1)
		cr_assert_eq(hf_file_unlink_at(dir_fd, name), 0);
}

Test(policy_text_faults, any_failure_leaves_all_or_nothing)
{
	const struct fault_case fault_case = {
		.prepare = remove_all,
		.run = create,
		.check = check,
	};

	/* getrandom, openat, fchmod, write, fsync, close, renameat2, fsync */
	fault_loop(&fault_case, 8);
}
