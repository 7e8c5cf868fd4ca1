/* SPDX-License-Identifier: MIT */
/* Put a policy together from the file, the options and the defaults. */
#include "core/policy.h"

#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/json.h"
#include "core/policy_internal.h"
#include "platform/file.h"

void hf_policy_set_defaults(struct hf_policy *policy)
{
	policy->gate = HF_GATE_AUTO;
	policy->on_landed = HF_LANDED_STOP;
	policy->on_outside = HF_OUTSIDE_STAY;
	policy->on_drift = HF_DRIFT_SAY;
	policy->leftovers = HF_LEFTOVERS_END;
	policy->min_protected = 1;
	policy->retention = (struct hf_retention){
		.contents = 20,
		.days = 90,
		.bytes = (uint64_t)2 << 30,
	};
}

void hf_policy_done(struct hf_policy *policy)
{
	const int saved = errno;

	hf_patterns_free(&policy->protect);
	hf_patterns_free(&policy->allow);
	for (size_t i = 0; i < policy->command_count; i++) {
		free(policy->commands[i].match);
		hf_patterns_free(&policy->commands[i].allow);
	}
	free(policy->commands);
	free(policy->root);
	free(policy->file);
	free(policy->file_entry);
	*policy = (struct hf_policy)HF_POLICY_INIT;
	errno = saved;
}

/* -- patterns --------------------------------------------------------- */

int hf_policy_need_list(const struct hf_policy *policy,
			struct hf_patterns **list, struct hf_error *err)
{
	if (*list)
		return 0;
	*list = hf_patterns_new();
	if (!*list)
		return hf_fail_memory(err);
	return policy->root ? hf_patterns_set_root(*list, policy->root, err) :
			      0;
}

/* Put the home directory in place of the tilde of "~/..." or "!~/...". */
static int expand_home(const char *text, const char *home,
		       struct hf_buffer *out, struct hf_error *err)
{
	const char *const body = text + (text[0] == '!');
	cleanup_free char *found = NULL;
	cleanup_free char *escaped = NULL;

	if (body[1] != '/') {
		(void)hf_fail(err, HF_ERR_USAGE,
			      "'%s' begins with '~', but not with '~/'",
			      HF_QUOTE(text));
		return hf_fail_hint(err, "'\\~' is a tilde in a name");
	}
	if (!home)
		home = found = hf_policy_home();
	if (!home)
		return hf_fail(err, HF_ERR_USAGE,
			       "'%s' needs a home directory, and the user "
			       "database has none",
			       HF_QUOTE(text));

	escaped = hf_pattern_escape(home);
	if (!escaped)
		return hf_fail_memory(err);
	hf_buffer_printf(out, "%s%s%s", body > text ? "!" : "", escaped,
			 body + 1);
	return hf_buffer_check(out, err);
}

int hf_policy_add_pattern(const struct hf_policy *policy,
			  struct hf_patterns **list, const char *text,
			  const char *home, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer expanded = HF_BUFFER_INIT;
	int rc;

	rc = hf_policy_need_list(policy, list, err);
	if (rc < 0)
		return rc;
	if (text[text[0] == '!'] != '~')
		return hf_patterns_add(*list, text, err);

	rc = expand_home(text, home, &expanded, err);
	if (rc < 0)
		return rc;
	return hf_patterns_add(*list, expanded.data, err);
}

/* -- options ---------------------------------------------------------- */

static bool is_empty(const char *const *texts)
{
	return !texts || !texts[0];
}

/* A pattern of the command line: no file and line stand before what is wrong. */
static int add_text(const struct hf_policy *policy, struct hf_patterns **list,
		    const char *text, struct hf_error *err)
{
	struct hf_error wrong;
	const int rc = hf_policy_add_pattern(policy, list, text, NULL, &wrong);

	if (rc == HF_ERR_USAGE)
		return hf_fail(err, rc, "cannot use the pattern: %s",
			       wrong.text);
	if (rc < 0)
		*err = wrong;
	return rc;
}

static int add_texts(const struct hf_policy *policy, struct hf_patterns **list,
		     const char *const *texts, struct hf_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && texts && texts[i]; i++)
		rc = add_text(policy, list, texts[i], err);
	return rc;
}

