/* SPDX-License-Identifier: MIT */
/* Snapshots and paths behind `diff`. */
#include "cli/diff_words.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/fail.h"
#include "cli/options.h"

static const struct {
	const char *word;
	bool is_snapshot;
} readings[] = {
	{"@", true},
	{"@{1}", true},
	{"@{nonsense}", true},
	{"42", true},
	{"000042-2026", true},
	{"000042-20261130T030007Z", true},
	{"yesterday", true},
	{"2h", true},
	{"3 days ago", true},
	{"2026-11-30", true},
	{"config.toml", false},
	{"", false},
	{"42.toml", false},
	{"2h.toml", false},
	{"@a", false},
	{"./42", false},
	{"42-a", false},
	{"-", false},
};

Test(diff_words, readings)
{
	for (size_t i = 0; i < HF_COUNT(readings); i++)
		cr_expect_eq(hf_diff_is_snapshot(readings[i].word),
			     readings[i].is_snapshot, "'%s'", readings[i].word);
}

/* Files that are there: those that begin with 9, and b.toml. */
static bool is_path(void *context, const char *word)
{
	(void)context;
	return word[0] == '9' || strcmp(word, "b.toml") == 0;
}

static const struct {
	const char *argv[6];
	int count; /* -1: refused */
} cases[] = {
	{{NULL}, 0},
	{{"1"}, 1},
	{{"1", "2"}, 2},
	{{"1", "2", "3"}, 2},
	{{"b.toml"}, 0},
	{{"b.toml", "1"}, 0},
	{{"1", "b.toml", "2"}, 1},
	{{"9"}, -1},
	{{"1", "9"}, -1},
	{{"1", "2", "9"}, 2},
	{{"9", "--"}, 1},
	{{"--", "9"}, 0},
	{{"--", "1", "2"}, 0},
	{{"9", "2", "--", "9"}, 2},
	{{"b.toml", "--"}, 1},
	{{"1", "2", "3", "--"}, -1},
	{{"--", "1", "--"}, 0},
	/* The value of an option is no end of them. */
	{{"1", "9", "--store", "--"}, -1},
	{{"1", "--store", "--", "9"}, -1},
	{{"1", "--store", "x", "--", "9"}, 1},
	{{"-q", "--"}, 0},
};

Test(diff_words, cases)
{
	for (size_t i = 0; i < HF_COUNT(cases); i++) {
		cleanup_options struct hf_options options = HF_OPTIONS_INIT;
		struct hf_diff_words words;
		struct hf_error err = {0};
		size_t count = 99;
		int rc;

		cr_assert_eq(hf_options_parse(&options, HF_COMMAND_DIFF,
					      cases[i].argv, &err),
			     0, "%zu: %s", i, err.text);
		words = (struct hf_diff_words){
			.words = options.words,
			.count = options.word_count,
			.has_dashes = options.has_dashes,
			.before_dashes = options.before_dashes,
		};
		rc = hf_diff_words_split(&words, is_path, NULL, &count, &err);
		cr_expect_eq(rc, cases[i].count < 0 ? HF_ERR_USAGE : 0,
			     "%zu: %d", i, rc);
		cr_expect_eq(count,
			     cases[i].count < 0 ? 99 : (size_t)cases[i].count,
			     "%zu: %zu", i, count);
	}
}
