/* SPDX-License-Identifier: MIT */
/*
 * holdfast hook run: what git calls.
 *
 * It asks nobody anything.  Where nothing is recorded, or a run is in progress
 * that judges by itself, it lets git go on.
 */
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/hook_lines.h"
#include "cli/repair.h"
#include "core/retention_store.h"
#include "guard/session.h"
#include "platform/job.h"
#include "platform/terminal.h"

/* Of the lines that git writes to pre-push. */
#define INPUT_MAX ((size_t)16 << 20)

struct running {
	struct hf_cli_repair repair;
	struct hf_options options; /* as given, but for the root */
	enum hf_hook hook;
	bool is_busy; /* somebody else is at work: nothing is written */
};

static void running_done(struct running *running)
{
	hf_cli_repair_close(&running->repair);
}

static bool is_before(enum hf_hook hook)
{
	return hook == HF_HOOK_PRE_COMMIT || hook == HF_HOOK_PRE_PUSH;
}

static const char *verb_of(enum hf_hook hook)
{
	if (hook == HF_HOOK_PRE_PUSH)
		return "push";
	return hook == HF_HOOK_PRE_COMMIT ? "commit" : "look after git";
}

/* It may be one that asks, in a window that nobody looks at. */
static bool give_up(void *context)
{
	struct hf_output *const output = context;

	if (!output->style.is_quiet)
		hf_output_mark(output, "note",
			       "another holdfast is at work on this project: "
			       "git does not wait for it");
	return false;
}

static int find_hook(const struct hf_options *options, enum hf_hook *ret_hook,
		     struct hf_error *err)
{
	const char *const name = options->words[1];
	const enum hf_hook hook = name == NULL ? HF_HOOKS : hf_hook_find(name);

	if (hook < HF_HOOKS) {
		*ret_hook = hook;
		return 0;
	}
	(void)hf_fail(err, HF_ERR_USAGE, "cannot run the hook '%s'",
		      HF_QUOTE(name == NULL ? "" : name));
	return hf_fail_hint(err, "'holdfast hook run NAME' is for git; "
				 "'holdfast hook install' makes it call that");
}

/*
 * 1: go on; 0: there is nothing to do.  Git starts its hooks at the top of the
 * work tree; what lies above that is another project.
 */
static int open_project(struct running *running, const struct hf_options *given,
			struct hf_output *output, struct hf_error *err)
{
	const char *const verb = verb_of(running->hook);
	struct hf_options *const options = &running->options;
	int rc;

	*options = *given;
	if (options->policy.root == NULL)
		options->policy.root = ".";
	running->repair.on_wait = give_up;
	rc = hf_cli_repair_open(&running->repair, verb, options, output,
				HF_STORE_MUST_EXIST, err);
	if (rc >= 0) {
		const int settled =
			hf_cli_repair_recover(&running->repair, verb, err);

		return settled < 0 ? settled : 1;
	}
	if (err->code == HF_ERR_NOTHING)
		return 0;
	if (err->code != HF_ERR_BUSY)
		return rc;
	running->is_busy = true;
	return is_before(running->hook) ? 1 : 0;
}

static int look_pushed(struct hf_hook_work *work, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	int rc;

	if (hf_terminal_is(HF_STDIN))
		return 0;
	rc = hf_file_read_all(HF_STDIN, INPUT_MAX, &text);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot read what git says");
	return hf_hook_look_pushed(work, text.data, err);
}

static int look(struct hf_hook_work *work, struct hf_error *err)
{
	if (work->hook == HF_HOOK_PRE_COMMIT)
		return hf_hook_look_staged(work, err);
	if (work->hook == HF_HOOK_PRE_PUSH)
		return look_pushed(work, err);
	return hf_hook_look_after(work, err);
}

static void say_step(void *context, const struct hf_step *step)
{
	hf_cli_repair_say_step(context, step);
}

static void say_undo(const struct hf_hook_work *work, struct hf_output *output)
{
	cleanup_buffer struct hf_buffer undo = HF_BUFFER_INIT;

	if (work->session.text[0] == '\0')
		return;
	hf_text_add_undo(&undo, &work->session, output->style.location);
	hf_output_say(output, "undo: %s", undo.data);
}

static int write_all(struct running *running, struct hf_hook_work *work,
		     struct hf_error *err)
{
	cleanup_ends unsigned held = 0;
	int rc;

	if (running->is_busy) {
		if (hf_hook_count(work, hf_hook_is_put_back) > 0)
			hf_output_mark(running->repair.output, "note",
				       "a run, or another command, is in "
				       "progress: nothing is put back now");
		return 0;
	}
	held = hf_process_hold_ends();
	rc = hf_hook_put_back(work, say_step, &running->repair, err);
	return rc < 0 ? rc : hf_hook_record(work, err);
}

static void tell(const struct running *running, const struct hf_hook_work *work)
{
	struct hf_output *const output = running->repair.output;

	if (running->repair.options->is_json) {
		cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;

		hf_hook_lines_add_run(work, &out);
		hf_output_result(output, &out);
	}
	if (work->failed > 0)
		hf_output_say(output, "%zu %s not put back", work->failed,
			      work->failed == 1 ? "entry is" : "entries are");
	if (!is_before(work->hook) && !output->style.is_quiet)
		hf_hook_lines_say_after(work, output);
	else if (hf_hook_count(work, hf_hook_is_stopped) > 0)
		hf_hook_lines_say_cures(work, output);
	if (!output->style.is_quiet)
		say_undo(work, output);
}

static void drop_old(struct running *running, const struct hf_hook_work *work)
{
	struct hf_retention_hint hint = {.has_kept = true};

	if (work->session.text[0] != '\0')
		hint.session = hf_name_number(&work->session);
	if (work->snapshot.text[0] != '\0')
		hint.snapshot = hf_name_number(&work->snapshot);
	if (hint.session > 0 || hint.snapshot > 0)
		hf_retention_apply_quietly(&running->repair.project, &hint);
}

static int run(struct running *running, const struct hf_options *options,
	       struct hf_output *output, int *ret_status, struct hf_error *err)
{
	cleanup_hook_work struct hf_hook_work work = HF_HOOK_WORK_INIT;
	int rc;

	rc = find_hook(options, &running->hook, err);
	if (rc < 0)
		return rc;
	rc = open_project(running, options, output, err);
	if (rc <= 0)
		return rc;
	rc = hf_hook_work_begin(&work, &running->repair.project, running->hook,
				options->words + 2, err);
	if (rc == HF_ERR_NOTHING)
		return 0;
	if (rc == 0)
		rc = look(&work, err);
	if (rc < 0)
		return rc;
	hf_hook_lines_say_stopped(&work, output);
	rc = write_all(running, &work, err);
	if (rc < 0)
		return rc;
	tell(running, &work);
	drop_old(running, &work);
	if (hf_hook_count(&work, hf_hook_is_stopped) > 0)
		*ret_status = HF_STATUS_DIFFERS;
	if (work.failed > 0 || work.first_error.code < 0)
		*ret_status = HF_STATUS_UNDECIDED;
	return 0;
}

int hf_cmd_hook_run(const struct hf_options *options, struct hf_output *output)
{
	CLEANUP(running_done)
	struct running running = {.repair = HF_CLI_REPAIR_INIT};
	struct hf_error err = {0};
	int status = HF_STATUS_DONE;

	if (run(&running, options, output, &status, &err) < 0)
		return hf_output_fail(output, &err);
	return status;
}
