/* SPDX-License-Identifier: MIT */
/* The policy that `init` writes: ours, complete, and never over another. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "core/json.h"
#include "core/policy.h"
#include "core/policy_text.h"
#include "platform/file.h"
#include "support/check.h"
#include "support/tmpdir.h"

TestSuite(policy_text);

static int parse(const struct hf_buffer *text, struct hf_policy *policy)
{
	struct hf_error err;
	const int rc = hf_policy_parse(policy, "holdfast.json", text->data,
				       text->len, "/home/user", &err);

	cr_expect_eq(rc, 0, "%s", err.text);
	return rc;
}

Test(policy_text, says_the_patterns_and_the_defaults)
{
	static const char *const patterns[] = {
		"*.toml", "a \"b\"\\\\c\n", "\\~/x", "\xc3\xa4/", "!*/ // x",
	};
	cleanup_policy struct hf_policy policy = HF_POLICY_INIT;
	cleanup_policy struct hf_policy bare = HF_POLICY_INIT;
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	struct hf_error err;

	cr_assert_eq(hf_policy_text(patterns, HF_COUNT(patterns), &text, &err),
		     0, "%s", err.text);
	cr_assert_eq(parse(&text, &policy), 0);
	cr_assert_eq(hf_policy_parse(&bare, "x", "{}", 2, NULL, &err), 0);
	cr_assert_eq(hf_patterns_count(policy.protect), HF_COUNT(patterns));
	for (size_t i = 0; i < HF_COUNT(patterns); i++)
		cr_expect_str_eq(hf_patterns_text(policy.protect, i),
				 patterns[i]);
	cr_expect_eq(hf_patterns_count(policy.allow), 0);
	cr_expect_eq(policy.command_count, 0);
	cr_expect_eq(policy.gate, bare.gate);
	cr_expect_eq(policy.read_write_opens, bare.read_write_opens);
	cr_expect_eq(policy.on_landed, bare.on_landed);
	cr_expect_eq(policy.on_outside, bare.on_outside);
	cr_expect_eq(policy.on_drift, bare.on_drift);
	cr_expect_eq(policy.leftovers, bare.leftovers);
	cr_expect_eq(policy.min_protected, bare.min_protected);
	cr_expect_eq(memcmp(&policy.retention, &bare.retention,
			    sizeof(bare.retention)),
		     0);
}

/* Every key that the schema knows is explained. */
Test(policy_text, has_every_key)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer schema = HF_BUFFER_INIT;
	cleanup_fd int fd =
		hf_file_open_read_path(HF_TOP "/docs/holdfast.schema.json");
	struct hf_json *json = NULL;
	const hf_json_value *key;
	struct hf_error err;
	size_t count = 0;

	cr_assert_eq(hf_policy_text(NULL, 0, &text, &err), 0);
	cr_assert_eq(hf_file_read_all(fd, 1 << 20, &schema), 0);
	cr_assert_eq(hf_json_parse_document("schema", schema.data, schema.len,
					    &json, &err),
		     0);
	key = hf_json_get(hf_json_root(json), "properties");
	for (key = hf_json_first(key); key; key = hf_json_next(key)) {
		cleanup_buffer struct hf_buffer member = HF_BUFFER_INIT;

		if (strcmp(hf_json_key(key), "$schema") == 0)
			continue;
		hf_buffer_printf(&member, "\n  \"%s\": ", hf_json_key(key));
		cr_expect(strstr(text.data, member.data), "no %s",
			  hf_json_key(key));
		count++;
	}
	cr_expect_gt(count, 8);
	hf_json_free(&json);
}

Test(policy_text, refuses_what_is_no_pattern)
{
	static const char *const wrong[] = {"", "[a", "../x", "a\xff", "~x"};

	for (size_t i = 0; i < HF_COUNT(wrong); i++) {
		cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
		struct hf_error err;

		cr_expect_eq(hf_policy_text(&wrong[i], 1, &text, &err),
			     HF_ERR_USAGE, "%s", wrong[i]);
	}
}

Test(policy_text, never_replaces)
{
	char *const dir = hf_tmpdir_make();
	cleanup_fd int dir_fd = hf_file_open_directory(dir);
	struct hf_error err;
	struct hf_stat stat;

	cr_assert_eq(hf_policy_create(dir_fd, "{}\n", 3, &err), 0);
	cr_expect(hf_file_has(dir_fd, "holdfast.json", "{}\n"));
	cr_assert_eq(hf_file_stat_at(dir_fd, "holdfast.json", &stat), 0);
	cr_expect_eq(stat.mode, 0644);
	cr_expect_eq(hf_policy_create(dir_fd, "new", 3, &err), HF_ERR_USAGE);
	cr_expect(hf_file_has(dir_fd, "holdfast.json", "{}\n"));
	cr_assert_eq(unlinkat(dir_fd, "holdfast.json", 0), 0);
	/* A link that leads nowhere is there, too. */
	cr_assert_eq(symlinkat("nowhere", dir_fd, "holdfast.json"), 0);
	cr_expect_eq(hf_policy_create(dir_fd, "new", 3, &err), HF_ERR_USAGE);
	cr_assert_eq(unlinkat(dir_fd, "holdfast.json", 0), 0);
	/* And no temporary file. */
	cr_assert_eq(rmdir(dir), 0);
	hf_tmpdir_remove(dir);
}
