/* SPDX-License-Identifier: MIT */
/* A descriptor, or why there is none, from one process to another (unix(7)). */
#ifndef HF_PLATFORM_LINUX_DESCRIPTOR_H
#define HF_PLATFORM_LINUX_DESCRIPTOR_H

#include "base/defs.h"

/* fd may be -errno, which the other end gets instead. */
void hf_descriptor_send(int socket_fd, int fd);
/* The descriptor, close-on-exec; or what was sent instead, or -EPIPE. */
MUST_CHECK int hf_descriptor_receive(int socket_fd);

#endif /* HF_PLATFORM_LINUX_DESCRIPTOR_H */
