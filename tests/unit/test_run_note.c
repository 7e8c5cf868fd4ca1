/* SPDX-License-Identifier: MIT */
/* What one process noted of a run is what the other finds in the journal. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/fail.h"
#include "guard/run.h"
#include "support/stored.h"

static struct hf_stored s;
static struct hf_project project;
static const struct hf_session_options options;
static struct hf_run noted;
static struct hf_run adopted;

static void setup(void)
{
	const struct hf_journal_open_record record = {
		.kind = "run",
		.snapshot = "",
	};
	struct hf_error err;

	hf_stored_make(&s, "*.toml");
	/* Borrowed. */
	project = (struct hf_project){ .store = s.store };
	noted = (struct hf_run){
		.project = &project,
		.options = &options,
		.journal = HF_JOURNAL_INIT,
	};
	adopted = noted;
	cr_assert_eq(hf_journal_begin(&noted.journal, &s.store, &record, &err),
		     0, "%s", err.text);
	adopted.journal.name = noted.journal.name;
}

static void teardown(void)
{
	hf_journal_close(&noted.journal);
	hf_violations_done(&noted.session.violations);
	hf_violations_done(&adopted.session.violations);
	hf_stored_remove(&s);
}

TestSuite(run_note, .init = setup, .fini = teardown);

static void adopt(size_t count)
{
	const struct hf_violations *const from = &noted.session.violations;
	const struct hf_violations *const to = &adopted.session.violations;

	hf_run_adopt(&adopted);
	cr_assert_eq(from->count, count);
	cr_assert_eq(to->count, count, "%zu", to->count);
	for (size_t i = 0; i < count; i++) {
		const struct hf_violation *const a = from->items[i];
		const struct hf_violation *const b = to->items[i];

		cr_expect_str_eq(b->path, a->path);
		cr_expect_str_eq(b->operation, a->operation);
		cr_expect_eq(b->is_outside, a->is_outside, "%zu", i);
		cr_expect_eq(b->has_landed, a->has_landed, "%zu", i);
		cr_expect_eq(b->change, a->change, "%zu", i);
		cr_expect_eq(b->count, a->count, "%zu", i);
	}
}

/* It is written again when it is known what came of it. */
static void note_change(struct hf_violation *violation, unsigned change)
{
	cr_assert_not_null(violation);
	violation->change |= change;
	hf_run_journal(&noted, violation);
}

Test(run_note, a_persons_edit_is_one)
{
	note_change(hf_run_note_outside(&noted, "a.toml", "*.toml", "write",
					NULL),
		    HF_CHANGE_CONTENT);
	adopt(1);
}

/* The command's is put back, whoever else was there. */
Test(run_note, a_persons_edit_beside_the_commands)
{
	note_change(hf_run_note(&noted, "a.toml", "*.toml", "write", NULL),
		    HF_CHANGE_CONTENT);
	note_change(hf_run_note_outside(&noted, "a.toml", "*.toml", "write",
					NULL),
		    HF_CHANGE_CONTENT);
	note_change(hf_run_note(&noted, "b.toml", "*.toml", "remove", NULL),
		    HF_CHANGE_MISSING);
	adopt(3);
}

Test(run_note, refused_and_landed)
{
	const struct hf_attempt attempt = {
		.path = "a.toml",
		.rule = "*.toml",
		.operation = "write",
		.detail = "",
	};

	cr_assert_not_null(hf_run_note_attempt(&noted, &attempt, 1));
	cr_assert_not_null(hf_run_note_attempt(&noted, &attempt, 3));
	note_change(hf_run_note(&noted, "a.toml", "*.toml", "write", NULL),
		    HF_CHANGE_CONTENT);
	adopt(2);
}
