/* SPDX-License-Identifier: MIT */
/* Opening files without being led astray, and their content. */
#include "platform/file.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/linux/file_internal.h"
#include "support/check.h"
#include "support/deny_calls.h"
#include "support/tmpdir.h"

static char *top;
static int top_fd;

/* a/b/c, a/link -> b, out -> /etc, f, dangling -> nowhere, a fifo, and
 * closed/in, of which only the first is not readable. */
static void setup(void)
{
	top = hf_tmpdir_make();
	top_fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(top_fd, 0);
	cr_assert_eq(mkdirat(top_fd, "a", 0700), 0);
	cr_assert_eq(mkdirat(top_fd, "a/b", 0700), 0);
	cr_assert_eq(mkdirat(top_fd, "a/b/c", 0700), 0);
	cr_assert_eq(mkdirat(top_fd, "closed", 0700), 0);
	cr_assert_eq(mkdirat(top_fd, "closed/in", 0755), 0);
	cr_assert_eq(fchmodat(top_fd, "closed", 0111, 0), 0);
	cr_assert_eq(symlinkat("b", top_fd, "a/link"), 0);
	cr_assert_eq(symlinkat("/etc", top_fd, "out"), 0);
	cr_assert_eq(symlinkat("nowhere", top_fd, "dangling"), 0);
	cr_assert_eq(mkfifoat(top_fd, "fifo", 0600), 0);
	hf_put_file(top_fd, "f", "content");
}

static void teardown(void)
{
	(void)seteuid(getuid());
	(void)close(top_fd);
	hf_tmpdir_remove(top);
}

TestSuite(file, .init = setup, .fini = teardown, .timeout = 60);

/* -- beneath ------------------------------------------------------------- */

static void check_beneath(int (*open_it)(int, const char *), const char *how)
{
	static const struct {
		const char *path;
		int rc;
	} rows[] = {
		{".", 0},
		{"a", 0},
		{"a/b/c", 0},
		{"closed/in", 0},
		{"a/link", -ELOOP},
		{"a/link/c", -ELOOP},
		{"out", -ELOOP},
		{"out/ssl", -ELOOP},
		{"dangling", -ELOOP},
		{"f", -ENOTDIR},
		{"f/x", -ENOTDIR},
		{"fifo", -ENOTDIR},
		{"missing", -ENOENT},
		{"a/missing/c", -ENOENT},
	};
	const int before = hf_open_descriptors();

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		cleanup_fd int fd = open_it(top_fd, rows[i].path);

		cr_expect_eq(fd < 0 ? fd : 0, rows[i].rc, "%s: '%s': %d", how,
			     rows[i].path, fd);
		if (fd < 0)
			continue;
		cr_expect(hf_is_same(fd, top_fd, rows[i].path));
		cr_expect(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	}
	cr_expect_eq(hf_open_descriptors(), before, "%s: leaked", how);
}

Test(file, beneath)
{
	check_beneath(hf_file_open_beneath, "openat2");
	check_beneath(hf_file_open_beneath_walk, "walk");
}

Test(file, beneath_as_user)
{
	/* The walk, too, needs no more than search permission on the way; what
	 * root has made is another's now, so let it be searched. */
	cr_assert_eq(fchmodat(top_fd, "a", 0755, 0), 0);
	cr_assert_eq(fchmodat(top_fd, "a/b", 0755, 0), 0);
	cr_assert_eq(fchmodat(top_fd, "a/b/c", 0755, 0), 0);
	hf_become_user(top);
	check_beneath(hf_file_open_beneath, "openat2");
	check_beneath(hf_file_open_beneath_walk, "walk");
}

Test(file, beneath_without_openat2)
{
	cr_assert_eq(hf_deny_newer_calls(ENOSYS), 0);
	check_beneath(hf_file_open_beneath, "ENOSYS");
}

Test(file, beneath_with_openat2_filtered)
{
	cr_assert_eq(hf_deny_newer_calls(EPERM), 0);
	check_beneath(hf_file_open_beneath, "EPERM");
}

Test(file, beneath_takes_plain_paths_only)
{
	static const char *const paths[] = {
		"",	  "/",	  "/etc", "..",	 "../x",  "a/..",
		"a/../a", "a//b", "a/",	  "./a", "a/./b",
	};
	char name[257];

	for (size_t i = 0; i < HF_COUNT(paths); i++)
		cr_expect_eq(hf_file_open_beneath(top_fd, paths[i]), -EINVAL,
			     "'%s'", paths[i]);
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	cr_expect_eq(hf_file_open_beneath(top_fd, name), -EINVAL);
	cr_expect_eq(hf_file_open_beneath_walk(top_fd, name), -ENAMETOOLONG);
}

