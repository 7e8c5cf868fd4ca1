/* SPDX-License-Identifier: MIT */
/* The parts that JSON output is made of. */
#include "report/json.h"

#include <inttypes.h>
#include <string.h>

#include "base/buffer.h"
#include "base/encode.h"
#include "base/text.h"
#include "core/entry_text.h"

void hf_report_json_text(const char *text, struct hf_buffer *out)
{
	if (text == NULL)
		hf_buffer_add_text(out, "null");
	else
		hf_buffer_add_json(out, text, strlen(text));
}

void hf_report_json_time(int64_t unix_ns, struct hf_buffer *out)
{
	struct hf_short_text text;

	hf_report_json_text(
		unix_ns == 0 ? NULL : hf_format_time(&text, unix_ns), out);
}

void hf_report_json_strings(const char *const *strings, struct hf_buffer *out)
{
	hf_buffer_add_text(out, "[");
	for (size_t i = 0; strings != NULL && strings[i] != NULL; i++) {
		hf_buffer_add_text(out, i == 0 ? "" : ", ");
		hf_report_json_text(strings[i], out);
	}
	hf_buffer_add_text(out, "]");
}

void hf_report_json_path(const char *path, struct hf_buffer *out)
{
	const size_t len = strlen(path);

	hf_buffer_add_text(out, "\"path\": ");
	hf_buffer_add_json(out, path, len);
	hf_buffer_add_text(out, ", \"path_bytes\": ");
	if (hf_is_utf8(path, len)) {
		hf_buffer_add_text(out, "null");
		return;
	}
	hf_buffer_add_text(out, "\"");
	hf_base64_encode(out, path, len);
	hf_buffer_add_text(out, "\"");
}

void hf_report_json_entry(const struct hf_entry *entry, struct hf_buffer *out)
{
	char hash[HF_HASH_TEXT];

	if (entry == NULL || entry->stat.kind == HF_KIND_ABSENT) {
		hf_buffer_add_text(out, "{\"kind\": \"absent\"}");
		return;
	}
	hf_buffer_printf(out, "{\"kind\": \"%s\"",
			 hf_kind_name(entry->stat.kind));
	if (entry->stat.kind == HF_KIND_FILE) {
		hf_buffer_printf(out, ", \"size\": %" PRIu64 ", \"hash\": ",
				 entry->stat.size);
		hf_report_json_text(entry->has_hash ?
					    hf_hash_format(&entry->hash, hash) :
					    NULL,
				    out);
	}
	if (entry->link != NULL) {
		hf_buffer_add_text(out, ", \"link\": ");
		hf_report_json_text(entry->link, out);
	}
	hf_buffer_printf(out, ", \"mode\": \"%04" PRIo32 "\"}",
			 entry->stat.mode);
}

void hf_report_json_command_line(const struct hf_process *process,
				 struct hf_buffer *out)
{
	const char *at = process->command_line;
	size_t left = at == NULL ? 0 : process->command_line_len;
	const char *separator = "";

	hf_buffer_add_text(out, "[");
	while (left > 0) {
		const char *end = memchr(at, '\0', left);
		const size_t len = end == NULL ? left : (size_t)(end - at);
		const size_t step = end == NULL ? len : len + 1;

		hf_buffer_add_text(out, separator);
		hf_buffer_add_json(out, at, len);
		separator = ", ";
		at += step;
		left -= step;
	}
	hf_buffer_add_text(out, "]");
}
