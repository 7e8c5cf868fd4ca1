/* SPDX-License-Identifier: MIT */
/*
 * Take a pattern apart and compare it with a path, component by component.
 *
 * As with the stars of a name, only the last "**" ever has to be tried again.
 */
#include "core/path_glob.h"

#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/glob.h"

struct hf_glob_part {
	enum { PART_LITERAL, PART_GLOB, PART_ANY } kind;
	const char *text;	/* a literal's is unescaped */
	size_t len;
};

/* What is left of a path: from a component's first byte to the end. */
struct rest {
	const char *at;
	const char *end;
};

void hf_path_glob_done(struct hf_path_glob *glob)
{
	const int saved = errno;

	free(glob->text);
	free(glob->anchor);
	free(glob->parts);
	free(glob->bytes);
	*glob = (struct hf_path_glob)HF_PATH_GLOB_INIT;
	errno = saved;
}

bool hf_path_glob_is_literal(const struct hf_path_glob *glob)
{
	return glob->part_count == 0;
}

/* -- taking apart ----------------------------------------------------- */

static int fail(const char *text, const char *what, struct hf_error *err)
{
	return hf_fail(err, HF_ERR_USAGE, "'%s' %s", HF_QUOTE(text), what);
}

/* Up to the next slash that is not escaped, or the end. */
static size_t component_len(const char *text)
{
	size_t len = 0;

	while (text[len] != '\0' && text[len] != '/')
		len += text[len] == '\\' && text[len + 1] != '\0' ? 2 : 1;
	return len;
}

static bool is_name(const struct hf_glob_part *part, const char *name)
{
	return part->kind == PART_LITERAL && part->len == strlen(name) &&
	       memcmp(part->text, name, part->len) == 0;
}

/* NULL, or what is wrong with the component. */
static const char *read_part(struct hf_glob_part *part, const char *text,
			     size_t len, char *bytes)
{
	const char *const fault = hf_glob_check(text, len);

	if (fault)
		return fault;
	if (memchr(text, '/', len))
		return "has an escaped slash";

	*part = (struct hf_glob_part){ PART_GLOB, text, len };
	if (len == 2 && memcmp(text, "**", 2) == 0) {
		part->kind = PART_ANY;
	} else if (hf_glob_is_literal(text, len)) {
		part->kind = PART_LITERAL;
		part->text = bytes;
		part->len = hf_glob_unescape(bytes, text, len);
	} else if (hf_glob_has_double_star(text, len)) {
		return "has '**' as part of a name; it must stand alone";
	}

	if (is_name(part, ".."))
		return "leaves the root ('..' is not allowed)";
	if (part->kind == PART_LITERAL && part->len > HF_NAME_MAX)
		return "has a name that is too long";
	return NULL;
}

/* Every component becomes a part; "." and empty ones are left out. */
static int read_parts(struct hf_path_glob *glob, const char *body,
		      struct hf_error *err)
{
	char *bytes;
	size_t len;

	glob->parts = calloc(strlen(body) / 2 + 1, sizeof(*glob->parts));
	glob->bytes = malloc(strlen(body) + 1);
	if (!glob->parts || !glob->bytes)
		return hf_fail_memory(err);

	bytes = glob->bytes;
	for (;; body += len + 1) {
		struct hf_glob_part *const part =
			&glob->parts[glob->part_count];

		len = component_len(body);
		if (len > 0) {
			const char *const fault =
				read_part(part, body, len, bytes);

			if (fault)
				return fail(glob->text, fault, err);
			bytes += len;
			if (!is_name(part, "."))
				glob->part_count++;
		}
		if (body[len] == '\0')
			break;
		glob->is_tree = body[len + 1] == '\0';
	}
	return 0;
}

static void drop_parts(struct hf_path_glob *glob, size_t count)
{
	glob->part_count -= count;
	memmove(glob->parts, glob->parts + count,
		glob->part_count * sizeof(*glob->parts));
}

/* Cut root off when the pattern begins with it. */
static bool make_relative(struct hf_path_glob *glob, const char *root)
{
	size_t count = 0;

	while (*root == '/') {
		const size_t len = strcspn(root + 1, "/");
		const struct hf_glob_part *const part = &glob->parts[count];

		if (len == 0)
			break;
		if (count == glob->part_count || part->kind != PART_LITERAL ||
		    part->len != len || memcmp(part->text, root + 1, len) != 0)
			return false;
		count++;
		root += len + 1;
	}
	drop_parts(glob, count);
	return true;
}

