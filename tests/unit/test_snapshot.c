/* SPDX-License-Identifier: MIT */
/* Snapshots: what is recorded, what is archived, and when neither is. */
#include "core/snapshot.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "support/check.h"
#include "support/scanned.h"
#include "support/stored.h"

static struct hf_stored s;

static void setup(void)
{
	hf_stored_make(&s, "*.toml data/ literal.cfg");
}

static void teardown(void)
{
	hf_stored_remove(&s);
}

TestSuite(snapshot, .init = setup, .fini = teardown);

/* A file that was last changed long before any scan: not racy. */
static void put_old(int dir_fd, const char *name, const char *text)
{
	hf_put_file(dir_fd, name, text);
	/* The clock behind ctime ticks every few milliseconds. */
	(void)usleep(20000);
}

static size_t snapshot_count(void)
{
	return hf_count_names(s.store.folder_fd[HF_STORE_SNAPSHOTS], "");
}

static size_t pack_count(void)
{
	/* Each has an index. */
	return hf_count_names(s.store.folder_fd[HF_STORE_PACKS], "") / 2;
}

static const struct hf_entry *find(const struct hf_manifest *manifest,
				   const char *path)
{
	const struct hf_entry *const entry =
		hf_tree_find(&manifest->tree, path);

	cr_assert(entry, "%s is not in the tree", path);
	return entry;
}

static void expect_content(const struct hf_manifest *manifest, const char *path,
			   const char *content)
{
	cleanup_buffer struct hf_buffer read = HF_BUFFER_INIT;
	struct hf_error err;

	hf_buffer_add(&read, "", 0);
	cr_assert(hf_stored_read(&s.store, find(manifest, path), &read, &err) ==
			  0,
		  "%s", err.text);
	cr_expect_str_eq(read.data, content, "%s", path);
}

Test(snapshot, nothing_is_recorded_at_first)
{
	struct hf_manifest manifest = HF_MANIFEST_INIT;
	struct hf_error err;

	cr_expect_eq(hf_snapshot_load_newest(&s.store, &manifest, &err),
		     HF_ERR_NOTHING);
	cr_expect_str_eq(err.text, "nothing is recorded yet");
}

Test(snapshot, what_was_taken_is_loaded_again)
{
	cleanup_manifest struct hf_manifest taken = HF_MANIFEST_INIT;
	cleanup_manifest struct hf_manifest loaded = HF_MANIFEST_INIT;
	cleanup_deltas struct hf_deltas deltas = HF_DELTAS_INIT;
	struct hf_snapshot_result result;
	struct hf_error err;

	put_old(s.root_fd, "a.toml", "key = 1\n");
	put_old(s.root_fd, "b.toml", "");
	cr_assert_eq(hf_file_symlink_at("a.toml", s.root_fd, "l.toml"), 0);
	hf_stored_take(&s, &taken, &result);
	cr_expect(result.is_new);
	cr_expect_eq(result.archived, 2);
	cr_expect_eq(result.archived_bytes, 8);
	cr_expect_eq(hf_name_number(&taken.name), 1);
	cr_expect_str_eq(taken.patterns, "*.toml\ndata/\nliteral.cfg\n");

	hf_stored_reopen(&s);
	cr_assert(hf_snapshot_load_newest(&s.store, &loaded, &err) == 0, "%s",
		  err.text);
	cr_expect_str_eq(loaded.name.text, taken.name.text);
	cr_expect_str_eq(loaded.root, s.root);
	cr_expect_str_eq(loaded.patterns, taken.patterns);
	cr_assert_eq(hf_compare(&taken.tree, &loaded.tree, &deltas, &err), 0);
	cr_expect_eq(deltas.count, 0);
	cr_expect_eq(find(&loaded, "literal.cfg")->stat.kind, HF_KIND_ABSENT);
	expect_content(&loaded, "a.toml", "key = 1\n");
	expect_content(&loaded, "b.toml", "");
}

