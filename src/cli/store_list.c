/* SPDX-License-Identifier: MIT */
/* holdfast store list: every store in the user's state directory. */
#include <inttypes.h>

#include "base/fail.h"
#include "base/text.h"
#include "cli/command.h"
#include "core/stores.h"
#include "platform/system.h"
#include "report/json.h"

/* What is to be known about its root; NULL: nothing. */
static const char *mark(const struct hf_stores_item *item)
{
	static const char *const marks[] = {
		[HF_ROOT_HERE] = NULL,
		[HF_ROOT_GONE] = "gone",
		[HF_ROOT_OTHER] = "another directory is there now",
		[HF_ROOT_UNKNOWN] = "it cannot be looked at",
	};

	return marks[item->state];
}

static void add_text(const struct hf_stores_item *item, int64_t now_ns,
		     struct hf_buffer *out)
{
	struct hf_short_text size;
	struct hf_short_text age;

	if (!item->root) {
		hf_text_add_name(out, item->path);
		hf_buffer_printf(out, ": no store: %s\n", item->why);
		return;
	}
	hf_text_add_name(out, item->root);
	if (mark(item))
		hf_buffer_printf(out, " (%s)", mark(item));
	hf_buffer_printf(out, ": %s, ", hf_format_size(&size, item->bytes));
	hf_text_add_count(out, item->snapshots, "snapshot", "snapshots");
	if (item->used_ns > 0)
		hf_buffer_printf(out, ", used %s ago",
				 hf_format_span(&age, now_ns - item->used_ns));
	if (item->is_dropping)
		hf_buffer_add_text(out, ", half dropped");
	hf_buffer_add_text(out, ": ");
	hf_text_add_name(out, item->path);
	hf_buffer_add_text(out, "\n");
}

static void add_json(const struct hf_stores_item *item, struct hf_buffer *out)
{
	static const char *const states[] = {
		[HF_ROOT_HERE] = "here",
		[HF_ROOT_GONE] = "gone",
		[HF_ROOT_OTHER] = "other",
		[HF_ROOT_UNKNOWN] = "unknown",
	};

	hf_buffer_add_text(out, "\n  {");
	hf_report_json_path(item->path, out);
	hf_buffer_add_text(out, ", \"root\": ");
	hf_report_json_text(item->root, out);
	hf_buffer_printf(out,
			 ", \"root_is\": \"%s\", \"half_dropped\": %s, "
			 "\"bytes\": %" PRIu64 ", \"snapshots\": %zu, "
			 "\"used\": ",
			 item->root ? states[item->state] : "unknown",
			 item->is_dropping ? "true" : "false", item->bytes,
			 item->snapshots);
	hf_report_json_time(item->used_ns, out);
	hf_buffer_add_text(out, ", \"no_store\": ");
	hf_report_json_text(item->why, out);
	hf_buffer_add_text(out, "}");
}

int hf_cmd_store_list(const struct hf_options *options,
		      struct hf_output *output)
{
	cleanup_stores struct hf_stores stores = HF_STORES_INIT;
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;
	const int64_t now_ns = hf_system_time_ns();
	struct hf_error err = {0};

	if (hf_stores_list(&stores, &err) < 0)
		return hf_output_fail(output, &err);
	if (options->is_json)
		hf_buffer_add_text(&out, "{\"holdfast-json\": 1, \"command\": "
					 "\"store list\", \"stores\": [");
	for (size_t i = 0; i < stores.count; i++) {
		if (options->is_json) {
			hf_buffer_add_text(&out, i > 0 ? "," : "");
			add_json(&stores.items[i], &out);
		} else {
			add_text(&stores.items[i], now_ns, &out);
		}
	}
	if (options->is_json)
		hf_buffer_add_text(&out, "]}\n");
	else if (stores.count == 0 && !options->is_quiet)
		hf_output_say(output, "there is no store in '%s'",
			      HF_QUOTE(stores.directory));
	hf_output_result(output, &out);
	return HF_STATUS_DONE;
}
