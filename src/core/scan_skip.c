/* SPDX-License-Identifier: MIT */
/* Which directories are skipped, and which patterns still reach into them. */
#include "core/scan_skip.h"

#include <string.h>

#include "base/fail.h"

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

bool hf_scan_is_skipped_name(const char *name)
{
	static const char *const names[] = {
		".git", ".hg", ".svn", ".bzr", "CVS", "_darcs",
		".jj", "node_modules",
	};

	return is_one_of(name, names, HF_COUNT(names));
}

bool hf_scan_is_skip_mark(const char *name)
{
	static const char *const names[] = { "pyvenv.cfg", "CACHEDIR.TAG" };

	return is_one_of(name, names, HF_COUNT(names));
}

size_t hf_scan_path_depth(const char *path)
{
	size_t depth = 0;

	while (*path != '\0') {
		const size_t len = strcspn(path, "/");

		if (len > 0)
			depth++;
		path += len;
		path += strspn(path, "/");
	}
	return depth;
}

/* Does the pattern get past depth components before its first "**"? */
static bool reaches(const char *pattern, size_t depth)
{
	size_t named = 0;

	if (pattern[0] == '!')
		return true;
	while (*pattern != '\0') {
		const size_t len = strcspn(pattern, "/");

		if (len == 2 && strncmp(pattern, "**", 2) == 0)
			return named >= depth;
		if (len > 0)
			named++;
		pattern += len;
		pattern += strspn(pattern, "/");
	}
	return true;
}

static int make_room(struct hf_scan_named *named, size_t depth,
		     struct hf_error *err)
{
	struct hf_patterns **sets;

	if (depth < named->count)
		return 0;
	/* A depth is below HF_PATH_MAX: no overflow. */
	sets = realloc(named->sets, (depth + 1) * sizeof(struct hf_patterns *));
	if (!sets)
		return hf_fail_memory(err);
	named->sets = sets;
	while (named->count <= depth)
		named->sets[named->count++] = NULL;
	return 0;
}

int hf_scan_named_get(struct hf_scan_named *named, size_t depth,
		      const struct hf_patterns **ret_patterns,
		      struct hf_error *err)
{
	cleanup_patterns struct hf_patterns *set = NULL;
	int rc;

	if (depth == 0) {
		*ret_patterns = named->patterns;
		return 0;
	}
	rc = make_room(named, depth, err);
	if (rc < 0)
		return rc;
	if (!named->sets[depth]) {
		const size_t count = hf_patterns_count(named->patterns);

		set = hf_patterns_new();
		if (!set)
			return hf_fail_memory(err);
		for (size_t i = 0; i < count; i++) {
			const char *const text =
				hf_patterns_text(named->patterns, i);

			if (!reaches(text, depth))
				continue;
			rc = hf_patterns_add(set, text, err);
			if (rc < 0)
				return rc;
		}
		named->sets[depth] = take_ptr(&set);
	}
	*ret_patterns = named->sets[depth];
	return 0;
}

void hf_scan_named_done(struct hf_scan_named *named)
{
	for (size_t i = 0; i < named->count; i++)
		hf_patterns_free(&named->sets[i]);
	hf_free_pointee(&named->sets);
	named->count = 0;
}
