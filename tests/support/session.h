/* SPDX-License-Identifier: MIT */
/*
 * A session put together by hand, for tests of what is said about it.
 *
 *	struct hf_test_session test;
 *
 *	hf_test_session_init(&test);
 *	violation = hf_test_session_add(&test, "config.toml", "write");
 *	...
 *	hf_test_session_done(&test);
 */
#ifndef HF_TESTS_SESSION_H
#define HF_TESTS_SESSION_H

#include "guard/session.h"

struct hf_buffer;
struct hf_text_style;

struct hf_test_session {
	struct hf_project project;
	struct hf_session session;
};

/* A clean run of "pytest -x" over six files, ended with 0. */
void hf_test_session_init(struct hf_test_session *test);
/*
 * A violation of a file of 94 bytes that was written (12 bytes now), put back and
 * kept; the session is violated, exit 97.
 */
struct hf_violation *hf_test_session_add(struct hf_test_session *test,
					 const char *path,
					 const char *operation);
/* The same refused: nothing was touched. */
struct hf_violation *hf_test_session_refuse(struct hf_test_session *test,
					    const char *path,
					    const char *operation);
/* Make one a person's, which stays. */
void hf_test_session_leave(struct hf_violation *violation);
/* What was said must be this text; nothing is "". */
void hf_test_expect_said(const struct hf_buffer *said, const char *text);
/* The same of what is said at the end of the session. */
void hf_test_session_expect_finished(const struct hf_test_session *test,
				     const struct hf_text_style *style,
				     const char *text);
void hf_test_session_done(struct hf_test_session *test);

#endif /* HF_TESTS_SESSION_H */
