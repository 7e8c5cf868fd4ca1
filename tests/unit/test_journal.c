/* SPDX-License-Identifier: MIT */
/* Journals: what a session writes is what the next command reads. */
#include "core/journal.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "core/journal_text.h"
#include "platform/system.h"
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

TestSuite(journal, .init = setup, .fini = teardown);

static const char *const command[] = {"pytest", "-k", "a \"b\"\n", NULL};

static const struct hf_journal_open_record record = {
	.kind = "run",
	.snapshot = "000007-20261130T030007Z",
	.argv = command,
	.pid = 4711,
	.pid_start = UINT64_MAX,
};

static void begin(struct hf_journal *journal)
{
	struct hf_error err;

	*journal = (struct hf_journal)HF_JOURNAL_INIT;
	cr_assert(hf_journal_begin(journal, &s.store, &record, &err) == 0, "%s",
		  err.text);
}

static void add_kept(struct hf_journal *journal)
{
	struct hf_entry replaced = {
		.path = "a\xff", .rule = "*", .xattrs = "user.x=YQ==\n"};
	const struct hf_entry put = {
		.path = "a\xff", .rule = "*", .xattrs = ""};
	struct hf_error err;

	replaced.stat.kind = HF_KIND_FILE;
	replaced.stat.size = 3;
	replaced.stat.mode = 0644;
	cr_assert(hf_journal_add_kept(journal, &replaced, "kept/x/a\xff", &put,
				      &err) == 0,
		  "%s", err.text);
}

/* The whole text of the only journal, open or done. */
static void read_text(const struct hf_name *name, const char *suffix,
		      struct hf_buffer *text)
{
	char file_name[HF_JOURNAL_FILE_NAME];
	cleanup_fd int fd = -1;

	hf_journal_file_name(name, suffix, file_name);
	fd = hf_file_open_read_at(s.store.folder_fd[HF_STORE_SESSIONS],
				  file_name);
	cr_assert(fd >= 0);
	cr_assert_eq(hf_file_read_all(fd, 1 << 20, text), 0);
}

static void write_text(const struct hf_name *name, const char *data, size_t len)
{
	const int folder_fd = s.store.folder_fd[HF_STORE_SESSIONS];
	char file_name[HF_JOURNAL_FILE_NAME];
	cleanup_fd int fd = -1;

	hf_journal_file_name(name, HF_JOURNAL_OPEN, file_name);
	(void)!hf_file_unlink_at(folder_fd, file_name);
	fd = hf_file_create_at(folder_fd, file_name, 0600);
	cr_assert(fd >= 0);
	cr_assert_eq(hf_file_write(fd, data, len), 0);
}

static size_t count_open(bool living)
{
	cleanup_names struct hf_names alive = HF_NAMES_INIT;
	cleanup_names struct hf_names dead = HF_NAMES_INIT;
	struct hf_error err;

	cr_assert(hf_journal_find_open(&s.store, &alive, &dead, &err) == 0,
		  "%s", err.text);
	return living ? alive.count : dead.count;
}

