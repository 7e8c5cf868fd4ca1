/* SPDX-License-Identifier: MIT */
/*
 * Drop from a store what a plan names.
 *
 * First a journal says what goes.  Then whatever refers to something goes
 * before what it refers to, each step on the disk before the next one:
 * snapshots before packs, a session's journal before the copies that only it
 * explains.  A crash leaves a pack or copies too many, and no name that leads
 * to nothing.
 */
#include "core/retention_store.h"

#include <inttypes.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/text.h"
#include "core/entry_text.h"
#include "core/journal_text.h"
#include "core/pack.h"
#include "core/replace.h"

/* A new snapshot, or a session that kept something, is looked at when its
 * number is a multiple of this; the journals alone when it is one of that. */
#define EVERY_SNAPSHOT 8
#define EVERY_SESSION  64

/* -- the journal --------------------------------------------------------------
 */

static void encode_drop(const struct hf_retention_view *view,
			const struct hf_retention_drop *drop,
			struct hf_buffer *out)
{
	hf_buffer_add_text(out, "\"dropped\":\"");
	hf_retention_name(view, drop->what, drop->index, out);
	hf_buffer_add_text(out, "\",\"bytes\":");
	hf_number_encode(drop->bytes, out);
	hf_buffer_printf(out, ",\"why\":\"%s\"",
			 hf_retention_why_text(drop->why));
}

/* The words that stand where a run has its command tell what went. */
static int write_journal(const struct hf_store *store,
			 const struct hf_retention_view *view,
			 const struct hf_retention_plan *plan,
			 struct hf_error *err)
{
	const struct hf_names *const snapshots = &view->snapshots;
	cleanup_buffer struct hf_buffer words = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer members = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer lines = HF_BUFFER_INIT;
	int rc;

	for (size_t i = 0; i < plan->count; i++) {
		encode_drop(view, &plan->drops[i], &members);
		rc = hf_buffer_check(&members, err);
		if (rc < 0)
			return rc;
		hf_journal_line("dropped", members.data, &lines);
		hf_buffer_clear(&members);
	}
	hf_buffer_add_text(&words, "\"");
	hf_retention_describe(plan, "\",\"", &words);
	hf_buffer_add_text(&words, "\"");
	return hf_journal_write_done(
		store, "retention",
		snapshots->count > 0
			? snapshots->items[snapshots->count - 1].text
			: "",
		&words, &lines, err);
}

/* -- dropping -----------------------------------------------------------------
 */

/* One name; 0 or -errno. */
static int unlink_name(int folder_fd, const char *name)
{
	const int rc = hf_file_unlink_at(folder_fd, name);

	return rc == -ENOENT ? 0 : rc;
}

static int drop_snapshot(const struct hf_store *store,
			 const struct hf_retention_view *view, size_t index)
{
	return unlink_name(store->folder_fd[HF_STORE_SNAPSHOTS],
			   view->snapshots.items[index].text);
}

static int drop_journal(const struct hf_store *store,
			const struct hf_retention_view *view, size_t index)
{
	char name[HF_JOURNAL_FILE_NAME];

	hf_journal_file_name(&view->sessions.items[index], HF_JOURNAL_DONE,
			     name);
	return unlink_name(store->folder_fd[HF_STORE_SESSIONS], name);
}

/* Under a name that is swept first: half of them is nothing to show. */
static int drop_kept(const struct hf_store *store,
		     const struct hf_retention_view *view, size_t index)
{
	const int folder_fd = store->folder_fd[HF_STORE_KEPT];
	struct hf_error ignored;
	char tmp[32];
	int rc;

	rc = hf_replace_name(tmp, &ignored);
	if (rc < 0)
		return ignored.sys_errno > 0 ? -ignored.sys_errno : -EIO;
	rc = hf_file_rename_at(folder_fd, view->sessions.items[index].text,
			       folder_fd, tmp);
	if (rc < 0)
		return rc == -ENOENT ? 0 : rc;
	return hf_store_remove_at(folder_fd, tmp);
}

static int drop_pack(const struct hf_store *store,
		     const struct hf_retention_view *view, size_t index)
{
	return hf_pack_remove(store, view->packs[index].number);
}

/* A step: what of the drops, how, and the folder where it is to last. */
static const struct step {
	unsigned whats;
	enum hf_store_folder folder;
	int (*drop)(const struct hf_store *store,
		    const struct hf_retention_view *view, size_t index);
} steps[] = {
	{1u << HF_RETENTION_SNAPSHOT, HF_STORE_SNAPSHOTS, drop_snapshot},
	{1u << HF_RETENTION_KEPT | 1u << HF_RETENTION_SESSION,
	 HF_STORE_SESSIONS, drop_journal},
	{1u << HF_RETENTION_KEPT, HF_STORE_KEPT, drop_kept},
	{1u << HF_RETENTION_PACK, HF_STORE_PACKS, drop_pack},
};

