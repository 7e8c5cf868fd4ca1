/* SPDX-License-Identifier: MIT */
/* holdfast status: one screen, whose last line is the next command to type. */
#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/differences.h"
#include "cli/hook_lines.h"
#include "cli/repair.h"
#include "cli/sessions.h"
#include "cli/undecided.h"
#include "core/nearby.h"
#include "core/snapshot.h"
#include "core/snapshot_lost.h"
#include "guard/recover.h"
#include "platform/system.h"
#include "report/json.h"

#define DIFFERENCES_SHOWN 10

/* All that is shown. */
struct state {
	struct hf_project project;
	struct hf_manifest manifest;
	struct hf_tree now;
	struct hf_deltas deltas;
	struct hf_names living;
	struct hf_names dead;
	struct hf_buffer undecided; /* entries of those, as lines */
	struct hf_pack_lost lost;
	struct hf_name lost_to; /* the newest snapshot that needs it */
	struct hf_session_record last; /* the newest that can be read */
	struct hf_hook_place hooks;
	bool has_hooks; /* the root is in a git repository */
	uint64_t store_bytes;
	bool has_store;
	bool has_snapshot;
	bool has_last;
	size_t protected_now;
};

static void state_done(struct state *state)
{
	hf_hook_place_done(&state->hooks);
	hf_session_record_done(&state->last);
	hf_buffer_done(&state->undecided);
	hf_names_done(&state->dead);
	hf_names_done(&state->living);
	hf_deltas_done(&state->deltas);
	hf_tree_done(&state->now);
	hf_manifest_done(&state->manifest);
	hf_project_done(&state->project);
}

static int load_last(struct state *state, struct hf_error *err)
{
	cleanup_names struct hf_names names = HF_NAMES_INIT;
	int rc;

	rc = hf_journal_list(&state->project.store, &names, err);
	if (rc < 0)
		return rc;
	for (size_t i = names.count; i > 0 && !state->has_last; i--) {
		rc = hf_journal_read(&state->project.store, &names.items[i - 1],
				     &state->last, err);
		/* `log` tells of those that are damaged. */
		if (rc < 0 && rc != HF_ERR_CORRUPT)
			return rc;
		state->has_last = rc == 0;
		/* Nobody typed that. */
		if (rc == 0 && strcmp(state->last.kind, "retention") == 0) {
			hf_session_record_done(&state->last);
			state->last = (struct hf_session_record)
				HF_SESSION_RECORD_INIT;
			state->has_last = false;
		}
	}
	return 0;
}

/* Nothing can be said of one that is damaged, or is an undo. */
static void load_undecided(struct state *state, const char *location)
{
	for (size_t i = 0; i < state->dead.count; i++) {
		cleanup_recovery struct hf_recovery_work work =
			HF_RECOVERY_WORK_INIT;
		const struct hf_name *const name = &state->dead.items[i];
		struct hf_error ignored;

		if (!hf_recover_is_half_undone(&state->project, name, "go on",
					       &ignored) &&
		    hf_recover_show(&state->project, name, NULL, &work,
				    &ignored) == 0)
			hf_undecided_add(&work, location, &state->undecided);
	}
}

static int load_store(struct state *state, struct hf_output *output,
		      struct hf_error *err)
{
	struct hf_store *store = &state->project.store;
	int rc;

	rc = hf_project_open_store(&state->project, HF_STORE_MUST_EXIST, err);
	if (rc < 0)
		return err->code == HF_ERR_NOTHING ? 0 : rc;
	state->has_store = true;
	rc = hf_store_size(store, &state->store_bytes, err);
	if (rc < 0)
		return rc;
	hf_cli_recover(&state->project, output);
	rc = hf_journal_find_open(store, &state->living, &state->dead, err);
	if (rc < 0)
		return rc;
	load_undecided(state, output->style.location);
	rc = load_last(state, err);
	if (rc < 0)
		return rc;
	rc = hf_snapshot_load_newest(store, &state->manifest, err);
	if (rc == HF_ERR_NOTHING)
		return 0;
	if (rc < 0)
		return rc;
	state->has_snapshot = true;
	return hf_snapshot_find_lost(store, &state->manifest.tree, &state->lost,
				     &state->lost_to, err);
}

