/* SPDX-License-Identifier: MIT */
/*
 * Many patterns, found by their anchors.
 *
 * A pattern can only match a path that is its anchor (the fixed part it begins
 * with) or lies beneath it.  So the patterns of one anchor form a group, and
 * for a path only the groups of its own beginnings are looked up: "", "a",
 * "a/b" for "a/b".  Every beginning of an anchor is a group too, to answer
 * whether anything deeper is named.
 */
#include "core/pattern.h"

#include <stdint.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/glob.h"
#include "core/path_glob.h"

/* Up to so many patterns are tried at once: to look at the path first pays for
 * more alone. */
#define FEW	32

/* Patterns and groups are counted from 1 in all links; 0 is none. */
struct pattern {
	struct hf_path_glob glob;
	size_t older;		/* of the same group */
	size_t group;
};

struct group {
	const char *anchor;	/* not terminated; belongs to a pattern */
	size_t anchor_len;
	uint64_t hash;
	size_t newest;		/* pattern with this anchor */
	size_t literal;		/* newest that is literal and takes in */
	size_t deeper;		/* newest that takes in, anchored beneath */
	size_t chain;		/* the next group of the bucket */
	char *start;		/* the anchor, where walking starts; or NULL */
};

struct hf_patterns {
	char *root;
	struct pattern *patterns;
	size_t count;
	size_t capacity;
	struct group *groups;
	size_t group_count;
	size_t group_capacity;
	size_t *buckets;
	size_t bucket_count;	/* a power of two, or 0 */
};

struct hf_patterns *hf_patterns_new(void)
{
	return calloc(1, sizeof(struct hf_patterns));
}

void hf_patterns_free(struct hf_patterns **patterns)
{
	struct hf_patterns *const all = *patterns;
	const int saved = errno;

	*patterns = NULL;
	if (!all)
		return;
	for (size_t i = 0; i < all->count; i++)
		hf_path_glob_done(&all->patterns[i].glob);
	for (size_t i = 0; i < all->group_count; i++)
		free(all->groups[i].start);
	free(all->root);
	free(all->patterns);
	free(all->groups);
	free(all->buckets);
	free(all);
	errno = saved;
}

int hf_patterns_set_root(struct hf_patterns *patterns, const char *root,
			 struct hf_error *err)
{
	char *const copy = strdup(root);

	if (!copy)
		return hf_fail_memory(err);
	free(patterns->root);
	patterns->root = copy;
	return 0;
}

size_t hf_patterns_count(const struct hf_patterns *patterns)
{
	return patterns->count;
}

const char *hf_patterns_text(const struct hf_patterns *patterns, size_t index)
{
	return patterns->patterns[index].glob.text;
}

/* -- the beginnings of a path ----------------------------------------- */

/* FNV-1a, so that each beginning's hash goes on from that of the one before. */
struct beginning {
	const char *path;
	size_t path_len;
	size_t len;
	uint64_t hash;
	bool is_started;
};

static struct beginning begin(const char *path, size_t path_len)
{
	return (struct beginning){
		.path = path,
		.path_len = path_len,
		.hash = 0xCBF29CE484222325u,
	};
}

/* "", "a", "a/b" of "a/b"; "/", "/a", "/a/b" of "/a/b". */
static bool next_beginning(struct beginning *beginning)
{
	size_t len = beginning->len;

	if (!beginning->is_started) {
		beginning->is_started = true;
		if (beginning->path_len > 0 && beginning->path[0] == '/')
			len = 1;
	} else {
		if (len == beginning->path_len)
			return false;
		if (beginning->path[len] == '/')
			len++;
		while (len < beginning->path_len && beginning->path[len] != '/')
			len++;
	}

	for (size_t i = beginning->len; i < len; i++) {
		beginning->hash ^= (unsigned char)beginning->path[i];
		beginning->hash *= 0x100000001B3u;
	}
	beginning->len = len;
	return true;
}

/* The root has no component of its own: everything in it begins with "". */
static const char *without_dot(const char *path)
{
	return strcmp(path, ".") == 0 ? "" : path;
}

static size_t find_group(const struct hf_patterns *patterns,
			 const struct beginning *beginning)
{
	size_t link;

	if (patterns->bucket_count == 0)
		return 0;
	link = patterns->buckets[beginning->hash &
				 (patterns->bucket_count - 1)];
	while (link > 0) {
		const struct group *const group = &patterns->groups[link - 1];

		if (group->hash == beginning->hash &&
		    group->anchor_len == beginning->len &&
		    memcmp(group->anchor, beginning->path, beginning->len) == 0)
			break;
		link = group->chain;
	}
	return link;
}

/* -- adding ----------------------------------------------------------- */

