/* SPDX-License-Identifier: MIT */
/*
 * What git says of the entries that differ after a checkout, merge or rewrite.
 * Private to guard/hook_*.c.
 */
#ifndef HF_GUARD_HOOK_ASK_H
#define HF_GUARD_HOOK_ASK_H

#include "guard/hook_work.h"

struct hf_hook_asking {
	struct hf_hook_work *work;
	struct hf_hook_after *facts; /* of each item */
	struct hf_git_names tracked;
	struct hf_git_names changed; /* against the commit, or the index */
	struct hf_buffer stashes;    /* their commits, a line each */
	size_t stash_count;
	const char *before; /* a name of the commit before; NULL: none */
};

#define cleanup_hook_asking CLEANUP(hf_hook_asking_done)
void hf_hook_asking_done(struct hf_hook_asking *asking);

bool hf_hook_is_missing(const struct hf_delta *delta);
bool hf_hook_is_directory(const struct hf_delta *delta);

/* All facts but the past; contents that git did not have come into work->want.
 */
MUST_CHECK int hf_hook_ask(struct hf_hook_asking *asking, struct hf_error *err);

#endif /* HF_GUARD_HOOK_ASK_H */