/* By the stat cache: what looks as it did is not read. */
static int load_tree(struct state *state, struct hf_output *output,
		     struct hf_error *err)
{
	struct hf_scan_options scan =
		hf_project_scan_options(&state->project, NULL);
	int rc;

	scan.is_tolerant = true;
	if (state->has_snapshot)
		scan.before = &state->manifest.tree;
	rc = hf_scan(&scan, &state->now, NULL, err);
	if (rc < 0)
		return rc;
	state->protected_now = hf_tree_protected_count(&state->now);
	if (!state->has_snapshot)
		return 0;
	(void)hf_scan_use_cache(&state->now, &state->manifest.tree);
	rc = hf_scan_read(&scan, &state->now, NULL, true,
			  hf_output_progress(output, "comparing"), err);
	if (rc < 0)
		return rc;
	return hf_compare(&state->manifest.tree, &state->now, &state->deltas,
			  err);
}

/* Without git, or outside a repository, there is nothing to say. */
static void load_hooks(struct state *state)
{
	struct hf_error ignored;

	state->has_hooks = hf_hook_place_find(state->project.root,
					      &state->hooks, &ignored) == 0;
}

/* -- the screen -------------------------------------------------------------- */

/* What the next run arms. */
static const char *layers_of(enum hf_gate_mode mode)
{
	switch (mode) {
	case HF_GATE_AUTO:
		break;
	case HF_GATE_REQUIRE:
		return "gate (required), leases, watch, look at the content "
		       "at the end";
	case HF_GATE_OFF:
		return "watch, look at the content at the end; the policy "
		       "turns gate and leases off";
	}
	return "gate and leases where they can be had, watch, look at the "
	       "content at the end";
}

static void add_where(const struct state *state, struct hf_buffer *out)
{
	struct hf_short_text size;

	hf_buffer_add_text(out, "root      ");
	hf_text_add_name(out, state->project.root);
	hf_buffer_add_text(out, "\npolicy    ");
	if (state->project.policy.file != NULL) {
		hf_text_add_name(out, state->project.policy.file);
	} else {
		const struct hf_patterns *protect =
			state->project.policy.protect;

		hf_buffer_add_text(out, "no file:");
		for (size_t i = 0; i < hf_patterns_count(protect) && i < 5;
		     i++) {
			hf_buffer_add_text(out, " ");
			hf_text_add_name(out, hf_patterns_text(protect, i));
		}
	}
	hf_buffer_add_text(out, "\nstore     ");
	hf_text_add_name(out, state->project.store_path);
	if (state->has_store) {
		const char *const risk =
			hf_text_store_risk(&state->project.store);

		hf_buffer_printf(out, " (%s)\n",
				 hf_format_size(&size, state->store_bytes));
		if (risk)
			hf_buffer_printf(out, "          %s\n", risk);
	} else {
		hf_buffer_add_text(out, " (not made yet)\n");
	}
	hf_buffer_printf(out, "layers    %s\n",
			 layers_of(state->project.policy.gate));
}

static void add_history(const struct state *state, struct hf_buffer *out)
{
	const int64_t now = hf_system_time_ns();
	struct hf_short_text age;

	if (state->has_last) {
		hf_buffer_printf(out, "last      %s ", state->last.kind);
		hf_text_add_number(out, &state->last.name);
		hf_buffer_printf(
			out, ", %s ago: ",
			hf_format_span(&age, now - state->last.begun_ns));
		hf_sessions_describe(
			&state->last,
			hf_sessions_has(&state->living, &state->last.name),
			out);
		hf_buffer_add_text(out, "\n");
	}
	if (state->has_snapshot) {
		hf_buffer_add_text(out, "snapshot  ");
		hf_text_add_number(out, &state->manifest.name);
		hf_buffer_printf(
			out, ", %s ago\n",
			hf_format_span(&age, now - state->manifest.created_ns));
	}
}

