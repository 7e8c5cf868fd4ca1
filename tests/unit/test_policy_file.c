/* SPDX-License-Identifier: MIT */
/* The text of a policy: every key, every mistake, and the schema of it. */
#include "core/policy.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "core/json.h"
#include "core/policy_internal.h"
#include "support/check.h"

static int parse(struct hf_policy *policy, const char *text,
		 struct hf_error *err)
{
	return hf_policy_parse(policy, "holdfast.json", text, strlen(text),
			       "/home/u", err);
}

/* -- the text --------------------------------------------------------- */

static const struct {
	const char *name;
	const char *text;
	const char *message;	/* behind "holdfast.json:" */
} wrong_rows[] = {
	{"no JSON", "{", "1:2: the text ends too early"},
	{"array", "[]", "1:1: expected an object, got an array"},
	{"string", "\"x\"", "1:1: expected an object, got 'x'"},
	{"unknown key", "{\"protekt\": []}", "1:2: unknown key 'protekt'"},
	{"key of a later version", "{\n  \"workspace\": {}}",
	 "2:3: unknown key 'workspace'"},
	{"temp", "{\"temp\": \"workspace\"}", "1:2: unknown key 'temp'"},
	{"sandbox", "{\"sandbox\": {}}", "1:2: unknown key 'sandbox'"},
	{"tests", "{\"gate\":\"off\",\"tests\": []}",
	 "1:15: unknown key 'tests'"},
	{"store", "{\"store\": \"/x\"}", "1:2: unknown key 'store'"},
	{"key of another case", "{\"Protect\": []}",
	 "1:2: unknown key 'Protect'"},
	{"key drives a terminal", "{\"\\u001b[2J\": 1}",
	 "1:2: unknown key '\\e[2J'"},
	{"duplicate key", "{\"gate\":\"off\",\n \"gate\":\"off\"}",
	 "2:2: duplicate key 'gate'"},
	{"$schema", "{\"$schema\": 1}",
	 "1:2: $schema: expected a string, got a number"},
	{"protect, string", "{\"protect\": \"*.toml\"}",
	 "1:2: protect: expected an array of patterns, got '*.toml'"},
	{"protect, null", "{\"protect\": null}",
	 "1:2: protect: expected an array of patterns, got null"},
	{"protect, element", "{\"protect\": [\"a\",\n7]}",
	 "2:1: expected a string, got a number"},
	{"allow, object", "{\"allow\": {}}",
	 "1:2: allow: expected an array of patterns, got an object"},
	{"pattern", "{\"protect\": [\"a\", \"[b\"]}",
	 "1:19: '[b' has no closing bracket"},
	{"pattern in allow", "{\"allow\": [\"../x\"]}",
	 "1:12: '../x' leaves the root"},
	{"empty pattern", "{\"protect\": [\"\"]}", "1:14: '' is empty"},
	{"home of another", "{\"protect\": [\"~root/x\"]}",
	 "1:14: '~root/x' begins with '~', but not with '~/'"},
	{"home without a slash", "{\"protect\": [\"!~\"]}",
	 "1:14: '!~' begins with '~', but not with '~/'"},
	{"gate", "{\"gate\": \"on\"}",
	 "1:2: gate: expected 'auto', 'require' or 'off', got 'on'"},
	{"gate, truth", "{\"gate\": false}",
	 "1:2: gate: expected 'auto', 'require' or 'off', got false"},
	{"read-write-opens", "{\"read-write-opens\": \"x\"}",
	 "1:2: read-write-opens: expected 'observe' or 'refuse', got 'x'"},
	{"read-write-opens, truth", "{\"read-write-opens\": true}",
	 "1:2: read-write-opens: expected 'observe' or 'refuse', got true"},
	{"on-landed", "{\"on-landed\": \"go\"}",
	 "1:2: on-landed: expected 'stop' or 'keep-going', got 'go'"},
	{"on-outside", "{\"on-outside\": []}",
	 "1:2: on-outside: expected 'stay' or 'restore', got an array"},
	{"on-drift", "{\"on-drift\": 1}",
	 "1:2: on-drift: expected 'say' or 'stop', got a number"},
	{"leftovers", "{\"leftovers\": \"End\"}",
	 "1:2: leftovers: expected 'end' or 'wait', got 'End'"},
	{"min-protected", "{\"min-protected\": -1}",
	 "1:2: min-protected: expected a whole number from 0 to 4294967295"},
	{"min-protected, string", "{\"min-protected\": \"1\"}",
	 "1:2: min-protected: expected a whole number from 0 to 4294967295"},
	{"min-protected, huge", "{\"min-protected\": 1e999}",
	 "1:2: the number is too large"},
	{"retention", "{\"retention\": 5}",
	 "1:2: retention: expected an object, got a number"},
	{"retention, key", "{\"retention\": {\"hours\": 1}}",
	 "1:16: unknown key 'hours'"},
	{"contents", "{\"retention\": {\"contents\": 0}}",
	 "1:16: contents: expected a whole number from 1 to 1000000"},
	{"days", "{\"retention\": {\"days\": 36501}}",
	 "1:16: days: expected a whole number from 0 to 36500"},
	{"days, fraction", "{\"retention\": {\"days\": 0.5}}",
	 "1:16: days: expected a whole number from 0 to 36500"},
	{"size", "{\"retention\": {\"size\": \"2 G\"}}",
	 "1:16: size: expected a size such as '2G', got '2 G'"},
	{"size, number", "{\"retention\": {\"size\": 2}}",
	 "1:16: size: expected a size such as '2G', got a number"},
	{"size, huge", "{\"retention\": {\"size\": \"99999999999T\"}}",
	 "1:16: size: expected a size such as '2G', got '99999999999T'"},
	{"commands", "{\"commands\": {}}",
	 "1:2: commands: expected an array of rules, got an object"},
	{"rule", "{\"commands\": [1]}",
	 "1:15: expected an object, got a number"},
	{"rule, key", "{\"commands\": [{\"deny\": []}]}",
	 "1:16: unknown key 'deny'"},
	{"rule without match", "{\"commands\": [{\"allow\": []}]}",
	 "1:15: the rule has no 'match'"},
	{"rule without allow", "{\"commands\": [\n {\"match\": \"x\"}]}",
	 "2:2: the rule has no 'allow'"},
	{"rule, match", "{\"commands\": [{\"match\": [], \"allow\": []}]}",
	 "1:16: match: expected a string, got an array"},
	{"rule, empty match", "{\"commands\": [{\"match\": \"\"}]}",
	 "1:16: '' is empty"},
	{"rule, pattern", "{\"commands\": [{\"match\": \"[\"}]}",
	 "1:16: '[' has no closing bracket"},
	{"rule, allow",
	 "{\"commands\": [{\"match\":\"x\",\"allow\":[\"a\\\\\"]}]}",
	 "1:37: 'a\\\\' ends in a backslash"},
};

