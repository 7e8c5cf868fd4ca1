/* SPDX-License-Identifier: MIT */
/* The script of a hook is made, and known again. */
#include "guard/hook_script.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/buffer.h"
#include "holdfast/error.h"

TestSuite(hook_script, .timeout = 60);

static struct hf_buffer make(enum hf_hook hook, const char *program)
{
	struct hf_buffer text = HF_BUFFER_INIT;
	struct hf_error err = {0};

	cr_assert_eq(hf_hook_script_make(hook, program, &text, &err), 0);
	return text;
}

Test(hook_script, names)
{
	for (size_t i = 0; i < HF_HOOKS; i++)
		cr_expect_eq(hf_hook_find(hf_hook_name((enum hf_hook)i)), i);
	cr_expect_eq(hf_hook_find("pre-receive"), HF_HOOKS);
	cr_expect_eq(hf_hook_find(""), HF_HOOKS);
}

Test(hook_script, blanks_are_filled_in)
{
	cleanup_buffer struct hf_buffer text =
		make(HF_HOOK_PRE_PUSH, "/it's/@NAME@/holdfast");

	cr_expect(strstr(text.data, "\nname=pre-push\n"));
	cr_expect(strstr(text.data,
			 "\nprogram='/it'\\''s/@NAME@/holdfast'\n"));
	cr_expect(!strstr(text.data, "@SUM@") && !strstr(text.data, "@PROGRAM@"));
	cr_expect(strncmp(text.data, "#!/bin/sh\n", 10) == 0);
}

Test(hook_script, known_again)
{
	cleanup_buffer struct hf_buffer text =
		make(HF_HOOK_PRE_COMMIT, "/usr/bin/holdfast");

	cr_expect_eq(hf_hook_script_judge(HF_HOOK_PRE_COMMIT, text.data,
					  text.len),
		     HF_HOOK_FILE_OURS);
	/* Of what is ours at all: the first three lines say so. */
	for (size_t i = 0; i < text.len; i++) {
		enum hf_hook_file file;

		text.data[i] ^= 1;
		file = hf_hook_script_judge(HF_HOOK_PRE_COMMIT, text.data,
					    text.len);
		cr_expect(file != HF_HOOK_FILE_OURS, "byte %zu", i);
		text.data[i] ^= 1;
	}
	for (size_t len = 0; len < text.len; len++)
		cr_expect(hf_hook_script_judge(HF_HOOK_PRE_COMMIT, text.data,
					       len) != HF_HOOK_FILE_OURS,
			  "cut at %zu", len);
}

Test(hook_script, somebody_elses)
{
	static const char calls[] = "holdfast hook run pre-push -- \"$@\"\n";
	static const char foreign[] = "#!/bin/sh\nexit 0\n";

	cr_expect_eq(hf_hook_script_judge(HF_HOOK_PRE_PUSH, calls,
					  sizeof(calls) - 1),
		     HF_HOOK_FILE_CALLS);
	cr_expect_eq(hf_hook_script_judge(HF_HOOK_PRE_COMMIT, calls,
					  sizeof(calls) - 1),
		     HF_HOOK_FILE_FOREIGN);
	cr_expect_eq(hf_hook_script_judge(HF_HOOK_PRE_PUSH, foreign,
					  sizeof(foreign) - 1),
		     HF_HOOK_FILE_FOREIGN);
	cr_expect_eq(hf_hook_script_judge(HF_HOOK_PRE_PUSH, "", 0),
		     HF_HOOK_FILE_FOREIGN);
}
