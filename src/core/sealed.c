/* SPDX-License-Identifier: MIT */
/* Close a text of lines with its hash, and check that. */
#include "core/sealed.h"

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/text.h"
#include "core/hash.h"

/* Longer than any last line. */
#define SEAL_MAX 128

/* The last line of the len bytes before it; its length. */
static size_t format_seal(char out[SEAL_MAX], const void *data, size_t len,
			  const char *key, uint64_t count)
{
	const struct hf_hash hash = hf_hash_of(data, len);
	char digits[HF_HASH_TEXT];
	const int used = snprintf(
		out, SEAL_MAX, "{\"%s\":%llu,\"hash\":\"%s\"}\n", key,
		(unsigned long long)count, hf_hash_format(&hash, digits));

	return (size_t)used;
}

void hf_sealed_end(struct hf_buffer *text, const char *key, size_t count)
{
	char seal[SEAL_MAX];
	const size_t len = format_seal(seal, text->data, text->len, key, count);

	hf_buffer_add(text, seal, len);
}

/* The number behind {"KEY": at the start of a line. */
static int parse_count(const char *line, size_t len, const char *key,
		       uint64_t *ret_count)
{
	char prefix[SEAL_MAX];
	const int used = snprintf(prefix, sizeof(prefix), "{\"%s\":", key);
	const size_t prefix_len = (size_t)used;
	const char *comma;

	if (len <= prefix_len || memcmp(line, prefix, prefix_len) != 0)
		return -EINVAL;
	comma = memchr(line, ',', len);
	if (!comma)
		return -EINVAL;
	return hf_parse_u64(line + prefix_len,
			    (size_t)(comma - line) - prefix_len, 10, ret_count);
}

/* Where the last line begins; len when there is no complete one. */
static size_t last_line(const char *data, size_t len)
{
	size_t start = len;

	if (len == 0 || data[len - 1] != '\n')
		return len;
	start--;
	while (start > 0 && data[start - 1] != '\n')
		start--;
	return start;
}

int hf_sealed_check(const char *label, const char *data, size_t len,
		    const char *key, struct hf_lines *ret_lines,
		    size_t *ret_count, struct hf_error *err)
{
	const size_t start = last_line(data, len);
	char seal[SEAL_MAX];
	uint64_t count = 0;

	if (start == len ||
	    parse_count(data + start, len - start, key, &count) < 0)
		return hf_fail(err, HF_ERR_CORRUPT,
			       "cannot read '%s': its end is missing",
			       HF_QUOTE(label));
	/* Made again and compared as text: there is one right form only. */
	if (format_seal(seal, data, start, key, count) != len - start ||
	    memcmp(seal, data + start, len - start) != 0 || count > SIZE_MAX)
		return hf_fail(err, HF_ERR_CORRUPT,
			       "cannot read '%s': it is damaged",
			       HF_QUOTE(label));

	*ret_lines = (struct hf_lines){.next = data, .end = data + start};
	*ret_count = (size_t)count;
	return 0;
}

struct hf_lines hf_lines_of(const char *text)
{
	return (struct hf_lines){
		.next = text,
		.end = text ? text + strlen(text) : NULL,
	};
}

bool hf_lines_next(struct hf_lines *lines, const char **ret_line,
		   size_t *ret_len)
{
	const size_t left = (size_t)(lines->end - lines->next);
	const char *newline;

	if (left == 0)
		return false;
	newline = memchr(lines->next, '\n', left);
	*ret_line = lines->next;
	*ret_len = newline ? (size_t)(newline - lines->next) : left;
	lines->next = newline ? newline + 1 : lines->end;
	return true;
}