Test(snapshot, an_unchanged_tree_writes_nothing)
{
	cleanup_manifest struct hf_manifest first = HF_MANIFEST_INIT;
	cleanup_manifest struct hf_manifest second = HF_MANIFEST_INIT;
	struct hf_snapshot_result result;

	put_old(s.root_fd, "a.toml", "x");
	hf_stored_take(&s, &first, &result);
	hf_stored_take(&s, &second, &result);
	cr_expect_not(result.is_new);
	cr_expect_eq(result.archived, 0);
	cr_expect_str_eq(second.name.text, first.name.text);
	cr_expect_eq(second.created_ns, first.created_ns);
	cr_expect_eq(snapshot_count(), 1);
	cr_expect_eq(pack_count(), 1);
}

Test(snapshot, only_what_is_new_is_archived)
{
	cleanup_manifest struct hf_manifest first = HF_MANIFEST_INIT;
	cleanup_manifest struct hf_manifest second = HF_MANIFEST_INIT;
	struct hf_snapshot_result result;

	put_old(s.root_fd, "a.toml", "same");
	put_old(s.root_fd, "b.toml", "old");
	hf_stored_take(&s, &first, &result);
	/* A content that moved, one that came, one that went. */
	put_old(s.root_fd, "b.toml", "new!");
	put_old(s.root_fd, "c.toml", "same");
	cr_assert_eq(hf_file_unlink_at(s.root_fd, "a.toml"), 0);
	hf_stored_take(&s, &second, &result);
	cr_expect(result.is_new);
	cr_expect_eq(result.archived, 1);
	cr_expect_eq(result.archived_bytes, 4);
	cr_expect_eq(pack_count(), 2);
	cr_expect_eq(find(&second, "c.toml")->location.offset,
		     find(&first, "a.toml")->location.offset);
	cr_expect_eq(find(&second, "c.toml")->location.pack, 1);
	expect_content(&second, "b.toml", "new!");
	expect_content(&first, "b.toml", "old");
	/* Gone and not named by a literal pattern: not recorded as absent. */
	cr_expect_null(hf_tree_find(&second.tree, "a.toml"));
}

Test(snapshot, two_names_with_one_content_share_it)
{
	cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;
	struct hf_snapshot_result result;

	put_old(s.root_fd, "a.toml", "same");
	put_old(s.root_fd, "b.toml", "same");
	hf_stored_take(&s, &manifest, &result);
	cr_expect_eq(result.archived, 1);
	cr_expect_eq(find(&manifest, "a.toml")->location.offset,
		     find(&manifest, "b.toml")->location.offset);
	expect_content(&manifest, "b.toml", "same");
}

Test(snapshot, other_patterns_make_another_snapshot)
{
	cleanup_manifest struct hf_manifest first = HF_MANIFEST_INIT;
	cleanup_manifest struct hf_manifest second = HF_MANIFEST_INIT;
	struct hf_snapshot_result result;

	put_old(s.root_fd, "a.toml", "x");
	hf_stored_take(&s, &first, &result);
	hf_policy_done(&s.policy);
	hf_make_policy(&s.policy, "*.toml data/ literal.cfg x/*", "");
	hf_stored_take(&s, &second, &result);
	cr_expect(result.is_new);
	cr_expect_eq(result.archived, 0);
	cr_expect_eq(snapshot_count(), 2);
}

Test(snapshot, what_may_be_changed_is_part_of_it)
{
	cleanup_manifest struct hf_manifest first = HF_MANIFEST_INIT;
	cleanup_manifest struct hf_manifest second = HF_MANIFEST_INIT;
	struct hf_snapshot_result result;

	put_old(s.root_fd, "a.toml", "x");
	hf_stored_take(&s, &first, &result);
	hf_policy_done(&s.policy);
	hf_make_policy(&s.policy, "*.toml data/ literal.cfg", "a.toml");
	hf_stored_take(&s, &second, &result);
	cr_expect(result.is_new);
	cr_expect_eq(find(&second, "a.toml")->role, HF_ROLE_ALLOWED);
}

