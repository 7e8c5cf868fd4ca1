/* SPDX-License-Identifier: MIT */
/*
 * The elements of JUnit that all viewers know.  Some of them drop the second of two
 * test cases with one name, so a name says the path and the operation, too.
 */
#include "report/junit.h"

#include <inttypes.h>
#include <string.h>

#include "base/buffer.h"
#include "base/text.h"
#include "report/deed.h"
#include "report/groups.h"
#include "report/lines.h"
#include "report/test_id.h"
#include "report/words.h"

#define REPLACEMENT "\357\277\275" /* U+FFFD */

/* -- XML ------------------------------------------------------------------- */

/* The bytes of the character that begins here; 0: it is not UTF-8. */
static size_t character_len(const char *at, size_t left)
{
	const unsigned char lead = (unsigned char)*at;
	size_t len = 1;

	if (lead >= 0x80)
		len = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
	return len <= left && hf_is_utf8(at, len) ? len : 0;
}

/* Control characters, U+FFFE and U+FFFF are in no XML, however it is written. */
static bool is_in_xml(const char *at, size_t len)
{
	const unsigned char lead = (unsigned char)*at;

	if (len == 1)
		return lead >= 0x20 || lead == '\n' || lead == '\t';
	return len != 3 || (memcmp(at, "\357\277\276", 3) != 0 &&
			    memcmp(at, "\357\277\277", 3) != 0);
}

/* Text as it may stand between quotes and between tags. */
static void add_xml(struct hf_buffer *out, const char *text, size_t len)
{
	static const char special[] = "&<>\"'\n\t";
	static const char *const escaped[] = { "&amp;",	 "&lt;",  "&gt;",
					       "&quot;", "&#39;", "&#10;",
					       "&#9;" };
	size_t step;

	for (size_t at = 0; at < len; at += step == 0 ? 1 : step) {
		const char *found = strchr(special, text[at]);

		step = character_len(text + at, len - at);
		if (step == 0 || !is_in_xml(text + at, step))
			hf_buffer_add_text(out, REPLACEMENT);
		else if (found != NULL && *found != '\0')
			hf_buffer_add_text(out, escaped[found - special]);
		else
			hf_buffer_add(out, text + at, step);
	}
}

static void add_buffer(struct hf_buffer *out, const struct hf_buffer *text)
{
	out->is_failed |= text->is_failed;
	add_xml(out, text->data == NULL ? "" : text->data, text->len);
}

/* Lines that stay lines, between tags. */
static void add_lines(struct hf_buffer *out, const struct hf_buffer *text)
{
	const char *at = text->data == NULL ? "" : text->data;

	out->is_failed |= text->is_failed;
	while (*at != '\0') {
		const size_t len = strcspn(at, "\n");

		add_xml(out, at, len);
		at += len;
		if (*at == '\n')
			hf_buffer_add(out, at++, 1);
	}
}

/* -- the name of a test case ----------------------------------------------- */

/* "tests/test_a.py" and "TestB" are "tests.test_a.TestB". */
static void add_class(struct hf_buffer *out, const struct hf_test_id *id)
{
	cleanup_buffer struct hf_buffer name = HF_BUFFER_INIT;

	hf_buffer_add(&name, id->file, id->file_len - strlen(".py"));
	for (size_t i = 0; i < name.len; i++)
		if (name.data[i] == '/')
			name.data[i] = '.';
	for (size_t i = 0; i < id->classes_len; i++) {
		hf_buffer_add_text(&name, i == 0 ? "." : "");
		if (id->classes[i] != ':')
			hf_buffer_add(&name, id->classes + i, 1);
		else if (id->classes[i + 1] == ':')
			hf_buffer_add_text(&name, ".");
	}
	add_buffer(out, &name);
}

static const char *deed_of(const struct hf_violation *violation)
{
	switch (hf_violation_fate(violation)) {
	case HF_FATE_REFUSED:
		return hf_deed_attempt(violation);
	case HF_FATE_OUTSIDE:
		return "changed outside the run";
	case HF_FATE_LANDED:
		break;
	}
	return violation->operation;
}

