/* SPDX-License-Identifier: MIT */
/* A byte string that grows and remembers that it could not. */
#include "base/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"

#define SMALLEST_CAPACITY 64
/* Of the largest number, in octal. */
#define DIGITS_MAX	  22

char *hf_buffer_reserve(struct hf_buffer *buffer, size_t len)
{
	size_t needed;
	size_t capacity = buffer->capacity;
	char *data;

	if (buffer->is_failed)
		return NULL;
	if (__builtin_add_overflow(buffer->len, len, &needed) ||
	    needed >= SIZE_MAX / 2) {
		buffer->is_failed = true;
		return NULL;
	}
	if (needed < capacity)
		return buffer->data + buffer->len;

	if (capacity < SMALLEST_CAPACITY)
		capacity = SMALLEST_CAPACITY;
	while (capacity <= needed)
		capacity *= 2;
	data = realloc(buffer->data, capacity);
	if (!data) {
		buffer->is_failed = true;
		return NULL;
	}
	buffer->data = data;
	buffer->capacity = capacity;
	return data + buffer->len;
}

void hf_buffer_add_slowly(struct hf_buffer *buffer, const void *data,
			  size_t len)
{
	char *const end = hf_buffer_reserve(buffer, len);

	if (!end)
		return;
	if (len > 0)
		memcpy(end, data, len);
	end[len] = '\0';
	buffer->len += len;
}

/*
 * At least so many digits of value, in front of end; where they begin.  The
 * base is a constant wherever this is inlined: no division then.
 */
static inline const char *digits_before(char *end, uint64_t value,
					unsigned base, size_t digits)
{
	char *begin = end;

	while (value > 0 || (size_t)(end - begin) < digits) {
		*--begin = (char)('0' + value % base);
		value /= base;
	}
	return begin;
}

void hf_buffer_add_decimal(struct hf_buffer *buffer, uint64_t value,
			   size_t digits)
{
	char text[DIGITS_MAX];
	char *const end = text + sizeof(text);
	const char *const begin = digits_before(end, value, 10, digits);

	hf_buffer_add(buffer, begin, (size_t)(end - begin));
}

void hf_buffer_add_octal(struct hf_buffer *buffer, uint64_t value,
			 size_t digits)
{
	char text[DIGITS_MAX];
	char *const end = text + sizeof(text);
	const char *const begin = digits_before(end, value, 8, digits);

	hf_buffer_add(buffer, begin, (size_t)(end - begin));
}

void hf_buffer_printf(struct hf_buffer *buffer, const char *fmt, ...)
{
	va_list ap;
	char *end;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (len < 0) {
		buffer->is_failed = true;
		return;
	}

	end = hf_buffer_reserve(buffer, (size_t)len);
	if (!end)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(end, (size_t)len + 1, fmt, ap);
	va_end(ap);
	buffer->len += (size_t)len;
}

void hf_buffer_clear(struct hf_buffer *buffer)
{
	buffer->len = 0;
	buffer->is_failed = false;
	if (buffer->data)
		buffer->data[0] = '\0';
}

int hf_buffer_check(const struct hf_buffer *buffer, struct hf_error *err)
{
	return buffer->is_failed ? hf_fail_memory(err) : 0;
}

char *hf_buffer_take(struct hf_buffer *buffer)
{
	char *data;

	hf_buffer_add(buffer, "", 0);
	if (buffer->is_failed)
		return NULL;
	data = take_ptr(&buffer->data);
	buffer->len = 0;
	buffer->capacity = 0;
	return data;
}

void hf_buffer_done(struct hf_buffer *buffer)
{
	hf_free_pointee(&buffer->data);
	buffer->len = 0;
	buffer->capacity = 0;
	buffer->is_failed = false;
}
