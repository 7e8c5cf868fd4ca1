/* SPDX-License-Identifier: MIT */
/* The sessions of a store, for those who list them. */
#ifndef HF_CLI_SESSIONS_H
#define HF_CLI_SESSIONS_H

#include <stdbool.h>

#include "base/buffer.h"
#include "core/journal.h"

/* "violated, 2 violations, exit 97: pytest -x" */
void hf_sessions_describe(const struct hf_session_record *record,
			  bool is_living, struct hf_buffer *out);
bool hf_sessions_has(const struct hf_names *names, const struct hf_name *name);

#endif /* HF_CLI_SESSIONS_H */
