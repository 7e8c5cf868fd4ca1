/* SPDX-License-Identifier: MIT */
/* holdfast init: find what deserves protection, ask, write holdfast.json. */
#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "cli/ask.h"
#include "cli/choice.h"
#include "cli/command.h"
#include "core/candidates.h"
#include "core/policy_text.h"
#include "core/runners.h"
#include "platform/file.h"
#include "platform/terminal.h"
#include "report/json.h"

#define ANSWER_MAX    512
#define QUESTIONS_MAX 5

struct work {
	const struct hf_options *options;
	struct hf_output *output;
	char *root;
	int root_fd;
	char *file; /* what is or would be written */
	struct hf_candidates found;
	bool chosen[HF_CANDIDATES_MAX];
	struct hf_runners runners;
	const char **patterns; /* for the file; strings belong to others */
	size_t pattern_count;
	char **excluded; /* "!" and what --exclude says */
	size_t excluded_count;
	struct hf_buffer text; /* of the file */
};

static void work_done(struct work *work)
{
	for (size_t i = 0; i < work->excluded_count; i++)
		free(work->excluded[i]);
	hf_free_pointee(&work->excluded);
	hf_free_pointee(&work->patterns);
	hf_buffer_done(&work->text);
	hf_candidates_done(&work->found);
	hf_free_pointee(&work->file);
	hf_free_pointee(&work->root);
	hf_file_close_quietly(&work->root_fd);
}

/* -- where --------------------------------------------------------------------
 */

static int fail_there(const char *file, struct hf_error *err)
{
	(void)hf_fail(err, HF_ERR_USAGE,
		      "cannot make '%s': it is there already", HF_QUOTE(file));
	return hf_fail_hint(err, "'holdfast run --dry-run -- true' lists what "
				 "it protects");
}

/* One that governs this directory from above lies in the root that is found. */
static int find_place(struct work *work, struct hf_error *err)
{
	cleanup_free char *policy = NULL;
	struct hf_stat stat;
	int rc;

	rc = hf_policy_find(&work->options->policy, &work->root, &policy, err);
	if (rc < 0) {
		if (rc == HF_ERR_DENIED)
			err->code = HF_ERR_USAGE;
		return err->code;
	}
	work->file = hf_path_join(work->root, HF_POLICY_NAME);
	if (!work->file)
		return hf_fail_memory(err);
	work->root_fd = hf_file_open_directory(work->root);
	if (work->root_fd < 0)
		return hf_fail_system(err, work->root_fd, "cannot open '%s'",
				      HF_QUOTE(work->root));
	if (hf_file_stat_at(work->root_fd, HF_POLICY_NAME, &stat) == 0)
		return fail_there(work->file, err);
	return 0;
}

/* -- what
 * ---------------------------------------------------------------------- */

static void add_candidate(const struct hf_candidate *item, size_t number,
			  bool is_chosen, struct hf_buffer *out)
{
	struct hf_short_text size;

	hf_buffer_printf(out, "%c %3zu  ", is_chosen ? '*' : ' ', number);
	hf_buffer_add_quoted(out, item->pattern, strlen(item->pattern));
	hf_buffer_printf(out, "  %zu file%s, %s", item->files,
			 item->files == 1 ? "" : "s",
			 hf_format_size(&size, item->bytes));
	if (item->git == HF_CANDIDATE_UNHELD && item->unheld < item->files)
		hf_buffer_printf(out, ", %zu not in git", item->unheld);
	hf_buffer_add_text(out, "\n");
}

static void add_list(const struct work *work, struct hf_buffer *out)
{
	const struct hf_candidates *const found = &work->found;
	const char *title = "";

	for (size_t i = 0; i < found->count; i++) {
		const struct hf_candidate *const item = &found->items[i];
		const char *const wanted =
			item->git == HF_CANDIDATE_UNHELD
				? "not in git, or not all of it:"
			: item->git == HF_CANDIDATE_HELD ? "in git:"
							 : "found:";

		if (strcmp(title, wanted) != 0)
			hf_buffer_printf(out, "%s\n", wanted);
		title = wanted;
		add_candidate(item, i + 1, work->chosen[i], out);
	}
	if (found->is_cut)
		hf_buffer_add_text(out, "(there is more than was looked at)\n");
}

static size_t count_chosen(const struct work *work)
{
	size_t count = 0;

	for (size_t i = 0; i < work->found.count; i++)
		count += work->chosen[i] ? 1 : 0;
	return count;
}

