/* SPDX-License-Identifier: MIT */
/* holdfast show: what a snapshot holds, or one file of it. */
#include <inttypes.h>
#include <string.h>

#include "base/encode.h"
#include "base/fail.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/paths.h"
#include "core/entry_text.h"
#include "core/fetch.h"
#include "core/moment.h"
#include "core/snapshot.h"
#include "core/snapshot_peek.h"
#include "report/json.h"

/* Up to here a content is held until it is proven, and only then printed. */
#define HELD_MAX ((uint64_t)16 << 20)

struct showing {
	const struct hf_options *options;
	struct hf_output *output;
	struct hf_project project;
	struct hf_name snapshot;
	char *path; /* NULL: all of the snapshot */
	struct hf_tree tree;
	bool is_over; /* nobody reads, or it cannot be written: that is said */
};

static void showing_done(struct showing *showing)
{
	hf_tree_done(&showing->tree);
	hf_free_pointee(&showing->path);
	hf_project_done(&showing->project);
}

/* -- what is asked for ------------------------------------------------------
 */

static int resolve(struct showing *showing, const char *typed,
		   struct hf_error *err)
{
	const size_t len = hf_moment_split(typed);
	const char *paths[] = {NULL, NULL};
	cleanup_free char *word = malloc(len + 1);
	cleanup_buffer struct hf_buffer notes = HF_BUFFER_INIT;
	int rc;

	if (word == NULL)
		return hf_fail_memory(err);
	memcpy(word, typed, len);
	word[len] = '\0';
	if (len == 0) {
		(void)hf_fail(err, HF_ERR_USAGE,
			      "cannot show '%s': it names no snapshot",
			      HF_QUOTE(typed));
		return hf_fail_hint(err,
				    "the newest one is '@': 'holdfast "
				    "show @%s'",
				    HF_QUOTE(typed));
	}
	if (typed[len] == ':') {
		rc = hf_paths_resolve(showing->project.root, typed + len + 1,
				      &showing->path, err);
		if (rc < 0)
			return rc;
		paths[0] = showing->path;
	}
	rc = hf_moment_find(&showing->project.store, word, paths, &notes,
			    &showing->snapshot, err);
	if (!showing->options->is_quiet)
		hf_output_notes(showing->output, notes.data);
	return rc;
}

/* -- lists ------------------------------------------------------------------
 */

/* Directories above what is protected are no part of it. */
static bool is_listed(const struct hf_entry *entry)
{
	return entry->role != HF_ROLE_ANCESTOR;
}

static size_t count_listed(const struct hf_tree *tree)
{
	size_t count = 0;

	for (size_t i = 0; i < tree->count; i++)
		count += is_listed(&tree->entries[i]);
	return count;
}

static void add_line(const struct hf_entry *entry, struct hf_buffer *out)
{
	const enum hf_kind kind = entry->stat.kind;

	hf_buffer_printf(out, "%-9s  ", hf_kind_name(kind));
	if (kind == HF_KIND_ABSENT) {
		hf_buffer_printf(out, "%4s  %12s  %20s", "-", "-", "-");
	} else {
		hf_buffer_printf(out, "%04o  ", entry->stat.mode);
		if (kind == HF_KIND_FILE)
			hf_buffer_printf(out, "%12" PRIu64, entry->stat.size);
		else
			hf_buffer_printf(out, "%12s", "-");
		hf_buffer_add_text(out, "  ");
		hf_text_add_time(out, entry->stat.mtime_ns);
	}
	hf_buffer_add_text(out, "  ");
	hf_text_add_name(out, entry->path);
	if (entry->link != NULL) {
		hf_buffer_add_text(out, " -> ");
		hf_text_add_name(out, entry->link);
	}
	hf_buffer_add_text(out, "\n");
}

static void add_text(const struct showing *showing, struct hf_buffer *out)
{
	const size_t count = count_listed(&showing->tree);

	hf_buffer_printf(out, "snapshot %s", showing->snapshot.text);
	if (showing->path != NULL) {
		hf_buffer_add_text(out, ", ");
		hf_text_add_name(out, showing->path);
	}
	hf_buffer_add_text(out, ": ");
	hf_text_add_count(out, count, "entry\n", "entries\n");
	for (size_t i = 0; i < showing->tree.count; i++)
		if (is_listed(&showing->tree.entries[i]))
			add_line(&showing->tree.entries[i], out);
}

