/* SPDX-License-Identifier: MIT */
/*
 * What a shell completes behind `holdfast`: a script made from the tables of
 * commands and options, so that it cannot fall behind them.  Pure.
 */
#ifndef HF_CLI_COMPLETION_H
#define HF_CLI_COMPLETION_H

#include "cli/options.h"

struct hf_buffer;

/* Append the script for this shell. */
void hf_completion_add(enum hf_shell shell, struct hf_buffer *out);

/*
 * What the words behind a command may be, by the text that describes them: its
 * lower-case words as they stand, DIR, FILE, SNAPSHOT, COMMAND, the hooks for a
 * NAME; a blank before each.
 */
void hf_completion_add_words(const char *arguments, struct hf_buffer *out);

#endif /* HF_CLI_COMPLETION_H */
