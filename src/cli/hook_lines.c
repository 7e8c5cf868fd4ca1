/* SPDX-License-Identifier: MIT */
/* Put what git's hooks are and do into words. */
#include "cli/hook_lines.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "report/json.h"

/* -- status ------------------------------------------------------------------
 */

static void add_head(struct hf_buffer *out, bool *is_first)
{
	hf_buffer_add_text(out, *is_first ? "hooks     " : "          ");
	*is_first = false;
}

static void add_broken(const struct hf_hook_place *place, enum hf_hook hook,
		       enum hf_hook_state state, struct hf_buffer *out)
{
	cleanup_free char *elsewhere = hf_hook_elsewhere(place, hook);

	hf_buffer_printf(out, "%s ", hf_hook_name(hook));
	if (state == HF_HOOK_DISABLED) {
		hf_buffer_add_text(out, "does not fire: git passes over what "
					"cannot be executed");
	} else if (state == HF_HOOK_REPLACED) {
		hf_buffer_add_text(out, "does not fire: another program has "
					"replaced it");
	} else {
		hf_buffer_add_text(out, "is in ");
		hf_text_add_name(out, elsewhere ? elsewhere : "");
		hf_buffer_add_text(out, " and does not fire: core.hooksPath "
					"sends git to ");
		hf_text_add_name(out, place->directory);
	}
	hf_buffer_add_text(out, "\n");
}

void hf_hook_lines_add_state(const struct hf_hook_place *place,
			     struct hf_buffer *out)
{
	cleanup_buffer struct hf_buffer fire = HF_BUFFER_INIT;
	bool is_first = true;

	for (size_t i = 0; i < HF_HOOKS; i++)
		if (hf_hook_state(place, (enum hf_hook)i) == HF_HOOK_FIRES)
			hf_buffer_printf(&fire, "%s%s",
					 fire.len == 0 ? "" : ", ",
					 hf_hook_name((enum hf_hook)i));
	if (fire.len > 0) {
		add_head(out, &is_first);
		hf_buffer_printf(out, "%s\n", fire.data);
	}
	for (size_t i = 0; i < HF_HOOKS; i++) {
		const enum hf_hook hook = (enum hf_hook)i;
		const enum hf_hook_state state = hf_hook_state(place, hook);

		if (state == HF_HOOK_FIRES || state == HF_HOOK_ABSENT)
			continue;
		add_head(out, &is_first);
		add_broken(place, hook, state, out);
	}
	if (is_first) {
		add_head(out, &is_first);
		hf_buffer_add_text(out,
				   "none: 'holdfast hook install' lets git "
				   "call holdfast\n");
	}
}

void hf_hook_lines_add_json(const struct hf_hook_place *place,
			    struct hf_buffer *out)
{
	if (place == NULL) {
		hf_buffer_add_text(out, "null");
		return;
	}
	hf_buffer_add_text(out, "[");
	for (size_t i = 0; i < HF_HOOKS; i++) {
		const enum hf_hook hook = (enum hf_hook)i;
		cleanup_free char *elsewhere = hf_hook_elsewhere(place, hook);

		hf_buffer_printf(
			out, "%s{\"name\": \"%s\", \"state\": \"%s\", ",
			i == 0 ? "" : ", ", hf_hook_name(hook),
			hf_hook_state_name(hf_hook_state(place, hook)));
		hf_report_json_path(place->directory, out);
		hf_buffer_add_text(out, ", \"elsewhere\": ");
		hf_report_json_text(elsewhere, out);
		hf_buffer_add_text(out, "}");
	}
	hf_buffer_add_text(out, "]");
}

/* -- after -------------------------------------------------------------------
 */

static bool is_recorded(const struct hf_hook_item *item)
{
	return item->fate == HF_FATE_RECORD;
}

bool hf_hook_is_stopped(const struct hf_hook_item *item)
{
	return item->verdict != HF_VERDICT_PASS;
}

