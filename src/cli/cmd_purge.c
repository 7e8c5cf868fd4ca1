/* SPDX-License-Identifier: MIT */
/* holdfast purge: take a leaked secret out of the store. */
#include "core/purge.h"

#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "cli/ask.h"
#include "cli/paths.h"
#include "cli/repair.h"
#include "core/content.h"
#include "core/sealed.h"
#include "report/json.h"

struct purging {
	struct hf_cli_repair repair;
	struct hf_purge purge;
	char **paths; /* NULL-terminated */
	size_t path_count;
	struct hf_buffer
		in_tree; /* paths that still have it, a NUL behind each */
};

static void purging_done(struct purging *p)
{
	hf_purge_done(&p->purge);
	for (size_t i = 0; i < p->path_count; i++)
		free(p->paths[i]);
	hf_free_pointee(&p->paths);
	hf_buffer_done(&p->in_tree);
	hf_cli_repair_close(&p->repair);
}

/* -- which paths ------------------------------------------------------------
 */

static int resolve(struct purging *p, const struct hf_options *options,
		   struct hf_error *err)
{
	const char *const root = p->repair.project.root;

	p->paths = calloc(options->word_count + 1, sizeof(*p->paths));
	if (!p->paths)
		return hf_fail_memory(err);
	for (; p->path_count < options->word_count; p->path_count++) {
		char **const path = &p->paths[p->path_count];
		const int rc = hf_paths_resolve(
			root, options->words[p->path_count], path, err);

		if (rc < 0)
			return rc;
		if (strcmp(*path, ".") == 0) {
			p->path_count++;
			(void)hf_fail(err, HF_ERR_USAGE,
				      "cannot purge the whole project");
			return hf_fail_hint(err, "'holdfast store drop' "
						 "removes all that was "
						 "recorded");
		}
	}
	return 0;
}

/* -- the tree ---------------------------------------------------------------
 */

/* Does it hold one of the contents now? */
static bool has_it(const struct purging *p, const char *path)
{
	const int root_fd = p->repair.project.root_fd;
	cleanup_free char *parent = strdup(path);
	cleanup_fd int dir_fd = -1;
	struct hf_error ignored;
	struct hf_hash hash;
	struct hf_stat stat;

	if (!parent)
		return false;
	parent[hf_path_parent_len(parent)] = '\0';
	dir_fd = hf_path_is_absolute(path)
			 ? hf_file_open_directory(parent)
			 : hf_file_open_beneath(
				   root_fd, parent[0] == '\0' ? "." : parent);
	return dir_fd >= 0 &&
	       hf_file_stat_at(dir_fd, hf_path_name(path), &stat) == 0 &&
	       stat.kind == HF_KIND_FILE &&
	       hf_content_hash(dir_fd, hf_path_name(path), path, &hash,
			       &ignored) == 0 &&
	       hf_purge_has(&p->purge, &hash, stat.size);
}

static void look_at_tree(struct purging *p)
{
	const struct hf_buffer *const gone = &p->purge.gone;

	for (size_t at = 0; at < gone->len; at += strlen(gone->data + at) + 1)
		if (has_it(p, gone->data + at))
			hf_buffer_add(&p->in_tree, gone->data + at,
				      strlen(gone->data + at) + 1);
}

/* -- what is said -----------------------------------------------------------
 */

static void add_counts(const struct hf_purge *purge, struct hf_buffer *out)
{
	hf_text_add_count(out, purge->contents, "content", "contents");
	hf_buffer_add_text(out, ": in ");
	hf_text_add_count(out, purge->snapshots, "snapshot", "snapshots");
	hf_buffer_add_text(out, ", ");
	hf_text_add_count(out, purge->pack_count, "pack", "packs");
	hf_buffer_add_text(out, ", ");
	hf_text_add_count(out, purge->kept, "kept copy", "kept copies");
	hf_buffer_add_text(out, ", ");
	hf_text_add_count(out, purge->sessions, "journal", "journals");
}

