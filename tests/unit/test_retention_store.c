/* SPDX-License-Identifier: MIT */
/* Retention of real stores: what stays works, what goes is gone. */
#include "core/retention_store.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "core/kept.h"
#include "core/pack.h"
#include "core/snapshot.h"
#include "support/check.h"
#include "support/workbench.h"

#define PLENTY ((uint64_t)1 << 40)

static struct hf_bench bench;
static struct hf_stored *const s = &bench.at;

static void setup(void)
{
	hf_bench_begin(&bench, "**", false);
}

static void teardown(void)
{
	hf_bench_done(&bench);
}

TestSuite(retention_store, .init = setup, .fini = teardown, .timeout = 300);

static void put(const char *name, unsigned number)
{
	char text[64];

	(void)snprintf(text, sizeof(text), "this is content %u\n", number);
	hf_put_file(bench.root_fd, name, text);
}

static struct hf_name take(void)
{
	cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;
	struct hf_snapshot_result result;

	hf_stored_take(s, &manifest, &result);
	return manifest.name;
}

static int apply(uint64_t contents, uint64_t bytes, struct hf_error *err)
{
	const struct hf_retention limits = {contents, 0, bytes};
	cleanup_retention_view struct hf_retention_view view =
		HF_RETENTION_VIEW_INIT;
	cleanup_retention_plan struct hf_retention_plan plan =
		HF_RETENTION_PLAN_INIT;
	int rc;

	rc = hf_retention_read(&s->store, &limits, HF_RETENTION_ALL, &view,
			       err);
	if (rc == 0)
		rc = hf_retention_decide(&view.input, &plan, err);
	return rc < 0 ? rc : hf_retention_apply(&s->store, &view, &plan, err);
}

static void must_apply(uint64_t contents, uint64_t bytes)
{
	struct hf_error err = {.text = ""};

	cr_assert(apply(contents, bytes, &err) == 0, "%s", err.text);
}

static size_t count(enum hf_store_folder folder)
{
	return hf_count_names(s->store.folder_fd[folder], "");
}

/* All that is left can be restored; how many snapshots that are. */
static size_t check_all(void)
{
	cleanup_names struct hf_names names = HF_NAMES_INIT;
	struct hf_error err;

	cr_assert_eq(
		hf_store_list(&s->store, HF_STORE_SNAPSHOTS, "", &names, &err),
		0);
	for (size_t i = 0; i < names.count; i++) {
		cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;

		cr_assert(hf_snapshot_load(&s->store, &names.items[i],
					   &manifest, &err) == 0,
			  "%s", err.text);
		cr_expect(hf_stored_check(&s->store, &manifest.tree, &err) == 0,
			  "%s: %s", names.items[i].text, err.text);
	}
	return names.count;
}

/* Does any pack have this content of put()? */
static bool is_stored(unsigned number)
{
	cleanup_contents struct hf_contents *contents = NULL;
	char text[64];
	struct hf_hash hash;
	struct hf_error err;

	(void)snprintf(text, sizeof(text), "this is content %u\n", number);
	hash = hf_hash_of(text, strlen(text));
	cr_assert_eq(hf_contents_load(&s->store, &contents, NULL, &err), 0);
	return hf_contents_find(contents, &hash, strlen(text)) != NULL;
}

/* Put back the newest snapshot that has it. */
static void check_restored(const struct hf_name *name, unsigned number)
{
	char text[64];
	struct hf_error err;

	put("a", 1000);
	hf_manifest_done(&bench.manifest);
	cr_assert(hf_snapshot_load(&s->store, name, &bench.manifest, &err) == 0,
		  "%s", err.text);
	cr_assert(hf_bench_restore(&bench, false, &err) == 0, "%s", err.text);
	(void)snprintf(text, sizeof(text), "this is content %u\n", number);
	cr_expect(hf_file_has(bench.root_fd, "a", text));
}

