/* SPDX-License-Identifier: MIT */
/* Manifests of a store: read at once, or by a second thread. */
#include "core/snapshot_load.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "core/journal.h"
#include "core/snapshot.h"
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

TestSuite(snapshot_load, .init = setup, .fini = teardown);

Test(snapshot_load, loading_beside_the_work)
{
	cleanup_manifest struct hf_manifest taken = HF_MANIFEST_INIT;
	cleanup_manifest struct hf_manifest loaded = HF_MANIFEST_INIT;
	cleanup_snapshot_loading struct hf_snapshot_loading *loading = NULL;
	struct hf_snapshot_result result;
	struct hf_error err;

	cr_expect_eq(
		hf_snapshot_load_begin(&s.store, NULL, NULL, &loading, &err),
		HF_ERR_NOTHING);
	cr_expect_null(loading);

	hf_put_file(s.root_fd, "a.toml", "x");
	hf_stored_take(&s, &taken, &result);
	cr_assert_eq(
		hf_snapshot_load_begin(&s.store, NULL, NULL, &loading, &err),
		0);
	cr_assert_eq(hf_snapshot_load_finish(&loading, &loaded, &err), 0);
	cr_expect_str_eq(loaded.name.text, taken.name.text);
	/* And one that nobody finishes. */
	cr_assert_eq(
		hf_snapshot_load_begin(&s.store, NULL, NULL, &loading, &err),
		0);
}

Test(snapshot_load, a_large_manifest_is_loaded_beside_the_scan)
{
	cleanup_manifest struct hf_manifest first = HF_MANIFEST_INIT;
	cleanup_manifest struct hf_manifest second = HF_MANIFEST_INIT;
	cleanup_manifest struct hf_manifest loaded = HF_MANIFEST_INIT;
	cleanup_snapshot_loading struct hf_snapshot_loading *loading = NULL;
	struct hf_snapshot_result result;
	struct hf_error err;
	char name[24];

	for (int i = 0; i < 1500; i++) {
		(void)snprintf(name, sizeof(name), "%04d.toml", i);
		hf_put_file(s.root_fd, name, "x");
	}
	(void)usleep(20000);
	hf_stored_take(&s, &first, &result);
	cr_assert_eq(hf_file_unlink_at(s.root_fd, "0007.toml"), 0);
	hf_stored_take(&s, &second, &result);
	cr_expect(result.has_previous);
	cr_expect(result.is_new);
	cr_expect_eq(result.archived, 0);
	cr_expect_eq(second.tree.count, first.tree.count - 1);

	cr_assert_eq(
		hf_snapshot_load_begin(&s.store, NULL, NULL, &loading, &err),
		0);
	cr_assert_eq(hf_snapshot_load_finish(&loading, &loaded, &err), 0);
	cr_expect_eq(loaded.tree.count, second.tree.count);
	cr_assert_eq(
		hf_snapshot_load_begin(&s.store, NULL, NULL, &loading, &err),
		0);
}

Test(snapshot_load, a_damaged_manifest_is_named)
{
	cleanup_manifest struct hf_manifest taken = HF_MANIFEST_INIT;
	struct hf_manifest loaded = HF_MANIFEST_INIT;
	struct hf_snapshot_result result;
	struct hf_error err;

	hf_put_file(s.root_fd, "a.toml", "x");
	hf_stored_take(&s, &taken, &result);
	hf_put_file(s.store.folder_fd[HF_STORE_SNAPSHOTS], taken.name.text,
		    "{}\n");
	cr_expect_eq(hf_snapshot_load_newest(&s.store, &loaded, &err),
		     HF_ERR_CORRUPT);
	cr_expect(strstr(err.text, taken.name.text), "%s", err.text);
	/* What to do, and that nothing was done instead. */
	cr_expect(strstr(err.hint, taken.name.text), "%s", err.hint);
	cr_expect(strstr(err.hint, "no other one is used"), "%s", err.hint);
	cr_expect_lt(strlen(err.hint), sizeof(err.hint) - 1);
}

/* An old manifest under a newer name would be taken for the newest state. */
Test(snapshot_load, a_manifest_under_another_name_is_refused)
{
	static const char renamed[] = "000007-20260101T000000Z";
	const int fd = s.store.folder_fd[HF_STORE_SNAPSHOTS];
	cleanup_manifest struct hf_manifest taken = HF_MANIFEST_INIT;
	struct hf_manifest loaded = HF_MANIFEST_INIT;
	struct hf_snapshot_result result;
	struct hf_error err;

	hf_put_file(s.root_fd, "a.toml", "x");
	hf_stored_take(&s, &taken, &result);
	cr_assert_eq(hf_file_rename_at(fd, taken.name.text, fd, renamed), 0);
	cr_expect_eq(hf_snapshot_load_newest(&s.store, &loaded, &err),
		     HF_ERR_CORRUPT);
	cr_expect(strstr(err.text, renamed), "%s", err.text);
	cr_expect(strstr(err.text, taken.name.text), "%s", err.text);
	cr_expect_neq(err.hint[0], '\0');
}

