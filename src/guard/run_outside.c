/* SPDX-License-Identifier: MIT */
/*
 * Who is beside the run: a person's edit stays.
 *
 * It is proven by the lease, which has seen who opened the file, or by
 * elimination: with the gate on, a name or metadata that changed and that
 * nobody of the command could have changed was changed by somebody else.  What
 * belongs to another user afterwards, as after a container's work, and a
 * content that nobody was seen to open counts as the command's.
 */
#include <string.h>

#include "base/path.h"
#include "core/scan.h"
#include "core/scan_side.h"
#include "guard/run.h"
#include "platform/lease.h"
#include "platform/system.h"

/* By how much a file's times may be behind the clock: a tick, at 100 a second.
 */
#define TICK_NS (10 * INT64_C(1000000))

static bool is_same_process(const struct hf_process *a,
			    const struct hf_process *b)
{
	return a->pid == b->pid && strcmp(a->comm, b->comm) == 0;
}

static bool copy_outsider(struct hf_run *run, struct hf_outsider *outsider)
{
	struct hf_process *const process = &outsider->process;

	outsider->path = hf_arena_copy(&run->outsider_arena, outsider->path,
				       strlen(outsider->path));
	if (process->command_line)
		process->command_line = hf_arena_copy(
			&run->outsider_arena, process->command_line,
			process->command_line_len);
	else
		process->command_line_len = 0;
	return outsider->path &&
	       (process->command_line || process->command_line_len == 0);
}

void hf_run_note_outsider(struct hf_run *run, const char *path,
			  const struct hf_process *process, bool is_person)
{
	struct hf_session *const session = &run->session;
	struct hf_outsider outsider = {
		.path = path,
		.process = *process,
		.is_person = is_person,
		.time_ns = hf_system_time_ns(),
	};
	struct hf_outsider *outsiders;

	for (size_t i = 0; i < session->outsider_count; i++)
		if (strcmp(session->outsiders[i].path, path) == 0 &&
		    is_same_process(&session->outsiders[i].process, process)) {
			session->outsiders[i].time_ns = outsider.time_ns;
			return;
		}
	outsiders =
		reallocarray(session->outsiders, session->outsider_count + 1,
			     sizeof(*outsiders));
	if (!outsiders)
		return;
	session->outsiders = outsiders;
	if (copy_outsider(run, &outsider))
		outsiders[session->outsider_count++] = outsider;
}

/*
 * Since the command had the file open at last: has somebody opened it, and was each
 * of them a person?  Whoever waits for a lease shows that no writer was left then.
 */
static bool was_opened_by_persons(struct hf_run *run, const char *path,
				  int64_t since_ns)
{
	struct hf_session *const session = &run->session;
	bool is_any = false;

	for (size_t i = 0; i < session->outsider_count; i++) {
		const struct hf_outsider *const outsider =
			&session->outsiders[i];

		if (strcmp(outsider->path, path) != 0 ||
		    outsider->time_ns <= since_ns)
			continue;
		if (!outsider->is_person)
			return false;
		is_any = true;
	}
	for (size_t i = 0; is_any && i < session->outsider_count; i++)
		if (strcmp(session->outsiders[i].path, path) == 0)
			session->outsiders[i].has_changed = true;
	return is_any;
}

/* What stands at the path now; kind absent when nothing does. */
static bool look_at(const struct hf_run *run, const char *path,
		    struct hf_stat *ret_now)
{
	cleanup_fd int dir_fd = -1;
	const char *name;
	int rc;

	*ret_now = (struct hf_stat){.kind = HF_KIND_ABSENT};
	dir_fd = hf_scan_open_parent(run->project->root_fd, path, &name);
	if (dir_fd < 0)
		return dir_fd == -ENOENT || dir_fd == -ENOTDIR;
	rc = hf_file_stat_at(dir_fd, name, ret_now);
	return rc == 0 || rc == -ENOENT;
}

static bool is_other_content(const struct hf_stat *before,
			     const struct hf_stat *now)
{
	return before->size != now->size || before->mtime_ns != now->mtime_ns;
}

static bool is_deed(const char *operation, enum hf_deed deed)
{
	static const struct {
		const char *beginning;
		unsigned deeds;
	} rows[] = {
		{ "unlink", 1u << HF_DEED_REMOVE },
		{ "rmdir", 1u << HF_DEED_REMOVE },
		{ "rename", 1u << HF_DEED_REMOVE | 1u << HF_DEED_REPLACE |
				    1u << HF_DEED_CREATE },
		{ "link", 1u << HF_DEED_CREATE },
		{ "symlink", 1u << HF_DEED_CREATE },
		{ "mk", 1u << HF_DEED_CREATE },
		{ "bind", 1u << HF_DEED_CREATE },
		{ "open", 1u << HF_DEED_CREATE },
		{ "creat", 1u << HF_DEED_CREATE },
		{ "truncate", 0 },
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++)
		if (strncmp(operation, rows[i].beginning,
			    strlen(rows[i].beginning)) == 0)
			return rows[i].deeds & 1u << deed;
	return deed == HF_DEED_METADATA;
}

