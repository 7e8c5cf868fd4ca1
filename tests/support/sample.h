/* SPDX-License-Identifier: MIT */
/*
 * A program that is looked at while it waits: support/environ_sample.c, or any
 * that prints a number and waits for the end of its input.
 *
 *	struct hf_sample sample = HF_SAMPLE_INIT;
 *	tid = hf_sample_start(&sample, argv);
 *	hf_sample_tell(&sample, 's');
 *	hf_sample_end(&sample);
 */
#ifndef HF_TESTS_SAMPLE_H
#define HF_TESTS_SAMPLE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct hf_sample {
	pid_t pid;
	int to_fd;
	int from_fd;
};

#define HF_SAMPLE_INIT {.to_fd = -1, .from_fd = -1}

/* The sample that is linked in this way; false when there is no compiler for it. */
bool hf_sample_path(char ret_path[PATH_MAX], const char *kind);

/* Start a program; the number that it prints.  Ends the test otherwise. */
long hf_sample_start(struct hf_sample *sample, const char *const *argv);
/* The next number that it prints. */
long hf_sample_read(struct hf_sample *sample);
/* Tell it to make a change, and wait until it has. */
void hf_sample_tell(struct hf_sample *sample, char change);
/* End its input and wait for it; nothing when there is none. */
void hf_sample_end(struct hf_sample *sample);

#endif /* HF_TESTS_SAMPLE_H */
