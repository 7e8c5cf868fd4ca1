/* SPDX-License-Identifier: MIT */
/*
 * Read the text of holdfast.json: one table of keys an object, one function a
 * key.  docs/holdfast.schema.json says the same to editors; a test compares.
 */
#include "core/policy.h"

#include <inttypes.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/text.h"
#include "core/json.h"
#include "core/policy_internal.h"

/* Far above what anyone needs, far below what arithmetic can bear. */
#define CONTENTS_MAX	1000000
#define DAYS_MAX	36500

struct reader {
	struct hf_policy *policy;
	const struct hf_json *json;
	const char *home;
};

struct key {
	const char *name;
	int (*read)(const struct reader *reader, const hf_json_value *value,
		    struct hf_error *err);
};

/* -- values ----------------------------------------------------------- */

static int fail_type(const struct reader *reader, const hf_json_value *value,
		     const char *expected, struct hf_error *err)
{
	const char *const key = hf_json_key(value);
	const char *const text = hf_json_string(value);

	return hf_json_fail(reader->json, value, err,
			    "%s%sexpected %s, got %s%s%s",
			    key ? HF_QUOTE(key) : "", key ? ": " : "", expected,
			    text ? "'" : "",
			    text ? HF_QUOTE(text) : hf_json_kind(value),
			    text ? "'" : "");
}

/* The place of the word in words, or a negative enum hf_code. */
static int read_word(const struct reader *reader, const hf_json_value *value,
		     const char *const *words, size_t count,
		     struct hf_error *err)
{
	const char *const text = hf_json_string(value);
	cleanup_buffer struct hf_buffer expected = HF_BUFFER_INIT;
	int rc;

	for (size_t i = 0; text && i < count; i++) {
		if (strcmp(text, words[i]) == 0)
			return (int)i;
	}
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			hf_buffer_add_text(&expected,
					   i + 1 < count ? ", " : " or ");
		hf_buffer_printf(&expected, "'%s'", words[i]);
	}
	rc = hf_buffer_check(&expected, err);
	if (rc < 0)
		return rc;
	return fail_type(reader, value, expected.data, err);
}

static int read_number(const struct reader *reader, const hf_json_value *value,
		       uint64_t min, uint64_t max, uint64_t *ret_number,
		       struct hf_error *err)
{
	uint64_t number;

	if (!hf_json_number(value, &number) || number < min || number > max)
		return hf_json_fail(reader->json, value, err,
				    "%s: expected a whole number from %" PRIu64
				    " to %" PRIu64,
				    HF_QUOTE(hf_json_key(value)), min, max);
	*ret_number = number;
	return 0;
}

static int read_pattern(const struct reader *reader, const hf_json_value *value,
			struct hf_patterns **list, struct hf_error *err)
{
	const char *const text = hf_json_string(value);
	struct hf_error why;
	int rc;

	if (!text)
		return fail_type(reader, value, "a string", err);
	rc = hf_policy_add_pattern(reader->policy, list, text, reader->home,
				   &why);
	if (rc == HF_ERR_USAGE)
		return hf_json_fail(reader->json, value, err, "%s", why.text);
	if (rc < 0)
		*err = why;
	return rc;
}

static int read_patterns(const struct reader *reader,
			 const hf_json_value *value, struct hf_patterns **list,
			 struct hf_error *err)
{
	const hf_json_value *element;
	int rc;

	if (!hf_json_is_array(value))
		return fail_type(reader, value, "an array of patterns", err);
	rc = hf_policy_need_list(reader->policy, list, err);
	element = hf_json_first(value);
	for (; rc == 0 && element; element = hf_json_next(element))
		rc = read_pattern(reader, element, list, err);
	return rc;
}

static int fail_unknown(const struct reader *reader, const hf_json_value *value,
			const struct key *keys, size_t count,
			struct hf_error *err)
{
	cleanup_buffer struct hf_buffer known = HF_BUFFER_INIT;

