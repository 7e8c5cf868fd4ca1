/* SPDX-License-Identifier: MIT */
/* A packet from one process to another, and a descriptor with it (unix(7)). */
#ifndef HF_PLATFORM_LINUX_DESCRIPTOR_H
#define HF_PLATFORM_LINUX_DESCRIPTOR_H

#include <stddef.h>
#include <sys/types.h>

#include "base/defs.h"

/* fd -1: without one.  Whoever waits for a packet that could not be sent sees
 * the end of the socket instead. */
void hf_descriptor_send(int socket_fd, const void *data, size_t len, int fd,
			int flags);
/* The length that came, 0 at the end, or -errno; *ret_fd is -1 when none came,
 * else close-on-exec and the caller's. */
MUST_CHECK ssize_t hf_descriptor_receive(int socket_fd, void *data, size_t len,
					 int *ret_fd);

#endif /* HF_PLATFORM_LINUX_DESCRIPTOR_H */
