/* SPDX-License-Identifier: MIT */
/*
 * The JSON report of a run as text; docs/report.md says what is in it.
 */
#ifndef HF_REPORT_JSON_H
#define HF_REPORT_JSON_H

#include "guard/session.h"

struct hf_buffer;

/* How every report begins. */
#define HF_REPORT_JSON_START	"{\n  \"holdfast\": \""

/*
 * The whole report; called again at every violation.  location is what a
 * command needs behind it to find this project again (hf_text_style), or "";
 * messages_lost counts what was said to a reader that did not read.
 */
void hf_report_json(const struct hf_session *session, const char *location,
		    size_t messages_lost, struct hf_buffer *out);

/* -- the parts that other JSON output shares ------------------------------- */

/* "path": TEXT, "path_bytes": BASE64 or null */
void hf_report_json_path(const char *path, struct hf_buffer *out);
/* {"kind": ..., "size": ..., "hash": ..., "mode": ...}; NULL is absent. */
void hf_report_json_entry(const struct hf_entry *entry, struct hf_buffer *out);
/* A list of strings; strings is NULL-terminated, NULL is an empty list. */
void hf_report_json_strings(const char *const *strings, struct hf_buffer *out);
/* The words of a process's command line, as a list of strings. */
void hf_report_json_command_line(const struct hf_process *process,
				 struct hf_buffer *out);
/* A string, or null for NULL. */
void hf_report_json_text(const char *text, struct hf_buffer *out);
/* RFC 3339 with nanoseconds, or null for 0. */
void hf_report_json_time(int64_t unix_ns, struct hf_buffer *out);

#endif /* HF_REPORT_JSON_H */
