/* SPDX-License-Identifier: MIT */
/* Read a snapshot's manifest from the store. */
#include "core/snapshot_load.h"

#include <inttypes.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "core/journal.h"
#include "core/moment.h"
#include "core/snapshot.h"
#include "platform/system.h"

/* From this size on a manifest is worth a thread: about 1,000 entries. */
#define MANY_BYTES ((uint64_t)256 << 10)

struct hf_snapshot_loading {
	struct hf_name name;
	int fd;
	struct hf_thread *thread; /* NULL: it is done already */
	struct hf_manifest manifest;
	struct hf_error err;
	int rc;
};

int hf_snapshot_open(const struct hf_store *store, const struct hf_name *name,
		     struct hf_error *err)
{
	const int fd = hf_file_open_read_at(
		store->folder_fd[HF_STORE_SNAPSHOTS], name->text);

	if (fd < 0)
		return hf_fail_system(err, fd, "cannot open snapshot '%s'",
				      name->text);
	return fd;
}

/* Which other snapshot is right only a person can say. */
int hf_snapshot_add_cure(const struct hf_name *name, struct hf_error *err)
{
	if (err->code != HF_ERR_CORRUPT)
		return err->code;
	return hf_fail_hint(err, "no other one is used in its place: 'holdfast "
				 "log' lists them, 'holdfast restore --from N' "
				 "takes one; to record anew, move '%s' out of "
				 "'snapshots' in the store, then 'holdfast "
				 "snapshot'",
			    name->text);
}

int hf_snapshot_read(int fd, const struct hf_name *name,
		     struct hf_buffer *ret_label, struct hf_buffer *ret_text,
		     struct hf_error *err)
{
	const int rc = hf_file_read_all(fd, HF_MANIFEST_SIZE_MAX, ret_text);

	if (rc < 0)
		return hf_fail_system(err, rc, "cannot read snapshot '%s'",
				      name->text);
	hf_buffer_printf(ret_label, "snapshot %s", name->text);
	return hf_buffer_check(ret_label, err);
}

int hf_snapshot_check_name(const char *label, const struct hf_name *found,
			   const struct hf_name *name, struct hf_error *err)
{
	/* Its hash is right, but it is another's, or an old one under a new
	 * name. */
	if (strcmp(found->text, name->text) == 0)
		return 0;
	return hf_fail(err, HF_ERR_CORRUPT,
		       "cannot read '%s': it is snapshot %s by what is in it",
		       label, found->text);
}

static int read_manifest(int fd, const struct hf_name *name,
			 struct hf_manifest *ret_manifest, struct hf_error *err)
{
	cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;
	cleanup_buffer struct hf_buffer label = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	int rc;

	rc = hf_snapshot_read(fd, name, &label, &text, err);
	if (rc < 0)
		return rc;
	rc = hf_manifest_decode(label.data, text.data ? text.data : "",
				text.len, &manifest, err);
	if (rc == 0)
		rc = hf_snapshot_check_name(label.data, &manifest.name, name,
					    err);
	if (rc < 0)
		return hf_snapshot_add_cure(name, err);
	*ret_manifest = manifest;
	manifest = (struct hf_manifest)HF_MANIFEST_INIT;
	return 0;
}

/* The tree may be damaged, and what is older must not be taken for it. */
static int fail_gone(const struct hf_snapshot_used *used, struct hf_error *err)
{
	(void)hf_fail(err, HF_ERR_CORRUPT,
		      "snapshot %s, which session %" PRIu64
		      " used, is gone from the store",
		      used->snapshot.text, hf_name_number(&used->session));
	return hf_fail_hint(err, "bring it back into 'snapshots' in the store; "
				 "to take an older one: 'holdfast restore "
				 "--from N'; to record the tree as it is: "
				 "'holdfast snapshot'");
}

/* Sessions are listed first: one that begins meanwhile has no say then. */
static int find_newest(const struct hf_store *store,
		       const struct hf_journal_names *listed,
		       struct hf_snapshot_used *ret_gone,
		       struct hf_name *ret_name, struct hf_error *err)
{
	cleanup_names struct hf_names sessions = HF_NAMES_INIT;
	cleanup_names struct hf_names names = HF_NAMES_INIT;
	const struct hf_name *newest = NULL;
	struct hf_snapshot_used used;
	int rc;

