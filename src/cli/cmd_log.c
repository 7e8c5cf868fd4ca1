/* SPDX-License-Identifier: MIT */
/* holdfast log: sessions and snapshots, newest first. */
#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/sessions.h"
#include "core/entry_text.h"
#include "core/sealed.h"
#include "core/snapshot_peek.h"
#include "report/json.h"

/* Both kinds of name, walked from the new end. */
struct history {
	struct hf_names sessions;
	struct hf_names snapshots;
	struct hf_names living;
	struct hf_names dead;
};

static void history_done(struct history *history)
{
	hf_names_done(&history->sessions);
	hf_names_done(&history->snapshots);
	hf_names_done(&history->living);
	hf_names_done(&history->dead);
}

static int load(const struct hf_store *store, struct history *history,
		struct hf_error *err)
{
	int rc;

	rc = hf_journal_list(store, &history->sessions, err);
	if (rc < 0)
		return rc;
	rc = hf_journal_find_open(store, &history->living, &history->dead, err);
	if (rc < 0)
		return rc;
	return hf_store_list(store, HF_STORE_SNAPSHOTS, "", &history->snapshots,
			     err);
}

/* Of one second: a session names the snapshot that was, mostly, the newest
 * then. */
static bool has_followed(const struct hf_store *store,
			 const struct hf_name *session,
			 const struct hf_name *snapshot)
{
	cleanup_session_record struct hf_session_record record =
		HF_SESSION_RECORD_INIT;
	struct hf_error ignored;
	struct hf_name from;

	return hf_journal_read_first(store, session, &record, &ignored) < 0 ||
	       !hf_name_parse(record.snapshot, &from) ||
	       hf_name_number(&from) >= hf_name_number(snapshot);
}

/* Is the newest session newer than the newest snapshot? */
static bool is_session_next(const struct hf_store *store,
			    const struct history *history)
{
	const struct hf_names *sessions = &history->sessions;
	const struct hf_names *snapshots = &history->snapshots;
	const char *session;
	const char *snapshot;
	int order;

	if (sessions->count == 0 || snapshots->count == 0)
		return sessions->count > 0;
	session = strchr(sessions->items[sessions->count - 1].text, '-');
	snapshot = strchr(snapshots->items[snapshots->count - 1].text, '-');
	if (session == NULL || snapshot == NULL)
		return true;
	order = strcmp(session, snapshot);
	return order == 0
		       ? has_followed(store,
				      &sessions->items[sessions->count - 1],
				      &snapshots->items[snapshots->count - 1])
		       : order > 0;
}

/* The others can still be shown when this one is damaged. */
static void add_snapshot(const struct hf_store *store,
			 const struct hf_name *name, bool is_json,
			 struct hf_output *output, struct hf_buffer *out)
{
	struct hf_short_text text;
	struct hf_error err = {0};
	size_t entries = 0;
	uint64_t bytes = 0;
	const int rc = hf_snapshot_measure(store, name, &entries, &bytes, &err);

	if (rc < 0)
		hf_output_error(output, &err);
	if (is_json) {
		hf_format_time(&text, hf_name_time_ns(name));
		hf_buffer_printf(out,
				 "{\"type\": \"snapshot\", \"name\": "
				 "\"%s\", \"time\": \"%.19sZ\", ",
				 name->text, text.text);
		if (rc < 0)
			hf_buffer_add_text(out, "\"entries\": null, "
						"\"bytes\": null}");
		else
			hf_buffer_printf(out,
					 "\"entries\": %zu, \"bytes\": "
					 "%" PRIu64 "}",
					 entries, bytes);
		return;
	}
	hf_text_add_time(out, hf_name_time_ns(name));
	hf_buffer_add_text(out, "  snapshot ");
	hf_text_add_number(out, name);
	if (rc < 0) {
		hf_buffer_add_text(out, ": damaged\n");
		return;
	}
	hf_buffer_add_text(out, ": ");
	hf_text_add_count(out, entries, "entry", "entries");
	hf_buffer_printf(out, ", %s\n", hf_format_size(&text, bytes));
}

/* A record of the journal, its "time" as all JSON output has it.  Within a string
 * every quotation mark is escaped: what is found is the key. */
static void add_record(const char *line, size_t len, struct hf_buffer *out)
{
	static const char key[] = "\"time\":\"";
	const char *const found = strstr(line, key);
	struct hf_short_text text = { "" };
	size_t before;
	size_t text_len;
	int64_t time_ns;

	if (found != NULL && found < line + len) {
		before = (size_t)(found - line) + sizeof(key) - 1;
		text_len = strcspn(line + before, "\"");
		if (text_len < sizeof(text.text))
			memcpy(text.text, line + before, text_len);
		if (hf_time_decode(text.text, &time_ns) == 0) {
			hf_buffer_add(out, line, before - 1);
			hf_report_json_time(time_ns, out);
			line += before + text_len + 1;
			len -= before + text_len + 1;
		}
	}
	hf_buffer_add(out, line, len);
}

/* The records of the journal: a JSON object a line. */
static void add_violations(const char *text, struct hf_buffer *out)
{
	struct hf_lines lines = hf_lines_of(text);
	const char *separator = "";
	const char *line;
	size_t len;

	hf_buffer_add_text(out, "[");
	while (hf_lines_next(&lines, &line, &len)) {
		if (len == 0)
			continue;
		hf_buffer_add_text(out, separator);
		add_record(line, len, out);
		separator = ", ";
	}
	hf_buffer_add_text(out, "]");
}

