/* SPDX-License-Identifier: MIT */
/* holdfast verify --store: is every byte of the store what was written? */
#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "cli/repair.h"
#include "core/inspect.h"
#include "report/json.h"

/* How many paths of a snapshot a line names. */
#define PATHS_SHOWN 8

/* What was found so far, as it will be printed. */
struct findings {
	bool is_json;
	struct hf_buffer damaged;
	struct hf_buffer incomplete;
};

#define cleanup_findings CLEANUP(findings_done)

static void findings_done(struct findings *findings)
{
	hf_buffer_done(&findings->damaged);
	hf_buffer_done(&findings->incomplete);
}

static void begin(void *context)
{
	struct findings *const findings = context;

	hf_buffer_clear(&findings->damaged);
	hf_buffer_clear(&findings->incomplete);
}

static void take_damage(void *context, const struct hf_store_damage *damage)
{
	struct findings *const findings = context;
	struct hf_buffer *const out = &findings->damaged;

	if (!findings->is_json) {
		hf_buffer_add_text(out, "damaged: ");
		hf_text_add_name(out, damage->file);
		hf_buffer_printf(out, ": %s\n  %s\n", damage->reason,
				 damage->cost);
		return;
	}
	hf_buffer_add_text(out, out->len == 0 ? "\n  {" : ",\n  {");
	hf_report_json_path(damage->file, out);
	hf_buffer_add_text(out, ", \"reason\": ");
	hf_report_json_text(damage->reason, out);
	hf_buffer_add_text(out, ", \"cost\": ");
	hf_report_json_text(damage->cost, out);
	hf_buffer_add_text(out, "}");
}

static void take_incomplete_json(struct hf_buffer *out,
				 const struct hf_incomplete *snapshot)
{
	hf_buffer_printf(out,
			 "%s{\"snapshot\": \"%s\", \"files\": %zu, \"lost\": "
			 "%zu, \"paths\": [",
			 out->len == 0 ? "\n  " : ",\n  ",
			 snapshot->snapshot->text, snapshot->files,
			 snapshot->lost);
	for (size_t i = 0; i < snapshot->path_count; i++) {
		hf_buffer_add_text(out, i == 0 ? "{" : ", {");
		hf_report_json_path(snapshot->paths[i], out);
		hf_buffer_add_text(out, "}");
	}
	hf_buffer_add_text(out, "]}");
}

static void take_incomplete(void *context, const struct hf_incomplete *snapshot)
{
	struct findings *const findings = context;
	struct hf_buffer *const out = &findings->incomplete;
	size_t shown = snapshot->path_count;

	if (findings->is_json) {
		take_incomplete_json(out, snapshot);
		return;
	}
	if (shown > PATHS_SHOWN)
		shown = PATHS_SHOWN;
	hf_buffer_printf(out,
			 "lost: %zu of %zu files of snapshot %" PRIu64 ": ",
			 snapshot->lost, snapshot->files,
			 hf_name_number(snapshot->snapshot));
	for (size_t i = 0; i < shown; i++) {
		if (i > 0)
			hf_buffer_add_text(out, ", ");
		hf_text_add_name(out, snapshot->paths[i]);
	}
	if (snapshot->lost > shown)
		hf_buffer_printf(out, " and %zu more", snapshot->lost - shown);
	hf_buffer_add_text(out, "\n  the other files of it can be restored\n");
}

static void add_counts_json(const struct hf_inspect_counts *counts,
			    struct hf_buffer *out)
{
	hf_buffer_printf(
		out,
		"{\"bytes\": %" PRIu64 ", \"snapshots\": %zu, "
		"\"packs\": %zu, \"contents\": %zu, \"sessions\": %zu, "
		"\"kept\": %zu}",
		counts->bytes, counts->snapshots, counts->packs,
		counts->contents, counts->sessions, counts->kept);
}