/* Room for one more element; false when out of memory. */
static bool grow(void **array, size_t count, size_t *capacity, size_t size)
{
	const size_t wanted = *capacity ? *capacity * 2 : 16;
	void *grown;

	if (count < *capacity)
		return true;
	if (wanted > SIZE_MAX / size)
		return false;
	grown = realloc(*array, wanted * size);
	if (!grown)
		return false;
	*array = grown;
	*capacity = wanted;
	return true;
}

static void link_group(struct hf_patterns *patterns, size_t link)
{
	struct group *const group = &patterns->groups[link - 1];
	size_t *const bucket =
		&patterns->buckets[group->hash & (patterns->bucket_count - 1)];

	group->chain = *bucket;
	*bucket = link;
}

static bool grow_buckets(struct hf_patterns *patterns)
{
	size_t *grown;

	if (patterns->group_count < patterns->bucket_count)
		return true;
	grown = calloc(patterns->group_capacity, sizeof(*grown));
	if (!grown)
		return false;
	free(patterns->buckets);
	patterns->buckets = grown;
	patterns->bucket_count = patterns->group_capacity;
	for (size_t link = 1; link <= patterns->group_count; link++)
		link_group(patterns, link);
	return true;
}

/* 0 when out of memory. */
static size_t add_group(struct hf_patterns *patterns,
			const struct beginning *beginning)
{
	void *groups = patterns->groups;
	const size_t found = find_group(patterns, beginning);

	if (found > 0)
		return found;
	if (!grow(&groups, patterns->group_count, &patterns->group_capacity,
		  sizeof(*patterns->groups)))
		return 0;
	patterns->groups = groups;
	if (!grow_buckets(patterns))
		return 0;

	patterns->groups[patterns->group_count++] = (struct group){
		.anchor = beginning->path,
		.anchor_len = beginning->len,
		.hash = beginning->hash,
	};
	link_group(patterns, patterns->group_count);
	return patterns->group_count;
}

/* Walking outside the root starts above a literal and in the fixed part of all
 * else. */
static bool add_start(struct group *group, const struct hf_path_glob *glob)
{
	const size_t len = hf_path_glob_is_literal(glob) ?
				   hf_path_parent_len(glob->anchor) :
				   glob->anchor_len;

	if (glob->is_negated || !hf_path_is_absolute(glob->anchor) ||
	    group->anchor_len != len || group->start)
		return true;
	group->start = malloc(len + 1);
	if (!group->start)
		return false;
	memcpy(group->start, glob->anchor, len);
	group->start[len] = '\0';
	return true;
}

/* Enter the newest pattern into its group and those above it. */
static int add_to_groups(struct hf_patterns *patterns, struct hf_error *err)
{
	const size_t link = patterns->count;
	struct pattern *const pattern = &patterns->patterns[link - 1];
	const struct hf_path_glob *const glob = &pattern->glob;
	struct beginning beginning = begin(glob->anchor, glob->anchor_len);

	while (next_beginning(&beginning)) {
		struct group *group;

		pattern->group = add_group(patterns, &beginning);
		if (pattern->group == 0)
			return hf_fail_memory(err);
		group = &patterns->groups[pattern->group - 1];
		if (!add_start(group, glob))
			return hf_fail_memory(err);

		if (beginning.len < glob->anchor_len) {
			if (!glob->is_negated)
				group->deeper = link;
			continue;
		}
		pattern->older = group->newest;
		group->newest = link;
		if (hf_path_glob_is_literal(glob) && !glob->is_negated)
			group->literal = link;
	}
	return 0;
}

int hf_patterns_add(struct hf_patterns *patterns, const char *text,
		    struct hf_error *err)
{
	void *array = patterns->patterns;
	struct pattern *pattern;
	int rc;

	if (patterns->count == HF_PATTERN_COUNT_MAX)
		return hf_fail(err, HF_ERR_LIMIT, "more than %d patterns",
			       HF_PATTERN_COUNT_MAX);
	if (strlen(text) > HF_PATTERN_LEN_MAX)
		return hf_fail(err, HF_ERR_USAGE, "'%s' is too long",
			       HF_QUOTE(text));
	if (!grow(&array, patterns->count, &patterns->capacity,
		  sizeof(*patterns->patterns)))
		return hf_fail_memory(err);
	patterns->patterns = array;

	pattern = &patterns->patterns[patterns->count];
	*pattern = (struct pattern){ .glob = HF_PATH_GLOB_INIT };
	rc = hf_path_glob_parse(&pattern->glob, text, patterns->root, err);
	if (rc < 0) {
		hf_path_glob_done(&pattern->glob);
		return rc;
	}
	patterns->count++;
	return add_to_groups(patterns, err);
}

/* -- asking ----------------------------------------------------------- */

