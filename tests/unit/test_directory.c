/* SPDX-License-Identifier: MIT */
/* Listing directories. */
#include "platform/file.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/check.h"
#include "support/tmpdir.h"

static char *top;
static int top_fd;

static void setup(void)
{
	top = hf_tmpdir_make();
	top_fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(top_fd, 0);
}

static void teardown(void)
{
	(void)close(top_fd);
	hf_tmpdir_remove(top);
}

TestSuite(directory, .init = setup, .fini = teardown, .timeout = 60);

static unsigned count_names(void)
{
	cleanup_directory struct hf_directory *directory = NULL;
	const char *name;
	enum hf_kind kind;
	unsigned count = 0;
	int rc;

	cr_assert_eq(hf_directory_open(top_fd, &directory), 0);
	while ((rc = hf_directory_next(directory, &name, &kind)) > 0)
		count++;
	cr_expect_eq(rc, 0);
	/* The end stays the end. */
	cr_expect_eq(hf_directory_next(directory, &name, &kind), 0);
	return count;
}

Test(directory, empty)
{
	cr_expect_eq(count_names(), 0);
}

Test(directory, kinds)
{
	static const struct {
		const char *name;
		enum hf_kind kind;
	} rows[] = {
		{"file", HF_KIND_FILE},	    {"dir", HF_KIND_DIRECTORY},
		{"link", HF_KIND_LINK},	    {"fifo", HF_KIND_FIFO},
		{"socket", HF_KIND_SOCKET}, {"...", HF_KIND_FILE},
		{".a", HF_KIND_FILE},	    {"..b", HF_KIND_FILE},
		{"\n\xff", HF_KIND_FILE},
	};
	bool is_seen[HF_COUNT(rows)] = {false};
	cleanup_directory struct hf_directory *directory = NULL;
	const char *name;
	enum hf_kind kind;

	cr_assert_eq(mkdirat(top_fd, "dir", 0700), 0);
	cr_assert_eq(symlinkat("dir", top_fd, "link"), 0);
	cr_assert_eq(mkfifoat(top_fd, "fifo", 0600), 0);
	cr_assert_eq(mknodat(top_fd, "socket", S_IFSOCK | 0600, 0), 0);
	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		if (rows[i].kind == HF_KIND_FILE)
			hf_put_file(top_fd, rows[i].name, "");
	}

	cr_assert_eq(hf_directory_open(top_fd, &directory), 0);
	while (hf_directory_next(directory, &name, &kind) > 0) {
		size_t i = 0;

		while (i < HF_COUNT(rows) && strcmp(rows[i].name, name) != 0)
			i++;
		cr_assert_lt(i, HF_COUNT(rows), "%s", name);
		cr_expect_not(is_seen[i], "%s twice", name);
		is_seen[i] = true;
		cr_expect(kind == rows[i].kind || kind == HF_KIND_ABSENT, "%s",
			  name);
	}
	for (size_t i = 0; i < HF_COUNT(rows); i++)
		cr_expect(is_seen[i], "%s", rows[i].name);
}

Test(directory, begins_anew_each_time)
{
	for (unsigned i = 0; i < 3000; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "%u", i);
		cr_assert_eq(mknodat(top_fd, name, S_IFREG | 0600, 0), 0);
	}
	cr_expect_eq(count_names(), 3000);
	cr_expect_eq(count_names(), 3000);
}

Test(directory, leaves_the_descriptor_alone)
{
	struct hf_directory *directory = NULL;
	const int before = hf_open_descriptors();

	cr_assert_eq(hf_directory_open(top_fd, &directory), 0);
	errno = ERANGE;
	hf_directory_close(&directory);
	hf_directory_close(&directory);
	cr_expect_null(directory);
	cr_expect_eq(errno, ERANGE);
	cr_expect_eq(hf_open_descriptors(), before);
	cr_expect_geq(fcntl(top_fd, F_GETFD), 0);
}

Test(directory, of_no_directory)
{
	struct hf_directory *directory = NULL;
	cleanup_fd int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	const int before = hf_open_descriptors();

	cr_expect_eq(hf_directory_open(fd, &directory), -ENOTDIR);
	cr_expect_eq(hf_directory_open(-1, &directory), -EBADF);
	cr_expect_null(directory);
	cr_expect_eq(hf_open_descriptors(), before);
}

Test(directory, tells_the_number_of_each_name)
{
	cleanup_directory struct hf_directory *directory = NULL;
	const char *name;
	enum hf_kind kind;
	unsigned count = 0;

	hf_put_file(top_fd, "a", "");
	hf_put_file(top_fd, "b", "");
	cr_assert_eq(mkdirat(top_fd, "c", 0700), 0);
	cr_assert_eq(symlinkat("a", top_fd, "d"), 0);
	cr_assert_eq(hf_directory_open(top_fd, &directory), 0);
	while (hf_directory_next(directory, &name, &kind) > 0) {
		struct stat found;

		cr_assert_eq(fstatat(top_fd, name, &found, AT_SYMLINK_NOFOLLOW),
			     0);
		cr_expect_eq(hf_directory_inode(directory), found.st_ino, "%s",
			     name);
		count++;
	}
	cr_expect_eq(count, 4);
}