static void print_json(const struct findings *findings, const char *path,
		       const struct hf_inspect_counts *counts,
		       struct hf_buffer *out)
{
	hf_buffer_add_text(out, "{\"holdfast-json\": 1, \"command\": "
				"\"verify --store\", ");
	hf_report_json_path(path, out);
	hf_buffer_printf(out, ", \"whole\": %s, \"checked\": ",
			 counts->damaged == 0 ? "true" : "false");
	add_counts_json(counts, out);
	hf_buffer_add_text(out, ", \"damaged\": [");
	hf_buffer_add(out, findings->damaged.data, findings->damaged.len);
	hf_buffer_add_text(out, "], \"incomplete\": [");
	hf_buffer_add(out, findings->incomplete.data, findings->incomplete.len);
	hf_buffer_add_text(out, "]}\n");
}

static void add_totals(const struct hf_inspect_counts *counts,
		       struct hf_buffer *out)
{
	struct hf_short_text size;

	hf_text_add_count(out, counts->snapshots, "snapshot", "snapshots");
	hf_buffer_add_text(out, ", ");
	hf_text_add_count(out, counts->packs, "pack", "packs");
	hf_buffer_add_text(out, " with ");
	hf_text_add_count(out, counts->contents, "content", "contents");
	hf_buffer_add_text(out, ", ");
	hf_text_add_count(out, counts->sessions, "session", "sessions");
	hf_buffer_add_text(out, ", ");
	hf_text_add_count(out, counts->kept, "kept copy", "kept copies");
	hf_buffer_printf(out, "; %s read\n",
			 hf_format_size(&size, counts->bytes));
}

static void print_text(const struct findings *findings, const char *path,
		       const struct hf_inspect_counts *counts, bool is_quiet,
		       struct hf_buffer *out)
{
	hf_buffer_add(out, findings->damaged.data, findings->damaged.len);
	hf_buffer_add(out, findings->incomplete.data, findings->incomplete.len);
	if (counts->damaged == 0 && is_quiet)
		return;
	hf_buffer_add_text(out, "the store ");
	hf_text_add_name(out, path);
	if (counts->damaged > 0)
		hf_buffer_printf(out, " is damaged in %zu %s; whole are ",
				 counts->damaged,
				 counts->damaged == 1 ? "place" : "places");
	else
		hf_buffer_add_text(out, " is whole: ");
	add_totals(counts, out);
}

static int verify(const struct hf_options *options, struct hf_output *output,
		  size_t *ret_damaged, struct hf_error *err)
{
	cleanup_project struct hf_project project = HF_PROJECT_INIT;
	cleanup_findings struct findings findings = {
		.is_json = options->is_json,
		.damaged = HF_BUFFER_INIT,
		.incomplete = HF_BUFFER_INIT,
	};
	const struct hf_inspect_sink sink = {
		.context = &findings,
		.begin = begin,
		.damaged = take_damage,
		.incomplete = take_incomplete,
	};
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;
	struct hf_inspect_counts counts;
	int rc;

	if (options->word_count > 0)
		return hf_fail(err, HF_ERR_USAGE,
			       "cannot verify a snapshot and the store at a "
			       "time");
	rc = hf_command_find_project(&project, options, options->store, err);
	if (rc < 0)
		return rc;
	rc = hf_inspect(project.store_path, project.root, project.root_fd,
			&sink, hf_output_progress(output, "verifying"), &counts,
			err);
	if (rc < 0)
		return hf_command_explain(&project, err);
	if (findings.damaged.is_failed || findings.incomplete.is_failed)
		return hf_fail_memory(err);
	if (options->is_json)
		print_json(&findings, project.store_path, &counts, &out);
	else
		print_text(&findings, project.store_path, &counts,
			   options->is_quiet, &out);
	hf_output_result(output, &out);
	hf_cli_note_purge(project.store_path, output);
	*ret_damaged = counts.damaged;
	return 0;
}

int hf_cmd_verify_store(const struct hf_options *options,
			struct hf_output *output)
{
	struct hf_error err = {0};
	size_t damaged = 0;

	if (verify(options, output, &damaged, &err) < 0)
		return hf_output_fail(output, &err);
	return damaged > 0 ? HF_STATUS_DIFFERS : HF_STATUS_DONE;
}
