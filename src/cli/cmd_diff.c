/* SPDX-License-Identifier: MIT */
/* holdfast diff: what differs between two snapshots, or one and the tree. */
#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/diff_detail.h"
#include "platform/pager.h"
#include "platform/terminal.h"
#include "report/json.h"

#define KEYS_SHOWN ((size_t)20)

struct diffing {
	const struct hf_options *options;
	struct hf_output *output;
	struct hf_comparison comparison;
	struct hf_diff_detail *details;
};

static void diffing_done(struct diffing *diffing)
{
	hf_diff_details_free(diffing->details,
			     diffing->comparison.deltas.count);
	hf_comparison_done(&diffing->comparison);
}

/* -- text --------------------------------------------------------------------
 */

static void add_count(const char *noun, const size_t counts[2],
		      struct hf_buffer *out)
{
	if (counts[0] != counts[1])
		hf_buffer_printf(out, ", %zu -> %zu %s", counts[0], counts[1],
				 noun);
}

static void add_keys(const struct hf_diff_detail *detail, struct hf_buffer *out)
{
	static const char *const words[] = {
		[HF_TOML_CHANGED] = "changed",
		[HF_TOML_ADDED] = "added",
		[HF_TOML_REMOVED] = "removed",
	};
	static const enum hf_toml_change_kind order[] = {
		HF_TOML_CHANGED,
		HF_TOML_ADDED,
		HF_TOML_REMOVED,
	};
	const struct hf_toml_changes *const keys = &detail->keys;
	size_t shown = 0;

	if (keys->count == 0) {
		hf_buffer_add_text(out, "    no key: comments, blanks or order "
					"alone\n");
		return;
	}
	for (size_t k = 0; k < HF_COUNT(order); k++) {
		bool is_first = true;

		for (size_t i = 0; i < keys->count && shown < KEYS_SHOWN; i++) {
			if (keys->items[i].kind != order[k])
				continue;
			hf_buffer_printf(out, "%s%s ", is_first ? "    " : ",",
					 is_first ? words[order[k]] : "");
			hf_text_add_name(out, keys->items[i].name);
			is_first = false;
			shown++;
		}
		if (!is_first)
			hf_buffer_add_text(out, "\n");
	}
	if (shown < keys->count)
		hf_buffer_printf(out, "    ... and %zu more\n",
				 keys->count - shown);
}

static void add_difference(const struct hf_delta *delta,
			   const struct hf_diff_detail *detail,
			   struct hf_buffer *out)
{
	hf_buffer_add_text(out, "  ");
	hf_text_add_name(out, hf_delta_entry(delta)->path);
	hf_buffer_add_text(out, ": ");
	hf_text_add_difference(out, delta);
	if (detail->is_text) {
		add_count("lines", detail->lines, out);
		add_count("comment lines", detail->comments, out);
	} else if (detail->has_offset) {
		hf_buffer_printf(out, "%s, first difference at byte %" PRIu64,
				 detail->is_large ? "" : ", no text",
				 detail->offset);
	}
	hf_buffer_add_text(out, "\n");
	if (detail->has_keys)
		add_keys(detail, out);
}

static void add_sides(const struct hf_comparison *comparison,
		      struct hf_buffer *out)
{
	hf_buffer_add_text(out, "snapshot ");
	hf_text_add_number(out, &comparison->from);
	hf_buffer_add_text(out, " (");
	hf_text_add_time(out, hf_name_time_ns(&comparison->from));
	hf_buffer_add_text(out, ") ");
	if (comparison->to.text[0] == '\0') {
		hf_buffer_add_text(out, "and now");
		return;
	}
	hf_buffer_add_text(out, "and snapshot ");
	hf_text_add_number(out, &comparison->to);
	hf_buffer_add_text(out, " (");
	hf_text_add_time(out, hf_name_time_ns(&comparison->to));
	hf_buffer_add_text(out, ")");
}

static void add_text(const struct diffing *diffing, struct hf_buffer *out)
{
	const struct hf_comparison *const comparison = &diffing->comparison;
	const size_t count = comparison->deltas.count;

	if (count == 0)
		hf_buffer_add_text(out, "nothing differs between ");
	else
		hf_text_add_count(out, count, "entry differs between ",
				  "entries differ between ");
	add_sides(comparison, out);
	hf_buffer_add_text(out, count == 0 ? "\n" : ":\n");
	for (size_t i = 0; i < count; i++)
		add_difference(&comparison->deltas.items[i],
			       &diffing->details[i], out);
	for (size_t i = 0; i < count; i++)
		hf_buffer_add(out, diffing->details[i].unified.data,
			      diffing->details[i].unified.len);
}

static void note(const struct diffing *diffing, size_t index)
{
	const struct hf_diff_detail *const detail = &diffing->details[index];
	const char *const path =
		hf_delta_entry(&diffing->comparison.deltas.items[index])->path;

	if (detail->is_rough)
		hf_output_mark(
			diffing->output, "note",
			"so much differs in '%s' that not all lines which are "
			"the same were found",
			HF_QUOTE(path));
	else if (detail->is_large)
		hf_output_mark(diffing->output, "note",
			       "'%s' is too large to be compared by lines",
			       HF_QUOTE(path));
}

/* What went wrong with single ones; the rest is told. */
static int say_failures(const struct diffing *diffing)
{
	int status = HF_STATUS_DIFFERS;

	for (size_t i = 0; i < diffing->comparison.deltas.count; i++) {
		const struct hf_diff_detail *const detail =
			&diffing->details[i];

		if (detail->err.code < 0)
			status = hf_output_fail(diffing->output, &detail->err);
		else if (!diffing->options->is_quiet)
			note(diffing, i);
	}
	return status;
}