static void note_each(struct hf_output *output, const struct hf_buffer *paths,
		      const char *text)
{
	for (size_t at = 0; at < paths->len; at += strlen(paths->data + at) + 1)
		hf_output_mark(output, "note", "'%s' %s",
			       HF_QUOTE(paths->data + at), text);
}

/* What a purge cannot reach. */
static void say_where_else(const struct purging *p)
{
	struct hf_output *const output = p->repair.output;

	note_each(output, &p->in_tree,
		  "still has it in the project: change it, or take it out of "
		  "the policy, or the next run records it again");
	hf_output_mark(output, "note",
		       "copies may remain in free blocks of the disk, in "
		       "backups and snapshots of the file system, in files of "
		       "'holdfast export', in other stores ('holdfast store "
		       "list'), and in git; reports of runs have hashes");
}

static void add_json_list(const char *key, const struct hf_buffer *paths,
			  struct hf_buffer *out)
{
	hf_buffer_printf(out, ", \"%s\": [", key);
	for (size_t at = 0; at < paths->len;
	     at += strlen(paths->data + at) + 1) {
		hf_buffer_add_text(out, at > 0 ? ", {" : "{");
		hf_report_json_path(paths->data + at, out);
		hf_buffer_add_text(out, "}");
	}
	hf_buffer_add_text(out, "]");
}

static void print_json(const struct purging *p, bool is_done)
{
	const struct hf_purge *const purge = &p->purge;
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;
	struct hf_lines lines = hf_lines_of(purge->unsearched.data);
	const char *line;
	const char *comma = "";
	size_t len;

	hf_buffer_printf(&out,
			 "{\"holdfast-json\": 1, \"command\": \"purge\", "
			 "\"done\": %s, \"contents\": %zu, "
			 "\"snapshots\": %zu, \"packs\": %zu, "
			 "\"kept\": %zu, \"sessions\": %zu",
			 is_done ? "true" : "false", purge->contents,
			 purge->snapshots, purge->pack_count, purge->kept,
			 purge->sessions);
	add_json_list("shared", &purge->shared, &out);
	add_json_list("in_tree", &p->in_tree, &out);
	hf_buffer_add_text(&out, ", \"not_searched\": [");
	while (hf_lines_next(&lines, &line, &len)) {
		hf_buffer_add_text(&out, comma);
		hf_buffer_add_json(&out, line, len);
		comma = ", ";
	}
	hf_buffer_add_text(&out, "]}\n");
	hf_output_result(p->repair.output, &out);
}

static void tell(const struct purging *p, bool is_done)
{
	const struct hf_cli_repair *const repair = &p->repair;
	struct hf_lines lines = hf_lines_of(p->purge.unsearched.data);
	cleanup_buffer struct hf_buffer counts = HF_BUFFER_INIT;
	const char *line;
	size_t len;

	if (repair->options->is_json) {
		print_json(p, is_done);
	} else if (!repair->options->is_quiet) {
		add_counts(&p->purge, &counts);
		hf_output_say(repair->output, "%s %s",
			      is_done ? "purged" : "would purge", counts.data);
		note_each(repair->output, &p->purge.shared,
			  is_done ? "had one of these contents: it is out of "
				    "the snapshots, too"
				  : "has one of these contents, and would be "
				    "out of the snapshots, too");
		if (is_done)
			say_where_else(p);
	}
	while (hf_lines_next(&lines, &line, &len))
		hf_output_say(repair->output,
			      "cannot search '%.*s': it is damaged, and may "
			      "still have it",
			      (int)len, line);
	if (is_done && p->purge.unsearched.len > 0)
		hf_output_mark(repair->output, "hint",
			       "'holdfast verify --store' says what it holds; "
			       "when it is gone from the store, purge again, "
			       "whatever path");
}

/* -- the command ------------------------------------------------------------
 */