/* A session that used it and is over. */
static void use(const char *kind, const char *snapshot)
{
	const struct hf_journal_open_record record = {
		.kind = kind,
		.snapshot = snapshot,
	};
	cleanup_journal struct hf_journal journal = HF_JOURNAL_INIT;
	struct hf_error err;

	cr_assert_eq(hf_journal_begin(&journal, &s.store, &record, &err), 0);
	cr_assert_eq(hf_journal_end(&journal, HF_OUTCOME_CLEAN, 0, 0, &err), 0);
}

static void expect_gone(const char *snapshot)
{
	const struct hf_snapshot_options options = {.scan = &s.scan};
	struct hf_manifest manifest = HF_MANIFEST_INIT;
	struct hf_snapshot_result result;
	struct hf_error err;

	cr_expect_eq(hf_snapshot_load_newest(&s.store, &manifest, &err),
		     HF_ERR_CORRUPT);
	cr_expect(strstr(err.text, snapshot), "%s", err.text);
	cr_expect_lt(strlen(err.hint), sizeof(err.hint) - 1);
	cr_expect_eq(hf_snapshot_take(&s.store, &options, NULL, &manifest,
				      &result, &err),
		     HF_ERR_CORRUPT);
}

static void take_by_hand(uint64_t number, const char *gone)
{
	const struct hf_snapshot_options options = {
		.scan = &s.scan,
		.may_be_gone = true,
	};
	cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;
	struct hf_snapshot_result result;
	struct hf_error err;

	cr_assert_eq(hf_snapshot_take(&s.store, &options, NULL, &manifest,
				      &result, &err),
		     0, "%s", err.text);
	cr_expect_eq(result.is_new, gone[0] != '\0');
	cr_expect_eq(hf_name_number(&manifest.name), number);
	cr_expect_str_eq(result.gone.snapshot.text, gone);
}

static void expect_newest(uint64_t number)
{
	cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;
	struct hf_error err;

	cr_assert_eq(hf_snapshot_load_newest(&s.store, &manifest, &err), 0,
		     "%s", err.text);
	cr_expect_eq(hf_name_number(&manifest.name), number);
}

/* Nothing older is taken for what a session has used, nor is the store new. */
Test(snapshot_load, what_a_session_used_is_missed)
{
	const int fd = s.store.folder_fd[HF_STORE_SNAPSHOTS];
	struct hf_manifest taken[3];
	struct hf_snapshot_result result;

	for (size_t i = 0; i < HF_COUNT(taken); i++) {
		hf_put_file(s.root_fd, "a.toml", &"123"[i]);
		hf_stored_take(&s, &taken[i], &result);
		use("run", taken[i].name.text);
	}
	/* An undo uses none, a restore an older one. */
	use("undo", "");
	use("restore", taken[0].name.text);
	hf_put_file(s.store.folder_fd[HF_STORE_SESSIONS],
		    "000099-20260101T000000Z.done", "{}\n");
	expect_newest(3);

	cr_assert_eq(hf_file_unlink_at(fd, taken[2].name.text), 0);
	expect_gone(taken[2].name.text);
	cr_assert_eq(hf_file_unlink_at(fd, taken[1].name.text), 0);
	expect_gone(taken[2].name.text);
	take_by_hand(4, taken[2].name.text);
	expect_newest(4);
	take_by_hand(4, "");

	use("run", "000004-20260101T000000Z");
	for (size_t i = 0; i < 2; i++)
		(void)!hf_file_unlink_at(fd, taken[i].name.text);
	expect_newest(4);
	for (size_t i = 0; i < HF_COUNT(taken); i++)
		hf_manifest_done(&taken[i]);
}

Test(snapshot_load, none_is_left)
{
	cleanup_manifest struct hf_manifest taken = HF_MANIFEST_INIT;
	struct hf_snapshot_result result;

	hf_put_file(s.root_fd, "a.toml", "x");
	hf_stored_take(&s, &taken, &result);
	use("run", taken.name.text);
	cr_assert_eq(hf_file_unlink_at(s.store.folder_fd[HF_STORE_SNAPSHOTS],
				       taken.name.text),
		     0);
	expect_gone(taken.name.text);
	take_by_hand(2, taken.name.text);
	expect_newest(2);
}
