/* SPDX-License-Identifier: MIT */
/*
 * What tests of leases share: a directory, leases on files in it, the signals,
 * and programs that want to write.
 */
#ifndef HF_TESTS_LEASED_H
#define HF_TESTS_LEASED_H

#include <stdint.h>
#include <sys/types.h>

#include "platform/lease.h"

struct hf_leased {
	char *dir;
	int dir_fd;
	int proc_fd;
	int signal_fd;
	struct hf_leases *leases;
	struct hf_lease_openers openers;
	unsigned lost; /* signals that said so */
};

/* All signals are blocked from now on; what descends from inside is inside. */
void hf_leased_setup(struct hf_leased *leased, int64_t inside);
void hf_leased_teardown(struct hf_leased *leased);

/* Make a file and lease it; what hf_leases_add() says. */
int hf_leased_add(struct hf_leased *leased, const char *name, size_t tag);
/* Tell leases of all signals that are there. */
void hf_leased_take_signals(struct hf_leased *leased);
/* Judge when they come, until there are openers: they are in leased. */
void hf_leased_judge(struct hf_leased *leased);

/* A program that does one thing and says what came of it: 0 or an errno. */
struct hf_opener {
	pid_t pid;
	int result_fd;
};

/* In a child: end when the test does, and not hold its leases much longer. */
void hf_opener_end_with_us(void);
/* Open dir/name with flags. */
struct hf_opener hf_opener_start(const struct hf_leased *leased,
				 const char *name, int flags, uid_t uid);
/* The same, stopped before it does. */
struct hf_opener hf_opener_start_held(const struct hf_leased *leased,
				      const char *name, int flags);
void hf_opener_go(const struct hf_opener *opener);
/* truncate(2) it. */
struct hf_opener hf_truncater_start(const struct hf_leased *leased,
				    const char *name);
/* Until the kernel shows the thread asleep in a lease. */
void hf_opener_wait_blocked(pid_t pid, pid_t tid);
/* Is it still at it? */
int hf_opener_is_busy(const struct hf_opener *opener);
/* Waits for its end. */
int hf_opener_result(struct hf_opener *opener);

/* open(O_RDWR | O_NONBLOCK) here: 0 or an errno; EAGAIN where there is a lease.
 */
int hf_leased_try(const struct hf_leased *leased, const char *name);

#endif /* HF_TESTS_LEASED_H */
