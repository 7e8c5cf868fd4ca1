/* SPDX-License-Identifier: MIT */
/* holdfast export: snapshots in one file that tar can read. */
#include "core/export.h"

#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "cli/command.h"
#include "core/replace.h"
#include "core/snapshot.h"
#include "platform/terminal.h"
#include "report/json.h"

struct exporting {
	struct hf_project project;
	struct hf_names names; /* of the snapshots, old to new */
	const char *file;
	struct hf_export_result result;
};

static void exporting_done(struct exporting *e)
{
	hf_names_done(&e->names);
	hf_project_done(&e->project);
}

static int check_words(const struct hf_options *options, struct exporting *e,
		       struct hf_error *err)
{
	const size_t max = options->is_all ? 1 : 2;

	if (options->word_count == 0 || options->word_count > max) {
		(void)hf_fail(err, HF_ERR_USAGE, "cannot export %s",
			      options->word_count == 0
				      ? "without a file to write"
				      : "to more than one file");
		return hf_fail_hint(err, "holdfast export [SNAPSHOT] FILE, or "
					 "holdfast export --all FILE");
	}
	e->file = options->words[options->word_count - 1];
	if (strcmp(e->file, "-") != 0)
		return 0;
	if (options->is_json)
		return hf_fail(err, HF_ERR_USAGE,
			       "cannot export to standard output and print "
			       "JSON there");
	return hf_terminal_is(HF_STDOUT)
		       ? hf_fail(err, HF_ERR_USAGE,
				 "cannot export to a terminal")
		       : 0;
}

static int choose(const struct hf_options *options, struct exporting *e,
		  struct hf_error *err)
{
	const struct hf_store *const store = &e->project.store;
	const char *const typed =
		options->word_count == 2 ? options->words[0] : NULL;
	cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;
	int rc;

	rc = hf_snapshot_load_typed(store, typed, &manifest, err);
	if (rc == 0 && options->is_all)
		return hf_store_list(store, HF_STORE_SNAPSHOTS, "", &e->names,
				     err);
	if (rc < 0)
		return rc;
	e->names.items = calloc(1, sizeof(*e->names.items));
	if (!e->names.items)
		return hf_fail_memory(err);
	e->names.items[0] = manifest.name;
	e->names.count = 1;
	return 0;
}

static int write_file(struct exporting *e, struct hf_progress *progress,
		      struct hf_error *err)
{
	cleanup_free char *directory = strdup(e->file);
	const char *const name = hf_path_name(e->file);
	cleanup_fd int dir_fd = -1;
	/* Behind the directory: what is half written is removed from it. */
	cleanup_replace struct hf_replace rep = HF_REPLACE_INIT;
	struct hf_stat stat;
	int rc;

	if (!directory)
		return hf_fail_memory(err);
	directory[hf_path_parent_len(directory)] = '\0';
	dir_fd = hf_file_open_directory(directory[0] == '\0' ? "." : directory);
	if (dir_fd < 0)
		return hf_fail_system(err, dir_fd, "cannot export to '%s'",
				      HF_QUOTE(e->file));
	/* Before the work; what comes meanwhile is not replaced either. */
	if (hf_path_name_len(name) == 0 ||
	    hf_file_stat_at(dir_fd, name, &stat) == 0) {
		(void)hf_fail(err, HF_ERR_USAGE,
			      "cannot export to '%s': it is there already",
			      HF_QUOTE(e->file));
		return hf_fail_hint(err, "name a file that is not there yet");
	}
	rc = hf_replace_begin(&rep, dir_fd, name, 0600, err);
	if (rc == 0)
		rc = hf_export(&e->project.store, &e->names, rep.fd, progress,
			       &e->result, err);
	return rc < 0 ? rc : hf_replace_commit_new(&rep, err);
}

static void tell(const struct exporting *e, const struct hf_options *options,
		 struct hf_output *output)
{
	const struct hf_name *const last = &e->names.items[e->names.count - 1];
	cleanup_buffer struct hf_buffer out = HF_BUFFER_INIT;
	struct hf_short_text size;
	struct hf_short_text archive_size;

	if (options->is_json) {
		hf_buffer_add_text(&out, "{\"holdfast-json\": 1, \"command\": "
					 "\"export\", ");
		hf_report_json_path(e->file, &out);
		hf_buffer_add_text(&out, ", \"snapshots\": [");
		for (size_t i = 0; i < e->names.count; i++)
			hf_buffer_printf(&out, "%s\"%s\"", i > 0 ? ", " : "",
					 e->names.items[i].text);
		hf_buffer_printf(&out,
				 "], \"files\": %zu, \"bytes\": %" PRIu64
				 ", \"archive_bytes\": %" PRIu64 "}\n",
				 e->result.files, e->result.bytes,
				 e->result.archive_bytes);
		hf_output_result(output, &out);
		return;
	}
	if (options->is_quiet)
		return;
	if (e->names.count == 1)
		hf_buffer_add_text(&out, last->text);
	else
		hf_text_add_count(&out, e->names.count, "snapshot",
				  "snapshots");
	hf_buffer_add_text(&out, ", ");
	hf_text_add_count(&out, e->result.files, "file", "files");
	hf_output_say(output, "exported %s, %s: %s in '%s'", out.data,
		      hf_format_size(&size, e->result.bytes),
		      hf_format_size(&archive_size, e->result.archive_bytes),
		      HF_QUOTE(e->file));
}

static int export(struct exporting *e, const struct hf_options *options,
		  struct hf_output *output, struct hf_error *err)
{
	struct hf_progress *progress;
	int rc;

	rc = check_words(options, e, err);
	if (rc == 0)
		rc = hf_command_open(&e->project, options, HF_STORE_MUST_EXIST,
				     err);
	if (rc == 0)
		rc = choose(options, e, err);
	if (rc < 0)
		return rc;
	progress = hf_output_progress(output, "exporting");
	rc = strcmp(e->file, "-") == 0
		     ? hf_export(&e->project.store, &e->names, HF_STDOUT,
				 progress, &e->result, err)
		     : write_file(e, progress, err);
	if (rc < 0)
		return rc;
	tell(e, options, output);
	return 0;
}

int hf_cmd_export(const struct hf_options *options, struct hf_output *output)
{
	CLEANUP(exporting_done)
	struct exporting e = {.project = HF_PROJECT_INIT};
	struct hf_error err = {0};

	if (export(&e, options, output, &err) < 0)
		return hf_output_fail(output, &err);
	return HF_STATUS_DONE;
}