static void add_tree(const struct state *state, struct hf_buffer *out)
{
	if (state->protected_now == 0 && state->deltas.count == 0) {
		hf_buffer_add_text(out, "tree      nothing is protected: ");
		hf_nearby_describe(state->project.root_fd,
				   &state->project.policy, out);
		hf_buffer_add_text(out, "\n");
	} else if (!state->has_snapshot) {
		hf_buffer_add_text(out, "tree      ");
		hf_text_add_count(out, state->protected_now, "entry is",
				  "entries are");
		hf_buffer_add_text(out, " protected, nothing is recorded "
					"yet\n");
	} else if (state->deltas.count == 0) {
		hf_buffer_add_text(out, "tree      ");
		hf_text_add_count(out, state->protected_now, "entry is",
				  "entries are");
		hf_buffer_add_text(out, " as recorded\n");
	} else {
		hf_buffer_add_text(out, "tree      ");
		hf_text_add_count(out, state->deltas.count, "entry differs",
				  "entries differ");
		hf_buffer_add_text(out, " from the snapshot:\n");
		hf_differences_add(&state->deltas, DIFFERENCES_SHOWN, out);
	}
}

static void add_open(const struct state *state, const char *location,
		     struct hf_buffer *out)
{
	for (size_t i = 0; i < state->dead.count; i++) {
		hf_buffer_add_text(out, "undecided session ");
		hf_text_add_number(out, &state->dead.items[i]);
		hf_buffer_printf(out,
				 " did not end: 'holdfast recover%s' settles "
				 "it\n",
				 location);
	}
	if (state->undecided.len > 0)
		hf_buffer_add(out, state->undecided.data,
			      state->undecided.len);
	for (size_t i = 0; i < state->living.count; i++) {
		hf_buffer_add_text(out, "running   session ");
		hf_text_add_number(out, &state->living.items[i]);
		hf_buffer_add_text(out, " is in progress\n");
	}
}

static void add_lost(const struct state *state, struct hf_buffer *out)
{
	if (state->lost.count == 0)
		return;
	hf_buffer_add_text(out, "lost      ");
	hf_text_add_lost(out, &state->lost);
	hf_buffer_add_text(out, ", and snapshot ");
	hf_text_add_number(out, &state->lost_to);
	hf_buffer_add_text(out, " cannot be restored in full\n");
}

/* The command of the last run again, or a blank to fill in. */
static void add_run(const struct state *state, const char *location,
		    struct hf_buffer *out)
{
	const bool has_command =
		state->has_last && strcmp(state->last.kind, "run") == 0 &&
		state->last.argv != NULL && state->last.argv[0] != NULL;

	hf_buffer_printf(out, "holdfast run%s --", location);
	if (!has_command) {
		hf_buffer_add_text(out, " COMMAND");
		return;
	}
	for (size_t i = 0; state->last.argv[i] != NULL; i++) {
		hf_buffer_add_text(out, " ");
		hf_text_add_shell(out, state->last.argv[i]);
	}
}

static void add_next(const struct state *state, const char *location,
		     struct hf_buffer *out)
{
	if (state->living.count > 0)
		hf_buffer_printf(out, "holdfast log%s", location);
	else if (state->dead.count > 0)
		hf_buffer_printf(out, "holdfast recover%s", location);
	else if (hf_differences_matter(&state->deltas))
		hf_buffer_printf(out, "holdfast restore --dry-run%s", location);
	else if (state->protected_now == 0 && !state->project.policy.file)
		hf_buffer_printf(out, "holdfast init%s", location);
	else if (state->protected_now == 0)
		hf_buffer_printf(out,
				 "holdfast run%s --protect GLOB -- "
				 "COMMAND",
				 location);
	else
		add_run(state, location, out);
}