/* number: how many of its group were before it. */
static void add_case_name(struct hf_buffer *out,
			  const struct hf_violation *violation, size_t number)
{
	const char *test = violation->test;
	struct hf_test_id id;

	hf_buffer_add_text(out, "    <testcase classname=\"");
	if (hf_test_id_parse(test, &id)) {
		add_class(out, &id);
		hf_buffer_add_text(out, "\" name=\"");
		add_xml(out, id.name, id.name_len);
		hf_buffer_add_text(out, ": ");
	} else {
		hf_buffer_add_text(out, "holdfast\" name=\"");
		if (test != NULL) {
			add_xml(out, test, strlen(test));
			hf_buffer_add_text(out, ": ");
		}
	}
	add_xml(out, violation->path, strlen(violation->path));
	hf_buffer_add_text(out, ": ");
	add_xml(out, deed_of(violation), strlen(deed_of(violation)));
	if (number > 0)
		hf_buffer_printf(out, " (%zu)", number + 1);
	hf_buffer_add_text(out, "\"");
}

/* -- what is said of it ---------------------------------------------------- */

static void add_file(const struct hf_violation *violation,
		     struct hf_buffer *body)
{
	hf_buffer_add_text(body, "file: ");
	hf_text_add_name(body, violation->path);
	hf_buffer_add_text(body, " (protected by ");
	hf_text_add_name(body, violation->rule);
	hf_buffer_add_text(body, ")\noperation: ");
	hf_text_add_name(body, violation->operation);
	if (violation->detail != NULL && violation->detail[0] != '\0') {
		hf_buffer_add_text(body, " ");
		hf_text_add_name(body, violation->detail);
	}
	if (violation->count > 1) {
		hf_buffer_add_text(body, ", ");
		hf_text_add_many(body, violation->count);
		hf_buffer_add_text(body, " times");
	}
	hf_buffer_add_text(body, "\n");
}

static void add_process(const char *what, const struct hf_process *process,
			struct hf_buffer *body)
{
	hf_buffer_add_text(body, what);
	hf_text_add_process(body, process);
	hf_buffer_printf(body, " (pid %" PRId64 ")\n", process->pid);
}

static void add_who(const struct hf_violation *violation,
		    struct hf_buffer *body)
{
	const struct hf_culprit *culprit = violation->culprit;

	if (violation->test != NULL) {
		hf_buffer_add_text(body, violation->is_test_exact ?
						 "test: " :
						 "during the test: ");
		hf_text_add_name(body, violation->test);
		hf_buffer_add_text(body, "\n");
	}
	if (culprit == NULL) {
		for (size_t i = 0; i < violation->candidate_count; i++)
			add_process("perhaps: ", &violation->candidates[i],
				    body);
		return;
	}
	add_process("process: ", &culprit->process, body);
	for (size_t i = 0; i < culprit->parent_count; i++)
		add_process("parent: ", &culprit->parents[i], body);
}

/* What a person does about it. */
static void add_advice(const struct hf_session *session,
		       const struct hf_violation *violation,
		       const char *location, struct hf_buffer *body)
{
	cleanup_buffer struct hf_buffer fix = HF_BUFFER_INIT;

	hf_text_add_fix(&fix, session, violation, location);
	if (hf_violation_fate(violation) == HF_FATE_REFUSED)
		hf_buffer_printf(body,
				 "result: the call failed with EACCES; %s\n",
				 hf_deed_unchanged(violation));
	if (fix.len > 0)
		hf_buffer_printf(body, "%s: %s\n",
				 violation->is_stuck   ? "to put it back" :
				 violation->is_outside ? "to go back" :
							 "to undo that",
				 fix.data);
	if (!violation->is_outside)
		hf_buffer_add_text(body, "to prevent it: let the program "
					 "write to a copy, in a temporary "
					 "directory\n");
	body->is_failed |= fix.is_failed;
}

