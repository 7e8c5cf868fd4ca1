/* SPDX-License-Identifier: MIT */
/*
 * Is the store at the end what it was when the command started?
 *
 * Nothing keeps the command from removing or rewriting it.  Then a clean look at
 * the tree says little for the next run, and what was damaged may be lost.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/text.h"
#include "core/journal_text.h"
#include "core/pack_name.h"
#include "guard/run.h"
#include "platform/system.h"

/* "sessions/000042-20261130T030007Z.open" */
#define NAME_MAX_LEN	80

static int look_at(const struct hf_store *store, enum hf_store_folder folder,
		   const char *name, const char *suffix,
		   struct hf_stat *ret_stat)
{
	char path[NAME_MAX_LEN];

	/* Through the store, not the open folder, which may be out of it. */
	(void)snprintf(path, sizeof(path), "%s/%s%s",
		       hf_store_folder_name(folder), name, suffix);
	return hf_file_stat_at(store->dir_fd, path, ret_stat);
}

static int look_at_pack(const struct hf_store *store, uint32_t pack,
			struct hf_stat *ret_stat)
{
	char name[HF_PACK_NAME];

	hf_pack_name_format(pack, HF_PACK_SUFFIX, name);
	return look_at(store, HF_STORE_PACKS, name, "", ret_stat);
}

static int look_at_manifest(const struct hf_run *run, struct hf_stat *ret_stat)
{
	return look_at(&run->project->store, HF_STORE_SNAPSHOTS,
		       run->session.snapshot.name.text, "", ret_stat);
}

int hf_run_mark_store(struct hf_run *run, struct hf_error *err)
{
	const struct hf_store *const store = &run->project->store;
	struct hf_run_store *const mark = &run->store;
	int rc;

	rc = hf_packs_add_tree(&mark->packs, &run->session.snapshot.tree, err);
	if (rc < 0)
		return rc;
	mark->pack_stats =
		calloc(mark->packs.count + 1, sizeof(*mark->pack_stats));
	if (!mark->pack_stats)
		return hf_fail_memory(err);
	rc = look_at_manifest(run, &mark->manifest);
	for (size_t i = 0; rc == 0 && i < mark->packs.count; i++)
		rc = look_at_pack(store, mark->packs.items[i],
				  &mark->pack_stats[i]);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot look at the store '%s'",
				      HF_QUOTE(store->path));
	rc = hf_journal_text(&run->journal, &mark->first_record, err);
	if (rc < 0)
		return rc;
	/* Without a second copy the store is all there is. */
	if (hf_spare_new(store, &mark->packs, &mark->spare) < 0)
		mark->spare = NULL;
	return 0;
}

void hf_run_fill_spare(struct hf_run *run)
{
	struct hf_run_store *const mark = &run->store;

	if (mark->fill_ns == 0 || hf_system_boot_ns() < mark->fill_ns)
		return;
	mark->fill_ns = 0;
	hf_spare_fill(mark->spare, &run->session.snapshot.tree);
}

void hf_run_store_done(struct hf_run_store *mark)
{
	hf_packs_done(&mark->packs);
	hf_free_pointee(&mark->pack_stats);
	hf_spare_free(&mark->spare);
	hf_buffer_done(&mark->first_record);
	hf_store_close(&mark->lost);
}

/* -- at the end -------------------------------------------------------------- */

static bool is_same_file(const struct hf_stat *a, const struct hf_stat *b)
{
	return a->dev == b->dev && a->ino == b->ino;
}

/* A copy made by linking changes ctime, and nothing else. */
static bool is_unchanged(const struct hf_stat *a, const struct hf_stat *b)
{
	return is_same_file(a, b) && a->size == b->size &&
	       a->mtime_ns == b->mtime_ns;
}

bool hf_run_has_store(const struct hf_run *run)
{
	const struct hf_store *const store = &run->project->store;
	struct hf_stat held;
	struct hf_stat there;

	return hf_file_stat(store->dir_fd, &held) == 0 &&
	       hf_file_stat_path(store->path, &there) == 0 &&
	       is_same_file(&held, &there);
}

