/* SPDX-License-Identifier: MIT */
/* Print what is undecided. */
#include "cli/undecided.h"

#include <inttypes.h>

#include "base/buffer.h"
#include "base/text.h"
#include "core/entry_text.h"
#include "platform/system.h"
#include "report/json.h"
#include "report/words.h"

/* "94 bytes", "link to a.toml", "directory", "nothing". */
static void add_entry(const struct hf_entry *entry, struct hf_buffer *out)
{
	struct hf_short_text size;

	if (entry == NULL || entry->stat.kind == HF_KIND_ABSENT) {
		hf_buffer_add_text(out, "nothing");
	} else if (entry->stat.kind == HF_KIND_FILE) {
		hf_buffer_printf(out, "%s, mode %04o",
				 hf_format_size(&size, entry->stat.size),
				 (unsigned)entry->stat.mode);
	} else if (entry->stat.kind == HF_KIND_LINK && entry->link != NULL) {
		hf_buffer_add_text(out, "link to ");
		hf_text_add_name(out, entry->link);
	} else {
		hf_buffer_add_text(out, hf_kind_name(entry->stat.kind));
	}
}

static void add_command(const char *word, const char *option, const char *path,
			const char *location, struct hf_buffer *out)
{
	hf_buffer_printf(out, "  %s holdfast recover%s %s ", word, location,
			 option);
	hf_text_add_shell(out, path);
	hf_buffer_add_text(out, "\n");
}

static void add_item(const struct hf_recovery_work *work,
		     const struct hf_recovery_item *item, const char *location,
		     struct hf_buffer *out)
{
	const struct hf_entry *const now = item->delta->after;
	const char *const path = hf_delta_entry(item->delta)->path;
	struct hf_short_text age;

	hf_buffer_add_text(out, "undecided ");
	hf_text_add_name(out, path);
	hf_buffer_printf(out, " (session %" PRIu64 ")\n  before the run   ",
			 hf_name_number(&work->record.name));
	add_entry(item->delta->before, out);
	hf_buffer_printf(out, " (snapshot %" PRIu64 ")\n  left by the run  ",
			 hf_name_number(&work->manifest.name));
	if (item->left == NULL)
		hf_buffer_add_text(out, "not known");
	else
		add_entry(item->left, out);
	hf_buffer_add_text(out, "\n  now              ");
	add_entry(now, out);
	if (now != NULL && now->stat.kind != HF_KIND_ABSENT)
		hf_buffer_printf(
			out, ", changed %s ago",
			hf_format_span(&age, hf_system_time_ns() -
						     now->stat.ctime_ns));
	hf_buffer_add_text(out, "\n");
	add_command("put back        ", "--put-back", path, location, out);
	add_command("keep what is now", "--keep-mine", path, location, out);
}

void hf_undecided_add(const struct hf_recovery_work *work, const char *location,
		      struct hf_buffer *out)
{
	for (size_t i = 0; i < work->count; i++)
		if (work->items[i].decision == HF_RECOVERY_UNDECIDED)
			add_item(work, &work->items[i], location, out);
}

static void add_json_item(const struct hf_recovery_item *item, bool is_first,
			  struct hf_buffer *out)
{
	static const char *const decisions[] = {
		[HF_RECOVERY_NOTHING] = "none",
		[HF_RECOVERY_PUT_BACK] = "put-back",
		[HF_RECOVERY_LEAVE] = "keep",
		[HF_RECOVERY_UNDECIDED] = "undecided",
	};

	hf_buffer_add_text(out, is_first ? "\n    {" : ",\n    {");
	hf_report_json_path(hf_delta_entry(item->delta)->path, out);
	hf_buffer_printf(out, ", \"decision\": \"%s\", \"before\": ",
			 decisions[item->decision]);
	hf_report_json_entry(item->delta->before, out);
	hf_buffer_add_text(out, ", \"left\": ");
	if (item->left == NULL)
		hf_buffer_add_text(out, "null");
	else
		hf_report_json_entry(item->left, out);
	hf_buffer_add_text(out, ", \"now\": ");
	hf_report_json_entry(item->delta->after, out);
	hf_buffer_add_text(out, "}");
}

void hf_undecided_add_json(const struct hf_recovery_work *work,
			   const struct hf_recovery_result *result,
			   bool is_first, struct hf_buffer *out)
{
	bool is_first_item = true;

	hf_buffer_printf(out,
			 "%s{\"session\": \"%s\", \"snapshot\": \"%s\", "
			 "\"settled\": %s, \"put_back\": %zu, \"failed\": %zu, "
			 "\"ended_processes\": %zu, \"recovery\": ",
			 is_first ? "\n  " : ",\n  ", work->record.name.text,
			 work->manifest.name.text,
			 result->undecided + result->failed == 0 ? "true"
								 : "false",
			 result->put_back, result->failed, work->ended);
	hf_report_json_text(
		result->session.text[0] == '\0' ? NULL : result->session.text,
		out);
	hf_buffer_add_text(out, ", \"entries\": [");
	for (size_t i = 0; i < work->count; i++) {
		if (work->items[i].decision == HF_RECOVERY_NOTHING)
			continue;
		add_json_item(&work->items[i], is_first_item, out);
		is_first_item = false;
	}
	hf_buffer_add_text(out, is_first_item ? "]}" : "\n  ]}");
}
