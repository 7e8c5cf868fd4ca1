/* SPDX-License-Identifier: MIT */
/* What a list of patterns can be asked besides: literals, starts, texts. */
#include "core/pattern.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/path.h"

#define LIST_MAX 8

static struct hf_patterns *list_of(const char *name, const char *const *texts)
{
	struct hf_patterns *const patterns = hf_patterns_new();
	struct hf_error err;

	cr_assert(patterns);
	for (size_t i = 0; i < LIST_MAX && texts[i]; i++)
		cr_assert_eq(hf_patterns_add(patterns, texts[i], &err), 0,
			     "%s: %s", name, err.text);
	return patterns;
}

/* -- lists ------------------------------------------------------------ */

static const struct {
	const char *name;
	const char *patterns[LIST_MAX];
	const char *found[LIST_MAX];	/* path and rule in turn */
} literal_rows[] = {
	{"none", {"*", "a/**"}, {NULL}},
	{"in order", {"b", "*", "a"}, {"b", "*", "a", "a"}},
	{"slash cut off", {"d/"}, {"d", "d/"}},
	{"unescaped", {"a\\*b"}, {"a*b", "a\\*b"}},
	{"normalised", {"./a//b"}, {"a/b", "./a//b"}},
	{"taken out", {"a", "b", "!a"}, {"b", "b"}},
	{"taken out by a wildcard", {"a", "!*"}, {NULL}},
	{"taken out with its tree", {"d/a", "!d/"}, {NULL}},
	{"in again", {"a", "!a", "a"}, {"a", "a"}},
	{"once", {"a", "b", "a"}, {"b", "b", "a", "a"}},
	{"once, as a tree", {"a", "a/"}, {"a", "a/"}},
	{"absolute", {"/x/a", "/x/d/"}, {"/x/a", "/x/a", "/x/d", "/x/d/"}},
	{"what is out alone", {"!a"}, {NULL}},
	{"out, and in by a wildcard", {"!a", "*"}, {NULL}},
};

Test(pattern_list, literal)
{
	for (size_t i = 0; i < HF_COUNT(literal_rows); i++) {
		const char *const name = literal_rows[i].name;
		struct hf_patterns *patterns =
			list_of(name, literal_rows[i].patterns);
		const char *path = "";
		const char *rule = "";
		size_t position = 0;
		size_t at = 0;

		while (hf_patterns_literal(patterns, &position, &path, &rule)) {
			cr_assert(literal_rows[i].found[at], "%s: %s", name,
				  path);
			cr_expect_str_eq(path, literal_rows[i].found[at++],
					 "%s", name);
			cr_expect_str_eq(rule, literal_rows[i].found[at++],
					 "%s", name);
		}
		cr_expect_null(literal_rows[i].found[at], "%s", name);
		hf_patterns_free(&patterns);
	}
}

static const struct {
	const char *name;
	const char *patterns[LIST_MAX];
	const char *found[LIST_MAX];
} outside_rows[] = {
	{"none", {"a", "**"}, {NULL}},
	{"literal", {"/x/y/a"}, {"/x/y"}},
	{"literal at the top", {"/a"}, {"/"}},
	{"literal tree", {"/x/d/"}, {"/x"}},
	{"wildcard", {"/x/y/*.toml"}, {"/x/y"}},
	{"wildcard tree", {"/x/d*/"}, {"/x"}},
	{"any", {"/x/**/a"}, {"/x"}},
	{"once", {"/x/a", "/x/*", "/x/b"}, {"/x"}},
	{"two", {"/x/a", "/y/a"}, {"/x", "/y"}},
	{"none beneath another", {"/x/y/a", "/x/a", "/x/z/*"}, {"/x"}},
	{"no prefix of a name", {"/x/a", "/xy/a"}, {"/x", "/xy"}},
	{"only what is taken in", {"!/x/a"}, {NULL}},
};

Test(pattern_list, outside)
{
	for (size_t i = 0; i < HF_COUNT(outside_rows); i++) {
		const char *const name = outside_rows[i].name;
		struct hf_patterns *patterns =
			list_of(name, outside_rows[i].patterns);
		const char *directory = "";
		size_t position = 0;
		size_t at = 0;

		while (hf_patterns_outside(patterns, &position, &directory)) {
			cr_assert(outside_rows[i].found[at], "%s: %s", name,
				  directory);
			cr_expect_str_eq(directory, outside_rows[i].found[at++],
					 "%s", name);
		}
		cr_expect_null(outside_rows[i].found[at], "%s", name);
		hf_patterns_free(&patterns);
	}
}