	rc = listed ? hf_journal_list_of(store, listed, &sessions, err)
		    : hf_journal_list(store, &sessions, err);
	if (rc == 0)
		rc = hf_store_list(store, HF_STORE_SNAPSHOTS, "", &names, err);
	if (rc < 0)
		return rc;
	if (names.count > 0)
		newest = &names.items[names.count - 1];
	rc = hf_snapshot_find_used(store, &sessions, &used, err);
	if (rc < 0)
		return rc;
	if (used.snapshot.text[0] != '\0' &&
	    (!newest ||
	     hf_name_number(newest) < hf_name_number(&used.snapshot))) {
		if (!ret_gone)
			return fail_gone(&used, err);
		*ret_gone = used;
	}
	if (!newest)
		return hf_fail(err, HF_ERR_NOTHING, "nothing is recorded yet");
	*ret_name = *newest;
	return 0;
}

int hf_snapshot_load(const struct hf_store *store, const struct hf_name *name,
		     struct hf_manifest *ret_manifest, struct hf_error *err)
{
	cleanup_fd int fd = hf_snapshot_open(store, name, err);

	if (fd < 0)
		return err->code;
	return read_manifest(fd, name, ret_manifest, err);
}

int hf_snapshot_find_newest(const struct hf_store *store,
			    struct hf_name *ret_name, struct hf_error *err)
{
	return find_newest(store, NULL, NULL, ret_name, err);
}

int hf_snapshot_load_typed(const struct hf_store *store, const char *typed,
			   struct hf_manifest *ret_manifest,
			   struct hf_error *err)
{
	struct hf_name name;
	const int rc = hf_moment_find(store, typed, NULL, NULL, &name, err);

	return rc < 0 ? rc : hf_snapshot_load(store, &name, ret_manifest, err);
}

int hf_snapshot_load_newest(const struct hf_store *store,
			    struct hf_manifest *ret_manifest,
			    struct hf_error *err)
{
	return hf_snapshot_load_typed(store, NULL, ret_manifest, err);
}

/* -- beside something else ------------------------------------------------- */

static void load(void *argument)
{
	struct hf_snapshot_loading *const loading = argument;

	loading->rc = read_manifest(loading->fd, &loading->name,
				    &loading->manifest, &loading->err);
}

int hf_snapshot_load_begin(const struct hf_store *store,
			   const struct hf_journal_names *sessions,
			   struct hf_snapshot_used *ret_gone,
			   struct hf_snapshot_loading **ret_loading,
			   struct hf_error *err)
{
	cleanup_snapshot_loading struct hf_snapshot_loading *loading =
		calloc(1, sizeof(*loading));
	struct hf_stat stat;
	int rc;

	if (!loading)
		return hf_fail_memory(err);
	loading->fd = -1;
	rc = find_newest(store, sessions, ret_gone, &loading->name, err);
	if (rc < 0)
		return rc;
	loading->fd = hf_snapshot_open(store, &loading->name, err);
	if (loading->fd < 0)
		return err->code;

	rc = hf_file_stat(loading->fd, &stat);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot read snapshot '%s'",
				      loading->name.text);

	/* Without a second thread it is merely slower. */
	if (stat.size < MANY_BYTES ||
	    hf_thread_start(load, loading, &loading->thread) < 0)
		load(loading);
	*ret_loading = take_ptr(&loading);
	return 0;
}

int hf_snapshot_load_finish(struct hf_snapshot_loading **loading,
			    struct hf_manifest *ret_manifest,
			    struct hf_error *err)
{
	struct hf_snapshot_loading *const l = *loading;
	int rc;

	hf_thread_join(&l->thread);
	rc = l->rc;
	if (rc < 0) {
		*err = l->err;
	} else {
		*ret_manifest = l->manifest;
		l->manifest = (struct hf_manifest)HF_MANIFEST_INIT;
	}
	hf_snapshot_load_drop(loading);
	return rc;
}

void hf_snapshot_load_drop(struct hf_snapshot_loading **loading)
{
	struct hf_snapshot_loading *const l = take_ptr(loading);

	if (!l)
		return;
	hf_thread_join(&l->thread);
	hf_file_close_quietly(&l->fd);
	hf_manifest_done(&l->manifest);
	free(l);
}