Test(journal, a_session_from_begin_to_end)
{
	cleanup_journal struct hf_journal journal = HF_JOURNAL_INIT;
	cleanup_session_record struct hf_session_record session =
		HF_SESSION_RECORD_INIT;
	char boot_id[37];
	struct hf_error err;

	begin(&journal);
	cr_assert_eq(hf_journal_sync(&journal, &err), 0);
	cr_assert_eq(hf_journal_add(&journal, "violation",
				    "\"path\":\"a.toml\",\"count\":1", &err),
		     0);
	add_kept(&journal);
	cr_assert_eq(hf_journal_add(&journal, "note", "\"text\":\"x\"", &err),
		     0);
	cr_assert_eq(
		hf_journal_add(&journal, "violation", "\"path\":\"b\"", &err),
		0);
	cr_assert_eq(hf_journal_end(&journal, HF_OUTCOME_VIOLATED, 97, 2, &err),
		     0);

	cr_assert(hf_journal_read(&s.store, &journal.name, &session, &err) == 0,
		  "%s", err.text);
	cr_expect_str_eq(session.name.text, journal.name.text);
	cr_expect_str_eq(session.kind, "run");
	cr_expect_str_eq(session.snapshot, record.snapshot);
	for (size_t i = 0; i < 3; i++)
		cr_expect_str_eq(session.argv[i], command[i]);
	cr_expect_null(session.argv[3]);
	cr_expect_eq(session.pid, 4711);
	cr_expect_eq(session.pid_start, UINT64_MAX);
	hf_system_boot_id(boot_id);
	cr_expect_str_eq(session.boot_id, boot_id);
	cr_expect_gt(session.begun_ns, INT64_C(1600000000) * 1000000000);
	cr_expect_leq(session.begun_ns, session.ended_ns);
	cr_expect_leq(session.begun_boot_ns, hf_system_boot_ns());
	cr_expect(session.has_ended);
	cr_expect_eq(session.outcome, HF_OUTCOME_VIOLATED);
	cr_expect_eq(session.status, 97);
	cr_expect_eq(session.violations, 2);
	cr_expect_str_eq(session.violation_lines,
			 "{\"path\":\"a.toml\",\"count\":1}\n"
			 "{\"path\":\"b\"}\n");
	cr_assert_eq(session.kept_count, 1);
	cr_expect_str_eq(session.kept[0].kept_path, "kept/x/a\xff");
	cr_expect_str_eq(session.kept[0].replaced->path, "a\xff");
	cr_expect_str_eq(session.kept[0].replaced->xattrs, "user.x=YQ==\n");
	cr_expect_eq(session.kept[0].replaced->stat.size, 3);
	cr_expect_eq(session.kept[0].put->stat.kind, HF_KIND_ABSENT);
}

Test(journal, open_while_it_lives_and_done_when_it_ended)
{
	cleanup_journal struct hf_journal journal = HF_JOURNAL_INIT;
	struct hf_error err;

	begin(&journal);
	cr_expect_eq(count_open(true), 1);
	cr_expect_eq(count_open(false), 0);
	cr_assert_eq(hf_journal_end(&journal, HF_OUTCOME_CLEAN, 0, 0, &err), 0);
	cr_expect_eq(count_open(true) + count_open(false), 0);
}

Test(journal, closed_without_an_end_it_is_dead)
{
	cleanup_journal struct hf_journal journal = HF_JOURNAL_INIT;

	begin(&journal);
	hf_journal_close(&journal);
	cr_expect_eq(count_open(true), 0);
	cr_expect_eq(count_open(false), 1);
}

Test(journal, a_forked_process_keeps_it_alive)
{
	cleanup_journal struct hf_journal journal = HF_JOURNAL_INIT;
	pid_t child;

	begin(&journal);
	child = fork();
	if (child == 0) {
		(void)pause();
		_exit(0);
	}
	hf_journal_close(&journal);
	cr_expect_eq(count_open(true), 1);
	cr_assert_eq(kill(child, SIGKILL), 0);
	cr_assert_eq(waitpid(child, NULL, 0), child);
	cr_expect_eq(count_open(false), 1);
}

/* Two commands that look at once must not take each other for the owner. */
Test(journal, lookers_do_not_disturb_each_other)
{
	cleanup_journal struct hf_journal journal = HF_JOURNAL_INIT;
	char file_name[HF_JOURNAL_FILE_NAME];
	cleanup_fd int fd = -1;

	begin(&journal);
	hf_journal_close(&journal);
	hf_journal_file_name(&journal.name, HF_JOURNAL_OPEN, file_name);
	fd = hf_file_open_read_at(s.store.folder_fd[HF_STORE_SESSIONS],
				  file_name);
	cr_assert(fd >= 0);
	cr_assert_eq(hf_lock_try(fd, HF_LOCK_SHARED), 0);
	cr_expect_eq(count_open(false), 1);
}

