/* SPDX-License-Identifier: MIT */
/*
 * Note what happened: in the list, in the journal, and to whoever observes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "core/entry_text.h"
#include "core/scan_side.h"
#include "core/sealed.h"
#include "guard/run.h"
#include "platform/system.h"

void hf_run_fail(struct hf_run *run, const struct hf_error *err)
{
	if (run->session.error.code == 0)
		run->session.error = *err;
}

/* Who did it, for whoever takes over. */
static void add_who(const struct hf_violation *violation, struct hf_buffer *text)
{
	const struct hf_culprit *const culprit = violation->culprit;

	if (violation->detail[0] != '\0') {
		hf_buffer_add_text(text, ",");
		hf_text_encode("detail", violation->detail, text);
	}
	if (violation->test) {
		hf_buffer_add_text(text, ",");
		hf_text_encode("test", violation->test, text);
		hf_buffer_printf(text, ",\"exact\":%s",
				 violation->is_test_exact ? "true" : "false");
	}
	if (!culprit)
		return;
	hf_buffer_printf(text, ",\"pid\":%" PRId64 ",", culprit->process.pid);
	hf_text_encode("comm", culprit->process.comm, text);
}

/* Members of a violation's record: enough to report it, should this process not
 * come to that, and to know the damage when it is met later. */
static void encode(const struct hf_violation *violation, struct hf_buffer *text)
{
	hf_text_encode("path", violation->path, text);
	hf_buffer_add_text(text, ",");
	hf_text_encode("rule", violation->rule, text);
	hf_buffer_printf(text,
			 ",\"operation\":\"%s\",\"change\":\"%s\","
			 "\"landed\":%s,\"count\":%" PRIu64 ",\"time\":\"",
			 violation->operation,
			 hf_change_name(violation->change),
			 violation->has_landed ? "true" : "false",
			 violation->count);
	hf_time_encode(violation->time_ns, text);
	hf_buffer_add_text(text, "\"");
	if (violation->is_outside)
		hf_buffer_add_text(text, ",\"outside\":true");
	add_who(violation, text);
	if (violation->has_after) {
		hf_buffer_add_text(text, ",\"after\":");
		hf_entry_encode(&violation->after, text);
	}
}

/* What a run behind a gate says is its command's may be somebody else's. */
static void add_gated(const struct hf_run *run, struct hf_buffer *text)
{
	if (run->session.gate == HF_LAYER_ON)
		hf_buffer_add_text(text, ",\"gated\":true");
}

int hf_run_write_journal(struct hf_run *run,
			 const struct hf_violation *violation,
			 struct hf_error *err)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	int rc;

	if (run->journal.fd < 0)
		return 0;
	encode(violation, &text);
	add_gated(run, &text);
	rc = hf_buffer_check(&text, err);
	if (rc < 0)
		return rc;
	hf_run_gate_lock(run);
	rc = hf_journal_add(&run->journal, "violation", text.data, err);
	hf_run_gate_unlock(run);
	return rc;
}

void hf_run_journal(struct hf_run *run, const struct hf_violation *violation)
{
	struct hf_error err = { 0 };

	if (hf_run_write_journal(run, violation, &err) < 0)
		hf_run_fail(run, &err);
}

static void tell(struct hf_run *run, const struct hf_violation *violation)
{
	const struct hf_session_observer *const observer =
		run->options->observer;

	if (observer && observer->violation)
		observer->violation(observer->context, &run->session,
				    violation);
}

static struct hf_violation *no_memory(struct hf_run *run)
{
	struct hf_error err = { 0 };

	(void)hf_fail_memory(&err);
	hf_run_fail(run, &err);
	return NULL;
}

/* Once more; true when it is told already. */
static bool count_again(struct hf_run *run, struct hf_violation *violation)
{
	/* One write is several events. */
	if (violation->count > 0 && violation->burst_ns == run->burst_ns)
		return true;
	violation->burst_ns = run->burst_ns;
	if (violation->count++ == 0)
		return false;
	/* Often enough for whoever takes over, and never a flood. */
	if ((violation->count & (violation->count - 1)) == 0)
		hf_run_journal(run, violation);
	return true;
}

