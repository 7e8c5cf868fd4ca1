/* SPDX-License-Identifier: MIT */
/* A session's journal while calls fail, and a session that dies anywhere. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "core/journal.h"
#include "core/journal_text.h"
#include "support/fault.h"
#include "support/faults.h"
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

TestSuite(journal_faults, .init = setup, .fini = teardown);

static int write_session(void *context, struct hf_error *err)
{
	static const char *const argv[] = {"true", NULL};
	const struct hf_journal_open_record record = {
		.kind = "run",
		.snapshot = "",
		.argv = argv,
		.pid = 1,
	};
	const struct hf_entry entry = {
		.path = "a",
		.rule = "",
		.xattrs = "",
		.stat = {.kind = HF_KIND_FIFO},
	};
	cleanup_journal struct hf_journal journal = HF_JOURNAL_INIT;
	int rc;

	(void)context;
	rc = hf_journal_begin(&journal, &s.store, &record, err);
	if (rc == 0)
		rc = hf_journal_sync(&journal, err);
	if (rc == 0)
		rc = hf_journal_add(&journal, "violation", "\"path\":\"a\"",
				    err);
	if (rc == 0)
		rc = hf_journal_add_kept(&journal, &entry, "", &entry, err);
	if (rc == 0)
		rc = hf_journal_end(&journal, HF_OUTCOME_VIOLATED, 97, 1, err);
	return rc;
}

static void remove_sessions(void *context)
{
	static const char *const suffixes[] = {HF_JOURNAL_OPEN,
					       HF_JOURNAL_DONE};

	(void)context;
	for (size_t i = 0; i < HF_COUNT(suffixes); i++) {
		cleanup_names struct hf_names names = HF_NAMES_INIT;
		struct hf_error err;

		cr_assert_eq(hf_store_list(&s.store, HF_STORE_SESSIONS,
					   suffixes[i], &names, &err),
			     0);
		for (size_t k = 0; k < names.count; k++) {
			char name[HF_JOURNAL_FILE_NAME];

			hf_journal_file_name(&names.items[k], suffixes[i],
					     name);
			cr_assert_eq(
				hf_file_unlink_at(
					s.store.folder_fd[HF_STORE_SESSIONS],
					name),
				0);
		}
	}
}

/*
 * As the next command finds it: nothing, a dead session that can be read and
 * settled, or an ended one.
 */
static void check(void *context, int rc)
{
	cleanup_names struct hf_names living = HF_NAMES_INIT;
	cleanup_names struct hf_names dead = HF_NAMES_INIT;
	cleanup_names struct hf_names done = HF_NAMES_INIT;
	struct hf_error err;

	(void)context;
	cr_assert_eq(hf_store_sweep(&s.store, &err), 0);
	cr_assert_eq(hf_journal_find_open(&s.store, &living, &dead, &err), 0);
	cr_expect_eq(living.count, 0, "%s", fault_call());
	cr_expect_leq(dead.count, 1);
	for (size_t i = 0; i < dead.count; i++) {
		cleanup_session_record struct hf_session_record session =
			HF_SESSION_RECORD_INIT;

		cr_assert(hf_journal_read(&s.store, &dead.items[i], &session,
					  &err) == 0,
			  "%s: %s", fault_call(), err.text);
		cr_expect_str_eq(session.kind, "run");
		cr_assert(hf_journal_settle(&s.store, &dead.items[i],
					    HF_OUTCOME_ERROR, &err) == 0,
			  "%s", err.text);
	}
	cr_assert_eq(hf_store_list(&s.store, HF_STORE_SESSIONS, ".done", &done,
				   &err),
		     0);
	cr_expect(rc < 0 || done.count == 1);
	for (size_t i = 0; i < done.count; i++) {
		cleanup_session_record struct hf_session_record session =
			HF_SESSION_RECORD_INIT;

		cr_assert_eq(hf_journal_read(&s.store, &done.items[i], &session,
					     &err),
			     0);
		cr_expect(session.has_ended);
		cr_expect(rc < 0 || session.kept_count == 1);
	}
	cr_expect_eq(hf_count_names(s.store.folder_fd[HF_STORE_SESSIONS], ""),
		     done.count);
}

/* Without the name of this boot a session is merely judged more strictly. */
static bool is_boot_id(const char *call)
{
	return strcmp(call, "open") == 0 || strcmp(call, "read") == 0;
}

Test(journal_faults, any_failure_leaves_a_session_that_can_be_settled)
{
	const struct fault_case fault_case = {
		.prepare = remove_sessions,
		.run = write_session,
		.check = check,
		.may_ignore = is_boot_id,
	};

	fault_loop(&fault_case, 25);
}

static void session_body(void *context)
{
	struct hf_error err;

	if (write_session(context, &err) < 0)
		abort();
}

