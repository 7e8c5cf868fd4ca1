/* SPDX-License-Identifier: MIT */
/*
 * What became of a run as workflow commands, which GitHub shows beside the code and
 * other runners understand: "::error file=tests/test_a.py,title=...::...".
 */
#ifndef HF_REPORT_ANNOTATIONS_H
#define HF_REPORT_ANNOTATIONS_H

#include "guard/session.h"

struct hf_buffer;

/* A line each, grouped like the summary; nothing after a clean run.  location as
 * in struct hf_text_style. */
void hf_report_annotations(const struct hf_session *session,
			   const char *location, struct hf_buffer *out);

#endif /* HF_REPORT_ANNOTATIONS_H */