struct hf_violation *hf_run_note(struct hf_run *run, const char *path,
				 const char *rule, const char *operation,
				 const struct hf_entry *before)
{
	struct hf_violations *const violations = &run->session.violations;
	struct hf_violation *const violation =
		hf_violations_note(violations, path, rule, operation, before,
				   hf_system_time_ns());
	const struct hf_entry *opened;

	if (!violation)
		return no_memory(run);
	if (count_again(run, violation))
		return violation;
	/* Who opened a database made what stands beside it. */
	opened = before ? before :
			  hf_scan_side_base(&run->session.snapshot.tree, path);
	if ((!opened || hf_run_gate_openers(run, opened, violation) == 0) &&
	    hf_violations_set_candidates(violations, violation,
					 &run->suspects) < 0)
		(void)no_memory(run);
	hf_run_journal(run, violation);
	tell(run, violation);
	return violation;
}

struct hf_violation *hf_run_note_outside(struct hf_run *run, const char *path,
					 const char *rule,
					 const char *operation,
					 const struct hf_entry *before)
{
	struct hf_violation *const violation = hf_violations_note_outside(
		&run->session.violations, path, rule, operation, before,
		hf_system_time_ns());

	if (!violation)
		return no_memory(run);
	if (count_again(run, violation))
		return violation;
	hf_run_journal(run, violation);
	tell(run, violation);
	return violation;
}

struct hf_violation *hf_run_note_attempt(struct hf_run *run,
					 const struct hf_attempt *attempt,
					 uint64_t count)
{
	struct hf_violation *const violation = hf_violations_note_attempt(
		&run->session.violations, attempt);
	uint64_t before;

	if (!violation)
		return no_memory(run);
	before = violation->count;
	violation->count += count;
	/* When the count gets one more bit: often enough, and never a flood. */
	if (before == 0 || before / 2 + 1 <= violation->count / 2)
		hf_run_journal(run, violation);
	if (before == 0)
		tell(run, violation);
	return violation;
}

/* -- what guard saw ---------------------------------------------------------
 */

static unsigned change_named(const char *name)
{
	for (unsigned bit = 1; bit <= HF_CHANGE_ADDED; bit <<= 1)
		if (name && strcmp(name, hf_change_name(bit)) == 0)
			return bit;
	return 0;
}

static void adopt_after(struct hf_run *run, struct hf_violation *violation,
			const hf_json_value *after)
{
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;
	struct hf_error ignored = {0};

	violation->has_after =
		after && hf_entry_decode(after, &tree, &ignored) == 0 &&
		hf_violations_copy_entry(&run->session.violations,
					 &violation->after,
					 &tree.entries[0]) == 0;
}

/* As far as the journal has it: pid and short name. */
static const struct hf_culprit *adopt_culprit(struct hf_arena *arena,
					      const hf_json_value *record)
{
	struct hf_culprit *const culprit =
		hf_arena_alloc(arena, sizeof(*culprit));
	const char *comm;
	uint64_t pid;

	if (!culprit || !hf_json_number(hf_json_get(record, "pid"), &pid) ||
	    hf_text_decode(hf_json_get(record, "comm"),
			   hf_json_get(record, "comm_bytes"), arena,
			   &comm) < 0)
		return NULL;
	*culprit = (struct hf_culprit){
		.process = { .pid = (int64_t)pid },
		.exe = "",
		.cwd = "",
		.is_inside = true,
	};
	(void)snprintf(culprit->process.comm, sizeof(culprit->process.comm),
		       "%s", comm);
	return culprit;
}

