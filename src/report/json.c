/* SPDX-License-Identifier: MIT */
/*
 * The JSON report of a run, put together line by line: a violation a line, so
 * that a person can read it too.
 */
#include "report/json.h"

#include <inttypes.h>
#include <string.h>

#include "base/buffer.h"
#include "base/version.h"
#include "core/compare.h"
#include "report/deed.h"
#include "report/words.h"

static void add_candidates(const struct hf_violation *violation,
			   struct hf_buffer *out)
{
	hf_buffer_add_text(out, "\"candidates\": [");
	for (size_t i = 0; i < violation->candidate_count; i++) {
		const struct hf_process *process = &violation->candidates[i];

		hf_buffer_printf(out, "%s{\"pid\": %" PRId64 ", \"comm\": ",
				 i == 0 ? "" : ", ", process->pid);
		hf_report_json_text(process->comm, out);
		hf_buffer_add_text(out, ", \"argv\": ");
		hf_report_json_command_line(process, out);
		hf_buffer_add_text(out, "}");
	}
	hf_buffer_add_text(out, "]");
}

/* A string that is empty or NULL when it could not be had. */
static void add_known(const char *name, const char *text, struct hf_buffer *out)
{
	hf_buffer_printf(out, ", \"%s\": ", name);
	hf_report_json_text(text == NULL || text[0] == '\0' ? NULL : text, out);
}

static void add_culprit(const struct hf_culprit *culprit, struct hf_buffer *out)
{
	hf_buffer_add_text(out, "\"process\": ");
	if (culprit == NULL) {
		hf_buffer_add_text(out, "null, ");
		return;
	}
	hf_buffer_printf(
		out, "{\"pid\": %" PRId64 ", \"tid\": %" PRId64 ", \"comm\": ",
		culprit->process.pid, culprit->tid);
	hf_report_json_text(culprit->process.comm, out);
	add_known("exe", culprit->exe, out);
	hf_buffer_add_text(out, ", \"argv\": ");
	hf_report_json_command_line(&culprit->process, out);
	add_known("cwd", culprit->cwd, out);
	hf_buffer_printf(out, ", \"inside\": %s, \"parents\": [",
			 culprit->is_inside ? "true" : "false");
	for (size_t i = 0; i < culprit->parent_count; i++) {
		hf_buffer_printf(out, "%s{\"pid\": %" PRId64 ", \"argv\": ",
				 i == 0 ? "" : ", ", culprit->parents[i].pid);
		hf_report_json_command_line(&culprit->parents[i], out);
		hf_buffer_add_text(out, "}");
	}
	hf_buffer_add_text(out, "]}, ");
}

static void add_test(const struct hf_violation *violation,
		     struct hf_buffer *out)
{
	hf_buffer_add_text(out, "\"test\": ");
	hf_report_json_text(violation->test, out);
	hf_buffer_printf(out, ", \"test_certainty\": %s, ",
			 violation->test == NULL    ? "null"
			 : violation->is_test_exact ? "\"exact\""
						    : "\"near\"");
}

static void add_bool(const char *name, bool value, struct hf_buffer *out)
{
	hf_buffer_printf(out, "\"%s\": %s, ", name, value ? "true" : "false");
}

static void add_fix(const struct hf_session *session,
		    const struct hf_violation *violation, const char *location,
		    struct hf_buffer *out)
{
	cleanup_buffer struct hf_buffer fix = HF_BUFFER_INIT;

	hf_text_add_fix(&fix, session, violation, location);
	hf_buffer_add_text(out, "\"fix\": ");
	hf_report_json_text(fix.data, out);
	hf_buffer_add_text(out, ", ");
}

static void add_violation(const struct hf_session *session,
			  const struct hf_violation *violation,
			  const char *location, struct hf_buffer *out)
{
	hf_buffer_add_text(out, "{");
	hf_report_json_path(violation->path, out);
	hf_buffer_add_text(out, ", \"rule\": ");
	hf_report_json_text(violation->rule, out);
	hf_buffer_add_text(out, ", \"operation\": ");
	hf_report_json_text(violation->operation, out);
	hf_buffer_add_text(out, ", \"detail\": ");
	hf_report_json_text(violation->detail == NULL ? "" : violation->detail,
			    out);
	hf_buffer_printf(out, ", \"change\": \"%s\", ",
			 hf_change_name(violation->change));
	add_bool("landed", violation->has_landed, out);
	add_bool("restored", violation->is_restored, out);
	hf_buffer_add_text(out, "\"kept\": ");
	hf_report_json_text(violation->kept, out);
	hf_buffer_add_text(out, ", ");
	add_fix(session, violation, location, out);
	add_bool("retry", false, out);
	hf_buffer_add_text(out, "\"error\": ");
	hf_report_json_text(violation->error, out);
	hf_buffer_add_text(out, ", \"before\": ");
	hf_report_json_entry(&violation->before, out);
	hf_buffer_add_text(out, ", \"after\": ");
	if (violation->has_after)
		hf_report_json_entry(&violation->after, out);
	else
		hf_buffer_add_text(out, "null");
	hf_buffer_printf(
		out, ", \"count\": %" PRIu64 ", \"time\": ", violation->count);
	hf_report_json_time(violation->time_ns, out);
	hf_buffer_add_text(out, ", ");
	add_test(violation, out);
	add_culprit(violation->culprit, out);
	add_candidates(violation, out);
	hf_buffer_add_text(out, "}");
}

