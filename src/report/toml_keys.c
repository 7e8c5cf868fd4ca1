/* SPDX-License-Identifier: MIT */
/*
 * Find the keys of a TOML text and where their values begin and end.
 *
 * What a value is does not matter here, so that only what could hide its end is
 * understood: strings, brackets, comments.  A table header says what stands in
 * front of the names that follow; an element of an array of tables counts from
 * 0.
 */
#include "report/toml_keys.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"

#define DEPTH_MAX  64	/* of brackets in a value */
#define ARRAYS_MAX 1024 /* of tables, by name */

struct key {
	const char *name;
	const char *value;
	size_t value_len;
};

/* How many elements an array of tables has so far. */
struct array {
	const char *name;
	size_t count;
};

struct reader {
	const char *at;
	const char *end;
	struct hf_arena *arena;
	struct hf_buffer table; /* name of the table that is filled */
	struct hf_buffer name;
	struct key *keys;
	size_t count;
	size_t capacity;
	struct array *arrays;
	size_t array_count;
	bool is_out_of_memory;
};

static void reader_done(struct reader *reader)
{
	hf_buffer_done(&reader->table);
	hf_buffer_done(&reader->name);
	hf_free_pointee(&reader->keys);
	hf_free_pointee(&reader->arrays);
}

/* -- characters --------------------------------------------------------------
 */

static bool is_at(const struct reader *reader, const char *text)
{
	const size_t len = strlen(text);

	return (size_t)(reader->end - reader->at) >= len &&
	       memcmp(reader->at, text, len) == 0;
}

static bool take(struct reader *reader, const char *text)
{
	if (!is_at(reader, text))
		return false;
	reader->at += strlen(text);
	return true;
}

static void skip_blanks(struct reader *reader)
{
	while (reader->at < reader->end &&
	       (*reader->at == ' ' || *reader->at == '\t'))
		reader->at++;
}

static void skip_line(struct reader *reader)
{
	while (reader->at < reader->end && *reader->at != '\n')
		reader->at++;
}

/* Blanks and a comment; is nothing else there before the end of the line? */
static bool end_line(struct reader *reader)
{
	skip_blanks(reader);
	if (is_at(reader, "#"))
		skip_line(reader);
	if (take(reader, "\r\n") || take(reader, "\n"))
		return true;
	return reader->at == reader->end;
}

/* -- strings ------------------------------------------------------------------
 */

/* Up to behind the closing quotes. */
static bool skip_string(struct reader *reader)
{
	const char quote = *reader->at;
	const char one[] = {quote, '\0'};
	const char three[] = {quote, quote, quote, '\0'};
	const bool is_long = take(reader, three);

	if (!is_long)
		reader->at++;
	while (reader->at < reader->end) {
		if (quote == '"' && *reader->at == '\\' &&
		    reader->end - reader->at > 1) {
			reader->at += 2;
			continue;
		}
		if (!is_long && *reader->at == '\n')
			return false;
		if (take(reader, is_long ? three : one)) {
			/* Two more may stand in front of the closing three. */
			for (int i = 0; is_long && i < 2; i++)
				(void)take(reader, one);
			return true;
		}
		reader->at++;
	}
	return false;
}

/* -- values -------------------------------------------------------------------
 */

/* Up to behind the bracket that closes the first one. */
static bool skip_brackets(struct reader *reader)
{
	char closing[DEPTH_MAX];
	size_t depth = 0;

	while (reader->at < reader->end) {
		const char c = *reader->at;

		if (c == '"' || c == '\'') {
			if (!skip_string(reader))
				return false;
			continue;
		}
		if (c == '#') {
			skip_line(reader);
			continue;
		}
		reader->at++;
		if (c == '[' || c == '{') {
			if (depth == DEPTH_MAX)
				return false;
			closing[depth++] = c == '[' ? ']' : '}';
		} else if (c == ']' || c == '}') {
			if (closing[--depth] != c)
				return false;
			if (depth == 0)
				return true;
		}
	}
	return false;
}

