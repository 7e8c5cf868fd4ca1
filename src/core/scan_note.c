/* SPDX-License-Identifier: MIT */
/* Links that lead out of the protected set, or stand on the way into it. */
#include "core/scan_note.h"

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/pattern.h"
#include "core/scan.h"
#include "core/scan_entry.h"

/* As many as the system follows. */
#define LINKS_MAX 40

/* 1 or 0, or -errno. */
static int is_link(const struct hf_scan_options *options, const char *path)
{
	cleanup_fd int fd = -1;
	struct hf_stat stat;
	const char *name;
	int rc;

	fd = hf_scan_open_parent(options->root_fd, path, &name);
	if (fd < 0)
		return fd;
	rc = hf_file_stat_at(fd, name, &stat);
	return rc < 0 ? rc : stat.kind == HF_KIND_LINK;
}

/*
 * The first component of path that is a link, into prefix.  1, or 0 when there
 * is none as far as path exists, or -errno.
 */
static int find_link(const struct hf_scan_options *options, const char *path,
		     char prefix[HF_PATH_MAX])
{
	const char *slash;

	for (slash = strchr(path + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		const size_t len = (size_t)(slash - path);
		int rc;

		memcpy(prefix, path, len);
		prefix[len] = '\0';
		rc = is_link(options, prefix);
		if (hf_scan_is_absence(rc))
			return 0;
		if (rc != 0)
			return rc;
	}
	return 0;
}

/* path with the link at its beginning replaced by its text; NULL when it cannot
 * be read or there is no memory. */
static char *replace_link(const struct hf_scan_options *options,
			  const char *path, const char *link)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	cleanup_free char *joined = NULL;
	cleanup_fd int fd = -1;
	const char *name;

	fd = hf_scan_open_parent(options->root_fd, link, &name);
	if (fd < 0 || hf_file_read_link_at(fd, name, &text) < 0)
		return NULL;
	if (!hf_path_is_absolute(text.data)) {
		cleanup_buffer struct hf_buffer relative = text;

		text = (struct hf_buffer)HF_BUFFER_INIT;
		hf_buffer_add(&text, link, hf_path_parent_len(link));
		hf_buffer_printf(&text, "/%s", relative.data);
	}
	hf_buffer_printf(&text, "%s", path + strlen(link));
	joined = hf_buffer_take(&text);
	return joined ? hf_path_normalize(joined) : NULL;
}

bool hf_scan_is_swapped(const struct hf_scan_options *options,
			const char *path)
{
	cleanup_free char *rest = NULL;
	char prefix[HF_PATH_MAX];

	if (!options->is_tolerant || !options->before ||
	    !hf_path_is_absolute(path))
		return false;
	for (int links = 0; links < LINKS_MAX; links++) {
		const struct hf_entry *before;
		char *next;

		if (find_link(options, rest ? rest : path, prefix) <= 0)
			return false;
		before = hf_tree_find(options->before, prefix);
		if (before && before->stat.kind == HF_KIND_DIRECTORY)
			return true;
		next = replace_link(options, rest ? rest : path, prefix);
		hf_free_pointee(&rest);
		rest = next;
		if (!rest)
			return false;
	}
	return true;
}

int hf_scan_is_behind_link(const struct hf_scan_options *options,
			   const char *path, struct hf_buffer *notes,
			   struct hf_error *err)
{
	cleanup_fd int fd = -1;
	char prefix[HF_PATH_MAX];
	const char *name;
	int rc;

	fd = hf_scan_open_parent(options->root_fd, path, &name);
	if (fd >= 0 || fd == -ENOENT)
		return 0;
	rc = hf_scan_is_absence(fd) ? find_link(options, path, prefix) : fd;
	if (rc < 0 && options->is_tolerant && hf_scan_is_tolerable(rc))
		return 0;
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot look at '%s'",
				      HF_QUOTE(path));
	if (rc > 0 && notes)
		hf_buffer_printf(notes,
				 "'%s' lies behind the link '%s' and is not "
				 "protected; name its target\n",
				 HF_QUOTE(path), HF_QUOTE(prefix));
	return rc;
}