/* -- beneath, while a link is being swapped in ---------------------------- */

/* Lets "swap", a directory, and "trap", a link, trade places all the time. */
static void *swap_again_and_again(void *argument)
{
	atomic_bool *const is_over = argument;

	while (!atomic_load(is_over))
		(void)renameat2(top_fd, "swap", top_fd, "trap",
				RENAME_EXCHANGE);
	return NULL;
}

static void check_swaps(int (*open_it)(int, const char *), const char *how,
			ino_t inside)
{
	atomic_bool is_over = false;
	pthread_t thread;
	unsigned entered = 0;
	unsigned refused = 0;

	cr_assert_eq(
		pthread_create(&thread, NULL, swap_again_and_again, &is_over),
		0);
	/* Until both were met, with a bound for the day it never happens. */
	for (unsigned i = 0; i < 2000000; i++) {
		cleanup_fd int fd = open_it(top_fd, "swap/in");
		struct stat st;

		if (fd >= 0) {
			cr_assert_eq(fstat(fd, &st), 0);
			cr_assert_eq(st.st_ino, inside, "%s: astray", how);
			entered++;
		} else {
			/* The walk looks twice to tell what it met, and may
			 * find the link gone again. */
			cr_assert(fd == -ELOOP || fd == -ENOTDIR, "%s: %d", how,
				  fd);
			refused++;
		}
		if (i > 20000 && entered > 0 && refused > 0)
			break;
	}
	atomic_store(&is_over, true);
	(void)pthread_join(thread, NULL);
	cr_expect(entered > 0 && refused > 0, "%s: %u %u", how, entered,
		  refused);
}

Test(file, beneath_withstands_a_swapped_link)
{
	struct stat inside;
	struct stat st;

	/* "elsewhere" stands for what lies outside: it has the same names. */
	cr_assert_eq(mkdirat(top_fd, "swap", 0700), 0);
	cr_assert_eq(mkdirat(top_fd, "swap/in", 0700), 0);
	cr_assert_eq(mkdirat(top_fd, "elsewhere", 0700), 0);
	cr_assert_eq(mkdirat(top_fd, "elsewhere/in", 0700), 0);
	cr_assert_eq(symlinkat("elsewhere", top_fd, "trap"), 0);
	cr_assert_eq(fstatat(top_fd, "swap/in", &inside, 0), 0);

	/* The attack works on who does not look. */
	cr_assert_eq(renameat2(top_fd, "swap", top_fd, "trap", RENAME_EXCHANGE),
		     0);
	cr_assert_eq(fstatat(top_fd, "swap/in", &st, 0), 0);
	cr_assert_neq(st.st_ino, inside.st_ino);

	check_swaps(hf_file_open_beneath, "openat2", inside.st_ino);
	check_swaps(hf_file_open_beneath_walk, "walk", inside.st_ino);
}

/* -- opening ------------------------------------------------------------- */

Test(file, last_component_is_never_followed)
{
	cr_expect_eq(hf_file_open_read_at(top_fd, "out"), -ELOOP);
	cr_expect_eq(hf_file_open_write_at(top_fd, "out"), -ELOOP);
	cr_expect_eq(hf_file_open_append_at(top_fd, "dangling"), -ELOOP);
	cr_expect_eq(hf_file_open_directory_at(top_fd, "out"), -ENOTDIR);
	cr_expect_eq(hf_file_create_at(top_fd, "dangling", 0600), -EEXIST);
	cr_expect_eq(faccessat(top_fd, "nowhere", F_OK, 0), -1);
}

