/* SPDX-License-Identifier: MIT */
/*
 * Patterns against paths, compared with a matcher that is slow and simple.
 *
 * An input is lines: patterns, an empty line, paths.  A path that ends in a
 * slash is a directory; a tab in it stands for a slash and ends the part that
 * leads to a skipped directory.  A first line "root=/a/b" sets the root.
 */
/* The checks are the point, whatever the build type. */
#undef NDEBUG
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "core/pattern.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* The slow matcher takes exponential time in the number of stars. */
#define SLOW_LEN	64
#define SLOW_STARS	5
#define PARTS_MAX	SLOW_LEN

/* -- the slow matcher ------------------------------------------------- */

struct parts {
	char text[SLOW_LEN + 1];
	const char *part[PARTS_MAX];
	size_t count;
};

static int next_byte(const char **at)
{
	if (**at == '\\')
		(*at)++;
	return (unsigned char)*(*at)++;
}

/* All bytes that a bracket stands for; returns what lies behind it. */
static const char *slow_set(const char *at, char set[256])
{
	const char *const first = at + 1 + (at[1] == '!' || at[1] == '^');
	const int is_negated = first > at + 1;

	memset(set, is_negated, 256);
	for (at = first; *at != ']' || at == first;) {
		const int low = next_byte(&at);
		int high = low;

		if (*at == '-' && at[1] != ']') {
			at++;
			high = next_byte(&at);
		}
		for (int i = low; i <= high; i++)
			set[i] = (char)!is_negated;
	}
	return at + 1;
}

static int slow_name(const char *glob, const char *name)
{
	char set[256] = { 0 };

	if (*glob == '*')
		return slow_name(glob + 1, name) ||
		       (*name && slow_name(glob, name + 1));
	if (*glob == '\0' || *name == '\0')
		return *glob == *name;
	if (*glob == '[')
		glob = slow_set(glob, set);
	else if (*glob == '?')
		glob += 1, memset(set, 1, sizeof(set));
	else
		set[next_byte(&glob)] = 1;
	return set[(unsigned char)*name] && slow_name(glob, name + 1);
}

static int is_any(const char *part)
{
	return strcmp(part, "**") == 0;
}

static int is_literal(const char *part)
{
	for (; *part; part++) {
		if (strchr("*?[", *part))
			return 0;
		if (*part == '\\')
			part++;
	}
	return 1;
}

/* Split at every slash; "." and empty components of a pattern are left out. */
static void split(struct parts *parts, const char *text, int is_pattern)
{
	char *at;

	parts->count = 0;
	(void)snprintf(parts->text, sizeof(parts->text), "%s", text);
	at = parts->text;
	while (*at) {
		const size_t len = strcspn(at, "/");
		const int is_last = at[len] == '\0';

		at[len] = '\0';
		if (len > 0 && !(is_pattern && (strcmp(at, ".") == 0 ||
						strcmp(at, "\\.") == 0)))
			parts->part[parts->count++] = at;
		at += len + !is_last;
	}
}

struct slow {
	struct parts glob;
	struct parts path;
	size_t skipped;		/* components */
	int is_tree;
	int is_directory;
	int any;		/* the first "**" of the pattern */
};

static int slow_parts(const struct slow *slow, size_t g, size_t p)
{
	const size_t globs = slow->glob.count;
	const size_t names = slow->path.count;

	if (g == globs && p == names) {
		int is_fixed = 1;

		for (size_t i = 0; i < globs; i++)
			is_fixed &= is_literal(slow->glob.part[i]);
		return !slow->is_tree || slow->is_directory || is_fixed;
	}
	if (g == globs)
		return slow->is_tree &&
		       (p >= slow->skipped || slow->any == (int)globs);
	if (is_any(slow->glob.part[g])) {
		if (g + 1 == globs)
			return p < names && p >= slow->skipped &&
			       (!slow->is_tree || slow->is_directory ||
				names - p > 1);
		return slow_parts(slow, g + 1, p) ||
		       (p < names && p + 1 != slow->skipped &&
			slow_parts(slow, g, p + 1));
	}
	if (p == names || !slow_name(slow->glob.part[g], slow->path.part[p]))
		return 0;
	if (p + 1 == slow->skipped && (int)g > slow->any &&
	    !is_literal(slow->glob.part[g]))
		return 0;
	return slow_parts(slow, g + 1, p + 1);
}

static int slow_match(const char *pattern, const char *path, size_t skipped_len,
		      int is_directory)
{
	struct slow slow = { .is_directory = is_directory };
	const int is_negated = *pattern == '!';

	pattern += is_negated;
	if ((*pattern == '/') != (*path == '/'))
		return 0;
	slow.is_tree = pattern[strlen(pattern) - 1] == '/';
	split(&slow.glob, pattern, 1);
	split(&slow.path, path, 0);
	for (size_t i = 0; i < skipped_len && !is_negated; i++)
		slow.skipped += path[i] != '/' && (path[i + 1] == '/' ||
						   i + 1 == skipped_len);
	while ((size_t)slow.any < slow.glob.count &&
	       !is_any(slow.glob.part[slow.any]))
		slow.any++;
	return slow_parts(&slow, 0, 0);
}

static int is_slow(const char *text)
{
	size_t stars = 0;

	for (const char *at = text; *at; at++)
		stars += *at == '*';
	return stars > SLOW_STARS || strlen(text) > SLOW_LEN;
}

