/* SPDX-License-Identifier: MIT */
/* Notes about the gate, the leases and the watch. */
#include "report/layers.h"

#include <inttypes.h>

#include "base/buffer.h"
#include "report/groups.h"
#include "report/words.h"

void hf_report_text_watch(const struct hf_session *session,
			  const struct hf_text_style *style,
			  struct hf_buffer *out)
{
	if (session->is_watch_complete || style->is_quiet)
		return;
	hf_text_begin(out, style, "note");
	hf_buffer_add_text(out, "the watch is incomplete: ");
	hf_text_add_name(out, session->watch_why == NULL ? "unknown"
							 : session->watch_why);
	hf_buffer_add_text(out, "; the look at the end still finds every "
				"change\n");
}

void hf_report_text_gate(const struct hf_session *session,
			 const struct hf_text_style *style,
			 struct hf_buffer *out)
{
	/* Who turned it off knows. */
	if (session->gate != HF_LAYER_UNAVAILABLE || style->is_quiet)
		return;
	hf_text_begin(out, style, "note");
	hf_buffer_add_text(out, "the gate is off: ");
	hf_text_add_name(out, session->gate_why == NULL ? "unknown"
							: session->gate_why);
	hf_buffer_add_text(out, "; changes are noticed, put back and fail the "
				"run\n");
}

static void add_openers(struct hf_buffer *out, const struct hf_session *session,
			const struct hf_text_style *style)
{
	for (size_t i = 0; i < session->outsider_count; i++) {
		const struct hf_outsider *outsider = &session->outsiders[i];

		if (outsider->has_changed)
			continue;
		hf_text_begin(out, style, NULL);
		hf_text_add_name(out, outsider->path);
		hf_buffer_add_text(out, ": opened for writing outside the run");
		if (outsider->process.pid != 0) {
			hf_buffer_add_text(out, " by ");
			hf_text_add_process(out, &outsider->process);
			hf_buffer_printf(out, " (pid %" PRId64 ")",
					 outsider->process.pid);
		}
		hf_buffer_add_text(out, ", and not changed\n");
	}
}

static void add_why(const char *why, struct hf_buffer *out)
{
	hf_buffer_add_text(out, " (");
	hf_text_add_name(out, why == NULL ? "unknown" : why);
	hf_buffer_add_text(out, ")");
}

void hf_text_add_layers(struct hf_buffer *out, const struct hf_session *session,
			const struct hf_text_style *style)
{
	if (!style->is_verbose)
		return;
	add_openers(out, session, style);
	hf_text_begin(out, style, NULL);
	hf_buffer_add_text(out, session->gate == HF_LAYER_ON ? "gate on"
							     : "gate off");
	if (session->gate != HF_LAYER_ON)
		add_why(session->gate_why, out);
	if (session->leases_wanted > 0)
		hf_buffer_printf(out, ", leases held on %zu of %zu files",
				 session->leases_held, session->leases_wanted);
	hf_buffer_add_text(out, session->is_watch_complete
					? ", watch complete"
					: ", watch incomplete");
	if (!session->is_watch_complete)
		add_why(session->watch_why, out);
	hf_buffer_add_text(out, "\n");
}

static void add_side_effect(struct hf_buffer *out,
			    const struct hf_side_effect *effect)
{
	hf_text_add_name(out, effect->what);
	if (effect->count > 1) {
		hf_buffer_add_text(out, ", ");
		hf_text_add_many(out, effect->count);
		hf_buffer_add_text(out, " times");
	}
	if (effect->process.pid != 0) {
		hf_buffer_add_text(out, ": ");
		hf_text_add_process(out, &effect->process);
		hf_buffer_printf(out, " (pid %" PRId64 ")",
				 effect->process.pid);
	}
	hf_buffer_add_text(out, "\n");
}

void hf_text_add_side_effects(struct hf_buffer *out,
			      const struct hf_session *session,
			      const struct hf_text_style *style)
{
	const size_t count = session->side_effect_count;

	if (style->is_quiet)
		return;
	for (size_t i = 0; i < count && i < HF_GROUPS_SHOWN; i++) {
		hf_text_begin(out, style, "note");
		add_side_effect(out, &session->side_effects[i]);
	}
	if (count > HF_GROUPS_SHOWN) {
		hf_text_begin(out, style, "note");
		hf_buffer_printf(out, "... and %zu more: see the report\n",
				 count - HF_GROUPS_SHOWN);
	}
}