/* NULL when it is not there. */
static const char *adopt_text(struct hf_arena *arena,
			      const hf_json_value *record, const char *name,
			      const char *bytes_name)
{
	const char *text;

	return hf_text_decode(hf_json_get(record, name),
			      hf_json_get(record, bytes_name), arena,
			      &text) < 0 ?
		       NULL :
		       text;
}

/* Journalled and told already; a later record of the same counts more. */
static void adopt(struct hf_run *run, const hf_json_value *record)
{
	struct hf_violations *const violations = &run->session.violations;
	struct hf_arena *const arena = &violations->arena;
	const char *const operation =
		hf_json_string(hf_json_get(record, "operation"));
	const char *const time = hf_json_string(hf_json_get(record, "time"));
	const struct hf_entry *before;
	struct hf_violation *violation;
	struct hf_attempt attempt;
	bool has_landed = true;
	bool is_outside = false;
	int64_t time_ns;
	const char *path;
	const char *rule;

	if (!operation || !time || hf_time_decode(time, &time_ns) < 0 ||
	    hf_text_decode(hf_json_get(record, "path"),
			   hf_json_get(record, "path_bytes"), arena,
			   &path) < 0 ||
	    hf_text_decode(hf_json_get(record, "rule"),
			   hf_json_get(record, "rule_bytes"), arena, &rule) < 0)
		return;
	before = hf_tree_find(&run->session.snapshot.tree, path);
	attempt = (struct hf_attempt){
		.path = path,
		.rule = rule,
		.operation = operation,
		.detail = adopt_text(arena, record, "detail", "detail_bytes"),
		.before = before,
		.culprit = adopt_culprit(arena, record),
		.test = adopt_text(arena, record, "test", "test_bytes"),
		.time_ns = time_ns,
	};
	if (!attempt.detail)
		attempt.detail = "";
	(void)hf_json_bool(hf_json_get(record, "exact"),
			   &attempt.is_test_exact);
	(void)hf_json_bool(hf_json_get(record, "landed"), &has_landed);
	(void)hf_json_bool(hf_json_get(record, "outside"), &is_outside);
	if (!has_landed)
		violation = hf_violations_note_attempt(violations, &attempt);
	else if (is_outside)
		violation = hf_violations_note_outside(violations, path, rule,
						       operation, before,
						       time_ns);
	else
		violation = hf_violations_note(violations, path, rule,
					       operation, before, time_ns);
	if (!violation)
		return;
	if (violation->has_landed && !violation->culprit) {
		violation->culprit = attempt.culprit;
		violation->test = attempt.test;
	}
	if (!hf_json_number(hf_json_get(record, "count"), &violation->count))
		violation->count = 1;
	violation->change |=
		change_named(hf_json_string(hf_json_get(record, "change")));
	adopt_after(run, violation, hf_json_get(record, "after"));
}

static void adopt_kept(struct hf_run *run, const struct hf_kept_record *kept)
{
	struct hf_violations *const violations = &run->session.violations;
	struct hf_violation *violation =
		hf_violations_find(violations, kept->replaced->path);

	if (kept->kept_path[0] == '\0')
		return;
	for (; violation; violation = violation->next) {
		violation->kept =
			hf_arena_copy(&violations->arena, kept->kept_path,
				      strlen(kept->kept_path));
		violation->kept_count++;
	}
}

void hf_run_adopt(struct hf_run *run)
{
	cleanup_session_record struct hf_session_record record =
		HF_SESSION_RECORD_INIT;
	struct hf_error ignored = {0};
	struct hf_lines lines;
	const char *line;
	size_t len;

	if (hf_journal_read(&run->project->store, &run->journal.name, &record,
			    &ignored) < 0)
		return;
	lines = hf_lines_of(record.violation_lines);
	while (hf_lines_next(&lines, &line, &len)) {
		cleanup_json struct hf_json *json = NULL;

		if (hf_json_parse_line(line, len, &json, &ignored) == 0)
			adopt(run, hf_json_root(json));
	}
	for (size_t i = 0; i < record.kept_count; i++)
		adopt_kept(run, &record.kept[i]);
}
