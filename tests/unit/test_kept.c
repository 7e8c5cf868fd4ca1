/* SPDX-License-Identifier: MIT */
/* What is kept, where, and that nothing leads out of kept/. */
#include "core/kept.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "support/check.h"
#include "support/stored.h"
#include "support/tmpdir.h"

static struct hf_stored s;
static const struct hf_name session = {"000001-20261130T030007Z"};
#define IN_SESSION(path) "kept/000001-20261130T030007Z/" path

static void setup(void)
{
	hf_stored_make(&s, "**");
}

static void teardown(void)
{
	hf_stored_remove(&s);
}

TestSuite(kept, .init = setup, .fini = teardown);

static int keep(const char *name, const char *path, bool is_leaving,
		struct hf_kept *kept, struct hf_error *err)
{
	const struct hf_kept_source source = {
		.dir_fd = s.root_fd,
		.name = name,
		.path = path,
		.is_leaving = is_leaving,
	};

	return hf_kept_copy(&s.store, &session, &source, kept, err);
}

static void check_kept(const struct hf_kept *kept, const char *text)
{
	struct hf_stat stat;
	struct hf_error err;

	cr_expect_eq(hf_file_stat_at(s.store.dir_fd, kept->path, &stat), 0);
	cr_expect_eq(stat.mode, 0600, "%s: mode %o", kept->path, stat.mode);
	cr_expect(hf_file_has(s.store.dir_fd, kept->path, text), "%s",
		  kept->path);
	{
		cleanup_fd int fd = hf_kept_open(&s.store, kept->path, &err);

		cr_expect_geq(fd, 0);
	}
}

Test(kept, file_is_copied)
{
	cleanup_kept struct hf_kept kept = HF_KEPT_INIT;
	const struct hf_hash hash = hf_hash_of("text", 4);
	struct hf_error err;
	struct stat a;
	struct stat b;

	hf_put_file(s.root_fd, "a", "text");
	cr_assert_eq(keep("a", "d/e/a", false, &kept, &err), 0, "%s", err.text);
	cr_expect_str_eq(kept.path, IN_SESSION("d/e/a"));
	cr_expect_str_eq(kept.source, "d/e/a");
	cr_expect(kept.has_hash && hf_hash_equal(&kept.hash, &hash));
	cr_expect(!kept.is_shared);
	check_kept(&kept, "text");
	cr_expect_eq(fstatat(s.root_fd, "a", &a, 0), 0);
	cr_expect_eq(fstatat(s.store.dir_fd, kept.path, &b, 0), 0);
	cr_expect_neq(a.st_ino, b.st_ino);
}

Test(kept, file_that_leaves_is_shared)
{
	cleanup_kept struct hf_kept kept = HF_KEPT_INIT;
	struct hf_error err;

	hf_put_file(s.root_fd, "a", "text");
	cr_assert_eq(keep("a", "a", true, &kept, &err), 0, "%s", err.text);
	cr_expect(kept.is_shared);
	cr_assert_eq(unlinkat(s.root_fd, "a", 0), 0);
	cr_assert_eq(hf_kept_seal(&s.store, &kept, &err), 0);
	check_kept(&kept, "text");
}

/* Somebody has the file open: what they write later is not in the copy. */
Test(kept, writer_does_not_reach_the_copy)
{
	for (int is_late = 0; is_late <= 1; is_late++) {
		cleanup_kept struct hf_kept kept = HF_KEPT_INIT;
		cleanup_fd int fd = -1;
		struct hf_hash hash;
		struct hf_error err;

		hf_put_file(s.root_fd, "w", "text");
		fd = openat(s.root_fd, "w", O_WRONLY | O_CLOEXEC);
		cr_assert_geq(fd, 0);
		cr_assert_eq(keep("w", "w", true, &kept, &err), 0, "%s",
			     err.text);
		cr_expect(kept.is_shared);
		hash = kept.hash;
		cr_assert_eq(unlinkat(s.root_fd, "w", 0), 0);
		if (!is_late)
			cr_assert_eq(pwrite(fd, "other", 5, 0), 5);
		cr_expect_eq(hf_kept_seal(&s.store, &kept, &err), !is_late,
			     "%s", err.text);
		cr_expect_eq(hf_hash_equal(&hash, &kept.hash), is_late);
		cr_assert_eq(pwrite(fd, "late!!", 6, 0), 6);
		check_kept(&kept, is_late ? "text" : "other");
		/* It is not lost either. */
		cr_expect(hf_file_has(s.store.dir_fd,
				      is_late ? IN_SESSION("w~3~2")
					      : IN_SESSION("w~2"),
				      "late!!"));
	}
}

