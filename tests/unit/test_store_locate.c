/* SPDX-License-Identifier: MIT */
/* Where a store is looked for: option, pointer, state directory. */
#include "core/store.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/path.h"
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

TestSuite(store_locate, .init = setup, .fini = teardown);

/* A directory of s.dir, opened. */
static int make_directory(const char *name)
{
	cleanup_free char *path = hf_path_join(s.dir, name);
	int fd;

	cr_assert_eq(hf_file_mkdir_path(path), 0);
	fd = hf_file_open_directory(path);
	cr_assert(fd >= 0);
	return fd;
}

static void make_git_directory(const char *name)
{
	cleanup_fd int fd = make_directory(name);

	hf_put_file(fd, "HEAD", "ref: refs/heads/main\n");
}

static void expect_located(const char *option, const char *expected)
{
	cleanup_free char *path = NULL;
	struct hf_error err;

	cr_assert(hf_store_locate(option, s.root, &path, &err) == 0, "%s",
		  err.text);
	cr_expect_str_eq(path, expected);
}

/* Where the store is without option and pointer. */
static char *default_path(void)
{
	char *path = NULL;
	struct hf_error err;

	cr_assert_eq(hf_store_locate(NULL, s.root, &path, &err), 0);
	return path;
}

Test(store_locate, by_default_in_the_state_directory)
{
	cleanup_free char *state = hf_path_join(s.dir, "state");
	cleanup_free char *beginning = hf_path_join(state, "holdfast/root-");
	cleanup_free char *path = NULL;

	cr_assert_eq(setenv("XDG_STATE_HOME", state, 1), 0);
	path = default_path();
	cr_expect_eq(strncmp(path, beginning, strlen(beginning)), 0, "%s",
		     path);
	cr_expect_eq(strlen(path), strlen(beginning) + 16);
}

Test(store_locate, roots_of_one_name_have_different_stores)
{
	cleanup_free char *a = NULL;
	cleanup_free char *b = NULL;
	struct hf_error err;

	cr_assert_eq(hf_store_locate(NULL, "/a/root", &a, &err), 0);
	cr_assert_eq(hf_store_locate(NULL, "/b/root", &b, &err), 0);
	cr_expect_str_neq(a, b);
}

Test(store_locate, an_option_is_made_absolute)
{
	cleanup_free char *working = NULL;
	cleanup_free char *inside = NULL;
	cleanup_free char *beside = hf_path_join(s.dir, "x/../y//z");
	cleanup_free char *normal = hf_path_join(s.dir, "y/z");
	cleanup_free char *link = hf_path_join(s.dir, "link");
	cleanup_fd int dir_fd = hf_file_open_directory(s.dir);

	cr_assert_eq(hf_system_working_directory(&working), 0);
	inside = hf_path_join(working, "no-such/store");
	expect_located("no-such/store", inside);
	expect_located(beside, normal);
	expect_located(s.store_path, s.store_path);
	cr_assert_eq(hf_file_symlink_at(s.store_path, dir_fd, "link"), 0);
	expect_located(link, s.store_path);
}

Test(store_locate, an_empty_option_is_refused)
{
	char *path = NULL;
	struct hf_error err;

	cr_expect_eq(hf_store_locate("", s.root, &path, &err), HF_ERR_USAGE);
	cr_expect_null(path);
}

Test(store_locate, the_pointer_in_a_git_directory)
{
	static const struct {
		const char *name;
		const char *common;    /* beneath s.dir */
		const char *git_file;  /* text of root/.git; NULL: none */
		const char *git_dir;   /* where that leads */
		const char *commondir; /* text of GITDIR/commondir, or NULL */
	} cases[] = {
		{"plain", "root/.git", NULL, NULL, NULL},
		{"above", ".git", NULL, NULL, NULL},
		{"work tree", "main/.git", "gitdir: ../main/.git/worktrees/w\n",
		 "main/.git/worktrees/w", "../..\n"},
		{"submodule", "main/.git/modules/m",
		 "gitdir: ../main/.git/modules/m\n", NULL, NULL},
	};

	for (size_t i = 0; i < HF_COUNT(cases); i++) {
		cleanup_buffer struct hf_buffer line = HF_BUFFER_INIT;
		cleanup_fd int common_fd = -1;

		if (i > 0) {
			teardown();
			setup();
		}
		make_git_directory(cases[i].common);
		if (cases[i].git_dir)
			make_git_directory(cases[i].git_dir);
		if (cases[i].git_file)
			hf_put_file(s.root_fd, ".git", cases[i].git_file);
		if (cases[i].commondir) {
			cleanup_fd int fd = make_directory(cases[i].git_dir);

			hf_put_file(fd, "commondir", cases[i].commondir);
		}

		/* Written by opening, found without an option. */
		hf_stored_reopen(&s);
		common_fd = make_directory(cases[i].common);
		hf_buffer_printf(&line, "%s\t%s\n", s.store_path, s.root);
		cr_expect(hf_file_has(common_fd, "holdfast", line.data), "%s",
			  cases[i].name);
		expect_located(NULL, s.store_path);
	}
}

Test(store_locate, the_pointer_keeps_the_lines_of_others)
{
	cleanup_buffer struct hf_buffer before = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer after = HF_BUFFER_INIT;
	cleanup_fd int fd = -1;

	make_git_directory("root/.git");
	fd = make_directory("root/.git");
	hf_buffer_printf(&before, "/a\t/x\n/old\t%s\n/b\t/y", s.root);
	hf_buffer_printf(&after, "/a\t/x\n/b\t/y\n%s\t%s\n", s.store_path,
			 s.root);
	hf_put_file(fd, "holdfast", before.data);
	cr_assert_eq(hf_file_set_mode_at(fd, "holdfast", 0600), 0);
	hf_stored_reopen(&s);
	cr_expect(hf_file_has(fd, "holdfast", after.data));
}