Test(policy_file, wrong_text)
{
	for (size_t i = 0; i < HF_COUNT(wrong_rows); i++) {
		cleanup_policy struct hf_policy policy = HF_POLICY_INIT;
		struct hf_error err = {.code = 0};

		cr_expect_eq(parse(&policy, wrong_rows[i].text, &err),
			     HF_ERR_USAGE, "%s", wrong_rows[i].name);
		cr_expect(strncmp(err.text, "holdfast.json:", 14) == 0 &&
				  strncmp(err.text + 14, wrong_rows[i].message,
					  strlen(wrong_rows[i].message)) == 0,
			  "%s: %s", wrong_rows[i].name, err.text);
	}
}

Test(policy_file, unknown_key_comes_with_the_known)
{
	cleanup_policy struct hf_policy policy = HF_POLICY_INIT;
	struct hf_error err;

	cr_assert_eq(parse(&policy, "{\"x\":1}", &err), HF_ERR_USAGE);
	cr_expect(strstr(err.hint, "$schema, protect, allow"), "%s", err.hint);
	cr_expect(strstr(err.hint, "retention"), "%s", err.hint);
}

Test(policy_file, all_keys)
{
	cleanup_policy struct hf_policy policy = HF_POLICY_INIT;
	struct hf_error err;

	cr_assert_eq(
		parse(&policy,
		      "// all of them\n"
		      "{ \"$schema\": \"x\", \"protect\": [\"a\", \"~/b\"],\n"
		      "\"allow\": [\"c\"], \"commands\": [\n"
		      "{\"match\": \"uv*\", \"allow\": [\"d\"]},\n"
		      "{\"allow\": [], \"match\": \"x\"}],\n"
		      "\"gate\": \"require\",\n"
		      "\"read-write-opens\": \"refuse\",\n"
		      "\"on-landed\": \"keep-going\", /* . */"
		      "\"on-outside\": \"restore\", \"on-drift\": \"stop\",\n"
		      "\"leftovers\": \"wait\", \"min-protected\": 7,\n"
		      "\"retention\": {\"contents\": 1, \"days\": 0,\n"
		      "\"size\": \"3M\"} }",
		      &err),
		0, "%s", err.text);
	cr_expect_eq(hf_patterns_count(policy.protect), 2);
	cr_expect_str_eq(hf_patterns_text(policy.protect, 1), "/home/u/b");
	cr_expect_eq(hf_patterns_count(policy.allow), 1);
	cr_assert_eq(policy.command_count, 2);
	cr_expect_str_eq(policy.commands[0].match, "uv*");
	cr_expect_eq(hf_patterns_count(policy.commands[0].allow), 1);
	cr_expect_eq(hf_patterns_count(policy.commands[1].allow), 0);
	cr_expect_eq(policy.gate, HF_GATE_REQUIRE);
	cr_expect_eq(policy.read_write_opens, HF_OPENS_REFUSE);
	cr_expect_eq(policy.on_landed, HF_LANDED_KEEP_GOING);
	cr_expect_eq(policy.on_outside, HF_OUTSIDE_RESTORE);
	cr_expect_eq(policy.on_drift, HF_DRIFT_STOP);
	cr_expect_eq(policy.leftovers, HF_LEFTOVERS_WAIT);
	cr_expect_eq(policy.min_protected, 7);
	cr_expect_eq(policy.retention.contents, 1);
	cr_expect_eq(policy.retention.days, 0);
	cr_expect_eq(policy.retention.bytes, 3 << 20);
}

