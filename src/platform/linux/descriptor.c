/* SPDX-License-Identifier: MIT */
#include "platform/linux/descriptor.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

union control {
	struct cmsghdr header;
	char space[CMSG_SPACE(sizeof(int))];
};

void hf_descriptor_send(int socket_fd, int fd)
{
	int code = fd < 0 ? fd : 0;
	union control control = {.space = {0}};
	struct iovec data = {.iov_base = &code, .iov_len = sizeof(code)};
	struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
	ssize_t rc;

	if (fd >= 0) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	/* Whoever waits sees the end of the socket instead. */
	do
		rc = sendmsg(socket_fd, &message, MSG_NOSIGNAL);
	while (rc < 0 && errno == EINTR);
}

int hf_descriptor_receive(int socket_fd)
{
	int code = 0;
	int fd;
	union control control = {.space = {0}};
	struct iovec data = {.iov_base = &code, .iov_len = sizeof(code)};
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t len;

	do
		len = recvmsg(socket_fd, &message, MSG_CMSG_CLOEXEC);
	while (len < 0 && errno == EINTR);
	if (len < 0)
		return -errno;
	if (len != (ssize_t)sizeof(code))
		return -EPIPE;
	if (code < 0)
		return code;
	if (message.msg_controllen < CMSG_LEN(sizeof(fd)) ||
	    control.header.cmsg_type != SCM_RIGHTS)
		return -EPIPE;
	memcpy(&fd, CMSG_DATA(&control.header), sizeof(fd));
	return fd;
}
