/* SPDX-License-Identifier: MIT */
/*
 * One pattern for paths, taken apart: "!a/b/[cd]/" is the fixed path "a/b" (the
 * anchor), then parts, each for one component or, "**", for any number of them.
 *
 *	cleanup_path_glob struct hf_path_glob glob = HF_PATH_GLOB_INIT;
 *
 *	rc = hf_path_glob_parse(&glob, "!a/b/[cd]/", NULL, err);
 *
 * The questions take a path that is the anchor or lies beneath it, which is for
 * the caller (core/pattern.c) to look up.
 */
#ifndef HF_CORE_PATH_GLOB_H
#define HF_CORE_PATH_GLOB_H

#include <stdbool.h>
#include <stddef.h>

#include "base/defs.h"
#include "core/glob.h"

struct hf_error;
struct hf_glob_part;

struct hf_path_glob {
	char *text;		/* as it was written */
	char *anchor;		/* "", "a/b" or "/a/b" */
	size_t anchor_len;
	struct hf_glob_part *parts;
	size_t part_count;	/* 0: a literal, the anchor is all of it */
	char *bytes;		/* what literal parts point to */
	bool is_negated;
	bool is_tree;		/* a slash at the end */
	bool has_any;		/* "**" is one of the parts */
	struct hf_pairs pairs;	/* of the parts: what matches has all of them */
};

#define HF_PATH_GLOB_INIT	{ .text = NULL }
#define cleanup_path_glob	CLEANUP(hf_path_glob_done)

/*
 * root (absolute, or NULL) makes an absolute pattern beneath it a relative one.
 * HF_ERR_USAGE says what is wrong with text.
 */
MUST_CHECK int hf_path_glob_parse(struct hf_path_glob *glob, const char *text,
				  const char *root, struct hf_error *err);
void hf_path_glob_done(struct hf_path_glob *glob);

bool hf_path_glob_is_literal(const struct hf_path_glob *glob);

/*
 * skipped_len is the length of the part of path that leads to a directory which
 * "**" does not enter, or 0; a negated pattern does not care.  See
 * hf_patterns_match_past().
 */
bool hf_path_glob_matches(const struct hf_path_glob *glob, const char *path,
			  size_t skipped_len, bool is_directory);
/* Can it match anything beneath the directory path? */
bool hf_path_glob_reaches(const struct hf_path_glob *glob, const char *path,
			  size_t skipped_len);
/* Does it match all that is beneath the directory path?  No may be wrong. */
bool hf_path_glob_covers(const struct hf_path_glob *glob, const char *path);

#endif /* HF_CORE_PATH_GLOB_H */