static bool skip_plain(struct reader *reader)
{
	const char *const begin = reader->at;

	while (reader->at < reader->end && *reader->at != '\n' &&
	       *reader->at != '#')
		reader->at++;
	while (reader->at > begin && strchr(" \t\r", reader->at[-1]) != NULL)
		reader->at--;
	return reader->at > begin;
}

static bool skip_value(struct reader *reader)
{
	if (reader->at == reader->end)
		return false;
	if (*reader->at == '"' || *reader->at == '\'')
		return skip_string(reader);
	if (*reader->at == '[' || *reader->at == '{')
		return skip_brackets(reader);
	return skip_plain(reader);
}

/* -- names --------------------------------------------------------------------
 */

static bool is_bare(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '-' ||
	       (unsigned char)c >= 0x80;
}

/* One part of a dotted name, appended. */
static bool read_part(struct reader *reader, struct hf_buffer *name)
{
	const char *const begin = reader->at;

	if (reader->at == reader->end)
		return false;
	if (*reader->at == '"' || *reader->at == '\'') {
		if (!skip_string(reader))
			return false;
	} else {
		while (reader->at < reader->end && is_bare(*reader->at))
			reader->at++;
	}
	hf_buffer_add(name, begin, (size_t)(reader->at - begin));
	return reader->at > begin && name->data != NULL;
}

static struct array *find_array(const struct reader *reader, const char *name)
{
	for (size_t i = 0; i < reader->array_count; i++)
		if (strcmp(reader->arrays[i].name, name) == 0)
			return &reader->arrays[i];
	return NULL;
}

/* A dotted name; of the parts that are arrays of tables, the last element is
 * meant, but not of the last part. */
static bool read_name(struct reader *reader, struct hf_buffer *name)
{
	for (;;) {
		const struct array *array;

		skip_blanks(reader);
		if (!read_part(reader, name))
			return false;
		skip_blanks(reader);
		if (!take(reader, "."))
			return true;
		array = find_array(reader, name->data);
		if (array != NULL)
			hf_buffer_printf(name, "[%zu]", array->count - 1);
		hf_buffer_add_text(name, ".");
	}
}

static const char *keep_name(struct reader *reader,
			     const struct hf_buffer *name)
{
	const char *const copy =
		name->is_failed
			? NULL
			: hf_arena_copy(reader->arena, name->data, name->len);

	reader->is_out_of_memory |= copy == NULL;
	return copy;
}

/* -- lines --------------------------------------------------------------------
 */

static bool count_element(struct reader *reader, struct hf_buffer *name)
{
	struct array *array = find_array(reader, name->data);

	if (array == NULL) {
		if (reader->array_count == ARRAYS_MAX)
			return false;
		if (reader->arrays == NULL)
			reader->arrays =
				calloc(ARRAYS_MAX, sizeof(*reader->arrays));
		reader->is_out_of_memory |= reader->arrays == NULL;
		if (reader->arrays == NULL)
			return false;
		array = &reader->arrays[reader->array_count];
		array->name = keep_name(reader, name);
		if (array->name == NULL)
			return false;
		reader->array_count++;
	}
	hf_buffer_printf(name, "[%zu]", array->count++);
	return true;
}

static bool read_header(struct reader *reader)
{
	const bool is_array = take(reader, "[[");

	if (!is_array && !take(reader, "["))
		return false;
	hf_buffer_clear(&reader->table);
	if (!read_name(reader, &reader->table) ||
	    !take(reader, is_array ? "]]" : "]"))
		return false;
	return !is_array || count_element(reader, &reader->table);
}

static struct key *add_key(struct reader *reader)
{
	if (reader->count == reader->capacity) {
		const size_t wanted = 2 * reader->capacity + 64;
		struct key *const keys =
			realloc(reader->keys, wanted * sizeof(*keys));

		reader->is_out_of_memory |= keys == NULL;
		if (keys == NULL)
			return NULL;
		reader->keys = keys;
		reader->capacity = wanted;
	}
	return &reader->keys[reader->count++];
}