Test(kept, dropped_when_it_stays)
{
	cleanup_kept struct hf_kept kept = HF_KEPT_INIT;
	struct hf_error err;
	struct stat st;

	hf_put_file(s.root_fd, "a", "text");
	cr_assert_eq(keep("a", "a", true, &kept, &err), 0, "%s", err.text);
	hf_kept_drop(&s.store, &kept);
	cr_expect_eq(fstatat(s.store.dir_fd, kept.path, &st, 0), -1);
	cr_expect_eq(fstatat(s.root_fd, "a", &st, 0), 0);
	cr_expect_eq(st.st_nlink, 1);
	cr_expect_eq(st.st_mode & 07777, 0644);
}

Test(kept, file_with_two_names_is_copied)
{
	cleanup_kept struct hf_kept kept = HF_KEPT_INIT;
	struct hf_error err;

	hf_put_file(s.root_fd, "a", "text");
	cr_assert_eq(linkat(s.root_fd, "a", s.root_fd, "b", 0), 0);
	cr_assert_eq(keep("a", "a", true, &kept, &err), 0, "%s", err.text);
	cr_expect(!kept.is_shared);
	check_kept(&kept, "text");
}

Test(kept, other_kinds)
{
	cleanup_kept struct hf_kept link = HF_KEPT_INIT;
	cleanup_kept struct hf_kept fifo = HF_KEPT_INIT;
	cleanup_kept struct hf_kept directory = HF_KEPT_INIT;
	struct hf_error err;
	struct stat st;

	cr_assert_eq(symlinkat("/etc/passwd", s.root_fd, "l"), 0);
	cr_assert_eq(mkfifoat(s.root_fd, "p", 0600), 0);
	cr_assert_eq(mkdirat(s.root_fd, "d", 0000), 0);
	cr_assert_eq(keep("l", "l", true, &link, &err), 0, "%s", err.text);
	check_kept(&link, "/etc/passwd");
	cr_assert_eq(keep("p", "p", true, &fifo, &err), 0, "%s", err.text);
	cr_expect_str_eq(fifo.path, "");
	cr_assert_eq(keep("d", "d", true, &directory, &err), 0, "%s", err.text);
	cr_expect_eq(fstatat(s.store.dir_fd, directory.path, &st, 0), 0);
	cr_expect(S_ISDIR(st.st_mode));
}

Test(kept, names_that_are_taken)
{
	static const struct {
		const char *path;
		const char *kept;
	} rows[] = {
		{"a", IN_SESSION("a")},
		{"a", IN_SESSION("a~2")},
		{"a", IN_SESSION("a~3")},
		{"a/x", IN_SESSION("a~4/x")},
		{"a/y", IN_SESSION("a~4/y")},
		{"/abs/a", IN_SESSION("outside/abs/a")},
		{"outside", IN_SESSION("outside~2")},
	};
	struct hf_error err;

	hf_put_file(s.root_fd, "a", "text");
	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		cleanup_kept struct hf_kept kept = HF_KEPT_INIT;

		cr_assert_eq(keep("a", rows[i].path, false, &kept, &err), 0,
			     "%s: %s", rows[i].path, err.text);
		cr_expect_str_eq(kept.path, rows[i].kept);
		check_kept(&kept, "text");
	}
}

/* With the folder in front it is longer than a path may be. */
Test(kept, longest_path)
{
	cleanup_kept struct hf_kept kept = HF_KEPT_INIT;
	char path[HF_PATH_MAX];
	struct hf_error err;

	for (size_t i = 0; i < HF_PATH_MAX - 1; i++)
		path[i] = i % 200 == 199 ? '/' : 'p';
	path[HF_PATH_MAX - 1] = '\0';
	hf_put_file(s.root_fd, "a", "text");
	cr_assert_eq(keep("a", path, false, &kept, &err), 0, "%s", err.text);
	cr_expect_gt(strlen(kept.path), (size_t)HF_PATH_MAX);
	{
		cleanup_fd int fd = hf_kept_open(&s.store, kept.path, &err);

		cr_expect_geq(fd, 0, "%s", err.text);
	}
}

