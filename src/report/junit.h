/* SPDX-License-Identifier: MIT */
/*
 * The report of a run in the form that viewers of test results read: one test case
 * a violation, named after the test that did it.
 */
#ifndef HF_REPORT_JUNIT_H
#define HF_REPORT_JUNIT_H

#include "guard/session.h"

struct hf_buffer;

/* How every such report begins. */
#define HF_REPORT_JUNIT_START						\
	"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"			\
	"<testsuites name=\"holdfast\""

/* A run that goes on is an error: should it never end, an earlier report must not
 * stand for this run.  location as in struct hf_text_style. */
void hf_report_junit(const struct hf_session *session, const char *location,
		     struct hf_buffer *out);

#endif /* HF_REPORT_JUNIT_H */
