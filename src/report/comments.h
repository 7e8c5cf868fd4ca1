/* SPDX-License-Identifier: MIT */
/*
 * Comment lines that a change cost: the first thing a person wants to know about
 * a file that a program has rewritten.
 */
#ifndef HF_REPORT_COMMENTS_H
#define HF_REPORT_COMMENTS_H

#include <stdbool.h>
#include <stddef.h>

struct hf_buffer;
struct hf_delta;
struct hf_session;
struct hf_violation;

/* Lines that begin with '#', blanks left out; false when it is no text. */
bool hf_comments_count(const char *data, size_t len, size_t *ret_count);

/*
 * Append ", 31 -> 0 comment lines" where both contents are at hand (the kept copy
 * and the file that was put back), small, and differ in this.
 */
void hf_report_comments(const struct hf_session *session,
			const struct hf_violation *violation,
			struct hf_buffer *out);
/* The same for what changed since the run before, when both are cheap to read. */
void hf_report_drift_comments(const struct hf_session *session,
			      const struct hf_delta *delta,
			      struct hf_buffer *out);

#endif /* HF_REPORT_COMMENTS_H */
