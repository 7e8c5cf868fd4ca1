/* SPDX-License-Identifier: MIT */
/*
 * Make, open, lock and clean the directory that holds what is recorded.
 *
 * A directory becomes a store by its store.json, which is written first, under
 * the lock: two commands that make the same store at once end up with one.
 */
#include "core/store.h"

#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/replace.h"
#include "core/store_identity.h"

/* How long the lock is waited for in silence. */
#define PATIENCE_MS 1000u

#define LOCK_NAME "lock"

static const char *const folder_names[HF_STORE_FOLDERS] = {
	[HF_STORE_PACKS] = "packs",
	[HF_STORE_SNAPSHOTS] = "snapshots",
	[HF_STORE_SESSIONS] = "sessions",
	[HF_STORE_KEPT] = "kept",
};

const char *hf_store_folder_name(enum hf_store_folder folder)
{
	return folder_names[folder];
}

static int fail_store(struct hf_error *err, int rc, const char *verb,
		      const char *path)
{
	(void)hf_fail_system(err, rc, "cannot %s the store '%s'", verb,
			     HF_QUOTE(path));
	return hf_fail_hint(err, "--store DIR names another place");
}

/* -- opening -------------------------------------------------------------- */

static int open_directory(struct hf_store *store, const char *path,
			  enum hf_store_open_mode mode, struct hf_error *err)
{
	int rc;

	if (mode == HF_STORE_MAKE) {
		rc = hf_file_mkdir_path(path);
		if (rc < 0)
			return fail_store(err, rc, "make", path);
	}
	rc = hf_file_open_directory(path);
	if (rc == -ENOENT)
		return hf_fail(err, HF_ERR_NOTHING,
			       "nothing is recorded yet");
	if (rc < 0)
		return fail_store(err, rc, "open", path);
	store->dir_fd = rc;

	store->path = hf_file_canonical(path);
	if (!store->path)
		return fail_store(err, -errno, "open", path);
	return 0;
}

/* Who only reads does not touch it: a run may guard the store itself. */
static int open_lock(struct hf_store *store, struct hf_error *err)
{
	int fd = hf_file_open_read_at(store->dir_fd, LOCK_NAME);

	store->can_lock = fd == -ENOENT;
	if (fd == -ENOENT)
		fd = hf_file_open_append_at(store->dir_fd, LOCK_NAME);
	if (fd < 0)
		return fail_store(err, fd, "write to", store->path);
	store->lock_fd = fd;
	return 0;
}

/* An exclusive lock needs a descriptor for writing where the store lies on NFS
 * (flock(2)); and who locks is about to write. */
static int prepare_lock(struct hf_store *store, struct hf_error *err)
{
	int fd;

	if (store->can_lock)
		return 0;
	fd = hf_file_open_append_at(store->dir_fd, LOCK_NAME);
	if (fd < 0)
		return fail_store(err, fd, "write to", store->path);
	hf_file_close_quietly(&store->lock_fd);
	store->lock_fd = fd;
	store->can_lock = true;
	return 0;
}

/* What a store may contain before it is one: an attempt that was cut short. */
static bool is_ours(const char *name)
{
	for (size_t i = 0; i < HF_STORE_FOLDERS; i++) {
		if (strcmp(name, folder_names[i]) == 0)
			return true;
	}
	return strcmp(name, LOCK_NAME) == 0 || hf_replace_is_temporary(name);
}

/* A directory full of something else is not made a store by mistake. */
static int check_empty(const struct hf_store *store, struct hf_error *err)
{
	cleanup_directory struct hf_directory *directory = NULL;
	const char *name;
	enum hf_kind kind;
	int rc;

	rc = hf_directory_open(store->dir_fd, &directory);
	if (rc < 0)
		return fail_store(err, rc, "list", store->path);
	for (;;) {
		rc = hf_directory_next(directory, &name, &kind);
		if (rc < 0)
			return fail_store(err, rc, "list", store->path);
		if (rc == 0)
			return 0;
		if (!is_ours(name))
			return hf_fail(err, HF_ERR_DENIED,
				       "cannot use '%s': it is neither a store "
				       "nor empty",
				       HF_QUOTE(store->path));
	}
}