const char *hf_patterns_match_past(const struct hf_patterns *patterns,
				   const char *path, size_t skipped_len,
				   bool is_directory)
{
	struct beginning beginning = begin(path, strlen(path));
	const struct hf_path_glob *glob;
	const bool is_many = patterns->count > FEW;
	struct hf_pairs pairs = { .words = { 0 } };
	size_t best = 0;

	/* No pattern can name the root itself. */
	if (strcmp(path, ".") == 0)
		return NULL;
	if (is_many)
		hf_pairs_add_text(&pairs, path, strlen(path));
	while (next_beginning(&beginning)) {
		const size_t group = find_group(patterns, &beginning);
		size_t link = group ? patterns->groups[group - 1].newest : 0;

		for (; link > best; link = patterns->patterns[link - 1].older) {
			glob = &patterns->patterns[link - 1].glob;
			if (is_many && !hf_pairs_has_all(&pairs, &glob->pairs))
				continue;
			if (hf_path_glob_matches(glob, path, skipped_len,
						 is_directory))
				best = link;
		}
	}
	if (best == 0)
		return NULL;
	glob = &patterns->patterns[best - 1].glob;
	return glob->is_negated ? NULL : glob->text;
}

const char *hf_patterns_match(const struct hf_patterns *patterns,
			      const char *path, bool is_directory)
{
	return hf_patterns_match_past(patterns, path, 0, is_directory);
}

bool hf_patterns_reach_past(const struct hf_patterns *patterns,
			    const char *path, size_t skipped_len)
{
	const char *const directory = without_dot(path);
	const size_t path_len = strlen(directory);
	struct beginning beginning = begin(directory, path_len);
	size_t taken = 0;	/* newest that takes in something beneath */
	size_t left = 0;	/* newest that takes out everything beneath */

	/* A root that looks like one to skip is not: somebody chose it. */
	if (skipped_len > path_len)
		skipped_len = path_len;
	while (next_beginning(&beginning)) {
		const size_t link = find_group(patterns, &beginning);
		const struct group *const group =
			link ? &patterns->groups[link - 1] : NULL;
		size_t at = group ? group->newest : 0;

		if (group && beginning.len == path_len && group->deeper > taken)
			taken = group->deeper;
		for (; at > taken || at > left;
		     at = patterns->patterns[at - 1].older) {
			const struct hf_path_glob *const glob =
				&patterns->patterns[at - 1].glob;

			if (glob->is_negated) {
				if (at > left &&
				    hf_path_glob_covers(glob, directory))
					left = at;
			} else if (at > taken &&
				   hf_path_glob_reaches(glob, directory,
							skipped_len)) {
				taken = at;
			}
		}
	}
	return taken > left;
}

bool hf_patterns_reach_beneath(const struct hf_patterns *patterns,
			       const char *path, bool is_skipped)
{
	return hf_patterns_reach_past(patterns, path,
				      is_skipped ? strlen(path) : 0);
}

bool hf_patterns_literal(const struct hf_patterns *patterns, size_t *position,
			 const char **ret_path, const char **ret_rule)
{
	while (*position < patterns->count) {
		const size_t link = ++*position;
		const struct pattern *const pattern =
			&patterns->patterns[link - 1];
		const char *const path = pattern->glob.anchor;
		const char *rule;

		if (patterns->groups[pattern->group - 1].literal != link)
			continue;
		rule = hf_patterns_match(patterns, path, true);
		if (rule) {
			*ret_path = path;
			*ret_rule = rule;
			return true;
		}
	}
	return false;
}

/* Does walking start in a directory above this one too? */
static bool is_started_above(const struct hf_patterns *patterns,
			     const struct group *group)
{
	struct beginning beginning = begin(group->anchor, group->anchor_len);

	while (next_beginning(&beginning) &&
	       beginning.len < group->anchor_len) {
		const size_t link = find_group(patterns, &beginning);

		if (link > 0 && patterns->groups[link - 1].start)
			return true;
	}
	return false;
}

bool hf_patterns_outside(const struct hf_patterns *patterns, size_t *position,
			 const char **ret_directory)
{
	while (*position < patterns->group_count) {
		const struct group *const group =
			&patterns->groups[(*position)++];

		if (group->start && !is_started_above(patterns, group)) {
			*ret_directory = group->start;
			return true;
		}
	}
	return false;
}

/* -- text ------------------------------------------------------------- */

bool hf_pattern_match_text(const char *pattern, const char *text)
{
	return hf_glob_match(pattern, strlen(pattern), text, strlen(text));
}

int hf_pattern_check_text(const char *pattern, struct hf_error *err)
{
	const char *const fault =
		*pattern ? hf_glob_check(pattern, strlen(pattern)) : "is empty";

	if (fault)
		return hf_fail(err, HF_ERR_USAGE, "'%s' %s", HF_QUOTE(pattern),
			       fault);
	return 0;
}

char *hf_pattern_escape(const char *path)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;

	for (size_t i = 0; path[i] != '\0'; i++) {
		if (strchr("*?[\\", path[i]) ||
		    (i == 0 && (path[i] == '!' || path[i] == '~')))
			hf_buffer_add(&text, "\\", 1);
		hf_buffer_add(&text, path + i, 1);
	}
	return hf_buffer_take(&text);
}
