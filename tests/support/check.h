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

/* HF_MUST_WORK=1 in the environment: nothing may be skipped. */
bool hf_must_work(void);

/* Skip a test that has made nothing yet. */
#define hf_skip_now(why)						\
	do {								\
		cr_assert_not(hf_must_work(), "must not be skipped: %s", \
			      (why));					\
		cr_skip_test(why);					\
	} while (0)

/* The same with what it made removed: Criterion runs no .fini then. */
#define hf_skip(teardown, why)						\
	do {								\
		teardown();						\
		hf_skip_now(why);					\
	} while (0)

#endif /* HF_TESTS_CHECK_H */