Test(policy_file, words_in_the_order_of_the_enums)
{
	static const struct {
		const char *text;
		int gate;
		int on_landed;
		int opens;
	} rows[] = {
		{"{}", HF_GATE_AUTO, HF_LANDED_STOP, HF_OPENS_OBSERVE},
		{"{\"gate\":\"auto\"}", HF_GATE_AUTO, HF_LANDED_STOP,
		 HF_OPENS_OBSERVE},
		{"{\"gate\":\"off\"}", HF_GATE_OFF, HF_LANDED_STOP,
		 HF_OPENS_OBSERVE},
		{"{\"on-landed\":\"stop\"}", HF_GATE_AUTO, HF_LANDED_STOP,
		 HF_OPENS_OBSERVE},
		{"{\"read-write-opens\":\"observe\"}", HF_GATE_AUTO,
		 HF_LANDED_STOP, HF_OPENS_OBSERVE},
		{"{\"read-write-opens\":\"refuse\"}", HF_GATE_AUTO,
		 HF_LANDED_STOP, HF_OPENS_REFUSE},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		cleanup_policy struct hf_policy policy = HF_POLICY_INIT;
		struct hf_error err;

		cr_assert_eq(parse(&policy, rows[i].text, &err), 0);
		cr_expect_eq((int)policy.gate, rows[i].gate);
		cr_expect_eq((int)policy.on_landed, rows[i].on_landed);
		cr_expect_eq((int)policy.read_write_opens, rows[i].opens);
	}
}

Test(policy_file, defaults)
{
	cleanup_policy struct hf_policy policy = HF_POLICY_INIT;
	struct hf_error err;

	cr_assert_eq(parse(&policy, "{}", &err), 0);
	cr_expect_null(policy.protect);
	cr_expect_null(policy.allow);
	cr_expect_eq(policy.on_outside, HF_OUTSIDE_STAY);
	cr_expect_eq(policy.on_drift, HF_DRIFT_SAY);
	cr_expect_eq(policy.leftovers, HF_LEFTOVERS_END);
	cr_expect_eq(policy.min_protected, 1);
	cr_expect_eq(policy.retention.contents, 20);
	cr_expect_eq(policy.retention.days, 90);
	cr_expect_eq(policy.retention.bytes, UINT64_C(2) << 30);
}

Test(policy_file, home)
{
	static const struct {
		const char *home;
		const char *pattern;
		const char *text;	/* NULL: refused */
	} rows[] = {
		{"/home/u", "~/a", "/home/u/a"},
		{"/home/u", "!~/a/*", "!/home/u/a/*"},
		{"/home/u", "~/", "/home/u/"},
		{"/home/[x]", "~/a", "/home/\\[x]/a"},
		{"/home/u", "\\~/a", "\\~/a"},
		{"/home/u", "a~/b", "a~/b"},
		{"/home/u", "~", NULL},
		{"/home/u", "~x/a", NULL},
		{NULL, "a", "a"},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		cleanup_policy struct hf_policy policy = HF_POLICY_INIT;
		cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
		struct hf_error err;
		int rc;

		hf_buffer_add_text(&text, "{\"protect\": [");
		for (const char *at = rows[i].pattern; *at; at++)
			hf_buffer_printf(&text, "%s%s%c",
					 at == rows[i].pattern ? "\"" : "",
					 *at == '\\' ? "\\" : "", *at);
		hf_buffer_add_text(&text, "\"]}");
		rc = hf_policy_parse(&policy, "p", text.data, text.len,
				     rows[i].home, &err);
		cr_expect_eq(rc, rows[i].text ? 0 : HF_ERR_USAGE, "%s",
			     rows[i].pattern);
		if (rc == 0)
			cr_expect_str_eq(hf_patterns_text(policy.protect, 0),
					 rows[i].text);
	}
}

