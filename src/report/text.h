/* SPDX-License-Identifier: MIT */
/*
 * What a person reads in a terminal: lines for standard error, each complete
 * with "holdfast: " and a newline.  Nothing is printed here.
 */
#ifndef HF_REPORT_TEXT_H
#define HF_REPORT_TEXT_H

#include "report/groups.h"
#include "report/layers.h"
#include "report/words.h"

struct hf_buffer;
struct hf_deltas;

/* First session, missing layer, drift; nothing on an ordinary clean start. */
void hf_report_text_begun(const struct hf_session *session,
			  const struct hf_deltas *drift,
			  const struct hf_text_style *style,
			  struct hf_buffer *out);
/* One line, when it happens. */
void hf_report_text_violation(const struct hf_session *session,
			      const struct hf_violation *violation,
			      const struct hf_text_style *style,
			      struct hf_buffer *out);
/* What such a line begins with: "refused" or "changed". */
const char *hf_report_fate_word(enum hf_fate fate);
/* The summary; nothing after a clean run. */
void hf_report_text_finished(const struct hf_session *session,
			     const struct hf_text_style *style,
			     struct hf_buffer *out);

#endif /* HF_REPORT_TEXT_H */
