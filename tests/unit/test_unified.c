/* SPDX-License-Identifier: MIT */
/* Two texts as a unified diff. */
#include "report/unified.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"

static const struct hf_unified_style plain = {.has_color = false};

static void add(const char *before, const char *after,
		const struct hf_unified_style *style, struct hf_buffer *out)
{
	const struct hf_unified_text old = {
		.name = before ? "a\n.toml" : NULL,
		.when = "snapshot 1",
		.data = before,
		.len = before ? strlen(before) : 0,
	};
	const struct hf_unified_text new = {
		.name = after ? "a\n.toml" : NULL,
		.when = "now",
		.data = after,
		.len = after ? strlen(after) : 0,
	};
	struct hf_error err;
	bool is_rough;

	hf_buffer_add_text(out, "");
	cr_assert_eq(hf_unified_add(&old, &new, style, out, &is_rough, &err),
		     0);
	cr_expect_not(is_rough);
}

#define NAMES "--- a/a\\n.toml\tsnapshot 1\n+++ b/a\\n.toml\tnow\n"

static const struct {
	const char *before;
	const char *after;
	const char *told;
} cases[] = {
	{"", "", ""},
	{"a\n", "a\n", ""},
	{"a\n", "b\n", NAMES "@@ -1 +1 @@\n-a\n+b\n"},
	{"", "a\n", NAMES "@@ -0,0 +1 @@\n+a\n"},
	{"a\n", "", NAMES "@@ -1 +0,0 @@\n-a\n"},
	{NULL, "a\n",
	 "--- /dev/null\n+++ b/a\\n.toml\tnow\n@@ -0,0 +1 @@\n+a\n"},
	{"a\n", NULL,
	 "--- a/a\\n.toml\tsnapshot 1\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"},
	{"a", "a\n",
	 NAMES "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"},
	{"a\nb", "a\nc",
	 NAMES "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n"
	       "+c\n\\ No newline at end of file\n"},
	{"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nx\n6\n7\n8\n9\n",
	 NAMES "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n"},
	{"1\n2\n3\n4\n5\n6\n7\n8\n", "x\n2\n3\n4\n5\n6\n7\ny\n",
	 NAMES "@@ -1,8 +1,8 @@\n-1\n+x\n 2\n 3\n 4\n 5\n 6\n 7\n-8\n+y\n"},
	{"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "x\n2\n3\n4\n5\n6\n7\n8\ny\n",
	 NAMES "@@ -1,4 +1,4 @@\n-1\n+x\n 2\n 3\n 4\n"
	       "@@ -6,4 +6,4 @@\n 6\n 7\n 8\n-9\n+y\n"},
	{"[a]\nx = 1\n\n[c]\n", "[a]\nx = 1\n\n[b]\ny = 1\n\n[c]\n",
	 NAMES "@@ -1,4 +1,7 @@\n [a]\n x = 1\n \n+[b]\n+y = 1\n+\n [c]\n"},
	/* What is not for a terminal goes as it is. */
	{"a\033[31m\r\n", "\\b\t\xff\n",
	 NAMES "@@ -1 +1 @@\n-a\033[31m\r\n+\\b\t\xff\n"},
};

Test(unified, cases)
{
	for (size_t i = 0; i < HF_COUNT(cases); i++) {
		cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;

		add(cases[i].before, cases[i].after, &plain, &out);
		cr_expect_str_eq(out.data ? out.data : "", cases[i].told,
				 "%zu: %s", i, out.data);
	}
}

Test(unified, on_a_terminal)
{
	static const struct hf_unified_style style = {.is_escaped = true};
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;

	add("a\033[31m\r\n", "\\b\t\xff\xc2\x9b\xc3\xa4\n", &style, &out);
	cr_expect_str_eq(out.data, NAMES "@@ -1 +1 @@\n-a\\e[31m\\x0d\n"
					 "+\\b\t\\xff\\xc2\\x9b\xc3\xa4\n");
}

#define RED   "\033[31m"
#define GREEN "\033[32m"
#define ON    "\033[7m"
#define OFF   "\033[27m"
#define END   "\033[0m"
#define COLORED                                       \
	"\033[1m--- a/a\\n.toml\tsnapshot 1" END "\n" \
	"\033[1m+++ b/a\\n.toml\tnow" END "\n"

Test(unified, words_are_marked)
{
	static const struct hf_unified_style style = {.has_color = true};
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer other = HF_BUFFER_INIT;

	add("port_of_server = 80 # kept\nend\n",
	    "port_of_server = 8080 # kept\nmore = \"x\"\nend\n", &style, &out);
	cr_expect_str_eq(out.data,
			 COLORED "\033[36m@@ -1,2 +1,3 @@" END "\n" RED
				 "-port_of_server = " ON "80" OFF " # kept" END
				 "\n" GREEN "+port_of_server = " ON "8080" OFF
				 " # kept" END "\n" GREEN "+more = \"x\"" END
				 "\n end\n",
			 "%s", out.data);
	/* Where nearly all differs a mark would say nothing. */
	add("one two three\n", "four five six\n", &style, &other);
	cr_expect_str_eq(other.data, COLORED "\033[36m@@ -1 +1 @@" END "\n" RED
					     "-one two three" END "\n" GREEN
					     "+four five six" END "\n");
}

Test(unified, is_text)
{
	cr_expect(hf_unified_is_text(NULL, 0));
	cr_expect(hf_unified_is_text("\xff\n", 2));
	cr_expect_not(hf_unified_is_text("a\0b", 3));
	cr_expect_not(hf_unified_is_text("", HF_UNIFIED_MAX + 1));
}