static int parse_tilde(struct hf_policy *policy, struct hf_error *err)
{
	static const char text[] = "{\"protect\": [\"~/a\"]}";

	return hf_policy_parse(policy, "p", text, strlen(text), NULL, err);
}

Test(policy_file, home_by_the_user_database)
{
	cleanup_policy struct hf_policy policy = HF_POLICY_INIT;
	cleanup_free char *home = hf_policy_home();
	cleanup_free char *escaped = hf_pattern_escape(home);
	struct hf_error err;

	cr_assert_not_null(escaped);
	cr_assert_eq(parse_tilde(&policy, &err), 0);
	cr_expect_eq(strncmp(hf_patterns_text(policy.protect, 0), escaped,
			     strlen(escaped)),
		     0);
}

Test(policy_file, no_home_in_the_user_database)
{
	cleanup_policy struct hf_policy policy = HF_POLICY_INIT;
	struct hf_error err;

	/* Nobody has this number. */
	if (setresuid(54321, 54321, 54321) < 0)
		hf_skip_now("only root can become somebody else");
	cr_expect_eq(parse_tilde(&policy, &err), HF_ERR_USAGE);
}

/* -- the schema ------------------------------------------------------- */

static const hf_json_value *step(const hf_json_value *value, const char *a,
				 const char *b)
{
	const hf_json_value *const first = hf_json_get(value, a);

	cr_assert(first, "the schema has no '%s'", a);
	return b ? step(first, b, NULL) : first;
}

/* A text that a value of this part of the schema must pass. */
static void add_example(struct hf_buffer *text, const hf_json_value *part)
{
	const hf_json_value *const words = hf_json_get(part, "enum");
	const hf_json_value *const fallback = hf_json_get(part, "default");
	const char *const type = hf_json_string(hf_json_get(part, "type"));
	uint64_t number;

	if (words)
		hf_buffer_printf(text, "\"%s\"",
				 hf_json_string(hf_json_first(words)));
	else if (hf_json_number(fallback, &number))
		hf_buffer_printf(text, "%u", (unsigned)number);
	else if (hf_json_string(fallback))
		hf_buffer_printf(text, "\"%s\"", hf_json_string(fallback));
	else if (hf_json_get(part, "$ref") || strcmp(type, "array") == 0)
		hf_buffer_add_text(text, "[]");
	else if (strcmp(type, "object") == 0)
		hf_buffer_add_text(text, "{}");
	else
		hf_buffer_add_text(text, "\"x\"");
}

/* The keys that the parser's hint lists for an object, against the schema's. */
static void compare_keys(const char *text, const hf_json_value *properties)
{
	cleanup_policy struct hf_policy policy = HF_POLICY_INIT;
	cleanup_buffer struct hf_buffer known = HF_BUFFER_INIT;
	const hf_json_value *part = hf_json_first(properties);
	struct hf_error err;

	for (; part; part = hf_json_next(part))
		hf_buffer_printf(&known, "%s%s",
				 known.len > 0 ? ", " : "known here: ",
				 hf_json_key(part));
	cr_assert_eq(parse(&policy, text, &err), HF_ERR_USAGE);
	cr_expect_str_eq(err.hint, known.data);
}

Test(policy_file, schema)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	cleanup_json struct hf_json *schema = NULL;
	const hf_json_value *properties;
	const hf_json_value *part;
	struct hf_error err;
	size_t count = 0;
	int c;
	FILE *const file = fopen(HF_TOP "/docs/holdfast.schema.json", "r");

	cr_assert(file);
	while ((c = fgetc(file)) != EOF)
		hf_buffer_add(&text, &(char){(char)c}, 1);
	(void)fclose(file);
	cr_assert_eq(hf_json_parse_document("schema", text.data, text.len,
					    &schema, &err), 0, "%s", err.text);

	properties = step(hf_json_root(schema), "properties", NULL);
	part = hf_json_first(properties);
	for (; part; part = hf_json_next(part)) {
		cleanup_policy struct hf_policy policy = HF_POLICY_INIT;

		hf_buffer_clear(&text);
		hf_buffer_printf(&text, "{\"%s\": ", hf_json_key(part));
		add_example(&text, part);
		hf_buffer_add_text(&text, "}");
		cr_expect_eq(parse(&policy, text.data, &err), 0, "%s: %s",
			     text.data, err.text);
		cr_expect(hf_json_string(hf_json_get(part, "description")),
			  "%s has no description", hf_json_key(part));
		count++;
	}
	cr_expect_eq(count, 12);
	compare_keys("{\"x\":0}", properties);
	compare_keys("{\"retention\":{\"x\":0}}",
		     step(step(properties, "retention", NULL), "properties",
			  NULL));
	compare_keys("{\"commands\":[{\"x\":0}]}",
		     step(step(properties, "commands", "items"), "properties",
			  NULL));
}
