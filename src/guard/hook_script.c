/* SPDX-License-Identifier: MIT */
/*
 * Make the script of a hook, and know it again.
 *
 * hooks/hook.sh is the text.  Its third line has a hash of what stands below:
 * one that a person has changed is told from one that an older holdfast wrote.
 */
#include "guard/hook_script.h"

#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "core/hash.h"
#include "hook_text.h"

#define MARK	 "#!/bin/sh\n# SPDX-License-Identifier: MIT\n# holdfast-hook "
#define MARK_LEN (sizeof(MARK) - 1)
#define SUM_LEN	 (HF_HASH_TEXT - 1)

static const char *const names[HF_HOOKS] = {
	[HF_HOOK_PRE_COMMIT] = "pre-commit",
	[HF_HOOK_POST_CHECKOUT] = "post-checkout",
	[HF_HOOK_POST_MERGE] = "post-merge",
	[HF_HOOK_POST_REWRITE] = "post-rewrite",
	[HF_HOOK_PRE_PUSH] = "pre-push",
};

const char *hf_hook_name(enum hf_hook hook)
{
	return names[hook];
}

enum hf_hook hf_hook_find(const char *name)
{
	enum hf_hook hook = HF_HOOK_PRE_COMMIT;

	while (hook < HF_HOOKS && strcmp(names[hook], name) != 0)
		hook++;
	return hook;
}

/* -- making ------------------------------------------------------------------
 */

static void add_quoted(struct hf_buffer *out, const char *word)
{
	hf_buffer_add_text(out, "'");
	for (; *word != '\0'; word++) {
		if (*word == '\'')
			hf_buffer_add_text(out, "'\\''");
		else
			hf_buffer_add(out, word, 1);
	}
	hf_buffer_add_text(out, "'");
}

/* The text with its blanks filled in; the sum is not known yet. */
static void fill(enum hf_hook hook, const char *program, struct hf_buffer *out)
{
	const char *at = (const char *)hook_text;

	while (*at != '\0') {
		const size_t len = strcspn(at, "@");

		hf_buffer_add(out, at, len);
		at += len;
		if (strncmp(at, "@NAME@", 6) == 0) {
			hf_buffer_add_text(out, names[hook]);
			at += 6;
		} else if (strncmp(at, "@PROGRAM@", 9) == 0) {
			add_quoted(out, program);
			at += 9;
		} else if (strncmp(at, "@SUM@", 5) == 0) {
			at += 5;
		} else if (*at != '\0') {
			hf_buffer_add(out, at++, 1);
		}
	}
}

/* Behind the mark: the sum of what stands below the line. */
static void add_sum(struct hf_buffer *out, const char *below)
{
	const struct hf_hash hash = hf_hash_of(below, strlen(below));
	char digits[HF_HASH_TEXT];

	hf_buffer_add_text(out, hf_hash_format(&hash, digits));
}

int hf_hook_script_make(enum hf_hook hook, const char *program,
			struct hf_buffer *out, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	int rc;

	fill(hook, program, &text);
	rc = hf_buffer_check(&text, err);
	if (rc < 0)
		return rc;
	hf_buffer_add(out, text.data, MARK_LEN);
	add_sum(out, text.data + MARK_LEN + 1);
	hf_buffer_add_text(out, text.data + MARK_LEN);
	return hf_buffer_check(out, err);
}

/* -- knowing it again ---------------------------------------------------------
 */

/* In a line that is no comment. */
static bool has_call(const char *text, size_t len, const char *call)
{
	const char *const end = text + len;

	while (text < end) {
		const char *const newline =
			memchr(text, '\n', (size_t)(end - text));
		const char *const stop = newline ? newline : end;

		while (text < stop && (*text == ' ' || *text == '\t'))
			text++;
		if (text < stop && *text != '#' &&
		    memmem(text, (size_t)(stop - text), call, strlen(call)))
			return true;
		text = newline ? newline + 1 : end;
	}
	return false;
}

enum hf_hook_file hf_hook_script_judge(enum hf_hook hook, const char *text,
				       size_t len)
{
	cleanup_buffer struct hf_buffer call = HF_BUFFER_INIT;
	const char *const below = text + MARK_LEN + SUM_LEN + 1;
	struct hf_hash hash;
	char digits[HF_HASH_TEXT];

	if (len > MARK_LEN + SUM_LEN + 1 && memcmp(text, MARK, MARK_LEN) == 0) {
		hash = hf_hash_of(below, len - (size_t)(below - text));
		return below[-1] == '\n' &&
				       memcmp(text + MARK_LEN,
					      hf_hash_format(&hash, digits),
					      SUM_LEN) == 0
			       ? HF_HOOK_FILE_OURS
			       : HF_HOOK_FILE_EDITED;
	}
	hf_buffer_printf(&call, "holdfast hook run %s", names[hook]);
	return call.data && has_call(text, len, call.data)
		       ? HF_HOOK_FILE_CALLS
		       : HF_HOOK_FILE_FOREIGN;
}
