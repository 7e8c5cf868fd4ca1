/* SPDX-License-Identifier: MIT */
/*
 * Put right seals and sums on what a test has written into a store.
 *
 *	forge manifest|index <LINES >FILE	lines without the last one
 *	forge journal <LINES >FILE		records without their sum
 */
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "core/hash.h"
#include "core/sealed.h"

static int forge_journal(const struct hf_buffer *text, struct hf_buffer *out)
{
	struct hf_lines lines = {
		.next = text->data,
		.end = text->data + text->len,
	};
	const char *line;
	size_t len;

	while (hf_lines_next(&lines, &line, &len)) {
		char digits[HF_HASH_TEXT];
		struct hf_hash sum;

		/* Without its last brace. */
		if (len == 0 || line[len - 1] != '}')
			return -1;
		sum = hf_hash_of(line, len - 1);
		hf_buffer_add(out, line, len - 1);
		hf_buffer_printf(out, ",\"sum\":\"%s\"}\n",
				 hf_hash_format(&sum, digits));
	}
	return 0;
}

static void forge_sealed(const struct hf_buffer *text, const char *start,
			 const char *key, struct hf_buffer *out)
{
	struct hf_lines lines = {
		.next = text->data,
		.end = text->data + text->len,
	};
	size_t count = 0;
	const char *line;
	size_t len;

	while (hf_lines_next(&lines, &line, &len))
		count += len > strlen(start) &&
			 memcmp(line, start, strlen(start)) == 0;
	hf_buffer_add(out, text->data, text->len);
	hf_sealed_end(out, key, count);
}

int main(int argc, char **argv)
{
	struct hf_buffer text = HF_BUFFER_INIT;
	struct hf_buffer out = HF_BUFFER_INIT;
	const char *const kind = argc > 1 ? argv[1] : "";
	char block[4096];
	size_t len;
	int rc = 0;

	while ((len = fread(block, 1, sizeof(block), stdin)) > 0)
		hf_buffer_add(&text, block, len);
	if (text.len == 0)
		rc = -1;
	else if (strcmp(kind, "journal") == 0)
		rc = forge_journal(&text, &out);
	else if (strcmp(kind, "manifest") == 0)
		forge_sealed(&text, "{\"path\":", "entries", &out);
	else if (strcmp(kind, "index") == 0)
		forge_sealed(&text, "{\"hash\":", "contents", &out);
	else
		rc = -1;
	if (rc == 0 && fwrite(out.data, 1, out.len, stdout) != out.len)
		rc = -1;
	hf_buffer_done(&text);
	hf_buffer_done(&out);
	return rc < 0 || fflush(stdout) != 0;
}