static const char *status_name(enum hf_session_status status)
{
	switch (status) {
	case HF_SESSION_RUNNING:
		return "running";
	case HF_SESSION_CLEAN:
		return "clean";
	case HF_SESSION_VIOLATED:
		return "violated";
	case HF_SESSION_UNRESTORED:
		return "unrestored";
	case HF_SESSION_ERROR:
		break;
	}
	return "error";
}

/* What a shell sees of the run; unknown (null) while it runs. */
static void add_exit(const struct hf_session *session, struct hf_buffer *out)
{
	hf_buffer_add_text(out, "  \"exit\": {\"command\": ");
	if (!session->has_command_result)
		hf_buffer_add_text(out, "null");
	else if (session->command_signal != 0)
		hf_buffer_printf(out, "{\"code\": null, \"signal\": %d}",
				 session->command_signal);
	else
		hf_buffer_printf(out, "{\"code\": %d, \"signal\": null}",
				 session->command_code);
	hf_buffer_add_text(out, ", \"holdfast\": ");
	if (session->exit_status != 0)
		hf_buffer_printf(out, "%d", session->exit_status);
	else if (!session->has_command_result ||
		 session->status == HF_SESSION_RUNNING)
		hf_buffer_add_text(out, "null");
	else
		hf_buffer_printf(out, "%d",
				 session->command_signal != 0 ?
					 128 + session->command_signal :
					 session->command_code);
	hf_buffer_add_text(out, "},\n");
}

static void add_layers(const struct hf_session *session, struct hf_buffer *out)
{
	static const char *const states[] = {
		[HF_LAYER_ON] = "on",
		[HF_LAYER_OFF] = "off",
		[HF_LAYER_UNAVAILABLE] = "unavailable",
	};

	hf_buffer_printf(
		out, "  \"layers\": {\"gate\": {\"state\": \"%s\", \"why\": ",
		states[session->gate]);
	hf_report_json_text(
		session->gate == HF_LAYER_ON ? NULL : session->gate_why, out);
	hf_buffer_printf(out,
			 "}, \"leases\": {\"held_throughout\": %zu, "
			 "\"wanted\": %zu}, \"watch\": {\"state\": \"%s\", "
			 "\"why\": ",
			 session->leases_held, session->leases_wanted,
			 session->is_watch_complete ? "complete" :
						      "incomplete");
	hf_report_json_text(
		session->is_watch_complete ? NULL : session->watch_why, out);
	hf_buffer_add_text(out, "}, \"final_look\": \"content\"},\n");
}

static void add_leftovers(const struct hf_session *session,
			  struct hf_buffer *out)
{
	hf_buffer_add_text(out, "  \"leftovers\": [");
	for (size_t i = 0; i < session->leftovers.count; i++) {
		const struct hf_process *process = &session->leftovers.items[i];

		hf_buffer_printf(out, "%s{\"pid\": %" PRId64 ", \"argv\": ",
				 i == 0 ? "" : ", ", process->pid);
		hf_report_json_command_line(process, out);
		hf_buffer_printf(out, ", \"ended\": %s}",
				 process->has_ended ? "true" : "false");
	}
	hf_buffer_add_text(out, "],\n");
}

static void add_head(const struct hf_session *session, struct hf_buffer *out)
{
	hf_buffer_add_text(out, HF_REPORT_JSON_START HF_VERSION
				"\",\n  \"session\": ");
	hf_report_json_text(
		session->name.text[0] == '\0' ? NULL : session->name.text, out);
	hf_buffer_add_text(out, ",\n  \"root\": ");
	hf_report_json_text(session->project->root, out);
	hf_buffer_add_text(out, ",\n  \"command\": ");
	hf_report_json_strings(session->argv, out);
	hf_buffer_add_text(out, ",\n  \"started\": ");
	hf_report_json_time(session->started_ns, out);
	hf_buffer_add_text(out, ",\n  \"ended\": ");
	hf_report_json_time(session->ended_ns, out);
	hf_buffer_printf(out, ",\n  \"status\": \"%s\",\n  \"error\": ",
			 status_name(session->status));
	hf_report_json_text(
		session->error.code < 0 ? session->error.text : NULL, out);
	hf_buffer_add_text(out, ",\n");
}

/* Pid and argv; what is not known is null. */
static void add_stranger(const struct hf_process *process,
			 struct hf_buffer *out)
{
	hf_buffer_add_text(out, "\"pid\": ");
	if (process->pid == 0)
		hf_buffer_add_text(out, "null");
	else
		hf_buffer_printf(out, "%" PRId64, process->pid);
	hf_buffer_add_text(out, ", \"argv\": ");
	hf_report_json_command_line(process, out);
}

