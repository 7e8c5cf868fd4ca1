/* SPDX-License-Identifier: MIT */
/*
 * Small questions and preparations that tests of files share.
 */
#ifndef HF_TESTS_CHECK_H
#define HF_TESTS_CHECK_H

#include <stdbool.h>
#include <stdint.h>

/* How many descriptors are open: the same before and after, nothing leaked. */
int hf_open_descriptors(void);

/* Make or replace a file of dir_fd with this text; ends the test otherwise. */
void hf_put_file(int dir_fd, const char *name, const char *text);

/* Does the file have exactly this text? */
bool hf_file_has(int dir_fd, const char *name, const char *text);

/* Give the directory to an ordinary user and become it, if we are root. */
void hf_become_user(const char *directory);

/* Is fd the very object that name is, links not followed? */
bool hf_is_same(int fd, int dir_fd, const char *name);

/* Skip a test with what it made removed: Criterion runs no .fini then. */
#define hf_skip(teardown, why)						\
	do {								\
		teardown();						\
		cr_skip_test(why);					\
	} while (0)

#endif /* HF_TESTS_CHECK_H */
