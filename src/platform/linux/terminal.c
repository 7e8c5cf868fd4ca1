/* SPDX-License-Identifier: MIT */
/* Speak with the person at the terminal. */
#include "platform/terminal.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "platform/linux/file_internal.h"

#define DEFAULT_WIDTH 80

void hf_terminal_fill(void)
{
	int fd;

	/* The lowest free number is taken each time. */
	do
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		(void)close(fd);
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
 * A reader that does not read (a pager, a stopped terminal, a stuck collector)
 * must not keep us from our work: what it does not take in time is lost to it.
 * The command may have made what we share with it blocking or not, so never more
 * is written at once than a pipe takes whole when it is writable (pipe(7)).
 */
static void write_all(int fd, const char *text, size_t len, int patience_ms)
{
	while (len > 0) {
		struct pollfd writable = {.fd = fd, .events = POLLOUT};
		const size_t size = len < PIPE_BUF ? len : PIPE_BUF;
		ssize_t count;

		if (HF_CALL(poll(&writable, 1, patience_ms)) <= 0)
			return;
		count = HF_CALL(write(fd, text, size));
		if (count < 0 && count != -EAGAIN)
			return;
		if (count > 0) {
			text += count;
			len -= (size_t)count;
		}
	}
}

void hf_terminal_write(int fd, const char *text, size_t len, int patience_ms)
{
	const struct timespec no_wait = {.tv_sec = 0};
	sigset_t pipe_signal;
	sigset_t blocked;
	sigset_t before;
	sigset_t pending;

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
	write_all(fd, text, len, patience_ms);
	if (sigismember(&pending, SIGPIPE) == 0)
		(void)HF_CALL(sigtimedwait(&pipe_signal, NULL, &no_wait));
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
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