Test(snapshot, a_directory_that_held_what_is_gone_has_not_drifted)
{
	cleanup_manifest struct hf_manifest first = HF_MANIFEST_INIT;
	cleanup_manifest struct hf_manifest second = HF_MANIFEST_INIT;
	cleanup_manifest struct hf_manifest third = HF_MANIFEST_INIT;
	struct hf_snapshot_result result;
	cleanup_fd int fd = -1;

	hf_policy_done(&s.policy);
	hf_make_policy(&s.policy, "**/*.toml", "");
	cr_assert_eq(hf_file_mkdir_at(s.root_fd, "sub", 0755), 0);
	fd = hf_file_open_directory_at(s.root_fd, "sub");
	cr_assert(fd >= 0);
	put_old(fd, "a.toml", "x");
	put_old(s.root_fd, "b.toml", "x");
	hf_stored_take(&s, &first, &result);
	cr_expect_eq(find(&first, "sub")->role, HF_ROLE_ANCESTOR);

	cr_assert_eq(hf_file_unlink_at(fd, "a.toml"), 0);
	hf_stored_take(&s, &second, &result);
	cr_expect(result.is_new);
	cr_expect_null(hf_tree_find(&second.tree, "sub"));
	cr_expect_null(hf_tree_find(&second.tree, "sub/a.toml"));
	hf_stored_take(&s, &third, &result);
	cr_expect_not(result.is_new);
}

/* -- what decide sees ------------------------------------------------------ */

struct seen {
	size_t calls;
	size_t entries;
	size_t drift;
	unsigned change;
	bool refuse;
};

static int see(void *context, const struct hf_tree *tree,
	       const struct hf_deltas *drift, struct hf_error *err)
{
	struct seen *const seen = context;

	seen->calls++;
	seen->entries = tree->count;
	seen->drift = drift->count;
	for (size_t i = 0; i < drift->count; i++)
		seen->change |= drift->items[i].change;
	return seen->refuse ? hf_fail(err, HF_ERR_UNDECIDED, "refused") : 0;
}

static int take(struct seen *seen, struct hf_error *err)
{
	cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;
	const struct hf_snapshot_options options = {
		.scan = &s.scan,
		.decide = see,
		.context = seen,
	};
	struct hf_snapshot_result result;

	return hf_snapshot_take(&s.store, &options, NULL, &manifest, &result,
				err);
}

Test(snapshot, refused_at_first_nothing_is_written)
{
	struct seen seen = {.refuse = true};
	struct hf_error err;

	put_old(s.root_fd, "a.toml", "x");
	cr_expect_eq(take(&seen, &err), HF_ERR_UNDECIDED);
	cr_expect_eq(seen.calls, 1);
	/* The root, the file, and two literals that are absent. */
	cr_expect_eq(seen.entries, 4);
	cr_expect_eq(seen.drift, 0);
	cr_expect_eq(snapshot_count() + pack_count(), 0);
}

Test(snapshot, refused_for_drift_no_manifest_is_written)
{
	cleanup_manifest struct hf_manifest first = HF_MANIFEST_INIT;
	struct hf_snapshot_result result;
	struct seen seen = {.refuse = true};
	struct hf_error err;

	put_old(s.root_fd, "a.toml", "x");
	hf_stored_take(&s, &first, &result);
	put_old(s.root_fd, "a.toml", "y");
	cr_expect_eq(take(&seen, &err), HF_ERR_UNDECIDED);
	cr_expect_eq(seen.calls, 1);
	cr_expect_eq(seen.drift, 1);
	cr_expect(seen.change & HF_CHANGE_CONTENT);
	cr_expect_eq(snapshot_count(), 1);
	cr_expect_eq(hf_count_names(s.store.folder_fd[HF_STORE_PACKS],
				    HF_TEMPORARY_PREFIX),
		     0);
}

