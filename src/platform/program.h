/* SPDX-License-Identifier: MIT */
/*
 * The program seam: ask another program something and read its answer.
 *
 * No shell, no terminal: the program reads what it is given, its messages go
 * nowhere, its answer is bounded.
 */
#ifndef HF_PLATFORM_PROGRAM_H
#define HF_PLATFORM_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

#include "base/defs.h"

struct hf_buffer;

struct hf_program {
	const char *const *argv; /* NULL-terminated; the first is looked up */
	/* "NAME=VALUE" each, instead of what the environment has; or NULL. */
	const char *const *variables;
	/* Without what git told its hooks: the question is about another
	 * repository. */
	bool is_apart_from_git;
	const char *input; /* may be NULL */
	size_t input_len;
	size_t max; /* bytes of the answer */
};

/*
 * Run it to its end; the answer is appended.  Returns its exit status (128 + n
 * after a signal), -ENOENT when there is no such program, -EFBIG when the
 * answer is too long, or -errno.
 */
MUST_CHECK int hf_program_ask(const struct hf_program *program,
			      struct hf_buffer *ret_answer);

/*
 * Where git started this process (as a hook, an alias, by `rebase --exec` or
 * `bisect run`), the environment names git's repository, index, author and
 * more. All of that is forgotten: what is started from now on works on whatever
 * repository it stands in.
 */
void hf_program_forget_git(void);

/* The file that this process executes, absolute; to free(). */
MUST_CHECK int hf_program_self(char **ret_path);

#endif /* HF_PLATFORM_PROGRAM_H */