/* -- JSON ---------------------------------------------------------------------
 */

static void add_json_keys(const struct hf_toml_changes *keys,
			  enum hf_toml_change_kind kind, const char *name,
			  struct hf_buffer *out)
{
	const char *separator = "";

	hf_buffer_printf(out, "\"%s\": [", name);
	for (size_t i = 0; i < keys->count; i++) {
		if (keys->items[i].kind != kind)
			continue;
		hf_buffer_add_text(out, separator);
		hf_report_json_text(keys->items[i].name, out);
		separator = ", ";
	}
	hf_buffer_add_text(out, "]");
}

static void add_json_counts(const char *name, bool is_known,
			    const size_t counts[2], struct hf_buffer *out)
{
	if (is_known)
		hf_buffer_printf(out, ", \"%s\": [%zu, %zu]", name, counts[0],
				 counts[1]);
	else
		hf_buffer_printf(out, ", \"%s\": null", name);
}

static void add_json_detail(const struct hf_diff_detail *detail,
			    struct hf_buffer *out)
{
	add_json_counts("lines", detail->is_text, detail->lines, out);
	add_json_counts("comments", detail->is_text, detail->comments, out);
	if (detail->has_keys) {
		hf_buffer_add_text(out, ", \"keys\": {");
		add_json_keys(&detail->keys, HF_TOML_CHANGED, "changed", out);
		hf_buffer_add_text(out, ", ");
		add_json_keys(&detail->keys, HF_TOML_ADDED, "added", out);
		hf_buffer_add_text(out, ", ");
		add_json_keys(&detail->keys, HF_TOML_REMOVED, "removed", out);
		hf_buffer_add_text(out, "}");
	} else {
		hf_buffer_add_text(out, ", \"keys\": null");
	}
	if (detail->has_offset)
		hf_buffer_printf(out, ", \"first_difference\": %" PRIu64,
				 detail->offset);
	else
		hf_buffer_add_text(out, ", \"first_difference\": null");
	hf_buffer_add_text(out, ", \"unified\": ");
	hf_report_json_text(detail->unified.data, out);
}

static void add_json(const struct diffing *diffing, struct hf_buffer *out)
{
	const struct hf_comparison *const comparison = &diffing->comparison;

	hf_buffer_printf(out,
			 "{\"holdfast-json\": 1, \"command\": \"diff\", "
			 "\"from\": \"%s\", \"to\": ",
			 comparison->from.text);
	hf_report_json_text(
		comparison->to.text[0] == '\0' ? NULL : comparison->to.text,
		out);
	hf_buffer_add_text(out, ", \"differences\": [");
	for (size_t i = 0; i < comparison->deltas.count; i++) {
		const struct hf_delta *const delta =
			&comparison->deltas.items[i];

		hf_buffer_add_text(out, i == 0 ? "\n  {" : ",\n  {");
		hf_report_json_path(hf_delta_entry(delta)->path, out);
		hf_buffer_printf(out, ", \"change\": \"%s\", \"before\": ",
				 hf_change_name(delta->change));
		hf_report_json_entry(delta->before, out);
		hf_buffer_add_text(out, ", \"after\": ");
		hf_report_json_entry(delta->after, out);
		add_json_detail(&diffing->details[i], out);
		hf_buffer_add_text(out, "}");
	}
	hf_buffer_add_text(out, "]}\n");
}

/* -- all of it ----------------------------------------------------------------
 */

/* On a terminal, where somebody reads: through a pager, if there is one. */
static void print(const struct diffing *diffing, const struct hf_buffer *out)
{
	if (diffing->options->is_json || !hf_terminal_is(HF_STDOUT) ||
	    out->is_failed || hf_pager_show(out->data, out->len) < 0)
		hf_output_result(diffing->output, out);
}

static int diff(struct diffing *diffing, int *ret_status, struct hf_error *err)
{
	const struct hf_options *const options = diffing->options;
	const bool is_terminal = hf_terminal_is(HF_STDOUT);
	const struct hf_unified_style style = {
		.has_color = !options->is_json &&
			     (options->color == HF_COLOR_ALWAYS ||
			      (options->color == HF_COLOR_AUTO &&
			       hf_terminal_has_color(HF_STDOUT))),
		.is_escaped = is_terminal && !options->is_json,
	};
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;
	int rc;

	rc = hf_comparison_load(&diffing->comparison, options, diffing->output,
				err);
	if (rc == 0)
		rc = hf_diff_details_load(&diffing->comparison, &style,
					  &diffing->details, err);
	if (rc < 0)
		return rc;
	if (options->is_json)
		add_json(diffing, &out);
	else if (!options->is_quiet)
		add_text(diffing, &out);
	if (out.len > 0 || out.is_failed)
		print(diffing, &out);
	if (diffing->comparison.deltas.count > 0)
		*ret_status = say_failures(diffing);
	return 0;
}

int hf_cmd_diff(const struct hf_options *options, struct hf_output *output)
{
	CLEANUP(diffing_done)
	struct diffing diffing = {
		.options = options,
		.output = output,
		.comparison = HF_COMPARISON_INIT,
	};
	struct hf_error err = {0};
	int status = HF_STATUS_DONE;

	if (diff(&diffing, &status, &err) < 0)
		return hf_output_fail(output, &err);
	return status;
}
