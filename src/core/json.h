/* SPDX-License-Identifier: MIT */
/*
 * Reading JSON: the one door to cJSON.
 *
 * Two kinds of input: a whole document written by a person (comments, positions
 * in every message), and a single line written by us (fast, strict).  Bounded
 * in size and depth.  Nothing here reads a file.
 *
 * Writing needs no library: hf_buffer_printf() and hf_buffer_add_json().
 */
#ifndef HF_CORE_JSON_H
#define HF_CORE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/defs.h"

struct hf_error;

#define HF_JSON_DOCUMENT_MAX	((size_t)1 << 20)	/* bytes of a policy */
#define HF_JSON_LINE_MAX	((size_t)1 << 20)	/* bytes of one line */

/* 2^53 - 1: the next whole number a double cannot tell from its successor. */
#define HF_JSON_NUMBER_MAX	UINT64_C(9007199254740991)

struct hf_json;		/* a parsed document or line; root value */
/* Opaque here; borrowed from the document. */
typedef struct cJSON hf_json_value;

#define cleanup_json	CLEANUP(hf_json_free)
void hf_json_free(struct hf_json **json);

/*
 * A document with // and block comments.  name is for messages:
 * "holdfast.json:3:14: expected ..." (HF_ERR_USAGE).  Duplicate keys, trailing
 * commas, a NUL byte, text that is not UTF-8 and anything behind the value are
 * errors.
 */
MUST_CHECK int hf_json_parse_document(const char *name, const char *text,
				      size_t len, struct hf_json **ret_json,
				      struct hf_error *err);
/*
 * One line, as strict (but for duplicate keys); HF_ERR_CORRUPT, without a
 * position.
 */
MUST_CHECK int hf_json_parse_line(const char *text, size_t len,
				  struct hf_json **ret_json,
				  struct hf_error *err);

const hf_json_value *hf_json_root(const struct hf_json *json);

/* -- looking (all accept NULL and then say "not there") --------------- */

bool hf_json_is_object(const hf_json_value *value);
bool hf_json_is_array(const hf_json_value *value);
/* First member or element, and the next; NULL at the end. */
const hf_json_value *hf_json_first(const hf_json_value *value);
const hf_json_value *hf_json_next(const hf_json_value *value);
/* The key of a member of an object; NULL otherwise. */
const char *hf_json_key(const hf_json_value *value);
const hf_json_value *hf_json_get(const hf_json_value *object, const char *key);
/* NULL when it is no string. */
const char *hf_json_string(const hf_json_value *value);
/* A whole number from 0 to HF_JSON_NUMBER_MAX (all that a double tells apart); false when
 * it is none. */
bool hf_json_number(const hf_json_value *value, uint64_t *ret_number);
/* The same, or a string of decimal digits: as a number above that is written. */
bool hf_json_large_number(const hf_json_value *value, uint64_t *ret_number);
bool hf_json_bool(const hf_json_value *value, bool *ret_bool);
/* "an object", "a string", ...: for "expected ..., got ...". */
const char *hf_json_kind(const hf_json_value *value);

/*
 * Where a member or element of a document stands, both from 1 (columns count
 * characters).  For a member: its key.  Used for messages only.
 */
void hf_json_position(const struct hf_json *json, const hf_json_value *value,
		      unsigned *ret_line, unsigned *ret_column);
/* "NAME:LINE:COLUMN: TEXT" as HF_ERR_USAGE. */
PRINTF_LIKE(4, 5)
int hf_json_fail(const struct hf_json *json, const hf_json_value *value,
		 struct hf_error *err, const char *fmt, ...);

#endif /* HF_CORE_JSON_H */
