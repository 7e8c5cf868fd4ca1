/* SPDX-License-Identifier: MIT */
/*
 * Two states of the protected files beside each other: a snapshot and the tree,
 *or two snapshots.
 *
 *	cleanup_comparison struct hf_comparison comparison = HF_COMPARISON_INIT;
 *
 *	rc = hf_comparison_load(&comparison, options, output, err);
 */
#ifndef HF_CLI_COMPARISON_H
#define HF_CLI_COMPARISON_H

#include "cli/command.h"
#include "core/compare.h"

struct hf_comparison {
	struct hf_project project;
	char **named; /* paths, NULL-terminated; NULL for everything */
	/* The same without those beneath others; borrowed. */
	const char **paths;
	struct hf_name from;
	struct hf_name to; /* "": the tree */
	struct hf_tree before;
	struct hf_tree after;
	struct hf_deltas deltas; /* borrow from both */
};

#define HF_COMPARISON_INIT                                          \
	{                                                           \
		.project = HF_PROJECT_INIT, .before = HF_TREE_INIT, \
		.after = HF_TREE_INIT, .deltas = HF_DELTAS_INIT     \
	}
#define cleanup_comparison CLEANUP(hf_comparison_done)

/*
 * By the options' words: snapshots, then paths.  Of the tree only those files
 * are read that do not look as they did (hf_scan_use_cache()).
 */
MUST_CHECK int hf_comparison_load(struct hf_comparison *comparison,
				  const struct hf_options *options,
				  struct hf_output *output,
				  struct hf_error *err);
/* Is it a path that was named itself, not only one beneath? */
bool hf_comparison_is_named(const struct hf_comparison *comparison,
			    const char *path);
/*
 * The content of an entry of one side; HF_ERR_LIMIT when it has more than max
 * bytes.
 */
MUST_CHECK int hf_comparison_read(const struct hf_comparison *comparison,
				  const struct hf_entry *entry, bool is_after,
				  size_t max, struct hf_buffer *ret_data,
				  struct hf_error *err);
void hf_comparison_done(struct hf_comparison *comparison);

#endif /* HF_CLI_COMPARISON_H */