/* Who was seen to open it, of a change that a person made; NULL for nobody. */
static const struct hf_process *author_of(const struct hf_session *session,
					  const struct hf_violation *violation)
{
	for (size_t i = 0; i < session->outsider_count; i++)
		if (session->outsiders[i].has_changed &&
		    strcmp(session->outsiders[i].path, violation->path) == 0)
			return &session->outsiders[i].process;
	return NULL;
}

static void begin_outside(const char *path, const struct hf_process *process,
			  bool is_first, struct hf_buffer *out)
{
	static const struct hf_process nobody = { .pid = 0 };

	hf_buffer_add_text(out, is_first ? "\n    {" : ",\n    {");
	hf_report_json_path(path, out);
	add_known("comm", process == NULL ? "" : process->comm, out);
	hf_buffer_add_text(out, ", ");
	add_stranger(process == NULL ? &nobody : process, out);
}

/* A change that stays: what it was before, and the way back. */
static void add_stay(const struct hf_session *session,
		     const struct hf_violation *violation, const char *location,
		     struct hf_buffer *out)
{
	hf_buffer_printf(out, ", \"changed\": true, \"change\": \"%s\", ",
			 hf_change_name(violation->change));
	add_fix(session, violation, location, out);
	hf_buffer_add_text(out, "\"before\": ");
	hf_report_json_entry(&violation->before, out);
	hf_buffer_add_text(out, ", \"after\": ");
	if (violation->has_after)
		hf_report_json_entry(&violation->after, out);
	else
		hf_buffer_add_text(out, "null");
	hf_buffer_add_text(out, ", \"time\": ");
	hf_report_json_time(violation->time_ns, out);
	hf_buffer_add_text(out, "}");
}

static void add_outside(const struct hf_session *session, const char *location,
			struct hf_buffer *out)
{
	const struct hf_violations *violations = &session->violations;
	bool is_first = true;

	hf_buffer_add_text(out, "  \"outside\": [");
	for (size_t i = 0; i < violations->count; i++) {
		const struct hf_violation *violation = violations->items[i];

		if (!violation->is_outside ||
		    violation != hf_violations_find(violations,
						    violation->path))
			continue;
		begin_outside(violation->path, author_of(session, violation),
			      is_first, out);
		add_stay(session, violation, location, out);
		is_first = false;
	}
	for (size_t i = 0; i < session->outsider_count; i++) {
		const struct hf_outsider *outsider = &session->outsiders[i];

		if (outsider->has_changed)
			continue;
		begin_outside(outsider->path, &outsider->process, is_first,
			      out);
		hf_buffer_add_text(out, ", \"changed\": false}");
		is_first = false;
	}
	hf_buffer_add_text(out, is_first ? "],\n" : "\n  ],\n");
}

static void add_side_effects(const struct hf_session *session,
			     struct hf_buffer *out)
{
	hf_buffer_add_text(out, "  \"side_effects\": [");
	for (size_t i = 0; i < session->side_effect_count; i++) {
		const struct hf_side_effect *effect = &session->side_effects[i];

		hf_buffer_add_text(out,
				   i == 0 ? "{\"what\": " : ", {\"what\": ");
		hf_report_json_text(effect->what, out);
		hf_buffer_add_text(out, ", ");
		add_stranger(&effect->process, out);
		hf_buffer_printf(out, ", \"count\": %" PRIu64 "}",
				 effect->count);
	}
	hf_buffer_add_text(out, "],\n");
}

static void add_allowed(const struct hf_session *session, struct hf_buffer *out)
{
	hf_buffer_add_text(out, "  \"allowed\": [");
	for (size_t i = 0; i < session->allowed_count; i++) {
		hf_buffer_add_text(out, i == 0 ? "{" : ", {");
		hf_report_json_path(session->allowed[i], out);
		hf_buffer_add_text(out, "}");
	}
	hf_buffer_add_text(out, "],\n");
}

/* What a person changed beside the run stands above. */
static void add_violations(const struct hf_session *session,
			   const char *location, struct hf_buffer *out)
{
	bool is_first = true;

	hf_buffer_add_text(out, "  \"violations\": [");
	for (size_t i = 0; i < session->violations.count; i++) {
		if (session->violations.items[i]->is_outside)
			continue;
		hf_buffer_add_text(out, is_first ? "\n    " : ",\n    ");
		add_violation(session, session->violations.items[i], location,
			      out);
		is_first = false;
	}
	hf_buffer_add_text(out, is_first ? "]\n}\n" : "\n  ]\n}\n");
}

void hf_report_json(const struct hf_session *session, const char *location,
		    size_t messages_lost, struct hf_buffer *out)
{
	add_head(session, out);
	add_exit(session, out);
	add_layers(session, out);
	hf_buffer_printf(out,
			 "  \"messages_lost\": %zu,\n  \"protected\": %zu,\n"
			 "  \"verified\": %zu,\n",
			 messages_lost, session->protected_count,
			 session->verified_count);
	add_leftovers(session, out);
	add_allowed(session, out);
	add_outside(session, location, out);
	add_side_effects(session, out);
	add_violations(session, location, out);
}