static void begin_json(const struct showing *showing, struct hf_buffer *out)
{
	hf_buffer_printf(out,
			 "{\"holdfast-json\": 1, \"command\": \"show\", "
			 "\"snapshot\": \"%s\", ",
			 showing->snapshot.text);
	if (showing->path != NULL)
		hf_report_json_path(showing->path, out);
	else
		hf_buffer_add_text(out, "\"path\": null, \"path_bytes\": null");
}

static void add_json_entry(const struct hf_entry *entry, struct hf_buffer *out)
{
	hf_buffer_add_text(out, "{");
	hf_report_json_path(entry->path, out);
	hf_buffer_add_text(out, ", \"rule\": ");
	hf_report_json_text(entry->rule, out);
	hf_buffer_printf(out, ", \"role\": \"%s\", \"modified\": ",
			 hf_role_name(entry->role));
	hf_report_json_time(entry->stat.mtime_ns, out);
	hf_buffer_add_text(out, ", \"entry\": ");
	hf_report_json_entry(entry, out);
	hf_buffer_add_text(out, "}");
}

static void add_json(const struct showing *showing, struct hf_buffer *out)
{
	const char *separator = "\n  ";

	begin_json(showing, out);
	hf_buffer_add_text(out, ", \"entries\": [");
	for (size_t i = 0; i < showing->tree.count; i++) {
		if (!is_listed(&showing->tree.entries[i]))
			continue;
		hf_buffer_add_text(out, separator);
		add_json_entry(&showing->tree.entries[i], out);
		separator = ",\n  ";
	}
	hf_buffer_add_text(out, "]}\n");
}

static int list(struct showing *showing, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;

	if (showing->options->is_json)
		add_json(showing, &out);
	else
		add_text(showing, &out);
	hf_output_result(showing->output, &out);
	return hf_buffer_check(&out, err);
}

/* -- one content ------------------------------------------------------------
 */

static int fail_content(const struct showing *showing, struct hf_error *err)
{
	const struct hf_error cause = *err;

	if (cause.code != HF_ERR_CORRUPT)
		return cause.code;
	(void)hf_fail(
		err, HF_ERR_CORRUPT, "cannot show '%s' of snapshot %s: %s",
		HF_QUOTE(showing->path), showing->snapshot.text, cause.text);
	return hf_fail_hint(err, "'holdfast verify --store' names all that is "
				 "damaged and what can still be had");
}

static int print_part(void *context, const void *data, size_t len,
		      struct hf_error *err)
{
	struct showing *const showing = context;
	const int rc = hf_output_check_content(showing->output, showing->path,
					       data, len, err);

	if (rc < 0)
		return rc;
	showing->is_over = !hf_output_part(showing->output, data, len);
	return showing->is_over ? hf_fail(err, HF_ERR_SYSTEM, "nobody reads")
				: 0;
}

/* A large one is proven while it goes by; that it was not right is said then.
 */
static int print_large(struct showing *showing, const struct hf_entry *entry,
		       struct hf_error *err)
{
	const struct hf_fetch_taker taker = {
		.take = print_part,
		.context = showing,
	};
	const int rc =
		hf_fetch_in_pieces(&showing->project.store, entry, &taker, err);

	return rc < 0 && !showing->is_over ? fail_content(showing, err) : 0;
}

static void print_json(const struct showing *showing,
		       const struct hf_entry *entry,
		       const struct hf_buffer *data)
{
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;

	begin_json(showing, &out);
	hf_buffer_add_text(&out, ", \"modified\": ");
	hf_report_json_time(entry->stat.mtime_ns, &out);
	hf_buffer_add_text(&out, ", \"entry\": ");
	hf_report_json_entry(entry, &out);
	hf_buffer_add_text(&out, ", \"content\": ");
	if (data == NULL) {
		hf_buffer_add_text(&out, "null");
	} else {
		hf_buffer_add_text(&out, "\"");
		hf_base64_encode(&out, data->data, data->len);
		hf_buffer_add_text(&out, "\"");
	}
	hf_buffer_add_text(&out, "}\n");
	hf_output_result(showing->output, &out);
}

static int print_content(struct showing *showing, const struct hf_entry *entry,
			 struct hf_error *err)
{
	cleanup_buffer struct hf_buffer data = HF_BUFFER_INIT;
	int rc;

