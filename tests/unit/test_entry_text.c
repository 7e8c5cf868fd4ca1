/* SPDX-License-Identifier: MIT */
/* An entry as text and back, for numbers of any size. */
#include "core/entry_text.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/buffer.h"
#include "core/json.h"
#include "core/tree.h"

TestSuite(entry_text);

Test(entry_text, a_size_is_read_as_it_was_written)
{
	static const struct {
		uint64_t size;
		const char *text;
	} rows[] = {
		{0, "\"size\":0,"},
		{HF_JSON_NUMBER_MAX, "\"size\":9007199254740991,"},
		{HF_JSON_NUMBER_MAX + 1, "\"size\":\"9007199254740992\","},
		/* The largest that a file can have. */
		{INT64_MAX, "\"size\":\"9223372036854775807\","},
		{UINT64_MAX, "\"size\":\"18446744073709551615\","},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		cleanup_tree struct hf_tree tree = HF_TREE_INIT;
		cleanup_tree struct hf_tree read = HF_TREE_INIT;
		cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
		cleanup_json struct hf_json *json = NULL;
		struct hf_entry *const entry = hf_tree_add(&tree, "a.toml");
		struct hf_error err;

		cr_assert(entry);
		entry->stat.kind = HF_KIND_FILE;
		entry->stat.size = rows[i].size;
		hf_entry_encode(entry, &text);
		cr_expect(strstr(text.data, rows[i].text), "%s", text.data);
		cr_assert_eq(hf_json_parse_line(text.data, text.len, &json,
						&err),
			     0);
		cr_assert(hf_entry_decode(hf_json_root(json), &read, &err) == 0,
			  "%s: %s", text.data, err.text);
		cr_expect_eq(read.entries[0].stat.size, rows[i].size);
	}
}

Test(entry_text, a_size_that_is_none_is_refused)
{
	static const char *const wrong[] = {
		"\"\"", "\"-1\"", "\"1.5\"", "\" 1\"", "\"1e3\"",
		"\"18446744073709551616\"", "9007199254740992", "null",
	};
	cleanup_tree struct hf_tree read = HF_TREE_INIT;

	for (size_t i = 0; i < HF_COUNT(wrong); i++) {
		cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
		cleanup_json struct hf_json *json = NULL;
		struct hf_error err;

		hf_buffer_printf(&text,
				 "{\"path\":\"a\",\"kind\":\"file\","
				 "\"size\":%s,\"mode\":\"0644\","
				 "\"owner\":\"0:0\","
				 "\"mtime\":\"1.000000000\","
				 "\"stat\":\"1:1:1.000000000:1\"}",
				 wrong[i]);
		cr_assert_eq(hf_json_parse_line(text.data, text.len, &json,
						&err),
			     0);
		cr_expect_eq(hf_entry_decode(hf_json_root(json), &read, &err),
			     HF_ERR_CORRUPT, "%s", wrong[i]);
		cr_expect(strstr(err.text, "size"), "%s", err.text);
	}
}
