/* SPDX-License-Identifier: MIT */
/*
 * A directory is counted after all beneath it.  Where most of it is data, or
 * its name says so, it is one candidate and takes the place of what was found
 * inside.
 */
#include "core/candidates.h"

#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/data_name.h"
#include "core/git_index.h"
#include "core/pattern.h"
#include "core/policy.h"
#include "platform/file.h"

#define LOOKED_MAX  50000 /* entries, of all directories */
#define NAMES_MAX   10000 /* of one */
#define DEPTH_MAX   8
#define SINGLE_MAX  3 /* more of one ending become a pattern */
#define LARGE_BYTES ((uint64_t)512 << 20)
#define LARGE_FILES 20000

/* What lies in a directory and beneath it. */
struct sum {
	size_t files;
	size_t code;
	size_t data;
	size_t unheld; /* of files */
	uint64_t bytes;
};

struct search {
	struct hf_candidates *found;
	const struct hf_git_index *index;
};

/* The names of one directory in order. */
struct listing {
	struct hf_arena arena;
	const char *names[NAMES_MAX];
	enum hf_kind kinds[NAMES_MAX];
	size_t count;
	bool is_marked;
};

static void listing_free(struct listing **listing)
{
	if (*listing)
		hf_arena_done(&(*listing)->arena);
	hf_free_pointee(listing);
}

/* -- listing -----------------------------------------------------------------
 */

static int compare_names(const void *a, const void *b)
{
	const char *const *const left = a;
	const char *const *const right = b;

	return strcmp(*left + 1, *right + 1);
}

/* Each name with a byte for its kind in front, so that they sort together. */
static int read_names(int fd, struct search *search, struct listing *listing,
		      struct hf_error *err)
{
	cleanup_directory struct hf_directory *directory = NULL;
	struct hf_candidates *const found = search->found;
	enum hf_kind kind;
	const char *name;

	if (hf_directory_open(fd, &directory) < 0)
		return 0;
	while (hf_directory_next(directory, &name, &kind) > 0) {
		const size_t len = strlen(name);
		char *copy;

		if (listing->count == NAMES_MAX ||
		    found->looked == LOOKED_MAX) {
			found->is_cut = true;
			break;
		}
		found->looked++;
		listing->is_marked |= hf_data_is_mark(name);
		copy = hf_arena_alloc(&listing->arena, len + 2);
		if (!copy)
			return hf_fail_memory(err);
		copy[0] = (char)kind;
		memcpy(copy + 1, name, len + 1);
		listing->names[listing->count++] = copy;
	}
	return 0;
}

static int list(int fd, struct search *search, struct listing **ret,
		struct hf_error *err)
{
	CLEANUP(listing_free) struct listing *listing = NULL;
	int rc;

	listing = calloc(1, sizeof(*listing));
	if (!listing)
		return hf_fail_memory(err);
	rc = read_names(fd, search, listing, err);
	if (rc < 0)
		return rc;
	qsort(listing->names, listing->count, sizeof(*listing->names),
	      compare_names);
	for (size_t i = 0; i < listing->count; i++) {
		struct hf_stat stat;

		listing->kinds[i] = (enum hf_kind) * listing->names[i]++;
		if (listing->kinds[i] == HF_KIND_ABSENT &&
		    hf_file_stat_at(fd, listing->names[i], &stat) == 0)
			listing->kinds[i] = stat.kind;
	}
	*ret = take_ptr(&listing);
	return 0;
}

/* -- candidates --------------------------------------------------------------
 */

static bool is_held(const struct search *search, const char *path)
{
	return search->found->has_git && hf_git_index_has(search->index, path);
}

/* A policy is UTF-8; "?" stands for each byte of a name that is not. */
static void make_utf8(char *pattern)
{
	for (char *at = pattern; *at != '\0'; at++) {
		size_t len = 1;

		while (len < 4 && at[len] != '\0' &&
		       ((unsigned char)at[len] & 0xc0u) == 0x80u)
			len++;
		if (hf_is_utf8(at, len))
			at += len - 1;
		else
			*at = '?';
	}
}

/* "dir/name", with "" for a name "dir/", or with an ending "dir/" and
 * "*.ending". */
