/* SPDX-License-Identifier: MIT */
/* What git answers, as records; and a file where a hook of ours may be. */
/* The checks are the point, whatever the build type. */
#undef NDEBUG
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/buffer.h"
#include "core/git.h"
#include "guard/hook_script.h"
#include "holdfast/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void read_records(const struct hf_buffer *text)
{
	struct hf_git_change change;
	size_t at = 0;
	size_t before = 0;

	while (hf_git_next_change(text, &at, &change)) {
		assert(at > before && at <= text->len && change.path);
		assert(change.path >= text->data &&
		       change.path + strlen(change.path) <
			       text->data + text->len);
		assert((change.to != NULL) ==
		       (change.status == 'R' || change.status == 'C'));
		assert(change.status == '\0' || strlen(change.blob) == 40 ||
		       strlen(change.blob) == 64);
		before = at;
	}
}

/* Only what was made here is ours. */
static void judge_script(const struct hf_buffer *text)
{
	for (size_t i = 0; i < HF_HOOKS; i++) {
		cleanup_buffer struct hf_buffer ours = HF_BUFFER_INIT;
		struct hf_error err;
		const enum hf_hook hook = (enum hf_hook)i;

		(void)hf_hook_script_judge(hook, text->data, text->len);
		if (memchr(text->data, '\0', text->len))
			continue;
		assert(hf_hook_script_make(hook, text->data, &ours, &err) == 0);
		assert(hf_hook_script_judge(hook, ours.data, ours.len) ==
		       HF_HOOK_FILE_OURS);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;

	hf_buffer_add(&text, data, len);
	assert(text.data);
	read_records(&text);
	judge_script(&text);
	return 0;
}