Test(pattern_list, root)
{
	static const struct {
		const char *pattern;
		const char *path;
		bool is_member;
	} rows[] = {
		{"/home/u/p/a", "a", true},
		{"/home/u/p/a", "/home/u/p/a", false},
		{"/home/u/p/*.toml", "a.toml", true},
		{"/home/u/p/**/x", "a/x", true},
		{"/home//u/./p/d/", "d/a", true},
		{"/home/u/px", "/home/u/px", true},
		{"/home/u/q", "/home/u/q", true},
		{"/home/u", "/home/u", true},
		{"/home/*/p/a", "a", false},
		{"a", "a", true},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		struct hf_patterns *patterns = hf_patterns_new();
		struct hf_error err;

		cr_assert_eq(hf_patterns_set_root(patterns, "/home/u/p", &err),
			     0);
		cr_assert_eq(hf_patterns_add(patterns, rows[i].pattern, &err),
			     0, "%s", rows[i].pattern);
		cr_expect_eq(hf_patterns_match(patterns, rows[i].path, false) !=
				     NULL,
			     rows[i].is_member, "%s", rows[i].pattern);
		cr_expect_eq(hf_patterns_add(patterns, "/home/u/p/", &err),
			     HF_ERR_USAGE);
		hf_patterns_free(&patterns);
	}
}

/* -- text ------------------------------------------------------------- */

Test(pattern_list, text)
{
	static const struct {
		const char *pattern;
		const char *text;
		bool is_match;
	} rows[] = {
		{"uv add*", "uv add", true},
		{"uv add*", "uv add a/b --c", true},
		{"uv add*", "uv remove a", false},
		{"uv add *", "uv add", false},
		{"*pytest*", "/usr/bin/pytest -x", true},
		{"a?b", "a/b", true},
		{"\\*", "*", true},
		{"[ab] x", "b x", true},
		{"", "", true},
		{"", "a", false},
		{"**", "", true},
	};
	struct hf_error err;

	for (size_t i = 0; i < HF_COUNT(rows); i++)
		cr_expect_eq(hf_pattern_match_text(rows[i].pattern,
						   rows[i].text),
			     rows[i].is_match, "'%s' '%s'", rows[i].pattern,
			     rows[i].text);
	cr_expect_eq(hf_pattern_check_text("uv add*", &err), 0);
	cr_expect_eq(hf_pattern_check_text("[a", &err), HF_ERR_USAGE);
	cr_expect_str_eq(err.text, "'[a' has no closing bracket");
	cr_expect_eq(hf_pattern_check_text("", &err), HF_ERR_USAGE);
}

Test(pattern_list, escape)
{
	static const char *const paths[][2] = {
		{"a/b.toml", "a/b.toml"},   {"!a", "\\!a"},
		{"~/a", "\\~/a"},
		{"a!", "a!"},		    {"a[b]*?", "a\\[b]\\*\\?"},
		{"a\\b", "a\\\\b"},	    {"/x/~", "/x/~"},
		{"\xc3\xa4", "\xc3\xa4"},
	};

	for (size_t i = 0; i < HF_COUNT(paths); i++) {
		char *const escaped = hf_pattern_escape(paths[i][0]);
		const char *const texts[LIST_MAX] = {escaped};
		struct hf_patterns *patterns = list_of(paths[i][0], texts);

		cr_expect_str_eq(escaped, paths[i][1]);
		cr_expect(hf_patterns_match(patterns, paths[i][0], false));
		hf_patterns_free(&patterns);
		free(escaped);
	}
}

Test(pattern_list, count_and_text)
{
	const char *const texts[LIST_MAX] = {"b", "!a/", "b"};
	struct hf_patterns *patterns = list_of("count", texts);
	struct hf_error err;

	cr_expect_eq(hf_patterns_count(patterns), 3);
	cr_expect_str_eq(hf_patterns_text(patterns, 1), "!a/");
	cr_expect_str_eq(hf_patterns_text(patterns, 2), "b");
	while (hf_patterns_count(patterns) < HF_PATTERN_COUNT_MAX)
		cr_assert_eq(hf_patterns_add(patterns, "b", &err), 0);
	cr_expect_eq(hf_patterns_add(patterns, "b", &err), HF_ERR_LIMIT);
	cr_expect_eq(hf_patterns_match(patterns, "b", false),
		     hf_patterns_text(patterns, HF_PATTERN_COUNT_MAX - 1));
	hf_patterns_free(&patterns);
}

/* -- many ------------------------------------------------------------- */

/*
 * Trying every pattern on every path would be 2 * 10^9 comparisons, minutes:
 * the test's time limit is what fails.
 */
Test(pattern_list, many, .timeout = 60)
{
	struct hf_patterns *patterns = hf_patterns_new();
	struct hf_error err;
	char text[64];
	size_t members = 0;
	size_t reached = 0;
	size_t literals = 0;
	size_t position = 0;
	const char *path;
	const char *rule;

	for (unsigned i = 0; i < 10000; i++) {
		(void)snprintf(text, sizeof(text), "d%u/f%u.toml", i % 100, i);
		cr_assert_eq(hf_patterns_add(patterns, text, &err), 0);
		(void)snprintf(text, sizeof(text), "w%u/*.toml", i);
		cr_assert_eq(hf_patterns_add(patterns, text, &err), 0);
	}
	for (unsigned i = 0; i < 100000; i++) {
		(void)snprintf(text, sizeof(text), "d%u/f%u.toml", i % 100, i);
		members += hf_patterns_match(patterns, text, false) != NULL;
		(void)snprintf(text, sizeof(text), "w%u/x.toml", i);
		members += hf_patterns_match(patterns, text, false) != NULL;
		(void)snprintf(text, sizeof(text), "w%u", i);
		reached += hf_patterns_reach_beneath(patterns, text, false);
	}
	while (hf_patterns_literal(patterns, &position, &path, &rule))
		literals++;
	cr_expect_eq(members, 20000);
	cr_expect_eq(reached, 10000);
	cr_expect_eq(literals, 10000);
	hf_patterns_free(&patterns);
}

