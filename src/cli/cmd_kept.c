/* SPDX-License-Identifier: MIT */
/* holdfast kept: what was replaced, and how to have it again. */
#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "cli/kept_text.h"
#include "cli/paths.h"
#include "cli/repair.h"
#include "cli/sessions.h"
#include "core/kept.h"

#define CHUNK ((size_t)64 << 10)

/* -- which one ---------------------------------------------------------------
 */

static int fail_none(const struct hf_kept_list *list, const char *verb,
		     const char *typed, struct hf_error *err)
{
	(void)hf_fail(err, HF_ERR_USAGE,
		      "cannot %s '%s': session %" PRIu64
		      " has kept no such copy",
		      verb, HF_QUOTE(typed), hf_name_number(&list->session));
	return hf_fail_hint(err, "'holdfast kept' lists the copies");
}

/*
 * A path means the newest copy of it, unless it is the very name of a copy:
 * from the working directory as other paths are, or as the list has it.
 */
static int find_copy(const struct hf_project *project,
		     const struct hf_kept_list *list, const char *typed,
		     const struct hf_kept_copy **ret_copy, char **ret_path,
		     struct hf_error *err)
{
	int rc;

	rc = hf_paths_resolve(project->root, typed, ret_path, err);
	if (rc < 0)
		return rc;
	*ret_copy = hf_kept_list_find(list, *ret_path);
	if (*ret_copy == NULL)
		*ret_copy = hf_kept_list_find_entry(list, *ret_path);
	if (*ret_copy == NULL)
		*ret_copy = hf_kept_list_find(list, typed);
	return 0;
}

static int read_list(const struct hf_store *store, const char *typed,
		     struct hf_kept_list *ret_list, struct hf_error *err)
{
	struct hf_error second;
	struct hf_name name;
	int rc;

	rc = hf_store_resolve(store, HF_STORE_SESSIONS, typed, &name, err);
	/* Copies whose journal is gone. */
	if (rc == HF_ERR_USAGE &&
	    hf_store_resolve(store, HF_STORE_KEPT, typed, &name, &second) == 0)
		rc = 0;
	return rc < 0 ? rc : hf_kept_list_read(store, &name, ret_list, err);
}

/* -- list --------------------------------------------------------------------
 */

static int add_all(const struct hf_store *store, struct hf_kept_text *text,
		   struct hf_error *err)
{
	cleanup_names struct hf_names sessions = HF_NAMES_INIT;
	cleanup_names struct hf_names living = HF_NAMES_INIT;
	cleanup_names struct hf_names dead = HF_NAMES_INIT;
	int rc;

	rc = hf_journal_find_open(store, &living, &dead, err);
	if (rc == 0)
		rc = hf_store_list(store, HF_STORE_KEPT, "", &sessions, err);
	for (size_t i = sessions.count; rc == 0 && i > 0; i--) {
		const struct hf_name *const name = &sessions.items[i - 1];
		cleanup_kept_list struct hf_kept_list list = HF_KEPT_LIST_INIT;

		rc = hf_kept_list_read(store, name, &list, err);
		if (rc == 0 && list.count > 0)
			hf_kept_text_add(text, &list,
					 hf_sessions_has(&living, name));
	}
	return rc;
}

static int list_copies(const struct hf_options *options,
		       struct hf_output *output, struct hf_error *err)
{
	cleanup_project struct hf_project project = HF_PROJECT_INIT;
	cleanup_kept_text struct hf_kept_text text = HF_KEPT_TEXT_INIT;
	int rc;

	text.is_json = options->is_json;
	text.location = output->style.location;
	rc = hf_command_open(&project, options, HF_STORE_MUST_EXIST, err);
	if (rc == 0)
		rc = add_all(&project.store, &text, err);
	if (rc < 0)
		return rc;
	hf_kept_text_finish(&text);
	hf_output_result(output, &text.out);
	if (text.sessions == 0 && !options->is_quiet && !options->is_json)
		hf_output_say(output, "nothing was ever replaced: there are no "
				      "kept copies");
	return hf_buffer_check(&text.out, err);
}

/* -- show --------------------------------------------------------------------
 */

static int fail_other(const char *kept_path, struct hf_error *err)
{
	(void)hf_fail(err, HF_ERR_CORRUPT,
		      "the kept copy '%s' is not what was recorded",
		      HF_QUOTE(kept_path));
	return hf_fail_hint(err,
			    "'holdfast verify --store' checks all of them");
}