/* "'a.toml' and 2 more" */
static void add_first(const struct hf_hook_work *work,
		      bool (*is_so)(const struct hf_hook_item *item),
		      struct hf_buffer *out)
{
	const size_t count = hf_hook_count(work, is_so);
	size_t first = 0;

	while (first < work->count && !is_so(&work->items[first]))
		first++;
	hf_buffer_printf(out, "'%s'", HF_QUOTE(work->items[first].path));
	if (count > 1)
		hf_buffer_printf(out, " and %zu more", count - 1);
}

static void say_recorded(const struct hf_hook_work *work,
			 struct hf_output *output)
{
	cleanup_buffer struct hf_buffer names = HF_BUFFER_INIT;

	if (hf_hook_count(work, is_recorded) == 0)
		return;
	add_first(work, is_recorded, &names);
	if (work->snapshot.text[0] == '\0')
		hf_output_mark(output, "note",
			       "git changed %s; the next run records that",
			       names.data);
	else
		hf_output_mark(output, "note",
			       "git changed %s, which is recorded as snapshot "
			       "%" PRIu64 "; before: holdfast restore%s --from "
			       "%" PRIu64,
			       names.data, hf_name_number(&work->snapshot),
			       output->style.location,
			       hf_name_number(&work->manifest.name));
}

static const char *reason(const struct hf_hook_item *item, bool is_verbose)
{
	if (item->fate == HF_FATE_LEAVE_ONCE)
		return "a hook has put it back, and it was removed again";
	if (!is_verbose)
		return NULL;
	if (item->fate == HF_FATE_LEAVE_STASHED)
		return "a stash holds it";
	return item->fate == HF_FATE_LEAVE_PERSON ? "a person removed it"
						  : NULL;
}

void hf_hook_lines_say_after(const struct hf_hook_work *work,
			     struct hf_output *output)
{
	if (work->is_in_progress && output->style.is_verbose)
		hf_output_mark(output, "note",
			       "a rebase, merge or bisect is in progress: "
			       "nothing is put back");
	say_recorded(work, output);
	for (size_t i = 0; i < work->count; i++) {
		const struct hf_hook_item *const item = &work->items[i];
		const char *const why = reason(item, output->style.is_verbose);
		cleanup_buffer struct hf_buffer cure = HF_BUFFER_INIT;

		if (why == NULL)
			continue;
		hf_text_add_restore(&cure, work->project, NULL, item->path,
				    output->style.location);
		hf_output_mark(output, "note",
			       "'%s' stays away: %s; to bring it back: %s",
			       HF_QUOTE(item->path), why, cure.data);
	}
}

/* -- before ------------------------------------------------------------------
 */

void hf_hook_lines_say_stopped(const struct hf_hook_work *work,
			       struct hf_output *output)
{
	const char *const what =
		work->hook == HF_HOOK_PRE_PUSH ? "push" : "commit";

	for (size_t i = 0; i < work->count; i++) {
		const struct hf_hook_item *const item = &work->items[i];

		if (!hf_hook_is_stopped(item))
			continue;
		if (item->is_deleted)
			hf_output_say(output,
				      "cannot %s: '%s' would be deleted, and "
				      "snapshot %" PRIu64 " has it",
				      what, HF_QUOTE(item->path),
				      hf_name_number(&work->manifest.name));
		else
			hf_output_say(
				output,
				"cannot %s: '%s'%s%.12s is as session %" PRIu64
				" found it damaged",
				what, HF_QUOTE(item->path),
				item->commit ? " in commit " : " as staged",
				item->commit ? item->commit : "",
				hf_name_number(item->session));
	}
}

static void add_paths(const struct hf_hook_work *work, struct hf_buffer *out)
{
	for (size_t i = 0; i < work->count; i++) {
		if (!hf_hook_is_stopped(&work->items[i]))
			continue;
		hf_buffer_add_text(out, " ");
		hf_text_add_shell(out, work->items[i].path);
	}
}

