/* SPDX-License-Identifier: MIT */
/* holdfast log --path FILE: the distinct contents that a file has had. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/content_facts.h"
#include "cli/paths.h"
#include "core/content.h"
#include "core/history.h"
#include "core/scan.h"
#include "report/json.h"

#define HASH_SHOWN  8

struct looking {
	const struct hf_options *options;
	struct hf_output *output;
	struct hf_project project;
	char *path;
	struct hf_history history;
	struct hf_entry now;   /* kind and hash of what stands there */
	struct hf_buffer link; /* its text */
};

static void looking_done(struct looking *looking)
{
	hf_buffer_done(&looking->link);
	hf_history_done(&looking->history);
	hf_free_pointee(&looking->path);
	hf_project_done(&looking->project);
}

/* -- text -------------------------------------------------------------------
 */

static void add_snapshots(const struct hf_history_content *content,
			  struct hf_buffer *out)
{
	const bool is_one =
		strcmp(content->newest.text, content->oldest.text) == 0;

	hf_buffer_add_text(out, is_one ? "; snapshot " : "; snapshots ");
	hf_text_add_number(out, &content->oldest);
	if (is_one)
		return;
	hf_buffer_add_text(out, " (");
	hf_text_add_time(out, hf_name_time_ns(&content->oldest));
	hf_buffer_add_text(out, ") to ");
	hf_text_add_number(out, &content->newest);
}

static void add_line(const struct hf_history_content *content,
		     const struct hf_content_facts *facts,
		     struct hf_buffer *out)
{
	char digits[HF_HASH_TEXT] = "";
	struct hf_short_text step = {"-"};

	if (content->is_recorded)
		(void)snprintf(step.text, sizeof(step.text), "@{%" PRIu64 "}",
			       content->step);
	if (facts->has_hash)
		hf_hash_format(&facts->hash, digits);
	hf_buffer_printf(out, "%-5s  ", step.text);
	hf_text_add_time(out, content->is_recorded
				      ? hf_name_time_ns(&content->newest)
				      : content->seen_ns);
	hf_buffer_printf(out, "  %-*.*s  ", HASH_SHOWN, HASH_SHOWN,
			 digits[0] == '\0' ? "-" : digits);
	hf_content_facts_add(content, facts, out);
	if (content->is_recorded)
		add_snapshots(content, out);
	hf_content_copies_add(content, out);
	hf_buffer_add_text(out, "\n");
}

static void hint(const struct looking *looking)
{
	cleanup_buffer struct hf_buffer path = HF_BUFFER_INIT;

	hf_text_add_argument(&path, looking->options->path);
	if (path.data != NULL)
		hf_output_mark(
			looking->output, "hint",
			"'holdfast show%s @{N}:%s' prints one, 'holdfast "
			"restore%s --from @{N} %s' puts it back",
			looking->output->style.location, path.data,
			looking->output->style.location, path.data);
}

/* -- JSON -------------------------------------------------------------------
 */

static void add_json_snapshot(const char *key, const struct hf_name *name,
			      bool is_recorded, struct hf_buffer *out)
{
	struct hf_short_text time;

	hf_buffer_printf(out, ", \"%s\": ", key);
	if (!is_recorded) {
		hf_buffer_add_text(out, "null");
		return;
	}
	hf_format_time(&time, hf_name_time_ns(name));
	hf_buffer_printf(out, "{\"name\": \"%s\", \"time\": \"%.19sZ\"}",
			 name->text, time.text);
}

static void add_json_copies(const struct hf_history_content *content,
			    struct hf_buffer *out)
{
	hf_buffer_add_text(out, ", \"kept\": [");
	for (size_t i = 0; i < content->copy_count; i++) {
		const struct hf_history_copy *copy = &content->copies[i];

		hf_buffer_printf(out, "%s{\"session\": \"%s\", \"kind\": ",
				 i == 0 ? "" : ", ", copy->session.text);
		hf_report_json_text(copy->kind, out);
		hf_buffer_add_text(out, ", \"command\": ");
		hf_report_json_strings(copy->argv, out);
		hf_buffer_add_text(out, ", \"time\": ");
		hf_report_json_time(copy->time_ns, out);
		hf_buffer_add_text(out, ", ");
		hf_report_json_path(copy->path, out);
		hf_buffer_add_text(out, "}");
	}
	hf_buffer_add_text(out, "]");
}

