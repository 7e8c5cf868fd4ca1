/* SPDX-License-Identifier: MIT */
/* holdfast prune: drop by hand what a command would drop at its end. */
#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "cli/ask.h"
#include "cli/repair.h"
#include "core/retention_store.h"
#include "report/json.h"

/* Of one reason and kind. */
#define PATHS_SHOWN 3

struct pruning {
	struct hf_cli_repair repair;
	struct hf_retention_view view;
	struct hf_retention_plan plan;
	struct hf_retention_staying *staying;
	size_t staying_count;
};

static void pruning_done(struct pruning *p)
{
	hf_retention_view_done(&p->view);
	hf_retention_plan_done(&p->plan);
	hf_free_pointee(&p->staying);
	hf_cli_repair_close(&p->repair);
}

/* -- what is shown -----------------------------------------------------------
 */

static void add_drops(const struct pruning *p, struct hf_buffer *out)
{
	struct hf_short_text size;

	for (size_t i = 0; i < p->plan.count; i++) {
		const struct hf_retention_drop *const drop = &p->plan.drops[i];

		hf_buffer_add_text(out, "drop ");
		hf_retention_name(&p->view, drop->what, drop->index, out);
		hf_buffer_printf(out, ", %s: %s\n",
				 hf_format_size(&size, drop->bytes),
				 hf_retention_why_text(drop->why));
	}
}

/* One by one. */
static void add_each_staying(const struct pruning *p, struct hf_buffer *out)
{
	for (size_t i = 0; i < p->staying_count; i++) {
		const struct hf_retention_staying *const staying =
			&p->staying[i];
		const char *const path =
			hf_retention_stay_path(&p->view, staying);

		hf_buffer_add_text(out, "keep ");
		hf_retention_name(&p->view, staying->what, staying->index, out);
		hf_buffer_add_text(out, ": ");
		hf_retention_add_stay(&p->view, staying, out);
		if (path) {
			hf_buffer_add_text(out, " of ");
			hf_text_add_name(out, path);
		}
		hf_buffer_add_text(out, "\n");
	}
}

/* The first few different ones, "a, b, c and more". */
static void add_paths(const struct pruning *p, const bool *is_of_group,
		      struct hf_buffer *out)
{
	const char *shown[PATHS_SHOWN];
	size_t count = 0;

	for (size_t i = 0; i < p->staying_count; i++) {
		const char *const path =
			hf_retention_stay_path(&p->view, &p->staying[i]);
		size_t k = 0;

		if (!is_of_group[i] || !path)
			continue;
		while (k < count && strcmp(shown[k], path) != 0)
			k++;
		if (k < count)
			continue;
		if (count == PATHS_SHOWN) {
			hf_buffer_add_text(out, " and more");
			return;
		}
		hf_buffer_add_text(out, count == 0 ? " of " : ", ");
		hf_text_add_name(out, path);
		shown[count++] = path;
	}
}

/* Those that stay for the same reason in a line. */
static void add_group(const struct pruning *p,
		      const struct hf_retention_staying *first,
		      bool *is_of_group, struct hf_buffer *out)
{
	struct hf_short_text size;
	uint64_t bytes = 0;
	size_t count = 0;

	for (size_t i = 0; i < p->staying_count; i++) {
		is_of_group[i] = p->staying[i].what == first->what &&
				 p->staying[i].why == first->why;
		count += is_of_group[i];
		bytes += is_of_group[i] ? p->staying[i].bytes : 0;
	}
	hf_buffer_printf(out, "keep %zu %s, %s: ", count,
			 hf_retention_what_text(first->what, count > 1),
			 hf_format_size(&size, bytes));
	hf_retention_add_stay(&p->view, first, out);
	add_paths(p, is_of_group, out);
	hf_buffer_add_text(out, "\n");
}

static int add_staying(const struct pruning *p, struct hf_buffer *out,
		       struct hf_error *err)
{
	bool is_told[HF_RETENTION_WHATS][HF_STAYS] = {{false}};
	cleanup_free bool *is_of_group =
		calloc(p->staying_count + 1, sizeof(bool));

	if (!is_of_group)
		return hf_fail_memory(err);
	for (size_t i = 0; i < p->staying_count; i++) {
		const struct hf_retention_staying *const staying =
			&p->staying[i];

		if (is_told[staying->what][staying->why])
			continue;
		is_told[staying->what][staying->why] = true;
		add_group(p, staying, is_of_group, out);
	}
	return 0;
}

static void add_total(const struct pruning *p, bool is_done,
		      struct hf_buffer *out)
{
	const struct hf_retention *const limits =
		&p->repair.project.policy.retention;
	struct hf_short_text size;

	if (p->plan.count == 0) {
		hf_buffer_add_text(out, "nothing to drop");
	} else {
		hf_buffer_add_text(out, is_done ? "dropped " : "would drop ");
		hf_retention_describe(&p->plan, ", ", out);
	}
	hf_buffer_printf(out, "; %s %s\n",
			 hf_format_size(&size, p->plan.bytes_after),
			 is_done || p->plan.count == 0 ? "stay" : "would stay");
	if (p->plan.is_over)
		hf_buffer_printf(out,
				 "that is more than %s, and all of it must "
				 "stay\n",
				 hf_format_size(&size, limits->bytes));
}

static void add_json_item(const struct pruning *p, enum hf_retention_what what,
			  size_t index, uint64_t bytes, bool is_first,
			  struct hf_buffer *out)
{
	cleanup_buffer struct hf_buffer name = HF_BUFFER_INIT;