Test(snapshot, only_what_is_gone_has_drifted_not_its_directory)
{
	cleanup_manifest struct hf_manifest first = HF_MANIFEST_INIT;
	cleanup_tree struct hf_tree now = HF_TREE_INIT;
	cleanup_deltas struct hf_deltas deltas = HF_DELTAS_INIT;
	struct hf_snapshot_result result;
	struct seen seen = {.refuse = false};
	cleanup_fd int fd = -1;
	struct hf_error err;

	hf_policy_done(&s.policy);
	hf_make_policy(&s.policy, "**/*.toml", "");
	cr_assert_eq(hf_file_mkdir_at(s.root_fd, "sub", 0755), 0);
	fd = hf_file_open_directory_at(s.root_fd, "sub");
	cr_assert(fd >= 0);
	put_old(fd, "a.toml", "x");
	hf_stored_take(&s, &first, &result);
	cr_assert_eq(hf_file_unlink_at(fd, "a.toml"), 0);
	cr_assert_eq(take(&seen, &err), 0);
	cr_expect_eq(seen.drift, 1);

	cr_assert_eq(hf_snapshot_look(&s.scan, &first.tree, NULL, &now, &err),
		     0);
	cr_assert_eq(hf_compare(&first.tree, &now, &deltas, &err), 0);
	cr_expect_eq(deltas.count, 1);
}

Test(snapshot, what_the_policy_names_no_more_is_neither_kept_nor_missed)
{
	cleanup_manifest struct hf_manifest first = HF_MANIFEST_INIT;
	cleanup_manifest struct hf_manifest second = HF_MANIFEST_INIT;
	struct hf_snapshot_result result;
	struct seen seen = {.refuse = false};
	struct hf_error err;

	put_old(s.root_fd, "a.toml", "x");
	put_old(s.root_fd, "b.toml", "y");
	hf_stored_take(&s, &first, &result);
	hf_policy_done(&s.policy);
	hf_make_policy(&s.policy, "a.toml", "");
	cr_assert_eq(take(&seen, &err), 0);
	cr_expect_eq(seen.drift, 0);
	hf_stored_take(&s, &second, &result);
	cr_expect_not(result.is_new);
	cr_expect_null(hf_tree_find(&second.tree, "b.toml"));
	cr_expect_str_eq(find(&second, "a.toml")->rule, "a.toml");
}

/* -- the stat cache -------------------------------------------------------- */

Test(snapshot, stale_stat_data_are_renewed_in_place)
{
	cleanup_manifest struct hf_manifest first = HF_MANIFEST_INIT;
	cleanup_manifest struct hf_manifest second = HF_MANIFEST_INIT;
	cleanup_manifest struct hf_manifest loaded = HF_MANIFEST_INIT;
	struct hf_snapshot_result result;
	struct hf_stat stat;
	struct hf_error err;
	char name[24];

	for (int i = 0; i < 70; i++) {
		(void)snprintf(name, sizeof(name), "%d.toml", i);
		hf_put_file(s.root_fd, name, name);
	}
	(void)usleep(20000);
	hf_stored_take(&s, &first, &result);
	cr_assert_eq(hf_file_stat_at(s.root_fd, "7.toml", &stat), 0);

	/* The same in all that counts, but a new ctime. */
	for (int i = 0; i < 70; i++) {
		(void)snprintf(name, sizeof(name), "%d.toml", i);
		cr_assert_eq(hf_file_set_mode_at(s.root_fd, name, 0600), 0);
		cr_assert_eq(hf_file_set_mode_at(s.root_fd, name, stat.mode),
			     0);
	}
	(void)usleep(20000);
	hf_stored_take(&s, &second, &result);
	cr_expect_not(result.is_new);
	cr_expect_eq(snapshot_count(), 1);
	cr_assert_eq(hf_file_stat_at(s.root_fd, "7.toml", &stat), 0);
	cr_assert_eq(hf_snapshot_load_newest(&s.store, &loaded, &err), 0);
	cr_expect_eq(find(&loaded, "7.toml")->stat.ctime_ns, stat.ctime_ns);
	cr_expect_neq(find(&first, "7.toml")->stat.ctime_ns, stat.ctime_ns);
	expect_content(&loaded, "7.toml", "7.toml");
}

