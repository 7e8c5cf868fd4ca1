/* SPDX-License-Identifier: MIT */
/*
 * The loops of the benchmark: a few system calls again and again, timed from
 * inside, so that whatever started the program is not in the figure.
 *
 *	loops write FILE SECONDS	open for writing and close
 *	loops read FILE SECONDS		open for reading and close
 *	loops storm FILE SECONDS	create, write, close, unlink
 *	loops refused FILE COUNT	opens that must fail with EACCES
 *
 * Prints nanoseconds an iteration: of `refused` the mean, of the others the
 * median over batches, which a moment of other work on the machine leaves as
 * it is.  Ends with 3 when an open that should be refused was not.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BATCH 100u /* long against two looks at the clock */
#define MAX_BATCHES 200000u

static uint64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool open_and_close(const char *path, int flags)
{
	const int fd = openat(AT_FDCWD, path, flags, 0644);

	return fd >= 0 && close(fd) == 0;
}

static bool write_once(const char *path)
{
	return open_and_close(path, O_WRONLY);
}

static bool read_once(const char *path)
{
	return open_and_close(path, O_RDONLY);
}

static bool storm_once(const char *path)
{
	const int fd =
		openat(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	return fd >= 0 && write(fd, "x", 1) == 1 && close(fd) == 0 &&
	       unlinkat(AT_FDCWD, path, 0) == 0;
}

static int by_size(const void *a, const void *b)
{
	const uint64_t *const left = a;
	const uint64_t *const right = b;

	return (*left > *right) - (*left < *right);
}

static int run_batches(bool (*once)(const char *path), const char *path,
		       double seconds)
{
	uint64_t *const took = calloc(MAX_BATCHES, sizeof(*took));
	const uint64_t end = now_ns() + (uint64_t)(seconds * 1e9);
	size_t count = 0;
	uint64_t start = now_ns();

	if (!took)
		return 1;
	while (count < MAX_BATCHES && start < end) {
		uint64_t stop;

		for (unsigned i = 0; i < BATCH; i++)
			if (!once(path)) {
				perror(path);
				free(took);
				return 1;
			}
		stop = now_ns();
		took[count++] = stop - start;
		start = stop;
	}
	qsort(took, count, sizeof(*took), by_size);
	(void)printf("%.1f\n", (double)took[count / 2] / BATCH);
	free(took);
	return 0;
}

static int run_refused(const char *path, unsigned count)
{
	const uint64_t start = now_ns();

	for (unsigned i = 0; i < count; i++)
		if (open_and_close(path, O_WRONLY) || errno != EACCES)
			return 3;
	(void)printf("%.1f\n", (double)(now_ns() - start) / count);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		bool (*once)(const char *path);
	} loops[] = {
		{ "write", write_once },
		{ "read", read_once },
		{ "storm", storm_once },
	};
	double amount;

	if (argc != 4 || sscanf(argv[3], "%lf", &amount) != 1 || amount <= 0) {
		(void)fputs("usage: loops write|read|storm FILE SECONDS\n"
			    "       loops refused FILE COUNT\n",
			    stderr);
		return 2;
	}
	if (strcmp(argv[1], "refused") == 0)
		return run_refused(argv[2], (unsigned)amount);
	for (size_t i = 0; i < sizeof(loops) / sizeof(loops[0]); i++)
		if (strcmp(argv[1], loops[i].name) == 0)
			return run_batches(loops[i].once, argv[2], amount);
	return 2;
}
