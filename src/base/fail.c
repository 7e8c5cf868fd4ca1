/* SPDX-License-Identifier: MIT */
/* Fill in a struct hf_error without allocating anything. */
#include "base/fail.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Two paths as long as hf_quote() makes them, and the words around them. */
#define WHOLE_MAX	((size_t)2 * 4 * 4096 + 1024)
#define REASON_MAX	((size_t)256)

/* What stands for the part that is left out, and how much stays beside it. */
static const char mark[] = "\xe2\x80\xa6";
#define MARK_LEN	(sizeof(mark) - 1)
#define KEPT_MIN	((size_t)64)

static bool is_inside_character(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* The longest part of text without a quote: a name, mostly. */
static char *find_longest(char *text, size_t *ret_len)
{
	char *longest = text;

	*ret_len = 0;
	while (*text != '\0') {
		const size_t len = strcspn(text, "'");

		if (len > *ret_len) {
			longest = text;
			*ret_len = len;
		}
		text += len;
		text += *text != '\0';
	}
	return longest;
}

/* Make text shorter by excess or so; false when nothing in it is long. */
static bool shorten(char *text, size_t excess)
{
	size_t len;
	char *const part = find_longest(text, &len);
	size_t kept = KEPT_MIN;
	size_t head;
	size_t tail;

	if (len <= KEPT_MIN + MARK_LEN)
		return false;
	if (len > KEPT_MIN + MARK_LEN + excess)
		kept = len - MARK_LEN - excess;
	head = kept / 2;
	tail = len - (kept - head);
	while (head > 0 && is_inside_character(part[head]))
		head--;
	while (tail < len && is_inside_character(part[tail]))
		tail++;
	memcpy(part + head, mark, MARK_LEN);
	memmove(part + head + MARK_LEN, part + tail, strlen(part + tail) + 1);
	return true;
}

/* What failed and why must be seen, however long the names are. */
static void set_text(struct hf_error *err, char whole[WHOLE_MAX])
{
	size_t len = strlen(whole);

	while (len >= sizeof(err->text) &&
	       shorten(whole, len + 1 - sizeof(err->text)))
		len = strlen(whole);
	(void)snprintf(err->text, sizeof(err->text), "%s", whole);
}

int hf_fail(struct hf_error *err, enum hf_code code, const char *fmt, ...)
{
	char whole[WHOLE_MAX];
	va_list ap;

	err->code = code;
	err->sys_errno = 0;
	err->hint[0] = '\0';
	va_start(ap, fmt);
	(void)vsnprintf(whole, sizeof(whole), fmt, ap);
	va_end(ap);
	set_text(err, whole);
	return code;
}

int hf_fail_system(struct hf_error *err, int negative_errno, const char *fmt,
		   ...)
{
	char whole[WHOLE_MAX];
	va_list ap;
	size_t used;

	err->code = HF_ERR_SYSTEM;
	err->sys_errno = -negative_errno;
	err->hint[0] = '\0';
	va_start(ap, fmt);
	(void)vsnprintf(whole, sizeof(whole) - REASON_MAX, fmt, ap);
	va_end(ap);

	used = strlen(whole);
	(void)snprintf(whole + used, sizeof(whole) - used, ": %s",
		       strerror(-negative_errno));
	set_text(err, whole);
	return HF_ERR_SYSTEM;
}

int hf_fail_hint(struct hf_error *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(err->hint, sizeof(err->hint), fmt, ap);
	va_end(ap);
	return err->code;
}

int hf_fail_memory(struct hf_error *err)
{
	return hf_fail_system(err, -ENOMEM, "cannot go on");
}