Test(journal, an_unrestored_session_stays_open)
{
	cleanup_journal struct hf_journal journal = HF_JOURNAL_INIT;
	cleanup_session_record struct hf_session_record session =
		HF_SESSION_RECORD_INIT;
	struct hf_error err;

	begin(&journal);
	cr_assert_eq(
		hf_journal_end(&journal, HF_OUTCOME_UNRESTORED, 98, 3, &err),
		0);
	hf_journal_close(&journal);
	cr_expect_eq(count_open(false), 1);

	cr_assert_eq(hf_journal_settle(&s.store, &journal.name, HF_OUTCOME_DONE,
				       &err),
		     0);
	cr_expect_eq(count_open(false), 0);
	cr_assert_eq(hf_journal_read(&s.store, &journal.name, &session, &err),
		     0);
	cr_expect_eq(session.outcome, HF_OUTCOME_DONE);
	cr_expect_eq(session.violations, 3);
}

/* Cut anywhere: refused only where its first record is gone. */
Test(journal, a_torn_last_line_is_ignored)
{
	cleanup_journal struct hf_journal journal = HF_JOURNAL_INIT;
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	size_t first;
	struct hf_error err;

	begin(&journal);
	add_kept(&journal);
	add_kept(&journal);
	read_text(&journal.name, HF_JOURNAL_OPEN, &text);
	first = strcspn(text.data, "\n") + 1;
	for (size_t len = 0; len <= text.len; len++) {
		cleanup_session_record struct hf_session_record session =
			HF_SESSION_RECORD_INIT;
		const int rc = hf_journal_decode("session", text.data, len,
						 &session, &err);

		if (len < first) {
			cr_expect_eq(rc, HF_ERR_CORRUPT, "cut at %zu", len);
			continue;
		}
		cr_assert_eq(rc, 0, "cut at %zu: %s", len, err.text);
		cr_expect_eq(session.kept_count,
			     len == text.len			     ? 2
			     : len >= first + (text.len - first) / 2 ? 1
								     : 0,
			     "cut at %zu", len);
	}
}

Test(journal, zeroes_after_a_power_cut_are_a_torn_line)
{
	cleanup_journal struct hf_journal journal = HF_JOURNAL_INIT;
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	cleanup_session_record struct hf_session_record session =
		HF_SESSION_RECORD_INIT;
	const char zeroes[300] = "";
	struct hf_error err;

	begin(&journal);
	read_text(&journal.name, HF_JOURNAL_OPEN, &text);
	hf_buffer_add(&text, zeroes, sizeof(zeroes));
	cr_expect(hf_journal_decode("x", text.data, text.len, &session, &err) ==
			  0,
		  "%s", err.text);
}

Test(journal, two_bad_lines_are_damage)
{
	cleanup_journal struct hf_journal journal = HF_JOURNAL_INIT;
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	cleanup_session_record struct hf_session_record session =
		HF_SESSION_RECORD_INIT;
	struct hf_error err;

	begin(&journal);
	read_text(&journal.name, HF_JOURNAL_OPEN, &text);
	hf_buffer_add_text(&text, "{\"record\":\"kept\"}\n{\"rec");
	cr_expect_eq(
		hf_journal_decode("x", text.data, text.len, &session, &err),
		HF_ERR_CORRUPT);
}

Test(journal, damage_before_the_last_line_is_refused)
{
	cleanup_journal struct hf_journal journal = HF_JOURNAL_INIT;
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	size_t last;
	struct hf_error err;

	begin(&journal);
	add_kept(&journal);
	add_kept(&journal);
	read_text(&journal.name, HF_JOURNAL_OPEN, &text);
	last = text.len - 1;
	while (text.data[last - 1] != '\n')
		last--;
	/* Without the newline before it, the last line is longer and torn. */
	for (size_t i = 0; i < last - 1; i++) {
		cleanup_session_record struct hf_session_record session =
			HF_SESSION_RECORD_INIT;

		text.data[i] = (char)(text.data[i] ^ 0x20);
		cr_expect_eq(hf_journal_decode("session 1", text.data, text.len,
					       &session, &err),
			     HF_ERR_CORRUPT, "byte %zu", i);
		cr_expect(strstr(err.text, "cannot read 'session 1': "));
		text.data[i] = (char)(text.data[i] ^ 0x20);
	}
}

