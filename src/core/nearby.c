/* SPDX-License-Identifier: MIT */
/* Find files nearby that look as if somebody cared about them. */
#include "core/nearby.h"

#include <inttypes.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/compare.h"
#include "core/data_name.h"
#include "core/policy.h"
#include "core/scan.h"
#include "platform/file.h"

#define FOUND_MAX	 5
#define FOUND_LEN_MAX	 100 /* bytes of names in the hint */
#define PATTERNS_LEN_MAX 60
#define ENTRIES_MAX	 2000 /* looked at in one directory */
#define DIRECTORIES_MAX	 100  /* entered at the top level */

struct found {
	char *paths[FOUND_MAX];
	size_t ranks[FOUND_MAX];
	size_t count;
};

static void found_done(struct found *found)
{
	for (size_t i = 0; i < found->count; i++)
		free(found->paths[i]);
	found->count = 0;
}

/* A policy file that lies elsewhere explains most. */
static size_t rank_of(const char *name)
{
	return strcmp(name, HF_POLICY_NAME) == 0 ? 0 : hf_data_rank(name);
}

/* Insert by rank, then path: the listing's order means nothing. */
static void add_found(struct found *found, const char *directory,
		      const char *name)
{
	const size_t rank = rank_of(name);
	char *path;
	size_t at;

	if (rank == HF_DATA_NONE)
		return;
	path = hf_path_join(directory, name);
	if (path == NULL)
		return;
	for (at = found->count; at > 0; at--)
		if (found->ranks[at - 1] < rank ||
		    (found->ranks[at - 1] == rank &&
		     hf_path_compare(found->paths[at - 1], path) <= 0))
			break;
	if (at == FOUND_MAX) {
		free(path);
		return;
	}
	if (found->count == FOUND_MAX)
		free(found->paths[--found->count]);
	for (size_t i = found->count; i > at; i--) {
		found->paths[i] = found->paths[i - 1];
		found->ranks[i] = found->ranks[i - 1];
	}
	found->paths[at] = path;
	found->ranks[at] = rank;
	found->count++;
}

static void look_below(int root_fd, const char *name, struct found *found)
{
	cleanup_fd int fd = hf_file_open_directory_at(root_fd, name);
	cleanup_directory struct hf_directory *directory = NULL;
	enum hf_kind kind;
	const char *entry;

	if (fd < 0 || hf_directory_open(fd, &directory) < 0)
		return;
	for (size_t i = 0;
	     i < ENTRIES_MAX && hf_directory_next(directory, &entry, &kind) > 0;
	     i++)
		if (kind == HF_KIND_FILE || kind == HF_KIND_ABSENT)
			add_found(found, name, entry);
}

static void look(int root_fd, struct found *found)
{
	cleanup_directory struct hf_directory *directory = NULL;
	size_t entered = 0;
	enum hf_kind kind;
	const char *name;

	if (hf_directory_open(root_fd, &directory) < 0)
		return;
	for (size_t i = 0;
	     i < ENTRIES_MAX && hf_directory_next(directory, &name, &kind) > 0;
	     i++) {
		if (kind == HF_KIND_FILE || kind == HF_KIND_ABSENT)
			add_found(found, ".", name);
		else if (kind == HF_KIND_DIRECTORY && name[0] != '.' &&
			 entered++ < DIRECTORIES_MAX)
			look_below(root_fd, name, found);
	}
}

static void add_patterns(const struct hf_policy *policy, struct hf_buffer *hint)
{
	/* The last one is the policy file itself. */
	const size_t count = hf_patterns_count(policy->protect) -
			     (policy->file_entry ? 1 : 0);
	const size_t start = hint->len;
	size_t i;

	hf_buffer_add_text(hint, count == 0 ? "no pattern is given" :
					      "looked for ");
	for (i = 0; i < count; i++) {
		const char *text = hf_patterns_text(policy->protect, i);

		if (i > 0 &&
		    hint->len - start + strlen(text) > PATTERNS_LEN_MAX)
			break;
		hf_buffer_add_text(hint, i == 0 ? "'" : ", '");
		hf_buffer_add_quoted(hint, text,
				     strlen(text) < PATTERNS_LEN_MAX ?
					     strlen(text) :
					     PATTERNS_LEN_MAX);
		hf_buffer_add_text(hint, "'");
	}
	if (i < count)
		hf_buffer_printf(hint, " and %zu more", count - i);
}

