/* SPDX-License-Identifier: MIT */
/* List and describe sessions. */
#include "cli/sessions.h"

#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "report/text.h"

/* What went stands where a run has its command. */
static void describe_retention(const struct hf_session_record *record,
			       struct hf_buffer *out)
{
	hf_buffer_add_text(out, "dropped");
	for (size_t i = 0; record->argv != NULL && record->argv[i] != NULL; i++)
		hf_buffer_printf(out, "%s %s", i == 0 ? "" : ",",
				 HF_QUOTE(record->argv[i]));
}

void hf_sessions_describe(const struct hf_session_record *record,
			  bool is_living, struct hf_buffer *out)
{
	if (strcmp(record->kind, "retention") == 0) {
		describe_retention(record, out);
		return;
	}
	if (!record->has_ended)
		hf_buffer_add_text(out,
				   is_living ? "in progress" : "did not end");
	else if (strcmp(record->kind, "run") == 0 &&
		 record->outcome == HF_OUTCOME_DONE)
		hf_buffer_add_text(out, "did not end, settled later");
	else
		hf_buffer_add_text(out, hf_outcome_name(record->outcome));
	if (record->violations > 0) {
		hf_buffer_add_text(out, ", ");
		hf_text_add_count(out, (size_t)record->violations, "violation",
				  "violations");
	}
	if (record->has_ended && record->status != 0)
		hf_buffer_printf(out, ", exit %d", record->status);
	if (record->argv == NULL || record->argv[0] == NULL)
		return;
	if (strcmp(record->kind, "undo") == 0 ||
	    strcmp(record->kind, "recover") == 0) {
		struct hf_name undone;

		/* What it undid or settled stands where a run has its command. */
		if (hf_name_parse(record->argv[0], &undone)) {
			hf_buffer_add_text(out, " with session ");
			hf_text_add_number(out, &undone);
		}
		return;
	}
	hf_buffer_add_text(out, ": ");
	hf_text_add_command(out, (const char *const *)record->argv);
}

bool hf_sessions_has(const struct hf_names *names, const struct hf_name *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->items[i].text, name->text) == 0)
			return true;
	return false;
}
