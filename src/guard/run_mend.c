/* SPDX-License-Identifier: MIT */
/*
 * A store that was removed while the command ran, in whole or in part: what this run
 * knows of it is written anew, before anything is put back.  Else there would be no
 * place to keep what is replaced, and nobody could tell what the tree should be.
 *
 * A store that was moved is not gone: it is used where it is now, by its open
 * directories.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/text.h"
#include "core/journal_text.h"
#include "core/replace.h"
#include "guard/run.h"

/* Where the store's own name is taken: "STORE~2" to "STORE~9". */
#define NAMES_MAX 9

static bool is_removed(int fd)
{
	struct hf_stat stat;

	return hf_file_stat(fd, &stat) == 0 && stat.nlink == 0;
}

/* -- the directory --------------------------------------------------------- */

static int open_anew(const struct hf_run *run, struct hf_store *fresh,
		     struct hf_error *err)
{
	const struct hf_store *const store = &run->project->store;
	int rc = HF_ERR_SYSTEM;

	for (int i = 1; i <= NAMES_MAX && rc < 0; i++) {
		cleanup_buffer struct hf_buffer path = HF_BUFFER_INIT;

		hf_buffer_add_text(&path, store->path);
		if (i > 1)
			hf_buffer_printf(&path, "~%d", i);
		rc = hf_buffer_check(&path, err);
		if (rc == 0)
			rc = hf_store_open(fresh, path.data, store->root,
					   run->project->root_fd,
					   HF_STORE_MAKE, err);
	}
	return rc;
}

/* The old one may still be named by others. */
static int make_directory(struct hf_run *run, struct hf_error *err)
{
	struct hf_project *const project = run->project;
	cleanup_store struct hf_store fresh = HF_STORE_INIT;
	cleanup_free char *path = NULL;
	int rc;

	rc = open_anew(run, &fresh, err);
	if (rc < 0)
		return rc;
	path = strdup(fresh.path);
	if (!path)
		return hf_fail_memory(err);
	hf_store_close(&run->store.lost);
	run->session.is_store_elsewhere =
		strcmp(fresh.path, project->store.path) != 0;
	run->store.lost = project->store;
	project->store = fresh;
	fresh = (struct hf_store)HF_STORE_INIT;
	free(project->store_path);
	project->store_path = take_ptr(&path);
	run->scan.store = project->store_path;
	return 0;
}

static int make_folders(struct hf_store *store, struct hf_error *err)
{
	for (size_t i = 0; i < HF_STORE_FOLDERS; i++) {
		const char *const name =
			hf_store_folder_name((enum hf_store_folder)i);
		int rc;

		if (hf_run_has_folder(store, (enum hf_store_folder)i))
			continue;
		rc = hf_file_mkdir_at(store->dir_fd, name, 0700);
		if (rc == 0)
			rc = hf_file_sync(store->dir_fd);
		if (rc == 0 || rc == -EEXIST)
			rc = hf_file_open_directory_at(store->dir_fd, name);
		if (rc < 0)
			return hf_fail_system(err, rc,
					      "cannot make '%s' of the store "
					      "'%s' again",
					      name, HF_QUOTE(store->path));
		hf_file_close_quietly(&store->folder_fd[i]);
		store->folder_fd[i] = rc;
	}
	return 0;
}

/* -- what is in it --------------------------------------------------------- */

static int write_manifest(const struct hf_run *run, struct hf_error *err)
{
	const struct hf_manifest *const manifest = &run->session.snapshot;
	const struct hf_store *const store = &run->project->store;
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	int rc;

	rc = hf_manifest_encode(manifest, &text, err);
	if (rc < 0)
		return rc;
	return hf_replace_write(store->folder_fd[HF_STORE_SNAPSHOTS],
				manifest->name.text, 0600, text.data, text.len,
				err);
}

/* As far as it can be read; else from its first record and what is known. */
static int write_journal(struct hf_run *run, struct hf_error *err)
{
	const struct hf_violations *const violations =
		&run->session.violations;
	const struct hf_buffer *const first = &run->store.first_record;
	cleanup_session_record struct hf_session_record record =
		HF_SESSION_RECORD_INIT;
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	struct hf_error ignored;
	int rc;

	rc = hf_journal_text(&run->journal, &text, &ignored);
	if (rc == 0 && text.len > 0 &&
	    hf_journal_decode("", text.data, text.len, &record, &ignored) == 0)
		return hf_journal_write_again(
			&run->journal, text.data,
			hf_journal_good_len(text.data, text.len), err);
	rc = hf_journal_write_again(&run->journal, first->data, first->len,
				    err);
	for (size_t i = 0; rc == 0 && i < violations->count; i++)
		hf_run_journal(run, violations->items[i]);
	return rc;
}

static int mend_locked(struct hf_run *run, struct hf_error *err)
{
	int rc = 0;

	if (!hf_run_has_manifest(run))
		rc = write_manifest(run, err);
	if (rc == 0 && !hf_run_has_journal(run))
		rc = write_journal(run, err);
	return rc;
}

int hf_run_mend_store(struct hf_run *run, struct hf_error *err)
{
	struct hf_store *const store = &run->project->store;
	int rc = 0;

	if (is_removed(store->dir_fd))
		rc = make_directory(run, err);
	if (rc == 0)
		rc = make_folders(store, err);
	if (rc == 0)
		rc = hf_store_lock(store, true, err);
	if (rc < 0)
		return rc;
	rc = mend_locked(run, err);
	hf_store_unlock(store);
	if (rc == 0 && !hf_run_has_store(run))
		return hf_fail(err, HF_ERR_CORRUPT, "the store was moved");
	return rc;
}