void hf_nearby_describe(int root_fd, const struct hf_policy *policy,
			struct hf_buffer *hint)
{
	struct found found = { .count = 0 };
	size_t start;
	size_t shown = 0;

	look(root_fd, &found);
	add_patterns(policy, hint);
	start = hint->len;
	for (size_t i = 0; i < found.count; i++) {
		if (hint->len - start + strlen(found.paths[i]) > FOUND_LEN_MAX ||
		    /* It is in use, and always protected. */
		    (policy->file_entry &&
		     strcmp(found.paths[i], policy->file_entry) == 0))
			continue;
		hf_buffer_add_text(hint, shown++ == 0 ? "; found " : ", ");
		hf_buffer_add_quoted(hint, found.paths[i],
				     strlen(found.paths[i]));
	}
	hf_buffer_add_text(
		hint, shown == 0 ?
			      "; name what to protect with --protect or "
			      "holdfast.json" :
			      ": name them with --protect or holdfast.json");
	found_done(&found);
}

static bool has_policy_file(const struct hf_scan_options *scan,
			    const struct hf_tree *tree)
{
	const struct hf_entry *file = NULL;

	if (scan->policy->file_entry)
		file = hf_tree_find(tree, scan->policy->file_entry);
	return file && file->stat.kind != HF_KIND_ABSENT;
}

/* What was protected when it was last recorded is what is meant. */
static int hint_gone(const struct hf_deltas *drift, struct hf_error *err)
{
	const char *first = NULL;
	size_t count = 0;

	for (size_t i = 0; drift && i < drift->count; i++) {
		const struct hf_delta *const delta = &drift->items[i];

		if (!(delta->change & HF_CHANGE_MISSING) ||
		    hf_delta_entry(delta)->role != HF_ROLE_PROTECTED)
			continue;
		if (count++ == 0)
			first = hf_delta_entry(delta)->path;
	}
	if (count == 0)
		return 0;
	return hf_fail_hint(err,
			    "'%s'%s gone since the last snapshot: 'holdfast "
			    "restore' puts back what it holds",
			    HF_QUOTE(first),
			    count == 1 ? " is" : " and others are");
}

static bool has_allowed(const struct hf_tree *tree)
{
	for (size_t i = 0; i < tree->count; i++)
		if (tree->entries[i].role == HF_ROLE_ALLOWED)
			return true;
	return false;
}

int hf_nearby_check(const struct hf_scan_options *scan,
		    const struct hf_tree *tree, const struct hf_deltas *drift,
		    uint64_t minimum, const char *verb, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer hint = HF_BUFFER_INIT;
	const bool has_file = has_policy_file(scan, tree);
	size_t count = hf_tree_protected_count(tree);
	int rc;

	if (has_file && count > 0)
		count--;
	if (count >= minimum)
		return 0;
	if (count > 0)
		(void)hf_fail(err, HF_ERR_USAGE,
			      "cannot %s: %zu protected%s, at least %" PRIu64
			      " wanted",
			      verb, count,
			      has_file ? " beside the policy file" : "",
			      minimum);
	else
		(void)hf_fail(err, HF_ERR_USAGE,
			      "cannot %s: %s is protected in '%s'", verb,
			      has_file ? "nothing but the policy file" :
					 "nothing",
			      HF_QUOTE(scan->root));
	rc = hint_gone(drift, err);
	if (rc < 0)
		return rc;
	if (count > 0)
		return hf_fail_hint(err, "'holdfast run --dry-run COMMAND' "
					 "lists what is");
	if (has_allowed(tree))
		return hf_fail_hint(err, "all that is named may be changed by "
					 "the command (--allow, or \"allow\" "
					 "in the policy)");
	hf_nearby_describe(scan->root_fd, scan->policy, &hint);
	return hf_fail_hint(err, "%s", hint.data ? hint.data : "");
}

int hf_nearby_look(const struct hf_scan_options *scan, uint64_t minimum,
		   const char *verb, struct hf_error *err)
{
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;
	struct hf_scan_options options = *scan;
	int rc;

	/* One of them may be the policy file. */
	options.enough = (size_t)minimum + 1;
	rc = hf_scan(&options, &tree, NULL, err);
	if (rc < 0)
		return rc;
	return hf_nearby_check(&options, &tree, NULL, minimum, verb, err);
}