Test(snapshot, a_few_stale_entries_are_not_worth_it)
{
	cleanup_manifest struct hf_manifest first = HF_MANIFEST_INIT;
	cleanup_manifest struct hf_manifest second = HF_MANIFEST_INIT;
	cleanup_manifest struct hf_manifest loaded = HF_MANIFEST_INIT;
	struct hf_snapshot_result result;
	struct hf_stat stat;
	struct hf_error err;

	put_old(s.root_fd, "a.toml", "x");
	hf_stored_take(&s, &first, &result);
	cr_assert_eq(hf_file_set_mode_at(s.root_fd, "a.toml", 0600), 0);
	cr_assert_eq(hf_file_set_mode_at(s.root_fd, "a.toml",
					 find(&first, "a.toml")->stat.mode),
		     0);
	hf_stored_take(&s, &second, &result);
	cr_expect_not(result.is_new);
	cr_assert_eq(hf_file_stat_at(s.root_fd, "a.toml", &stat), 0);
	cr_assert_eq(hf_snapshot_load_newest(&s.store, &loaded, &err), 0);
	cr_expect_neq(find(&loaded, "a.toml")->stat.ctime_ns, stat.ctime_ns);
}

/* What the previous manifest says of the same path needs no index. */
Test(snapshot, a_content_is_known_by_its_path)
{
	cleanup_manifest struct hf_manifest first = HF_MANIFEST_INIT;
	cleanup_manifest struct hf_manifest second = HF_MANIFEST_INIT;
	struct hf_snapshot_result result;

	put_old(s.root_fd, "a.toml", "x");
	hf_stored_take(&s, &first, &result);
	cr_assert_eq(hf_file_unlink_at(s.store.folder_fd[HF_STORE_PACKS],
				       "000001.index"),
		     0);
	cr_assert_eq(hf_file_set_mtime_at(s.root_fd, "a.toml", 1), 0);
	hf_stored_take(&s, &second, &result);
	cr_expect(result.is_new);
	cr_expect_eq(result.archived, 0);
	expect_content(&second, "a.toml", "x");
}

/* -- looking --------------------------------------------------------------- */

Test(snapshot, a_look_reads_everything_and_writes_nothing)
{
	cleanup_manifest struct hf_manifest taken = HF_MANIFEST_INIT;
	cleanup_tree struct hf_tree now = HF_TREE_INIT;
	cleanup_deltas struct hf_deltas deltas = HF_DELTAS_INIT;
	struct hf_snapshot_result result;
	struct hf_stat stat;
	struct hf_error err;
	cleanup_fd int fd = -1;

	put_old(s.root_fd, "a.toml", "same size");
	put_old(s.root_fd, "b.toml", "gone");
	put_old(s.root_fd, "db.toml", "x");
	hf_stored_take(&s, &taken, &result);

	/* Same size, same mtime: only reading tells. */
	cr_assert_eq(hf_file_stat_at(s.root_fd, "a.toml", &stat), 0);
	fd = hf_file_open_write_at(s.root_fd, "a.toml");
	cr_assert(fd >= 0);
	cr_assert_eq(hf_file_write(fd, "SAME SIZE", 9), 0);
	cr_assert_eq(hf_file_set_mtime(fd, stat.mtime_ns), 0);
	cr_assert_eq(hf_file_unlink_at(s.root_fd, "b.toml"), 0);
	hf_put_file(s.root_fd, "db.toml-journal", "x");

	cr_assert(hf_snapshot_look(&s.scan, &taken.tree, NULL, &now, &err) == 0,
		  "%s", err.text);
	cr_assert_eq(hf_compare(&taken.tree, &now, &deltas, &err), 0);
	cr_assert_eq(deltas.count, 3);
	cr_expect_eq(deltas.items[0].change, HF_CHANGE_CONTENT);
	cr_expect_eq(deltas.items[1].change, HF_CHANGE_MISSING);
	cr_expect_eq(deltas.items[2].change, HF_CHANGE_ADDED);
	cr_expect_eq(snapshot_count(), 1);
}