Test(retention_store, the_newest_can_be_restored_and_others_are_gone)
{
	struct hf_name names[12];

	put("b", 999);
	for (unsigned i = 0; i < 12; i++) {
		put("a", i);
		names[i] = take();
	}
	must_apply(3, PLENTY);
	cr_expect_eq(check_all(), 3);
	/* The first one has b as well. */
	cr_expect(is_stored(999));
	for (unsigned i = 1; i < 12; i++)
		cr_expect_eq(is_stored(i), i >= 9, "%u", i);
	/* Four packs, and their indexes. */
	cr_expect_eq(count(HF_STORE_PACKS), 8);
	for (unsigned i = 9; i < 12; i++)
		check_restored(&names[i], i);
	/* Once more is once too many. */
	must_apply(3, PLENTY);
	cr_expect_eq(check_all(), 3);
}

/* -- the log
 * ------------------------------------------------------------------- */

Test(retention_store, what_went_stands_in_a_journal)
{
	cleanup_session_record struct hf_session_record record =
		HF_SESSION_RECORD_INIT;
	cleanup_names struct hf_names names = HF_NAMES_INIT;
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	cleanup_fd int fd = -1;
	struct hf_name first;
	struct hf_error err;
	char file_name[64];

	put("a", 0);
	first = take();
	put("a", 1);
	(void)take();
	must_apply(1, PLENTY);
	cr_assert_eq(hf_journal_list(&s->store, &names, &err), 0);
	cr_assert_eq(names.count, 1);
	cr_assert_eq(hf_journal_read(&s->store, &names.items[0], &record, &err),
		     0);
	cr_expect_str_eq(record.kind, "retention");
	cr_expect(record.has_ended && record.outcome == HF_OUTCOME_DONE);
	cr_assert(record.argv && record.argv[0] && record.argv[1]);
	cr_expect_str_eq(record.argv[0], "1 snapshot");
	cr_expect_str_eq(record.argv[1], "1 pack");

	(void)snprintf(file_name, sizeof(file_name), "%s.done",
		       names.items[0].text);
	fd = hf_file_open_read_at(s->store.folder_fd[HF_STORE_SESSIONS],
				  file_name);
	cr_assert(fd >= 0 && hf_file_read_all(fd, 1 << 20, &text) == 0);
	cr_expect(strstr(text.data, first.text) != NULL, "%s", text.data);
	cr_expect(strstr(text.data, "\"packs/000001.tar.zst\"") != NULL);
	/* Nothing went, nothing is said. */
	must_apply(1, PLENTY);
	cr_expect_eq(count(HF_STORE_SESSIONS), 1);
}

/* -- numbers
 * ------------------------------------------------------------------- */

Test(retention_store, no_number_is_given_twice)
{
	struct hf_name last;
	struct hf_name next;

	/* The newest snapshot needs the oldest pack alone. */
	for (unsigned i = 0; i < 5; i++) {
		put("a", i);
		(void)take();
	}
	put("a", 0);
	last = take();
	must_apply(1, PLENTY);
	cr_expect_eq(check_all(), 1);
	cr_expect_eq(count(HF_STORE_PACKS), 4);
	cr_expect_eq(
		hf_count_names(s->store.folder_fd[HF_STORE_PACKS], "000005"),
		2);
	put("a", 6);
	next = take();
	cr_expect_eq(hf_name_number(&next), hf_name_number(&last) + 1);
	cr_expect_eq(
		hf_count_names(s->store.folder_fd[HF_STORE_PACKS], "000006"),
		2);
	(void)check_all();
}

/* -- sessions
 * ------------------------------------------------------------------ */

Test(retention_store, what_a_session_in_progress_has_stays)
{
	cleanup_journal struct hf_journal journal = HF_JOURNAL_INIT;
	struct hf_journal_open_record record = {
		.kind = "run",
		.pid = (uint64_t)getpid(),
	};
	struct hf_name first;
	struct hf_error err;

	put("a", 0);
	first = take();
	record.snapshot = first.text;
	cr_assert_eq(hf_journal_begin(&journal, &s->store, &record, &err), 0);
	for (unsigned i = 1; i < 6; i++) {
		put("a", i);
		(void)take();
	}
	must_apply(1, 1);
	cr_expect_eq(check_all(), 2);
	cr_expect(is_stored(0));
	/* One that died is to be settled yet. */
	hf_journal_close(&journal);
	must_apply(1, 1);
	cr_expect_eq(check_all(), 2);
	cr_assert_eq(hf_journal_settle(&s->store, &journal.name,
				       HF_OUTCOME_DONE, &err),
		     0);
	must_apply(1, 1);
	cr_expect_eq(check_all(), 1);
	cr_expect_not(is_stored(0));
}

