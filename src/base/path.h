/* SPDX-License-Identifier: MIT */
/*
 * Paths as byte strings; nothing here touches a file system.
 *
 * A "plain" path is relative, has components separated by single slashes, no
 * "." or "..", no leading or trailing slash and no NUL.  Every path kept in an
 * entry is plain (beneath the root) or absolute and otherwise plain (outside).
 * "." stands for the root itself.
 */
#ifndef HF_BASE_PATH_H
#define HF_BASE_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/defs.h"

/* Bounds of what is accepted from any file or system: Linux's PATH_MAX and
 * NAME_MAX, which NTFS does not exceed in UTF-8 of the same length. */
#define HF_PATH_MAX	4096
#define HF_NAME_MAX	255

/* Plain, or absolute and plain behind the slash, or "."; within the bounds? */
bool hf_path_is_plain(const char *path);

/* Of the component at, up to the next '/'; 0 when it is no name: empty, ".",
 * "..", too long. */
size_t hf_path_name_len(const char *at);
bool hf_path_is_absolute(const char *path);

/* The last component ("c" of "a/b/c"); path itself when it has just one. */
const char *hf_path_name(const char *path);

/* Length of the parent: 3 for "a/b/c", 0 for "c", 1 for "/c". */
size_t hf_path_parent_len(const char *path);

/* Is path beneath ancestor (not equal to it)?  "." holds all relative paths,
 * "/" all absolute ones. */
bool hf_path_is_beneath(const char *path, const char *ancestor);

/*
 * Order of entries: bytewise, but a slash sorts before every other byte, so
 * that a directory is directly followed by all that lies beneath it.  "."
 * comes first, absolute paths last.
 */
int hf_path_compare(const char *a, const char *b);

/* directory + "/" + name, to free(); name alone when directory is "" or ".";
 * NULL when out of memory. */
MUST_CHECK char *hf_path_join(const char *directory, const char *name);

/*
 * Lexically: "a//./b/" becomes "a/b", "" and "./" become ".".  ".." that would
 * leave the start, and over-long paths, give NULL with errno EINVAL,
 * ENAMETOOLONG; otherwise to free().
 */
MUST_CHECK char *hf_path_normalize(const char *path);

#endif /* HF_BASE_PATH_H */
