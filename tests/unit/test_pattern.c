/* SPDX-License-Identifier: MIT */
/* Which paths a list of patterns names. */
#include "core/pattern.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"

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

static bool is_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* -- matching --------------------------------------------------------- */

static const struct {
	const char *name;
	const char *patterns[LIST_MAX];
	const char *path;	/* a slash at the end: a directory */
	const char *rule;	/* NULL: not a member */
} match_rows[] = {
	/* A literal names one path. */
	{"literal", {"a"}, "a", "a"},
	{"literal, another", {"a"}, "b", NULL},
	{"literal, longer", {"a"}, "ab", NULL},
	{"literal, not deeper", {"a"}, "x/a", NULL},
	{"literal, not beneath", {"a"}, "a/b", NULL},
	{"literal, a directory", {"a"}, "a/", "a"},
	{"literal path", {"a/b/c"}, "a/b/c", "a/b/c"},
	{"literal path, its parent", {"a/b/c"}, "a/b/", NULL},
	{"the root is nobody's", {"**", "*"}, ".", NULL},

	/* Wildcards stay within a component and take a leading dot. */
	{"star", {"*.toml"}, "a.toml", "*.toml"},
	{"star, top level only", {"*.toml"}, "x/a.toml", NULL},
	{"star, nothing", {"*.toml"}, ".toml", "*.toml"},
	{"star, leading dot", {"*.toml"}, ".a.toml", "*.toml"},
	{"star alone, leading dot", {"*"}, ".a", "*"},
	{"star, the end counts", {"*.toml"}, "a.tom", NULL},
	{"star, a directory", {"*.toml"}, "a.toml/", "*.toml"},
	{"star, nothing beneath", {"*.toml"}, "a.toml/b", NULL},
	{"star in a directory", {"x/*"}, "x/a", "x/*"},
	{"star, not the directory", {"x/*"}, "x/", NULL},
	{"star, not deeper", {"x/*"}, "x/a/b", NULL},
	{"star for a directory", {"*/a"}, "x/a", "*/a"},
	{"star for no directory", {"*/a"}, "a", NULL},
	{"stars", {"a*b*c"}, "aXbYbZc", "a*b*c"},
	{"stars, order", {"a*b*c"}, "acb", NULL},
	{"stars that must go back", {"*ab"}, "aab", "*ab"},
	{"question mark", {"a?c"}, "abc", "a?c"},
	{"question mark, a dot", {"?a"}, ".a", "?a"},
	{"question mark, not nothing", {"a?"}, "a", NULL},
	{"question mark, no slash", {"a?c"}, "a/c", NULL},

	/* Brackets. */
	{"set", {"[abc]x"}, "bx", "[abc]x"},
	{"set, not in it", {"[abc]x"}, "dx", NULL},
	{"range", {"[a-c]"}, "b", "[a-c]"},
	{"range, above", {"[a-c]"}, "d", NULL},
	{"two ranges", {"[a-cx-z]"}, "y", "[a-cx-z]"},
	{"negated", {"[!a-c]"}, "d", "[!a-c]"},
	{"negated, in it", {"[!a-c]"}, "b", NULL},
	{"negated by a caret", {"[^a-c]"}, "b", NULL},
	{"negated, a dot", {"[!a]b"}, ".b", "[!a]b"},
	{"negated, no slash", {"a[!b]c"}, "a/c", NULL},
	{"bracket first", {"[]a]"}, "]", "[]a]"},
	{"bracket first, negated", {"[!]a]"}, "]", NULL},
	{"minus first", {"[-a]"}, "-", "[-a]"},
	{"minus last", {"[a-]"}, "-", "[a-]"},
	{"escaped bracket", {"[\\]x]"}, "]", "[\\]x]"},
	{"escaped minus", {"[a\\-z]"}, "m", NULL},
	{"star in brackets", {"[*]"}, "a", NULL},
	{"exclamation mark inside", {"[a!]"}, "!", "[a!]"},

	/* Escapes. */
	{"escaped star", {"\\*"}, "*", "\\*"},
	{"escaped star, not a", {"\\*"}, "a", NULL},
	{"escaped bracket", {"a\\[b"}, "a[b", "a\\[b"},
	{"escaped backslash", {"\\\\"}, "\\", "\\\\"},
	{"escaped letter", {"\\a"}, "a", "\\a"},
	{"escaped exclamation", {"\\!a"}, "!a", "\\!a"},
	{"escape and star", {"\\**"}, "*x", "\\**"},

	/* Bytes. */
	{"case", {"A.toml"}, "a.toml", NULL},
	{"case, range", {"[a-z]"}, "B", NULL},
	{"above 127", {"\xc3\xa4*"}, "\xc3\xa4x", "\xc3\xa4*"},
	{"not normalised", {"\xc3\xa4"}, "a\xcc\x88", NULL},
	{"a byte, no character", {"?"}, "\xc3\xa4", NULL},
	{"two bytes", {"??"}, "\xc3\xa4", "??"},
	{"range above 127", {"[\x80-\xff]"}, "\xa4", "[\x80-\xff]"},
	{"not UTF-8", {"*\xff"}, "a\xff", "*\xff"},
	{"newline", {"a*"}, "a\nb", "a*"},

	/* "**" is any number of components. */
	{"any, none", {"**/x"}, "x", "**/x"},
	{"any, one", {"**/x"}, "a/x", "**/x"},
	{"any, three", {"**/x"}, "a/b/c/x", "**/x"},
	{"any, whole names", {"**/x"}, "ax", NULL},
	{"any, not beneath", {"**/x"}, "x/y", NULL},
	{"any, hidden", {"**/x"}, ".a/x", "**/x"},
	{"any in the middle, none", {"a/**/b"}, "a/b", "a/**/b"},
	{"any in the middle, two", {"a/**/b"}, "a/x/y/b", "a/**/b"},
	{"any in the middle, no slash", {"a/**/b"}, "ab", NULL},
	{"any last", {"a/**"}, "a/b", "a/**"},
	{"any last, deeper", {"a/**"}, "a/b/c", "a/**"},
	{"any last, at least one", {"a/**"}, "a/", NULL},
	{"any alone", {"**"}, "a/b", "**"},
	{"any with a wildcard", {"**/*.toml"}, "a/b.toml", "**/*.toml"},
	{"any twice", {"**/a/**/b"}, "x/a/y/a/b", "**/a/**/b"},
	{"any twice, order", {"**/a/**/b"}, "b/a", NULL},
	{"any, must go back", {"**/a/b"}, "a/a/b", "**/a/b"},
	{"any side by side", {"**/**/b"}, "b", "**/**/b"},
	{"any side by side, last", {"a/**/**"}, "a/b", "a/**/**"},

	/* A slash at the end: a whole tree. */
	{"tree, itself", {"d/"}, "d/", "d/"},
	{"tree, child", {"d/"}, "d/a", "d/"},
	{"tree, deeper", {"d/"}, "d/a/b", "d/"},
	{"tree, no prefix", {"d/"}, "da", NULL},
	{"literal tree, any kind", {"d/"}, "d", "d/"},
	{"wildcard tree, itself", {"d*/"}, "dx/", "d*/"},
	{"wildcard tree, a file", {"d*/"}, "dx", NULL},
	{"wildcard tree, beneath", {"d*/"}, "dx/a", "d*/"},
	{"any tree", {"**/d/"}, "a/d/b", "**/d/"},
	{"any tree, a file", {"**/d/"}, "a/d", NULL},
	{"any last, tree", {"a/**/"}, "a/b/", "a/**/"},
	{"any last, tree, a file", {"a/**/"}, "a/b", NULL},
	{"any last, tree, beneath", {"a/**/"}, "a/b/c", "a/**/"},
	{"any last, tree, not itself", {"a/**/"}, "a/", NULL},

	/* The last that matches wins. */
	{"taken out", {"*", "!a"}, "a", NULL},
	{"another stays", {"*", "!a"}, "b", "*"},
	{"in again", {"*", "!a", "a"}, "a", "a"},
	{"out first", {"!a", "*"}, "a", "*"},
	{"out alone", {"!a"}, "a", NULL},
	{"the last rule is named", {"*", "a", "?"}, "a", "?"},
	{"tree taken out", {"d/", "!d/x/"}, "d/x/y", NULL},
	{"tree taken out, the rest", {"d/", "!d/x/"}, "d/y", "d/"},
	{"beneath one taken out", {"d/", "!d/x"}, "d/x/y", "d/"},
	{"deep in again", {"d/", "!d/x/", "d/x/y"}, "d/x/y", "d/x/y"},
	{"any takes out", {"d/", "!**/*.log"}, "d/a.log", NULL},
	{"two exclamations", {"*", "!!a"}, "!a", NULL},
	{"two exclamations, plain", {"*", "!!a"}, "a", "*"},

	/* Written otherwise. */
	{"dot", {"./a"}, "a", "./a"},
	{"dots within", {"a/./b"}, "a/b", "a/./b"},
	{"slashes", {"a//b"}, "a/b", "a//b"},
	{"dot at the end", {"a/."}, "a", "a/."},
	{"slashes at the end", {"a//"}, "a/b", "a//"},
	{"dot before a tree's end", {"a/./"}, "a/b", "a/./"},
	{"a name of dots", {"..."}, "...", "..."},

	/* Outside. */
	{"absolute", {"/x/a"}, "/x/a", "/x/a"},
	{"absolute, not relative", {"/x/a"}, "x/a", NULL},
	{"relative, not absolute", {"x/a"}, "/x/a", NULL},
	{"any, not absolute", {"**"}, "/x/a", NULL},
	{"absolute wildcard", {"/x/*.toml"}, "/x/a.toml", "/x/*.toml"},
	{"absolute tree", {"/x/d/"}, "/x/d/a/b", "/x/d/"},
	{"absolute any", {"/x/**/a"}, "/x/y/z/a", "/x/**/a"},
	{"absolute, taken out", {"/x/", "!/x/y"}, "/x/y", NULL},
	{"absolute, slashes", {"//x//a"}, "/x/a", "//x//a"},
};