Test(journal, settling_cuts_off_a_torn_line)
{
	cleanup_journal struct hf_journal journal = HF_JOURNAL_INIT;
	cleanup_buffer struct hf_buffer settled = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	struct hf_error err;

	begin(&journal);
	add_kept(&journal);
	read_text(&journal.name, HF_JOURNAL_OPEN, &text);
	hf_journal_close(&journal);
	for (size_t cut = 0; cut < text.len; cut += 7) {
		cleanup_session_record struct hf_session_record session =
			HF_SESSION_RECORD_INIT;
		int rc;

		write_text(&journal.name, text.data, text.len - cut);
		cr_assert(hf_journal_settle(&s.store, &journal.name,
					    HF_OUTCOME_CLEAN, &err) == 0,
			  "%s", err.text);
		rc = hf_journal_read(&s.store, &journal.name, &session, &err);
		hf_buffer_clear(&settled);
		read_text(&journal.name, HF_JOURNAL_DONE, &settled);
		cr_expect_eq(hf_journal_good_len(settled.data, settled.len),
			     settled.len, "cut %zu", cut);
		/* Of nothing but a torn first record nothing can be said. */
		if (rc < 0)
			cr_expect_eq(rc, HF_ERR_CORRUPT, "cut %zu", cut);
		else
			cr_expect(session.has_ended, "cut %zu", cut);
		cr_expect(rc == 0 || cut > text.len / 2, "cut %zu", cut);
	}
}

Test(journal, a_long_command_is_shortened)
{
	cleanup_journal struct hf_journal journal = HF_JOURNAL_INIT;
	cleanup_session_record struct hf_session_record session =
		HF_SESSION_RECORD_INIT;
	cleanup_free char *word = malloc(HF_JSON_LINE_MAX + 1);
	const char *argv[] = {"cat", NULL, NULL};
	struct hf_journal_open_record long_record = record;
	struct hf_error err;

	cr_assert(word);
	memset(word, 'a', HF_JSON_LINE_MAX);
	word[HF_JSON_LINE_MAX] = '\0';
	argv[1] = word;
	long_record.argv = argv;
	cr_assert_eq(hf_journal_begin(&journal, &s.store, &long_record, &err),
		     0);
	cr_assert_eq(hf_journal_read(&s.store, &journal.name, &session, &err),
		     0);
	cr_expect_str_eq(session.argv[0], "...");
}

Test(journal, sums_do_not_help_what_is_wrong_inside)
{
	static const struct {
		const char *kind;
		const char *members;
	} cases[] = {
		{"open", "\"version\":1"},
		{"kept", "\"kept\":\"a\""},
		{"kept", "\"kept\":1,\"replaced\":{},\"put\":{}"},
		{"kept", "\"kept\":\"a\",\"replaced\":{\"path\":\"../a\","
			 "\"kind\":\"absent\"},\"put\":{\"path\":\"a\","
			 "\"kind\":\"absent\"}"},
		{"end", "\"outcome\":\"done\""},
		{"end", "\"outcome\":\"happy\",\"status\":0,\"violations\":0,"
			"\"time\":\"1.000000000\""},
		{"end", "\"outcome\":\"done\",\"status\":99999999999,"
			"\"violations\":0,\"time\":\"1.000000000\""},
	};
	cleanup_journal struct hf_journal journal = HF_JOURNAL_INIT;
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	size_t first;

	begin(&journal);
	read_text(&journal.name, HF_JOURNAL_OPEN, &text);
	first = text.len;
	for (size_t i = 0; i < HF_COUNT(cases); i++) {
		cleanup_session_record struct hf_session_record session =
			HF_SESSION_RECORD_INIT;
		struct hf_error err;

		text.len = first;
		hf_journal_line(cases[i].kind, cases[i].members, &text);
		cr_expect_eq(hf_journal_decode("x", text.data, text.len,
					       &session, &err),
			     HF_ERR_CORRUPT, "%zu: %s", i, cases[i].members);
	}
}

Test(journal, nothing_before_the_first_record)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	cleanup_session_record struct hf_session_record session =
		HF_SESSION_RECORD_INIT;
	struct hf_error err;

	hf_journal_line("end",
			"\"outcome\":\"done\",\"status\":0,\"violations\":0,"
			"\"time\":\"1.000000000\"",
			&text);
	cr_expect_eq(
		hf_journal_decode("x", text.data, text.len, &session, &err),
		HF_ERR_CORRUPT);
}
