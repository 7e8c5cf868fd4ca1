/* SPDX-License-Identifier: MIT */
/* holdfast recover: settle sessions that did not end, entry by entry. */
#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "cli/paths.h"
#include "cli/repair.h"
#include "cli/undecided.h"
#include "guard/recover.h"
#include "guard/repair.h"
#include "platform/job.h"
#include "platform/terminal.h"
#include "report/json.h"

/* What a person has chosen: paths of entries, or everything. */
struct choice {
	char **paths; /* NULL-terminated */
	bool *is_used;
	size_t count;
	bool is_all;
};

struct recovering {
	struct hf_cli_repair repair;
	struct choice put_back;
	struct choice keep_mine;
	struct hf_buffer json;	/* of the sessions so far */
	struct hf_buffer lines; /* what is undecided */
	size_t sessions;
	int status;
};

static void choice_done(struct choice *choice)
{
	for (size_t i = 0; i < choice->count; i++)
		free(choice->paths[i]);
	hf_free_pointee(&choice->paths);
	hf_free_pointee(&choice->is_used);
}

static void recovering_done(struct recovering *recovering)
{
	choice_done(&recovering->put_back);
	choice_done(&recovering->keep_mine);
	hf_buffer_done(&recovering->json);
	hf_buffer_done(&recovering->lines);
	hf_cli_repair_close(&recovering->repair);
}

/* -- what was typed ----------------------------------------------------------
 */

static int resolve(const char *root, bool is_chosen, const char *const *words,
		   struct choice *choice, struct hf_error *err)
{
	size_t count = 0;

	while (words[count] != NULL)
		count++;
	choice->is_all = is_chosen && count == 0;
	choice->paths = calloc(count + 1, sizeof(*choice->paths));
	choice->is_used = calloc(count + 1, sizeof(*choice->is_used));
	if (choice->paths == NULL || choice->is_used == NULL)
		return hf_fail_memory(err);
	for (; choice->count < count; choice->count++) {
		const int rc =
			hf_paths_resolve(root, words[choice->count],
					 &choice->paths[choice->count], err);

		if (rc < 0)
			return rc;
	}
	return 0;
}

static int check_words(const struct hf_options *options, struct hf_error *err)
{
	if (options->word_count == 0)
		return 0;
	(void)hf_fail(err, HF_ERR_USAGE,
		      "cannot recover '%s': what is to become of it?",
		      HF_QUOTE(options->words[0]));
	return hf_fail_hint(err, "--put-back PATH... or --keep-mine PATH...");
}

/* Everything at once is for a person who looks. */
static int check_all(const struct recovering *recovering, struct hf_error *err)
{
	const bool is_all =
		recovering->put_back.is_all || recovering->keep_mine.is_all;

	if (recovering->put_back.is_all && recovering->keep_mine.is_all)
		return hf_fail(err, HF_ERR_USAGE,
			       "cannot put everything back and keep it");
	if (!is_all || (hf_terminal_is(HF_STDIN) && hf_terminal_is(HF_STDERR)))
		return 0;
	(void)hf_fail(err, HF_ERR_USAGE,
		      "cannot decide on everything at once: nobody is at a "
		      "terminal to ask");
	return hf_fail_hint(err, "name the paths behind it");
}

static bool is_named(struct choice *choice, const char *path)
{
	bool is_found = false;

	for (size_t i = 0; i < choice->count; i++) {
		if (strcmp(path, choice->paths[i]) != 0 &&
		    !hf_path_is_beneath(path, choice->paths[i]))
			continue;
		choice->is_used[i] = true;
		is_found = true;
	}
	return is_found;
}