static bool read_key(struct reader *reader)
{
	struct key key;
	struct key *place;

	hf_buffer_clear(&reader->name);
	hf_buffer_add(&reader->name, reader->table.data, reader->table.len);
	if (reader->table.len > 0)
		hf_buffer_add_text(&reader->name, ".");
	if (!read_name(reader, &reader->name) || !take(reader, "="))
		return false;
	skip_blanks(reader);
	key.name = keep_name(reader, &reader->name);
	key.value = reader->at;
	if (key.name == NULL || reader->count == HF_TOML_KEYS_MAX ||
	    !skip_value(reader))
		return false;
	key.value_len = (size_t)(reader->at - key.value);
	place = add_key(reader);
	if (place == NULL)
		return false;
	*place = key;
	return true;
}

static int compare_keys(const void *a, const void *b)
{
	return strcmp(((const struct key *)a)->name,
		      ((const struct key *)b)->name);
}

/* 1, 0 when it is no TOML, -ENOMEM. */
static int read_all(struct reader *reader)
{
	bool is_right = true;

	while (is_right && reader->at < reader->end) {
		skip_blanks(reader);
		if (reader->at < reader->end &&
		    strchr("\r\n#", *reader->at) == NULL)
			is_right = is_at(reader, "[") ? read_header(reader)
						      : read_key(reader);
		is_right = is_right && end_line(reader);
	}
	if (reader->is_out_of_memory || reader->table.is_failed ||
	    reader->name.is_failed)
		return -ENOMEM;
	if (reader->count > 1)
		qsort(reader->keys, reader->count, sizeof(*reader->keys),
		      compare_keys);
	return is_right ? 1 : 0;
}

/* -- comparing ----------------------------------------------------------------
 */

static void add_change(struct hf_toml_changes *changes,
		       enum hf_toml_change_kind kind, const struct key *key)
{
	changes->items[changes->count++] = (struct hf_toml_change){
		.kind = kind,
		.name = key->name,
	};
}

static bool is_same(const struct key *a, const struct key *b)
{
	return a->value_len == b->value_len &&
	       memcmp(a->value, b->value, a->value_len) == 0;
}

static int compare(const struct reader *before, const struct reader *after,
		   struct hf_toml_changes *changes)
{
	size_t b = 0;
	size_t a = 0;

	changes->items = calloc(before->count + after->count + 1,
				sizeof(*changes->items));
	if (changes->items == NULL)
		return -ENOMEM;
	while (b < before->count || a < after->count) {
		const int order = b == before->count ? 1
				  : a == after->count
					  ? -1
					  : compare_keys(&before->keys[b],
							 &after->keys[a]);

		if (order == 0 && !is_same(&before->keys[b], &after->keys[a]))
			add_change(changes, HF_TOML_CHANGED, &after->keys[a]);
		else if (order < 0)
			add_change(changes, HF_TOML_REMOVED, &before->keys[b]);
		else if (order > 0)
			add_change(changes, HF_TOML_ADDED, &after->keys[a]);
		b += order <= 0;
		a += order >= 0;
	}
	return 1;
}

void hf_toml_changes_done(struct hf_toml_changes *changes)
{
	hf_free_pointee(&changes->items);
	hf_arena_done(&changes->arena);
}

int hf_toml_compare(const char *before, size_t before_len, const char *after,
		    size_t after_len, struct hf_toml_changes *ret_changes)
{
	cleanup_toml_changes struct hf_toml_changes changes =
		HF_TOML_CHANGES_INIT;
	CLEANUP(reader_done)
	struct reader old = {
		.at = before,
		.end = before + before_len,
		.arena = &changes.arena,
	};
	CLEANUP(reader_done)
	struct reader new = {
		.at = after,
		.end = after + after_len,
		.arena = &changes.arena,
	};
	int rc;

	if (before_len > HF_TOML_SIZE_MAX || after_len > HF_TOML_SIZE_MAX)
		return 0;
	rc = read_all(&old);
	if (rc == 1)
		rc = read_all(&new);
	if (rc == 1)
		rc = compare(&old, &new, &changes);
	if (rc != 1)
		return rc;
	*ret_changes = changes;
	changes = (struct hf_toml_changes)HF_TOML_CHANGES_INIT;
	return 1;
}
