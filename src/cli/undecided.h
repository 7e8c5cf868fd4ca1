/* SPDX-License-Identifier: MIT */
/* What a session that did not end has left undecided, as commands print it. */
#ifndef HF_CLI_UNDECIDED_H
#define HF_CLI_UNDECIDED_H

#include <stdbool.h>

#include "guard/recover.h"

struct hf_buffer;

/*
 * Of each undecided entry the three versions there are, before the run, left by
 * it, and now, and the two commands that decide.  location: "" or the options
 * that lead to the project.
 */
void hf_undecided_add(const struct hf_recovery_work *work, const char *location,
		      struct hf_buffer *out);
/* An object of a list: the session, what was put back, what is undecided. */
void hf_undecided_add_json(const struct hf_recovery_work *work,
			   const struct hf_recovery_result *result,
			   bool is_first, struct hf_buffer *out);

#endif /* HF_CLI_UNDECIDED_H */