static void add_json_content(const struct hf_history_content *content,
			     const struct hf_content_facts *facts,
			     struct hf_buffer *out)
{
	if (content->is_recorded)
		hf_buffer_printf(out, "{\"step\": %" PRIu64, content->step);
	else
		hf_buffer_add_text(out, "{\"step\": null");
	add_json_snapshot("newest", &content->newest, content->is_recorded,
			  out);
	add_json_snapshot("oldest", &content->oldest, content->is_recorded,
			  out);
	hf_buffer_add_text(out, ", \"entry\": ");
	hf_report_json_entry(&content->entry, out);
	if (facts->is_text)
		hf_buffer_printf(out, ", \"lines\": %zu, \"comments\": %zu",
				 facts->lines, facts->comments);
	else
		hf_buffer_add_text(out, ", \"lines\": null, \"comments\": "
					"null");
	hf_buffer_printf(out, ", \"now\": %s, \"damage\": %s",
			 facts->is_now ? "true" : "false",
			 content->is_damage ? "true" : "false");
	add_json_copies(content, out);
	hf_buffer_add_text(out, "}");
}

/* -- all of it --------------------------------------------------------------
 */

/* What stands there now; nothing when that cannot be told. */
static void look_at_now(struct looking *looking)
{
	struct hf_entry *const now = &looking->now;
	struct hf_error ignored;
	const char *name;
	cleanup_fd int dir_fd = hf_scan_open_parent(looking->project.root_fd,
						    looking->path, &name);

	if (dir_fd < 0 || hf_file_stat_at(dir_fd, name, &now->stat) < 0)
		return;
	if (now->stat.kind == HF_KIND_FILE)
		now->has_hash = hf_content_hash(dir_fd, name, looking->path,
						&now->hash, &ignored) == 0;
	else if (now->stat.kind == HF_KIND_LINK &&
		 hf_file_read_link_at(dir_fd, name, &looking->link) == 0)
		now->link = looking->link.data;
}

static int print(struct looking *looking, struct hf_error *err)
{
	const bool is_json = looking->options->is_json;
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;

	if (is_json) {
		hf_buffer_add_text(&out, "{\"holdfast-json\": 1, \"command\": "
					 "\"log\", ");
		hf_report_json_path(looking->path, &out);
		hf_buffer_add_text(&out, ", \"contents\": [");
	}
	for (size_t i = 0;
	     i < looking->history.count && i < looking->options->limit; i++) {
		const struct hf_history_content *const content =
			&looking->history.items[i];
		const struct hf_content_facts facts = hf_content_facts_of(
			&looking->project.store, content, &looking->now);

		if (is_json) {
			hf_buffer_add_text(&out, i == 0 ? "\n  " : ",\n  ");
			add_json_content(content, &facts, &out);
		} else {
			add_line(content, &facts, &out);
		}
	}
	if (is_json)
		hf_buffer_add_text(&out, "]}\n");
	hf_output_result(looking->output, &out);
	if (!is_json && !looking->options->is_quiet)
		hint(looking);
	return hf_buffer_check(&out, err);
}

static int look(struct looking *looking, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer notes = HF_BUFFER_INIT;
	int rc;

	rc = hf_command_open(&looking->project, looking->options,
			     HF_STORE_MUST_EXIST, err);
	if (rc == 0)
		rc = hf_paths_resolve(looking->project.root,
				      looking->options->path, &looking->path,
				      err);
	if (rc == 0)
		rc = hf_history_read(&looking->project.store, looking->path,
				     &notes, &looking->history, err);
	if (!looking->options->is_quiet)
		hf_output_notes(looking->output, notes.data);
	if (rc < 0)
		return rc;
	if (looking->history.count == 0) {
		(void)hf_fail(err, HF_ERR_USAGE,
			      "there is no content of '%s' in the store",
			      HF_QUOTE(looking->path));
		return hf_fail_hint(err, "'holdfast show @' lists what is "
					 "recorded");
	}
	look_at_now(looking);
	return print(looking, err);
}

int hf_log_path(const struct hf_options *options, struct hf_output *output,
		struct hf_error *err)
{
	CLEANUP(looking_done)
	struct looking looking = {
		.options = options,
		.output = output,
		.project = HF_PROJECT_INIT,
		.history = HF_HISTORY_INIT,
		.link = HF_BUFFER_INIT,
	};

	return look(&looking, err);
}
