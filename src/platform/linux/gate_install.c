/* SPDX-License-Identifier: MIT */
/*
 * Install the filter in the process that will be the command, and hand the
 * listener over.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/file.h"
#include "platform/gate.h"
#include "platform/linux/descriptor.h"

#include "gate_filter.h"

/* Of Linux 5.19: signals that do not kill wait until the call was answered. */
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

/* Not to slow the command down where the kernel takes a filter for a sandbox.
 */
#define FLAGS \
	(SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_SPEC_ALLOW)

static int install(unsigned long flags)
{
	/* The type is older than const; nothing writes to it. */
	union {
		const struct sock_filter *given;
		struct sock_filter *taken;
	} filter = {.given = gate_filter};
	const struct sock_fprog program = {
		.len = (unsigned short)HF_COUNT(gate_filter),
		.filter = filter.taken,
	};
	const long fd =
		syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);

	return fd < 0 ? -errno : (int)fd;
}

static int install_some(void)
{
	int rc = install(FLAGS | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);

	return rc == -EINVAL ? install(FLAGS) : rc;
}

void hf_gate_install(int socket_fd)
{
	/* Root needs no such promise, and its setuid programs keep working. */
	cleanup_fd int listener_fd = install_some();
	int rc;

	if (listener_fd == -EACCES &&
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
		listener_fd = install_some();
	rc = listener_fd < 0 ? listener_fd : 0;
	hf_descriptor_send(socket_fd, &rc, sizeof(rc), listener_fd, 0);
}

int hf_gate_receive(int socket_fd, int *ret_listener_fd)
{
	int rc = 0;
	int fd;
	const ssize_t len =
		hf_descriptor_receive(socket_fd, &rc, sizeof(rc), &fd);

	if (len != (ssize_t)sizeof(rc))
		rc = len < 0 ? (int)len : -EPIPE;
	else if (rc == 0 && fd < 0)
		rc = -EMFILE;
	if (rc < 0)
		hf_file_close_quietly(&fd);
	else
		*ret_listener_fd = fd;
	return rc;
}
