/* SPDX-License-Identifier: MIT */
/* Speak with the person at the terminal. */
#include "platform/terminal.h"

#include <fcntl.h>
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

static void write_all(int fd, const char *text, size_t len)
{
	while (len > 0) {
		const ssize_t count = HF_CALL(write(fd, text, len));

		if (count >= 0) {
			text += count;
			len -= (size_t)count;
		} else if (count == -EAGAIN) {
			/* The command may have made what we share with it
			 * non-blocking; that must not cost a message. */
			struct pollfd writable = {.fd = fd, .events = POLLOUT};

			if (HF_CALL(poll(&writable, 1, -1)) < 0)
				return;
		} else {
			return;
		}
	}
}

void hf_terminal_write(int fd, const char *text, size_t len)
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
	write_all(fd, text, len);
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