/* Those are noted one by one, see hf_scan_is_behind_link(). */
static bool has_literal_beneath(const struct hf_patterns *patterns,
				const char *path)
{
	size_t position = 0;
	const char *literal;
	const char *rule;

	while (hf_patterns_literal(patterns, &position, &literal, &rule)) {
		if (hf_path_is_beneath(literal, path))
			return true;
	}
	return false;
}

/*
 * Do patterns spell out this name?  Then they reach beneath it, but not beneath a
 * name that nobody would write down.  A wildcard is not meant for each link.
 */
static bool is_spelled_out(const struct hf_patterns *patterns, const char *path)
{
	const char *const name = hf_path_name(path);
	char other[HF_PATH_MAX];
	const int len = snprintf(other, sizeof(other), "%.*s\001",
				 (int)(name - path), path);

	return len > 0 && (size_t)len < sizeof(other) &&
	       hf_patterns_reach_beneath(patterns, path, true) &&
	       !hf_patterns_reach_beneath(patterns, other, true);
}

void hf_scan_note_closed_link(const struct hf_patterns *patterns,
			      const char *root, const char *path,
			      struct hf_buffer *notes)
{
	cleanup_free char *absolute = NULL;
	struct hf_stat target;

	if (!is_spelled_out(patterns, path) ||
	    has_literal_beneath(patterns, path))
		return;
	absolute = hf_path_is_absolute(path) ? strdup(path) :
					       hf_path_join(root, path);
	if (!absolute || hf_file_stat_path(absolute, &target) < 0 ||
	    target.kind != HF_KIND_DIRECTORY)
		return;
	hf_buffer_printf(notes,
			 "'%s' is a link: what patterns name behind it is not "
			 "protected; name its target\n",
			 HF_QUOTE(path));
}

static bool is_in_set(const struct hf_tree *tree, const char *path)
{
	const struct hf_entry *const entry = hf_tree_find(tree, path);

	return entry && entry->role != HF_ROLE_ANCESTOR;
}

/* Where the text of the link at path points, by its letters; NULL with errno */
static char *target_by_letters(const char *root, const char *path,
			       const char *text)
{
	cleanup_free char *here = NULL;
	cleanup_free char *joined = NULL;

	if (hf_path_is_absolute(text))
		return hf_path_normalize(text);
	here = hf_path_is_absolute(path) ? hf_path_join("/", path + 1) :
					   hf_path_join(root, path);
	if (!here)
		return NULL;
	here[hf_path_parent_len(here)] = '\0';
	joined = hf_path_join(here, text);
	return joined ? hf_path_normalize(joined) : NULL;
}

/* Where the link at path ends in the end; NULL when that is nowhere. */
static char *target_by_system(const char *root, const char *path)
{
	cleanup_free char *here = NULL;

	if (hf_path_is_absolute(path))
		return hf_file_canonical(path);
	here = hf_path_join(root, path);
	return here ? hf_file_canonical(here) : NULL;
}

static int note_link(const struct hf_scan_options *options,
		     const struct hf_tree *tree, const struct hf_entry *entry,
		     struct hf_buffer *notes, struct hf_error *err)
{
	cleanup_free char *target = NULL;
	cleanup_free char *end = NULL;
	const char *shown = entry->link;

	target = target_by_letters(options->root, entry->path, entry->link);
	if (!target && errno == ENOMEM)
		return hf_fail_memory(err);
	if (target) {
		shown = hf_scan_entry_path(options->root, target);
		if (is_in_set(tree, shown))
			return 0;
	}
	end = target_by_system(options->root, entry->path);
	if (end && is_in_set(tree, hf_scan_entry_path(options->root, end)))
		return 0;
	hf_buffer_printf(notes,
			 "the link '%s' is protected, its target '%s' is not\n",
			 HF_QUOTE(entry->path), HF_QUOTE(shown));
	return 0;
}

int hf_scan_note_links(const struct hf_scan_options *options,
		       const struct hf_tree *tree, struct hf_buffer *notes,
		       struct hf_error *err)
{
	for (size_t i = 0; i < tree->count; i++) {
		const struct hf_entry *const entry = &tree->entries[i];
		int rc;

		if (entry->stat.kind != HF_KIND_LINK ||
		    entry->role != HF_ROLE_PROTECTED)
			continue;
		rc = note_link(options, tree, entry, notes, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}
