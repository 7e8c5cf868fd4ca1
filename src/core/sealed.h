/* SPDX-License-Identifier: MIT */
/*
 * Text of JSON lines that shows whether it is whole: the last line says how many
 * counted lines there are and what the hash of all bytes before it is.
 *
 *	{"entries":6,"hash":"HEX"}
 *
 * Cut at any byte, or with one changed, it is HF_ERR_CORRUPT.
 */
#ifndef HF_CORE_SEALED_H
#define HF_CORE_SEALED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/defs.h"

struct hf_buffer;
struct hf_error;

/* Append the last line; key is what is counted ("entries"). */
void hf_sealed_end(struct hf_buffer *text, const char *key, size_t count);

/* The lines of a text, one after the other. */
struct hf_lines {
	const char *next;
	const char *end;
};

/*
 * Check the last line; *ret_lines are those before it.  label is for the
 * message: "cannot read 'LABEL': it is damaged".
 */
MUST_CHECK int hf_sealed_check(const char *label, const char *data, size_t len,
			       const char *key, struct hf_lines *ret_lines,
			       size_t *ret_count, struct hf_error *err);

/* Of a whole text, which may be NULL. */
struct hf_lines hf_lines_of(const char *text);
/* The next line without its newline; false at the end. */
bool hf_lines_next(struct hf_lines *lines, const char **ret_line,
		   size_t *ret_len);

#endif /* HF_CORE_SEALED_H */
