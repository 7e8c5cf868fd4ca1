/* SPDX-License-Identifier: MIT */
/*
 * The JSON report of a run (DESIGN section 2), as text.
 */
#ifndef HF_REPORT_JSON_H
#define HF_REPORT_JSON_H

#include "guard/session.h"

struct hf_buffer;

/* The whole report; called again at every violation. */
void hf_report_json(const struct hf_session *session, struct hf_buffer *out);

#endif /* HF_REPORT_JSON_H */
