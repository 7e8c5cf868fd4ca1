/* SPDX-License-Identifier: MIT */
/* What a crash before the first record leaves is no session. */
#include "core/journal.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/buffer.h"
#include "core/journal_text.h"
#include "guard/repair.h"
#include "support/check.h"
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

TestSuite(journal_blank, .init = setup, .fini = teardown);

static void put_journal(const char *name, const char *data, size_t len)
{
	const int folder_fd = s.store.folder_fd[HF_STORE_SESSIONS];
	cleanup_fd int fd = -1;

	(void)!hf_file_unlink_at(folder_fd, name);
	fd = hf_file_create_at(folder_fd, name, 0600);
	cr_assert(fd >= 0);
	cr_assert_eq(hf_file_write(fd, data, len), 0);
}

static size_t count_listed(void)
{
	cleanup_names struct hf_names names = HF_NAMES_INIT;
	struct hf_error err;

	cr_assert_eq(hf_journal_list(&s.store, &names, &err), 0);
	return names.count;
}

static size_t count_dead(void)
{
	cleanup_names struct hf_names living = HF_NAMES_INIT;
	cleanup_names struct hf_names dead = HF_NAMES_INIT;
	struct hf_error err;

	cr_assert_eq(hf_journal_find_open(&s.store, &living, &dead, &err), 0);
	cr_expect_eq(living.count, 0);
	return dead.count;
}

Test(journal_blank, a_session_that_never_started_is_none)
{
	static const char zeroes[4096];
	cleanup_buffer struct hf_buffer line = HF_BUFFER_INIT;
	struct hf_name next;
	struct hf_error err;

	hf_journal_line("open", "\"version\":1", &line);
	struct {
		const char *name;
		const char *data;
		size_t len;
		size_t sessions;
	} const cases[] = {
		{"empty", "", 0, 0},
		{"zeroes", zeroes, sizeof(zeroes), 0},
		{"cut", line.data, line.len - 1, 0},
		{"cut at once", "{", 1, 0},
		{"whole", line.data, line.len, 1},
		{"damaged", "{\"record\":\"open\"}\n", 18, 1},
	};

	for (size_t i = 0; i < HF_COUNT(cases); i++) {
		put_journal("000009-20260101T000000Z.open", cases[i].data,
			    cases[i].len);
		cr_expect_eq(count_listed(), cases[i].sessions, "%s",
			     cases[i].name);
		cr_expect_eq(count_dead(), cases[i].sessions, "%s",
			     cases[i].name);
	}
	/* Its number stays taken. */
	put_journal("000009-20260101T000000Z.open", "", 0);
	cr_assert_eq(hf_store_next_name(&s.store, HF_STORE_SESSIONS, &next,
					&err),
		     0);
	cr_expect_eq(hf_name_number(&next), 10);
}

/* A command truncated it, and holdfast went on appending. */
Test(journal_blank, records_behind_zeroes_are_damage)
{
	static const struct {
		const char *name;
		const char *before;
		size_t before_len;
		bool has_record;
	} cases[] = {
		{"zeroes and a record", "\0\0\0", 3, true},
		{"a zeroed line and a record", "\0\0\0\n", 4, true},
		{"the end of a record", "\0\0\0}\n", 5, false},
		{"a cut record", "\0\0\0{\"rec", 8, false},
		{"zeroes behind a cut record", "{\"rec\0\0\0", 8, false},
	};

	for (size_t i = 0; i < HF_COUNT(cases); i++) {
		cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;

		hf_buffer_add(&text, cases[i].before, cases[i].before_len);
		if (cases[i].has_record)
			hf_journal_line("kept", "\"kept\":\"a\"", &text);
		put_journal("000009-20260101T000000Z.open", text.data,
			    text.len);
		cr_expect_eq(count_listed(), 1, "%s", cases[i].name);
		cr_expect_eq(count_dead(), 1, "%s", cases[i].name);
	}
}

Test(journal_blank, undo_passes_over_what_is_damaged)
{
	cleanup_session_record struct hf_session_record record =
		HF_SESSION_RECORD_INIT;
	cleanup_buffer struct hf_buffer notes = HF_BUFFER_INIT;
	struct hf_error err;

	put_journal("000001-20260101T000000Z.done", "{}\n{}\n", 6);
	put_journal("000002-20260101T000000Z.open", "", 0);
	cr_expect_eq(hf_repair_find_undo(&s.store, NULL, &record, &notes, &err),
		     HF_ERR_USAGE);
	cr_assert(notes.data);
	cr_expect(strstr(notes.data, "session 000001-20260101T000000Z"), "%s",
		  notes.data);
	cr_expect_null(strstr(notes.data, "000002"));
	cr_expect_eq(hf_repair_find_undo(&s.store, NULL, &record, NULL, &err),
		     HF_ERR_USAGE);
}
