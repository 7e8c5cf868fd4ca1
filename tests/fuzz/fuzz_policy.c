/* SPDX-License-Identifier: MIT */
/* A policy file, and the same bytes as one line of JSON. */
/* The checks are the point, whatever the build type. */
#undef NDEBUG
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "core/json.h"
#include "core/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

#define NAME "holdfast.json"

/* A failure says where; a person must find it. */
static void check_failure(const struct hf_error *err)
{
	unsigned line;
	unsigned column;

	assert(err->code == HF_ERR_USAGE || err->code == HF_ERR_LIMIT);
	assert(sscanf(err->text, NAME ":%u:%u: ", &line, &column) == 2);
	assert(line > 0 && column > 0);
	assert(strchr(err->text, '\n') == NULL);
}

static void check_policy(const char *text, size_t len)
{
	struct hf_policy policy = HF_POLICY_INIT;
	const char *const argv[] = { "uv", "add", "x", NULL };
	struct hf_error err;

	if (hf_policy_parse(&policy, NAME, text, len, "/home/user", &err) < 0) {
		check_failure(&err);
	} else {
		assert(policy.retention.contents > 0);
		for (size_t i = 0; i < policy.command_count; i++)
			assert(policy.commands[i].match &&
			       policy.commands[i].allow);
		(void)hf_policy_allows(&policy, argv, "pyproject.toml", false);
	}
	hf_policy_done(&policy);
}

/* In the order of the text every value stands behind the one before. */
static void check_positions(const struct hf_json *json,
			    const hf_json_value *value, unsigned *line,
			    unsigned *column)
{
	for (; value; value = hf_json_next(value)) {
		unsigned now_line;
		unsigned now_column;

		hf_json_position(json, value, &now_line, &now_column);
		assert(now_line > *line ||
		       (now_line == *line && now_column > *column));
		*line = now_line;
		*column = now_column;
		check_positions(json, hf_json_first(value), line, column);
	}
}

static void check_json(const char *text, size_t len)
{
	struct hf_json *document = NULL;
	struct hf_json *single = NULL;
	struct hf_error err;
	unsigned line = 0;
	unsigned column = 0;
	int rc;

	rc = hf_json_parse_document(NAME, text, len, &document, &err);
	if (rc < 0)
		check_failure(&err);
	/* Finding every value anew takes quadratic time. */
	else if (len < 4096)
		check_positions(document, hf_json_root(document), &line,
				&column);

	if (hf_json_parse_line(text, len, &single, &err) < 0)
		assert(err.code == HF_ERR_CORRUPT);
	else if (rc < 0)
		assert(hf_json_parse_document(NAME, text, len, &document, &err)
		       == HF_ERR_USAGE &&
		       (strstr(err.text, "duplicate key") ||
			strstr(err.text, "too large")));
	hf_json_free(&document);
	hf_json_free(&single);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	check_json((const char *)data, len);
	check_policy((const char *)data, len);
	return 0;
}
