/* SPDX-License-Identifier: MIT */
/* The contents of one path: what snapshots and journals say together. */
#include "core/history.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "core/journal.h"
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

TestSuite(history, .init = setup, .fini = teardown);

/* Record a.toml with this text; the snapshot's name. */
static struct hf_name take(const char *text)
{
	cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;
	struct hf_snapshot_result result;

	hf_put_file(s.root_fd, "a.toml", text);
	hf_stored_take(&s, &manifest, &result);
	return manifest.name;
}

static struct hf_entry entry_of(const char *text)
{
	struct hf_entry entry = {.path = "a.toml", .rule = "", .xattrs = ""};

	if (!text)
		return entry;
	entry.stat.kind = HF_KIND_FILE;
	entry.stat.size = strlen(text);
	entry.hash = hf_hash_of(text, strlen(text));
	entry.has_hash = true;
	return entry;
}

struct kept {
	const char *replaced; /* with put: NULL, the one before is void */
	const char *put;
};

/* A session that put "good" back in place of each. */
static void add_session(const char *kind, const char *snapshot,
			const struct kept *kept, size_t count)
{
	static const char *const argv[] = {"pytest", NULL};
	cleanup_journal struct hf_journal journal = HF_JOURNAL_INIT;
	const struct hf_journal_open_record open = {
		.kind = kind, .snapshot = snapshot, .argv = argv};
	struct hf_error err;

	cr_assert_eq(hf_journal_begin(&journal, &s.store, &open, &err), 0);
	cr_assert_eq(hf_file_mkdir_at(s.store.folder_fd[HF_STORE_KEPT],
				      journal.name.text, 0700),
		     0);
	for (size_t i = 0; i < count; i++) {
		const struct hf_entry replaced = entry_of(kept[i].replaced);
		const struct hf_entry put = entry_of(kept[i].put);

		cr_assert_eq(
			hf_journal_add_kept(&journal, &replaced,
					    kept[i].replaced ? "kept/x/a" : "",
					    &put, &err),
			0);
	}
	cr_assert_eq(hf_journal_end(&journal, HF_OUTCOME_DONE, 0, 0, &err), 0);
}

static void read(struct hf_history *history)
{
	struct hf_error err = {0};

	cr_assert_eq(hf_history_read(&s.store, "a.toml", NULL, history, &err),
		     0, "%s", err.text);
}

static const struct hf_history_content *find(const struct hf_history *history,
					     const char *text)
{
	const struct hf_entry entry = entry_of(text);

	for (size_t i = 0; i < history->count; i++)
		if (hf_hash_equal(&history->items[i].entry.hash, &entry.hash))
			return &history->items[i];
	return NULL;
}

Test(history, nothing)
{
	cleanup_history struct hf_history history = HF_HISTORY_INIT;

	read(&history);
	cr_expect_eq(history.count, 0);
}

Test(history, damage_is_what_a_run_found_first)
{
	cleanup_history struct hf_history history = HF_HISTORY_INIT;
	const struct hf_name first = take("good");
	const struct kept bad[] = {{"bad", "good"}, {"worse", "good"}};
	const struct kept good[] = {{"good", "bad"}};
	struct hf_name second;

	add_session("run", first.text, bad, 2);
	add_session("undo", "", good, 1);
	second = take("bad");
	read(&history);
	cr_assert_eq(history.count, 3);
	cr_expect(hf_hash_equal(&history.items[0].entry.hash,
				&find(&history, "bad")->entry.hash));

	cr_expect(find(&history, "bad")->is_damage);
	cr_expect(find(&history, "bad")->is_recorded);
	cr_expect_eq(find(&history, "bad")->step, 0);
	cr_expect_str_eq(find(&history, "bad")->newest.text, second.text);
	cr_expect(find(&history, "worse")->is_damage);
	cr_expect_not(find(&history, "worse")->is_recorded);
	cr_assert_eq(find(&history, "worse")->copy_count, 1);
	cr_expect_str_eq(find(&history, "worse")->copies[0].kind, "run");
	cr_expect_str_eq(find(&history, "worse")->copies[0].argv[0], "pytest");
	cr_expect_not(find(&history, "good")->is_damage);
	cr_expect_eq(find(&history, "good")->step, 1);
	cr_expect_eq(find(&history, "good")->copy_count, 1);
}

/* What a snapshot had before the run is none, whoever brought it back. */
Test(history, an_older_version_is_no_damage)
{
	cleanup_history struct hf_history history = HF_HISTORY_INIT;
	const struct kept old[] = {{"old", "new"}};
	struct hf_name second;

	(void)take("old");
	second = take("new");
	add_session("run", second.text, old, 1);
	read(&history);
	cr_assert_eq(history.count, 2);
	cr_expect_not(find(&history, "old")->is_damage);
	cr_expect_eq(find(&history, "old")->copy_count, 1);
	cr_expect_eq(find(&history, "old")->step, 1);
}

/* Nothing was replaced after all: of several records the newest is void. */
Test(history, void_records)
{
	cleanup_history struct hf_history history = HF_HISTORY_INIT;
	const struct hf_name first = take("good");
	const struct kept one[] = {
		{"bad", "good"}, {"worse", "good"}, {NULL, NULL}};
	const struct kept both[] = {
		{"a", "good"}, {"b", "good"}, {NULL, NULL}, {NULL, NULL}};
	const struct kept again[] = {
		{"c", "good"}, {NULL, NULL}, {"d", "good"}};

	add_session("run", first.text, one, 3);
	add_session("run", first.text, both, 4);
	add_session("run", first.text, again, 3);
	read(&history);
	cr_expect_not_null(find(&history, "bad"));
	cr_expect_null(find(&history, "worse"));
	cr_expect_null(find(&history, "a"));
	cr_expect_null(find(&history, "b"));
	cr_expect_null(find(&history, "c"));
	cr_expect_not_null(find(&history, "d"));
	cr_expect_eq(history.count, 3);
}