Test(file, everything_is_closed_on_exec)
{
	cleanup_free char *path = NULL;
	int fds[8];

	cr_assert_gt(asprintf(&path, "%s/f", top), 0);
	fds[0] = hf_file_open_directory(top);
	fds[1] = hf_file_open_directory_at(top_fd, "a");
	fds[2] = hf_file_open_read_at(top_fd, "f");
	fds[3] = hf_file_create_at(top_fd, "new", 0600);
	fds[4] = hf_file_open_append_at(top_fd, "f");
	fds[5] = hf_file_open_write_at(top_fd, "f");
	fds[6] = hf_file_create_path(path);
	fds[7] = hf_file_open_read_path(path);
	for (size_t i = 0; i < HF_COUNT(fds); i++) {
		cr_expect_geq(fds[i], 0, "%zu: %d", i, fds[i]);
		cr_expect(fcntl(fds[i], F_GETFD) & FD_CLOEXEC, "%zu", i);
		hf_file_close_quietly(&fds[i]);
		cr_expect_eq(fds[i], -1);
	}
}

Test(file, fifo_does_not_block)
{
	cleanup_fd int a = hf_file_open_read_at(top_fd, "fifo");
	cleanup_free char *path = NULL;
	cleanup_fd int b = -1;

	cr_assert_gt(asprintf(&path, "%s/fifo", top), 0);
	b = hf_file_open_read_path(path);
	cr_expect_geq(a, 0);
	cr_expect_geq(b, 0);
}

Test(file, access_time_only_where_we_may)
{
	cleanup_fd int own = hf_file_open_read_at(top_fd, "f");
	cleanup_fd int etc = open("/etc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cleanup_fd int foreign = -1;

	cr_expect(fcntl(own, F_GETFL) & O_NOATIME);
	hf_become_user(top);
	foreign = hf_file_open_read_at(etc, "passwd");
	cr_assert_geq(foreign, 0, "%d", foreign);
	cr_expect_not(fcntl(foreign, F_GETFL) & O_NOATIME);
}

Test(file, create_gives_the_mode_as_it_is)
{
	static const uint32_t modes[] = {0666,	0,     0400, 0777,
					 04755, 02777, 01600};

	for (size_t i = 0; i < HF_COUNT(modes); i++) {
		cleanup_fd int fd = hf_file_create_at(top_fd, "new", modes[i]);
		struct stat st;

		cr_assert_geq(fd, 0, "%o: %d", modes[i], fd);
		cr_assert_eq(fstat(fd, &st), 0);
		cr_expect_eq(st.st_mode & 07777, modes[i], "%o is %o", modes[i],
			     st.st_mode & 07777);
		cr_expect_eq(hf_file_write(fd, "x", 1), 0);
		cr_expect_eq(hf_file_create_at(top_fd, "new", 0600), -EEXIST);
		cr_assert_eq(unlinkat(top_fd, "new", 0), 0);
	}
}

Test(file, append_and_write_keep_what_is_there)
{
	int fd = hf_file_open_append_at(top_fd, "f");

	cr_assert_eq(hf_file_write(fd, "+", 1), 0);
	cr_assert_eq(hf_file_close(&fd), 0);
	cr_expect_eq(fd, -1);
	cr_expect(hf_file_has(top_fd, "f", "content+"));

	fd = hf_file_open_write_at(top_fd, "f");
	cr_assert_eq(hf_file_write(fd, "C", 1), 0);
	cr_assert_eq(hf_file_close(&fd), 0);
	cr_expect(hf_file_has(top_fd, "f", "Content+"));
	cr_expect_eq(hf_file_open_write_at(top_fd, "missing"), -ENOENT);

	fd = hf_file_open_append_at(top_fd, "journal");
	cr_assert_geq(fd, 0);
	cr_assert_eq(hf_file_close(&fd), 0);
	cr_expect(hf_file_has(top_fd, "journal", ""));
}

Test(file, write_does_not_wait_for_a_lease)
{
	cleanup_fd int leased = openat(top_fd, "f", O_RDONLY | O_CLOEXEC);

	/* What the kernel tells the holder would end this process. */
	(void)signal(SIGIO, SIG_IGN);
	if (fcntl(leased, F_SETLEASE, F_RDLCK) < 0)
		hf_skip(teardown, "no leases here");
	cr_expect_eq(hf_file_open_write_at(top_fd, "f"), -EAGAIN);
	(void)fcntl(leased, F_SETLEASE, F_UNLCK);
}

Test(file, close_reports_and_forgets)
{
	int fd = 1000;

	cr_expect_eq(hf_file_close(&fd), -EBADF);
	cr_expect_eq(fd, -1);
	errno = ERANGE;
	fd = 1000;
	hf_file_close_quietly(&fd);
	hf_file_close_quietly(&fd);
	cr_expect_eq(fd, -1);
	cr_expect_eq(errno, ERANGE);
}
