/* SPDX-License-Identifier: MIT */
/*
 * A byte string that grows: the way all text and JSON is put together.
 *
 *	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
 *
 *	hf_buffer_printf(&text, "%zu entries\n", count);
 *	hf_buffer_add(&text, name, name_len);
 *	rc = hf_buffer_check(&text, err);
 *
 * A failed allocation is remembered and makes every later call a no-op, so it
 * is checked once, at the end.  The data is always NUL-terminated once anything
 * was added; data is NULL before.
 */
#ifndef HF_BASE_BUFFER_H
#define HF_BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/defs.h"

struct hf_error;

struct hf_buffer {
	char *data;
	size_t len;		/* without the terminating NUL */
	size_t capacity;
	bool is_failed;
};

#define HF_BUFFER_INIT	{ .data = NULL }
#define cleanup_buffer	CLEANUP(hf_buffer_done)

/* hf_buffer_add() where there is no room yet. */
void hf_buffer_add_slowly(struct hf_buffer *buffer, const void *data,
			  size_t len);

/* Here, since manifests are put together from small constants by the million:
 * the compiler then knows their lengths. */
static inline void hf_buffer_add(struct hf_buffer *buffer, const void *data,
				 size_t len)
{
	if (buffer->is_failed || len >= buffer->capacity - buffer->len) {
		hf_buffer_add_slowly(buffer, data, len);
		return;
	}
	if (len > 0)
		memcpy(buffer->data + buffer->len, data, len);
	buffer->len += len;
	buffer->data[buffer->len] = '\0';
}

static inline void hf_buffer_add_text(struct hf_buffer *buffer,
				      const char *text)
{
	hf_buffer_add(buffer, text, strlen(text));
}

PRINTF_LIKE(2, 3)
void hf_buffer_printf(struct hf_buffer *buffer, const char *fmt, ...);
/* A number with at least so many digits, at most 20: faster than printf(). */
void hf_buffer_add_decimal(struct hf_buffer *buffer, uint64_t value,
			   size_t digits);
void hf_buffer_add_octal(struct hf_buffer *buffer, uint64_t value,
			 size_t digits);

/* Make room for len more bytes and return where they go, or NULL. */
char *hf_buffer_reserve(struct hf_buffer *buffer, size_t len);

/* Forget the content, keep the memory. */
void hf_buffer_clear(struct hf_buffer *buffer);

/* 0, or out of memory at any time since the last clear. */
MUST_CHECK int hf_buffer_check(const struct hf_buffer *buffer,
			       struct hf_error *err);

/* The content, now the caller's to free(); NULL when out of memory. */
char *hf_buffer_take(struct hf_buffer *buffer);

void hf_buffer_done(struct hf_buffer *buffer);

#endif /* HF_BASE_BUFFER_H */
