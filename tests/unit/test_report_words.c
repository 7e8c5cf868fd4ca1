/* SPDX-License-Identifier: MIT */
/* The pieces that lines for a person are made of. */
#include "report/text.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/path.h"
#include "platform/system.h"
#include "report/comments.h"
#include "support/session.h"

static struct hf_test_session test;
static struct hf_text_style style;

static void setup(void)
{
	hf_test_session_init(&test);
	style = (struct hf_text_style){ .location = "" };
}

static void teardown(void)
{
	hf_test_session_done(&test);
}

TestSuite(report_words, .init = setup, .fini = teardown);

static void expect(const struct hf_buffer *out, const char *text)
{
	const char *got = out->data == NULL ? "" : out->data;

	cr_expect_str_eq(got, text, "got:\n%s\nwanted:\n%s", got, text);
}

/* `restore` would look for the path where the person stands. */
Test(report_words, restore_from_below)
{
	cleanup_free char *here = NULL;
	cleanup_free char *root = NULL;
	cleanup_free char *wanted = NULL;
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer same = HF_BUFFER_INIT;

	cr_assert_eq(hf_system_working_directory(&here), 0);
	root = hf_path_join("", here);
	root[hf_path_parent_len(root)] = '\0';
	test.project.root = root;
	hf_text_add_restore(&out, &test.project, NULL, "-a b", "");
	cr_assert(asprintf(&wanted, "holdfast restore '%s/-a b'", root) > 0);
	expect(&out, wanted);
	test.project.root = here;
	hf_text_add_restore(&same, &test.project, NULL, "-a", " --root x");
	expect(&same, "holdfast restore ./-a --root x");
}

/* Who writes a file changes its mtime: only more than that is worth a word. */
Test(report_words, differences)
{
	struct hf_violation *changed =
		hf_test_session_add(&test, "a.toml", "write");
	const struct hf_delta delta = {
		&changed->before, &changed->after,
		HF_CHANGE_CONTENT | HF_CHANGE_METADATA,
	};
	const struct hf_delta touched = {
		&changed->before, &changed->after, HF_CHANGE_METADATA,
	};
	cleanup_buffer struct hf_buffer time = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer mode = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer alone = HF_BUFFER_INIT;

	changed->after.stat.mtime_ns = 1;
	hf_text_add_difference(&time, &delta);
	expect(&time, "94 -> 12 bytes");
	hf_text_add_difference(&alone, &touched);
	expect(&alone, "same content, other mtime");
	changed->after.stat.mode = 0600;
	hf_text_add_difference(&mode, &delta);
	expect(&mode, "94 -> 12 bytes, mode 0644 -> 0600, mtime");
}

Test(report_words, error)
{
	const struct hf_error plain = { .text = "cannot x" };
	const struct hf_error hinted = { .text = "cannot x", .hint = "try y" };
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer color = HF_BUFFER_INIT;

	hf_report_text_error(&plain, &style, &out);
	hf_report_text_error(&hinted, &style, &out);
	expect(&out, "holdfast: cannot x\n"
		     "holdfast: cannot x\nholdfast: hint: try y\n");
	style.has_color = true;
	hf_report_text_error(&hinted, &style, &color);
	expect(&color, "holdfast: cannot x\n"
		       "holdfast: \033[36mhint:\033[0m try y\n");
}

