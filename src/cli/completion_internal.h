/* SPDX-License-Identifier: MIT */
/* What the scripts for the three shells share.  Private to cli/completion*.c. */
#ifndef HF_CLI_COMPLETION_INTERNAL_H
#define HF_CLI_COMPLETION_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

struct hf_buffer;
struct hf_option;

/* Is it in a list of words with blanks between them? */
bool hf_completion_has_word(const char *list, const char *word, size_t len);
bool hf_completion_is_text(const char *at, size_t len, const char *text);
/* The kinds of what stands behind an option, a blank before each. */
void hf_completion_add_values(const struct hf_option *option,
			      struct hf_buffer *out);

/* Does the command have it? */
bool hf_completion_belongs(const struct hf_option *option, size_t command);
/* One stands in the table twice, with and without a value: is it the first of
 * those that any of these commands has, and does a second one follow? */
bool hf_completion_is_first(size_t index, unsigned commands);
bool hf_completion_has_second(size_t index, size_t command);

/* text with a backslash in front of each character of set, and quote for every
 * single quote, since it will stand between two. */
void hf_completion_add_escaped(const char *text, const char *set,
			       const char *quote, struct hf_buffer *out);

void hf_completion_add_bash(struct hf_buffer *out);
void hf_completion_add_zsh(struct hf_buffer *out);
void hf_completion_add_fish(struct hf_buffer *out);

#endif /* HF_CLI_COMPLETION_INTERNAL_H */