/* Is the folder that is open the one that has its name? */
bool hf_run_has_folder(const struct hf_store *store,
		       enum hf_store_folder folder)
{
	struct hf_stat held;
	struct hf_stat there;

	return hf_file_stat(store->folder_fd[folder], &held) == 0 &&
	       hf_file_stat_at(store->dir_fd, hf_store_folder_name(folder),
			       &there) == 0 &&
	       is_same_file(&held, &there);
}

bool hf_run_has_journal(const struct hf_run *run)
{
	const struct hf_name *const name = &run->journal.name;
	cleanup_session_record struct hf_session_record record =
		HF_SESSION_RECORD_INIT;
	struct hf_error ignored;
	struct hf_stat held;
	struct hf_stat there;

	return hf_file_stat(run->journal.fd, &held) == 0 &&
	       look_at(&run->project->store, HF_STORE_SESSIONS, name->text,
		       ".open", &there) == 0 &&
	       is_same_file(&held, &there) &&
	       hf_journal_read(&run->project->store, name, &record, &ignored) ==
		       0;
}

/* Another run may have written the same manifest again, with fresh stat data. */
bool hf_run_has_manifest(const struct hf_run *run)
{
	const struct hf_manifest *const want = &run->session.snapshot;
	cleanup_manifest struct hf_manifest now = HF_MANIFEST_INIT;
	cleanup_deltas struct hf_deltas deltas = HF_DELTAS_INIT;
	struct hf_error ignored;
	struct hf_stat there;

	if (look_at_manifest(run, &there) < 0)
		return false;
	return is_unchanged(&there, &run->store.manifest) ||
	       (hf_snapshot_load(&run->project->store, &want->name, &now,
				 &ignored) == 0 &&
		hf_compare(&want->tree, &now.tree, &deltas, &ignored) == 0 &&
		deltas.count == 0);
}

void hf_run_mend_packs(struct hf_run *run)
{
	const struct hf_store *const store = &run->project->store;
	const struct hf_run_store *const mark = &run->store;

	for (size_t i = 0; mark->spare && i < mark->packs.count; i++) {
		const uint32_t pack = mark->packs.items[i];
		struct hf_stat stat;
		struct hf_error ignored;
		int rc;

		if ((look_at_pack(store, pack, &stat) == 0 &&
		     is_unchanged(&stat, &mark->pack_stats[i])) ||
		    hf_spare_stat(mark->spare, pack, &stat) < 0 ||
		    !is_unchanged(&stat, &mark->pack_stats[i]))
			continue;
		rc = hf_spare_write_pack(mark->spare, pack, store, &ignored);
		/* The next run archives again what the tree has of it. */
		(void)rc;
	}
}

int hf_run_check_store(const struct hf_run *run, struct hf_error *err)
{
	const struct hf_store *const store = &run->project->store;
	const struct hf_run_store *const mark = &run->store;
	char what[NAME_MAX_LEN] = "";

	if (!hf_run_has_store(run))
		(void)snprintf(what, sizeof(what), "it is not there any more");
	else if (!hf_run_has_journal(run))
		(void)snprintf(what, sizeof(what),
			       "the journal of this session is gone or damaged");
	else if (!hf_run_has_manifest(run))
		(void)snprintf(what, sizeof(what),
			       "snapshot %s is gone or damaged",
			       run->session.snapshot.name.text);
	for (size_t i = 0; what[0] == '\0' && i < mark->packs.count; i++) {
		struct hf_stat there;

		if (look_at_pack(store, mark->packs.items[i], &there) < 0 ||
		    !is_unchanged(&there, &mark->pack_stats[i]))
			(void)snprintf(what, sizeof(what),
				       "pack %06" PRIu32 " is gone or changed",
				       mark->packs.items[i]);
	}
	if (what[0] == '\0' && !hf_run_has_folder(store, HF_STORE_KEPT))
		(void)snprintf(what, sizeof(what),
			       "the kept copies of earlier sessions are gone");
	if (what[0] == '\0')
		return 0;
	(void)hf_fail(err, HF_ERR_CORRUPT,
		      "the store '%s' was damaged while the command ran: %s",
		      HF_QUOTE(store->path), what);
	return hf_fail_hint(err, "--store DIR names a place that the command "
				 "leaves alone");
}
