/* SPDX-License-Identifier: MIT */
/* Speaking with terminals, pipes and readers that went away. */
#include "platform/terminal.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/file.h"
#include "platform/system.h"
#include "support/check.h"

TestSuite(terminal, .timeout = 60);

/* A terminal of its own; *ret_master keeps it alive. */
static int open_terminal(int *ret_master)
{
	char name[64];

	*ret_master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (*ret_master < 0 || grantpt(*ret_master) < 0 ||
	    unlockpt(*ret_master) < 0 ||
	    ptsname_r(*ret_master, name, sizeof(name)) != 0)
		hf_skip_now("no terminals here");
	return open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
}

Test(terminal, is)
{
	cleanup_fd int master = -1;
	cleanup_fd int terminal = open_terminal(&master);
	cleanup_fd int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	cr_expect(hf_terminal_is(terminal));
	cr_expect(hf_terminal_has_color(terminal));
	cr_expect_not(hf_terminal_is(null));
	cr_expect_not(hf_terminal_has_color(null));
	cr_expect_not(hf_terminal_is(-1));
}

Test(terminal, width)
{
	cleanup_fd int master = -1;
	cleanup_fd int terminal = open_terminal(&master);
	cleanup_fd int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const struct winsize size = {.ws_col = 132, .ws_row = 40};

	cr_expect_eq(hf_terminal_width(terminal), 80);
	cr_assert_eq(ioctl(terminal, TIOCSWINSZ, &size), 0);
	cr_expect_eq(hf_terminal_width(terminal), 132);
	cr_expect_eq(hf_terminal_width(null), 80);
	cr_expect_eq(hf_terminal_width(-1), 80);
}

static bool is_pending(int signal_number)
{
	sigset_t pending;

	cr_assert_eq(sigpending(&pending), 0);
	return sigismember(&pending, signal_number) == 1;
}

Test(terminal, vanished_reader)
{
	sigset_t mask;
	int ends[2];

	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	(void)close(ends[0]);
	cr_expect_neq(signal(SIGPIPE, SIG_DFL), SIG_ERR);
	/* Nobody misses it. */
	cr_expect(hf_terminal_write(ends[1], "lost", 4, 200));
	cr_expect_not(is_pending(SIGPIPE));
	cr_assert_eq(sigprocmask(SIG_SETMASK, NULL, &mask), 0);
	cr_expect_eq(sigismember(&mask, SIGPIPE), 0);

	/* Another's signal is not taken away. */
	(void)sigaddset(&mask, SIGPIPE);
	cr_assert_eq(sigprocmask(SIG_SETMASK, &mask, NULL), 0);
	cr_assert_eq(raise(SIGPIPE), 0);
	cr_expect(hf_terminal_write(ends[1], "lost", 4, 200));
	cr_expect(is_pending(SIGPIPE));
	cr_expect_not(hf_terminal_write(-1, "lost", 4, 200));
}

/* More than any pipe holds. */
enum { MESSAGE_LEN = 3000000 };

/* Reads all there is, slowly at first; the status says whether it was whole. */
static void consume(int fd)
{
	static char piece[4096];
	size_t total = 0;
	ssize_t count;

	(void)usleep(400000);
	while ((count = read(fd, piece, sizeof(piece))) > 0) {
		for (ssize_t i = 0; i < count; i++) {
			if (piece[i] != (char)('a' + total++ % 26))
				_exit(1);
		}
	}
	_exit(total == MESSAGE_LEN ? 0 : 2);
}