/* All of it to standard output, but what a terminal must not be given; then
 * what it should have been. */
static int print_content(struct hf_output *output, int fd,
			 const struct hf_kept_copy *copy, const char *kept_path,
			 struct hf_error *err)
{
	cleanup_hasher struct hf_hasher *hasher = hf_hasher_new();
	cleanup_free char *data = malloc(CHUNK);
	const struct hf_entry *const was =
		copy->record == NULL ? NULL : copy->record->replaced;
	struct hf_hash hash;
	int64_t len;

	if (hasher == NULL || data == NULL)
		return hf_fail_memory(err);
	while ((len = hf_file_read(fd, data, CHUNK)) > 0) {
		const int rc = hf_output_check_content(output, kept_path, data,
						       (size_t)len, err);

		if (rc < 0)
			return rc;
		hf_hasher_update(hasher, data, (size_t)len);
		if (!hf_output_part(output, data, (size_t)len))
			return 0;
	}
	if (len < 0)
		return hf_fail_system(err, (int)len, "cannot read '%s'",
				      HF_QUOTE(kept_path));
	hash = hf_hasher_digest(hasher);
	if (was == NULL || !was->has_hash || hf_hash_equal(&hash, &was->hash))
		return 0;
	return fail_other(kept_path, err);
}

static int show_copy(const struct hf_project *project,
		     const struct hf_options *options, struct hf_output *output,
		     const struct hf_kept_list *list, const char *typed,
		     struct hf_error *err)
{
	const struct hf_kept_copy *copy;
	cleanup_free char *path = NULL;
	cleanup_free char *kept_path = NULL;
	cleanup_buffer struct hf_buffer json = HF_BUFFER_INIT;
	cleanup_fd int fd = -1;
	int rc;

	rc = find_copy(project, list, typed, &copy, &path, err);
	if (rc < 0)
		return rc;
	if (copy == NULL)
		return fail_none(list, "show", typed, err);
	kept_path = hf_kept_list_path(list, copy->name);
	if (kept_path == NULL)
		return hf_fail_memory(err);
	if (options->is_json) {
		hf_kept_text_add_one(list, copy, &json);
		hf_output_result(output, &json);
		return hf_buffer_check(&json, err);
	}
	if (copy->kind != HF_KIND_FILE)
		return hf_fail(err, HF_ERR_USAGE,
			       "cannot show '%s': it is no file",
			       HF_QUOTE(kept_path));
	fd = hf_kept_open(&project->store, kept_path, err);
	return fd < 0 ? fd : print_content(output, fd, copy, kept_path, err);
}

static int show(const struct hf_options *options, struct hf_output *output,
		struct hf_error *err)
{
	cleanup_project struct hf_project project = HF_PROJECT_INIT;
	cleanup_kept_list struct hf_kept_list list = HF_KEPT_LIST_INIT;
	const char *const typed = options->words[1];
	const char *const colon =
		options->word_count == 2 ? strchr(typed, ':') : NULL;
	cleanup_free char *session = NULL;
	int rc;

	if (colon == NULL || colon == typed || colon[1] == '\0') {
		(void)hf_fail(err, HF_ERR_USAGE,
			      "cannot show a kept copy without its name");
		return hf_fail_hint(err, "holdfast kept show SESSION:PATH, as "
					 "'holdfast kept' lists them");
	}
	session = strndup(typed, (size_t)(colon - typed));
	if (session == NULL)
		return hf_fail_memory(err);
	rc = hf_command_open(&project, options, HF_STORE_MUST_EXIST, err);
	if (rc == 0)
		rc = read_list(&project.store, session, &list, err);
	return rc < 0 ? rc
		      : show_copy(&project, options, output, &list, colon + 1,
				  err);
}

/* -- restore -----------------------------------------------------------------
 */

/* Which records the word means; how many. */
static size_t choose(const struct hf_kept_list *list,
		     const struct hf_kept_copy *copy, const char *path,
		     bool *is_chosen)
{
	size_t count = 0;

	for (size_t i = 0; i < list->record.kept_count; i++) {
		const struct hf_kept_record *const record =
			&list->record.kept[i];
		const char *const source = record->replaced->path;
		const bool is_meant =
			copy != NULL && copy->kind != HF_KIND_DIRECTORY
				? record == copy->record
				: strcmp(source, path) == 0 ||
					  hf_path_is_beneath(source, path);

		is_chosen[i] |= is_meant;
		count += is_meant;
	}
	return count;
}

