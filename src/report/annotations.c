/* SPDX-License-Identifier: MIT */
/* Workflow commands: one line, in which what they are made of is escaped. */
#include "report/annotations.h"

#include <string.h>

#include "base/buffer.h"
#include "base/path.h"
#include "base/text.h"
#include "report/groups.h"
#include "report/lines.h"
#include "report/test_id.h"
#include "report/words.h"

/* A property ends at a comma or a colon, the message at the end of the line. */
static void add_escaped(struct hf_buffer *out, const char *text, size_t len,
			const char *special)
{
	for (size_t i = 0; i < len; i++) {
		if (strchr(special, text[i]) != NULL)
			hf_buffer_printf(out, "%%%02X", (unsigned)text[i]);
		else
			hf_buffer_add(out, text + i, 1);
	}
}

static void add_property(struct hf_buffer *out, const char *text, size_t len)
{
	add_escaped(out, text, len, "%\r\n:,");
}

static void add_message(struct hf_buffer *out, const struct hf_buffer *text)
{
	out->is_failed |= text->is_failed;
	add_escaped(out, text->data == NULL ? "" : text->data, text->len,
		    "%\r\n");
	hf_buffer_add_text(out, "\n");
}

/* The file of the test, where it can be read from its name; else the file that it
 * was about, when that is in the project.  A name with control bytes would drive
 * the terminal, and shows nothing. */
static void add_file(struct hf_buffer *out, const struct hf_violation *violation)
{
	cleanup_buffer struct hf_buffer quoted = HF_BUFFER_INIT;
	const char *file = violation->path;
	size_t len = strlen(file);
	struct hf_test_id id;

	if (hf_test_id_parse(violation->test, &id)) {
		file = id.file;
		len = id.file_len;
	} else if (hf_path_is_absolute(file)) {
		return;
	}
	hf_buffer_add_quoted(&quoted, file, len);
	out->is_failed |= quoted.is_failed;
	hf_buffer_add_text(out, "file=");
	add_property(out, quoted.data == NULL ? "" : quoted.data, quoted.len);
	hf_buffer_add_text(out, ",");
}

static void add_group(const struct hf_session *session,
		      const struct hf_group *group, const char *location,
		      struct hf_buffer *out)
{
	static const char *const titles[] = {
		[HF_FATE_LANDED] = "a protected file was changed",
		[HF_FATE_REFUSED] = "a change of a protected file was refused",
		[HF_FATE_OUTSIDE] =
			("a protected file was changed outside the run"),
	};
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;

	hf_text_add_name(&text, group->best->path);
	hf_buffer_add_text(&text, ": ");
	hf_text_add_group(&text, session, group, location);
	hf_buffer_add_text(out, "::error ");
	add_file(out, group->best);
	hf_buffer_printf(out, "title=holdfast%%3A %s::", titles[group->fate]);
	add_message(out, &text);
}

/* Why a run that did not do its job did not. */
static void add_error(const struct hf_session *session, struct hf_buffer *out)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;

	if (session->status != HF_SESSION_ERROR &&
	    session->status != HF_SESSION_UNRESTORED)
		return;
	hf_text_add_name(&text, session->error.code < 0 ?
					session->error.text :
					"not everything is as before: a person "
					"must look");
	hf_buffer_printf(out, "::error title=holdfast%%3A exit %d::",
			 session->exit_status);
	add_message(out, &text);
}

void hf_report_annotations(const struct hf_session *session,
			   const char *location, struct hf_buffer *out)
{
	cleanup_groups struct hf_groups groups = HF_GROUPS_INIT;
	struct hf_group group;
	size_t count = 0;

	if (!hf_groups_init(&groups, session)) {
		out->is_failed = true;
		return;
	}
	add_error(session, out);
	while (hf_groups_next(&groups, &group))
		if (count++ < HF_GROUPS_SHOWN)
			add_group(session, &group, location, out);
	if (count > HF_GROUPS_SHOWN)
		hf_buffer_printf(out, "::error title=holdfast::... and %zu "
				      "more, which the report names\n",
				 count - HF_GROUPS_SHOWN);
}