	(void)hf_json_fail(reader->json, value, err, "unknown key '%s'",
			   HF_QUOTE(hf_json_key(value)));
	for (size_t i = 0; i < count; i++)
		hf_buffer_printf(&known, "%s%s", i > 0 ? ", " : "",
				 keys[i].name);
	if (known.data)
		(void)hf_fail_hint(err, "known here: %s", known.data);
	return HF_ERR_USAGE;
}

static int read_members(const struct reader *reader,
			const hf_json_value *object, const struct key *keys,
			size_t count, struct hf_error *err)
{
	const hf_json_value *member;

	if (!hf_json_is_object(object))
		return fail_type(reader, object, "an object", err);
	member = hf_json_first(object);
	for (; member; member = hf_json_next(member)) {
		size_t i = 0;
		int rc;

		while (i < count &&
		       strcmp(keys[i].name, hf_json_key(member)) != 0)
			i++;
		if (i == count)
			return fail_unknown(reader, member, keys, count, err);
		rc = keys[i].read(reader, member, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* -- "retention" ------------------------------------------------------ */

static int read_contents(const struct reader *reader,
			 const hf_json_value *value, struct hf_error *err)
{
	return read_number(reader, value, 1, CONTENTS_MAX,
			   &reader->policy->retention.contents, err);
}

static int read_days(const struct reader *reader, const hf_json_value *value,
		     struct hf_error *err)
{
	return read_number(reader, value, 0, DAYS_MAX,
			   &reader->policy->retention.days, err);
}

static int read_size(const struct reader *reader, const hf_json_value *value,
		     struct hf_error *err)
{
	const char *const text = hf_json_string(value);

	if (!text || hf_parse_size(text, &reader->policy->retention.bytes) < 0)
		return fail_type(reader, value, "a size such as '2G'", err);
	return 0;
}

static int read_retention(const struct reader *reader,
			  const hf_json_value *value, struct hf_error *err)
{
	static const struct key keys[] = {
		{ "contents", read_contents },
		{ "days", read_days },
		{ "size", read_size },
	};

	return read_members(reader, value, keys, HF_COUNT(keys), err);
}

/* -- "commands" ------------------------------------------------------- */

/* The rule that is being read is the last one. */
static struct hf_command_rule *last_rule(const struct reader *reader)
{
	return &reader->policy->commands[reader->policy->command_count - 1];
}

static int read_rule_match(const struct reader *reader,
			   const hf_json_value *value, struct hf_error *err)
{
	const char *const text = hf_json_string(value);
	struct hf_error why;

	if (!text)
		return fail_type(reader, value, "a string", err);
	if (hf_pattern_check_text(text, &why) < 0)
		return hf_json_fail(reader->json, value, err, "%s", why.text);
	last_rule(reader)->match = strdup(text);
	return last_rule(reader)->match ? 0 : hf_fail_memory(err);
}

static int read_rule_allow(const struct reader *reader,
			   const hf_json_value *value, struct hf_error *err)
{
	return read_patterns(reader, value, &last_rule(reader)->allow, err);
}

static int read_rule(const struct reader *reader, const hf_json_value *value,
		     struct hf_error *err)
{
	static const struct key keys[] = {
		{ "match", read_rule_match },
		{ "allow", read_rule_allow },
	};
	int rc;

	reader->policy->command_count++;
	rc = read_members(reader, value, keys, HF_COUNT(keys), err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < HF_COUNT(keys); i++) {
		if (!hf_json_get(value, keys[i].name))
			return hf_json_fail(reader->json, value, err,
					    "the rule has no '%s'",
					    keys[i].name);
	}
	return 0;
}

static int read_commands(const struct reader *reader,
			 const hf_json_value *value, struct hf_error *err)
{
	const hf_json_value *rule;
	size_t count = 0;
	int rc = 0;

	if (!hf_json_is_array(value))
		return fail_type(reader, value, "an array of rules", err);
	for (rule = hf_json_first(value); rule; rule = hf_json_next(rule))
		count++;
	if (count == 0)
		return 0;
	reader->policy->commands =
		calloc(count, sizeof(*reader->policy->commands));
	if (!reader->policy->commands)
		return hf_fail_memory(err);
	rule = hf_json_first(value);
	for (; rc == 0 && rule; rule = hf_json_next(rule))
		rc = read_rule(reader, rule, err);
	return rc;
}

/* -- the other keys --------------------------------------------------- */

static int read_schema(const struct reader *reader, const hf_json_value *value,
		       struct hf_error *err)
{
	return hf_json_string(value) ?
		       0 :
		       fail_type(reader, value, "a string", err);
}

static int read_protect(const struct reader *reader, const hf_json_value *value,
			struct hf_error *err)
{
	return read_patterns(reader, value, &reader->policy->protect, err);
}

static int read_allow(const struct reader *reader, const hf_json_value *value,
		      struct hf_error *err)
{
	return read_patterns(reader, value, &reader->policy->allow, err);
}

static int read_gate(const struct reader *reader, const hf_json_value *value,
		     struct hf_error *err)
{
	static const char *const words[] = { "auto", "require", "off" };
	const int word = read_word(reader, value, words, HF_COUNT(words), err);

	if (word < 0)
		return word;
	reader->policy->gate = (enum hf_gate_mode)word;
	return 0;
}

static int read_read_write_opens(const struct reader *reader,
				 const hf_json_value *value,
				 struct hf_error *err)
{
	static const char *const words[] = { "observe", "refuse" };
	const int word = read_word(reader, value, words, HF_COUNT(words), err);

	if (word < 0)
		return word;
	reader->policy->read_write_opens = (enum hf_read_write_opens)word;
	return 0;
}

static int read_on_landed(const struct reader *reader,
			  const hf_json_value *value, struct hf_error *err)
{
	static const char *const words[] = { "stop", "keep-going" };
	const int word = read_word(reader, value, words, HF_COUNT(words), err);

	if (word < 0)
		return word;
	reader->policy->on_landed = (enum hf_on_landed)word;
	return 0;
}

static int read_on_outside(const struct reader *reader,
			   const hf_json_value *value, struct hf_error *err)
{
	static const char *const words[] = { "stay", "restore" };
	const int word = read_word(reader, value, words, HF_COUNT(words), err);

	if (word < 0)
		return word;
	reader->policy->on_outside = (enum hf_on_outside)word;
	return 0;
}

static int read_on_drift(const struct reader *reader,
			 const hf_json_value *value, struct hf_error *err)
{
	static const char *const words[] = { "say", "stop" };
	const int word = read_word(reader, value, words, HF_COUNT(words), err);

	if (word < 0)
		return word;
	reader->policy->on_drift = (enum hf_on_drift)word;
	return 0;
}

static int read_leftovers(const struct reader *reader,
			  const hf_json_value *value, struct hf_error *err)
{
	static const char *const words[] = { "end", "wait" };
	const int word = read_word(reader, value, words, HF_COUNT(words), err);

	if (word < 0)
		return word;
	reader->policy->leftovers = (enum hf_leftovers)word;
	return 0;
}

static int read_min_protected(const struct reader *reader,
			      const hf_json_value *value, struct hf_error *err)
{
	return read_number(reader, value, 0, UINT32_MAX,
			   &reader->policy->min_protected, err);
}

int hf_policy_parse(struct hf_policy *policy, const char *name,
		    const char *text, size_t len, const char *home,
		    struct hf_error *err)
{
	static const struct key keys[] = {
		{ "$schema", read_schema },
		{ "protect", read_protect },
		{ "allow", read_allow },
		{ "commands", read_commands },
		{ "gate", read_gate },
		{ "read-write-opens", read_read_write_opens },
		{ "on-landed", read_on_landed },
		{ "on-outside", read_on_outside },
		{ "on-drift", read_on_drift },
		{ "leftovers", read_leftovers },
		{ "min-protected", read_min_protected },
		{ "retention", read_retention },
	};
	cleanup_json struct hf_json *json = NULL;
	struct reader reader = { .policy = policy, .home = home };
	int rc;

	hf_policy_set_defaults(policy);
	rc = hf_json_parse_document(name, text, len, &json, err);
	if (rc < 0)
		return rc;
	reader.json = json;
	return read_members(&reader, hf_json_root(json), keys, HF_COUNT(keys),
			    err);
}