Test(pattern, match)
{
	for (size_t i = 0; i < HF_COUNT(match_rows); i++) {
		const char *const name = match_rows[i].name;
		struct hf_patterns *patterns =
			list_of(name, match_rows[i].patterns);
		char path[64];
		const char *rule;
		size_t len;
		bool is_directory;

		(void)snprintf(path, sizeof(path), "%s", match_rows[i].path);
		len = strlen(path);
		is_directory = path[len - 1] == '/';
		if (is_directory)
			path[len - 1] = '\0';
		rule = hf_patterns_match(patterns, path, is_directory);
		cr_expect(is_same(rule, match_rows[i].rule), "%s: %s", name,
			  rule ? rule : "not a member");
		/* Whoever walks must come by. */
		if (rule && hf_patterns_match(patterns, path, false))
			for (len = 1; path[len]; len++) {
				const bool is_slash = path[len] == '/';

				if (!is_slash)
					continue;
				path[len] = '\0';
				cr_expect(hf_patterns_reach_beneath(
						  patterns, path, false),
					  "%s: %s is not walked", name, path);
				path[len] = '/';
			}
		hf_patterns_free(&patterns);
	}
}

/* -- wrong patterns --------------------------------------------------- */

Test(pattern, wrong)
{
	static const struct {
		const char *text;
		const char *message;
	} rows[] = {
		{"", "'' is empty"},
		{"!", "'!' is empty"},
		{".", "'.' names the root itself"},
		{"./", "'./' names the root itself"},
		{"\\.", "'\\\\.' names the root itself"},
		{"/", "'/' names the whole file system"},
		{"!/", "'!/' names the whole file system"},
		{"//", "'//' names the whole file system"},
		{"/*", "'/*' begins with a wildcard at '/'"},
		{"/**/x", "'/**/x' begins with a wildcard at '/'"},
		{"..", "'..' leaves the root"},
		{"../x", "'../x' leaves the root"},
		{"a/../b", "'a/../b' leaves the root"},
		{"a/..", "'a/..' leaves the root"},
		{"!../x", "'!../x' leaves the root"},
		{"\\.\\.", "leaves the root"},
		{"/a/../b", "'/a/../b' leaves the root"},
		{"[", "'[' has no closing bracket"},
		{"[a", "'[a' has no closing bracket"},
		{"[]", "'[]' has no closing bracket"},
		{"[!]", "'[!]' has no closing bracket"},
		{"x/[a/b]", "'x/[a/b]' has no closing bracket"},
		{"[a\\]", "has no closing bracket"},
		{"[b-a]", "'[b-a]' has an empty range"},
		{"[[:alpha:]]", "'[[:alpha:]]' has a character class"},
		{"a\\", "ends in a backslash"},
		{"a\\/b", "has an escaped slash"},
		{"*\\/b", "has an escaped slash"},
		{"a**", "'a**' has '**' as part of a name"},
		{"**a", "'**a' has '**' as part of a name"},
		{"x/***/y", "'x/***/y' has '**' as part of a name"},
		{"**.toml", "'**.toml' has '**' as part of a name"},
		{"\x1b[2J", "'\\e[2J' has no closing bracket"},
	};
	struct hf_patterns *patterns = hf_patterns_new();

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		struct hf_error err = {.code = 0};

		cr_expect_eq(hf_patterns_add(patterns, rows[i].text, &err),
			     HF_ERR_USAGE, "%s", rows[i].text);
		cr_expect(strstr(err.text, rows[i].message), "%s: %s",
			  rows[i].text, err.text);
	}
	cr_expect_eq(hf_patterns_count(patterns), 0);
	hf_patterns_free(&patterns);
	cr_expect_null(patterns);
}

