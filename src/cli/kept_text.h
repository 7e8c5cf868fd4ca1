/* SPDX-License-Identifier: MIT */
/*
 * Kept copies as they are listed.
 *
 *	cleanup_kept_text struct hf_kept_text text = HF_KEPT_TEXT_INIT;
 *
 *	hf_kept_text_add(&text, &list);		(for each session)
 *	hf_kept_text_finish(&text);
 */
#ifndef HF_CLI_KEPT_TEXT_H
#define HF_CLI_KEPT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "core/kept_list.h"

struct hf_kept_text {
	struct hf_buffer out;
	bool is_json;
	const char *location; /* "" or the options that lead to the project */
	size_t sessions;
	size_t copies;
	uint64_t bytes;
};

#define HF_KEPT_TEXT_INIT              \
	{                              \
		.out = HF_BUFFER_INIT, \
	}
#define cleanup_kept_text CLEANUP(hf_kept_text_done)

/* is_living: the session has not ended, and its owner lives. */
void hf_kept_text_add(struct hf_kept_text *text,
		      const struct hf_kept_list *list, bool is_living);
void hf_kept_text_finish(struct hf_kept_text *text);
/* A copy alone, as JSON: where it lies and what it is. */
void hf_kept_text_add_one(const struct hf_kept_list *list,
			  const struct hf_kept_copy *copy,
			  struct hf_buffer *out);
void hf_kept_text_done(struct hf_kept_text *text);

#endif /* HF_CLI_KEPT_TEXT_H */
