/* SPDX-License-Identifier: MIT */
/* Write a snapshot as text and read it again, whole or not at all. */
#include "core/manifest.h"

#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/sealed.h"
#include "platform/system.h"

#define COUNTED	   "entries"
/* About 1,000 entries: less is not worth a thread. */
#define MANY_BYTES ((size_t)256 << 10)

/* -- writing -------------------------------------------------------------- */

static void encode_header(const struct hf_manifest *manifest,
			  struct hf_buffer *out)
{
	hf_buffer_printf(out, "{\"holdfast-manifest\":%d,\"name\":\"%s\",",
			 HF_MANIFEST_VERSION, manifest->name.text);
	hf_text_encode("root", manifest->root, out);
	hf_buffer_add_text(out, ",\"created\":\"");
	hf_time_encode(manifest->created_ns, out);
	hf_buffer_add_text(out, "\",\"hash\":\"" HF_HASH_NAME "\"}\n");
}

static void encode_patterns(const char *patterns, struct hf_buffer *out)
{
	while (*patterns != '\0') {
		const size_t len = strcspn(patterns, "\n");

		hf_buffer_add_text(out, "{\"protect\":");
		hf_buffer_add_json(out, patterns, len);
		hf_buffer_add_text(out, "}\n");
		patterns += len;
		patterns += *patterns == '\n' ? 1 : 0;
	}
}

int hf_manifest_encode(const struct hf_manifest *manifest,
		       struct hf_buffer *out, struct hf_error *err)
{
	const struct hf_tree *const tree = &manifest->tree;

	if (tree->count > HF_MANIFEST_ENTRIES_MAX)
		return hf_fail(err, HF_ERR_LIMIT,
			       "cannot record more than %zu entries",
			       HF_MANIFEST_ENTRIES_MAX);

	encode_header(manifest, out);
	encode_patterns(manifest->patterns ? manifest->patterns : "", out);
	for (size_t i = 0; i < tree->count; i++) {
		const size_t start = out->len;

		hf_entry_encode(&tree->entries[i], out);
		if (out->len - start > HF_JSON_LINE_MAX)
			return hf_fail(err, HF_ERR_LIMIT,
				       "cannot record '%s': its extended "
				       "attributes are too large",
				       HF_QUOTE(tree->entries[i].path));
		hf_buffer_add(out, "\n", 1);
	}
	hf_sealed_end(out, COUNTED, tree->count);
	if (out->len > HF_MANIFEST_SIZE_MAX)
		return hf_fail(err, HF_ERR_LIMIT,
			       "cannot record more than %zu bytes of entries",
			       HF_MANIFEST_SIZE_MAX);
	return hf_buffer_check(out, err);
}

/* -- reading -------------------------------------------------------------- */

/* Put what is being read before the reason. */
static int fail_label(const char *label, struct hf_error *err)
{
	const struct hf_error cause = *err;

	if (cause.code != HF_ERR_CORRUPT)
		return cause.code;
	return hf_fail(err, HF_ERR_CORRUPT, "cannot read '%s': %s",
		       HF_QUOTE(label), cause.text);
}

/* A copy of a text member that is to free(). */
static int copy_text(const hf_json_value *object, const char *key,
		     const char *bytes_key, char **ret_text)
{
	cleanup_arena struct hf_arena arena = HF_ARENA_INIT;
	const char *text;
	char *copy;
	int rc;

	rc = hf_text_decode(hf_json_get(object, key),
			    hf_json_get(object, bytes_key), &arena, &text);
	if (rc < 0)
		return rc;
	copy = malloc(strlen(text) + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, text, strlen(text) + 1);
	*ret_text = copy;
	return 0;
}

static int decode_header(const hf_json_value *header,
			 struct hf_manifest *manifest, struct hf_error *err)
{
	const char *const name = hf_json_string(hf_json_get(header, "name"));
	const char *const hash = hf_json_string(hf_json_get(header, "hash"));
	const char *const created =
		hf_json_string(hf_json_get(header, "created"));
	uint64_t version;
	int rc;

