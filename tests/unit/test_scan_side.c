/* SPDX-License-Identifier: MIT */
/* NAME-wal, NAME-shm and NAME-journal beside protected files. */
#include "core/scan.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/scan_side.h"
#include "support/check.h"
#include "support/scanned.h"
#include "support/tmpdir.h"

static char *root;
static int root_fd = -1;
static struct hf_policy policy = HF_POLICY_INIT;
static struct hf_scan_options options;

static void plant(void)
{
	root = hf_tmpdir_make();
	root_fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_eq(mkdirat(root_fd, "d", 0755), 0);
	hf_put_file(root_fd, "a.db", "a");
	hf_put_file(root_fd, "d/b.db", "b");
	hf_put_file(root_fd, "other.txt", "o");
}

static void cut(void)
{
	hf_policy_done(&policy);
	(void)close(root_fd);
	hf_tmpdir_remove(root);
}

TestSuite(scan_side, .init = plant, .fini = cut);

static void protect(const char *patterns, const char *allow)
{
	hf_policy_done(&policy);
	hf_make_policy(&policy, patterns, allow);
	options = (struct hf_scan_options){
		.policy = &policy, .root_fd = root_fd, .root = root,
	};
}

static void scan(struct hf_tree *tree)
{
	struct hf_error err;

	cr_assert_eq(hf_scan(&options, tree, NULL, &err), 0, "%s", err.text);
}

Test(scan_side, names)
{
	static const struct {
		const char *name;
		size_t len;
	} rows[] = {
		{"a.db-wal", 4}, {"a.db-journal", 4}, {"a-wal-wal", 5},
		{"a.db-shm", 4}, {"a.db", 0},	      {"-wal", 0},
		{"-journal", 0}, {"wal", 0},	      {"", 0},
		{"a-walx", 0},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++)
		cr_expect_eq(hf_scan_side_base_len(rows[i].name), rows[i].len,
			     "%s", rows[i].name);
}

Test(scan_side, base)
{
	static const struct {
		const char *path;
		const char *base;
	} rows[] = {
		{"a.db-wal", "a.db"},	  {"d/b.db-journal", "d/b.db"},
		{"d/b.db-shm", "d/b.db"}, {"a.db", NULL},
		{"b.db-wal", NULL},	  {"d/a.db-wal", NULL},
		{"d/-wal", NULL},	  {"-wal", NULL},
	};
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;

	protect("**/*.db", "");
	scan(&tree);
	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		const struct hf_entry *const base =
			hf_scan_side_base(&tree, rows[i].path);

		if (rows[i].base)
			cr_expect_str_eq(base ? base->path : "", rows[i].base,
					 "%s", rows[i].path);
		else
			cr_expect_null(base, "%s", rows[i].path);
	}
}

Test(scan_side, recorded_beside_what_is_protected)
{
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;

	hf_put_file(root_fd, "a.db-wal", "w");
	hf_put_file(root_fd, "a.db-shm", "s");
	hf_put_file(root_fd, "d/b.db-journal", "j");
	hf_put_file(root_fd, "other.txt-wal", "w");
	hf_put_file(root_fd, "none.db-wal", "w");
	protect("**/*.db", "");
	scan(&tree);
	cr_expect_str_eq(hf_tree_text(&tree),
			 "Ad .\nPf a.db\nCf a.db-shm\nSf a.db-wal\nAd d\n"
			 "Pf d/b.db\nSf d/b.db-journal\n");
	cr_expect_str_eq(hf_tree_find(&tree, "a.db-wal")->rule, "**/*.db");
}

Test(scan_side, matched_itself_it_is_protected)
{
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;

	hf_put_file(root_fd, "a.db-wal", "w");
	hf_put_file(root_fd, "a.db-shm", "s");
	protect("a.*", "");
	scan(&tree);
	cr_expect_str_eq(hf_tree_text(&tree),
			 "Ad .\nPf a.db\nPf a.db-shm\nPf a.db-wal\n");
}

Test(scan_side, only_files_beside_files)
{
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;

	cr_assert_eq(mkdirat(root_fd, "a.db-wal", 0755), 0);
	cr_assert_eq(mkdirat(root_fd, "c.db", 0755), 0);
	hf_put_file(root_fd, "c.db-wal", "w");
	hf_put_file(root_fd, "gone.db-wal", "w");
	protect("*.db gone.db", "");
	scan(&tree);
	cr_expect_str_eq(hf_tree_text(&tree),
			 "Ad .\nPf a.db\nPd c.db\nP- gone.db\n");
}

Test(scan_side, allowed_with_its_file)
{
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;

	hf_put_file(root_fd, "a.db-wal", "w");
	hf_put_file(root_fd, "a.db-shm", "s");
	protect("*.db", "a.db");
	scan(&tree);
	cr_expect_str_eq(hf_tree_text(&tree), "Ad .\nLf a.db\nLf a.db-wal\n");
}