static char *repeat(const char *text, size_t count, const char *end)
{
	const size_t len = strlen(text);
	char *const out = malloc(len * count + strlen(end) + 1);

	cr_assert(out);
	for (size_t i = 0; i < count; i++)
		memcpy(out + i * len, text, len);
	(void)snprintf(out + count * len, strlen(end) + 1, "%s", end);
	return out;
}

Test(pattern, lengths)
{
	static const struct {
		const char *name;
		const char *text;
		size_t count;
		const char *end;
		int rc;
	} rows[] = {
		{"a name", "a", 255, "", 0},
		{"a name too long", "a", 256, "", HF_ERR_USAGE},
		{"a name, escaped", "\\a", 255, "", 0},
		{"a wildcard", "a", 256, "*", 0},
		{"a path", "a/", 2047, "", 0},
		{"a path of 4095", "a/", 2047, "b", 0},
		{"a path of 4096", "a/", 2047, "bc", HF_ERR_USAGE},
		{"a wildcard of 4096", "a/", 2047, "b*", 0},
		{"a pattern too long", "a/", 2048, "*", HF_ERR_USAGE},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		struct hf_patterns *patterns = hf_patterns_new();
		char *const text =
			repeat(rows[i].text, rows[i].count, rows[i].end);
		struct hf_error err;

		cr_expect_eq(hf_patterns_add(patterns, text, &err), rows[i].rc,
			     "%s", rows[i].name);
		free(text);
		hf_patterns_free(&patterns);
	}
}