static int take_step(const struct hf_store *store,
		     const struct hf_retention_view *view,
		     const struct hf_retention_plan *plan,
		     const struct step *step)
{
	bool has_work = false;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < plan->count; i++) {
		const struct hf_retention_drop *const drop = &plan->drops[i];

		if ((step->whats & 1u << drop->what) == 0)
			continue;
		has_work = true;
		rc = step->drop(store, view, drop->index);
	}
	if (rc == 0 && has_work)
		rc = hf_file_sync(store->folder_fd[step->folder]);
	return rc;
}

int hf_retention_apply(const struct hf_store *store,
		       const struct hf_retention_view *view,
		       const struct hf_retention_plan *plan,
		       struct hf_error *err)
{
	int rc;

	if (plan->count == 0)
		return 0;
	rc = write_journal(store, view, plan, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; rc == 0 && i < HF_COUNT(steps); i++)
		rc = take_step(store, view, plan, &steps[i]);
	return rc < 0 ? hf_fail_system(err, rc,
				       "cannot remove from the store '%s'",
				       HF_QUOTE(store->path))
		      : 0;
}

/* -- at the end of a command
 * --------------------------------------------------- */

static bool has_many_journals(const struct hf_store *store)
{
	cleanup_names struct hf_names done = HF_NAMES_INIT;
	struct hf_error ignored;

	return hf_store_list(store, HF_STORE_SESSIONS, HF_JOURNAL_DONE, &done,
			     &ignored) == 0 &&
	       done.count > HF_RETENTION_SESSIONS;
}

/*
 * Is it the turn of the snapshot or session of that number?  A look reads all
 * manifests: the more there are, the more have to come before it is worth the
 * next.
 */
static bool is_turn(const struct hf_store *store, uint64_t number)
{
	cleanup_names struct hf_names snapshots = HF_NAMES_INIT;
	uint64_t every = EVERY_SNAPSHOT;
	struct hf_error ignored;

	if (number == 0 || number % every != 0)
		return false;
	if (hf_store_list(store, HF_STORE_SNAPSHOTS, "", &snapshots, &ignored) <
	    0)
		return true;
	while (8 * every <= snapshots.count)
		every *= 2;
	return number % every == 0;
}

/* May there be something to drop, and where?  Looks at as little as it can. */
static bool is_due(const struct hf_project *project,
		   const struct hf_retention_hint *hint,
		   enum hf_retention_extent *ret_extent)
{
	const struct hf_store *const store = &project->store;
	const uint64_t limit = project->policy.retention.bytes;
	struct hf_error ignored;
	uint64_t bytes;

	*ret_extent = HF_RETENTION_ALL;
	if (is_turn(store, hint->snapshot) ||
	    (hint->has_kept && is_turn(store, hint->session)))
		return true;
	if ((hint->snapshot > 0 || hint->has_kept) &&
	    hf_store_size(store, &bytes, &ignored) == 0 && bytes > limit)
		return true;
	*ret_extent = HF_RETENTION_JOURNALS;
	return hint->session > 0 && hint->session % EVERY_SESSION == 0 &&
	       has_many_journals(store);
}

static int apply_locked(const struct hf_project *project,
			enum hf_retention_extent extent, struct hf_error *err)
{
	const struct hf_store *const store = &project->store;
	cleanup_retention_view struct hf_retention_view view =
		HF_RETENTION_VIEW_INIT;
	cleanup_retention_plan struct hf_retention_plan plan =
		HF_RETENTION_PLAN_INIT;
	int rc;

	rc = hf_retention_read(store, &project->policy.retention, extent, &view,
			       err);
	if (rc == 0)
		rc = hf_retention_decide(&view.input, &plan, err);
	return rc < 0 ? rc : hf_retention_apply(store, &view, &plan, err);
}

void hf_retention_apply_quietly(struct hf_project *project,
				const struct hf_retention_hint *hint)
{
	enum hf_retention_extent extent;
	struct hf_error ignored;
	int rc;

	if (project->store.dir_fd < 0 || !is_due(project, hint, &extent))
		return;
	rc = hf_store_lock(&project->store, false, &ignored);
	if (rc < 0)
		return;
	/* The next one finds what stays. */
	rc = apply_locked(project, extent, &ignored);
	(void)rc;
	hf_store_unlock(&project->store);
}
