/* SPDX-License-Identifier: MIT */
/* A packet between processes, with a descriptor and without. */
#include "platform/linux/descriptor.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/check.h"

static int ends[2];

static void setup(void)
{
	cr_assert_eq(
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
}

static void teardown(void)
{
	(void)close(ends[0]);
	(void)close(ends[1]);
}

TestSuite(descriptor, .init = setup, .fini = teardown, .timeout = 60);

Test(descriptor, comes_with_its_packet)
{
	const int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	char text[16] = "";
	int fd = -2;

	hf_descriptor_send(ends[0], "with", 5, null_fd, 0);
	cr_assert_eq(hf_descriptor_receive(ends[1], text, sizeof(text), &fd),
		     5);
	cr_expect_str_eq(text, "with");
	cr_assert_geq(fd, 0);
	cr_expect_neq(fd, null_fd);
	cr_expect(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	cr_expect(hf_is_same(fd, AT_FDCWD, "/dev/null"));
	(void)close(fd);
	(void)close(null_fd);
}

Test(descriptor, does_not_come_where_none_was_sent)
{
	char text[16] = "";
	int fd = -2;

	hf_descriptor_send(ends[0], "without", 8, -1, 0);
	hf_descriptor_send(ends[0], "again", 6, -1, 0);
	cr_assert_eq(hf_descriptor_receive(ends[1], text, sizeof(text), &fd),
		     8);
	cr_expect_str_eq(text, "without");
	cr_expect_eq(fd, -1);
	cr_assert_eq(hf_descriptor_receive(ends[1], text, sizeof(text), &fd),
		     6);
	cr_expect_str_eq(text, "again");
	cr_expect_eq(fd, -1);
}

Test(descriptor, whoever_is_gone_ends_it)
{
	char text[4];
	int fd = -2;

	(void)close(ends[0]);
	cr_expect_eq(hf_descriptor_receive(ends[1], text, sizeof(text), &fd),
		     0);
	cr_expect_eq(fd, -1);
	/* No signal, and nobody waits for it. */
	hf_descriptor_send(ends[1], "x", 2, -1, 0);
	ends[0] = -1;
}

Test(descriptor, an_error_is_told)
{
	char text[4];
	int fd = -2;

	cr_expect_eq(hf_descriptor_receive(-1, text, sizeof(text), &fd),
		     -EBADF);
	cr_expect_eq(fd, -1);
	cr_assert_eq(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
	cr_expect_eq(hf_descriptor_receive(ends[1], text, sizeof(text), &fd),
		     -EAGAIN);
	cr_expect_eq(fd, -1);
}
