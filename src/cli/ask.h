/* SPDX-License-Identifier: MIT */
/* A question to the person at the terminal. */
#ifndef HF_CLI_ASK_H
#define HF_CLI_ASK_H

#include <stdbool.h>

struct hf_buffer;
struct hf_output;

/* Is there a person who sees the question and can answer it? */
bool hf_ask_is_possible(void);
/* Print the lines and the question, without "[y/N] "; true for a yes. */
bool hf_ask(struct hf_output *output, const struct hf_buffer *lines,
	    const char *question);

#endif /* HF_CLI_ASK_H */
