/* SPDX-License-Identifier: MIT */
/* Paths that a person types, as entries name them. */
#ifndef HF_CLI_PATHS_H
#define HF_CLI_PATHS_H

#include "base/defs.h"

struct hf_error;

/*
 * typed is relative to the working directory; when that is not beneath the root,
 * to the root.  The result is relative to the root, "." for the root itself, or
 * absolute outside it; to free().  No link is followed below the working
 * directory: a protected link is an entry of its own.
 */
MUST_CHECK int hf_paths_resolve(const char *root, const char *typed,
				char **ret_path, struct hf_error *err);
/* The same without looking at the system: where is the working directory? */
MUST_CHECK int hf_paths_resolve_from(const char *root, const char *directory,
				     const char *typed, char **ret_path,
				     struct hf_error *err);

#endif /* HF_CLI_PATHS_H */
