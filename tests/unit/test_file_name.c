/* SPDX-License-Identifier: MIT */
/* Names and what inodes carry, never through a link. */
#include "platform/file.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "platform/linux/file_internal.h"
#include "support/check.h"
#include "support/deny_calls.h"
#include "support/tmpdir.h"

static char *top;
static int top_fd;

/* file, other, dir/, dir/in, link -> file, fifo. */
static void setup(void)
{
	top = hf_tmpdir_make();
	top_fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(top_fd, 0);
	hf_put_file(top_fd, "file", "one");
	hf_put_file(top_fd, "other", "two");
	cr_assert_eq(mkdirat(top_fd, "dir", 0700), 0);
	hf_put_file(top_fd, "dir/in", "three");
	cr_assert_eq(symlinkat("file", top_fd, "link"), 0);
	cr_assert_eq(mkfifoat(top_fd, "fifo", 0600), 0);
}

static void teardown(void)
{
	(void)close(top_fd);
	hf_tmpdir_remove(top);
}

TestSuite(file_name, .init = setup, .fini = teardown, .timeout = 60);

static bool exists(const char *name)
{
	return faccessat(top_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static struct stat stat_of(const char *name)
{
	struct stat st;

	cr_assert_eq(fstatat(top_fd, name, &st, AT_SYMLINK_NOFOLLOW), 0, "%s",
		     name);
	return st;
}

static unsigned mode_of(const char *name)
{
	return stat_of(name).st_mode & 07777;
}

/* -- names --------------------------------------------------------------- */

Test(file_name, rename_replaces)
{
	cr_expect_eq(hf_file_rename_at(top_fd, "file", top_fd, "other"), 0);
	cr_expect(hf_file_has(top_fd, "other", "one"));
	cr_expect_not(exists("file"));
	cr_expect_eq(hf_file_rename_at(top_fd, "file", top_fd, "other"),
		     -ENOENT);
}

static void check_rename_new(int (*rename_it)(int, const char *, int,
					      const char *))
{
	cr_expect_eq(rename_it(top_fd, "file", top_fd, "other"), -EEXIST);
	cr_expect_eq(rename_it(top_fd, "file", top_fd, "link"), -EEXIST);
	cr_expect(hf_file_has(top_fd, "file", "one"));
	cr_expect(hf_file_has(top_fd, "other", "two"));
	cr_expect_eq(rename_it(top_fd, "missing", top_fd, "new"), -ENOENT);

	cr_expect_eq(rename_it(top_fd, "file", top_fd, "new"), 0);
	cr_expect(hf_file_has(top_fd, "new", "one"));
	cr_expect_not(exists("file"));
	/* The link itself, though it dangles now. */
	cr_expect_eq(rename_it(top_fd, "link", top_fd, "link2"), 0);
	cr_expect(S_ISLNK(stat_of("link2").st_mode));
	cr_expect_not(exists("link"));
}

Test(file_name, rename_new)
{
	check_rename_new(hf_file_rename_new_at);
	cr_expect_eq(hf_file_rename_new_at(top_fd, "dir", top_fd, "dir2"), 0);
	cr_expect(hf_file_has(top_fd, "dir2/in", "three"));
}

Test(file_name, rename_new_by_link)
{
	check_rename_new(hf_file_rename_new_by_link);
	cr_expect_eq(hf_file_rename_new_by_link(top_fd, "dir", top_fd, "dir2"),
		     -EINVAL);
	cr_expect(exists("dir/in"));
	cr_expect_not(exists("dir2"));
}

Test(file_name, exchange)
{
	cr_expect_eq(hf_file_exchange_at(top_fd, "file", top_fd, "dir"), 0);
	cr_expect(hf_file_has(top_fd, "dir", "one"));
	cr_expect(hf_file_has(top_fd, "file/in", "three"));
	cr_expect_eq(hf_file_exchange_at(top_fd, "file", top_fd, "missing"),
		     -ENOENT);
	cr_expect(exists("file"));
}

Test(file_name, link_is_of_the_link)
{
	cr_expect_eq(hf_file_link_at(top_fd, "link", top_fd, "link2"), 0);
	cr_expect_eq(stat_of("link2").st_ino, stat_of("link").st_ino);
	cr_expect_eq(hf_file_link_at(top_fd, "file", top_fd, "other"), -EEXIST);
}

Test(file_name, remove)
{
	cr_expect_eq(hf_file_unlink_at(top_fd, "link"), 0);
	cr_expect(exists("file"));
	cr_expect_eq(hf_file_unlink_at(top_fd, "dir"), -EISDIR);
	cr_expect_eq(hf_file_rmdir_at(top_fd, "dir"), -ENOTEMPTY);
	cr_expect_eq(hf_file_unlink_at(top_fd, "dir/in"), 0);
	cr_expect_eq(hf_file_rmdir_at(top_fd, "file"), -ENOTDIR);
	cr_expect_eq(hf_file_rmdir_at(top_fd, "dir"), 0);
	cr_expect_eq(hf_file_unlink_at(top_fd, "dir"), -ENOENT);
}

Test(file_name, make_directories)
{
	static const struct {
		const char *path; /* behind the directory of the test */
		int rc;
	} rows[] = {
		{"/x/y/z", 0},
		{"/x/y/z", 0},
		{"/x//w/", 0},
		{"", 0},
		{"/file", -ENOTDIR},
		{"/file/x", -ENOTDIR},
		{"/dir/in/x/y", -ENOTDIR},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		cleanup_free char *path = NULL;

		cr_assert_gt(asprintf(&path, "%s%s", top, rows[i].path), 0);
		cr_expect_eq(hf_file_mkdir_path(path), rows[i].rc, "'%s'",
			     rows[i].path);
	}
	cr_expect(S_ISDIR(stat_of("x/y/z").st_mode));
	cr_expect(S_ISDIR(stat_of("x/w").st_mode));
	cr_expect_eq(mode_of("x"), 0700);
	cr_expect_eq(hf_file_mkdir_path("/"), 0);
	cr_expect_eq(hf_file_mkdir_path("relative"), -EINVAL);
	cr_expect_eq(hf_file_mkdir_path(""), -EINVAL);

	cr_expect_eq(hf_file_mkdir_at(top_fd, "new", 0700), 0);
	cr_expect_eq(hf_file_mkdir_at(top_fd, "new", 0700), -EEXIST);
}

Test(file_name, make_links)
{
	char text[8] = "";

	cr_expect_eq(hf_file_symlink_at("a/\xff\n", top_fd, "new"), 0);
	cr_expect_eq(readlinkat(top_fd, "new", text, sizeof(text)), 4);
	cr_expect_str_eq(text, "a/\xff\n");
	cr_expect_eq(hf_file_symlink_at("x", top_fd, "new"), -EEXIST);
	cr_expect_eq(hf_file_symlink_at("", top_fd, "empty"), -ENOENT);
}

Test(file_name, make_nodes)
{
	cr_expect_eq(hf_file_mknod_at(top_fd, "p", HF_KIND_FIFO, 0600, 0), 0);
	cr_expect(S_ISFIFO(stat_of("p").st_mode));
	cr_expect_eq(mode_of("p"), 0600);
	cr_expect_eq(hf_file_mknod_at(top_fd, "s", HF_KIND_SOCKET, 0600, 0), 0);
	cr_expect(S_ISSOCK(stat_of("s").st_mode));
	cr_expect_eq(hf_file_mknod_at(top_fd, "p", HF_KIND_FIFO, 0600, 0),
		     -EEXIST);

	for (unsigned kind = HF_KIND_ABSENT; kind <= HF_KIND_LINK; kind++)
		cr_expect_eq(hf_file_mknod_at(top_fd, "x", (enum hf_kind)kind,
					      0600, 0),
			     -EINVAL);
	cr_expect_not(exists("x"));
}

Test(file_name, make_devices)
{
	const dev_t null = makedev(1, 3);
	const int rc = hf_file_mknod_at(top_fd, "c", HF_KIND_CHARACTER_DEVICE,
					0600, null);

	if (rc == -EPERM)
		hf_skip(teardown, "devices need root");
	cr_assert_eq(rc, 0);
	cr_expect(S_ISCHR(stat_of("c").st_mode));
	cr_expect_eq(stat_of("c").st_rdev, null);
	cr_expect_eq(hf_file_mknod_at(top_fd, "b", HF_KIND_BLOCK_DEVICE, 0600,
				      makedev(7, 200)),
		     0);
	cr_expect(S_ISBLK(stat_of("b").st_mode));
	cr_expect_eq(stat_of("b").st_rdev, makedev(7, 200));
}

/* -- mode ---------------------------------------------------------------- */

static void check_set_mode(int (*set)(int, const char *, uint32_t),
			   const char *how)
{
	static const uint32_t modes[] = {0, 0644, 04755, 01777, 0600};
	static const char *const names[] = {"file", "dir", "fifo"};
	const int before = hf_open_descriptors();

	for (size_t i = 0; i < HF_COUNT(names); i++) {
		for (size_t j = 0; j < HF_COUNT(modes); j++) {
			cr_expect_eq(set(top_fd, names[i], modes[j]), 0,
				     "%s: %s", how, names[i]);
			cr_expect_eq(mode_of(names[i]), modes[j], "%s: %s %o",
				     how, names[i], modes[j]);
		}
	}
	cr_expect_eq(set(top_fd, "link", 0777), -EOPNOTSUPP, "%s", how);
	cr_expect_eq(mode_of("file"), 0600, "%s: link followed", how);
	cr_expect_eq(set(top_fd, "missing", 0600), -ENOENT, "%s", how);
	cr_expect_eq(hf_open_descriptors(), before, "%s: leaked", how);
}

Test(file_name, set_mode_at)
{
	check_set_mode(hf_file_set_mode_at, "as the kernel has it");
	check_set_mode(hf_file_set_mode_by_proc, "by /proc");
}

Test(file_name, set_mode_at_on_old_kernels)
{
	cr_assert_eq(hf_deny_newer_calls(ENOSYS), 0);
	check_set_mode(hf_file_set_mode_at, "ENOSYS");
}

Test(file_name, set_mode_at_in_a_container)
{
	cr_assert_eq(hf_deny_newer_calls(EPERM), 0);
	check_set_mode(hf_file_set_mode_at, "EPERM");
}

Test(file_name, set_mode_of_the_open_file)
{
	cleanup_fd int fd = hf_file_open_read_at(top_fd, "file");

	/* Bits of the kind, as a damaged manifest may have them, are cut. */
	cr_expect_eq(hf_file_set_mode(fd, 0120641), 0);
	cr_expect_eq(mode_of("file"), 0641);
	cr_expect_eq(hf_file_set_mode(-1, 0600), -EBADF);
}

/* -- owner, time --------------------------------------------------------- */

Test(file_name, set_owner)
{
	const uint32_t uid = geteuid();
	const uint32_t gid = getegid();
	cleanup_fd int fd = hf_file_open_read_at(top_fd, "file");

	cr_expect_eq(hf_file_set_owner(fd, uid, gid), 0);
	cr_expect_eq(hf_file_set_owner_at(top_fd, "link", uid, gid), 0);
	cr_expect_eq(hf_file_set_owner_at(top_fd, "missing", uid, gid),
		     -ENOENT);
	if (uid != 0) {
		cr_expect_eq(hf_file_set_owner(fd, 0, gid), -EPERM);
		return;
	}
	cr_expect_eq(hf_file_set_owner_at(top_fd, "link", 1234, 5678), 0);
	cr_expect_eq(stat_of("link").st_uid, 1234);
	cr_expect_eq(stat_of("link").st_gid, 5678);
	cr_expect_eq(stat_of("file").st_uid, 0);
	cr_expect_eq(hf_file_set_owner(fd, 42, 43), 0);
	cr_expect_eq(stat_of("file").st_uid, 42);
	cr_expect_eq(stat_of("file").st_gid, 43);
}

Test(file_name, set_mtime)
{
	static const int64_t times[] = {
		0,
		1,
		INT64_C(1796007607000000001),
		INT64_C(1796007607999999999),
		INT64_C(8589934592000000000), /* beyond 33 bits of seconds */
		-1,
		INT64_C(-1000000000),
		INT64_C(-1500000000),
	};
	static const char *const names[] = {"file", "dir", "link", "fifo"};

	for (size_t i = 0; i < HF_COUNT(names); i++) {
		for (size_t j = 0; j < HF_COUNT(times); j++) {
			const struct stat before = stat_of(names[i]);
			struct stat after;

			cr_expect_eq(hf_file_set_mtime_at(top_fd, names[i],
							  times[j]),
				     0);
			after = stat_of(names[i]);
			cr_expect_eq(hf_file_time_ns(&after.st_mtim), times[j],
				     "%s: %" PRId64, names[i], times[j]);
			cr_expect_eq(hf_file_time_ns(&after.st_atim),
				     hf_file_time_ns(&before.st_atim));
		}
	}
	cr_expect_eq(hf_file_set_mtime_at(top_fd, "missing", 0), -ENOENT);
}

Test(file_name, set_mtime_stays_at_the_link)
{
	const struct stat before = stat_of("file");
	cleanup_fd int fd = hf_file_open_read_at(top_fd, "other");
	struct stat after;

	cr_expect_eq(hf_file_set_mtime_at(top_fd, "link", 42), 0);
	after = stat_of("file");
	cr_expect_eq(hf_file_time_ns(&after.st_mtim),
		     hf_file_time_ns(&before.st_mtim));

	cr_expect_eq(hf_file_set_mtime(fd, -42), 0);
	after = stat_of("other");
	cr_expect_eq(hf_file_time_ns(&after.st_mtim), -42);
	cr_expect_eq(hf_file_set_mtime(-1, 0), -EBADF);
}