static void add_case(const struct hf_session *session,
		     const struct hf_violation *violation, size_t number,
		     const char *location, struct hf_buffer *out)
{
	static const char *const types[] = {
		[HF_FATE_LANDED] = "changed",
		[HF_FATE_REFUSED] = "refused",
		[HF_FATE_OUTSIDE] = "outside",
	};
	const struct hf_group group = hf_group_of(&violation);
	cleanup_buffer struct hf_buffer message = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer body = HF_BUFFER_INIT;

	hf_text_add_name(&message, violation->path);
	hf_buffer_add_text(&message, ": ");
	hf_text_add_group(&message, session, &group, location);
	add_file(violation, &body);
	add_who(violation, &body);
	add_advice(session, violation, location, &body);
	add_case_name(out, violation, number);
	hf_buffer_printf(out, " time=\"0\">\n      <failure type=\"%s\" "
			      "message=\"", types[group.fate]);
	add_buffer(out, &message);
	hf_buffer_add_text(out, "\">");
	add_lines(out, &body);
	hf_buffer_add_text(out, "</failure>\n    </testcase>\n");
}

static void add_cases(const struct hf_session *session, const char *location,
		      struct hf_buffer *out)
{
	cleanup_groups struct hf_groups groups = HF_GROUPS_INIT;
	struct hf_group group;

	if (!hf_groups_init(&groups, session)) {
		out->is_failed = true;
		return;
	}
	while (hf_groups_next(&groups, &group))
		for (size_t i = 0; i < group.count; i++)
			add_case(session, group.items[i], i, location, out);
}

/* -- the run --------------------------------------------------------------- */

static bool has_error(const struct hf_session *session)
{
	return session->status == HF_SESSION_ERROR ||
	       session->status == HF_SESSION_UNRESTORED ||
	       session->status == HF_SESSION_RUNNING;
}

static const char *explain(const struct hf_session *session)
{
	if (session->error.code < 0)
		return session->error.text;
	if (session->status == HF_SESSION_RUNNING)
		return "the run has not ended";
	if (session->status == HF_SESSION_ERROR)
		return "holdfast could not do its job";
	return "not everything is as before, or that could not be decided: a "
	       "person must look";
}

static void add_error(const struct hf_session *session, struct hf_buffer *out)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;

	hf_text_add_name(&text, explain(session));
	hf_buffer_add_text(out, "    <testcase classname=\"holdfast\" "
				"name=\"the run\" time=\"0\">\n"
				"      <error type=\"");
	if (session->status == HF_SESSION_RUNNING)
		hf_buffer_add_text(out, "running");
	else
		hf_buffer_printf(out, "exit %d", session->exit_status);
	hf_buffer_add_text(out, "\" message=\"");
	add_buffer(out, &text);
	hf_buffer_add_text(out, "\">");
	add_buffer(out, &text);
	if (session->error.code < 0 && session->error.hint[0] != '\0') {
		hf_buffer_add_text(out, "\n");
		add_xml(out, session->error.hint, strlen(session->error.hint));
	}
	hf_buffer_add_text(out, "</error>\n    </testcase>\n");
}

static void add_totals(const struct hf_session *session, size_t tests,
		       struct hf_buffer *out)
{
	const int64_t span = session->ended_ns > session->started_ns ?
				     session->ended_ns - session->started_ns :
				     0;

	hf_buffer_printf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%d\" "
			      "time=\"%" PRId64 ".%03" PRId64 "\"",
			 tests, session->violations.count, has_error(session),
			 span / INT64_C(1000000000),
			 span / INT64_C(1000000) % 1000);
}

void hf_report_junit(const struct hf_session *session, const char *location,
		     struct hf_buffer *out)
{
	const size_t wrong = session->violations.count +
			     (has_error(session) ? 1 : 0);
	const size_t tests = wrong == 0 ? 1 : wrong;
	struct hf_short_text time;

	hf_buffer_add_text(out, HF_REPORT_JUNIT_START);
	add_totals(session, tests, out);
	hf_buffer_add_text(out, ">\n  <testsuite name=\"holdfast\"");
	add_totals(session, tests, out);
	/* Without the zone, as the form has it. */
	hf_buffer_printf(out, " skipped=\"0\" timestamp=\"%.19s\">\n",
			 hf_format_time(&time, session->started_ns));
	if (has_error(session))
		add_error(session, out);
	add_cases(session, location, out);
	if (wrong == 0)
		hf_buffer_add_text(out, "    <testcase classname=\"holdfast\" "
					"name=\"protected files unchanged\" "
					"time=\"0\"/>\n");
	hf_buffer_add_text(out, "  </testsuite>\n</testsuites>\n");
}
