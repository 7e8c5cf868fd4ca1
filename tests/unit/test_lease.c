/* SPDX-License-Identifier: MIT */
/* Leases: taken, broken, given back and taken again, on whatever file. */
#include "platform/lease.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/check.h"
#include "support/leased.h"
#include "support/tmpdir.h"

#define SOMEBODY 1000

static struct hf_leased leased;

static void setup(void)
{
	hf_leased_setup(&leased, getpid());
}

static void teardown(void)
{
	hf_leased_teardown(&leased);
}

TestSuite(lease, .init = setup, .fini = teardown);

static struct hf_lease_counts counts(void)
{
	struct hf_lease_counts counts;

	hf_leases_count(leased.leases, &counts);
	return counts;
}

static size_t held(void)
{
	return counts().held;
}

Test(lease, keeps_writers_out_until_it_is_freed)
{
	cr_expect_eq(hf_leased_add(&leased, "f", 0), 1);
	cr_expect_eq(held(), 1);
	cr_expect_eq(counts().held_throughout, 1);
	cr_expect_eq(hf_leased_try(&leased, "f"), EAGAIN);

	hf_leases_free(&leased.leases);
	cr_expect_eq(hf_leased_try(&leased, "f"), 0, "a lease is left");
}

Test(lease, lets_readers_in)
{
	const int flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC;
	int fd;

	cr_expect_eq(hf_leased_add(&leased, "f", 0), 1);
	fd = openat(leased.dir_fd, "f", flags);
	cr_expect(fd >= 0);
	(void)close(fd);
	cr_expect_eq(held(), 1);
}

Test(lease, is_found_beneath_directories_and_by_absolute_paths)
{
	char path[512];

	(void)snprintf(path, sizeof(path), "%s/d/g", leased.dir);
	cr_assert_eq(mkdirat(leased.dir_fd, "d", 0755), 0);
	cr_expect_eq(hf_leased_add(&leased, "d/f", 0), 1);
	hf_put_file(leased.dir_fd, "d/g", "");
	cr_expect_eq(hf_leases_add(leased.leases, -1, path, 7), 1);
	cr_expect_eq(hf_leased_try(&leased, "d/f"), EAGAIN);
	cr_expect_eq(hf_leased_try(&leased, "d/g"), EAGAIN);
}

Test(lease, is_of_files_alone)
{
	cr_assert_eq(symlinkat("f", leased.dir_fd, "link"), 0);
	cr_assert_eq(mkdirat(leased.dir_fd, "d", 0755), 0);
	cr_assert_eq(mkfifoat(leased.dir_fd, "fifo", 0644), 0);
	hf_put_file(leased.dir_fd, "f", "");

	cr_expect_eq(hf_leases_add(leased.leases, leased.dir_fd, "link", 0),
		     -ELOOP);
	cr_expect_eq(hf_leases_add(leased.leases, leased.dir_fd, "d", 1),
		     -EINVAL);
	cr_expect_eq(hf_leases_add(leased.leases, leased.dir_fd, "fifo", 2),
		     -EINVAL);
	cr_expect_eq(hf_leases_add(leased.leases, leased.dir_fd, "no", 3),
		     -ENOENT);
	cr_expect_eq(counts().wanted, 4);
	cr_expect_eq(held(), 0);
	cr_expect_eq(hf_leased_try(&leased, "f"), 0);
}

Test(lease, waits_for_a_writer_that_was_there_before)
{
	int fd;

	hf_put_file(leased.dir_fd, "f", "");
	fd = openat(leased.dir_fd, "f", O_RDWR | O_CLOEXEC);
	cr_expect_eq(hf_leases_add(leased.leases, leased.dir_fd, "f", 0), 0);
	cr_expect(hf_leases_due(leased.leases) > 0, "nobody would come again");
	hf_leases_retake(leased.leases, 0);
	cr_expect_eq(held(), 0);

	(void)close(fd);
	hf_leases_retake(leased.leases, 0);
	cr_expect_eq(held(), 1);
	cr_expect_eq(hf_leases_due(leased.leases), 0);
	cr_expect_not(hf_leases_was_held(leased.leases, 0));
}

