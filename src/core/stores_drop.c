/* SPDX-License-Identifier: MIT */
/*
 * Remove a store as a whole.
 *
 * First its store.json gets another name, which takes no room on a full disk:
 * from then on it is no store, and says so.  That name goes last.
 */
#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/journal.h"
#include "core/replace.h"
#include "core/store_identity.h"
#include "core/stores.h"
#include "core/stores_look.h"

void hf_stores_drop_done(struct hf_stores_drop *drop)
{
	hf_store_close(&drop->store);
	hf_free_pointee(&drop->item.root);
	hf_free_pointee(&drop->item.path);
	hf_free_pointee(&drop->item.why);
}

static int fail_drop(struct hf_error *err, int rc, const struct hf_store *store)
{
	return hf_fail_system(err, rc, "cannot drop the store '%s'",
			      HF_QUOTE(store->path));
}

/* What is still to be put back needs the store. */
static int check_sessions(const struct hf_stores_drop *drop,
			  struct hf_error *err)
{
	const struct hf_store *const store = &drop->store;
	cleanup_names struct hf_names living = HF_NAMES_INIT;
	cleanup_names struct hf_names dead = HF_NAMES_INIT;
	int rc;

	if (store->folder_fd[HF_STORE_SESSIONS] < 0 || drop->item.is_dropping)
		return 0;
	rc = hf_journal_find_open(store, &living, &dead, err);
	if (rc < 0)
		return rc;
	if (living.count > 0)
		return hf_fail(err, HF_ERR_BUSY,
			       "cannot drop the store '%s': a run is in "
			       "progress",
			       HF_QUOTE(store->path));
	/* Where nothing can be put back nothing is to be waited for. */
	if (dead.count == 0 || drop->item.state == HF_ROOT_GONE)
		return 0;
	(void)hf_fail(err, HF_ERR_UNDECIDED,
		      "cannot drop the store '%s': session %s did not end, and "
		      "is not settled",
		      HF_QUOTE(store->path), dead.items[0].text);
	return hf_fail_hint(err, "'holdfast recover' settles it");
}

static size_t count_kept(const struct hf_store *store)
{
	cleanup_names struct hf_names kept = HF_NAMES_INIT;
	struct hf_error ignored;

	if (store->folder_fd[HF_STORE_KEPT] < 0 ||
	    hf_store_list(store, HF_STORE_KEPT, "", &kept, &ignored) < 0)
		return 0;
	return kept.count;
}

static int begin(struct hf_stores_drop *drop, const char *path,
		 struct hf_error *err)
{
	struct hf_store *const store = &drop->store;
	int rc;

	rc = hf_store_open_as_is(store, path, err);
	if (rc == 0)
		rc = hf_stores_look(store, &drop->item, err);
	if (rc < 0 && err->code == HF_ERR_NOTHING)
		return hf_fail(err, HF_ERR_USAGE,
			       "cannot drop '%s': it is no store",
			       HF_QUOTE(path));
	if (rc < 0)
		return rc;
	rc = hf_store_lock(store, false, err);
	if (rc == 0)
		rc = check_sessions(drop, err);
	drop->kept = count_kept(store);
	return rc;
}

int hf_stores_drop_begin(struct hf_stores_drop *drop, const char *path,
			 struct hf_error *err)
{
	cleanup_stores_drop struct hf_stores_drop begun = HF_STORES_DROP_INIT;
	const int rc = begin(&begun, path, err);

	if (rc < 0)
		return rc;
	*drop = begun;
	begun = (struct hf_stores_drop)HF_STORES_DROP_INIT;
	return 0;
}

/* -- removing ---------------------------------------------------------------
 */

static int mark(const struct hf_store *store)
{
	int rc;

	rc = hf_file_rename_at(store->dir_fd, HF_STORE_IDENTITY_NAME,
			       store->dir_fd, HF_STORE_DROPPING_NAME);
	/* It was begun before. */
	if (rc == -ENOENT)
		return 0;
	return rc < 0 ? rc : hf_file_sync(store->dir_fd);
}

/* Temporary names at its top. */
static int remove_temporary(const struct hf_store *store)
{
	cleanup_directory struct hf_directory *directory = NULL;
	const char *name;
	enum hf_kind kind;
	int rc = hf_directory_open(store->dir_fd, &directory);

	while (rc >= 0) {
		rc = hf_directory_next(directory, &name, &kind);
		if (rc <= 0)
			break;
		if (hf_replace_is_temporary(name))
			rc = hf_store_remove_at(store->dir_fd, name);
	}
	return rc;
}

static int remove_content(const struct hf_store *store)
{
	int rc = remove_temporary(store);

	for (size_t i = 0; rc == 0 && i < HF_STORE_FOLDERS; i++)
		rc = hf_store_remove_at(
			store->dir_fd,
			hf_store_folder_name((enum hf_store_folder)i));
	if (rc == 0)
		rc = hf_store_remove_at(store->dir_fd, HF_STORE_PURGING_NAME);
	if (rc == 0)
		rc = hf_store_remove_at(store->dir_fd, "lock");
	if (rc == 0)
		rc = hf_file_sync(store->dir_fd);
	return rc < 0 ? rc
		      : hf_store_remove_at(store->dir_fd,
					   HF_STORE_DROPPING_NAME);
}

/* 1 when it stays, with something in it or on it. */
static int remove_directory(const struct hf_store *store)
{
	cleanup_free char *parent = strdup(store->path);
	cleanup_fd int fd = -1;
	int rc;

	if (!parent)
		return -ENOMEM;
	parent[hf_path_parent_len(parent)] = '\0';
	fd = hf_file_open_directory(parent);
	if (fd < 0)
		return fd;
	rc = hf_file_rmdir_at(fd, hf_path_name(store->path));
	if (rc == -ENOTEMPTY || rc == -EEXIST || rc == -EBUSY || rc == -EACCES)
		return 1;
	return rc < 0 ? rc : hf_file_sync(fd);
}

int hf_stores_drop_commit(struct hf_stores_drop *drop, struct hf_error *err)
{
	const struct hf_store *const store = &drop->store;
	int rc;

	rc = mark(store);
	if (rc == 0) {
		/* Whoever looked for it there would miss it. */
		hf_store_unpoint(drop->item.root, store->path);
		rc = remove_content(store);
	}
	if (rc == 0)
		rc = remove_directory(store);
	return rc < 0 ? fail_drop(err, rc, store) : rc;
}
