/* SPDX-License-Identifier: MIT */
/* A question to the person at the terminal. */
#ifndef HF_CLI_ASK_H
#define HF_CLI_ASK_H

#include <stdbool.h>
#include <stddef.h>

struct hf_buffer;
struct hf_output;

/* Is there a person who sees the question and can answer it? */
bool hf_ask_is_possible(void);
/* Print the lines and the question, without "[y/N] "; true for a yes. */
bool hf_ask(struct hf_output *output, const struct hf_buffer *lines,
	    const char *question);

/* The same for an answer of any kind; false at the end of input. */
bool hf_ask_for(struct hf_output *output, const struct hf_buffer *lines,
		const char *question, char *answer, size_t size);

#endif /* HF_CLI_ASK_H */
