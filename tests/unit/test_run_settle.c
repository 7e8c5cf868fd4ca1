/* SPDX-License-Identifier: MIT */
/* The look that puts back: what it makes of those who were seen before. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "guard/run.h"
#include "support/check.h"
#include "support/stored.h"

static struct hf_stored s;
static struct hf_project project;
static const struct hf_session_options options;
static struct hf_run run;

static void setup(void)
{
	const struct hf_journal_open_record record = {
		.kind = "run",
		.snapshot = "",
	};
	struct hf_snapshot_result result;
	struct hf_error err;

	hf_stored_make(&s, "*.toml");
	hf_put_file(s.root_fd, "a.toml", "by hand");
	/* Borrowed. */
	project = (struct hf_project){
		.root = s.root,
		.root_fd = s.root_fd,
		.policy = s.policy,
		.store = s.store,
	};
	run = (struct hf_run){
		.project = &project,
		.options = &options,
		.scan = s.scan,
		.journal = HF_JOURNAL_INIT,
	};
	hf_stored_take(&s, &run.session.snapshot, &result);
	cr_assert_eq(hf_journal_begin(&run.journal, &s.store, &record, &err), 0,
		     "%s", err.text);
}

static void teardown(void)
{
	hf_journal_close(&run.journal);
	hf_violations_done(&run.session.violations);
	hf_manifest_done(&run.session.snapshot);
	hf_arena_done(&run.arena);
	hf_free_pointee(&run.put_back);
	hf_stored_remove(&s);
}

TestSuite(run_settle, .init = setup, .fini = teardown);

static void expect_put_back(size_t count)
{
	const struct hf_violations *const violations = &run.session.violations;

	cr_expect(hf_file_has(s.root_fd, "a.toml", "by hand"));
	cr_assert_eq(violations->count, count);
	for (size_t i = 0; i < count; i++) {
		cr_expect_not(violations->items[i]->is_outside, "%zu", i);
		cr_expect(violations->items[i]->is_restored, "%zu", i);
	}
}

Test(run_settle, the_commands_is_put_back)
{
	cr_assert_not_null(
		hf_run_note(&run, "a.toml", "*.toml", "write", NULL));
	hf_put_file(s.root_fd, "a.toml", "damage");
	hf_run_restore_now(&run);
	expect_put_back(1);
}

Test(run_settle, a_persons_stays)
{
	cr_assert_not_null(
		hf_run_note_outside(&run, "a.toml", "*.toml", "write", NULL));
	hf_put_file(s.root_fd, "a.toml", "mine");
	hf_run_restore_now(&run);
	cr_expect(hf_file_has(s.root_fd, "a.toml", "mine"));
	cr_expect(run.session.violations.items[0]->is_outside);
	cr_expect_not(run.session.violations.items[0]->is_restored);
}

/* Nobody can tell the two apart: it is put back, and nothing is said to be
 * left. */
Test(run_settle, a_persons_after_the_commands)
{
	cr_assert_not_null(
		hf_run_note(&run, "a.toml", "*.toml", "write", NULL));
	cr_assert_not_null(
		hf_run_note_outside(&run, "a.toml", "*.toml", "write", NULL));
	hf_put_file(s.root_fd, "a.toml", "damage");
	hf_run_restore_now(&run);
	expect_put_back(2);
}

Test(run_settle, a_persons_before_the_commands)
{
	cr_assert_not_null(
		hf_run_note_outside(&run, "a.toml", "*.toml", "write", NULL));
	cr_assert_not_null(
		hf_run_note(&run, "a.toml", "*.toml", "write", NULL));
	hf_put_file(s.root_fd, "a.toml", "damage");
	hf_run_restore_now(&run);
	expect_put_back(2);
}
