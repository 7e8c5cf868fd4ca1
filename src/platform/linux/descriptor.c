/* SPDX-License-Identifier: MIT */
/* Packets with ancillary data. */
#include "platform/linux/descriptor.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

union control {
	struct cmsghdr header;
	char space[CMSG_SPACE(sizeof(int))];
};

void hf_descriptor_send(int socket_fd, const void *data, size_t len, int fd,
			int flags)
{
	/* Nothing is written to it; the type is older than const. */
	union {
		const void *given;
		void *taken;
	} bytes = {.given = data};
	union control control = {.space = {0}};
	struct iovec parts = {.iov_base = bytes.taken, .iov_len = len};
	struct msghdr message = {.msg_iov = &parts, .msg_iovlen = 1};
	ssize_t rc;

	if (fd >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	do
		rc = sendmsg(socket_fd, &message, MSG_NOSIGNAL | flags);
	while (rc < 0 && errno == EINTR);
}

ssize_t hf_descriptor_receive(int socket_fd, void *data, size_t len,
			      int *ret_fd)
{
	union control control = {.space = {0}};
	struct iovec parts = {.iov_base = data, .iov_len = len};
	struct msghdr message = {
		.msg_iov = &parts,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t got;

	*ret_fd = -1;
	do
		got = recvmsg(socket_fd, &message, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	if (message.msg_controllen >= CMSG_LEN(sizeof(*ret_fd)) &&
	    control.header.cmsg_type == SCM_RIGHTS)
		memcpy(ret_fd, CMSG_DATA(&control.header), sizeof(*ret_fd));
	return got;
}
