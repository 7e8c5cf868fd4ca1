/* SPDX-License-Identifier: MIT */
/*
 * The yardstick of the gate: a supervisor that lets every openat() with write
 * intent stop in front of it and lets each of them go on, unseen.  What it
 * costs is what the kernel takes for asking; nothing that asks is cheaper.
 *
 *	supervisor COMMAND [ARG...]
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Newer than some headers. */
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#endif
#ifndef SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif

#ifdef __x86_64__
#define ARCH AUDIT_ARCH_X86_64
#else
#define ARCH AUDIT_ARCH_AARCH64
#endif
#define WRITE_INTENT (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)
#define FIELD(name)  (offsetof(struct seccomp_data, name))

/* room for one descriptor, aligned as the kernel wants it */
union control {
	char room[CMSG_SPACE(sizeof(int))];
	struct cmsghdr header;
};

static int install_filter(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIELD(arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 0, 5),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIELD(nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_openat, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FIELD(args[2])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, WRITE_INTENT, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {
		.len = sizeof(filter) / sizeof(filter[0]),
		.filter = filter,
	};
	const unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
	int fd;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			  flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
			  &program);
	if (fd < 0 && errno == EINVAL)
		fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags,
				  &program);
	return fd;
}

static int send_fd(int socket_fd, int fd)
{
	char byte = 0;
	struct iovec part = {.iov_base = &byte, .iov_len = 1};
	union control control = { { 0 } };
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};

	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(sizeof(fd));
	(void)memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	return sendmsg(socket_fd, &message, 0) == 1 ? 0 : -1;
}

static int receive_fd(int socket_fd)
{
	char byte;
	struct iovec part = {.iov_base = &byte, .iov_len = 1};
	union control control = { { 0 } };
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	int fd;

	if (recvmsg(socket_fd, &message, MSG_CMSG_CLOEXEC) != 1 ||
	    !CMSG_FIRSTHDR(&message))
		return -1;
	(void)memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

static void *answer(void *argument)
{
	const int listener = *(const int *)argument;

	for (;;) {
		struct seccomp_notif asked = { 0 };
		struct seccomp_notif_resp reply = {
			.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE,
		};

		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) < 0) {
			if (errno == EINTR || errno == ENOENT)
				continue;
			return NULL;
		}
		reply.id = asked.id;
		(void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &reply);
	}
}

static void run_command(int socket_fd, char **argv)
{
	const int listener = install_filter();

	if (listener < 0 || send_fd(socket_fd, listener) < 0) {
		perror("supervisor: the filter");
		_exit(125);
	}
	(void)close(listener);
	(void)execvp(argv[0], argv);
	perror(argv[0]);
	_exit(127);
}

int main(int argc, char **argv)
{
	int pair[2];
	int listener;
	int status = 0;
	pthread_t thread;
	pid_t child;

	if (argc < 2) {
		(void)fputs("usage: supervisor COMMAND [ARG...]\n", stderr);
		return 2;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return 125;
	child = fork();
	if (child == 0)
		run_command(pair[1], argv + 1);
	(void)close(pair[1]);
	listener = child > 0 ? receive_fd(pair[0]) : -1;
	if (listener < 0)
		return 125;

	/* Wakes the caller on this processor; where it is refused: slower. */
	(void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS,
		    SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
	if (pthread_create(&thread, NULL, answer, &listener) != 0 ||
	    waitpid(child, &status, 0) != child)
		return 125;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 125;
}
