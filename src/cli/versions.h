/* SPDX-License-Identifier: MIT */
/* Other contents that older snapshots hold of a path. */
#ifndef HF_CLI_VERSIONS_H
#define HF_CLI_VERSIONS_H

#include <stddef.h>

#include "cli/repair.h"

/*
 * For each path that is a file of now: list the snapshots before the newest that
 * hold another content, each content once, with the command that takes it.
 * ret_count: how many were listed.
 */
MUST_CHECK int hf_versions_list(struct hf_cli_repair *repair,
				const char *const *paths,
				const struct hf_tree *now, size_t *ret_count,
				struct hf_error *err);

#endif /* HF_CLI_VERSIONS_H */