/* What was kept, and how much of it is in the store still. */
static uint64_t kept_bytes(const struct hf_store *store,
			   const struct hf_session_record *record)
{
	uint64_t bytes = 0;

	/* What cannot be measured is not there, mostly: dropped. */
	if (record->kept_count > 0 &&
	    hf_store_size_at(store->folder_fd[HF_STORE_KEPT], record->name.text,
			     &bytes) < 0)
		return 0;
	return bytes;
}

static void add_session_json(const struct hf_store *store,
			     const struct hf_session_record *record,
			     bool is_living, struct hf_buffer *out)
{
	hf_buffer_printf(out,
			 "{\"type\": \"session\", \"name\": \"%s\", "
			 "\"time\": ",
			 record->name.text);
	hf_report_json_time(record->begun_ns, out);
	hf_buffer_add_text(out, ", \"ended\": ");
	hf_report_json_time(record->has_ended ? record->ended_ns : 0, out);
	hf_buffer_add_text(out, ", \"kind\": ");
	hf_report_json_text(record->kind, out);
	hf_buffer_add_text(out, ", \"command\": ");
	hf_report_json_strings((const char *const *)record->argv, out);
	hf_buffer_printf(out, ", \"outcome\": \"%s\", \"exit\": ",
			 record->has_ended ? hf_outcome_name(record->outcome) :
			 is_living	   ? "running" :
					     "not-ended");
	if (record->has_ended)
		hf_buffer_printf(out, "%d", record->status);
	else
		hf_buffer_add_text(out, "null");
	hf_buffer_add_text(out, ", \"snapshot\": ");
	hf_report_json_text(record->snapshot == NULL ||
					    record->snapshot[0] == '\0' ?
				    NULL :
				    record->snapshot,
			    out);
	hf_buffer_printf(out,
			 ", \"violations\": %" PRIu64 ", \"replaced\": "
			 "%zu, \"kept_bytes\": %" PRIu64 ", \"records\": ",
			 record->violations, record->kept_count,
			 kept_bytes(store, record));
	add_violations(record->violation_lines, out);
	hf_buffer_add_text(out, "}");
}

static void add_session(const struct hf_store *store,
			const struct hf_session_record *record, bool is_living,
			struct hf_buffer *out)
{
	struct hf_short_text size;

	hf_text_add_time(out, hf_name_time_ns(&record->name));
	hf_buffer_printf(out, "  %s ", record->kind);
	hf_text_add_number(out, &record->name);
	hf_buffer_add_text(out, ": ");
	hf_sessions_describe(record, is_living, out);
	if (record->kept_count > 0) {
		hf_buffer_add_text(out, " [");
		hf_text_add_count(out, record->kept_count, "entry replaced",
				  "entries replaced");
		hf_buffer_printf(
			out, ", %s kept]",
			hf_format_size(&size, kept_bytes(store, record)));
	}
	hf_buffer_add_text(out, "\n");
}

static void add_next(const struct hf_store *store, struct history *history,
		     bool is_json, struct hf_output *output,
		     struct hf_buffer *out)
{
	cleanup_session_record struct hf_session_record record =
		HF_SESSION_RECORD_INIT;
	const struct hf_name *name;
	struct hf_error err = { 0 };
	bool is_living;

	if (!is_session_next(store, history)) {
		name = &history->snapshots.items[--history->snapshots.count];
		add_snapshot(store, name, is_json, output, out);
		return;
	}
	name = &history->sessions.items[--history->sessions.count];
	is_living = hf_sessions_has(&history->living, name);
	/* The others can still be shown. */
	if (hf_journal_read(store, name, &record, &err) < 0) {
		hf_output_error(output, &err);
		if (is_json)
			hf_buffer_printf(out,
					 "{\"type\": \"session\", "
					 "\"name\": \"%s\", \"outcome\": "
					 "\"damaged\"}",
					 name->text);
	} else if (is_json) {
		add_session_json(store, &record, is_living, out);
	} else {
		add_session(store, &record, is_living, out);
	}
}

static int show_log(const struct hf_options *options, struct hf_output *output,
		    struct hf_error *err)
{
	cleanup_project struct hf_project project = HF_PROJECT_INIT;
	CLEANUP(history_done)
	struct history history = {
		.sessions = HF_NAMES_INIT,
	};
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;
	int rc;

	if (options->word_count > 0) {
		(void)hf_fail(err, HF_ERR_USAGE,
			      "cannot use '%s': log takes no arguments",
			      HF_QUOTE(options->words[0]));
		return hf_fail_hint(err, "'--path FILE' shows what one file "
					 "held");
	}
	if (options->path != NULL)
		return hf_log_path(options, output, err);
	rc = hf_command_open(&project, options, HF_STORE_MUST_EXIST, err);
	if (rc < 0)
		return rc;
	rc = load(&project.store, &history, err);
	if (rc < 0)
		return rc;
	if (options->is_json)
		hf_buffer_add_text(&out, "{\"holdfast-json\": 1, \"command\": "
					 "\"log\", \"entries\": [");
	for (uint64_t i = 0;
	     i < options->limit &&
	     history.sessions.count + history.snapshots.count > 0;
	     i++) {
		if (options->is_json)
			hf_buffer_add_text(&out, i == 0 ? "\n  " : ",\n  ");
		add_next(&project.store, &history, options->is_json, output,
			 &out);
	}
	if (options->is_json)
		hf_buffer_add_text(&out, "]}\n");
	hf_output_result(output, &out);
	return hf_buffer_check(&out, err);
}

int hf_cmd_log(const struct hf_options *options, struct hf_output *output)
{
	struct hf_error err = { 0 };

	if (show_log(options, output, &err) < 0)
		return hf_output_fail(output, &err);
	return HF_STATUS_DONE;
}