	hf_retention_name(&p->view, what, index, &name);
	hf_buffer_printf(
		out, "%s\n  {\"what\": \"%s\", \"name\": ", is_first ? "" : ",",
		hf_retention_what_text(what, false));
	hf_report_json_text(name.data, out);
	hf_buffer_printf(out, ", \"bytes\": %" PRIu64 ", \"why\": ", bytes);
	out->is_failed |= name.is_failed;
}

static void add_json(const struct pruning *p, bool is_done,
		     struct hf_buffer *out)
{
	hf_buffer_printf(out,
			 "{\"holdfast-json\": 1, \"command\": \"prune\", "
			 "\"done\": %s, \"bytes_before\": %" PRIu64
			 ", \"bytes_after\": %" PRIu64
			 ", \"too_large\": %s, \"drops\": [",
			 is_done ? "true" : "false", p->plan.bytes_before,
			 p->plan.bytes_after,
			 p->plan.is_over ? "true" : "false");
	for (size_t i = 0; i < p->plan.count; i++) {
		const struct hf_retention_drop *const drop = &p->plan.drops[i];

		add_json_item(p, drop->what, drop->index, drop->bytes, i == 0,
			      out);
		hf_report_json_text(hf_retention_why_text(drop->why), out);
		hf_buffer_add_text(out, "}");
	}
	hf_buffer_add_text(out, "], \"keeps\": [");
	for (size_t i = 0; i < p->staying_count; i++) {
		const struct hf_retention_staying *const staying =
			&p->staying[i];
		cleanup_buffer struct hf_buffer why = HF_BUFFER_INIT;

		add_json_item(p, staying->what, staying->index, staying->bytes,
			      i == 0, out);
		hf_retention_add_stay(&p->view, staying, &why);
		hf_report_json_text(why.data, out);
		hf_buffer_add_text(out, ", \"of\": ");
		hf_report_json_text(hf_retention_stay_path(&p->view, staying),
				    out);
		hf_buffer_add_text(out, "}");
		out->is_failed |= why.is_failed;
	}
	hf_buffer_add_text(out, "]}\n");
}

static int show(const struct pruning *p, bool is_done, struct hf_error *err)
{
	const struct hf_options *const options = p->repair.options;
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;
	int rc = 0;

	if (options->is_json) {
		add_json(p, is_done, &out);
	} else if (!options->is_quiet || !is_done) {
		if (options->is_dry_run)
			add_drops(p, &out);
		if (options->is_verbose)
			add_each_staying(p, &out);
		else if (options->is_dry_run)
			rc = add_staying(p, &out, err);
		add_total(p, is_done, &out);
	}
	if (rc == 0)
		hf_output_result(p->repair.output, &out);
	return rc;
}

/* -- the command -------------------------------------------------------------
 */

static int look(struct pruning *p, struct hf_error *err)
{
	const struct hf_project *const project = &p->repair.project;
	int rc;

	rc = hf_retention_read(&project->store, &project->policy.retention,
			       HF_RETENTION_ALL, &p->view, err);
	if (rc == 0)
		rc = hf_retention_decide(&p->view.input, &p->plan, err);
	if (rc == 0)
		rc = hf_retention_explain(&p->view.input, &p->plan, &p->staying,
					  &p->staying_count, err);
	return rc;
}

static bool may_drop(const struct pruning *p)
{
	cleanup_buffer struct hf_buffer lines = HF_BUFFER_INIT;

	if (p->plan.count == 0 || p->repair.options->has_yes ||
	    !hf_ask_is_possible())
		return true;
	add_drops(p, &lines);
	return hf_ask(p->repair.output, &lines, "drop all of this for good?");
}

static int prune(struct pruning *p, const struct hf_options *options,
		 struct hf_output *output, struct hf_error *err)
{
	struct hf_store *const store = &p->repair.project.store;
	int rc;

	if (options->word_count > 0) {
		(void)hf_fail(err, HF_ERR_USAGE, "cannot prune '%s'",
			      HF_QUOTE(options->words[0]));
		return hf_fail_hint(err, "what goes is what 'retention' in the "
					 "policy says; a path is taken out by "
					 "'holdfast purge PATH'");
	}
	rc = hf_cli_repair_open(&p->repair, "prune", options, output,
				HF_STORE_MUST_EXIST, err);
	if (rc == 0)
		rc = hf_cli_repair_recover(&p->repair, "prune", err);
	if (rc == 0 && options->is_dry_run) {
		struct hf_error ignored;

		/* So that nobody drops what is being read; where it is taken
		 * somebody is at work, and nothing is worth waiting for. */
		(void)!hf_store_lock(store, false, &ignored);
		rc = look(p, err);
		return rc < 0 ? rc : show(p, false, err);
	}
	if (rc == 0)
		rc = hf_store_sweep(store, err);
	if (rc == 0)
		rc = look(p, err);
	if (rc < 0)
		return rc;
	if (!may_drop(p))
		return show(p, false, err);
	rc = hf_retention_apply(store, &p->view, &p->plan, err);
	return rc < 0 ? rc : show(p, true, err);
}

int hf_cmd_prune(const struct hf_options *options, struct hf_output *output)
{
	CLEANUP(pruning_done)
	struct pruning p = {
		.repair = HF_CLI_REPAIR_INIT,
		.view = HF_RETENTION_VIEW_INIT,
		.plan = HF_RETENTION_PLAN_INIT,
	};
	struct hf_error err = {0};

	if (prune(&p, options, output, &err) < 0)
		return hf_output_fail(output, &err);
	return HF_STATUS_DONE;
}