/* -- JSON -------------------------------------------------------------------- */

static void add_names(const struct hf_names *names, struct hf_buffer *out)
{
	hf_buffer_add_text(out, "[");
	for (size_t i = 0; i < names->count; i++)
		hf_buffer_printf(out, "%s\"%s\"", i == 0 ? "" : ", ",
				 names->items[i].text);
	hf_buffer_add_text(out, "]");
}

static void add_json(const struct state *state, const char *location,
		     struct hf_buffer *out)
{
	cleanup_buffer struct hf_buffer next = HF_BUFFER_INIT;

	add_next(state, location, &next);
	hf_buffer_add_text(out, "{\"holdfast-json\": 1, \"command\": "
				"\"status\", \"root\": ");
	hf_report_json_text(state->project.root, out);
	hf_buffer_add_text(out, ", \"policy\": ");
	hf_report_json_text(state->project.policy.file, out);
	hf_buffer_add_text(out, ", \"store\": ");
	hf_report_json_text(state->project.store_path, out);
	hf_buffer_printf(out, ", \"store_bytes\": %" PRIu64 ", \"snapshot\": ",
			 state->store_bytes);
	hf_report_json_text(
		state->has_snapshot ? state->manifest.name.text : NULL, out);
	hf_buffer_add_text(out, ", \"last_session\": ");
	hf_report_json_text(state->has_last ? state->last.name.text : NULL,
			    out);
	hf_buffer_add_text(out, ", \"running\": ");
	add_names(&state->living, out);
	hf_buffer_add_text(out, ", \"undecided\": ");
	add_names(&state->dead, out);
	hf_buffer_printf(out,
			 ", \"lost_packs\": %zu, \"protected\": %zu, "
			 "\"differences\": ",
			 state->lost.count, state->protected_now);
	hf_differences_add_json(&state->deltas, out);
	hf_buffer_add_text(out, ", \"hooks\": ");
	hf_hook_lines_add_json(state->has_hooks ? &state->hooks : NULL, out);
	hf_buffer_add_text(out, ", \"next\": ");
	hf_report_json_text(next.data, out);
	hf_buffer_add_text(out, "}\n");
}

static int load(struct state *state, const struct hf_options *options,
		struct hf_output *output, struct hf_error *err)
{
	int rc;

	if (options->word_count > 0)
		return hf_fail(err, HF_ERR_USAGE,
			       "cannot use '%s': status takes no arguments",
			       HF_QUOTE(options->words[0]));
	rc = hf_command_find_project(&state->project, options, options->store,
				     err);
	if (rc < 0)
		return rc;
	rc = load_store(state, output, err);
	return rc < 0 ? rc : load_tree(state, output, err);
}

int hf_cmd_status(const struct hf_options *options, struct hf_output *output)
{
	CLEANUP(state_done)
	struct state state = {
		.project = HF_PROJECT_INIT,
		.manifest = HF_MANIFEST_INIT,
		.last = HF_SESSION_RECORD_INIT,
		.undecided = HF_BUFFER_INIT,
	};
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;
	const char *location = output->style.location;
	struct hf_error err = { 0 };

	if (load(&state, options, output, &err) < 0)
		return hf_output_fail(output, &err);
	load_hooks(&state);
	if (options->is_json) {
		add_json(&state, location, &out);
	} else {
		add_where(&state, &out);
		add_history(&state, &out);
		add_open(&state, location, &out);
		add_tree(&state, &out);
		add_lost(&state, &out);
		if (state.has_hooks)
			hf_hook_lines_add_state(&state.hooks, &out);
		hf_buffer_add_text(&out, "next      ");
		add_next(&state, location, &out);
		hf_buffer_add_text(&out, "\n");
	}
	hf_output_result(output, &out);
	return hf_differences_matter(&state.deltas) || state.dead.count > 0 ||
			       state.lost.count > 0 ?
		       HF_STATUS_DIFFERS :
		       HF_STATUS_DONE;
}