/* No path can have such a name behind a wildcard either. */
Test(pattern, long_name_behind_a_wildcard)
{
	struct hf_patterns *patterns = hf_patterns_new();
	char *const text = repeat("a", 258, "");
	struct hf_error err;

	memcpy(text, "*/", 2);
	cr_expect_eq(hf_patterns_add(patterns, text, &err), HF_ERR_USAGE);
	cr_expect_eq(hf_patterns_add(patterns, text + 1, &err), HF_ERR_USAGE);
	text[257] = '\0';
	cr_expect_eq(hf_patterns_add(patterns, text, &err), 0);
	free(text);
	hf_patterns_free(&patterns);
}

/* -- walking ---------------------------------------------------------- */

static const struct {
	const char *name;
	const char *patterns[LIST_MAX];
	const char *path;
	bool is_skipped;
	bool is_reached;
} reach_rows[] = {
	{"nothing", {NULL}, ".", false, false},
	{"root, literal", {"a"}, ".", false, true},
	{"root, absolute only", {"/a/b"}, ".", false, false},
	{"file system's root", {"/a/b"}, "/", false, true},
	{"on the way", {"a/b/c"}, "a/b", false, true},
	{"the way's start", {"a/b/c"}, "a", false, true},
	{"not on the way", {"a/b/c"}, "a/x", false, false},
	{"behind the end", {"a/b"}, "a/b", false, false},
	{"no prefix of a name", {"ab/c"}, "a", false, false},
	{"tree", {"a/"}, "a", false, true},
	{"tree, deep", {"a/"}, "a/b/c", false, true},
	{"wildcard", {"a/*"}, "a", false, true},
	{"wildcard, deeper", {"a/*"}, "a/b", false, false},
	{"wildcard on the way", {"*/b"}, "x", false, true},
	{"wildcard on the way, not", {"y*/b"}, "x", false, false},
	{"wildcard tree", {"*/"}, "x", false, true},
	{"any", {"**/x"}, "a/b/c", false, true},
	{"any last", {"a/**"}, "a", false, true},
	{"any elsewhere", {"a/**"}, "b", false, false},
	{"only taken out", {"!a/b"}, "a", false, false},
	{"tree taken out", {"**", "!a/"}, "a", false, false},
	{"tree taken out, beneath", {"**", "!a/"}, "a/b", false, false},
	{"tree taken out, above", {"**", "!a/b/"}, "a", false, true},
	{"all beneath taken out", {"**", "!a/**"}, "a", false, false},
	{"any tree taken out", {"**", "!**/a/"}, "x/a", false, false},
	{"in again", {"**", "!a/", "a/b/c"}, "a", false, true},
	{"in again, elsewhere", {"**", "!a/", "a/b/c"}, "a/x", false, false},
	{"taken out too early", {"!a/", "**"}, "a", false, true},
	{"one name taken out", {"**", "!a"}, "a", false, true},
	{"some taken out", {"a/", "!a/*.log"}, "a", false, true},

	{"skipped, the root", {"**"}, ".", true, true},
	{"skipped, any", {"**"}, ".git", true, false},
	{"skipped, any below", {"**/x"}, "a/node_modules", true, false},
	{"skipped, named", {".git/config"}, ".git", true, true},
	{"skipped, tree", {".git/"}, ".git", true, true},
	{"skipped, a tree above", {"a/"}, "a/.git", true, true},
	{"skipped, wildcard", {"*/config"}, ".git", true, true},
	{"skipped, any behind", {".git/**"}, ".git", true, true},
	{"skipped, any before", {"a/**/x"}, "a/.git", true, false},
	{"skipped, named behind any", {"**/.git/x"}, "a/.git", true, true},
	{"skipped, tree behind any", {"**/.git/"}, "a/.git", true, true},
	{"skipped, tree above, any", {"**/a/"}, "a/.git", true, false},
	{"skipped, guessed behind any", {"**/*/x"}, "a/.git", true, false},
	{"skipped, last name", {"a/**/.git"}, "a/b/.git", true, false},
	{"skipped, taken out", {".git/", "!.git/"}, ".git", true, false},
	{"skipped, any takes out", {".git/", "!**"}, ".git", true, false},
};