/* Names win over what the rules say; "all" is for what they leave open. */
static void choose(struct recovering *recovering, struct hf_recovery_work *work,
		   bool may_choose_all)
{
	const bool puts_all = may_choose_all && recovering->put_back.is_all;
	const bool keeps_all = may_choose_all && recovering->keep_mine.is_all;

	for (size_t i = 0; i < work->count; i++) {
		struct hf_recovery_item *const item = &work->items[i];
		const bool is_open = item->decision == HF_RECOVERY_UNDECIDED;
		const char *const path = hf_delta_entry(item->delta)->path;

		if (item->decision == HF_RECOVERY_NOTHING)
			continue;
		if (is_named(&recovering->put_back, path) ||
		    (is_open && puts_all))
			item->decision = HF_RECOVERY_PUT_BACK;
		if (is_named(&recovering->keep_mine, path) ||
		    (is_open && keeps_all))
			item->decision = HF_RECOVERY_LEAVE;
	}
	hf_recovery_spare_directories(work);
}

static int check_used(const struct choice *choice, const char *verb,
		      struct hf_error *err)
{
	for (size_t i = 0; i < choice->count; i++) {
		if (choice->is_used[i])
			continue;
		(void)hf_fail(err, HF_ERR_USAGE,
			      "cannot %s '%s': no session that did not end has "
			      "left it different",
			      verb, HF_QUOTE(choice->paths[i]));
		return hf_fail_hint(err, "look: holdfast recover");
	}
	return 0;
}

/* Before anything is done: does every name mean something? */
static int check_names(struct recovering *recovering, struct hf_error *err)
{
	const struct hf_cli_repair *const repair = &recovering->repair;
	int rc;

	if (recovering->put_back.count + recovering->keep_mine.count == 0)
		return 0;
	for (size_t i = 0; i < repair->dead.count; i++) {
		cleanup_recovery struct hf_recovery_work work =
			HF_RECOVERY_WORK_INIT;

		rc = hf_recover_show(
			&repair->project, &repair->dead.items[i],
			hf_output_progress(repair->output, "comparing"), &work,
			err);
		/* One that cannot be judged has no names to choose. */
		if (rc == 0)
			choose(recovering, &work, true);
	}
	rc = check_used(&recovering->put_back, "put back", err);
	return rc < 0 ? rc : check_used(&recovering->keep_mine, "keep", err);
}

/* -- one session -------------------------------------------------------------
 */

static void say_step(void *context, const struct hf_step *step)
{
	const struct recovering *const recovering = context;

	hf_cli_repair_say_step(&recovering->repair, step);
}

/* A person says yes to what is listed. */
static bool is_confirmed(const struct recovering *recovering,
			 const struct hf_recovery_work *work)
{
	const size_t count = hf_recovery_count(work, HF_RECOVERY_UNDECIDED);
	cleanup_buffer struct hf_buffer question = HF_BUFFER_INIT;
	char answer[16] = "";

	if (!recovering->put_back.is_all && !recovering->keep_mine.is_all)
		return true;
	if (count == 0)
		return true;
	hf_undecided_add(work, recovering->repair.output->style.location,
			 &question);
	hf_buffer_printf(&question, "%s %zu %s? [y/N] ",
			 recovering->put_back.is_all ? "put back"
						     : "keep as they are",
			 count, count == 1 ? "entry" : "entries");
	hf_output_lines(recovering->repair.output, &question);
	return hf_terminal_read_line(HF_STDIN, answer, sizeof(answer)) > 0 &&
	       (answer[0] == 'y' || answer[0] == 'Y');
}

static void tell(struct recovering *recovering,
		 const struct hf_recovery_work *work,
		 const struct hf_recovery_result *result)
{
	const struct hf_cli_repair *const repair = &recovering->repair;
	const uint64_t number = hf_name_number(&work->record.name);
	const size_t left = hf_recovery_count(work, HF_RECOVERY_LEAVE);

	if (repair->options->is_json)
		hf_undecided_add_json(work, result, recovering->sessions++ == 0,
				      &recovering->json);
	hf_undecided_add(work, repair->output->style.location,
			 &recovering->lines);
	if (result->undecided + result->failed > 0)
		recovering->status = HF_STATUS_UNDECIDED;
	if (repair->options->is_quiet)
		return;
	if (work->ended > 0)
		hf_output_say(
			repair->output,
			"ended %zu of its processes that were still there",
			work->ended);
	if (left > 0)
		hf_output_say(repair->output, "kept %zu %s as %s", left,
			      left == 1 ? "entry" : "entries",
			      left == 1 ? "it is" : "they are");
	if (result->undecided + result->failed == 0)
		hf_output_say(repair->output,
			      "session %" PRIu64
			      ", which did not end, is settled",
			      number);
	if (result->put_back > 0)
		hf_output_say(repair->output, "undo: holdfast undo%s %" PRIu64,
			      repair->output->style.location,
			      hf_name_number(&result->session));
}

