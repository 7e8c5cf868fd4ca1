/* SPDX-License-Identifier: MIT */
/* Look at what is in the state directory, believing nothing in it. */
#include "core/stores.h"

#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/replace.h"
#include "core/store_identity.h"
#include "core/stores_look.h"
#include "platform/system.h"

/* Below the state directory. */
#define FOLDER	   "holdfast"
/* Of a user: names are cheap to make, and each is looked into. */
#define STORES_MAX 100000

/* What holdfast itself has there that is no store. */
static bool is_known(const char *name)
{
	return strcmp(name, "probe") == 0 || hf_replace_is_temporary(name) ||
	       strncmp(name, "holdfast-doctor-", 16) == 0;
}

static void item_done(struct hf_stores_item *item)
{
	hf_free_pointee(&item->path);
	hf_free_pointee(&item->root);
	hf_free_pointee(&item->why);
}

void hf_stores_done(struct hf_stores *stores)
{
	for (size_t i = 0; i < stores->count; i++)
		item_done(&stores->items[i]);
	hf_free_pointee(&stores->items);
	hf_free_pointee(&stores->directory);
	stores->count = 0;
}

/* -- one of them ------------------------------------------------------------
 */

static enum hf_stores_root look_at_root(
	const struct hf_store_identity *identity, const char *path)
{
	cleanup_fd int fd = hf_file_open_directory(identity->root);
	struct hf_error ignored;

	if (fd == -ENOENT || fd == -ENOTDIR)
		return HF_ROOT_GONE;
	if (fd < 0)
		return HF_ROOT_UNKNOWN;
	return hf_store_identity_check(identity, path, identity->root, fd,
				       &ignored) < 0
		       ? HF_ROOT_OTHER
		       : HF_ROOT_HERE;
}

/* When something was last added to it. */
static int64_t last_used(const struct hf_store *store)
{
	int64_t used_ns = 0;

	for (size_t i = 0; i < HF_STORE_FOLDERS; i++) {
		struct hf_stat stat;

		if (store->folder_fd[i] >= 0 &&
		    hf_file_stat(store->folder_fd[i], &stat) == 0 &&
		    stat.mtime_ns > used_ns)
			used_ns = stat.mtime_ns;
	}
	return used_ns;
}

int hf_stores_look(const struct hf_store *store, struct hf_stores_item *item,
		   struct hf_error *err)
{
	cleanup_store_identity struct hf_store_identity identity =
		HF_STORE_IDENTITY_INIT;
	cleanup_names struct hf_names snapshots = HF_NAMES_INIT;
	struct hf_error ignored;
	int rc;

	rc = hf_store_is_dropping(store->dir_fd, store->path, err);
	if (rc < 0)
		return rc;
	item->is_dropping = rc > 0;
	rc = item->is_dropping
		     ? hf_store_identity_read_dropping(
			       store->dir_fd, store->path, &identity, err)
		     : hf_store_identity_read(store->dir_fd, store->path,
					      &identity, err);
	if (rc < 0 && err->sys_errno == ENOENT)
		(void)hf_fail(err, HF_ERR_NOTHING, "'%s' is no store",
			      HF_QUOTE(store->path));
	if (rc < 0)
		return err->code;
	item->state = look_at_root(&identity, store->path);
	item->root = take_ptr(&identity.root);
	item->used_ns = last_used(store);
	if (hf_store_size(store, &item->bytes, &ignored) < 0)
		item->bytes = 0;
	if (store->folder_fd[HF_STORE_SNAPSHOTS] >= 0 &&
	    hf_store_list(store, HF_STORE_SNAPSHOTS, "", &snapshots,
			  &ignored) == 0)
		item->snapshots = snapshots.count;
	return 0;
}

/* A failure is why it is none; negative only without memory. */
static int look_at(int folder_fd, const char *name, struct hf_stores_item *item,
		   struct hf_error *err)
{
	cleanup_store struct hf_store store = HF_STORE_INIT;
	struct hf_error found;
	struct hf_stat stat;
	int rc;

	rc = hf_file_stat_at(folder_fd, name, &stat);
	if (rc < 0)
		rc = hf_fail_system(&found, rc, "cannot look at it");
	else if (stat.kind != HF_KIND_DIRECTORY)
		rc = hf_fail(&found, HF_ERR_NOTHING, "it is no directory");
	else
		rc = hf_store_open_as_is(&store, item->path, &found);
	if (rc == 0)
		rc = hf_stores_look(&store, item, &found);
	if (rc == 0)
		return 0;
	item->why =
		strdup(rc == HF_ERR_NOTHING && stat.kind == HF_KIND_DIRECTORY
			       ? "it has no store.json"
			       : found.text);
	return item->why ? 0 : hf_fail_memory(err);
}

