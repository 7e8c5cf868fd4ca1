/* SPDX-License-Identifier: MIT */
/* restore --to: copies into another directory, the tree is left alone. */
#ifndef HF_CLI_RESTORE_TO_H
#define HF_CLI_RESTORE_TO_H

#include "cli/options.h"
#include "cli/output.h"

/* The exit status: 3 when a copy could not be made. */
int hf_cli_restore_to(const struct hf_options *options,
		      struct hf_output *output);

#endif /* HF_CLI_RESTORE_TO_H */
