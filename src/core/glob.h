/* SPDX-License-Identifier: MIT */
/*
 * Wildcards within one name: "*", "?", "[a-z]", "[!a-z]" and "\x".
 *
 * Bytes are compared as they are; a byte is what "?" and "[...]" stand for, and
 * a leading dot is a byte like any other.
 */
#ifndef HF_CORE_GLOB_H
#define HF_CORE_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/* NULL, or what is wrong: "has no closing bracket".  Static text. */
const char *hf_glob_check(const char *glob, size_t len);

/* Has it no wildcard, so that it names one thing? */
bool hf_glob_is_literal(const char *glob, size_t len);

/* Are there two stars in a row? */
bool hf_glob_has_double_star(const char *glob, size_t len);

/* The bytes that a literal names, at most len; returns how many. */
size_t hf_glob_unescape(char *out, const char *glob, size_t len);

/* A bracket that is not closed stands for itself. */
bool hf_glob_match(const char *glob, size_t glob_len, const char *text,
		   size_t text_len);

#endif /* HF_CORE_GLOB_H */