	if (entry->stat.size > HELD_MAX) {
		if (!showing->options->is_json)
			return print_large(showing, entry, err);
		print_json(showing, entry, NULL);
		return 0;
	}
	rc = hf_fetch(&showing->project.store, entry, &data, err);
	if (rc < 0)
		return fail_content(showing, err);
	if (showing->options->is_json) {
		print_json(showing, entry, &data);
		return 0;
	}
	rc = hf_output_check_content(showing->output, showing->path, data.data,
				     data.len, err);
	if (rc == 0)
		hf_output_result(showing->output, &data);
	return rc;
}

static int fail_absent(const struct showing *showing, const char *why,
		       struct hf_error *err)
{
	(void)hf_fail(err, HF_ERR_USAGE, "cannot show '%s': %s %s",
		      HF_QUOTE(showing->path), why, showing->snapshot.text);
	return hf_fail_hint(err,
			    "'holdfast log' lists the snapshots, 'holdfast "
			    "show N' what one holds");
}

static int show_entry(struct showing *showing, const struct hf_entry *entry,
		      struct hf_error *err)
{
	switch (entry->stat.kind) {
	case HF_KIND_ABSENT:
		return fail_absent(showing, "it is absent in snapshot", err);
	case HF_KIND_DIRECTORY:
		return list(showing, err);
	case HF_KIND_LINK:
		if (showing->options->is_json)
			print_json(showing, entry, NULL);
		else
			hf_output_mark(showing->output, "note",
				       "'%s' is a link to '%s'",
				       HF_QUOTE(showing->path),
				       HF_QUOTE(entry->link));
		return 0;
	case HF_KIND_FILE:
		if (entry->has_hash && entry->location.pack != 0)
			return print_content(showing, entry, err);
		break;
	default:
		break;
	}
	return hf_fail(err, HF_ERR_USAGE,
		       "cannot show '%s': of a %s no content is recorded",
		       HF_QUOTE(showing->path), hf_kind_name(entry->stat.kind));
}

/* -- all of it --------------------------------------------------------------
 */

static int show_path(struct showing *showing, struct hf_error *err)
{
	const char *const paths[] = {showing->path, NULL};
	struct hf_tree *const tree = &showing->tree;
	int rc;

	rc = hf_snapshot_prove(&showing->project.store, &showing->snapshot,
			       paths, tree, err);
	if (rc < 0)
		return rc;
	if (tree->count == 0)
		return fail_absent(showing, "it is not in snapshot", err);
	/* Beneath a directory that is no entry itself. */
	if (strcmp(tree->entries[0].path, showing->path) != 0)
		return list(showing, err);
	return show_entry(showing, &tree->entries[0], err);
}

static int show_all(struct showing *showing, struct hf_error *err)
{
	struct hf_manifest manifest = HF_MANIFEST_INIT;
	int rc;

	rc = hf_snapshot_load(&showing->project.store, &showing->snapshot,
			      &manifest, err);
	if (rc < 0)
		return rc;
	showing->tree = manifest.tree;
	manifest.tree = (struct hf_tree)HF_TREE_INIT;
	hf_manifest_done(&manifest);
	return list(showing, err);
}

static int show(struct showing *showing, struct hf_error *err)
{
	const struct hf_options *const options = showing->options;
	int rc;

	if (options->word_count != 1) {
		(void)hf_fail(err, HF_ERR_USAGE,
			      options->word_count == 0
				      ? "cannot show nothing: name a snapshot"
				      : "cannot show more than one thing at a "
					"time");
		return hf_fail_hint(err, "'holdfast show @' lists the newest "
					 "one, 'holdfast show @:PATH' prints a "
					 "file of it");
	}
	rc = hf_command_open(&showing->project, options, HF_STORE_MUST_EXIST,
			     err);
	if (rc == 0)
		rc = resolve(showing, options->words[0], err);
	if (rc < 0)
		return rc;
	return showing->path == NULL ? show_all(showing, err)
				     : show_path(showing, err);
}

int hf_cmd_show(const struct hf_options *options, struct hf_output *output)
{
	CLEANUP(showing_done)
	struct showing showing = {
		.options = options,
		.output = output,
		.project = HF_PROJECT_INIT,
		.tree = HF_TREE_INIT,
	};
	struct hf_error err = {0};

	if (show(&showing, &err) < 0)
		return hf_output_fail(output, &err);
	return HF_STATUS_DONE;
}
