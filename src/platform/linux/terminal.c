/* SPDX-License-Identifier: MIT */
/* Speak with the person at the terminal. */
#include "platform/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "platform/file.h"
#include "platform/linux/file_internal.h"
#include "platform/system.h"

#define DEFAULT_WIDTH 80
#define NS_PER_MS     (1000 * 1000)

void hf_terminal_fill(void)
{
	/* The lowest free number is taken each time.  What is written to an
	 * output that is not there fails as it would have. */
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)!open("/dev/null",
				    (fd == STDOUT_FILENO ? O_RDONLY : O_RDWR) |
					    O_CLOEXEC);
}

bool hf_terminal_is(int fd)
{
	return isatty(fd) == 1;
}

unsigned hf_terminal_width(int fd)
{
	struct winsize size = {.ws_col = 0};

	if (ioctl(fd, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
		return DEFAULT_WIDTH;
	return size.ws_col;
}

bool hf_terminal_has_color(int fd)
{
	return hf_terminal_is(fd);
}

/*
 * What we write to is shared with the command, which may have made it blocking or
 * not, and may fill what poll() found empty: then write() would hang, and with it
 * whoever guards.  Opened anew it has a mode of its own, which is possible for
 * pipes and terminals; -1 where it is not, or not needed.
 */
static int open_apart(int fd)
{
	char name[64];
	struct stat stat;

	if (fstat(fd, &stat) < 0 ||
	    !(S_ISFIFO(stat.st_mode) || S_ISCHR(stat.st_mode)))
		return -1;
	(void)snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	return open(name, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* A socket needs no mode. */
static ssize_t write_some(int fd, const char *text, size_t len)
{
	const ssize_t count = HF_CALL(
		send(fd, text, len, MSG_DONTWAIT | MSG_NOSIGNAL));

	return count == -ENOTSOCK ? HF_CALL(write(fd, text, len)) : count;
}

/*
 * Never more at once than a pipe takes whole when it is writable (pipe(7)), for
 * those that could not be opened anew.
 */
static bool write_all(int fd, const char *text, size_t len, int patience_ms)
{
	const int64_t until =
		hf_system_boot_ns() + patience_ms * (int64_t)NS_PER_MS;

	while (len > 0) {
		struct pollfd writable = {.fd = fd, .events = POLLOUT};
		const size_t size = len < PIPE_BUF ? len : PIPE_BUF;
		const int64_t left = until - hf_system_boot_ns();
		const int left_ms =
			left <= 0 ? 0 :
				    (int)((left + NS_PER_MS - 1) / NS_PER_MS);
		ssize_t count;

		if (HF_CALL(poll(&writable, 1,
				 patience_ms < 0 ? -1 : left_ms)) <= 0)
			return false;
		count = write_some(fd, text, size);
		/* Nobody is there to miss it. */
		if (count == -EPIPE)
			return true;
		if (count == -EAGAIN && (patience_ms < 0 || left > 0))
			continue;
		if (count < 0)
			return false;
		text += count;
		len -= (size_t)count;
	}
	return true;
}

bool hf_terminal_write(int fd, const char *text, size_t len, int patience_ms)
{
	const struct timespec no_wait = {.tv_sec = 0};
	cleanup_fd int apart = patience_ms < 0 ? -1 : open_apart(fd);
	sigset_t pipe_signal;
	sigset_t blocked;
	sigset_t before;
	sigset_t pending;
	bool is_whole;
	int why;

	/* A reader that went away must not end us: SIGPIPE is kept from being
	 * delivered, and taken back unless somebody else had sent one.  And a
	 * terminal that stops background writers (stty tostop) lets those write
	 * that block SIGTTOU: what we have to say must not stop the job. */
	(void)sigemptyset(&pipe_signal);
	(void)sigaddset(&pipe_signal, SIGPIPE);
	blocked = pipe_signal;
	(void)sigaddset(&blocked, SIGTTOU);
	(void)sigemptyset(&pending);
	(void)sigpending(&pending);
	(void)pthread_sigmask(SIG_BLOCK, &blocked, &before);
	is_whole = write_all(apart < 0 ? fd : apart, text, len, patience_ms);
	why = errno;
	if (sigismember(&pending, SIGPIPE) == 0)
		(void)HF_CALL(sigtimedwait(&pipe_signal, NULL, &no_wait));
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = why;
	return is_whole;
}

bool hf_terminal_is_gone(int fd)
{
	struct pollfd reader = {.fd = fd};

	return HF_CALL(poll(&reader, 1, 0)) > 0 &&
	       (reader.revents & (POLLERR | POLLHUP)) != 0;
}

int hf_terminal_read_line(int fd, char *line, size_t size)
{
	size_t len = 0;

	/* One byte at a time: what follows the line is the next reader's. */
	for (;;) {
		char c;
		const ssize_t count = HF_CALL(read(fd, &c, 1));

		if (count < 0 || (count == 0 && len == 0))
			return -1;
		if (count == 0 || c == '\n')
			break;
		if (len + 1 < size)
			line[len++] = c;
	}
	line[len] = '\0';
	return (int)len;
}
