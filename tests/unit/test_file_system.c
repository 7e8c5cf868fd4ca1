/* SPDX-License-Identifier: MIT */
/* What files are, and what they are on. */
#include "platform/file.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/buffer.h"
#include "platform/linux/file_internal.h"
#include "support/check.h"
#include "support/tmpdir.h"

static char *top;
static int top_fd;

static void setup(void)
{
	top = hf_tmpdir_make();
	top_fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(top_fd, 0);
	hf_put_file(top_fd, "file", "content");
	cr_assert_eq(fchmodat(top_fd, "file", 04640, 0), 0);
	cr_assert_eq(symlinkat("file", top_fd, "link"), 0);
}

static void teardown(void)
{
	(void)close(top_fd);
	hf_tmpdir_remove(top);
}

TestSuite(file_system, .init = setup, .fini = teardown, .timeout = 60);

/* -- looking ------------------------------------------------------------- */

Test(file_system, kind)
{
	static const struct {
		mode_t mode;
		enum hf_kind kind;
	} rows[] = {
		{S_IFREG, HF_KIND_FILE},
		{S_IFDIR, HF_KIND_DIRECTORY},
		{S_IFLNK, HF_KIND_LINK},
		{S_IFIFO, HF_KIND_FIFO},
		{S_IFSOCK, HF_KIND_SOCKET},
		{S_IFCHR, HF_KIND_CHARACTER_DEVICE},
		{S_IFBLK, HF_KIND_BLOCK_DEVICE},
		{0, HF_KIND_ABSENT},
		{S_IFMT, HF_KIND_ABSENT},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++)
		cr_expect_eq(hf_file_kind(rows[i].mode | 07777), rows[i].kind,
			     "%o", rows[i].mode);
}

Test(file_system, time_ns)
{
	static const struct {
		struct timespec time;
		int64_t ns;
	} rows[] = {
		{{0, 0}, 0},
		{{1, 999999999}, 1999999999},
		{{-1, 999999999}, -1},
		{{INT64_C(9223372036), 854775807}, INT64_MAX},
		{{INT64_C(9223372036), 854775808}, INT64_MAX},
		{{INT64_C(13569465600), 0}, INT64_MAX},
		{{INT64_MAX, 999999999}, INT64_MAX},
		{{INT64_MIN, 0}, INT64_MIN},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++)
		cr_expect_eq(hf_file_time_ns(&rows[i].time), rows[i].ns, "%zu",
			     i);
}

static void check_file(const struct hf_stat *st)
{
	struct stat expected;

	cr_assert_eq(fstatat(top_fd, "file", &expected, 0), 0);
	cr_expect_eq(st->kind, HF_KIND_FILE);
	cr_expect_eq(st->mode, 04640);
	cr_expect_eq(st->uid, geteuid());
	cr_expect_eq(st->gid, expected.st_gid);
	cr_expect_eq(st->nlink, 1);
	cr_expect_eq(st->size, 7);
	cr_expect_eq(st->dev, expected.st_dev);
	cr_expect_eq(st->ino, expected.st_ino);
	cr_expect_eq(st->rdev, 0);
	cr_expect_eq(st->blocks, (uint64_t)expected.st_blocks);
	cr_expect_eq(st->mtime_ns, hf_file_time_ns(&expected.st_mtim));
	cr_expect_eq(st->ctime_ns, hf_file_time_ns(&expected.st_ctim));
}

Test(file_system, stat)
{
	cleanup_fd int fd = hf_file_open_read_at(top_fd, "file");
	cleanup_free char *path = NULL;
	struct hf_stat st;

	cr_assert_eq(hf_file_stat(fd, &st), 0);
	check_file(&st);
	cr_assert_eq(hf_file_stat_at(top_fd, "file", &st), 0);
	check_file(&st);
	cr_assert_gt(asprintf(&path, "%s/link", top), 0);
	cr_assert_eq(hf_file_stat_path(path, &st), 0);
	check_file(&st);

	cr_assert_eq(hf_file_stat_at(top_fd, "link", &st), 0);
	cr_expect_eq(st.kind, HF_KIND_LINK);
	cr_expect_eq(st.size, 0);
	cr_assert_eq(hf_file_stat(top_fd, &st), 0);
	cr_expect_eq(st.kind, HF_KIND_DIRECTORY);
	cr_expect_eq(st.size, 0);
	cr_assert_eq(hf_file_stat_path("/dev/null", &st), 0);
	cr_expect_eq(st.kind, HF_KIND_CHARACTER_DEVICE);
	cr_expect_neq(st.rdev, 0);
}

Test(file_system, stat_failing_changes_nothing)
{
	struct hf_stat st = {.size = 4711};

	cr_expect_eq(hf_file_stat(-1, &st), -EBADF);
	cr_expect_eq(hf_file_stat_at(top_fd, "missing", &st), -ENOENT);
	cr_expect_eq(hf_file_stat_at(top_fd, "file/x", &st), -ENOTDIR);
	cr_expect_eq(hf_file_stat_path("/nonexistent", &st), -ENOENT);
	cr_expect_eq(st.size, 4711);
}

Test(file_system, stat_of_the_far_future)
{
	const struct timespec times[2] = {
		{.tv_nsec = UTIME_OMIT},
		{.tv_sec = INT64_C(13569465600)}, /* the year 2400 */
	};
	struct hf_stat st;

	cr_assert_eq(utimensat(top_fd, "file", times, 0), 0);
	cr_assert_eq(hf_file_stat_at(top_fd, "file", &st), 0);
	cr_expect_gt(st.mtime_ns, 0);
}

