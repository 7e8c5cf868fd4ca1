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
#include "core/pack_name.h"
#include "core/replace.h"
#include "platform/job.h"
#include "platform/system.h"

/* A new snapshot, or a session that kept something, is looked at when its
 * number is a multiple of this; the journals alone when it is one of that. */
#define EVERY_SNAPSHOT 8
#define EVERY_SESSION  64

/* -- the journal --------------------------------------------------------------
 */

/* The words that stand where a run has its command tell what went. */
static void encode_open(const struct hf_store *store,
			const struct hf_retention_view *view,
			const struct hf_retention_plan *plan,
			struct hf_buffer *out)
{
	const struct hf_names *const snapshots = &view->snapshots;
	uint64_t pid;
	uint64_t start;
	char boot_id[37];

	hf_process_self(&pid, &start);
	hf_system_boot_id(boot_id);
	hf_buffer_printf(
		out,
		"\"version\":%d,\"kind\":\"retention\",\"snapshot\":\"%s\","
		"\"command\":[\"",
		HF_JOURNAL_VERSION,
		snapshots->count > 0
			? snapshots->items[snapshots->count - 1].text
			: "");
	hf_retention_describe(plan, "\",\"", out);
	hf_buffer_add_text(out, "\"],");
	hf_text_encode("root", store->root, out);
	hf_buffer_printf(out,
			 ",\"pid\":%" PRIu64 ",\"pid_start\":\"%" PRIu64
			 "\",\"boot\":\"%s\",\"time\":\"",
			 pid, start, boot_id);
	hf_time_encode(hf_system_time_ns(), out);
	hf_buffer_add_text(out, "\",\"boot_time\":\"");
	hf_time_encode(hf_system_boot_ns(), out);
	hf_buffer_add_text(out, "\"");
}

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

/* All at once and ended: nobody takes it for a session in progress. */
static int write_journal(const struct hf_store *store,
			 const struct hf_retention_view *view,
			 const struct hf_retention_plan *plan,
			 struct hf_error *err)
{
	cleanup_buffer struct hf_buffer members = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer lines = HF_BUFFER_INIT;
	char file_name[HF_JOURNAL_FILE_NAME];
	struct hf_name name;
	int rc;

	encode_open(store, view, plan, &members);
	for (size_t i = 0; i <= plan->count; i++) {
		rc = hf_buffer_check(&members, err);
		if (rc < 0)
			return rc;
		hf_journal_line(i == 0 ? "open" : "dropped", members.data,
				&lines);
		hf_buffer_clear(&members);
		if (i < plan->count)
			encode_drop(view, &plan->drops[i], &members);
	}
	hf_journal_end_members(HF_OUTCOME_DONE, 0, 0, &members);
	rc = hf_buffer_check(&members, err);
	if (rc < 0)
		return rc;
	hf_journal_line("end", members.data, &lines);
	rc = hf_buffer_check(&lines, err);
	if (rc == 0)
		rc = hf_store_next_name(store, HF_STORE_SESSIONS, &name, err);
	if (rc < 0)
		return rc;
	hf_journal_file_name(&name, HF_JOURNAL_DONE, file_name);
	return hf_replace_write(store->folder_fd[HF_STORE_SESSIONS], file_name,
				0600, lines.data, lines.len, err);
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

/* The index last: alone it is swept, while a pack alone looks whole. */
static int drop_pack(const struct hf_store *store,
		     const struct hf_retention_view *view, size_t index)
{
	const int folder_fd = store->folder_fd[HF_STORE_PACKS];
	const uint32_t number = view->packs[index].number;
	char name[HF_PACK_NAME];
	int rc;

	hf_pack_name_format(number, HF_PACK_SUFFIX, name);
	rc = unlink_name(folder_fd, name);
	if (rc < 0)
		return rc;
	hf_pack_name_format(number, HF_PACK_INDEX_SUFFIX, name);
	return unlink_name(folder_fd, name);
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
	if ((hint->snapshot > 0 && hint->snapshot % EVERY_SNAPSHOT == 0) ||
	    (hint->has_kept && hint->session % EVERY_SNAPSHOT == 0))
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
