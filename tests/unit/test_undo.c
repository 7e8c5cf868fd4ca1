/* SPDX-License-Identifier: MIT */
/* What a restore replaced comes back, and nothing is lost on the way. */
#include "core/restore.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/check.h"
#include "support/workbench.h"

static struct hf_bench bench;

static void setup(void)
{
	hf_bench_begin(&bench, "**", false);
	hf_put_file(bench.root_fd, "a.toml", "a = 1\n");
	hf_put_file(bench.root_fd, "b.toml", "b = 2\n");
	hf_put_file(bench.root_fd, "twin1", "twin\n");
	cr_assert_eq(linkat(bench.root_fd, "twin1", bench.root_fd, "twin2", 0),
		     0);
	hf_bench_record(&bench);
}

static void teardown(void)
{
	hf_bench_done(&bench);
}

TestSuite(undo, .init = setup, .fini = teardown);

static void restore(void)
{
	struct hf_error err = {.text = ""};

	cr_assert_eq(hf_bench_restore(&bench, true, &err), 0, "%s", err.text);
}

static void undo(void)
{
	struct hf_error err = {.text = ""};

	cr_assert_eq(hf_bench_undo(&bench, &err), 0, "%s", err.text);
}

Test(undo, content_and_mode)
{
	struct stat st;

	hf_put_file(bench.root_fd, "a.toml", "damage\n");
	cr_assert_eq(fchmodat(bench.root_fd, "a.toml", 0640, 0), 0);
	restore();
	cr_expect(hf_file_has(bench.root_fd, "a.toml", "a = 1\n"));
	undo();
	cr_expect(hf_file_has(bench.root_fd, "a.toml", "damage\n"));
	cr_assert_eq(fstatat(bench.root_fd, "a.toml", &st, 0), 0);
	cr_expect_eq(st.st_mode & 07777, 0640);
	/* An undo can be undone. */
	undo();
	cr_expect_eq(hf_bench_differences(&bench, true), 0);
}

Test(undo, metadata_alone)
{
	struct stat st;

	cr_assert_eq(fchmodat(bench.root_fd, "a.toml", 0600, 0), 0);
	restore();
	undo();
	cr_assert_eq(fstatat(bench.root_fd, "a.toml", &st, 0), 0);
	cr_expect_eq(st.st_mode & 07777, 0600);
	cr_expect(hf_file_has(bench.root_fd, "a.toml", "a = 1\n"));
}

/* Only its metadata was set back; since then the content was changed, too.  The
 * snapshot has what it was. */
Test(undo, metadata_and_a_content_changed_since)
{
	struct stat st;

	cr_assert_eq(fchmodat(bench.root_fd, "a.toml", 0600, 0), 0);
	restore();
	hf_put_file(bench.root_fd, "a.toml", "since\n");
	undo();
	cr_assert_eq(fstatat(bench.root_fd, "a.toml", &st, 0), 0);
	cr_expect_eq(st.st_mode & 07777, 0600);
	cr_expect(hf_file_has(bench.root_fd, "a.toml", "a = 1\n"));
}

Test(undo, what_was_missing)
{
	cr_assert_eq(unlinkat(bench.root_fd, "a.toml", 0), 0);
	restore();
	undo();
	cr_expect_eq(faccessat(bench.root_fd, "a.toml", F_OK, 0), -1);
}

Test(undo, additions)
{
	cr_assert_eq(mkdirat(bench.root_fd, "new", 0750), 0);
	cr_assert_eq(mkdirat(bench.root_fd, "new/in", 0700), 0);
	hf_put_file(bench.root_fd, "new/in/x", "x\n");
	cr_assert_eq(symlinkat("x", bench.root_fd, "new/in/l"), 0);
	cr_assert_eq(mkfifoat(bench.root_fd, "new/p", 0640), 0);
	restore();
	cr_expect_eq(faccessat(bench.root_fd, "new", F_OK, 0), -1);
	undo();
	cr_expect(hf_file_has(bench.root_fd, "new/in/x", "x\n"));
	cr_expect(hf_file_has(bench.root_fd, "new/in/l", "x\n"));
	cr_expect_eq(faccessat(bench.root_fd, "new/p", F_OK, 0), 0);
}

Test(undo, a_directory_that_stood_in_the_way)
{
	cr_assert_eq(unlinkat(bench.root_fd, "a.toml", 0), 0);
	cr_assert_eq(mkdirat(bench.root_fd, "a.toml", 0755), 0);
	hf_put_file(bench.root_fd, "a.toml/x", "x\n");
	restore();
	undo();
	cr_expect(hf_file_has(bench.root_fd, "a.toml/x", "x\n"));
}

/* The addition shares the file that is written in place. */
Test(undo, addition_that_is_another_name)
{
	cr_assert_eq(renameat(bench.root_fd, "twin2", bench.root_fd, "extra"),
		     0);
	hf_put_file(bench.root_fd, "twin1", "damage\n");
	restore();
	cr_expect(hf_file_has(bench.root_fd, "twin2", "twin\n"));
	undo();
	cr_expect(hf_file_has(bench.root_fd, "twin1", "damage\n"));
	cr_expect(hf_file_has(bench.root_fd, "extra", "damage\n"));
	cr_expect_eq(faccessat(bench.root_fd, "twin2", F_OK, 0), -1);
}

Test(undo, changed_since)
{
	const struct hf_step *step;

	hf_put_file(bench.root_fd, "a.toml", "damage\n");
	restore();
	hf_put_file(bench.root_fd, "a.toml", "since\n");
	undo();
	cr_expect(hf_file_has(bench.root_fd, "a.toml", "damage\n"));
	step = hf_bench_step(&bench, "a.toml");
	cr_assert(step);
	cr_expect(hf_bench_kept_has(&bench, step->kept, "since\n"));
}

Test(undo, a_kept_copy_that_was_damaged)
{
	char path[256];
	struct hf_error err;
	const struct hf_step *step;

	hf_put_file(bench.root_fd, "a.toml", "damage\n");
	hf_put_file(bench.root_fd, "b.toml", "more\n");
	restore();
	step = hf_bench_step(&bench, "a.toml");
	cr_assert(step && step->kept);
	(void)snprintf(path, sizeof(path), "%s", step->kept);
	hf_put_file(bench.at.store.dir_fd, path, "dAmage\n");
	cr_expect_eq(hf_bench_undo(&bench, &err), HF_ERR_CORRUPT);
	cr_expect_str_eq(err.text,
			 "cannot restore 'a.toml': the kept copy is not what "
			 "was recorded");
	cr_expect(hf_file_has(bench.root_fd, "a.toml", "a = 1\n"));
	cr_expect(hf_file_has(bench.root_fd, "b.toml", "more\n"));
}

Test(undo, nothing_to_undo)
{
	restore();
	undo();
	cr_expect_eq(bench.plan.count, 0);
}