/* -- all of them ------------------------------------------------------------
 */

static int compare_items(const void *left, const void *right)
{
	const struct hf_stores_item *const a = left;
	const struct hf_stores_item *const b = right;

	if (!a->root != !b->root)
		return a->root ? -1 : 1;
	if (a->used_ns != b->used_ns)
		return a->used_ns > b->used_ns ? -1 : 1;
	return strcmp(a->path, b->path);
}

static int add(struct hf_stores *stores, int folder_fd, const char *name,
	       struct hf_error *err)
{
	struct hf_stores_item *items;
	struct hf_stores_item *item;

	if (stores->count >= STORES_MAX)
		return hf_fail(err, HF_ERR_LIMIT,
			       "cannot list the stores in '%s': there are too "
			       "many",
			       HF_QUOTE(stores->directory));
	items = realloc(stores->items, (stores->count + 1) * sizeof(*items));
	if (!items)
		return hf_fail_memory(err);
	stores->items = items;
	item = &items[stores->count];
	memset(item, 0, sizeof(*item));
	item->path = hf_path_join(stores->directory, name);
	if (!item->path)
		return hf_fail_memory(err);
	stores->count++;
	return look_at(folder_fd, name, item, err);
}

static int list(struct hf_stores *stores, struct hf_error *err)
{
	cleanup_directory struct hf_directory *directory = NULL;
	cleanup_free char *state = NULL;
	cleanup_fd int fd = -1;
	const char *name;
	enum hf_kind kind;
	int rc;

	rc = hf_system_state_directory(&state);
	if (rc < 0)
		return hf_fail_system(err, rc,
				      "cannot find the user's state directory");
	stores->directory = hf_path_join(state, FOLDER);
	if (!stores->directory)
		return hf_fail_memory(err);
	fd = hf_file_open_directory(stores->directory);
	if (fd == -ENOENT)
		return 0;
	rc = fd < 0 ? fd : hf_directory_open(fd, &directory);
	while (rc >= 0) {
		rc = hf_directory_next(directory, &name, &kind);
		if (rc <= 0)
			break;
		if (is_known(name))
			continue;
		rc = add(stores, fd, name, err);
		if (rc < 0)
			return rc;
	}
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot list the stores in '%s'",
				      HF_QUOTE(stores->directory));
	if (stores->count > 0)
		qsort(stores->items, stores->count, sizeof(*stores->items),
		      compare_items);
	return 0;
}

int hf_stores_list(struct hf_stores *ret_stores, struct hf_error *err)
{
	cleanup_stores struct hf_stores stores = HF_STORES_INIT;
	const int rc = list(&stores, err);

	if (rc < 0)
		return rc;
	*ret_stores = stores;
	stores = (struct hf_stores)HF_STORES_INIT;
	return 0;
}

/* -- which one --------------------------------------------------------------
 */

/* Does it look like one, whole or half dropped? */
static bool is_store(const char *path)
{
	cleanup_fd int fd = hf_file_open_directory(path);
	struct hf_stat stat;

	return fd >= 0 &&
	       (hf_file_stat_at(fd, HF_STORE_IDENTITY_NAME, &stat) == 0 ||
		hf_file_stat_at(fd, HF_STORE_DROPPING_NAME, &stat) == 0);
}

static char *find_by_root(const struct hf_stores *stores, const char *root)
{
	for (size_t i = 0; i < stores->count; i++)
		if (stores->items[i].root &&
		    strcmp(stores->items[i].root, root) == 0)
			return strdup(stores->items[i].path);
	return NULL;
}

int hf_stores_find(const char *path, char **ret_store, struct hf_error *err)
{
	cleanup_stores struct hf_stores stores = HF_STORES_INIT;
	cleanup_free char *found = NULL;
	int rc;

	if (is_store(path)) {
		found = strdup(path);
	} else {
		rc = hf_store_locate(NULL, path, &found, err);
		if (rc < 0)
			return rc;
		if (!is_store(found)) {
			hf_free_pointee(&found);
			rc = hf_stores_list(&stores, err);
			if (rc < 0)
				return rc;
			found = find_by_root(&stores, path);
		}
	}
	if (!found) {
		(void)hf_fail(err, HF_ERR_USAGE,
			      "cannot find a store by '%s': it is neither one "
			      "nor the root of one",
			      HF_QUOTE(path));
		return hf_fail_hint(err, "'holdfast store list' shows those "
					 "there are");
	}
	*ret_store = take_ptr(&found);
	return 0;
}