/* 1: yes, 0: no. */
static int may_purge(const struct purging *p, struct hf_error *err)
{
	const struct hf_buffer *const shared = &p->purge.shared;
	cleanup_buffer struct hf_buffer lines = HF_BUFFER_INIT;

	if (p->repair.options->has_yes)
		return 1;
	if (!hf_ask_is_possible()) {
		(void)hf_fail(err, HF_ERR_USAGE,
			      "cannot purge '%s': nobody is at a terminal to "
			      "ask",
			      HF_QUOTE(p->paths[0]));
		return hf_fail_hint(err, "--yes says so beforehand, --dry-run "
					 "shows what would go");
	}
	add_counts(&p->purge, &lines);
	hf_buffer_add_text(&lines, "\n");
	for (size_t at = 0; at < shared->len;
	     at += strlen(shared->data + at) + 1)
		hf_buffer_printf(&lines,
				 "'%s' has one of these contents, and goes out "
				 "of the snapshots, too\n",
				 HF_QUOTE(shared->data + at));
	return hf_ask(p->repair.output, &lines,
		      "take all of it out of the store for good?");
}

/* What is damaged may still have it. */
static int fail_empty(const struct purging *p, struct hf_error *err)
{
	const struct hf_buffer *const unsearched = &p->purge.unsearched;

	if (unsearched->len == 0)
		return hf_fail(err, HF_ERR_USAGE,
			       "cannot purge '%s': nothing of it is in the "
			       "store",
			       HF_QUOTE(p->paths[0]));
	return hf_fail(err, HF_ERR_UNDECIDED,
		       "cannot purge '%s': nothing of it was found, but '%.*s' "
		       "is damaged, and may have it",
		       HF_QUOTE(p->paths[0]),
		       (int)strcspn(unsearched->data, "\n"), unsearched->data);
}

static int find(struct purging *p, const struct hf_options *options,
		struct hf_output *output, struct hf_error *err)
{
	struct hf_error ignored;
	int rc;

	if (options->word_count == 0) {
		(void)hf_fail(err, HF_ERR_USAGE, "cannot purge without a path");
		return hf_fail_hint(err, "holdfast purge PATH...");
	}
	rc = hf_cli_repair_open(&p->repair, "purge", options, output,
				HF_STORE_MUST_EXIST, err);
	if (rc == 0)
		rc = resolve(p, options, err);
	if (rc == 0)
		rc = hf_cli_repair_recover(&p->repair, "purge", err);
	/* A dry run writes nothing; nobody shall drop what it reads. */
	if (rc == 0 && options->is_dry_run)
		(void)!hf_store_lock(&p->repair.project.store, false, &ignored);
	else if (rc == 0)
		rc = hf_store_sweep(&p->repair.project.store, err);
	if (rc == 0)
		rc = hf_purge_find(&p->repair.project.store,
				   (const char *const *)p->paths, &p->purge,
				   err);
	return rc == 0 && hf_purge_is_empty(&p->purge) ? fail_empty(p, err)
						       : rc;
}

static int purge(struct purging *p, const struct hf_options *options,
		 struct hf_output *output, struct hf_error *err)
{
	int rc;

	rc = find(p, options, output, err);
	if (rc < 0)
		return rc;
	look_at_tree(p);
	rc = options->is_dry_run ? 0 : may_purge(p, err);
	if (rc > 0) {
		rc = hf_purge_apply(&p->purge, err);
		if (rc == 0)
			tell(p, true);
		return rc;
	}
	if (rc == 0)
		tell(p, false);
	return rc;
}

int hf_cmd_purge(const struct hf_options *options, struct hf_output *output)
{
	CLEANUP(purging_done)
	struct purging p = {
		.repair = HF_CLI_REPAIR_INIT,
		.purge = HF_PURGE_INIT,
		.in_tree = HF_BUFFER_INIT,
	};
	struct hf_error err = {0};

	if (purge(&p, options, output, &err) < 0)
		return hf_output_fail(output, &err);
	return p.purge.unsearched.len > 0 ? HF_STATUS_UNDECIDED
					  : HF_STATUS_DONE;
}