Test(kept, longest_name)
{
	char path[HF_NAME_MAX + 1];
	struct hf_error err;

	memset(path, 'n', HF_NAME_MAX);
	path[HF_NAME_MAX] = '\0';
	hf_put_file(s.root_fd, path, "text");
	for (int i = 0; i < 3; i++) {
		cleanup_kept struct hf_kept kept = HF_KEPT_INIT;

		cr_assert_eq(keep(path, path, false, &kept, &err), 0, "%s",
			     err.text);
		check_kept(&kept, "text");
	}
}

Test(kept, holes_stay_holes)
{
	cleanup_kept struct hf_kept kept = HF_KEPT_INIT;
	const off_t size = 8 << 20;
	struct hf_error err;
	struct stat st;
	int fd;

	fd = openat(s.root_fd, "a", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	cr_assert_eq(ftruncate(fd, size), 0);
	cr_assert_eq(pwrite(fd, "x", 1, size / 2), 1);
	(void)close(fd);
	cr_assert_eq(keep("a", "a", false, &kept, &err), 0, "%s", err.text);
	cr_assert_eq(fstatat(s.store.dir_fd, kept.path, &st, 0), 0);
	cr_expect_eq(st.st_size, size);
	cr_expect_lt(st.st_blocks, size / 512 / 2);
}

Test(kept, nothing_there)
{
	cleanup_kept struct hf_kept kept = HF_KEPT_INIT;
	struct hf_error err;

	cr_expect_eq(keep("a", "a", false, &kept, &err), HF_ERR_CHANGED);
	cr_expect_str_eq(err.text, "cannot keep 'a': it has just vanished");
}

Test(kept, mode_0000_of_ours)
{
	cleanup_kept struct hf_kept kept = HF_KEPT_INIT;
	struct hf_error err;
	struct stat st;

	teardown();
	{
		char *const mine = hf_tmpdir_make();

		hf_become_user(mine);
		hf_tmpdir_remove(mine);
	}
	setup();
	hf_put_file(s.root_fd, "a", "text");
	cr_assert_eq(fchmodat(s.root_fd, "a", 0, 0), 0);
	cr_assert_eq(keep("a", "a", false, &kept, &err), 0, "%s", err.text);
	check_kept(&kept, "text");
	cr_expect_eq(fstatat(s.root_fd, "a", &st, 0), 0);
	cr_expect_eq(st.st_mode & 07777, 0, "the mode is as it was");
}

Test(kept, a_journal_leads_nowhere_else)
{
	static const char *const paths[] = {
		"",
		"kept",
		"kept/",
		"store.json",
		"kept/a",
		"kept/../store.json",
		"kept/x/../../store.json",
		"/etc/passwd",
		"kept//etc/passwd",
		"keptx/a",
		"kept/link/passwd",
	};
	struct hf_error err;

	cr_assert_eq(
		symlinkat("/etc", s.store.folder_fd[HF_STORE_KEPT], "link"), 0);
	for (size_t i = 0; i < HF_COUNT(paths); i++)
		cr_expect_lt(hf_kept_open(&s.store, paths[i], &err), 0, "%s",
			     paths[i]);
}

/* A link planted in the store is stepped around, not through. */
Test(kept, planted_link)
{
	cleanup_kept struct hf_kept kept = HF_KEPT_INIT;
	struct hf_error err;

	hf_put_file(s.root_fd, "a", "text");
	cr_assert_eq(mkdirat(s.root_fd, "victim", 0755), 0);
	cr_assert_eq(symlinkat(s.root, s.store.folder_fd[HF_STORE_KEPT],
			       session.text),
		     0);
	cr_expect_lt(keep("a", "victim/a", false, &kept, &err), 0);
	cr_expect_eq(faccessat(s.root_fd, "victim/a", F_OK, 0), -1);
}