/* The time of the next attempt comes by itself: poll() until it has. */
Test(lease, is_retaken_when_due)
{
	int fd;

	cr_expect_eq(hf_leased_add(&leased, "f", 0), 1);
	hf_leases_release(leased.leases, 0);
	fd = openat(leased.dir_fd, "f", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	cr_assert(fd >= 0);
	(void)close(fd);
	while (hf_leases_due(leased.leases) != 0)
		continue;
	cr_expect_eq(held(), 1);
	cr_expect_eq(hf_leased_try(&leased, "f"), EAGAIN);
}

Test(lease, follows_the_name_to_another_file)
{
	cr_expect_eq(hf_leased_add(&leased, "f", 0), 1);
	hf_put_file(leased.dir_fd, "new", "other\n");
	cr_assert_eq(renameat(leased.dir_fd, "new", leased.dir_fd, "f"), 0);
	cr_expect_eq(hf_leased_try(&leased, "f"), 0, "a lease is on the file");

	hf_leases_renew(leased.leases, 0);
	cr_expect_eq(hf_leased_try(&leased, "f"), EAGAIN);
	cr_expect_not(hf_leases_was_held(leased.leases, 0));
}

Test(lease, rests_while_we_write_ourselves)
{
	cr_expect_eq(hf_leased_add(&leased, "f", 0), 1);
	cr_expect_eq(hf_leased_add(&leased, "g", 1), 1);
	hf_leases_release_all(leased.leases);
	cr_expect_eq(held(), 0);
	cr_expect_eq(hf_leases_due(leased.leases), 0);
	hf_leases_retake(leased.leases, 0);
	cr_expect_eq(hf_leased_try(&leased, "f"), 0);

	cr_assert_eq(unlinkat(leased.dir_fd, "g", 0), 0);
	hf_put_file(leased.dir_fd, "g", "again\n");
	hf_leases_retake_all(leased.leases);
	cr_expect_eq(hf_leased_try(&leased, "f"), EAGAIN);
	cr_expect_eq(hf_leased_try(&leased, "g"), EAGAIN);
	cr_expect_eq(counts().held_throughout, 2);
}

Test(lease, comes_back_with_a_file_that_was_missing)
{
	cr_expect_eq(hf_leased_add(&leased, "f", 0), 1);
	cr_assert_eq(unlinkat(leased.dir_fd, "f", 0), 0);
	hf_leases_renew(leased.leases, 0);
	cr_expect_eq(held(), 0);
	hf_put_file(leased.dir_fd, "f", "again\n");
	hf_leases_release_all(leased.leases);
	hf_leases_retake_all(leased.leases);
	cr_expect_eq(held(), 1);
	cr_expect_eq(hf_leased_try(&leased, "f"), EAGAIN);
	cr_expect_not(hf_leases_was_held(leased.leases, 0));
}

/* -- descriptors --------------------------------------------------------- */

#define MANY 60

static void add_many(void)
{
	for (size_t i = 0; i < MANY; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "f%zu", i);
		(void)hf_leased_add(&leased, name, i);
	}
}

static void limit_descriptors(rlim_t soft, rlim_t hard)
{
	const struct rlimit limit = {.rlim_cur = soft, .rlim_max = hard};

	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	hf_leases_free(&leased.leases);
	cr_assert_eq(hf_leases_new(leased.proc_fd, getpid(), &leased.leases),
		     0);
}

Test(lease, takes_as_many_as_descriptors_fit)
{
	int fds[10];

	limit_descriptors(40, 40);
	add_many();
	cr_expect_eq(counts().wanted, MANY);
	cr_expect(held() > 0 && held() <= 30);
	cr_expect_eq(held() + counts().no_room, MANY);
	cr_expect_eq(hf_leased_try(&leased, "f0"), EAGAIN);
	cr_expect_eq(hf_leased_try(&leased, "f59"), 0);

	/* The reserve is there, and stays when all are renewed. */
	hf_leases_release_all(leased.leases);
	hf_leases_retake_all(leased.leases);
	for (size_t i = 0; i < HF_COUNT(fds); i++) {
		fds[i] = dup(leased.dir_fd);
		cr_expect(fds[i] >= 0);
	}
	for (size_t i = 0; i < HF_COUNT(fds); i++)
		(void)close(fds[i]);
}