	if (!hf_json_number(hf_json_get(header, "holdfast-manifest"), &version))
		return hf_fail(err, HF_ERR_CORRUPT, "it is no manifest");
	if (version != HF_MANIFEST_VERSION)
		return hf_fail(err, HF_ERR_UNSUPPORTED,
			       "the manifest has version %llu, known is %d",
			       (unsigned long long)version,
			       HF_MANIFEST_VERSION);
	if (!hash || strcmp(hash, HF_HASH_NAME) != 0)
		return hf_fail(
			err, HF_ERR_UNSUPPORTED,
			"the manifest has another hash than " HF_HASH_NAME);
	if (!name || !hf_name_parse(name, &manifest->name))
		return hf_fail(err, HF_ERR_CORRUPT, "its name is wrong");
	if (!created || hf_time_decode(created, &manifest->created_ns) < 0)
		return hf_fail(err, HF_ERR_CORRUPT, "its time is wrong");
	rc = copy_text(header, "root", "root_bytes", &manifest->root);
	if (rc == -ENOMEM)
		return hf_fail_memory(err);
	if (rc < 0 || !hf_path_is_absolute(manifest->root))
		return hf_fail(err, HF_ERR_CORRUPT, "its root is wrong");
	return 0;
}

/* What is gathered while lines are read: all of them, or half. */
struct reader {
	struct hf_manifest *manifest; /* for the header */
	struct hf_lines lines;
	struct hf_buffer patterns;
	struct hf_tree tree;
	bool has_header;
	struct hf_error err;
	int rc;
};

#define cleanup_reader CLEANUP(reader_done)

static void reader_done(struct reader *reader)
{
	hf_buffer_done(&reader->patterns);
	hf_tree_done(&reader->tree);
}

static int decode_line(struct reader *reader, const char *line, size_t len,
		       struct hf_error *err)
{
	static const char protect[] = "{\"protect\":";
	cleanup_json struct hf_json *json = NULL;
	const hf_json_value *root;
	const char *pattern;
	int rc;

	rc = hf_json_parse_line(line, len, &json, err);
	if (rc < 0)
		return rc;
	root = hf_json_root(json);
	if (!reader->has_header) {
		reader->has_header = true;
		return decode_header(root, reader->manifest, err);
	}
	if (len < sizeof(protect) ||
	    memcmp(line, protect, sizeof(protect) - 1) != 0)
		return hf_entry_decode(root, &reader->tree, err);

	pattern = hf_json_string(hf_json_get(root, "protect"));
	if (!pattern || strchr(pattern, '\n'))
		return hf_fail(err, HF_ERR_CORRUPT, "a pattern is wrong");
	hf_buffer_printf(&reader->patterns, "%s\n", pattern);
	return 0;
}

static int check_contents(const struct hf_tree *tree, struct hf_error *err)
{
	for (size_t i = 0; i < tree->count; i++) {
		const struct hf_entry *const entry = &tree->entries[i];

		if (entry->stat.kind == HF_KIND_FILE &&
		    entry->role != HF_ROLE_SIDE_CACHE &&
		    (!entry->has_hash || entry->location.pack == 0))
			return hf_fail(err, HF_ERR_CORRUPT,
				       "entry '%s': it has no content",
				       HF_QUOTE(entry->path));
	}
	return 0;
}

