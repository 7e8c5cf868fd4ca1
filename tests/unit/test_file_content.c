/* SPDX-License-Identifier: MIT */
/* What is in files: whole reads, whole writes, holes. */
#include "platform/file.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"
#include "support/check.h"
#include "support/tmpdir.h"

static char *top;
static int top_fd;

static void setup(void)
{
	top = hf_tmpdir_make();
	top_fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(top_fd, 0);
}

static void teardown(void)
{
	(void)close(top_fd);
	hf_tmpdir_remove(top);
}

TestSuite(file_content, .init = setup, .fini = teardown, .timeout = 60);

static void ignore_signal(int signal_number)
{
	(void)signal_number;
}

/* From now on a signal interrupts every call that waits. */
static void interrupt_often(void)
{
	const struct sigaction action = {.sa_handler = ignore_signal};
	const struct itimerval often = {.it_interval = {.tv_usec = 1000},
					.it_value = {.tv_usec = 1000}};

	cr_assert_eq(sigaction(SIGALRM, &action, NULL), 0);
	cr_assert_eq(setitimer(ITIMER_REAL, &often, NULL), 0);
}

static void stop_interrupting(void)
{
	const struct itimerval never = {.it_value = {.tv_sec = 0}};

	(void)setitimer(ITIMER_REAL, &never, NULL);
}

/* More than a pipe holds, so that the writer waits, too. */
enum { STREAM_LEN = 300000, PIECE = 1000 };

/* Copy from one end to the other in small pieces with pauses. */
static void relay(int from, int to)
{
	char piece[PIECE];
	ssize_t count;

	while ((count = read(from, piece, sizeof(piece))) > 0) {
		(void)usleep(100);
		if (write(to, piece, (size_t)count) != count)
			break;
	}
	_exit(0);
}

/* Takes what the parent writes to *ret_to and hands it to *ret_from. */
static pid_t start_relay(int *ret_to, int *ret_from)
{
	int there[2];
	int back[2];
	pid_t pid;

	cr_assert_eq(pipe2(there, O_CLOEXEC), 0);
	cr_assert_eq(pipe2(back, O_CLOEXEC), 0);
	/* All of it must fit into the two: nobody reads while we write. */
	cr_assert_geq(fcntl(back[1], F_SETPIPE_SZ, 1 << 19), STREAM_LEN);
	pid = fork();
	cr_assert_geq(pid, 0);
	if (pid == 0) {
		(void)close(there[1]);
		(void)close(back[0]);
		relay(there[0], back[1]);
	}
	(void)close(there[0]);
	(void)close(back[1]);
	*ret_to = there[1];
	*ret_from = back[0];
	return pid;
}

Test(file_content, signals_and_short_counts_do_not_show)
{
	static char out[STREAM_LEN];
	static char in[STREAM_LEN + 1];
	int from;
	int to;
	const pid_t pid = start_relay(&to, &from);

	for (size_t i = 0; i < sizeof(out); i++)
		out[i] = (char)(i * 31 + i / 251);
	interrupt_often();
	cr_expect_eq(hf_file_write(to, out, sizeof(out)), 0);
	(void)close(to);
	cr_expect_eq(hf_file_read(from, in, sizeof(in)), STREAM_LEN);
	stop_interrupting();
	cr_expect_eq(memcmp(in, out, sizeof(out)), 0);
	(void)close(from);
	cr_expect_eq(waitpid(pid, NULL, 0), pid);
}

Test(file_content, failures_are_told)
{
	cleanup_fd int directory = dup(top_fd);
	cleanup_fd int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	char byte;

	cr_expect_eq(hf_file_read(directory, &byte, 1), -EISDIR);
	cr_expect_eq(hf_file_read(-1, &byte, 1), -EBADF);
	cr_expect_eq(hf_file_write(full, "x", 1), -ENOSPC);
	cr_expect_eq(hf_file_write(-1, "x", 0), 0);
	cr_expect_eq(hf_file_sync(-1), -EBADF);
	cr_expect_eq(hf_file_truncate(-1, 0), -EBADF);
	cr_expect_eq(hf_file_seek(-1, 0), -EBADF);
	hf_file_start_sync(-1);
	hf_file_advise_sequential(-1);
}

Test(file_content, offsets_beyond_the_type)
{
	cleanup_fd int fd = hf_file_create_at(top_fd, "f", 0600);

	cr_expect_eq(hf_file_seek(fd, (uint64_t)INT64_MAX + 1), -EOVERFLOW);
	cr_expect_eq(hf_file_truncate(fd, UINT64_MAX), -EOVERFLOW);
	cr_expect_eq(hf_file_next_data(fd, 0, UINT64_MAX), -EOVERFLOW);
}