/* A person decides; what is marked is taken by an empty line.  1, or 0 when
 * nothing is to be written. */
static int ask(struct work *work, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer list = HF_BUFFER_INIT;
	char answer[ANSWER_MAX];

	add_list(work, &list);
	hf_output_lines(work->output, &list);
	for (unsigned i = 0; i < QUESTIONS_MAX; i++) {
		cleanup_buffer struct hf_buffer question = HF_BUFFER_INIT;

		hf_buffer_printf(&question, "protect which? [numbers, all, "
					    "none; Enter: those with *] ");
		hf_output_lines(work->output, &question);
		if (hf_terminal_read_line(HF_STDIN, answer, sizeof(answer)) < 0)
			return 0;
		if (hf_choice_parse(answer, work->found.count, work->chosen,
				    err) == 0)
			return count_chosen(work) > 0;
		hf_output_error(work->output, err);
	}
	return 0;
}

static bool can_ask(const struct hf_options *options)
{
	return !options->is_json && !options->is_dry_run &&
	       !options->is_quiet && hf_ask_is_possible();
}

/* Where nobody is asked, or given the list, this is all there is of it. */
static void note_cut(const struct work *work)
{
	const struct hf_options *const options = work->options;

	if (work->found.is_cut && !options->is_json && !options->is_quiet &&
	    !options->is_dry_run)
		hf_output_mark(work->output, "note",
			       "there is more than was looked at; what is not "
			       "protected but should be: add it to '%s'",
			       HF_QUOTE(work->file));
}

/* 1, or 0 when a person wants nothing. */
static int choose(struct work *work, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer list = HF_BUFFER_INIT;
	const struct hf_options *const options = work->options;
	int rc;

	rc = hf_candidates_find(work->root, work->root_fd, &work->found, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < work->found.count; i++)
		work->chosen[i] = options->policy.protect[0] == NULL &&
				  work->found.items[i].is_default;
	if (options->policy.protect[0] != NULL)
		return 1;
	if (work->found.count > 0 && can_ask(options))
		return ask(work, err);
	if (count_chosen(work) > 0) {
		note_cut(work);
		return 1;
	}
	if (!options->is_quiet && !options->is_json) {
		add_list(work, &list);
		hf_output_lines(work->output, &list);
	}
	(void)hf_fail(err, HF_ERR_USAGE,
		      "cannot tell what to protect in '%s': %s",
		      HF_QUOTE(work->root),
		      work->found.count == 0
			      ? "nothing there looks like data"
			      : "git holds what there is, or it is large");
	return hf_fail_hint(err, "name it: holdfast init --protect GLOB");
}

/* Those of the options, or those that were chosen; then what is taken out. */
static int make_text(struct work *work, struct hf_error *err)
{
	const char *const *const protect = work->options->policy.protect;
	const char *const *const exclude = work->options->policy.exclude;
	size_t room = work->found.count + 1;

	for (size_t i = 0; protect[i] != NULL; i++)
		room++;
	for (size_t i = 0; exclude[i] != NULL; i++)
		room++;
	work->patterns = calloc(room, sizeof(*work->patterns));
	work->excluded = calloc(room, sizeof(*work->excluded));
	if (!work->patterns || !work->excluded)
		return hf_fail_memory(err);
	for (size_t i = 0; protect[i] != NULL; i++)
		work->patterns[work->pattern_count++] = protect[i];
	for (size_t i = 0; i < work->found.count; i++)
		if (work->chosen[i])
			work->patterns[work->pattern_count++] =
				work->found.items[i].pattern;
	for (size_t i = 0; exclude[i] != NULL; i++) {
		cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
		char *pattern;

		hf_buffer_printf(&text, "!%s", exclude[i]);
		pattern = hf_buffer_take(&text);
		if (!pattern)
			return hf_fail_memory(err);
		work->excluded[work->excluded_count++] = pattern;
		work->patterns[work->pattern_count++] = pattern;
	}
	return hf_policy_text(work->patterns, work->pattern_count, &work->text,
			      err);
}

/* -- telling
 * ------------------------------------------------------------------- */