static int decode_lines(struct reader *reader, struct hf_error *err)
{
	const char *line;
	size_t len;
	int rc;

	while (hf_lines_next(&reader->lines, &line, &len)) {
		if (reader->tree.count > HF_MANIFEST_ENTRIES_MAX)
			return hf_fail(err, HF_ERR_CORRUPT,
				       "it has too many entries");
		rc = decode_line(reader, line, len, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static void decode_in_thread(void *argument)
{
	struct reader *const reader = argument;

	reader->rc = decode_lines(reader, &reader->err);
}

/* The second half of the lines, taken off. */
static struct hf_lines take_half(struct hf_lines *lines)
{
	const size_t half = (size_t)(lines->end - lines->next) / 2;
	const char *const middle = lines->next + half;
	const char *const newline =
		memchr(middle, '\n', (size_t)(lines->end - middle));
	const struct hf_lines rest = {
		.next = newline ? newline + 1 : lines->end,
		.end = lines->end,
	};

	lines->end = rest.next;
	return rest;
}

static int append(struct reader *reader, struct reader *rest,
		  struct hf_error *err)
{
	if (rest->rc < 0) {
		*err = rest->err;
		return rest->rc;
	}
	hf_buffer_add(&reader->patterns, rest->patterns.data,
		      rest->patterns.len);
	if (hf_tree_adopt(&reader->tree, &rest->tree) < 0)
		return hf_fail_memory(err);
	return 0;
}

/* A manifest of 100,000 entries is read at the start of every run: by two. */
static int decode_halves(struct reader *reader, struct hf_error *err)
{
	cleanup_reader struct reader rest = {
		.manifest = reader->manifest,
		.lines = take_half(&reader->lines),
		.has_header = true,
	};
	struct hf_thread *thread;
	int rc;

	if (hf_thread_start(decode_in_thread, &rest, &thread) < 0)
		thread = NULL;
	rc = decode_lines(reader, err);
	if (thread)
		hf_thread_join(&thread);
	else if (rc == 0)
		decode_in_thread(&rest);
	return rc < 0 ? rc : append(reader, &rest, err);
}

static int check_tree(struct reader *reader, size_t count, struct hf_error *err)
{
	int rc;

	if (!reader->has_header || reader->tree.count != count)
		return hf_fail(err, HF_ERR_CORRUPT,
			       "it has another number of entries than it says");
	rc = check_contents(&reader->tree, err);
	if (rc < 0)
		return rc;
	return hf_tree_sort(&reader->tree, err);
}

int hf_manifest_decode(const char *label, const char *data, size_t len,
		       struct hf_manifest *ret_manifest, struct hf_error *err)
{
	cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;
	cleanup_reader struct reader reader = {.manifest = &manifest};
	size_t count;
	int rc;

	rc = hf_sealed_check(label, data, len, COUNTED, &reader.lines, &count,
			     err);
	if (rc < 0)
		return rc;
	if (len > MANY_BYTES && hf_system_cpus() > 1)
		rc = decode_halves(&reader, err);
	else
		rc = decode_lines(&reader, err);
	if (rc == 0)
		rc = check_tree(&reader, count, err);
	if (rc < 0)
		return fail_label(label, err);
	manifest.patterns = hf_buffer_take(&reader.patterns);
	if (!manifest.patterns)
		return hf_fail_memory(err);

	*ret_manifest = manifest;
	ret_manifest->tree = reader.tree;
	manifest = (struct hf_manifest)HF_MANIFEST_INIT;
	reader.tree = (struct hf_tree)HF_TREE_INIT;
	return 0;
}

int hf_manifest_check(const char *label, const char *data, size_t len,
		      struct hf_name *ret_name, struct hf_error *err)
{
	cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;
	cleanup_json struct hf_json *json = NULL;
	struct hf_lines lines;
	const char *line;
	size_t line_len;
	size_t count;
	int rc;

	rc = hf_sealed_check(label, data, len, COUNTED, &lines, &count, err);
	if (rc < 0)
		return rc;
	if (!hf_lines_next(&lines, &line, &line_len))
		rc = hf_fail(err, HF_ERR_CORRUPT, "it is no manifest");
	if (rc == 0)
		rc = hf_json_parse_line(line, line_len, &json, err);
	if (rc == 0)
		rc = decode_header(hf_json_root(json), &manifest, err);
	if (rc < 0)
		return fail_label(label, err);
	*ret_name = manifest.name;
	return 0;
}

void hf_manifest_done(struct hf_manifest *manifest)
{
	hf_free_pointee(&manifest->root);
	hf_free_pointee(&manifest->patterns);
	hf_tree_done(&manifest->tree);
}
