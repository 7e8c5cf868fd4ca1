/* SPDX-License-Identifier: MIT */
/* Where git keeps what it knows of a work tree. */
#ifndef HF_CORE_GIT_PLACE_H
#define HF_CORE_GIT_PLACE_H

#include "base/defs.h"

/*
 * The git directory of a directory that has a .git, which may be a file that
 * names it (work trees, submodules); to free(), NULL when there is none.  Whose
 * it is is for the caller to ask.
 */
MUST_CHECK char *hf_git_directory_of(const char *directory);
/* What several work trees share: that directory itself, or where its
 * "commondir" leads; to free(). */
MUST_CHECK char *hf_git_common_of(const char *git_directory);
/* The first of directory and those above it to have a .git; to free(). */
MUST_CHECK char *hf_git_top_of(const char *directory);

#endif /* HF_CORE_GIT_PLACE_H */
