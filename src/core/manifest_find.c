/* SPDX-License-Identifier: MIT */
/*
 * Halve the manifest until the first line that is not before the path is known,
 * then read on while lines are of it or beneath it.
 *
 * Offsets are of bytes: a line belongs to the offset of its first byte.  What
 * is looked at lies in one window, which is read anew where a line is not in
 * it.
 */
#include "core/manifest_find.h"

#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/entry_text.h"
#include "core/json.h"
#include "core/sealed.h"
#include "platform/file.h"

/* About 16 lines; doubled where one does not fit. */
#define WINDOW ((size_t)4096)
/* Half of what a look behind a hint brings along. */
#define AROUND ((uint64_t)WINDOW / 4)

struct source {
	const char *data; /* NULL: fd */
	int fd;
	uint64_t size;
	/* Bytes of the file from start on. */
	struct hf_buffer window;
	uint64_t start;
};

struct line {
	const char *text;
	size_t len;
	uint64_t next; /* offset behind its newline */
};

static int fail_lines(struct hf_error *err)
{
	return hf_fail(err, HF_ERR_CORRUPT, "its lines are damaged");
}

/* -- lines ---------------------------------------------------------------- */

static int read_window(struct source *source, uint64_t offset, size_t len,
		       struct hf_error *err)
{
	int64_t count;
	char *room;
	int rc;

	hf_buffer_clear(&source->window);
	room = hf_buffer_reserve(&source->window, len);
	if (!room)
		return hf_fail_memory(err);
	rc = hf_file_seek(source->fd, offset);
	count = rc < 0 ? rc : hf_file_read(source->fd, room, len);
	if (count < 0)
		return hf_fail_system(err, (int)count,
				      "cannot read a manifest");
	source->window.len = (size_t)count;
	source->start = offset;
	return 0;
}

/* Bytes from offset on: some, all that there are in memory. */
static const char *bytes_at(const struct source *source, uint64_t offset,
			    size_t *ret_len)
{
	*ret_len = 0;
	if (source->data) {
		*ret_len = (size_t)(source->size - offset);
		return source->data + offset;
	}
	if (offset < source->start ||
	    offset - source->start >= source->window.len)
		return NULL;
	*ret_len = source->window.len - (size_t)(offset - source->start);
	return source->window.data + (offset - source->start);
}

/* The line that begins at offset, which is not the end. */
static int line_at(struct source *source, uint64_t offset,
		   struct line *ret_line, struct hf_error *err)
{
	for (size_t wanted = WINDOW;; wanted *= 2) {
		size_t len;
		const char *const bytes = bytes_at(source, offset, &len);
		const char *const newline =
			len == 0 ? NULL : memchr(bytes, '\n', len);
		int rc;

		if (newline) {
			ret_line->text = bytes;
			ret_line->len = (size_t)(newline - bytes);
			ret_line->next = offset + ret_line->len + 1;
			return 0;
		}
		if (source->data || wanted > 4 * HF_JSON_LINE_MAX)
			return fail_lines(err);
		rc = read_window(source, offset, wanted, err);
		if (rc < 0)
			return rc;
	}
}

/* Where the line begins that the byte at offset belongs to, not before low. */
static int line_start(struct source *source, uint64_t low, uint64_t offset,
		      uint64_t *ret_start, struct hf_error *err)
{
	for (uint64_t step = WINDOW / 2;; step *= 2) {
		const uint64_t from = offset - low > step ? offset - step : low;
		const size_t span = (size_t)(offset - from);
		size_t len;
		const char *bytes = bytes_at(source, from, &len);
		int rc = 0;

		/* The line itself will be wanted, too. */
		if (len < span && !source->data)
			rc = read_window(source, from, span + WINDOW / 2, err);
		if (rc < 0)
			return rc;
		bytes = bytes_at(source, from, &len);
		if (len < span)
			return fail_lines(err);
		for (size_t i = span; i > 0; i--) {
			if (bytes[i - 1] == '\n') {
				*ret_start = from + i;
				return 0;
			}
		}
		if (from == low) {
			*ret_start = low;
			return 0;
		}
		if (step > 4 * HF_JSON_LINE_MAX)
			return fail_lines(err);
	}
}

/* -- entries -------------------------------------------------------------- */

/* What a line is: of an entry, or before or behind all of them. */
enum place { BEFORE, ENTRY, BEHIND };

static int read_line(const struct line *line, struct hf_json **ret_json,
		     enum place *ret_place, struct hf_error *err)
{
	const hf_json_value *root;
	int rc;

	rc = hf_json_parse_line(line->text, line->len, ret_json, err);
	if (rc < 0)
		return rc;
	root = hf_json_root(*ret_json);
	*ret_place = hf_json_get(root, "path")	    ? ENTRY
		     : hf_json_get(root, "entries") ? BEHIND
						    : BEFORE;
	return 0;
}

/* How the line stands to path: negative before it. */
static int compare(const struct line *line, const char *path, int *ret_order,
		   struct hf_error *err)
{
	cleanup_json struct hf_json *json = NULL;
	cleanup_arena struct hf_arena arena = HF_ARENA_INIT;
	const hf_json_value *root;
	enum place place;
	const char *text;
	int rc;

	rc = read_line(line, &json, &place, err);
	if (rc < 0)
		return rc;
	if (place != ENTRY) {
		*ret_order = place == BEFORE ? -1 : 1;
		return 0;
	}
	root = hf_json_root(json);
	rc = hf_text_decode(hf_json_get(root, "path"),
			    hf_json_get(root, "path_bytes"), &arena, &text);
	if (rc == -ENOMEM)
		return hf_fail_memory(err);
	if (rc < 0)
		return fail_lines(err);
	*ret_order = hf_path_compare(text, path);
	return 0;
}