Test(terminal, non_blocking_pipe_loses_nothing)
{
	char *const message = malloc(MESSAGE_LEN);
	int ends[2];
	int status;
	pid_t pid;

	cr_assert(message);
	for (size_t i = 0; i < MESSAGE_LEN; i++)
		message[i] = (char)('a' + i % 26);
	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	cr_assert_eq(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
	pid = fork();
	cr_assert_geq(pid, 0);
	if (pid == 0) {
		(void)close(ends[1]);
		consume(ends[0]);
	}
	(void)close(ends[0]);
	cr_expect(hf_terminal_write(ends[1], message, MESSAGE_LEN, -1));
	(void)close(ends[1]);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect_eq(status, 0);
	free(message);
}

/* Write to it without end what it does not read; how long that takes. */
static int64_t write_to_stuck(int fd, int patience_ms)
{
	static char message[100000];
	const int64_t begun = hf_system_boot_ns();

	memset(message, 'x', sizeof(message));
	cr_expect_not(hf_terminal_write(fd, message, sizeof(message),
					patience_ms));
	return (hf_system_boot_ns() - begun) / 1000000;
}

/* Fill it, then make room for less than is written at once: who waits for room
 * and then blocks waits for ever. */
static void fill(int fd, int reader)
{
	const int flags = fcntl(fd, F_GETFL);
	static char piece[65536];

	cr_assert_eq(fcntl(fd, F_SETFL, flags | O_NONBLOCK), 0);
	while (write(fd, piece, sizeof(piece)) > 0)
		;
	cr_assert_eq(fcntl(fd, F_SETFL, flags), 0);
	(void)!read(reader, piece, 100);
}

Test(terminal, stuck_readers)
{
	cleanup_fd int master = -1;
	cleanup_fd int terminal = open_terminal(&master);
	int ends[2];
	int64_t took;

	fill(terminal, master);
	took = write_to_stuck(terminal, 300);
	cr_expect(took >= 290 && took < 2000, "%lld", (long long)took);
	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	fill(ends[1], ends[0]);
	took = write_to_stuck(ends[1], 300);
	cr_expect(took >= 290 && took < 2000, "%lld", (long long)took);
	cr_expect_lt(write_to_stuck(ends[1], 0), 200);
	cr_expect_eq(fcntl(ends[1], F_GETFL) & O_NONBLOCK, 0);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends),
		     0);
	fill(ends[1], ends[0]);
	took = write_to_stuck(ends[1], 300);
	cr_expect(took >= 290 && took < 2000, "%lld", (long long)took);
}

/* One that takes a little now and then costs no more than one that is stuck. */
Test(terminal, slow_reader)
{
	char piece[4096];
	int ends[2];
	int64_t took;
	pid_t pid;

	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	fill(ends[1], ends[0]);
	pid = fork();
	cr_assert_geq(pid, 0);
	if (pid == 0) {
		(void)close(ends[1]);
		while (read(ends[0], piece, sizeof(piece)) > 0)
			(void)usleep(200000);
		_exit(0);
	}
	took = write_to_stuck(ends[1], 400);
	cr_expect(took < 2000, "%lld", (long long)took);
	cr_assert_eq(kill(pid, SIGKILL), 0);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
}

Test(terminal, read_line)
{
	static const struct {
		const char *line;
		int rc;
	} rows[] = {
		{"yes", 3},	{"", 0},    {"\xff\r", 2}, {"1234567", 7},
		{"1234567", 7}, {"end", 3}, {"end", -1},
	};
	static const char input[] =
		"yes\n\n\xff\r\n1234567\n12345678-too-long\nend";
	char line[8] = "";
	int ends[2];

	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	cr_assert_eq(write(ends[1], input, sizeof(input) - 1),
		     (ssize_t)sizeof(input) - 1);
	(void)close(ends[1]);
	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		cr_expect_eq(hf_terminal_read_line(ends[0], line, sizeof(line)),
			     rows[i].rc, "%zu", i);
		cr_expect_str_eq(line, rows[i].line);
	}
	cr_expect_eq(hf_terminal_read_line(-1, line, sizeof(line)), -1);
	(void)close(ends[0]);
}

Test(terminal, read_line_leaves_the_rest)
{
	char line[8];
	char rest[8] = "";
	int ends[2];

	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	cr_assert_eq(write(ends[1], "a\nb\n", 4), 4);
	cr_expect_eq(hf_terminal_read_line(ends[0], line, sizeof(line)), 1);
	cr_expect_eq(read(ends[0], rest, sizeof(rest)), 2);
	cr_expect_str_eq(rest, "b\n");
}

/* Who reads a pipe is gone when the last descriptor of its other end is. */
Test(terminal, a_reader_that_is_gone)
{
	int ends[2];
	int other;

	cr_assert_eq(pipe(ends), 0);
	other = dup(ends[0]);
	cr_expect_not(hf_terminal_is_gone(ends[1]));
	(void)close(ends[0]);
	cr_expect_not(hf_terminal_is_gone(ends[1]));
	(void)close(other);
	cr_expect(hf_terminal_is_gone(ends[1]));
	(void)close(ends[1]);
}
