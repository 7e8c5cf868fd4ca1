/* SPDX-License-Identifier: MIT */
/*
 * Many at once open for writing, rename and unlink protected files.
 *
 *	hammer threads|processes COUNT ROUNDS FILE...
 *
 * Prints how many attempts were refused, how many had another error, and how
 * many came through.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK (64 * 1024)

struct counts {
	atomic_long refused;
	atomic_long failed;
	atomic_long through;
};

struct worker {
	struct counts *counts;
	char *const *files;
	size_t file_count;
	size_t number;
	size_t rounds;
};

static int attempt(const char *file, size_t which)
{
	char gone[4096];
	int fd;

	(void)snprintf(gone, sizeof(gone), "%s.gone", file);
	switch (which % 5) {
	case 0:
		fd = open(file, O_WRONLY | O_CLOEXEC);
		break;
	case 1:
		fd = open(file, O_RDONLY | O_TRUNC | O_CLOEXEC);
		break;
	case 2:
		return rename(file, gone);
	case 3:
		return rename(gone, file);
	default:
		return unlink(file);
	}
	if (fd < 0)
		return -1;
	(void)close(fd);
	return 0;
}

static void *work(void *argument)
{
	const struct worker *worker = argument;

	for (size_t i = 0; i < worker->rounds; i++) {
		const size_t which = worker->number + i;
		const char *file = worker->files[which % worker->file_count];

		if (attempt(file, which) == 0)
			(void)atomic_fetch_add(&worker->counts->through, 1);
		else if (errno == EACCES)
			(void)atomic_fetch_add(&worker->counts->refused, 1);
		else
			(void)atomic_fetch_add(&worker->counts->failed, 1);
	}
	return NULL;
}

static int in_threads(struct worker *workers, size_t count)
{
	pthread_t *threads = calloc(count, sizeof(*threads));
	pthread_attr_t attributes;

	if (threads == NULL || pthread_attr_init(&attributes) != 0 ||
	    pthread_attr_setstacksize(&attributes, STACK) != 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (pthread_create(&threads[i], &attributes, work,
				   &workers[i]) != 0)
			return -1;
	for (size_t i = 0; i < count; i++)
		(void)pthread_join(threads[i], NULL);
	(void)pthread_attr_destroy(&attributes);
	free(threads);
	return 0;
}

static int in_processes(struct worker *workers, size_t count)
{
	int rc = 0;

	for (size_t i = 0; i < count; i++) {
		const pid_t pid = fork();

		if (pid < 0)
			return -1;
		if (pid == 0) {
			(void)work(&workers[i]);
			_exit(0);
		}
	}
	for (size_t i = 0; i < count; i++) {
		int status;

		if (wait(&status) < 0 || status != 0)
			rc = -1;
	}
	return rc;
}

int main(int argc, char **argv)
{
	const bool has_threads = argc > 1 && strcmp(argv[1], "threads") == 0;
	const size_t count = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	struct counts *const counts =
		mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct worker *const workers = calloc(count, sizeof(*workers));
	int rc;

	if (argc < 5 || count == 0 || counts == MAP_FAILED || workers == NULL) {
		(void)fputs("usage: hammer threads|processes COUNT ROUNDS "
			    "FILE...\n",
			    stderr);
		return 2;
	}
	for (size_t i = 0; i < count; i++)
		workers[i] = (struct worker){
			.counts = counts,
			.files = argv + 4,
			.file_count = (size_t)argc - 4,
			.number = i,
			.rounds = strtoul(argv[3], NULL, 10),
		};
	rc = has_threads ? in_threads(workers, count)
			 : in_processes(workers, count);
	(void)printf("%ld %ld %ld\n", atomic_load(&counts->refused),
		     atomic_load(&counts->failed),
		     atomic_load(&counts->through));
	free(workers);
	return rc < 0 ? 2 : 0;
}
