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
#include <stdint.h>

/*
 * Which bytes stand side by side in a text; some pairs share a bit.  What a glob
 * asks for side by side is so in all that it matches, which tells most of many
 * globs apart from a text at once.
 */
struct hf_pairs {
	uint64_t words[4];
};

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

void hf_pairs_add_text(struct hf_pairs *pairs, const char *text, size_t len);
void hf_pairs_add_glob(struct hf_pairs *pairs, const char *glob, size_t len);
bool hf_pairs_has_all(const struct hf_pairs *pairs,
		      const struct hf_pairs *wanted);

#endif /* HF_CORE_GLOB_H */
