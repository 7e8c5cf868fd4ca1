/* SPDX-License-Identifier: MIT */
/*
 * The grammar of JSON (RFC 8259), strictly: is this text one value, and where
 * do its parts stand?
 *
 * cJSON builds the values but is lenient (control bytes in strings, "01", any
 * byte below the space as white space) and forgets positions.  What passes here
 * is safe to give to it: bounded in depth, no NUL byte, no U+0000, nothing
 * behind the value.  No recursion, no allocation.  Whether the bytes are UTF-8
 * is the caller's to ask (hf_is_utf8()).
 */
#ifndef HF_CORE_JSON_TEXT_H
#define HF_CORE_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Arrays and objects within each other. */
#define HF_JSON_DEPTH_MAX	32

/* What is wrong, in words, and at which byte. */
struct hf_json_fault {
	const char *what;	/* static */
	size_t offset;
};

/*
 * Check all of text.  With blanked (a copy of text), // and block comments are
 * allowed, and overwritten there with spaces so that every offset stays; with
 * NULL they are faults.
 */
bool hf_json_text_check(const char *text, size_t len, char *blanked,
			struct hf_json_fault *ret_fault);

/*
 * The offset of the value that is index-th in the order of the text, counted
 * from 0 for the outermost; of its key when it is a member.  len when there are
 * fewer.  The text must have passed the check; it may have comments.
 */
size_t hf_json_text_find(const char *text, size_t len, size_t index);

/* The line and column of an offset, from 1; columns count characters. */
void hf_json_text_position(const char *text, size_t offset, unsigned *ret_line,
			   unsigned *ret_column);

#endif /* HF_CORE_JSON_TEXT_H */