/* Of the session's records those that the words mean, in place. */
static int select_records(const struct hf_project *project,
			  struct hf_kept_list *list, const char *const *words,
			  struct hf_error *err)
{
	struct hf_session_record *const record = &list->record;
	cleanup_free bool *is_chosen =
		calloc(record->kept_count + 1, sizeof(*is_chosen));
	size_t count = 0;

	if (is_chosen == NULL)
		return hf_fail_memory(err);
	for (; *words != NULL; words++) {
		cleanup_free char *path = NULL;
		const struct hf_kept_copy *copy;
		int rc;

		rc = find_copy(project, list, *words, &copy, &path, err);
		if (rc < 0)
			return rc;
		if (copy != NULL && copy->record == NULL) {
			(void)hf_fail(
				err, HF_ERR_USAGE,
				"cannot restore '%s': nothing tells where "
				"it was",
				HF_QUOTE(*words));
			return hf_fail_hint(err, "'holdfast kept show' prints "
						 "what it holds");
		}
		if (choose(list, copy, path, is_chosen) == 0)
			return fail_none(list, "restore", *words, err);
	}
	for (size_t i = 0; i < record->kept_count; i++)
		if (is_chosen[i])
			record->kept[count++] = record->kept[i];
	record->kept_count = count;
	return 0;
}

static int fail_unrestorable(const struct hf_kept_list *list,
			     struct hf_error *err)
{
	(void)hf_fail(err, HF_ERR_USAGE,
		      "cannot restore what session %s has kept: %s",
		      list->session.text,
		      list->has_record ? "it replaced nothing"
				       : "its journal is lost, or cannot be "
					 "read");
	return list->count == 0 ? err->code
				: hf_fail_hint(err, "'holdfast kept show "
						    "SESSION:PATH' prints a "
						    "copy");
}

static int restore(struct hf_cli_repair *repair,
		   const struct hf_options *options, struct hf_output *output,
		   int *ret_status, struct hf_error *err)
{
	cleanup_kept_list struct hf_kept_list list = HF_KEPT_LIST_INIT;
	cleanup_free const char **argv =
		calloc(options->word_count + 2, sizeof(*argv));
	bool is_whole;
	int rc;

	if (argv == NULL)
		return hf_fail_memory(err);
	if (options->word_count < 2) {
		(void)hf_fail(err, HF_ERR_USAGE,
			      "cannot restore kept copies without the session "
			      "that has kept them");
		return hf_fail_hint(err, "holdfast kept restore SESSION "
					 "[PATH...], as 'holdfast kept' lists "
					 "them");
	}
	rc = hf_cli_repair_open(repair, "restore", options, output,
				HF_STORE_MUST_EXIST, err);
	if (rc == 0)
		rc = read_list(&repair->project.store, options->words[1], &list,
			       err);
	if (rc < 0)
		return rc;
	if (!list.has_record || list.record.kept_count == 0)
		return fail_unrestorable(&list, err);
	is_whole = options->word_count == 2;
	if (!is_whole)
		rc = select_records(&repair->project, &list, options->words + 2,
				    err);
	if (rc < 0)
		return rc;
	argv[0] = "kept";
	memcpy(argv + 1, options->words, options->word_count * sizeof(*argv));
	return hf_cli_repair_undo(repair, &list.record, is_whole ? NULL : argv,
				  ret_status, err);
}

/* -- the command -------------------------------------------------------------
 */

static int kept(struct hf_cli_repair *repair, const struct hf_options *options,
		struct hf_output *output, int *ret_status, struct hf_error *err)
{
	const char *const word = options->words[0];

	if (word == NULL)
		return list_copies(options, output, err);
	if (strcmp(word, "show") == 0)
		return show(options, output, err);
	if (strcmp(word, "restore") == 0)
		return restore(repair, options, output, ret_status, err);
	(void)hf_fail(err, HF_ERR_USAGE,
		      "cannot use 'kept %s': it is show or restore",
		      HF_QUOTE(word));
	return hf_fail_hint(err, "'holdfast kept', 'holdfast kept show "
				 "SESSION:PATH' or 'holdfast kept restore "
				 "SESSION [PATH...]'");
}

int hf_cmd_kept(const struct hf_options *options, struct hf_output *output)
{
	cleanup_cli_repair struct hf_cli_repair repair = HF_CLI_REPAIR_INIT;
	struct hf_error err = {0};
	int status = HF_STATUS_DONE;

	if (kept(&repair, options, output, &status, &err) < 0)
		return hf_output_fail(output, &err);
	return status;
}
