/* SPDX-License-Identifier: MIT */
/*
 * What became of a group of violations, in one line.
 */
#ifndef HF_REPORT_LINES_H
#define HF_REPORT_LINES_H

#include "report/groups.h"

struct hf_buffer;

/*
 * "refused 5,000 times: open for writing by TEST (python3, pid 4711)", "94 ->
 * 12 bytes; put back, the other version is kept: PATH": what stands behind
 * "PATH: ", without a newline.  location as in struct hf_text_style.
 */
void hf_text_add_group(struct hf_buffer *out, const struct hf_session *session,
		       const struct hf_group *group, const char *location);
/* "edited outside the run (vim, pid 12) and left so" */
void hf_text_add_left(struct hf_buffer *out, const struct hf_session *session,
		      const struct hf_violation *violation);

#endif /* HF_REPORT_LINES_H */
