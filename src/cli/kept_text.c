/* SPDX-License-Identifier: MIT */
/* Kept copies: a line each beneath the session that replaced them, or JSON. */
#include "cli/kept_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "cli/sessions.h"
#include "core/entry_text.h"
#include "core/kept.h"
#include "platform/system.h"
#include "report/json.h"
#include "report/words.h"

#define SIZE_COLUMN 10

/* The entry that it was; the name where that is not known. */
static const char *path_of(const struct hf_kept_copy *copy)
{
	return copy->record == NULL ? copy->name : copy->record->replaced->path;
}

static bool is_absent(const struct hf_entry *entry)
{
	return entry == NULL || entry->stat.kind == HF_KIND_ABSENT;
}

/* -- text --------------------------------------------------------------------
 */

/* "restore 7, 2 min ago: done: presets.toml" */
static void add_session(const struct hf_kept_list *list, bool is_living,
			struct hf_buffer *out)
{
	const struct hf_session_record *const record = &list->record;
	struct hf_short_text age;

	if (!list->has_record) {
		hf_buffer_printf(out,
				 "session %" PRIu64
				 ", whose journal is lost or damaged\n",
				 hf_name_number(&list->session));
		return;
	}
	hf_buffer_printf(
		out, "%s %" PRIu64 ", %s ago: ", record->kind,
		hf_name_number(&list->session),
		hf_format_span(&age, hf_system_time_ns() - record->begun_ns));
	hf_sessions_describe(record, is_living, out);
	hf_buffer_add_text(out, "\n");
}

/* What is there instead, where that is not just other content. */
static void add_fate(const struct hf_kept_copy *copy, struct hf_buffer *out)
{
	const struct hf_kept_record *const record = copy->record;

	if (record == NULL) {
		hf_buffer_add_text(out, " (not in the journal)");
		return;
	}
	if (strcmp(copy->name, record->replaced->path) != 0) {
		hf_buffer_add_text(out, " of ");
		hf_text_add_name(out, record->replaced->path);
	}
	if (record->replaced->stat.kind == HF_KIND_LINK)
		hf_buffer_add_text(out, " (a link)");
	if (is_absent(record->put))
		hf_buffer_add_text(out, " (moved away)");
}

static void add_copy(const struct hf_kept_copy *copy, struct hf_buffer *out)
{
	struct hf_short_text size;

	hf_buffer_printf(out, "  %*s  ", SIZE_COLUMN,
			 copy->kind == HF_KIND_FILE
				 ? hf_format_size(&size, copy->size)
				 : hf_kind_name(copy->kind));
	hf_text_add_name(out, copy->name);
	add_fate(copy, out);
	hf_buffer_add_text(out, "\n");
}

/* -- JSON --------------------------------------------------------------------
 */

static void add_json_copy(const struct hf_kept_list *list,
			  const struct hf_kept_copy *copy,
			  struct hf_buffer *out)
{
	cleanup_free char *kept = hf_kept_list_path(list, copy->name);

	hf_buffer_add_text(out, "{");
	hf_report_json_path(path_of(copy), out);
	hf_buffer_add_text(out, ", \"name\": ");
	hf_report_json_text(copy->name, out);
	hf_buffer_add_text(out, ", \"kept\": ");
	hf_report_json_text(kept, out);
	hf_buffer_printf(out,
			 ", \"bytes\": %" PRIu64 ", \"recorded\": %s, "
			 "\"from\": ",
			 copy->size, copy->record == NULL ? "false" : "true");
	if (copy->record == NULL) {
		hf_buffer_add_text(out, "null, \"to\": null}");
		return;
	}
	hf_report_json_entry(copy->record->replaced, out);
	hf_buffer_add_text(out, ", \"to\": ");
	hf_report_json_entry(copy->record->put, out);
	hf_buffer_add_text(out, "}");
}

static void add_json_session(const struct hf_kept_list *list,
			     struct hf_buffer *out)
{
	const struct hf_session_record *const record = &list->record;

	hf_buffer_printf(
		out, "{\"session\": \"%s\", \"time\": ", list->session.text);
	hf_report_json_time(list->has_record ? record->begun_ns : 0, out);
	hf_buffer_add_text(out, ", \"kind\": ");
	hf_report_json_text(list->has_record ? record->kind : NULL, out);
	hf_buffer_add_text(out, ", \"command\": ");
	hf_report_json_strings(
		list->has_record ? (const char *const *)record->argv : NULL,
		out);
	hf_buffer_printf(out, ", \"bytes\": %" PRIu64 ", \"copies\": [",
			 hf_kept_list_bytes(list));
	for (size_t i = 0; i < list->count; i++) {
		hf_buffer_add_text(out, i == 0 ? "\n    " : ",\n    ");
		add_json_copy(list, &list->items[i], out);
	}
	hf_buffer_add_text(out, "]}");
}

void hf_kept_text_add_one(const struct hf_kept_list *list,
			  const struct hf_kept_copy *copy,
			  struct hf_buffer *out)
{
	hf_buffer_printf(out,
			 "{\"holdfast-json\": 1, \"command\": \"kept show\", "
			 "\"session\": \"%s\", \"copy\": ",
			 list->session.text);
	add_json_copy(list, copy, out);
	hf_buffer_add_text(out, "}\n");
}

/* -- all of it ---------------------------------------------------------------
 */

void hf_kept_text_add(struct hf_kept_text *text,
		      const struct hf_kept_list *list, bool is_living)
{
	struct hf_buffer *const out = &text->out;

	if (text->is_json) {
		hf_buffer_add_text(out, text->sessions == 0
						? "{\"holdfast-json\": 1, "
						  "\"command\": \"kept\", "
						  "\"sessions\": [\n  "
						: ",\n  ");
		add_json_session(list, out);
	} else {
		add_session(list, is_living, out);
		for (size_t i = 0; i < list->count; i++)
			add_copy(&list->items[i], out);
	}
	text->sessions++;
	text->copies += list->count;
	text->bytes += hf_kept_list_bytes(list);
}

void hf_kept_text_finish(struct hf_kept_text *text)
{
	struct hf_buffer *const out = &text->out;
	struct hf_short_text size;

	if (text->is_json) {
		if (text->sessions == 0)
			hf_buffer_add_text(out, "{\"holdfast-json\": 1, "
						"\"command\": \"kept\", "
						"\"sessions\": [");
		hf_buffer_printf(out, "], \"bytes\": %" PRIu64 "}\n",
				 text->bytes);
		return;
	}
	if (text->sessions == 0)
		return;
	hf_text_add_count(out, text->copies, "copy", "copies");
	hf_buffer_printf(
		out,
		", %s; bring back: holdfast kept restore%s SESSION "
		"[PATH...], print: holdfast kept show%s SESSION:PATH\n",
		hf_format_size(&size, text->bytes), text->location,
		text->location);
}

void hf_kept_text_done(struct hf_kept_text *text)
{
	hf_buffer_done(&text->out);
}