/* The leading literal parts become the anchor. */
static int set_anchor(struct hf_path_glob *glob, bool is_absolute,
		      struct hf_error *err)
{
	size_t count = 0;
	size_t size = 2;
	char *at;

	while (count < glob->part_count &&
	       glob->parts[count].kind == PART_LITERAL)
		size += glob->parts[count++].len + 1;
	glob->anchor = malloc(size);
	if (!glob->anchor)
		return hf_fail_memory(err);

	at = glob->anchor;
	for (size_t i = 0; i < count; i++) {
		if (is_absolute || i > 0)
			*at++ = '/';
		memcpy(at, glob->parts[i].text, glob->parts[i].len);
		at += glob->parts[i].len;
	}
	*at = '\0';
	glob->anchor_len = (size_t)(at - glob->anchor);
	drop_parts(glob, count);
	return 0;
}

static void note_part(struct hf_path_glob *glob,
		      const struct hf_glob_part *part)
{
	if (part->kind == PART_ANY)
		glob->has_any = true;
	else if (part->kind == PART_LITERAL)
		hf_pairs_add_text(&glob->pairs, part->text, part->len);
	else
		hf_pairs_add_glob(&glob->pairs, part->text, part->len);
}

int hf_path_glob_parse(struct hf_path_glob *glob, const char *text,
		       const char *root, struct hf_error *err)
{
	const char *body;
	bool is_absolute;
	int rc;

	glob->text = strdup(text);
	if (!glob->text)
		return hf_fail_memory(err);

	body = glob->text;
	glob->is_negated = *body == '!';
	body += glob->is_negated;
	if (*body == '\0')
		return fail(text, "is empty", err);
	is_absolute = *body == '/';
	rc = read_parts(glob, body, err);
	if (rc < 0)
		return rc;
	if (is_absolute && root && make_relative(glob, root))
		is_absolute = false;
	if (glob->part_count == 0)
		return fail(text,
			    is_absolute ? "names the whole file system" :
					  "names the root itself; "
					  "'**' is everything in it",
			    err);

	rc = set_anchor(glob, is_absolute, err);
	if (rc < 0)
		return rc;
	if (is_absolute && glob->anchor_len == 0)
		return fail(text, "begins with a wildcard at '/'", err);
	if (glob->anchor_len > 0 && !hf_path_is_plain(glob->anchor))
		return fail(text, "is too long for a path", err);
	for (size_t i = 0; i < glob->part_count; i++)
		note_part(glob, &glob->parts[i]);
	return 0;
}

/* -- comparing -------------------------------------------------------- */

static bool is_empty(const struct rest *rest)
{
	return rest->at == rest->end;
}

static size_t first_len(const struct rest *rest)
{
	const size_t left = (size_t)(rest->end - rest->at);
	const char *const slash = memchr(rest->at, '/', left);

	return slash ? (size_t)(slash - rest->at) : left;
}

static void drop_first(struct rest *rest)
{
	rest->at += first_len(rest);
	if (!is_empty(rest))
		rest->at++;
}

static bool part_matches(const struct hf_glob_part *part,
			 const struct rest *rest)
{
	const size_t len = first_len(rest);

	if (part->kind == PART_LITERAL)
		return part->len == len &&
		       memcmp(part->text, rest->at, len) == 0;
	return hf_glob_match(part->text, part->len, rest->at, len);
}

/* Where "**" stands last it takes one component or more. */
static bool last_any_matches(struct rest rest, bool is_tree, bool is_directory)
{
	if (is_empty(&rest))
		return false;
	drop_first(&rest);
	return !is_tree || is_directory || !is_empty(&rest);
}

/* All of rest; of a tree, the beginning of it is enough. */
static bool parts_match(const struct hf_glob_part *parts, size_t count,
			struct rest rest, bool is_tree, bool is_directory)
{
	struct rest again = { .at = NULL };	/* the last "**" goes on here */
	size_t after = 0;			/* the part behind it */
	size_t i = 0;