static int recover_one(struct recovering *recovering,
		       const struct hf_name *name, struct hf_error *err)
{
	cleanup_recovery struct hf_recovery_work work = HF_RECOVERY_WORK_INIT;
	struct hf_cli_repair *const repair = &recovering->repair;
	struct hf_recovery_result result = {0};
	cleanup_ends unsigned held = 0;
	int rc;

	if (hf_recover_is_half_undone(&repair->project, name, "recover", err))
		return err->code;
	rc = hf_recover_look(&repair->project, name,
			     hf_output_progress(repair->output, "comparing"),
			     &work, err);
	if (rc < 0)
		return rc;
	choose(recovering, &work, is_confirmed(recovering, &work));
	held = hf_process_hold_ends();
	rc = hf_recover_apply(&repair->project, &work, say_step, recovering,
			      &result, err);
	if (rc < 0)
		return rc;
	tell(recovering, &work, &result);
	return 0;
}

/* -- the command -------------------------------------------------------------
 */

static void print(struct recovering *recovering)
{
	struct hf_cli_repair *const repair = &recovering->repair;

	if (!repair->options->is_json) {
		hf_output_result(repair->output, &recovering->lines);
		return;
	}
	hf_buffer_add_text(&recovering->json,
			   recovering->sessions == 0 ? "]}\n" : "\n]}\n");
	hf_output_result(repair->output, &recovering->json);
}

static int recover(struct recovering *recovering,
		   const struct hf_options *options, struct hf_output *output,
		   struct hf_error *err)
{
	struct hf_cli_repair *const repair = &recovering->repair;
	int rc;

	rc = check_words(options, err);
	if (rc < 0)
		return rc;
	rc = hf_cli_repair_open(repair, "recover", options, output,
				HF_STORE_MUST_EXIST, err);
	if (rc < 0)
		return rc;
	rc = resolve(repair->project.root, options->is_putting_back,
		     options->put_back, &recovering->put_back, err);
	if (rc == 0)
		rc = resolve(repair->project.root, options->is_keeping,
			     options->keep_mine, &recovering->keep_mine, err);
	if (rc == 0)
		rc = check_all(recovering, err);
	if (rc == 0)
		rc = check_names(recovering, err);
	if (rc < 0)
		return rc;
	hf_buffer_add_text(&recovering->json,
			   "{\"holdfast-json\": 1, \"command\": \"recover\", "
			   "\"sessions\": [");
	if (repair->dead.count == 0 && !options->is_quiet && !options->is_json)
		hf_output_say(output,
			      "nothing to recover: every session has ended");
	for (size_t i = 0; i < repair->dead.count; i++) {
		struct hf_error failure = {0};

		/* One that cannot be judged does not stop the others. */
		if (recover_one(recovering, &repair->dead.items[i], &failure) <
		    0) {
			hf_output_error(output, &failure);
			recovering->status = hf_output_status(&failure);
		}
	}
	print(recovering);
	return 0;
}

int hf_cmd_recover(const struct hf_options *options, struct hf_output *output)
{
	CLEANUP(recovering_done)
	struct recovering recovering = {
		.repair = HF_CLI_REPAIR_INIT,
		.json = HF_BUFFER_INIT,
		.lines = HF_BUFFER_INIT,
		.status = HF_STATUS_DONE,
	};
	struct hf_error err = {0};

	if (recover(&recovering, options, output, &err) < 0)
		return hf_output_fail(output, &err);
	return recovering.status;
}