static int add_excluded(struct hf_policy *policy, const char *const *texts,
			struct hf_error *err)
{
	for (size_t i = 0; texts && texts[i]; i++) {
		cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
		int rc;

		hf_buffer_printf(&text, "!%s", texts[i]);
		rc = hf_buffer_check(&text, err);
		if (rc < 0)
			return rc;
		rc = add_text(policy, &policy->protect, text.data, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int add_options(struct hf_policy *policy,
		       const struct hf_policy_options *options,
		       struct hf_error *err)
{
	static const char *const fallback[] = { HF_POLICY_DEFAULT, NULL };
	const bool is_silent = !policy->protect && is_empty(options->protect);
	int rc;

	rc = hf_policy_need_list(policy, &policy->protect, err);
	if (rc < 0)
		return rc;
	rc = hf_policy_need_list(policy, &policy->allow, err);
	if (rc < 0)
		return rc;
	rc = add_texts(policy, &policy->protect,
		       is_silent ? fallback : options->protect, err);
	if (rc < 0)
		return rc;
	rc = add_excluded(policy, options->exclude, err);
	if (rc < 0)
		return rc;
	rc = add_texts(policy, &policy->allow, options->allow, err);
	if (rc < 0)
		return rc;

	if (options->has_gate)
		policy->gate = options->gate;
	if (options->has_on_landed)
		policy->on_landed = options->on_landed;
	if (options->has_leftovers)
		policy->leftovers = options->leftovers;
	if (options->has_min_protected)
		policy->min_protected = options->min_protected;
	return 0;
}

/* -- the file --------------------------------------------------------- */

/* The path that an entry of path (canonical) has; NULL when out of memory. */
static char *entry_of(const char *path, const char *root)
{
	const size_t root_len = strcmp(root, "/") == 0 ? 0 : strlen(root);
	const bool is_inside = hf_path_is_beneath(path, root);

	return strdup(is_inside ? path + root_len + 1 : path);
}

static int read_file(struct hf_policy *policy, bool is_named,
		     struct hf_error *err)
{
	cleanup_fd int fd = hf_policy_open(policy->file, is_named, err);
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	int rc;

	if (fd < 0)
		return fd;
	rc = hf_file_read_all(fd, HF_JSON_DOCUMENT_MAX, &text);
	if (rc == -EFBIG)
		return hf_fail(err, HF_ERR_LIMIT,
			       "cannot use '%s': larger than %zu bytes",
			       HF_QUOTE(policy->file), HF_JSON_DOCUMENT_MAX);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot read '%s'",
				      HF_QUOTE(policy->file));
	return hf_policy_parse(policy, policy->file_entry,
			       text.data ? text.data : "", text.len, NULL, err);
}

/* Take entry in behind all patterns, and out of all that is allowed. */
static int shield(struct hf_policy *policy, const char *entry,
		  struct hf_error *err)
{
	cleanup_free char *pattern = hf_pattern_escape(entry);
	cleanup_buffer struct hf_buffer negated = HF_BUFFER_INIT;
	int rc;

	if (!pattern)
		return hf_fail_memory(err);
	hf_buffer_printf(&negated, "!%s", pattern);
	rc = hf_buffer_check(&negated, err);
	if (rc < 0)
		return rc;
	rc = hf_patterns_add(policy->protect, pattern, err);
	if (rc < 0)
		return rc;
	rc = hf_patterns_add(policy->allow, negated.data, err);
	for (size_t i = 0; rc == 0 && i < policy->command_count; i++)
		rc = hf_patterns_add(policy->commands[i].allow, negated.data,
				     err);
	return rc;
}

static int shield_file(struct hf_policy *policy, struct hf_error *err)
{
	cleanup_free char *target = hf_file_canonical(policy->file);
	cleanup_free char *entry = NULL;
	int rc;

	rc = shield(policy, policy->file_entry, err);
	if (rc < 0 || !target || strcmp(target, policy->file) == 0)
		return rc;
	/* A link: what it leads to is the policy just as well. */
	entry = entry_of(target, policy->root);
	if (!entry)
		return hf_fail_memory(err);
	return shield(policy, entry, err);
}

int hf_policy_load(struct hf_policy *policy,
		   const struct hf_policy_options *options, const char *root,
		   const char *file, struct hf_error *err)
{
	int rc = 0;

	hf_policy_set_defaults(policy);
	policy->root = strdup(root);
	if (!policy->root)
		return hf_fail_memory(err);
	if (file) {
		policy->file = strdup(file);
		policy->file_entry = entry_of(file, root);
		if (!policy->file || !policy->file_entry)
			return hf_fail_memory(err);
		rc = read_file(policy, options->config != NULL, err);
	}
	if (rc < 0)
		return rc;
	rc = add_options(policy, options, err);
	if (rc < 0)
		return rc;
	return file ? shield_file(policy, err) : 0;
}

/* -- asking ----------------------------------------------------------- */

static bool command_matches(const char *match, const char *const *argv)
{
	cleanup_buffer struct hf_buffer line = HF_BUFFER_INIT;

	for (size_t i = 0; argv[i]; i++) {
		if (i > 0)
			hf_buffer_add_text(&line, " ");
		hf_buffer_add_text(&line, argv[i]);
	}
	/* Out of memory allows nothing. */
	return !line.is_failed && line.data &&
	       hf_pattern_match_text(match, line.data);
}

const char *hf_policy_allows(const struct hf_policy *policy,
			     const char *const *argv, const char *path,
			     bool is_directory)
{
	const char *rule = NULL;

	if (policy->allow)
		rule = hf_patterns_match(policy->allow, path, is_directory);
	for (size_t i = 0; !rule && argv && i < policy->command_count; i++) {
		const struct hf_command_rule *const command =
			&policy->commands[i];

		/* The cheap question first: it mostly says no. */
		rule = hf_patterns_match(command->allow, path, is_directory);
		if (rule && !command_matches(command->match, argv))
			rule = NULL;
	}
	return rule;
}