Test(journal_faults, dying_anywhere_leaves_a_session_that_can_be_settled)
{
	bool has_crashed = true;
	unsigned n = 1;
	unsigned points = 0;

	for (; has_crashed; n++) {
		remove_sessions(NULL);
		has_crashed = fault_crash(n, session_body, NULL);
		points += has_crashed;
		check(NULL, has_crashed ? -1 : 0);
	}
	fault_expect_all_tried(n - 1);
	cr_expect_geq(points, 25);
}

/* -- what the next command does -------------------------------------------- */

static void leave_dead(void *context)
{
	const struct hf_journal_open_record record = {.kind = "run",
						      .snapshot = ""};
	cleanup_journal struct hf_journal journal = HF_JOURNAL_INIT;
	struct hf_error err;

	remove_sessions(context);
	cr_assert_eq(hf_journal_begin(&journal, &s.store, &record, &err), 0);
}

static int settle(void *context, struct hf_error *err)
{
	cleanup_names struct hf_names living = HF_NAMES_INIT;
	cleanup_names struct hf_names dead = HF_NAMES_INIT;
	cleanup_session_record struct hf_session_record session =
		HF_SESSION_RECORD_INIT;
	int rc;

	(void)context;
	rc = hf_journal_find_open(&s.store, &living, &dead, err);
	if (rc < 0)
		return rc;
	cr_assert_eq(dead.count, 1);
	rc = hf_journal_read(&s.store, &dead.items[0], &session, err);
	if (rc < 0)
		return rc;
	return hf_journal_settle(&s.store, &dead.items[0], HF_OUTCOME_CLEAN,
				 err);
}

static void check_settled(void *context, int rc)
{
	check(context, rc < 0 ? rc : -1);
}

Test(journal_faults, settling)
{
	const struct fault_case fault_case = {
		.prepare = leave_dead,
		.run = settle,
		.check = check_settled,
	};

	fault_loop(&fault_case, 25);
}

/* -- what a person decided ------------------------------------------------- */

#define LIVED_NS (INT64_C(1700000000) * 1000000000)

/* It lived until then. */
static void leave_dead_for_long(void *context)
{
	cleanup_names struct hf_names names = HF_NAMES_INIT;
	char name[HF_JOURNAL_FILE_NAME];
	struct hf_error err;

	leave_dead(context);
	cr_assert_eq(hf_store_list(&s.store, HF_STORE_SESSIONS, HF_JOURNAL_OPEN,
				   &names, &err),
		     0);
	cr_assert_eq(names.count, 1);
	hf_journal_file_name(&names.items[0], HF_JOURNAL_OPEN, name);
	cr_assert_eq(hf_file_set_mtime_at(s.store.folder_fd[HF_STORE_SESSIONS],
					  name, LIVED_NS),
		     0);
}

static int accept_entry(void *context, struct hf_error *err)
{
	const struct hf_entry entry = {
		.path = "a",
		.rule = "",
		.xattrs = "",
		.stat = {.kind = HF_KIND_FIFO},
	};
	cleanup_names struct hf_names living = HF_NAMES_INIT;
	cleanup_names struct hf_names dead = HF_NAMES_INIT;
	int rc;

	(void)context;
	rc = hf_journal_find_open(&s.store, &living, &dead, err);
	if (rc < 0)
		return rc;
	cr_assert_eq(dead.count, 1);
	return hf_journal_accept(&s.store, &dead.items[0], &entry, err);
}

/* What is certain rests on it: see the table of recovery. */
static void check_lived(void *context, int rc)
{
	cleanup_session_record struct hf_session_record session =
		HF_SESSION_RECORD_INIT;
	cleanup_names struct hf_names living = HF_NAMES_INIT;
	cleanup_names struct hf_names dead = HF_NAMES_INIT;
	struct hf_error err;

	(void)context;
	cr_assert_eq(hf_journal_find_open(&s.store, &living, &dead, &err), 0);
	cr_assert_eq(dead.count, 1);
	cr_assert(hf_journal_read(&s.store, &dead.items[0], &session, &err) ==
			  0,
		  "%s: %s", fault_call(), err.text);
	/* Where every later call fails, nothing can be taken back. */
	cr_expect(session.alive_ns == LIVED_NS ||
			  (rc < 0 && fault_is_persistent()),
		  "%s: rc %d, it lived until %lld", fault_call(), rc,
		  (long long)session.alive_ns);
}

Test(journal_faults, what_cannot_be_recorded_does_not_lengthen_a_life)
{
	const struct fault_case fault_case = {
		.prepare = leave_dead_for_long,
		.run = accept_entry,
		.check = check_lived,
	};

	fault_loop(&fault_case, 20);
}