/* What an unsafe pointer says is as if it were not there. */
Test(store_locate, an_unsafe_pointer_is_ignored)
{
	cleanup_free char *elsewhere = hf_path_join(s.dir, "elsewhere");
	cleanup_free char *plain = NULL;
	cleanup_fd int fd = -1;
	struct hf_stat stat;

	enum { RELATIVE, NO_STORE, OPEN_FILE, OPEN_STORE, LINK, OWNER, GOOD };
	plain = default_path();
	make_git_directory("root/.git");
	fd = make_directory("root/.git");
	for (int i = RELATIVE; i <= GOOD; i++) {
		cleanup_buffer struct hf_buffer line = HF_BUFFER_INIT;

		if (i == OWNER && !hf_system_is_root())
			continue;
		(void)!hf_file_unlink_at(fd, "holdfast");
		hf_buffer_printf(&line, "%s\t%s\n",
				 i == RELATIVE	 ? "../store"
				 : i == NO_STORE ? elsewhere
						 : s.store_path,
				 s.root);
		hf_put_file(fd, i == LINK ? "target" : "holdfast", line.data);
		if (i == LINK)
			cr_assert_eq(
				hf_file_symlink_at("target", fd, "holdfast"),
				0);
		else
			cr_assert_eq(hf_file_set_mode_at(fd, "holdfast",
							 i == OPEN_FILE ? 0666
									: 0644),
				     0);
		if (i == OWNER)
			cr_assert_eq(hf_file_set_owner_at(fd, "holdfast", 12345,
							  12345),
				     0);
		cr_assert_eq(hf_file_set_mode(s.store.dir_fd,
					      i == OPEN_STORE ? 0777 : 0700),
			     0);
		expect_located(NULL, i == GOOD ? s.store_path : plain);
	}
	cr_expect_eq(hf_file_stat_path(elsewhere, &stat), -ENOENT);
}

/* A second store is not made in silence beside one that is away. */
Test(store_locate, a_store_that_is_away_is_missed)
{
	cleanup_fd int dir_fd = hf_file_open_directory(s.dir);
	cleanup_fd int mount_fd = -1;
	struct hf_error err;

	cr_expect_eq(hf_store_check_pointer(s.root, &err), 0);
	make_git_directory("root/.git");
	cr_expect_eq(hf_store_check_pointer(s.root, &err), 0);
	hf_stored_reopen(&s);
	cr_expect_eq(hf_store_check_pointer(s.root, &err), 0);

	cr_assert_eq(hf_file_rename_at(dir_fd, "store", dir_fd, "away"), 0);
	cr_expect_eq(hf_store_check_pointer(s.root, &err), HF_ERR_SYSTEM);
	cr_expect(strstr(err.text, s.store_path), "%s", err.text);
	cr_expect(strstr(err.hint, "--store"), "%s", err.hint);

	/* What is left where a file system was mounted. */
	mount_fd = make_directory("store");
	cr_expect_eq(hf_store_check_pointer(s.root, &err), HF_ERR_SYSTEM);
	cr_expect(strstr(err.text, s.store_path), "%s", err.text);
	cr_assert_eq(hf_file_rmdir_at(dir_fd, "store"), 0);
	cr_assert_eq(hf_file_rename_at(dir_fd, "away", dir_fd, "store"), 0);
	cr_expect_eq(hf_store_check_pointer(s.root, &err), 0);

	cr_assert_eq(hf_file_set_mode(s.store.dir_fd, 0755), 0);
	cr_expect_eq(hf_store_check_pointer(s.root, &err), HF_ERR_DENIED);
	cr_assert_eq(hf_file_set_mode(s.store.dir_fd, 0700), 0);
	hf_put_file(s.store.dir_fd, "store.json", "damaged");
	cr_expect_eq(hf_store_check_pointer(s.root, &err), HF_ERR_CORRUPT);
}

Test(store_locate, a_pointer_of_another_root_is_ignored)
{
	cleanup_free char *plain = default_path();
	cleanup_free char *other = hf_path_join(s.dir, "other");
	cleanup_fd int other_fd = make_directory("other");
	struct hf_error err;

	make_git_directory("root/.git");
	hf_stored_reopen(&s);
	expect_located(NULL, s.store_path);
	cr_assert_eq(hf_store_adopt(s.store_path, other, other_fd, &err), 0);
	expect_located(NULL, plain);
	cr_expect_eq(hf_store_check_pointer(s.root, &err), 0);
}

Test(store_locate, a_git_file_that_leads_elsewhere_is_not_written_through)
{
	cleanup_fd int fd = make_directory("no-git");

	hf_put_file(s.root_fd, ".git", "gitdir: ../no-git\n");
	hf_stored_reopen(&s);
	cr_expect_eq(hf_count_names(fd, ""), 0);
}

Test(store_locate, a_pointer_that_cannot_be_written_is_no_error)
{
	cleanup_fd int fd = -1;

	make_git_directory("root/.git");
	fd = make_directory("root/.git");
	cr_assert_eq(hf_file_mkdir_at(fd, "holdfast", 0700), 0);
	hf_stored_reopen(&s);
	cr_expect_eq(hf_count_names(fd, ""), 2);
}
