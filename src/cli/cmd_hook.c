/* SPDX-License-Identifier: MIT */
/* holdfast hook: install and uninstall what git calls. */
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "cli/command.h"
#include "guard/hook_place.h"
#include "platform/program.h"
#include "platform/system.h"
#include "report/json.h"

/* Of each hook, what came of it. */
struct outcome {
	enum hf_hook_result results[HF_HOOKS];
	bool is_wanted[HF_HOOKS];
	bool has_failed[HF_HOOKS];
	struct hf_error first; /* code 0: none */
};

static int find_wanted(const struct hf_options *options,
		       struct outcome *outcome, struct hf_error *err)
{
	for (size_t i = 0; i < HF_HOOKS; i++)
		outcome->is_wanted[i] = options->word_count == 1;
	for (size_t i = 1; i < options->word_count; i++) {
		const enum hf_hook hook = hf_hook_find(options->words[i]);

		if (hook == HF_HOOKS) {
			(void)hf_fail(err, HF_ERR_USAGE,
				      "cannot use the hook '%s': there is no "
				      "such one here",
				      HF_QUOTE(options->words[i]));
			return hf_fail_hint(err, "it is one of pre-commit, "
						 "post-checkout, post-merge, "
						 "post-rewrite, pre-push");
		}
		outcome->is_wanted[hook] = true;
	}
	return 0;
}

static int find_place(const struct hf_options *options,
		      struct hf_hook_place *place, struct hf_error *err)
{
	const char *const named = options->policy.root;
	cleanup_free char *directory = hf_file_canonical(named ? named : ".");

	if (directory == NULL)
		return hf_fail(err, HF_ERR_USAGE, "cannot use '%s': %s",
			       HF_QUOTE(named ? named : "."), strerror(errno));
	return hf_hook_place_find(directory, place, err);
}

static void do_each(struct hf_hook_place *place, bool is_install,
		    const char *program, struct outcome *outcome,
		    struct hf_output *output)
{
	for (size_t i = 0; i < HF_HOOKS; i++) {
		const enum hf_hook hook = (enum hf_hook)i;
		struct hf_error err = {0};
		int rc;

		if (!outcome->is_wanted[i])
			continue;
		rc = is_install ? hf_hook_install(place, hook, program,
						  &outcome->results[i], &err)
				: hf_hook_uninstall(place, hook,
						    &outcome->results[i], &err);
		if (rc == 0)
			continue;
		outcome->has_failed[i] = true;
		hf_output_error(output, &err);
		if (outcome->first.code == 0)
			outcome->first = err;
	}
}

/* -- words -------------------------------------------------------------------
 */

static void add_names(const struct outcome *outcome, enum hf_hook_result result,
		      struct hf_buffer *out)
{
	for (size_t i = 0; i < HF_HOOKS; i++)
		if (outcome->is_wanted[i] && !outcome->has_failed[i] &&
		    outcome->results[i] == result)
			hf_buffer_printf(out, "%s%s", out->len == 0 ? "" : ", ",
					 hf_hook_name((enum hf_hook)i));
}

static void say_results(const struct outcome *outcome,
			const struct hf_hook_place *place,
			struct hf_output *output)
{
	static const char *const words[HF_HOOK_RESULTS] = {
		[HF_HOOK_INSTALLED] = "installed",
		[HF_HOOK_CHAINED] = "installed in front of the hook that was "
				    "there, which is called first",
		[HF_HOOK_UNCHANGED] = "there already",
		[HF_HOOK_REMOVED] = "removed",
		[HF_HOOK_GIVEN_BACK] = "removed, and the hook that was there "
				       "before is back",
		[HF_HOOK_NONE] = "not installed",
	};

	for (size_t i = 0; i < HF_HOOK_RESULTS; i++) {
		cleanup_buffer struct hf_buffer names = HF_BUFFER_INIT;

		add_names(outcome, (enum hf_hook_result)i, &names);
		if (names.len > 0)
			hf_output_say(output, "%s: %s ('%s')", words[i],
				      names.data, HF_QUOTE(place->directory));
	}
}

static void say_limits(const struct hf_hook_place *place,
		       struct hf_output *output)
{
	if (place->is_shared)
		hf_output_mark(
			output, "note",
			"core.hooksPath is set for all your "
			"repositories: the hooks are called in each, and "
			"do nothing where nothing is recorded");
	if (place->is_bare)
		hf_output_mark(
			output, "note",
			"the repository is bare: its hooks are called in "
			"work trees that are added to it");
	hf_output_mark(
		output, "note",
		"'git clean', 'git stash' and 'git reset --hard' call no "
		"hook: what they take away comes back at the next "
		"checkout or merge, or by 'holdfast restore'");
}

static void print_json(const struct outcome *outcome,
		       const struct hf_hook_place *place, bool is_install,
		       struct hf_output *output)
{
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;
	bool is_first = true;

	hf_buffer_printf(&out,
			 "{\"holdfast-json\": 1, \"command\": \"hook %s\", ",
			 is_install ? "install" : "uninstall");
	hf_report_json_path(place->directory, &out);
	hf_buffer_add_text(&out, ", \"hooks\": [");
	for (size_t i = 0; i < HF_HOOKS; i++) {
		if (!outcome->is_wanted[i])
			continue;
		hf_buffer_printf(
			&out, "%s{\"name\": \"%s\", \"result\": \"%s\"}",
			is_first ? "" : ", ", hf_hook_name((enum hf_hook)i),
			outcome->has_failed[i]
				? "failed"
				: hf_hook_result_name(outcome->results[i]));
		is_first = false;
	}
	hf_buffer_add_text(&out, "]}\n");
	hf_output_result(output, &out);
}

/* -- doing -------------------------------------------------------------------
 */

static int change(const struct hf_options *options, struct hf_output *output,
		  bool is_install, struct hf_error *err)
{
	cleanup_hook_place struct hf_hook_place place = HF_HOOK_PLACE_INIT;
	cleanup_free char *program = NULL;
	struct outcome outcome = {.first = {0}};
	int rc;

	rc = find_wanted(options, &outcome, err);
	if (rc == 0)
		rc = find_place(options, &place, err);
	if (rc < 0)
		return rc;
	rc = hf_program_self(&program);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot find myself");
	do_each(&place, is_install, program, &outcome, output);
	rc = hf_hook_place_remember(&place, err);
	if (rc < 0)
		return rc;
	if (options->is_json)
		print_json(&outcome, &place, is_install, output);
	if (!options->is_quiet && !options->is_json) {
		say_results(&outcome, &place, output);
		if (is_install)
			say_limits(&place, output);
	}
	/* Said already. */
	return outcome.first.code == 0 ? HF_STATUS_DONE : HF_STATUS_FAILED;
}

int hf_cmd_hook(const struct hf_options *options, struct hf_output *output)
{
	const char *const word = options->words[0];
	struct hf_error err = {0};
	int rc;

	if (word != NULL && strcmp(word, "run") == 0)
		return hf_cmd_hook_run(options, output);
	if (word == NULL ||
	    (strcmp(word, "install") != 0 && strcmp(word, "uninstall") != 0)) {
		(void)hf_fail(&err, HF_ERR_USAGE,
			      "cannot use 'hook%s%s': it is install, uninstall "
			      "or run",
			      word == NULL ? "" : " ",
			      word == NULL ? "" : HF_QUOTE(word));
		return hf_output_fail(output, &err);
	}
	rc = change(options, output, strcmp(word, "install") == 0, &err);
	return rc < 0 ? hf_output_fail(output, &err) : rc;
}
