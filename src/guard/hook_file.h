/* SPDX-License-Identifier: MIT */
/*
 * One hook in a directory: what is there, and how ours comes and goes.
 */
#ifndef HF_GUARD_HOOK_FILE_H
#define HF_GUARD_HOOK_FILE_H

#include <stdbool.h>

#include "guard/hook_script.h"

struct hf_buffer;
struct hf_error;

enum hf_hook_result {
	HF_HOOK_INSTALLED,
	HF_HOOK_CHAINED,   /* the one that was there is called first */
	HF_HOOK_UNCHANGED, /* was there already */
	HF_HOOK_REMOVED,
	HF_HOOK_GIVEN_BACK, /* removed, and the one before is there again */
	HF_HOOK_NONE,	    /* nothing of ours was there */
	HF_HOOK_RESULTS
};
const char *hf_hook_result_name(enum hf_hook_result result);

/* What pre-commit, and lefthook, make of a hook that they find; pre-commit
 * calls it. */
#define HF_HOOK_LEGACY ".legacy"
#define HF_HOOK_OLD    ".old"

/* The file NAME<suffix>; one that cannot be read is somebody's. */
enum hf_hook_file hf_hook_file_at(const char *directory, enum hf_hook hook,
				  const char *suffix);
bool hf_hook_file_is_executable(const char *directory, enum hf_hook hook);

/* may_chain: a foreign one gets another name and is called; else it is refused.
 */
MUST_CHECK int hf_hook_file_put(const char *directory, enum hf_hook hook,
				const struct hf_buffer *script, bool may_chain,
				enum hf_hook_result *ret_result,
				struct hf_error *err);
/* *ret_result is touched where something of ours was there. */
MUST_CHECK int hf_hook_file_take(const char *directory, enum hf_hook hook,
				 enum hf_hook_result *ret_result,
				 struct hf_error *err);

#endif /* HF_GUARD_HOOK_FILE_H */