/* Lines that are before path end at low, others begin at high. */
struct range {
	uint64_t low;
	uint64_t high;
};

/* By the line that the byte at offset belongs to, one of the range. */
static int narrow(struct source *source, const char *path, uint64_t offset,
		  struct range *range, struct hf_error *err)
{
	struct line line;
	uint64_t start = 0;
	int order = 0;
	int rc;

	rc = line_start(source, range->low, offset, &start, err);
	if (rc == 0)
		rc = line_at(source, start, &line, err);
	if (rc == 0)
		rc = compare(&line, path, &order, err);
	if (rc < 0)
		return rc;
	if (order < 0)
		range->low = line.next;
	else
		range->high = start;
	return 0;
}

/* A little before and behind where it stood elsewhere. */
static int narrow_around(struct source *source, const char *path, uint64_t hint,
			 struct range *range, struct hf_error *err)
{
	const uint64_t before = hint > AROUND ? hint - AROUND : 0;
	const uint64_t behind = hint + AROUND;
	int rc = 0;

	if (hint == 0 || hint >= range->high)
		return 0;
	rc = narrow(source, path, before, range, err);
	if (rc == 0 && range->low <= behind && behind < range->high)
		rc = narrow(source, path, behind, range, err);
	return rc;
}

/* The first line that is not before path; the end when there is none. */
static int find_first(struct source *source, const char *path, uint64_t hint,
		      uint64_t *ret_offset, struct hf_error *err)
{
	struct range range = {.low = 0, .high = source->size};
	int rc;

	rc = narrow_around(source, path, hint, &range, err);
	while (rc == 0 && range.low < range.high)
		rc = narrow(source, path,
			    range.low + (range.high - range.low) / 2, &range,
			    err);
	if (rc == 0)
		*ret_offset = range.low;
	return rc;
}

/* Add the line's entry if it is meant; 1, or 0 when it is behind all that are.
 */
static int add_entry(const struct line *line, const char *path,
		     struct hf_tree *tree, struct hf_error *err)
{
	cleanup_json struct hf_json *json = NULL;
	const struct hf_entry *entry;
	enum place place;
	int rc;

	rc = read_line(line, &json, &place, err);
	if (rc < 0 || place != ENTRY)
		return rc;
	rc = hf_entry_decode(hf_json_root(json), tree, err);
	if (rc < 0)
		return rc;
	entry = &tree->entries[tree->count - 1];
	if (strcmp(entry->path, path) == 0 ||
	    hf_path_is_beneath(entry->path, path))
		return 1;
	tree->count--;
	return 0;
}

static int find(struct source *source, const char *path, uint64_t *hint,
		struct hf_tree *tree, struct hf_error *err)
{
	struct line line;
	uint64_t offset = 0;
	int rc;

	rc = find_first(source, path, *hint, &offset, err);
	if (rc < 0)
		return rc;
	*hint = offset;
	while (offset < source->size) {
		rc = line_at(source, offset, &line, err);
		if (rc < 0)
			return rc;
		rc = add_entry(&line, path, tree, err);
		if (rc <= 0)
			return rc;
		offset = line.next;
	}
	return 0;
}

int hf_manifest_find(const char *data, size_t len, const char *path,
		     struct hf_tree *tree, struct hf_error *err)
{
	struct source source = {.data = data, .fd = -1, .size = len};
	uint64_t hint = 0;

	return find(&source, path, &hint, tree, err);
}

static void source_done(struct source *source)
{
	hf_buffer_done(&source->window);
}

int hf_manifest_find_in(int fd, const char *path, uint64_t *hint,
			struct hf_tree *tree, struct hf_error *err)
{
	CLEANUP(source_done)
	struct source source = {.fd = fd, .window = HF_BUFFER_INIT};
	struct hf_stat stat;
	const int rc = hf_file_stat(fd, &stat);

	if (rc < 0)
		return hf_fail_system(err, rc, "cannot read a manifest");
	source.size = stat.size;
	return find(&source, path, hint, tree, err);
}

/* -- all of it ------------------------------------------------------------- */

/* Behind the first key of that name in the line; within a string every
 * quotation mark is escaped, so that what looks like a key is one. */
static const char *find_key(const char *line, size_t len, const char *key)
{
	const char *const end = line + len;
	const size_t key_len = strlen(key);

	while ((size_t)(end - line) >= key_len) {
		line = memchr(line, key[0], (size_t)(end - line));
		if (!line || (size_t)(end - line) < key_len)
			return NULL;
		if (memcmp(line, key, key_len) == 0)
			return line + key_len;
		line++;
	}
	return NULL;
}

void hf_manifest_measure(const char *data, size_t len, size_t *ret_entries,
			 uint64_t *ret_bytes)
{
	struct hf_lines lines = {.next = data, .end = data + len};
	uint64_t bytes = 0;
	size_t entries = 0;
	const char *line;
	size_t line_len;

	while (hf_lines_next(&lines, &line, &line_len)) {
		const char *const size = find_key(line, line_len, "\"size\":");
		uint64_t value;

		/* One of more than 2^53 bytes is in quotes, and passed over. */
		if (size && hf_parse_u64(size, strspn(size, "0123456789"), 10,
					 &value) == 0)
			bytes += value;
		entries += find_key(line, line_len, "\"path\":") &&
			   !find_key(line, line_len, "\"role\":\"ancestor\"");
	}
	*ret_entries = entries;
	*ret_bytes = bytes;
}
