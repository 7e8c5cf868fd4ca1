/* SPDX-License-Identifier: MIT */
/*
 * Values by cJSON, grammar and positions by core/json_text.
 */
#include "core/json.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "core/json_text.h"

struct hf_json {
	cJSON *root;
	char *name;		/* of a document; NULL for a line */
	char *text;		/* of a document, comments included */
	size_t len;
};

void hf_json_free(struct hf_json **json)
{
	const int saved = errno;

	if (*json) {
		cJSON_Delete((*json)->root);
		free((*json)->name);
		free((*json)->text);
		free(*json);
	}
	*json = NULL;
	errno = saved;
}

/* The text has passed hf_json_text_check(): only memory can be missing. */
static int build(const char *text, size_t len, struct hf_json *json,
		 struct hf_error *err)
{
	json->root = cJSON_ParseWithLength(text, len);
	return json->root ? 0 : hf_fail_memory(err);
}

/* -- a line ----------------------------------------------------------- */

int hf_json_parse_line(const char *text, size_t len, struct hf_json **ret_json,
		       struct hf_error *err)
{
	cleanup_json struct hf_json *json = NULL;
	struct hf_json_fault fault;
	int rc;

	if (len > HF_JSON_LINE_MAX)
		return hf_fail(err, HF_ERR_CORRUPT, "the line is too long");
	if (!hf_json_text_check(text, len, NULL, &fault))
		return hf_fail(err, HF_ERR_CORRUPT, "the line is no JSON: %s",
			       fault.what);
	if (!hf_is_utf8(text, len))
		return hf_fail(err, HF_ERR_CORRUPT,
			       "the line is not valid UTF-8");

	json = calloc(1, sizeof(*json));
	if (!json)
		return hf_fail_memory(err);
	rc = build(text, len, json, err);
	if (rc < 0)
		return rc;
	*ret_json = take_ptr(&json);
	return 0;
}

/* -- a document ------------------------------------------------------- */

static int fail_at(const struct hf_json *json, size_t offset,
		   struct hf_error *err, const char *text)
{
	unsigned line;
	unsigned column;

	hf_json_text_position(json->text, offset, &line, &column);
	return hf_fail(err, HF_ERR_USAGE, "%s:%u:%u: %s",
		       HF_QUOTE(json->name), line, column, text);
}

/* The first byte that begins no valid character; len when there is none. */
static size_t find_invalid_utf8(const char *text, size_t len)
{
	size_t at = 0;

	while (at < len) {
		size_t step = 1;

		while (step < 4 && step < len - at &&
		       !hf_is_utf8(text + at, step))
			step++;
		if (!hf_is_utf8(text + at, step))
			break;
		at += step;
	}
	return at;
}

static int check_document(const struct hf_json *json, char *blanked,
			  struct hf_error *err)
{
	struct hf_json_fault fault;

	if (json->len >= 3 && memcmp(json->text, "\xEF\xBB\xBF", 3) == 0)
		return fail_at(json, 0, err,
			       "a byte-order mark is not allowed");
	if (!hf_is_utf8(json->text, json->len))
		return fail_at(json, find_invalid_utf8(json->text, json->len),
			       err, "the text is not valid UTF-8");
	if (!hf_json_text_check(json->text, json->len, blanked, &fault))
		return fail_at(json, fault.offset, err, fault.what);
	return 0;
}

/*
 * The value behind this one in the order of the text: its first child, else the
 * next sibling of the nearest one that has any.  cJSON has no way up, so the
 * path is kept: the check has bounded its depth.
 */
struct cursor {
	const cJSON *value;
	const cJSON *parents[HF_JSON_DEPTH_MAX];
	unsigned depth;
};

static void advance(struct cursor *cursor)
{
	if (cursor->value->child) {
		cursor->parents[cursor->depth++] = cursor->value;
		cursor->value = cursor->value->child;
		return;
	}
	while (!cursor->value->next && cursor->depth > 0)
		cursor->value = cursor->parents[--cursor->depth];
	cursor->value = cursor->value->next;
}

static int compare_members(const void *a, const void *b)
{
	const cJSON *const *const left = a;
	const cJSON *const *const right = b;

	return strcmp((*left)->string, (*right)->string);
}

/* The duplicate: sorting does not keep the order of equal keys. */
static const cJSON *last_member(const cJSON *object, const char *key)
{
	const cJSON *last = NULL;

	for (const cJSON *member = object->child; member; member = member->next)
		if (strcmp(member->string, key) == 0)
			last = member;
	return last;
}

/* By sorting: a document of a megabyte can hold 100,000 members. */
static int check_keys(const struct hf_json *json, const cJSON *object,
		      struct hf_error *err)
{
	cleanup_free const cJSON **members = NULL;
	size_t count = 0;
	const cJSON *member;

	for (member = object->child; member; member = member->next)
		count++;
	if (count < 2)
		return 0;

	members = calloc(count, sizeof(*members));
	if (!members)
		return hf_fail_memory(err);
	count = 0;
	for (member = object->child; member; member = member->next)
		members[count++] = member;
	qsort(members, count, sizeof(*members), compare_members);
	for (size_t i = 1; i < count; i++) {
		if (strcmp(members[i]->string, members[i - 1]->string) == 0)
			return hf_json_fail(json,
					    last_member(object,
							members[i]->string),
					    err, "duplicate key '%s'",
					    HF_QUOTE(members[i]->string));
	}
	return 0;
}