static char *make_pattern(const char *directory, const char *name,
			  const char *ending)
{
	cleanup_free char *path = hf_path_join(directory, name);
	cleanup_free char *escaped =
		path ? hf_pattern_escape(ending ? directory : path) : NULL;
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	char *pattern;

	if (!escaped)
		return NULL;
	if (!ending)
		hf_buffer_add_text(&text, escaped);
	else
		hf_buffer_printf(&text, "%s%s*%s",
				 strcmp(directory, ".") == 0 ? "" : escaped,
				 strcmp(directory, ".") == 0 ? "" : "/",
				 ending);
	pattern = hf_buffer_take(&text);
	if (pattern && !hf_is_utf8(pattern, strlen(pattern)))
		make_utf8(pattern);
	return pattern;
}

/* pattern becomes the list's. */
static int add(struct search *search, char *pattern, const struct sum *sum,
	       bool is_directory, struct hf_error *err)
{
	struct hf_candidates *const found = search->found;
	struct hf_candidate *item;

	if (!pattern)
		return hf_fail_memory(err);
	if (found->count == HF_CANDIDATES_MAX ||
	    strlen(pattern) > HF_PATTERN_LEN_MAX) {
		free(pattern);
		found->is_cut = true;
		return 0;
	}
	item = &found->items[found->count++];
	*item = (struct hf_candidate){
		.pattern = pattern,
		.files = sum->files,
		.unheld = found->has_git ? sum->unheld : 0,
		.bytes = sum->bytes,
		.git = !found->has_git	  ? HF_CANDIDATE_NO_GIT
		       : sum->unheld == 0 ? HF_CANDIDATE_HELD
					  : HF_CANDIDATE_UNHELD,
		.is_directory = is_directory,
	};
	item->is_default = sum->bytes <= LARGE_BYTES &&
			   sum->files <= LARGE_FILES &&
			   (item->git != HF_CANDIDATE_HELD || !is_directory);
	return 0;
}

static void drop_from(struct hf_candidates *found, size_t first)
{
	while (found->count > first)
		free(found->items[--found->count].pattern);
}

/* -- one directory ------------------------------------------------------------
 */

/* Files of one ending in one directory: each by its name, or all by a pattern.
 */
struct group {
	const char *ending;
	const char *names[SINGLE_MAX];
	struct sum each[SINGLE_MAX];
	struct sum sum;
};

#define GROUPS_MAX 64

static struct group *group_of(struct group *groups, size_t *count,
			      const char *ending)
{
	for (size_t i = 0; i < *count; i++)
		if (strcmp(groups[i].ending, ending) == 0)
			return &groups[i];
	if (*count == GROUPS_MAX)
		return NULL;
	groups[*count].ending = ending;
	return &groups[(*count)++];
}

static int add_groups(struct search *search, const char *directory,
		      const struct group *groups, size_t count,
		      struct hf_error *err)
{
	const bool is_top = strcmp(directory, ".") == 0;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < count; i++) {
		const struct group *const group = &groups[i];
		const size_t files = group->sum.files;
		/* What is protected without a policy stays so. */
		const bool is_pattern =
			group->ending[0] != '\0' &&
			(files > SINGLE_MAX ||
			 (is_top && strcmp(group->ending, ".toml") == 0));

		if (is_pattern)
			rc = add(search,
				 make_pattern(directory, group->names[0],
					      group->ending),
				 &group->sum, false, err);
		for (size_t j = 0;
		     !is_pattern && rc == 0 && j < files && j < SINGLE_MAX; j++)
			rc = add(search,
				 make_pattern(directory, group->names[j], NULL),
				 &group->each[j], false, err);
	}
	return rc;
}

static void count_into(struct sum *sum, const struct sum *part)
{
	sum->files += part->files;
	sum->code += part->code;
	sum->data += part->data;
	sum->unheld += part->unheld;
	sum->bytes += part->bytes;
}

/* The files of a directory: those that are candidates by themselves, and all.
 */
static int count_files(struct search *search, int fd, const char *directory,
		       const struct listing *listing, struct sum *sum,
		       struct hf_error *err)
{
	struct group groups[GROUPS_MAX] = {{.ending = NULL}};
	size_t group_count = 0;

