/* SPDX-License-Identifier: MIT */
/*
 * Which content a restore without --from takes: the newest one that is not
 * known as damage and differs from the tree.
 *
 * As a rule that is the one of the newest snapshot, and there is nothing to
 * choose.  Where that does not differ, lacks the path, or is damage itself,
 * older ones are taken: the only one there is, or the one that a person
 * chooses.
 */
#ifndef HF_CLI_RESTORE_CHOICE_H
#define HF_CLI_RESTORE_CHOICE_H

#include <stdbool.h>

#include "cli/repair.h"
#include "core/manifest.h"

struct hf_restore_choice {
	/* The chosen entries, with the directories above them; sorted. */
	struct hf_tree want;
	struct hf_name snapshot; /* of the first of them */
	size_t count;
	/* Somebody must choose, and has not: nothing is to be done. */
	bool is_open;
};

#define HF_RESTORE_CHOICE_INIT       \
	{                            \
		.want = HF_TREE_INIT \
	}
#define cleanup_restore_choice CLEANUP(hf_restore_choice_done)

/* paths: NULL-terminated, as entries name them, each in now if it is there. */
MUST_CHECK int hf_restore_choose(struct hf_cli_repair *repair,
				 const struct hf_manifest *newest,
				 const struct hf_tree *now,
				 const char *const *paths,
				 struct hf_restore_choice *ret_choice,
				 struct hf_error *err);
void hf_restore_choice_done(struct hf_restore_choice *choice);

#endif /* HF_CLI_RESTORE_CHOICE_H */