/* Each restore keeps what was there. */
static struct hf_name restore_over(unsigned number)
{
	struct hf_error err;

	put("a", number);
	cr_assert(hf_bench_restore(&bench, true, &err) == 0, "%s", err.text);
	return bench.name;
}

Test(retention_store, copies_go_with_their_journals_but_for_the_last)
{
	struct hf_error err;

	put("a", 0);
	hf_bench_record(&bench);
	for (unsigned i = 1; i < 6; i++)
		(void)restore_over(i);
	cr_expect_eq(count(HF_STORE_KEPT), 5);
	must_apply(2, PLENTY);
	cr_expect_eq(count(HF_STORE_KEPT), 2);
	/* And the journal that tells of it. */
	cr_expect_eq(count(HF_STORE_SESSIONS), 3);
	must_apply(2, 1);
	cr_expect_eq(count(HF_STORE_KEPT), 1);
	cr_assert(hf_bench_undo(&bench, &err) == 0, "%s", err.text);
	cr_expect(hf_file_has(bench.root_fd, "a", "this is content 5\n"));
}

Test(retention_store, copies_without_a_journal_go_like_old_ones)
{
	static const char orphan[] = "000000-20201130T030007Z";
	const int kept_fd = s->store.folder_fd[HF_STORE_KEPT];
	cleanup_fd int fd = -1;

	put("a", 0);
	hf_bench_record(&bench);
	cr_assert_eq(hf_file_mkdir_at(kept_fd, orphan, 0700), 0);
	fd = hf_file_open_directory_at(kept_fd, orphan);
	cr_assert(fd >= 0);
	hf_put_file(fd, "a", "old");
	must_apply(1, PLENTY);
	cr_expect_eq(hf_count_names(kept_fd, orphan), 1);
	(void)restore_over(1);
	must_apply(1, PLENTY);
	cr_expect_eq(hf_count_names(kept_fd, orphan), 0);
	cr_expect_eq(count(HF_STORE_KEPT), 1);
}

/* -- damage
 * -------------------------------------------------------------------- */

Test(retention_store, what_is_damaged_is_left_to_a_person)
{
	struct hf_name first;
	struct hf_error err;

	put("a", 0);
	first = take();
	for (unsigned i = 1; i < 4; i++) {
		put("a", i);
		(void)take();
	}
	hf_put_file(s->store.folder_fd[HF_STORE_SNAPSHOTS], first.text, "{}");
	cr_expect_eq(apply(1, 1, &err), HF_ERR_CORRUPT);
	cr_expect_eq(count(HF_STORE_SNAPSHOTS), 4);
	cr_expect_eq(count(HF_STORE_SESSIONS), 0);
	for (unsigned i = 0; i < 4; i++)
		cr_expect(is_stored(i));
}

/* A run's damage that was recorded later, since nobody guarded it then. */
Test(retention_store, known_damage_displaces_nothing)
{
	cleanup_journal struct hf_journal journal = HF_JOURNAL_INIT;
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;
	struct hf_entry *replaced;
	struct hf_journal_open_record record = {.kind = "run"};
	const char damage[] = "this is content 7\n";
	struct hf_name name;
	struct hf_error err;

	put("a", 0);
	(void)take();
	put("a", 1);
	name = take();
	record.snapshot = name.text;
	cr_assert_eq(hf_journal_begin(&journal, &s->store, &record, &err), 0);
	replaced = hf_tree_add(&tree, "a");
	cr_assert(replaced);
	replaced->stat.kind = HF_KIND_FILE;
	replaced->stat.size = strlen(damage);
	replaced->has_hash = true;
	replaced->hash = hf_hash_of(damage, strlen(damage));
	cr_assert_eq(
		hf_journal_add_kept(&journal, replaced, "", replaced, &err), 0);
	cr_assert_eq(hf_journal_end(&journal, HF_OUTCOME_VIOLATED, 97, 1, &err),
		     0);
	put("a", 7);
	(void)take();
	put("a", 2);
	(void)take();
	must_apply(2, PLENTY);
	cr_expect_not(is_stored(0));
	cr_expect(is_stored(1));
	cr_expect_not(is_stored(7));
	cr_expect(is_stored(2));
	(void)check_all();
}