static void add_runners(const struct work *work, struct hf_buffer *out)
{
	const char *const location = work->output->style.location;

	for (size_t i = 0; i < work->runners.count; i++)
		hf_buffer_printf(out, "%s holdfast run%s -- %s\n",
				 i == 0 ? "run your tests as:" : "or:",
				 location, work->runners.commands[i]);
	if (work->runners.count == 0)
		hf_buffer_printf(
			out, "run your tests as: holdfast run%s -- COMMAND\n",
			location);
}

static void add_json_candidate(const struct work *work, size_t index,
			       struct hf_buffer *out)
{
	static const char *const words[] = {"none", "not-held", "held"};
	const struct hf_candidate *const item = &work->found.items[index];

	hf_buffer_printf(out, "%s{\"pattern\": ", index == 0 ? "" : ", ");
	hf_report_json_text(item->pattern, out);
	hf_buffer_printf(
		out,
		", \"git\": \"%s\", \"files\": %zu, \"not_held\": %zu, "
		"\"bytes\": %" PRIu64 ", \"chosen\": %s}",
		words[item->git], item->files, item->unheld, item->bytes,
		work->chosen[index] ? "true" : "false");
}

static void add_json(const struct work *work, struct hf_buffer *out)
{
	hf_buffer_add_text(out,
			   "{\"holdfast-json\": 1, \"command\": \"init\", ");
	hf_report_json_path(work->file, out);
	hf_buffer_printf(out, ", \"written\": %s, \"protect\": [",
			 work->options->is_dry_run ? "false" : "true");
	for (size_t i = 0; i < work->pattern_count; i++) {
		hf_buffer_add_text(out, i == 0 ? "" : ", ");
		hf_report_json_text(work->patterns[i], out);
	}
	hf_buffer_add_text(out, "], \"candidates\": [");
	for (size_t i = 0; i < work->found.count; i++)
		add_json_candidate(work, i, out);
	hf_buffer_printf(out, "], \"cut\": %s, \"runners\": [",
			 work->found.is_cut ? "true" : "false");
	for (size_t i = 0; i < work->runners.count; i++) {
		hf_buffer_add_text(out, i == 0 ? "" : ", ");
		hf_report_json_text(work->runners.commands[i], out);
	}
	hf_buffer_add_text(out, "]}\n");
}

static void tell(const struct work *work)
{
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer list = HF_BUFFER_INIT;

	if (work->options->is_json) {
		add_json(work, &out);
	} else if (work->options->is_dry_run) {
		add_list(work, &list);
		if (!work->options->is_quiet)
			hf_output_lines(work->output, &list);
		hf_buffer_add(&out, work->text.data, work->text.len);
	} else if (!work->options->is_quiet) {
		hf_buffer_add_text(&out, "wrote ");
		hf_text_add_name(&out, work->file);
		hf_buffer_add_text(&out, ": protects");
		for (size_t i = 0; i < work->pattern_count; i++) {
			hf_buffer_add_text(&out, i == 0 ? " " : ", ");
			hf_text_add_name(&out, work->patterns[i]);
		}
		hf_buffer_add_text(&out, "\n");
		add_runners(work, &out);
	}
	hf_output_result(work->output, &out);
}

/* 1, or 0 when a person wants nothing. */
static int init(struct work *work, struct hf_error *err)
{
	const struct hf_options *const options = work->options;
	int rc;

	if (options->word_count > 0)
		return hf_fail(err, HF_ERR_USAGE,
			       "cannot use '%s': init takes no arguments",
			       HF_QUOTE(options->words[0]));
	rc = find_place(work, err);
	if (rc < 0)
		return rc;
	rc = choose(work, err);
	if (rc <= 0)
		return rc;
	rc = make_text(work, err);
	if (rc < 0)
		return rc;
	hf_runners_find(work->root_fd, &work->runners);
	if (!options->is_dry_run)
		rc = hf_policy_create(work->root_fd, work->text.data,
				      work->text.len, err);
	if (rc < 0)
		return rc;
	tell(work);
	return 1;
}

int hf_cmd_init(const struct hf_options *options, struct hf_output *output)
{
	CLEANUP(work_done)
	struct work work = {
		.options = options,
		.output = output,
		.root_fd = -1,
		.found = HF_CANDIDATES_INIT,
		.text = HF_BUFFER_INIT,
	};
	struct hf_error err = {0};
	const int rc = init(&work, &err);

	if (rc < 0)
		return hf_output_fail(output, &err);
	if (rc > 0)
		return HF_STATUS_DONE;
	hf_output_say(output, "nothing was written");
	return HF_STATUS_DIFFERS;
}