	for (;;) {
		if (i == count) {
			if (is_empty(&rest))
				return !is_tree || is_directory;
			if (is_tree)
				return true;
		} else if (parts[i].kind == PART_ANY) {
			if (i + 1 == count)
				return last_any_matches(rest, is_tree,
							is_directory);
			again = rest;
			after = ++i;
			continue;
		} else if (!is_empty(&rest) && part_matches(&parts[i], &rest)) {
			drop_first(&rest);
			i++;
			continue;
		}

		if (!again.at || is_empty(&again))
			return false;
		drop_first(&again);
		rest = again;
		i = after;
	}
}

/* Is there a path beneath the directory rest that matches? */
static bool parts_reach(const struct hf_glob_part *parts, size_t count,
			struct rest rest, bool is_tree)
{
	for (size_t i = 0; i < count; i++) {
		if (is_empty(&rest) || parts[i].kind == PART_ANY)
			return true;
		if (!part_matches(&parts[i], &rest))
			return false;
		drop_first(&rest);
	}
	return is_tree;
}

/*
 * Do the first count parts lead to the skipped directory by naming it?  They do
 * without "**", or when its own name stands behind one.
 */
static bool parts_name(const struct hf_glob_part *parts, size_t count,
		       struct rest skipped)
{
	const struct hf_glob_part *const last = &parts[count - 1];

	if (last->kind == PART_ANY)
		return false;
	for (size_t i = 0; last->kind == PART_GLOB && i < count; i++) {
		if (parts[i].kind == PART_ANY)
			return false;
	}
	return parts_match(parts, count, skipped, false, false);
}

static struct rest behind_anchor(const struct hf_path_glob *glob,
				 const char *path)
{
	struct rest rest = { .at = path + glob->anchor_len };

	if (*rest.at == '/')
		rest.at++;
	rest.end = rest.at + strlen(rest.at);
	return rest;
}

/* What lies in the way, behind the anchor; nothing when it is NULL. */
static struct rest skipped_part(const struct hf_path_glob *glob,
				const char *path, size_t skipped_len)
{
	struct rest skipped = { .at = NULL };

	if (!glob->has_any || glob->is_negated ||
	    skipped_len <= glob->anchor_len)
		return skipped;
	skipped = behind_anchor(glob, path);
	skipped.end = path + skipped_len;
	return skipped;
}

static struct rest behind_skipped(const char *path, size_t skipped_len)
{
	const struct rest rest = { path + skipped_len, path + strlen(path) };

	return (struct rest){ rest.at + !is_empty(&rest), rest.end };
}

bool hf_path_glob_matches(const struct hf_path_glob *glob, const char *path,
			  size_t skipped_len, bool is_directory)
{
	const struct rest rest = behind_anchor(glob, path);
	const struct rest skipped = skipped_part(glob, path, skipped_len);

	if (hf_path_glob_is_literal(glob))
		return is_empty(&rest) || glob->is_tree;
	if (!skipped.at)
		return parts_match(glob->parts, glob->part_count, rest,
				   glob->is_tree, is_directory);

	for (size_t i = 1; i <= glob->part_count; i++) {
		if (parts_name(glob->parts, i, skipped) &&
		    parts_match(glob->parts + i, glob->part_count - i,
				behind_skipped(path, skipped_len),
				glob->is_tree, is_directory))
			return true;
	}
	return false;
}

bool hf_path_glob_reaches(const struct hf_path_glob *glob, const char *path,
			  size_t skipped_len)
{
	const struct rest skipped = skipped_part(glob, path, skipped_len);

	if (!skipped.at)
		return parts_reach(glob->parts, glob->part_count,
				   behind_anchor(glob, path), glob->is_tree);

	for (size_t i = 1; i <= glob->part_count; i++) {
		if (parts_name(glob->parts, i, skipped) &&
		    parts_reach(glob->parts + i, glob->part_count - i,
				behind_skipped(path, skipped_len),
				glob->is_tree))
			return true;
	}
	return false;
}

bool hf_path_glob_covers(const struct hf_path_glob *glob, const char *path)
{
	struct hf_path_glob tree = *glob;

	/* What a last "**" matches is a tree, but for the tree's top. */
	if (!tree.is_tree) {
		if (tree.part_count == 0 ||
		    tree.parts[tree.part_count - 1].kind != PART_ANY)
			return false;
		tree.is_tree = true;
		tree.part_count--;
	}
	return hf_path_glob_matches(&tree, path, 0, true);
}