Test(file_content, next_data)
{
	enum { DATA = 512 * 1024, SIZE = 1024 * 1024 };
	cleanup_fd int fd = hf_file_create_at(top_fd, "f", 0600);
	struct stat st;

	cr_assert_eq(hf_file_truncate(fd, SIZE), 0);
	cr_assert_eq(hf_file_seek(fd, DATA), 0);
	cr_assert_eq(hf_file_write(fd, "x", 1), 0);
	cr_assert_eq(hf_file_sync(fd), 0);
	cr_assert_eq(fstat(fd, &st), 0);
	if (st.st_blocks * 512 >= SIZE)
		hf_skip(teardown, "no holes here");

	cr_expect_eq(hf_file_next_data(fd, 0, SIZE), DATA);
	cr_expect_eq(hf_file_next_data(fd, DATA, SIZE), DATA);
	cr_expect_eq(hf_file_next_data(fd, DATA + 65536, SIZE), SIZE);
	cr_expect_eq(hf_file_next_data(fd, SIZE, SIZE), SIZE);
	cr_expect_eq(hf_file_next_data(fd, UINT64_MAX, SIZE), SIZE);
	/* The size is the caller's: nothing is told beyond it. */
	cr_expect_eq(hf_file_next_data(fd, 0, 1000), 1000);
}

Test(file_content, next_data_of_what_has_no_place)
{
	int ends[2];

	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	cr_expect_eq(hf_file_next_data(ends[0], 0, 10), -ESPIPE);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

Test(file_content, read_all_up_to_the_bound)
{
	enum { CHUNK = 16 * 1024 };
	static const struct {
		size_t size;
		size_t max;
		int rc;
	} rows[] = {
		{0, 0, 0},
		{1, 0, -EFBIG},
		{1, 1, 0},
		{10, 9, -EFBIG},
		{CHUNK - 1, CHUNK, 0},
		{CHUNK, CHUNK, 0},
		{CHUNK + 1, CHUNK, -EFBIG},
		{CHUNK, SIZE_MAX, 0},
		{5 * CHUNK + 7, 5 * CHUNK + 7, 0},
		{5 * CHUNK + 8, 5 * CHUNK + 7, -EFBIG},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		cleanup_buffer struct hf_buffer data = HF_BUFFER_INIT;
		cleanup_fd int fd = hf_file_create_at(top_fd, "f", 0600);
		int rc;

		cr_assert_eq(hf_file_truncate(fd, rows[i].size), 0);
		hf_buffer_add_text(&data, "kept");
		rc = hf_file_read_all(fd, rows[i].max, &data);
		cr_expect_eq(rc, rows[i].rc, "%zu: %d", i, rc);
		cr_expect_eq(data.len, 4 + (rc < 0 ? 0 : rows[i].size));
		cr_expect_eq(data.data[data.len], '\0');
		cr_expect_eq(memcmp(data.data, "kept", 4), 0);
		cr_assert_eq(unlinkat(top_fd, "f", 0), 0);
	}
}

Test(file_content, read_all_of_what_tells_no_size)
{
	cleanup_buffer struct hf_buffer data = HF_BUFFER_INIT;
	cleanup_fd int fd = hf_file_open_read_path("/proc/self/status");
	cleanup_fd int directory = dup(top_fd);

	cr_expect_eq(hf_file_read_all(fd, 1 << 20, &data), 0);
	cr_expect_gt(data.len, 100);
	cr_expect_eq(hf_file_read_all(directory, 100, &data), -EISDIR);
	cr_expect_eq(hf_file_read_all(-1, 100, &data), -EBADF);
}

Test(file_content, has_writer)
{
	cleanup_fd int write_fd = -1;
	cleanup_fd int fd = -1;
	void *map;

	hf_put_file(top_fd, "w", "text");
	fd = hf_file_open_read_at(top_fd, "w");
	cr_assert_geq(fd, 0);
	cr_expect_eq(hf_file_has_writer(fd), 0);
	write_fd = hf_file_open_write_at(top_fd, "w");
	cr_assert_geq(write_fd, 0);
	cr_expect_eq(hf_file_has_writer(fd), 1);
	map = mmap(NULL, 4, PROT_WRITE, MAP_SHARED, write_fd, 0);
	cr_assert_neq(map, MAP_FAILED);
	hf_file_close_quietly(&write_fd);
	cr_expect_eq(hf_file_has_writer(fd), 1, "a mapping writes, too");
	cr_assert_eq(munmap(map, 4), 0);
	cr_expect_eq(hf_file_has_writer(fd), 0);
}
