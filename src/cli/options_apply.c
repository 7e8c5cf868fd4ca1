/* SPDX-License-Identifier: MIT */
/* What an option means. */
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "cli/options_internal.h"

/* One of three words at most, by its place. */
static int parse_word(const struct hf_option *option, const char *value,
		      const char *const *words, unsigned *ret_index,
		      struct hf_error *err)
{
	for (unsigned i = 0; words[i] != NULL; i++) {
		if (strcmp(value, words[i]) == 0) {
			*ret_index = i;
			return 0;
		}
	}
	(void)hf_fail(err, HF_ERR_USAGE, "cannot use '--%s %s': no such value",
		      option->name, HF_QUOTE(value));
	return hf_fail_hint(err, "'%s', '%s'%s%s%s", words[0], words[1],
			    words[2] == NULL ? "" : " or '",
			    words[2] == NULL ? "" : words[2],
			    words[2] == NULL ? " are possible" :
			    "' are possible");
}

static int parse_number(const struct hf_option *option, const char *value,
			uint64_t *ret_number, struct hf_error *err)
{
	if (hf_parse_u64(value, strlen(value), 10, ret_number) < 0)
		return hf_fail(err, HF_ERR_USAGE,
			       "cannot use '--%s %s': not a number",
			       option->name, HF_QUOTE(value));
	return 0;
}

void hf_options_append(const char **list, const char *value)
{
	while (*list != NULL)
		list++;
	list[0] = value;
	list[1] = NULL;
}

const char *const *hf_options_words(const struct hf_option *option)
{
	static const char *const colors[] = { "auto", "always", "never", NULL };
	static const char *const forms[] = { "none", "github", NULL };
	static const char *const gates[] = { "auto", "require", "off", NULL };
	static const char *const leftovers[] = { "end", "wait", NULL };
	static const char *const shells[] = { "bash", "zsh", "fish", NULL };

	switch (option->id) {
	case OPTION_ANNOTATIONS:
		return forms;
	case OPTION_COLOR:
		return colors;
	case OPTION_COMPLETION:
		return shells;
	case OPTION_GATE:
		return gates;
	case OPTION_LEFTOVERS:
		return leftovers;
	default:
		return NULL;
	}
}

/* The place of value among the words of an option. */
static void apply_word(struct hf_options *options,
		       const struct hf_option *option, unsigned index)
{
	struct hf_policy_options *const policy = &options->policy;

	switch (option->id) {
	case OPTION_ANNOTATIONS:
		options->has_annotations = index > 0;
		break;
	case OPTION_COLOR:
		options->color = (enum hf_color_mode)index;
		break;
	case OPTION_COMPLETION:
		options->shell = (enum hf_shell)(index + 1);
		break;
	case OPTION_GATE:
		policy->gate = (enum hf_gate_mode)index;
		policy->has_gate = true;
		break;
	default:
		policy->leftovers = (enum hf_leftovers)index;
		policy->has_leftovers = true;
		break;
	}
}

/* Those whose value is a word of a few, or a number. */
static int apply_checked(struct hf_options *options,
			 const struct hf_option *option, const char *value,
			 struct hf_error *err)
{
	const char *const *const words = hf_options_words(option);
	struct hf_policy_options *const policy = &options->policy;
	unsigned index = 0;
	int rc;

	if (words) {
		rc = parse_word(option, value, words, &index, err);
		if (rc == 0)
			apply_word(options, option, index);
		return rc;
	}
	if (option->id == OPTION_LIMIT)
		return parse_number(option, value, &options->limit, err);
	policy->has_min_protected = true;
	return parse_number(option, value, &policy->min_protected, err);
}

/* The words behind it belong to it. */
static void begin_list(struct hf_options *options, bool is_putting_back)
{
	options->is_putting_back |= is_putting_back;
	options->is_keeping |= !is_putting_back;
	options->list = is_putting_back ? options->put_back :
					  options->keep_mine;
}

static bool *flag_of(struct hf_options *options, int id)
{
	switch (id) {
	case OPTION_ALL:
		return &options->is_all;
	case OPTION_CHECK_STORE:
		return &options->checks_store;
	case OPTION_DRY_RUN:
		return &options->is_dry_run;
	case OPTION_FAIL_FAST:
		return &options->is_fail_fast;
	case OPTION_HELP:
		return &options->wants_help;
	case OPTION_JSON:
		return &options->is_json;
	case OPTION_QUIET:
		return &options->is_quiet;
	case OPTION_REMOVE_ADDITIONS:
		return &options->is_removing;
	case OPTION_VERBOSE:
		return &options->is_verbose;
	case OPTION_YES:
		return &options->has_yes;
	default:
		return NULL;
	}
}

static const char **text_of(struct hf_options *options, int id)
{
	switch (id) {
	case OPTION_CONFIG:
		return &options->policy.config;
	case OPTION_FROM:
		return &options->from;
	case OPTION_JUNIT:
		return &options->junit;
	case OPTION_PATH:
		return &options->path;
	case OPTION_REPORT:
		return &options->report;
	case OPTION_ROOT:
		return &options->policy.root;
	case OPTION_STORE:
		return &options->store;
	case OPTION_TO:
		return &options->to;
	default:
		return NULL;
	}
}

static const char **list_of(const struct hf_options *options, int id)
{
	switch (id) {
	case OPTION_ALLOW:
		return options->allow;
	case OPTION_EXCLUDE:
		return options->exclude;
	case OPTION_PROTECT:
		return options->protect;
	default:
		return NULL;
	}
}

int hf_options_apply(struct hf_options *options, const struct hf_option *option,
		     const char *value, struct hf_error *err)
{
	bool *const flag = flag_of(options, option->id);
	const char **const text = text_of(options, option->id);
	const char **const list = list_of(options, option->id);

	if (flag != NULL)
		*flag = true;
	if (text != NULL)
		*text = value;
	if (list != NULL)
		hf_options_append(list, value);
	if (flag != NULL || text != NULL || list != NULL)
		return 0;
	switch (option->id) {
	case OPTION_KEEP_GOING:
		options->policy.has_on_landed = true;
		options->policy.on_landed = HF_LANDED_KEEP_GOING;
		return 0;
	case OPTION_KEEP_MINE:
	case OPTION_PUT_BACK:
		begin_list(options, option->id == OPTION_PUT_BACK);
		return 0;
	default:
		return apply_checked(options, option, value, err);
	}
}