/* The session whose undo says that this was meant; "" for none. */
static void find_undo(const struct hf_hook_work *work, struct hf_name *name)
{
	*name = work->session;
	for (size_t i = 0; name->text[0] == '\0' && i < work->count; i++)
		if (work->items[i].is_deleted &&
		    hf_hook_is_stopped(&work->items[i]))
			(void)hf_name_parse(
				hf_hook_history_session(&work->history,
							work->items[i].path),
				name);
}

void hf_hook_lines_say_cures(const struct hf_hook_work *work,
			     struct hf_output *output)
{
	cleanup_buffer struct hf_buffer paths = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer undo = HF_BUFFER_INIT;
	struct hf_name session;

	if (work->hook == HF_HOOK_PRE_PUSH) {
		hf_output_mark(output, "hint",
			       "put a right content into these commits (git "
			       "rebase -i), or push it nonetheless: git push "
			       "--no-verify");
		return;
	}
	add_paths(work, &paths);
	hf_output_mark(output, "hint",
		       "to commit what stands in the work tree now: git add "
		       "--%s",
		       paths.data);
	find_undo(work, &session);
	if (session.text[0] != '\0')
		hf_text_add_undo(&undo, &session, output->style.location);
	hf_output_mark(output, "hint",
		       "to commit what is staged nonetheless: %s%s",
		       undo.len > 0 ? undo.data : "git commit --no-verify",
		       undo.len > 0 ? ", then git commit" : "");
}

/* -- JSON --------------------------------------------------------------------
 */

static const char *deed(const struct hf_hook_item *item)
{
	switch (item->fate) {
	case HF_FATE_LEAVE:
		break;
	case HF_FATE_LEAVE_STASHED:
		return "left-stashed";
	case HF_FATE_LEAVE_PERSON:
		return "left-removed";
	case HF_FATE_LEAVE_ONCE:
		return "left-again";
	case HF_FATE_RECORD:
		return "recorded";
	case HF_FATE_PUT_BACK:
	case HF_FATE_PUT_BACK_OWN:
		return "put-back";
	}
	if (!hf_hook_is_stopped(item))
		return NULL;
	return item->verdict == HF_VERDICT_STOP ? "stopped"
						: "stopped-put-back";
}

void hf_hook_lines_add_run(const struct hf_hook_work *work,
			   struct hf_buffer *out)
{
	bool is_first = true;

	hf_buffer_printf(out,
			 "{\"holdfast-json\": 1, \"command\": \"hook run\", "
			 "\"hook\": \"%s\", \"in_progress\": %s, \"session\": ",
			 hf_hook_name(work->hook),
			 work->is_in_progress ? "true" : "false");
	hf_report_json_text(work->session.text[0] ? work->session.text : NULL,
			    out);
	hf_buffer_add_text(out, ", \"snapshot\": ");
	hf_report_json_text(work->snapshot.text[0] ? work->snapshot.text : NULL,
			    out);
	hf_buffer_printf(out, ", \"failed\": %zu, \"entries\": [",
			 work->failed);
	for (size_t i = 0; i < work->count; i++) {
		const struct hf_hook_item *const item = &work->items[i];
		const char *const what = deed(item);

		if (what == NULL)
			continue;
		hf_buffer_add_text(out, is_first ? "{" : ", {");
		hf_report_json_path(item->path, out);
		hf_buffer_printf(out,
				 ", \"result\": \"%s\", \"damage\": ", what);
		hf_report_json_text(item->session ? item->session->text : NULL,
				    out);
		hf_buffer_add_text(out, ", \"commit\": ");
		hf_report_json_text(item->commit, out);
		hf_buffer_add_text(out, "}");
		is_first = false;
	}
	hf_buffer_add_text(out, "]}\n");
}
