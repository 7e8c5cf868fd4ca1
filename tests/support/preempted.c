/* SPDX-License-Identifier: MIT */
/*
 * A program whose threads are interrupted all the time, as a runtime does that
 * takes turns by signals: every thread has a timer of its own, whose handler
 * lets calls be restarted.
 *
 *	preempted THREADS HZ ROUNDS PROTECTED
 *
 * Each thread writes a file of its own in the working directory and tries the
 * protected one, so many times.  Prints how many files were written, how many
 * attempts refused, how many calls ended otherwise, and how many signals came.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define THREADS_MAX 64
#define SECOND_NS   1000000000L

static atomic_long signals;
static atomic_long written;
static atomic_long refused;
static atomic_long otherwise;
static long hertz;
static long rounds;
static const char *protected_file;

static void interrupt(int number)
{
	(void)number;
	(void)atomic_fetch_add(&signals, 1);
}

static void start_timer(timer_t *ret_timer)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID,
				 .sigev_signo = SIGURG};
	const struct itimerspec every = {
		.it_interval = {.tv_nsec = SECOND_NS / hertz},
		.it_value = {.tv_nsec = SECOND_NS / hertz},
	};

	event.sigev_notify_thread_id = gettid();
	if (timer_create(CLOCK_MONOTONIC, &event, ret_timer) < 0 ||
	    timer_settime(*ret_timer, 0, &every, NULL) < 0) {
		perror("timer");
		exit(2);
	}
}

static void write_one(const char *name)
{
	const int fd =
		open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd >= 0 && write(fd, "x", 1) == 1 && unlink(name) == 0)
		(void)atomic_fetch_add(&written, 1);
	else
		(void)atomic_fetch_add(&otherwise, 1);
	if (fd >= 0)
		(void)close(fd);
}

static void *work(void *argument)
{
	char name[64];
	timer_t timer;

	(void)snprintf(name, sizeof(name), "own-%ld.txt", *(long *)argument);
	start_timer(&timer);
	for (long i = 0; i < rounds; i++) {
		write_one(name);
		if (open(protected_file, O_WRONLY | O_CLOEXEC) < 0 &&
		    errno == EACCES)
			(void)atomic_fetch_add(&refused, 1);
		else
			(void)atomic_fetch_add(&otherwise, 1);
	}
	(void)timer_delete(timer);
	return NULL;
}

int main(int argc, char **argv)
{
	const struct sigaction action = {.sa_handler = interrupt,
					 .sa_flags = SA_RESTART};
	const long count = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
	pthread_t threads[THREADS_MAX];
	long numbers[THREADS_MAX];

	if (argc != 5 || count < 1 || count > THREADS_MAX) {
		(void)fputs("usage: preempted THREADS HZ ROUNDS PROTECTED\n",
			    stderr);
		return 2;
	}
	hertz = strtol(argv[2], NULL, 10);
	rounds = strtol(argv[3], NULL, 10);
	protected_file = argv[4];
	(void)sigaction(SIGURG, &action, NULL);
	for (long i = 0; i < count; i++) {
		numbers[i] = i;
		if (pthread_create(&threads[i], NULL, work, &numbers[i]) != 0)
			return 2;
	}
	for (long i = 0; i < count; i++)
		(void)pthread_join(threads[i], NULL);
	(void)printf("%ld %ld %ld %ld\n", atomic_load(&written),
		     atomic_load(&refused), atomic_load(&otherwise),
		     atomic_load(&signals));
	return 0;
}