static int check_values(const struct hf_json *json, struct hf_error *err)
{
	struct cursor cursor = { .value = json->root };

	for (; cursor.value; advance(&cursor)) {
		if (cJSON_IsNumber(cursor.value) &&
		    !isfinite(cursor.value->valuedouble))
			return hf_json_fail(json, cursor.value, err,
					    "the number is too large");
		if (cJSON_IsObject(cursor.value)) {
			const int rc = check_keys(json, cursor.value, err);

			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

static char *copy_bytes(const char *data, size_t len)
{
	char *const copy = malloc(len + 1);

	if (copy) {
		memcpy(copy, data, len);
		copy[len] = '\0';
	}
	return copy;
}

int hf_json_parse_document(const char *name, const char *text, size_t len,
			   struct hf_json **ret_json, struct hf_error *err)
{
	cleanup_json struct hf_json *json = NULL;
	cleanup_free char *blanked = NULL;
	int rc;

	if (len > HF_JSON_DOCUMENT_MAX)
		return hf_fail(err, HF_ERR_USAGE,
			       "%s:1:1: larger than %zu bytes", HF_QUOTE(name),
			       HF_JSON_DOCUMENT_MAX);

	json = calloc(1, sizeof(*json));
	if (!json)
		return hf_fail_memory(err);
	json->name = copy_bytes(name, strlen(name));
	json->text = copy_bytes(text, len);
	json->len = len;
	blanked = copy_bytes(text, len);
	if (!json->name || !json->text || !blanked)
		return hf_fail_memory(err);

	rc = check_document(json, blanked, err);
	if (rc < 0)
		return rc;
	rc = build(blanked, len, json, err);
	if (rc < 0)
		return rc;
	rc = check_values(json, err);
	if (rc < 0)
		return rc;
	*ret_json = take_ptr(&json);
	return 0;
}

const hf_json_value *hf_json_root(const struct hf_json *json)
{
	return json->root;
}

/* -- looking ---------------------------------------------------------- */

bool hf_json_is_object(const hf_json_value *value)
{
	return cJSON_IsObject(value);
}

bool hf_json_is_array(const hf_json_value *value)
{
	return cJSON_IsArray(value);
}

const hf_json_value *hf_json_first(const hf_json_value *value)
{
	return value ? value->child : NULL;
}

const hf_json_value *hf_json_next(const hf_json_value *value)
{
	return value ? value->next : NULL;
}

const char *hf_json_key(const hf_json_value *value)
{
	return value ? value->string : NULL;
}

const hf_json_value *hf_json_get(const hf_json_value *object, const char *key)
{
	if (!hf_json_is_object(object))
		return NULL;
	return cJSON_GetObjectItemCaseSensitive(object, key);
}

const char *hf_json_string(const hf_json_value *value)
{
	return cJSON_IsString(value) ? value->valuestring : NULL;
}

bool hf_json_number(const hf_json_value *value, uint64_t *ret_number)
{
	double number;

	if (!cJSON_IsNumber(value))
		return false;
	number = value->valuedouble;
	if (!(number >= 0.0 && number <= (double)HF_JSON_NUMBER_MAX) ||
	    (double)(uint64_t)number != number)
		return false;
	*ret_number = (uint64_t)number;
	return true;
}

bool hf_json_large_number(const hf_json_value *value, uint64_t *ret_number)
{
	const char *const digits = hf_json_string(value);

	return digits ? hf_parse_u64(digits, strlen(digits), 10, ret_number) ==
				0
		      : hf_json_number(value, ret_number);
}

bool hf_json_bool(const hf_json_value *value, bool *ret_bool)
{
	if (!cJSON_IsBool(value))
		return false;
	*ret_bool = cJSON_IsTrue(value);
	return true;
}

const char *hf_json_kind(const hf_json_value *value)
{
	if (cJSON_IsObject(value))
		return "an object";
	if (cJSON_IsArray(value))
		return "an array";
	if (cJSON_IsString(value))
		return "a string";
	if (cJSON_IsNumber(value))
		return "a number";
	if (cJSON_IsBool(value))
		return cJSON_IsTrue(value) ? "true" : "false";
	return value ? "null" : "nothing";
}

/* -- positions -------------------------------------------------------- */

void hf_json_position(const struct hf_json *json, const hf_json_value *value,
		      unsigned *ret_line, unsigned *ret_column)
{
	struct cursor cursor = { .value = json->root };
	size_t index = 0;
	size_t offset = 0;

	for (; cursor.value && cursor.value != value; advance(&cursor))
		index++;
	if (json->text && cursor.value)
		offset = hf_json_text_find(json->text, json->len, index);
	hf_json_text_position(json->text ? json->text : "", offset, ret_line,
			      ret_column);
}

int hf_json_fail(const struct hf_json *json, const hf_json_value *value,
		 struct hf_error *err, const char *fmt, ...)
{
	char text[sizeof(err->text)];
	unsigned line;
	unsigned column;
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);

	hf_json_position(json, value, &line, &column);
	return hf_fail(err, HF_ERR_USAGE, "%s:%u:%u: %s",
		       HF_QUOTE(json->name ? json->name : "line"), line, column,
		       text);
}
