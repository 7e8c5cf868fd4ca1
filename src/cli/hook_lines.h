/* SPDX-License-Identifier: MIT */
/* What is said of git's hooks: by `status`, and by the hooks themselves. */
#ifndef HF_CLI_HOOK_LINES_H
#define HF_CLI_HOOK_LINES_H

#include "cli/output.h"
#include "guard/hook_place.h"
#include "guard/hook_work.h"

/* The lines of `status`: which hooks fire and which do not. */
void hf_hook_lines_add_state(const struct hf_hook_place *place,
			     struct hf_buffer *out);
/* The same as a JSON list; place NULL, which is no repository: null. */
void hf_hook_lines_add_json(const struct hf_hook_place *place,
			    struct hf_buffer *out);

/* After a checkout: what git changed, what stays away, and why. */
void hf_hook_lines_say_after(const struct hf_hook_work *work,
			     struct hf_output *output);
/* Why the commit or the push is stopped. */
void hf_hook_lines_say_stopped(const struct hf_hook_work *work,
			       struct hf_output *output);
/* What to type then; behind what was put back. */
void hf_hook_lines_say_cures(const struct hf_hook_work *work,
			     struct hf_output *output);
/* `hook run --json` */
void hf_hook_lines_add_run(const struct hf_hook_work *work,
			   struct hf_buffer *out);

bool hf_hook_is_stopped(const struct hf_hook_item *item);

#endif /* HF_CLI_HOOK_LINES_H */
