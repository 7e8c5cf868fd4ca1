/* SPDX-License-Identifier: MIT */
/* Until when did a session live, and what was accepted after its death? */
#include <criterion/criterion.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "core/journal_text.h"
#include "support/stored.h"

static struct hf_stored s;

static void setup(void)
{
	hf_stored_make(&s, "*.toml");
}

static void teardown(void)
{
	hf_stored_remove(&s);
}

TestSuite(journal_alive, .init = setup, .fini = teardown);

static void begin(struct hf_journal *journal)
{
	const struct hf_journal_open_record record = {
		.kind = "run",
		.snapshot = "",
	};
	struct hf_error err;

	*journal = (struct hf_journal)HF_JOURNAL_INIT;
	cr_assert(hf_journal_begin(journal, &s.store, &record, &err) == 0, "%s",
		  err.text);
}

static int64_t mtime_of(const struct hf_name *name)
{
	char file_name[HF_JOURNAL_FILE_NAME];
	struct hf_stat stat;

	hf_journal_file_name(name, HF_JOURNAL_OPEN, file_name);
	cr_assert_eq(hf_file_stat_at(s.store.folder_fd[HF_STORE_SESSIONS],
				     file_name, &stat),
		     0);
	return stat.mtime_ns;
}

static void set_mtime(const struct hf_name *name, time_t seconds)
{
	const struct timespec times[2] = {{.tv_sec = seconds},
					  {.tv_sec = seconds}};
	char file_name[HF_JOURNAL_FILE_NAME];

	hf_journal_file_name(name, HF_JOURNAL_OPEN, file_name);
	cr_assert_eq(utimensat(s.store.folder_fd[HF_STORE_SESSIONS], file_name,
			       times, 0),
		     0);
}

Test(journal_alive, a_beat_says_that_it_lives)
{
	struct hf_journal journal;

	begin(&journal);
	set_mtime(&journal.name, 1000);
	hf_journal_beat(&journal);
	cr_expect_gt(mtime_of(&journal.name), INT64_C(1000) * 1000000000);
	hf_journal_close(&journal);
	hf_journal_beat(&journal);
}

/* What a person keeps is remembered, and is no sign of life. */
Test(journal_alive, accepted_after_its_death)
{
	const struct hf_entry kept = {
		.path = "a\xff", .rule = "*", .xattrs = ""};
	struct hf_error err;
	struct hf_journal journal;
	struct hf_name name;

	begin(&journal);
	name = journal.name;
	hf_journal_close(&journal);
	set_mtime(&name, 1000);
	for (size_t i = 1; i <= 2; i++) {
		cleanup_session_record struct hf_session_record read =
			HF_SESSION_RECORD_INIT;

		cr_assert_eq(hf_journal_accept(&s.store, &name, &kept, &err), 0,
			     "%s", err.text);
		cr_assert_eq(hf_journal_read(&s.store, &name, &read, &err), 0,
			     "%s", err.text);
		cr_expect_eq(read.accepted_count, i);
		cr_expect_str_eq(read.accepted[i - 1]->path, "a\xff");
		cr_expect_eq(read.alive_ns, INT64_C(1000) * 1000000000);
		cr_expect_not(read.has_ended);
	}
}