/* However long: a line stays a line, and no character is cut in two. */
Test(report_words, long_commands)
{
	static const char begin[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
				    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
	const char *const one[] = { begin, NULL };
	const char *const more[] = { begin, "b\nc", "d", NULL };
	/* One byte more in front: the quote. */
	const char *const split[] = {
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		"aaaaaaaaaaaaaaaaaaaaaaaaaaa\342\202\254\342\202\254", NULL,
	};
	const char *const words[] = { "sh", "-c", "echo a >b\n", "", NULL };
	cleanup_buffer struct hf_buffer whole = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer cut = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer letter = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer quoted = HF_BUFFER_INIT;

	hf_text_add_command(&whole, one);
	expect(&whole, begin);
	hf_text_add_command(&cut, more);
	cr_expect_eq(cut.len, 60 + strlen("..."), "%s", cut.data);
	hf_text_add_command(&letter, split);
	cr_expect_eq(letter.len, 58 + strlen("..."), "%s", letter.data);
	hf_text_add_command(&quoted, words);
	expect(&quoted, "sh -c $'echo a >b\\n' ''");
}

static const struct {
	const char *hint;
	const char *said;
} hints[] = {
	{ "look: holdfast status; accept: holdfast snapshot",
	  "look: holdfast status -X; accept: holdfast snapshot -X" },
	{ "'holdfast store adopt' writes it anew",
	  "'holdfast store adopt -X' writes it anew" },
	{ "holdfast run -- COMMAND", "holdfast run -X -- COMMAND" },
	{ "'holdfast help' lists the commands",
	  "'holdfast help' lists the commands" },
	{ "name one with --store", "name one with --store" },
	{ "holdfast", "holdfast" },
	{ "holdfast ", "holdfast " },
};

/* A hint can be typed as it stands. */
Test(report_words, hints)
{
	style.location = " -X";
	for (size_t i = 0; i < HF_COUNT(hints); i++) {
		cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;
		cleanup_buffer struct hf_buffer wanted = HF_BUFFER_INIT;
		struct hf_error err = { .text = "cannot x" };

		(void)hf_fail_hint(&err, "%s", hints[i].hint);
		hf_buffer_printf(&wanted,
				 "holdfast: cannot x\nholdfast: hint: %s\n",
				 hints[i].said);
		hf_report_text_error(&err, &style, &out);
		expect(&out, wanted.data);
	}
}

static const struct {
	const char *word;
	const char *quoted;
} words[] = {
	{ "plain", "plain" },	{ "a/b.toml", "a/b.toml" },
	{ "", "''" },		{ "two words", "'two words'" },
	{ "it's", "'it'\\''s'" }, { "$HOME", "'$HOME'" },
	{ "*.toml", "'*.toml'" }, { "a;b", "'a;b'" },
	{ "~", "'~'" },		{ "\303\244 \342\202\254", "'\303\244 \342\202\254'" },
	{ "a\033[31m", "$'a\\033[31m'" }, { "\n'\\", "$'\\n\\'\\\\'" },
	{ "\377", "$'\\377'" },	{ "\302\233m", "$'\\302\\233m'" },
	{ "\177", "$'\\177'" },
};

Test(report_words, shell_words)
{
	for (size_t i = 0; i < HF_COUNT(words); i++) {
		cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;

		hf_text_add_shell(&out, words[i].word);
		cr_expect_str_eq(out.data, words[i].quoted);
	}
}

static const struct {
	const char *name;
	const char *text;
	size_t len;		/* 0: up to the NUL */
	bool is_text;
	size_t count;
} texts[] = {
	{ "empty", "", 0, true, 0 },
	{ "one", "# a\nb = 1\n", 0, true, 1 },
	{ "indented", "\t # a\n  # b", 0, true, 2 },
	{ "behind a value", "a = 1 # no\n", 0, true, 0 },
	{ "twice in a line", "## a #\n", 0, true, 1 },
	{ "line ends of Windows", "# a\r\n# b\r\n", 0, true, 2 },
	{ "no text", "# a\0", 4, false, 0 },
};

Test(report_words, comment_lines)
{
	for (size_t i = 0; i < HF_COUNT(texts); i++) {
		const size_t len = texts[i].len > 0 ? texts[i].len :
						      strlen(texts[i].text);
		size_t count = 0;

		cr_expect_eq(hf_comments_count(texts[i].text, len, &count),
			     texts[i].is_text, "%s", texts[i].name);
		cr_expect_eq(count, texts[i].count, "%s: %zu", texts[i].name,
			     count);
	}
}