/* Is there a store.json?  1, 0 or a failure: also that it is half dropped. */
static int has_identity(const struct hf_store *store, struct hf_error *err)
{
	struct hf_stat stat;
	int rc = hf_file_stat_at(store->dir_fd, HF_STORE_IDENTITY_NAME, &stat);

	if (rc == -ENOENT) {
		rc = hf_store_is_dropping(store->dir_fd, store->path, err);
		return rc > 0 ? err->code : rc;
	}
	return rc < 0 ? fail_store(err, rc, "open", store->path) : 1;
}

/* Turn an empty directory into a store, unless somebody was faster. */
static int make_identity(struct hf_store *store, const char *root, int root_fd,
			 struct hf_error *err)
{
	int rc;

	rc = check_empty(store, err);
	if (rc < 0)
		return rc;
	/* One made by mkdir(1) is open to others; it holds nothing yet. */
	rc = hf_file_set_mode(store->dir_fd, 0700);
	if (rc < 0)
		return fail_store(err, rc, "make", store->path);
	rc = open_lock(store, err);
	if (rc < 0)
		return rc;
	rc = hf_store_lock(store, true, err);
	if (rc < 0)
		return rc;

	rc = has_identity(store, err);
	if (rc == 0) {
		rc = hf_store_identity_write(store->dir_fd, root, root_fd, err);
		store->is_new = rc == 0;
	}
	hf_store_unlock(store);
	return rc < 0 ? rc : 0;
}

static int open_folders(struct hf_store *store, struct hf_error *err)
{
	bool is_made = false;
	int rc;

	for (size_t i = 0; i < HF_STORE_FOLDERS; i++) {
		const char *const name = folder_names[i];

		rc = hf_file_mkdir_at(store->dir_fd, name, 0700);
		if (rc < 0 && rc != -EEXIST)
			return fail_store(err, rc, "write to", store->path);
		is_made |= rc == 0;
		rc = hf_file_open_directory_at(store->dir_fd, name);
		if (rc < 0)
			return fail_store(err, rc, "open", store->path);
		store->folder_fd[i] = rc;
	}
	/* What is recorded in a folder lasts no longer than its name. */
	rc = is_made ? hf_file_sync(store->dir_fd) : 0;
	return rc < 0 ? fail_store(err, rc, "flush", store->path) : 0;
}

static int open_store(struct hf_store *store, const char *path,
		      const char *root, int root_fd,
		      enum hf_store_open_mode mode, struct hf_error *err)
{
	cleanup_store_identity struct hf_store_identity identity =
		HF_STORE_IDENTITY_INIT;
	int rc;

	rc = open_directory(store, path, mode, err);
	if (rc < 0)
		return rc;
	rc = has_identity(store, err);
	if (rc < 0)
		return rc;
	if (rc == 0 && mode == HF_STORE_MUST_EXIST)
		return hf_fail(err, HF_ERR_NOTHING,
			       "nothing is recorded yet");
	if (rc == 0) {
		rc = make_identity(store, root, root_fd, err);
		if (rc < 0)
			return rc;
	}

	rc = hf_store_check_owner(store->dir_fd, store->path, err);
	if (rc < 0)
		return rc;
	rc = hf_store_identity_read(store->dir_fd, store->path, &identity, err);
	if (rc < 0)
		return rc;
	rc = hf_store_identity_check(&identity, store->path, root, root_fd,
				     err);
	if (rc < 0)
		return rc;
	store->root = take_ptr(&identity.root);

	if (store->lock_fd < 0) {
		rc = open_lock(store, err);
		if (rc < 0)
			return rc;
	}
	return open_folders(store, err);
}

int hf_store_open(struct hf_store *store, const char *path, const char *root,
		  int root_fd, enum hf_store_open_mode mode,
		  struct hf_error *err)
{
	cleanup_store struct hf_store opened = HF_STORE_INIT;
	int rc;

	rc = open_store(&opened, path, root, root_fd, mode, err);
	if (rc < 0)
		return rc;
	/* Somewhere else for once, as by a test that runs us, is no move. */
	if (mode == HF_STORE_MAKE)
		hf_store_point(root, opened.path, false);
	*store = opened;
	opened = (struct hf_store)HF_STORE_INIT;
	return 0;
}

int hf_store_open_as_is(struct hf_store *store, const char *path,
			struct hf_error *err)
{
	cleanup_store struct hf_store opened = HF_STORE_INIT;
	int rc = hf_file_open_directory(path);