Test(pattern, reach)
{
	for (size_t i = 0; i < HF_COUNT(reach_rows); i++) {
		struct hf_patterns *patterns = list_of(
			reach_rows[i].name, reach_rows[i].patterns);

		cr_expect_eq(hf_patterns_reach_beneath(
				     patterns, reach_rows[i].path,
				     reach_rows[i].is_skipped),
			     reach_rows[i].is_reached, "%s",
			     reach_rows[i].name);
		hf_patterns_free(&patterns);
	}
}

static const struct {
	const char *name;
	const char *patterns[LIST_MAX];
	const char *skipped;
	const char *rest;
	const char *rule;
} past_rows[] = {
	{"any", {"**/*.json"}, "node_modules", "a.json", NULL},
	{"any, beside a named one", {"**/*.json", "node_modules/b.json"},
	 "node_modules", "a.json", NULL},
	{"named", {"**/*.json", "node_modules/b.json"}, "node_modules",
	 "b.json", "node_modules/b.json"},
	{"named, any behind", {"node_modules/**"}, "node_modules", "a/b",
	 "node_modules/**"},
	{"named by any and a name", {"**/.git/config"}, "a/.git", "config",
	 "**/.git/config"},
	{"the inner one counts", {"**/.git/**"}, "a/.git/b/CVS", "x", NULL},
	{"the inner one by name", {"**/.git/**"}, "a/.git", "b/x",
	 "**/.git/**"},
	{"guessed behind any", {"**/*/x"}, "a/.git", "x", NULL},
	{"guessed", {"*/*/x"}, "a/.git", "x", "*/*/x"},
	{"tree above", {"a/"}, "a/b/.git", "x", "a/"},
	{"any tree above", {"**/a/"}, "a/.git", "x", NULL},
	{"any tree", {"**/.git/"}, "a/.git", "x", "**/.git/"},
	{"wildcard tree", {"*/"}, ".git", "x/y", "*/"},
	{"any takes out", {".git/", "!**/x"}, ".git", "x", NULL},
};

Test(pattern, match_past)
{
	for (size_t i = 0; i < HF_COUNT(past_rows); i++) {
		struct hf_patterns *patterns =
			list_of(past_rows[i].name, past_rows[i].patterns);
		const size_t skipped_len = strlen(past_rows[i].skipped);
		char path[64];
		const char *rule;

		(void)snprintf(path, sizeof(path), "%s/%s",
			       past_rows[i].skipped, past_rows[i].rest);
		rule = hf_patterns_match_past(patterns, path, skipped_len,
					      false);
		cr_expect(is_same(rule, past_rows[i].rule), "%s: %s",
			  past_rows[i].name, rule ? rule : "not a member");
		path[skipped_len] = '\0';
		if (past_rows[i].rule)
			cr_expect(hf_patterns_reach_past(patterns, path,
							 skipped_len),
				  "%s", past_rows[i].name);
		hf_patterns_free(&patterns);
	}
}
