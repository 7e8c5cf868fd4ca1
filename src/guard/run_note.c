/* SPDX-License-Identifier: MIT */
/*
 * Note what happened: in the list, in the journal, and to whoever observes.
 */
#include <string.h>

#include "base/buffer.h"
#include "base/encode.h"
#include "base/fail.h"
#include "base/text.h"
#include "core/manifest.h"
#include "guard/run.h"
#include "platform/system.h"

void hf_run_fail(struct hf_run *run, const struct hf_error *err)
{
	if (run->session.error.code == 0)
		run->session.error = *err;
}

/* Members of a violation's record: enough to name it again, and to know the
 * damage when it is met later. */
void hf_run_journal(struct hf_run *run,
			      const struct hf_violation *violation)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	struct hf_error err = { 0 };

	if (run->journal.fd < 0)
		return;
	hf_buffer_add_text(&text, "\"path\":");
	hf_buffer_add_json(&text, violation->path, strlen(violation->path));
	if (!hf_is_utf8(violation->path, strlen(violation->path))) {
		hf_buffer_add_text(&text, ",\"path_bytes\":\"");
		hf_base64_encode(&text, violation->path,
				 strlen(violation->path));
		hf_buffer_add_text(&text, "\"");
	}
	hf_buffer_add_text(&text, ",\"rule\":");
	hf_buffer_add_json(&text, violation->rule, strlen(violation->rule));
	hf_buffer_printf(&text, ",\"operation\":\"%s\",\"change\":\"%s\"",
			 violation->operation,
			 hf_change_name(violation->change));
	if (violation->has_after) {
		hf_buffer_add_text(&text, ",\"after\":");
		hf_entry_encode(&violation->after, &text);
	}
	if (hf_buffer_check(&text, &err) < 0 ||
	    hf_journal_add(&run->journal, "violation", text.data, &err) < 0)
		hf_run_fail(run, &err);
}

static void tell(struct hf_run *run, const struct hf_violation *violation,
		 bool is_new)
{
	const struct hf_session_observer *const observer =
		run->options->observer;

	if (observer && observer->violation)
		observer->violation(observer->context, &run->session, violation,
				    is_new);
}

struct hf_violation *hf_run_note(struct hf_run *run, const char *path,
				 const char *rule, const char *operation,
				 const struct hf_entry *before)
{
	struct hf_violations *const violations = &run->session.violations;
	struct hf_violation *violation;
	struct hf_error err = { 0 };

	violation = hf_violations_note(violations, path, rule, operation,
				       before, hf_system_time_ns());
	if (!violation) {
		(void)hf_fail_memory(&err);
		hf_run_fail(run, &err);
		return NULL;
	}
	violation->has_landed = true;
	if (violation->count++ > 0)
		return violation;
	if (hf_violations_set_candidates(violations, violation,
					 &run->suspects) < 0) {
		(void)hf_fail_memory(&err);
		hf_run_fail(run, &err);
	}
	hf_run_journal(run, violation);
	tell(run, violation, true);
	return violation;
}

/* Journalled and told already. */
static void adopt(struct hf_run *run, const char *path, const char *rule,
		  const char *operation)
{
	struct hf_violation *const violation = hf_violations_note(
		&run->session.violations, path, rule, operation,
		hf_tree_find(&run->session.snapshot.tree, path),
		hf_system_time_ns());

	if (!violation)
		return;
	violation->has_landed = true;
	violation->count = 1;
}

void hf_run_adopt(struct hf_run *run)
{
	cleanup_session_record struct hf_session_record record =
		HF_SESSION_RECORD_INIT;
	struct hf_error ignored = { 0 };
	const char *line;

	if (hf_journal_read(&run->project->store, &run->journal.name, &record,
			    &ignored) < 0)
		return;
	for (line = record.violation_lines; line && *line;) {
		const char *const end = strchr(line, '\n');
		const size_t len = end ? (size_t)(end - line) : strlen(line);
		cleanup_json struct hf_json *json = NULL;
		const char *path;
		const char *operation;

		if (hf_json_parse_line(line, len, &json, &ignored) == 0) {
			const hf_json_value *const root = hf_json_root(json);
			const char *const rule = hf_json_string(
				hf_json_get(root, "rule"));

			path = hf_json_string(hf_json_get(root, "path"));
			operation = hf_json_string(
				hf_json_get(root, "operation"));
			if (path && operation && rule)
				adopt(run, path, rule, operation);
		}
		line = end ? end + 1 : NULL;
	}
}