	if (rc == -ENOENT)
		return hf_fail(err, HF_ERR_NOTHING, "nothing is recorded yet");
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot open the store '%s'",
				      HF_QUOTE(path));
	opened.dir_fd = rc;
	opened.path = strdup(path);
	if (!opened.path)
		return hf_fail_memory(err);
	rc = hf_store_check_owner(opened.dir_fd, path, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < HF_STORE_FOLDERS; i++) {
		rc = hf_file_open_directory_at(opened.dir_fd, folder_names[i]);
		opened.folder_fd[i] = rc < 0 ? -1 : rc;
		if (rc == -EMFILE || rc == -ENFILE)
			return hf_fail_system(err, rc,
					      "cannot open the store '%s'",
					      HF_QUOTE(path));
	}
	*store = opened;
	opened = (struct hf_store)HF_STORE_INIT;
	return 0;
}

int hf_store_note_root(struct hf_store *store, int root_fd,
		       struct hf_error *err)
{
	return hf_store_identity_write(store->dir_fd, store->root, root_fd,
				       err);
}

int hf_store_adopt(const char *path, const char *root, int root_fd,
		   struct hf_error *err)
{
	cleanup_store struct hf_store store = HF_STORE_INIT;
	cleanup_store_identity struct hf_store_identity identity =
		HF_STORE_IDENTITY_INIT;
	int rc;

	rc = open_directory(&store, path, HF_STORE_MUST_EXIST, err);
	if (rc < 0)
		return rc;
	/* Nothing is left in a directory that is none. */
	rc = has_identity(&store, err);
	if (rc < 0)
		return rc;
	if (rc == 0)
		return hf_fail(err, HF_ERR_NOTHING, "'%s' is no store",
			       HF_QUOTE(store.path));
	rc = hf_store_check_owner(store.dir_fd, store.path, err);
	if (rc < 0)
		return rc;
	rc = open_lock(&store, err);
	if (rc < 0)
		return rc;
	rc = hf_store_lock(&store, true, err);
	if (rc < 0)
		return rc;

	rc = hf_store_identity_read(store.dir_fd, store.path, &identity, err);
	/* A damaged one is what adoption cures; a newer format it is not. */
	if (rc < 0 && rc != HF_ERR_CORRUPT)
		return rc;
	rc = hf_store_identity_write(store.dir_fd, root, root_fd, err);
	if (rc < 0)
		return rc;
	hf_store_point(root, store.path, true);
	return 0;
}

bool hf_store_is_gone(const struct hf_store *store)
{
	cleanup_free char *name =
		hf_path_join(store->path, HF_STORE_IDENTITY_NAME);
	struct hf_stat stat;

	return name && hf_file_stat_path(name, &stat) == -ENOENT;
}

void hf_store_close(struct hf_store *store)
{
	for (size_t i = 0; i < HF_STORE_FOLDERS; i++)
		hf_file_close_quietly(&store->folder_fd[i]);
	hf_file_close_quietly(&store->lock_fd);
	hf_file_close_quietly(&store->dir_fd);
	hf_free_pointee(&store->path);
	hf_free_pointee(&store->root);
}

/* -- the lock ------------------------------------------------------------- */

/* Whoever waits longer is told for what. */
static int wait_for_lock(const struct hf_store *store)
{
	int rc;

	if (store->on_wait) {
		rc = hf_lock_wait_for(store->lock_fd, HF_LOCK_EXCLUSIVE,
				      PATIENCE_MS);
		if (rc != -EAGAIN)
			return rc;
		if (!store->on_wait(store->wait_context))
			return rc;
	}
	return hf_lock_wait(store->lock_fd, HF_LOCK_EXCLUSIVE);
}

int hf_store_lock(struct hf_store *store, bool wait, struct hf_error *err)
{
	int rc = prepare_lock(store, err);

	if (rc < 0)
		return rc;
	rc = wait ? wait_for_lock(store)
		  : hf_lock_try(store->lock_fd, HF_LOCK_EXCLUSIVE);
	if (rc == -EAGAIN)
		return hf_fail(err, HF_ERR_BUSY,
			       "the store '%s' is in use by another holdfast",
			       HF_QUOTE(store->path));
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot lock the store '%s'",
				      HF_QUOTE(store->path));
	return 0;
}

void hf_store_unlock(struct hf_store *store)
{
	hf_lock_release(store->lock_fd);
}
