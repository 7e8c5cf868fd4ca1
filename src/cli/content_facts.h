/* SPDX-License-Identifier: MIT */
/* What can be told of one content that a path has had, without showing it. */
#ifndef HF_CLI_CONTENT_FACTS_H
#define HF_CLI_CONTENT_FACTS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/history.h"

struct hf_content_facts {
	bool has_hash;
	struct hf_hash hash; /* of a link: of its text */
	bool is_text;	     /* lines and comments were counted */
	size_t lines;
	size_t comments;
	bool is_now;
};

/* now: what stands there, kind absent when nothing does. */
struct hf_content_facts hf_content_facts_of(
	const struct hf_store *store, const struct hf_history_content *content,
	const struct hf_entry *now);
/* Do both have the same content? */
bool hf_content_is(const struct hf_entry *now, const struct hf_entry *entry);
/* "94 bytes, 5 lines (3 of comment), as it is now" */
void hf_content_facts_add(const struct hf_history_content *content,
			  const struct hf_content_facts *facts,
			  struct hf_buffer *out);
/* "; kept by run 5: pytest -x" for each session that replaced it. */
void hf_content_copies_add(const struct hf_history_content *content,
			   struct hf_buffer *out);

#endif /* HF_CLI_CONTENT_FACTS_H */