	for (size_t i = 0; i < listing->count; i++) {
		const char *const name = listing->names[i];
		cleanup_free char *path = NULL;
		struct sum one = {.files = 1};
		struct group *group;
		struct hf_stat stat;

		if (listing->kinds[i] != HF_KIND_FILE ||
		    hf_file_stat_at(fd, name, &stat) < 0)
			continue;
		path = hf_path_join(directory, name);
		if (!path)
			return hf_fail_memory(err);
		one.bytes = stat.size;
		one.unheld = is_held(search, path) ? 0 : 1;
		one.code = hf_data_is_code(name) ? 1 : 0;
		one.data = hf_data_rank(name) != HF_DATA_NONE ? 1 : 0;
		count_into(sum, &one);
		if (one.data == 0 || strcmp(path, HF_POLICY_NAME) == 0 ||
		    (one.unheld == 0 && strcmp(directory, ".") != 0))
			continue;
		group = group_of(groups, &group_count, hf_data_ending(name));
		if (!group)
			continue;
		if (group->sum.files < SINGLE_MAX) {
			group->names[group->sum.files] = name;
			group->each[group->sum.files] = one;
		}
		count_into(&group->sum, &one);
	}
	return add_groups(search, directory, groups, group_count, err);
}

static bool is_data(const char *path, const struct sum *sum)
{
	if (hf_data_is_directory(hf_path_name(path)))
		return sum->files > 0 && 2 * sum->code < sum->files;
	return sum->data >= 2 && 4 * sum->data >= 3 * sum->files;
}

/* The directory fd is path, "." for the root. */
static int look(struct search *search, int fd, const char *path, unsigned depth,
		struct sum *ret_sum, struct hf_error *err)
{
	CLEANUP(listing_free) struct listing *listing = NULL;
	const bool is_top = strcmp(path, ".") == 0;
	const size_t before = search->found->count;
	struct sum sum = {.files = 0};
	int rc;

	rc = list(fd, search, &listing, err);
	if (rc < 0 || !listing || (listing->is_marked && !is_top))
		return rc;
	rc = count_files(search, fd, path, listing, &sum, err);
	for (size_t i = 0; rc == 0 && i < listing->count; i++) {
		cleanup_free char *below = NULL;
		cleanup_fd int below_fd = -1;
		struct sum part = {.files = 0};

		if (listing->kinds[i] != HF_KIND_DIRECTORY ||
		    hf_data_is_output(listing->names[i]))
			continue;
		if (depth == DEPTH_MAX) {
			search->found->is_cut = true;
			continue;
		}
		below = hf_path_join(path, listing->names[i]);
		if (!below)
			return hf_fail_memory(err);
		below_fd = hf_file_open_directory_at(fd, listing->names[i]);
		if (below_fd >= 0)
			rc = look(search, below_fd, below, depth + 1, &part,
				  err);
		count_into(&sum, &part);
	}
	if (rc < 0)
		return rc;
	if (!is_top && is_data(path, &sum)) {
		drop_from(search->found, before);
		rc = add(search, make_pattern(path, "", NULL), &sum, true, err);
	}
	*ret_sum = sum;
	return rc;
}

/* -- all of it
 * ----------------------------------------------------------------- */

static unsigned place_of(const struct hf_candidate *item)
{
	if (item->git == HF_CANDIDATE_UNHELD)
		return 0;
	return item->is_directory ? 2 : 1;
}

static int compare(const void *a, const void *b)
{
	const struct hf_candidate *const left = a;
	const struct hf_candidate *const right = b;
	const unsigned left_place = place_of(left);
	const unsigned right_place = place_of(right);

	if (left_place != right_place)
		return left_place < right_place ? -1 : 1;
	return strcmp(left->pattern, right->pattern);
}

int hf_candidates_find(const char *root, int root_fd,
		       struct hf_candidates *found, struct hf_error *err)
{
	cleanup_git_index struct hf_git_index index = HF_GIT_INDEX_INIT;
	struct search search = {.found = found};
	struct hf_error ignored = {0};
	struct sum sum;
	int rc;

	rc = hf_git_index_load(root, &index, &ignored);
	found->has_git = rc == 0;
	search.index = &index;
	rc = look(&search, root_fd, ".", 0, &sum, err);
	if (rc < 0)
		return rc;
	qsort(found->items, found->count, sizeof(*found->items), compare);
	return 0;
}

void hf_candidates_done(struct hf_candidates *found)
{
	drop_from(found, 0);
}
