/* SPDX-License-Identifier: MIT */
/*
 * Where git looks for hooks, which of ours are there, and how they come and go.
 *
 * A hook that is there already gets another name beside ours (HF_HOOK_BEFORE)
 * and is called by it; at no moment is there neither.  Where hooks were
 * installed is remembered in the git common directory, so that one which git
 * does not look at any more is still known.
 */
#ifndef HF_GUARD_HOOK_PLACE_H
#define HF_GUARD_HOOK_PLACE_H

#include <stdbool.h>

#include "base/buffer.h"
#include "guard/hook_file.h"

struct hf_error;

struct hf_hook_place {
	char *common;	 /* the git common directory, absolute */
	char *directory; /* where git looks, absolute */
	bool is_bare;
	bool has_path;		/* core.hooksPath says so */
	bool is_shared;		/* of all repositories: not from this one's
				 * configuration */
	bool is_husky;		/* husky's own: its files call those above it */
	struct hf_buffer known; /* what is remembered: NAME, tab, DIRECTORY */
};

#define HF_HOOK_PLACE_INIT     \
	{                      \
		.common = NULL \
	}
#define cleanup_hook_place CLEANUP(hf_hook_place_done)
void hf_hook_place_done(struct hf_hook_place *place);

/*
 * Of the repository that directory is in.  HF_ERR_NOTHING where there is none,
 * HF_ERR_UNSUPPORTED without git.
 */
MUST_CHECK int hf_hook_place_find(const char *directory,
				  struct hf_hook_place *ret_place,
				  struct hf_error *err);

enum hf_hook_state {
	HF_HOOK_ABSENT,	  /* was never installed */
	HF_HOOK_FIRES,	  /* is ours where git looks, or calls us */
	HF_HOOK_BYPASSED, /* is there, but git looks elsewhere */
	HF_HOOK_DISABLED, /* cannot be executed: git passes it over */
	HF_HOOK_REPLACED, /* was installed, and is something else now */
	HF_HOOK_STATES
};
/* "absent", "fires", ... */
const char *hf_hook_state_name(enum hf_hook_state state);
enum hf_hook_state hf_hook_state(const struct hf_hook_place *place,
				 enum hf_hook hook);
/* Where it is remembered to be, which is not where git looks; NULL; to free().
 */
char *hf_hook_elsewhere(const struct hf_hook_place *place, enum hf_hook hook);

MUST_CHECK int hf_hook_install(struct hf_hook_place *place, enum hf_hook hook,
			       const char *program,
			       enum hf_hook_result *ret_result,
			       struct hf_error *err);
MUST_CHECK int hf_hook_uninstall(struct hf_hook_place *place, enum hf_hook hook,
				 enum hf_hook_result *ret_result,
				 struct hf_error *err);
/* Write down what place->known says since then. */
MUST_CHECK int hf_hook_place_remember(const struct hf_hook_place *place,
				      struct hf_error *err);

#endif /* HF_GUARD_HOOK_PLACE_H */