/* -- one path --------------------------------------------------------- */

static void check_verdict(const struct hf_patterns *patterns, const char *path,
			  size_t skipped_len, int is_directory)
{
	const char *const rule = hf_patterns_match_past(
		patterns, path, skipped_len, is_directory);
	const char *expected = NULL;

	if (is_slow(path))
		return;
	for (size_t i = 0; i < hf_patterns_count(patterns); i++) {
		const char *const text = hf_patterns_text(patterns, i);

		if (is_slow(text))
			return;
		if (slow_match(text, path, skipped_len, is_directory))
			expected = *text == '!' ? NULL : text;
	}
	if (rule != expected)
		(void)fprintf(stderr, "%s: %s, expected %s\n", path,
			      rule ? rule : "out", expected ? expected : "out");
	assert(rule == expected);
}

/* What matches must be found by walking down to it. */
static void check_reach(const struct hf_patterns *patterns, const char *path,
			size_t skipped_len)
{
	const char *directory;
	size_t position = 0;
	int is_started = 0;

	for (size_t i = 1; path[i]; i++) {
		char parent[HF_PATH_MAX];

		if (path[i] != '/')
			continue;
		memcpy(parent, path, i);
		parent[i] = '\0';
		assert(hf_patterns_reach_past(patterns, parent,
					      i < skipped_len ? 0 :
								skipped_len));
	}
	if (path[0] != '/') {
		assert(hf_patterns_reach_beneath(patterns, ".", false));
		return;
	}
	assert(hf_patterns_reach_beneath(patterns, "/", false));
	while (hf_patterns_outside(patterns, &position, &directory))
		is_started += hf_path_is_beneath(path, directory);
	assert(is_started == 1);
}

static void check_escape(const char *path)
{
	struct hf_error err;
	struct hf_patterns *patterns = hf_patterns_new();
	char *const escaped = hf_pattern_escape(path);
	const char *found;
	const char *rule;
	size_t position = 0;

	assert(patterns && escaped);
	if (hf_patterns_add(patterns, escaped, &err) == 0) {
		assert(hf_patterns_match(patterns, path, false));
		assert(hf_patterns_literal(patterns, &position, &found, &rule));
		assert(strcmp(found, path) == 0 && strcmp(rule, escaped) == 0);
	} else {
		assert(strlen(escaped) > HF_PATTERN_LEN_MAX);
	}
	free(escaped);
	hf_patterns_free(&patterns);
}

static void check_path(const struct hf_patterns *patterns, char *path,
		       int has_root)
{
	char *const tab = strrchr(path, '\t');
	const size_t skipped_len = tab ? (size_t)(tab - path) : 0;
	const size_t path_len = strlen(path);
	int is_directory = 0;

	if (tab)
		*tab = '/';
	if (path_len > 1 && path[path_len - 1] == '/') {
		is_directory = 1;
		path[path_len - 1] = '\0';
	}
	if (!hf_path_is_plain(path) || strcmp(path, ".") == 0)
		return;

	check_escape(path);
	if (!has_root)
		check_verdict(patterns, path, skipped_len, is_directory);
	if (hf_patterns_match_past(patterns, path, skipped_len, is_directory))
		check_reach(patterns, path, skipped_len);
}

/* -- one set ---------------------------------------------------------- */

static void check_lists(const struct hf_patterns *patterns)
{
	const char *path;
	const char *rule;
	size_t position = 0;

	while (hf_patterns_literal(patterns, &position, &path, &rule)) {
		assert(hf_path_is_plain(path) && *rule != '!');
		assert(hf_patterns_match(patterns, path, true) == rule);
	}
	position = 0;
	while (hf_patterns_outside(patterns, &position, &path)) {
		size_t other_position = 0;
		const char *other;

		assert(hf_path_is_absolute(path));
		while (hf_patterns_outside(patterns, &other_position, &other))
			assert(!hf_path_is_beneath(path, other));
	}
}

static void check_text(const char *pattern, const char *text)
{
	struct hf_error err;

	if (hf_pattern_check_text(pattern, &err) == 0 && !is_slow(pattern) &&
	    !is_slow(text))
		assert(hf_pattern_match_text(pattern, text) ==
		       slow_name(pattern, text));
}

static int add_line(struct hf_patterns *patterns, const char *line)
{
	struct hf_error err;

	if (hf_patterns_count(patterns) == 0 &&
	    strncmp(line, "root=/", 6) == 0) {
		assert(hf_patterns_set_root(patterns, line + 5, &err) == 0);
		return 1;
	}
	if (hf_patterns_add(patterns, line, &err) < 0)
		assert(err.code == HF_ERR_USAGE && err.text[0]);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct hf_patterns *patterns = hf_patterns_new();
	char *const text = malloc(len + 1);
	const char *first;
	char *line;
	int is_paths = 0;
	int has_root = 0;

	assert(patterns && text);
	memcpy(text, data, len);
	text[len] = '\0';
	first = text;
	for (line = text; line; ) {
		char *const end = strchr(line, '\n');

		if (end)
			*end = '\0';
		if (*line == '\0' && !is_paths) {
			is_paths = 1;
			check_lists(patterns);
		} else if (is_paths) {
			check_text(first, line);
			check_path(patterns, line, has_root);
		} else {
			has_root |= add_line(patterns, line);
		}
		line = end ? end + 1 : NULL;
	}
	free(text);
	hf_patterns_free(&patterns);
	return 0;
}
