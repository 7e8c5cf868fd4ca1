/* SPDX-License-Identifier: MIT */
/* Replacing a file while calls fail, and dying at every one of them. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/fail.h"
#include "core/replace.h"
#include "core/store.h"
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

TestSuite(replace_faults, .init = setup, .fini = teardown);

static int replace(void *context, struct hf_error *err)
{
	(void)context;
	return hf_replace_write(dir_fd, "a", 0644, "new", 3, err);
}

static void prepare(void *context)
{
	(void)context;
	hf_put_file(dir_fd, "a", "old");
}

/* What the next command's sweep would remove; how many there were. */
static size_t sweep(void)
{
	cleanup_directory struct hf_directory *directory = NULL;
	const char *name;
	enum hf_kind kind;
	size_t count = 0;

	cr_assert_eq(hf_directory_open(dir_fd, &directory), 0);
	while (hf_directory_next(directory, &name, &kind) == 1) {
		if (!hf_replace_is_temporary(name))
			continue;
		cr_assert_eq(hf_file_unlink_at(dir_fd, name), 0);
		count++;
	}
	return count;
}

static void check(void *context, int rc)
{
	const bool is_new = hf_file_has(dir_fd, "a", "new");
	const size_t left = sweep();

	(void)context;
	cr_expect(is_new || hf_file_has(dir_fd, "a", "old"));
	cr_expect(rc < 0 || is_new);
	/* Only when removing fails as well may a temporary name stay. */
	cr_expect(left == 0 || fault_is_persistent(), "%s", fault_call());
	cr_expect_eq(hf_count_names(dir_fd, ""), 1);
}

Test(replace_faults, any_failure_leaves_old_or_new)
{
	const struct fault_case fault_case = {
		.prepare = prepare,
		.run = replace,
		.check = check,
	};

	/* getrandom, openat, fchmod, write, fsync, close, renameat, fsync */
	fault_loop(&fault_case, 8);
}

static void crash_body(void *context)
{
	struct hf_error err;

	if (replace(context, &err) < 0)
		abort();
}

Test(replace_faults, dying_anywhere_leaves_old_or_new)
{
	bool has_crashed = true;
	unsigned n = 1;
	unsigned points = 0;

	for (; has_crashed; n++) {
		prepare(NULL);
		has_crashed = fault_crash(n, crash_body, NULL);
		points += has_crashed;
		cr_expect(hf_file_has(dir_fd, "a", "new") ||
				  hf_file_has(dir_fd, "a", "old"),
			  "n=%u", n);
		cr_expect(has_crashed || hf_file_has(dir_fd, "a", "new"));
		(void)sweep();
		cr_expect_eq(hf_count_names(dir_fd, ""), 1);
	}
	fault_expect_all_tried(n - 1);
	cr_expect_eq(points, 8);
}
