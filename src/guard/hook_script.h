/* SPDX-License-Identifier: MIT */
/*
 * The script that git starts as a hook: its text, and whether a file is one.
 * Pure.
 */
#ifndef HF_GUARD_HOOK_SCRIPT_H
#define HF_GUARD_HOOK_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/defs.h"

struct hf_buffer;
struct hf_error;

/* Also the order in which they are named. */
enum hf_hook {
	HF_HOOK_PRE_COMMIT,
	HF_HOOK_POST_CHECKOUT,
	HF_HOOK_POST_MERGE,
	HF_HOOK_POST_REWRITE,
	HF_HOOK_PRE_PUSH,
	HF_HOOKS /* how many */
};

/* "pre-commit", ... */
const char *hf_hook_name(enum hf_hook hook);
/* HF_HOOKS where it is none of ours. */
enum hf_hook hf_hook_find(const char *name);

/* What is put behind the name of the hook that was there before. */
#define HF_HOOK_BEFORE ".before-holdfast"

/* program: the path of holdfast, tried first. */
MUST_CHECK int hf_hook_script_make(enum hf_hook hook, const char *program,
				   struct hf_buffer *out, struct hf_error *err);

enum hf_hook_file {
	HF_HOOK_FILE_NONE,   /* not there */
	HF_HOOK_FILE_OURS,   /* written by us, of any version */
	HF_HOOK_FILE_EDITED, /* the same, and changed since */
	HF_HOOK_FILE_CALLS,  /* somebody's, and calls `holdfast hook run` */
	HF_HOOK_FILE_FOREIGN
};

enum hf_hook_file hf_hook_script_judge(enum hf_hook hook, const char *text,
				       size_t len);

#endif /* HF_GUARD_HOOK_SCRIPT_H */