/* -- at random, against each pattern alone --------------------------------- */

#define RANDOM_SETS	60
#define RANDOM_PATTERNS 100
#define RANDOM_PATHS	300

static unsigned roll(uint64_t *state, unsigned sides)
{
	*state = *state * UINT64_C(6364136223846793005) +
		 UINT64_C(1442695040888963407);
	return (unsigned)(*state >> 33) % sides;
}

/* Up to max of the pieces, in which many rolls end in few names. */
static void make_text(uint64_t *state, const char *const *pieces, unsigned count,
		      unsigned max, char text[64])
{
	text[0] = '\0';
	for (unsigned i = 1 + roll(state, max); i > 0; i--)
		(void)snprintf(text + strlen(text), 64 - strlen(text), "%s",
			       pieces[roll(state, count)]);
}

struct alone {
	struct hf_patterns *patterns;	/* without the "!" */
	bool is_negated;
};

/* A list of many, and each of them in a list of its own. */
static struct hf_patterns *random_list(uint64_t *state, struct alone *alone)
{
	static const char *const pieces[] = {
		"a", "b", "\\*", "*", "?", "[ab]", "[!a]", "a.b", "/", "/**/",
	};
	struct hf_patterns *const patterns = hf_patterns_new();
	struct hf_error err;

	for (size_t count = 0; count < RANDOM_PATTERNS;) {
		char text[80] = "!";

		make_text(state, pieces, HF_COUNT(pieces), 8, text + 1);
		alone->patterns = hf_patterns_new();
		alone->is_negated = roll(state, 4) == 0;
		if (hf_patterns_add(alone->patterns, text + 1, &err) == 0 &&
		    hf_patterns_add(patterns, text + !alone->is_negated,
				    &err) == 0) {
			alone++;
			count++;
			continue;
		}
		hf_patterns_free(&alone->patterns);
	}
	return patterns;
}

/* The last one that matches decides. */
static const char *decide_in_turn(const struct hf_patterns *patterns,
				  const struct alone *alone, const char *path,
				  size_t skipped_len, bool is_directory)
{
	const char *rule = NULL;

	for (size_t i = 0; i < RANDOM_PATTERNS; i++) {
		/* What "!" takes out is out everywhere. */
		const size_t skipped = alone[i].is_negated ? 0 : skipped_len;

		if (hf_patterns_match_past(alone[i].patterns, path, skipped,
					   is_directory))
			rule = alone[i].is_negated
				       ? NULL
				       : hf_patterns_text(patterns, i);
	}
	return rule;
}

Test(pattern_list, many_decide_as_each_alone)
{
	static const char *const pieces[] = {"a", "b", "*", "a.b", "/", "c"};
	uint64_t state = 1;
	size_t members = 0;

	for (unsigned set = 0; set < RANDOM_SETS; set++) {
		struct alone alone[RANDOM_PATTERNS];
		struct hf_patterns *patterns = random_list(&state, alone);

		for (unsigned i = 0; i < RANDOM_PATHS; i++) {
			const bool is_directory = roll(&state, 2) == 0;
			const char *rule;
			char path[64];
			size_t skipped;

			make_text(&state, pieces, HF_COUNT(pieces), 10, path);
			if (!hf_path_is_plain(path))
				continue;
			skipped = roll(&state, 2) ? hf_path_parent_len(path) :
						    0;
			rule = hf_patterns_match_past(patterns, path, skipped,
						      is_directory);
			members += rule != NULL;
			cr_expect_eq(rule,
				     decide_in_turn(patterns, alone, path,
						    skipped, is_directory),
				     "'%s' by '%s'", path, rule ? rule : "");
		}
		for (size_t i = 0; i < RANDOM_PATTERNS; i++)
			hf_patterns_free(&alone[i].patterns);
		hf_patterns_free(&patterns);
	}
	cr_expect_gt(members, RANDOM_SETS * RANDOM_PATHS / 10);
}

/*
 * Of many with wildcards in one directory each is looked at for each path, but
 * hardly any is tried; that would take half a minute.
 */
Test(pattern_list, many_with_wildcards, .timeout = 30)
{
	struct hf_patterns *patterns = hf_patterns_new();
	struct hf_error err;
	size_t members = 0;
	char text[64];

	for (unsigned i = 0; i < 10000; i++) {
		(void)snprintf(text, sizeof(text), "**/*-%05u.toml", i);
		cr_assert_eq(hf_patterns_add(patterns, text, &err), 0);
	}
	for (unsigned i = 0; i < 60000; i++) {
		(void)snprintf(text, sizeof(text), "data/sample-%05u.toml", i);
		members += hf_patterns_match(patterns, text, false) != NULL;
	}
	cr_expect_eq(members, 10000);
	hf_patterns_free(&patterns);
}