Test(lease, raises_the_limit_of_descriptors)
{
	limit_descriptors(40, 400);
	add_many();
	cr_expect_eq(held(), MANY);
}

/* -- signals that were lost ---------------------------------------------- */

Test(lease, finds_what_was_broken_when_signals_are_lost)
{
	const struct rlimit limit = {.rlim_cur = 2, .rlim_max = 2};

	add_many();
	cr_assert_eq(setrlimit(RLIMIT_SIGPENDING, &limit), 0);
	for (size_t i = 0; i < MANY; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "f%zu", i);
		cr_expect_eq(hf_leased_try(&leased, name), EAGAIN);
	}
	hf_leased_judge(&leased);
	cr_expect(leased.lost > 0);
	cr_expect_eq(leased.openers.count, MANY);
	for (size_t i = 0; i < leased.openers.count; i++)
		cr_expect_eq(leased.openers.items[i].side, HF_LEASE_NOBODY);
	cr_expect_eq(held(), MANY);
	cr_expect_eq(counts().held_throughout, MANY, "nobody got in");
}

/* -- users and file systems ---------------------------------------------- */

Test(lease, is_for_ones_own_files_alone)
{
	if (geteuid() != 0)
		hf_skip(teardown, "needs root");
	hf_put_file(leased.dir_fd, "f", "");
	cr_assert_eq(fchmod(leased.dir_fd, 0755), 0);
	cr_assert_eq(seteuid(SOMEBODY), 0);
	cr_expect_eq(hf_leases_add(leased.leases, leased.dir_fd, "f", 0),
		     -EACCES);
	cr_expect_eq(counts().not_ours, 1);
	cr_expect_eq(counts().wanted, 1);
	cr_assert_eq(seteuid(0), 0);
}

static void drop_cap_lease(void)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	cr_assert_eq(syscall(SYS_capget, &header, data), 0);
	data[0].effective &= ~(1u << CAP_LEASE);
	data[0].permitted &= ~(1u << CAP_LEASE);
	cr_assert_eq(syscall(SYS_capset, &header, data), 0);
}

Test(lease, is_taken_by_root_without_the_capability)
{
	int fd;

	if (geteuid() != 0)
		hf_skip(teardown, "needs root");
	hf_put_file(leased.dir_fd, "f", "");
	cr_assert_eq(fchownat(leased.dir_fd, "f", SOMEBODY, SOMEBODY, 0), 0);
	drop_cap_lease();
	fd = openat(leased.dir_fd, "f", O_RDONLY | O_CLOEXEC);
	cr_assert_eq(fcntl(fd, F_SETLEASE, F_RDLCK), -1);
	cr_assert_eq(errno, EACCES);
	(void)close(fd);

	cr_expect_eq(hf_leases_add(leased.leases, leased.dir_fd, "f", 0), 1);
	cr_expect_eq(hf_leased_try(&leased, "f"), EAGAIN);
	cr_expect_eq(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), 1);
	hf_leased_judge(&leased);
	cr_expect_eq(held(), 1, "taken once, but not again");
	hf_put_file(leased.dir_fd, "ours", "");
	cr_expect_eq(faccessat(leased.dir_fd, "ours", W_OK, AT_EACCESS), 0);
}

Test(lease, is_had_in_memory_as_well)
{
	char dir[] = "/dev/shm/hf-lease-XXXXXX";
	int dir_fd;

	if (!mkdtemp(dir))
		hf_skip(teardown, "no /dev/shm");
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	hf_put_file(dir_fd, "f", "");
	cr_expect_eq(hf_leases_add(leased.leases, dir_fd, "f", 0), 1);
	cr_expect_eq(openat(dir_fd, "f", O_RDWR | O_NONBLOCK | O_CLOEXEC), -1);
	hf_leased_judge(&leased);
	cr_expect_eq(leased.openers.items[0].side, HF_LEASE_NOBODY);
	cr_expect_eq(held(), 1);
	hf_leases_free(&leased.leases);
	cr_expect_eq(unlinkat(dir_fd, "f", 0), 0);
	(void)close(dir_fd);
	cr_expect_eq(rmdir(dir), 0);
}