Test(file_system, read_link)
{
	static const size_t lens[] = {1, 59, 60, 255, 4000, 4095};

	for (size_t i = 0; i < HF_COUNT(lens); i++) {
		cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
		char target[4096];

		memset(target, 0xff, lens[i]);
		target[lens[i]] = '\0';
		cr_assert_eq(symlinkat(target, top_fd, "long"), 0);
		hf_buffer_add_text(&text, "kept");
		cr_expect_eq(hf_file_read_link_at(top_fd, "long", &text), 0);
		cr_expect_eq(text.len, 4 + lens[i]);
		cr_expect_str_eq(text.data + 4, target);
		cr_assert_eq(unlinkat(top_fd, "long", 0), 0);
	}
}

Test(file_system, read_link_of_none)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;

	cr_expect_eq(hf_file_read_link_at(top_fd, "file", &text), -EINVAL);
	cr_expect_eq(hf_file_read_link_at(top_fd, "missing", &text), -ENOENT);
	cr_expect_eq(text.len, 0);
}

Test(file_system, canonical)
{
	cleanup_free char *messy = NULL;
	cleanup_free char *plain = NULL;
	cleanup_free char *canonical = NULL;

	cr_assert_gt(asprintf(&messy, "%s/.//../%s/link", top,
			      strrchr(top, '/') + 1),
		     0);
	cr_assert_gt(asprintf(&plain, "%s/file", top), 0);
	canonical = hf_file_canonical(messy);
	cr_assert(canonical);
	cr_expect_str_eq(canonical, plain);
	errno = 0;
	cr_expect_null(hf_file_canonical("/nonexistent/x"));
	cr_expect_eq(errno, ENOENT);
}

/* -- protection ---------------------------------------------------------- */

Test(file_system, protection)
{
	cleanup_fd int fd = hf_file_open_read_at(top_fd, "file");
	uint32_t flags = 4711;
	int rc = hf_file_get_protection(fd, &flags);
	int all = 0;

	if (rc == -EOPNOTSUPP)
		hf_skip(teardown, "no flags here");
	cr_assert_eq(rc, 0);
	cr_expect_eq(flags, 0);
	cr_expect_eq(hf_file_set_protection(fd, 0), 0);
	/* 0x20 append-only, 0x10 immutable; other bits are not ours. */
	rc = hf_file_set_protection(fd, 0x20 | 0x40);
	if (rc == -EPERM)
		hf_skip(teardown, "needs root");
	cr_assert_eq(rc, 0);
	cr_expect_eq(hf_file_get_protection(fd, &flags), 0);
	cr_expect_eq(flags, 0x20);
	cr_assert_eq(ioctl(fd, FS_IOC_GETFLAGS, &all), 0);
	cr_expect_eq(all & 0x40, 0);
	cr_expect_eq(hf_file_open_write_at(top_fd, "file"), -EPERM);
	cr_expect_eq(hf_file_set_protection(fd, 0x10), 0);
	cr_expect_eq(hf_file_unlink_at(top_fd, "file"), -EPERM);
	cr_expect_eq(hf_file_set_protection(fd, 0), 0);
	cr_expect_eq(hf_file_get_protection(fd, &flags), 0);
	cr_expect_eq(flags, 0);
}

Test(file_system, protection_of_what_has_none)
{
	cleanup_fd int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	cleanup_fd int proc = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	uint32_t flags = 4711;

	cr_expect_eq(hf_file_get_protection(null, &flags), -EOPNOTSUPP);
	cr_expect_eq(hf_file_set_protection(null, 0), -EOPNOTSUPP);
	cr_expect_eq(hf_file_get_protection(proc, &flags), -EOPNOTSUPP);
	cr_expect_eq(hf_file_get_protection(-1, &flags), -EBADF);
	cr_expect_eq(flags, 4711);
}

/* -- file systems -------------------------------------------------------- */

Test(file_system, traits)
{
	cleanup_fd int memory = open("/dev/shm", O_RDONLY | O_CLOEXEC);
	cleanup_fd int proc = open("/proc", O_RDONLY | O_CLOEXEC);
	unsigned traits = 4711;
	struct statfs fs;

	cr_expect_eq(hf_file_system_traits(-1, &traits), -EBADF);
	cr_expect_eq(traits, 4711);
	cr_expect_eq(hf_file_system_traits(proc, &traits), 0);
	cr_expect_eq(traits, 0);
	if (fstatfs(memory, &fs) < 0 || fs.f_type != TMPFS_MAGIC)
		hf_skip(teardown, "/dev/shm is no tmpfs");
	cr_expect_eq(hf_file_system_traits(memory, &traits), 0);
	cr_expect_eq(traits, HF_FS_VOLATILE);
}

Test(file_system, free)
{
	uint64_t bytes = 4711;
	struct statfs fs;

	cr_expect_eq(hf_file_system_free(-1, &bytes), -EBADF);
	cr_expect_eq(bytes, 4711);
	cr_assert_eq(hf_file_system_free(top_fd, &bytes), 0);
	cr_assert_eq(fstatfs(top_fd, &fs), 0);
	cr_expect_gt(bytes, 0);
	cr_expect_leq(bytes, (uint64_t)fs.f_blocks * (uint64_t)fs.f_bsize);
}