Test(scan_side, left_behind_at_the_end)
{
	cleanup_tree struct hf_tree before = HF_TREE_INIT;
	cleanup_tree struct hf_tree after = HF_TREE_INIT;
	struct hf_error err;
	int descriptors;

	hf_put_file(root_fd, "a.db-wal", "w");
	protect("**/*.db other.txt", "other.txt");
	scan(&before);

	hf_put_file(root_fd, "a.db-shm", "s");
	hf_put_file(root_fd, "d/b.db-wal", "w");
	hf_put_file(root_fd, "d/b.db-shm", "s");
	hf_put_file(root_fd, "other.txt-wal", "w");
	hf_put_file(root_fd, "other.txt-shm", "s");
	hf_put_file(root_fd, "new.db", "n");
	hf_put_file(root_fd, "new.db-shm", "s");
	options.before = &before;
	scan(&after);
	descriptors = hf_open_descriptors();
	cr_assert_eq(hf_scan_side_files(&options, &before, &after, &err), 0,
		     "%s", err.text);
	cr_expect_eq(hf_open_descriptors(), descriptors, "leaked");
	cr_expect_str_eq(hf_tree_text(&after),
			 "Ad .\nPf a.db\nCf a.db-shm\nSf a.db-wal\nAd d\n"
			 "Pf d/b.db\nCf d/b.db-shm\nSf d/b.db-wal\nPf new.db\n"
			 "Cf new.db-shm\nLf other.txt\nLf other.txt-wal\n");
	cr_expect_eq(hf_tree_find(&after, "a.db-shm")->stat.size, 1);
	cr_expect_str_eq(hf_tree_find(&after, "a.db-shm")->rule, "**/*.db");
}

/* A removed database does not make what it left behind less unwanted. */
Test(scan_side, left_behind_by_a_removed_file)
{
	cleanup_tree struct hf_tree before = HF_TREE_INIT;
	cleanup_tree struct hf_tree after = HF_TREE_INIT;
	struct hf_error err;

	protect("*.db", "");
	scan(&before);
	hf_put_file(root_fd, "a.db-journal", "j");
	cr_assert_eq(unlinkat(root_fd, "a.db", 0), 0);
	options.before = &before;
	scan(&after);
	cr_assert_eq(hf_scan_side_files(&options, &before, &after, &err), 0);
	cr_expect_str_eq(hf_tree_text(&after),
			 "Ad .\nP- a.db\nSf a.db-journal\n");
}

Test(scan_side, nothing_in_a_directory_that_is_gone)
{
	cleanup_tree struct hf_tree before = HF_TREE_INIT;
	cleanup_tree struct hf_tree after = HF_TREE_INIT;
	struct hf_error err;

	protect("d/*.db", "");
	scan(&before);
	cr_assert_eq(renameat(root_fd, "d", root_fd, "e"), 0);
	cr_assert_eq(symlinkat("e", root_fd, "d"), 0);
	hf_put_file(root_fd, "e/b.db-shm", "s");
	options.before = &before;
	scan(&after);
	cr_assert_eq(hf_scan_side_files(&options, &before, &after, &err), 0);
	cr_expect_str_eq(hf_tree_text(&after), "Ad .\nAl d\nP- d/b.db\n");
}

/* What only leads to a protected file may be large, or closed as /home is. */
Test(scan_side, only_directories_of_files_are_listed)
{
	cleanup_tree struct hf_tree before = HF_TREE_INIT;
	cleanup_tree struct hf_tree after = HF_TREE_INIT;
	char project[128];
	char pattern[128];
	struct hf_error err;
	int fd;

	cr_assert_eq(unlinkat(root_fd, "d/b.db", 0), 0);
	cr_assert_eq(unlinkat(root_fd, "d", AT_REMOVEDIR), 0);
	hf_become_user(root);
	cr_assert_eq(mkdirat(root_fd, "p", 0755), 0);
	cr_assert_eq(mkdirat(root_fd, "u", 0755), 0);
	cr_assert_eq(mkdirat(root_fd, "u/e", 0755), 0);
	hf_put_file(root_fd, "u/e/c.db", "c");
	cr_assert_eq(fchmodat(root_fd, "u", 0311, 0), 0);
	(void)snprintf(project, sizeof(project), "%s/p", root);
	(void)snprintf(pattern, sizeof(pattern), "%s/u/e/*.db", root);
	protect(pattern, "");
	fd = openat(root_fd, "p", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	options.root = project;
	options.root_fd = fd;
	scan(&before);

	hf_put_file(root_fd, "u/e/c.db-journal", "j");
	options.before = &before;
	scan(&after);
	cr_expect(hf_scan_side_files(&options, &before, &after, &err) == 0,
		  "%s", err.text);
	cr_expect_eq(after.count, before.count + 1);
	cr_assert_eq(fchmodat(root_fd, "u", 0755, 0), 0);
	(void)close(fd);
}