/*
 * Has it stood there since before time_ns?  Whatever gives a file a name or
 * metadata sets the file's ctime, and nobody can choose that.
 */
static bool is_older(const struct hf_stat *now, int64_t time_ns)
{
	return now->kind != HF_KIND_ABSENT && now->ctime_ns + TICK_NS < time_ns;
}

/* Was the command refused just that?  It may have tried again and got past. */
static bool was_refused(const struct hf_run *run, const char *path,
			enum hf_deed deed, const struct hf_stat *now)
{
	const struct hf_violation *attempt = hf_violations_find_attempt(
		&run->session.violations, path);

	for (; attempt; attempt = attempt->next)
		if (is_deed(attempt->operation, deed) &&
		    !is_older(now, attempt->time_ns))
			return true;
	return false;
}

/*
 * Could the command have done it?  A call of that kind that was let go on a moment
 * ago may have met another name than the one that was looked at: a race that the
 * gate cannot see.
 */
static bool may_be_ours(struct hf_run *run, const char *path, enum hf_deed deed,
			const struct hf_stat *now)
{
	int64_t first_ns;

	if (was_refused(run, path, deed, now))
		return true;
	return hf_run_gate_has_passed(run, deed, &first_ns) &&
	       !is_older(now,
			 hf_system_time_ns() - hf_system_boot_ns() + first_ns);
}

/* Was its directory there when the run began?  One that the command has made may
 * have been filled elsewhere and moved here. */
static bool is_in_known_directory(const struct hf_run *run, const char *path)
{
	const size_t len = hf_path_parent_len(path);
	cleanup_free char *parent =
		len > 0 ? strndup(path, len) : strdup(".");

	return parent &&
	       hf_tree_find(&run->session.snapshot.tree, parent) != NULL;
}

/* What can be said with the gate on, from what stands there now. */
static bool is_left_over(struct hf_run *run, const char *path,
			 const struct hf_entry *entry,
			 const struct hf_stat *now)
{
	if (now->kind == HF_KIND_ABSENT)
		return entry && !may_be_ours(run, path, HF_DEED_REMOVE, now);
	if (now->uid != hf_system_uid())
		return false;
	if (!entry)
		return is_in_known_directory(run, path) &&
		       !may_be_ours(run, path, HF_DEED_CREATE, now);
	if (now->ino != entry->stat.ino || now->dev != entry->stat.dev)
		return !may_be_ours(run, path, HF_DEED_REPLACE, now) &&
		       !was_refused(run, path, HF_DEED_REMOVE, now);
	if (now->kind == HF_KIND_FILE && is_other_content(&entry->stat, now))
		return was_opened_by_persons(run, path,
					     hf_run_gate_opened_ns(run, entry));
	return !may_be_ours(run, path, HF_DEED_METADATA, now);
}

/* core(5): the kernel writes it for a program that dies, and asks nobody. */
static bool is_core(const char *path)
{
	const char *const slash = strrchr(path, '/');
	const char *const name = slash ? slash + 1 : path;

	return strcmp(name, "core") == 0 || strncmp(name, "core.", 5) == 0;
}

bool hf_run_is_outside(struct hf_run *run, const char *path,
		       const struct hf_entry *entry)
{
	struct hf_name other;
	struct hf_stat now;

	/* What stands beside a database the gate lets through; and without the
	 * gate nothing is proven. */
	if (run->project->policy.on_outside != HF_OUTSIDE_STAY ||
	    run->session.gate != HF_LAYER_ON || hf_run_gate_has_mounts(run) ||
	    is_core(path) ||
	    (!entry && hf_scan_side_base_len(path) > 0))
		return false;
	return look_at(run, path, &now) &&
	       (is_left_over(run, path, entry, &now) ||
		hf_run_is_of_another(run, path, &other));
}

void hf_run_follow(struct hf_run *run, const struct hf_entry *entry)
{
	struct hf_stat now;

	if (!look_at(run, entry->path, &now) || now.kind == HF_KIND_ABSENT)
		return;
	hf_run_gate_renew(run, entry, &now);
	hf_run_lease_event(run, entry, HF_WATCH_MOVED_TO);
}
