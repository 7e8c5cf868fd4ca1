/* SPDX-License-Identifier: MIT */
/* Print deltas. */
#include "cli/differences.h"

#include "base/buffer.h"
#include "report/json.h"
#include "report/text.h"

static bool is_allowed(const struct hf_delta *delta)
{
	return hf_delta_entry(delta)->role == HF_ROLE_ALLOWED;
}

bool hf_differences_matter(const struct hf_deltas *deltas)
{
	for (size_t i = 0; i < deltas->count; i++)
		if (!is_allowed(&deltas->items[i]))
			return true;
	return false;
}

void hf_differences_add(const struct hf_deltas *deltas, size_t limit,
			struct hf_buffer *out)
{
	for (size_t i = 0; i < deltas->count; i++) {
		const struct hf_delta *delta = &deltas->items[i];

		if (limit > 0 && i == limit) {
			hf_buffer_printf(out, "  ... and %zu more\n",
					 deltas->count - i);
			break;
		}
		hf_buffer_add_text(out, "  ");
		hf_text_add_name(out, hf_delta_entry(delta)->path);
		hf_buffer_add_text(out, ": ");
		hf_text_add_difference(out, delta);
		if (is_allowed(delta))
			hf_buffer_add_text(out, " (commands may change it)");
		hf_buffer_add_text(out, "\n");
	}
}

void hf_differences_add_json(const struct hf_deltas *deltas,
			     struct hf_buffer *out)
{
	hf_buffer_add_text(out, "[");
	for (size_t i = 0; i < deltas->count; i++) {
		const struct hf_delta *delta = &deltas->items[i];

		hf_buffer_add_text(out, i == 0 ? "\n  {" : ",\n  {");
		hf_report_json_path(hf_delta_entry(delta)->path, out);
		hf_buffer_printf(out,
				 ", \"change\": \"%s\", \"allowed\": %s, "
				 "\"before\": ",
				 hf_change_name(delta->change),
				 is_allowed(delta) ? "true" : "false");
		hf_report_json_entry(delta->before, out);
		hf_buffer_add_text(out, ", \"after\": ");
		hf_report_json_entry(delta->after, out);
		hf_buffer_add_text(out, "}");
	}
	hf_buffer_add_text(out, "]");
}
