/* SPDX-License-Identifier: MIT */
/*
 * Patterns that name protected entries.  Pure: nothing looks at a file system.
 *
 *	* ? [a-z] [!a-z]
 *			within one component, a leading dot too
 *	**		across components (a whole component): any number of
 *			them, at the end at least one
 *	trailing /	the directory and all that lies beneath it; without a
 *			wildcard whatever has the name, else directories alone
 *	leading !	takes out what an earlier pattern took in
 *	\x		the byte x itself
 *
 * Relative to the root; absolute ones (also "~/", replaced by the home
 * directory before it comes here) name entries outside it.  The last pattern
 * that matches wins.  Bytes are compared as they are.  A pattern without a
 * wildcard is "literal": it names one path whether that exists or not.
 *
 * 10,000 patterns stay fast: literal ones are looked up, not tried in turn, and
 * of the others only those are tried whose fixed directory part is on the path's
 * way and whose neighbouring bytes it has.
 */
#ifndef HF_CORE_PATTERN_H
#define HF_CORE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/defs.h"

struct hf_error;
struct hf_patterns;

#define HF_PATTERN_LEN_MAX	4096
#define HF_PATTERN_COUNT_MAX	100000

#define cleanup_patterns CLEANUP(hf_patterns_free)

/* NULL when out of memory. */
struct hf_patterns *hf_patterns_new(void);
void hf_patterns_free(struct hf_patterns **patterns);

/* Absolute patterns beneath root (canonical) that are added from now on mean
 * relative paths.  HF_ERR_SYSTEM when out of memory. */
MUST_CHECK int hf_patterns_set_root(struct hf_patterns *patterns,
				    const char *root, struct hf_error *err);

/*
 * HF_ERR_USAGE with a text that says what is wrong ("'a/../b' leaves the
 * root", "'[a' has no closing bracket", "'' is empty").
 */
MUST_CHECK int hf_patterns_add(struct hf_patterns *patterns, const char *text,
			       struct hf_error *err);
size_t hf_patterns_count(const struct hf_patterns *patterns);
/* The text of the pattern at index, as it was added. */
const char *hf_patterns_text(const struct hf_patterns *patterns, size_t index);

/*
 * The pattern that makes path (relative and plain, or absolute) a member, or
 * NULL when none does or the last that matches begins with "!".
 */
const char *hf_patterns_match(const struct hf_patterns *patterns,
			      const char *path, bool is_directory);

/*
 * Can anything beneath the directory path match?  With is_skipped (a version
 * control directory, node_modules, ...) only patterns count that reach it
 * without "**".
 */
bool hf_patterns_reach_beneath(const struct hf_patterns *patterns,
			       const char *path, bool is_skipped);

/*
 * The same two questions where the first skipped_len bytes of path lead to a
 * skipped directory (the innermost one): "**" does not count when it leads into
 * it, unless a name that stands behind names that directory.  What "!" takes
 * out is out everywhere.
 *
 *	"**" / "x.toml"			not "node_modules/x.toml"
 *	"**" / "node_modules" / "*"	"a/node_modules/x", skipped_len 14
 *	"node_modules" / "**"		"node_modules/a/x", skipped_len 12
 *
 * 0 is no skipped directory; hf_patterns_reach_beneath() with is_skipped is a
 * skipped_len of all of path.
 */
const char *hf_patterns_match_past(const struct hf_patterns *patterns,
				   const char *path, size_t skipped_len,
				   bool is_directory);
bool hf_patterns_reach_past(const struct hf_patterns *patterns,
			    const char *path, size_t skipped_len);

/*
 * Literal patterns that are not taken out again, in order, each path once: for
 * entries that do not exist.  A trailing slash is cut off.  False behind the
 * last one.
 */
bool hf_patterns_literal(const struct hf_patterns *patterns, size_t *position,
			 const char **ret_path, const char **ret_rule);

/*
 * The fixed directory part of every absolute pattern: where to start walking
 * outside the root.  All that matches lies beneath it ("/a" for "/a/b" and
 * "/a/b/", "/a/b" for "/a/b/" and a wildcard); none lies beneath another.
 * False behind the last one.
 */
bool hf_patterns_outside(const struct hf_patterns *patterns, size_t *position,
			 const char **ret_directory);

/* One pattern against one text without slashes rules: "uv add*" against a
 * command line.  '*' matches any bytes. */
bool hf_pattern_match_text(const char *pattern, const char *text);
/* Is it one?  HF_ERR_USAGE, as for hf_patterns_add(). */
MUST_CHECK int hf_pattern_check_text(const char *pattern, struct hf_error *err);

/* The pattern that names exactly path, to free(); NULL when out of memory. */
MUST_CHECK char *hf_pattern_escape(const char *path);

#endif /* HF_CORE_PATTERN_H */
