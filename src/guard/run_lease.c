/* SPDX-License-Identifier: MIT */
/*
 * Leases in a run: who opens a protected file for writing waits until we have
 * seen who it is.
 *
 * With the gate on, an opener of the command that the gate has not let through
 * has got past it, by a race; then the tree is ended while the opener waits,
 * and the file stays as it is.  Without the gate an open is only remembered.
 */
#include "platform/lease.h"

#include <string.h>

#include "base/fail.h"
#include "guard/culprit.h"
#include "guard/run.h"
#include "platform/system.h"
#include "platform/task.h"

void hf_run_arm_leases(struct hf_run *run, struct hf_job *job)
{
	const struct hf_tree *const tree = &run->session.snapshot.tree;

	if (run->project->policy.gate == HF_GATE_OFF)
		return;
	/* Without them the watch and the look at the end hold; the report says
	 * how many there are. */
	if (hf_leases_new(hf_job_proc(job), hf_process_pid(), &run->leases) <
	    0)
		return;
	for (size_t i = 0; i < tree->count; i++) {
		const struct hf_entry *const entry = &tree->entries[i];
		int rc;

		if (entry->role != HF_ROLE_PROTECTED ||
		    entry->stat.kind != HF_KIND_FILE)
			continue;
		rc = hf_leases_add(run->leases, run->project->root_fd,
				   entry->path, i);
		/* Each is counted as wanted. */
		(void)rc;
	}
	hf_job_listen(job, hf_leases_fd(run->leases));
}

static void note_inside(struct hf_run *run, struct hf_job *job,
			const struct hf_lease_opener *opener)
{
	const struct hf_entry *const entry =
		&run->session.snapshot.tree.entries[opener->tag];
	struct hf_suspect suspect = {.task = NULL};
	const struct hf_culprit *culprit = NULL;
	const int64_t tid =
		opener->tid != 0 ? opener->tid : opener->process.pid;

	if (!run->tasks &&
	    hf_tasks_new(hf_job_proc(job), hf_process_pid(), &run->tasks) < 0)
		run->tasks = NULL;
	if (run->tasks && hf_culprit_look(run->tasks, tid, &suspect) == 0)
		culprit = hf_culprit_keep(&run->session.violations.arena,
					  suspect.task);
	(void)hf_run_note_attempt(
		run,
		&(struct hf_attempt){
			.path = entry->path,
			.rule = entry->rule,
			.operation = "open",
			.detail = "past the gate",
			.before = entry,
			.culprit = culprit,
			.test = suspect.has_test ? suspect.test : NULL,
			.is_test_exact = suspect.is_test_exact,
			.time_ns = hf_system_time_ns(),
		},
		1);
	hf_job_stop(job);
}

static void take_opener(struct hf_run *run, struct hf_job *job,
			const struct hf_lease_opener *opener)
{
	const struct hf_entry *const entry =
		&run->session.snapshot.tree.entries[opener->tag];

	switch (opener->side) {
	case HF_LEASE_NOBODY:
		return;
	case HF_LEASE_INSIDE:
		if (run->gate) {
			note_inside(run, job, opener);
			return;
		}
		break;
	case HF_LEASE_OUTSIDE:
		hf_run_note_outsider(run, entry->path, &opener->process,
				     opener->is_certain &&
					     opener->uid == hf_system_uid() &&
					     opener->is_in_namespaces);
		break;
	}
	hf_leases_release(run->leases, opener->tag);
}

/* The lease of a file that somebody of the command waits for is kept. */
static bool is_wanted_inside(const struct hf_run *run,
			     const struct hf_lease_openers *openers, size_t tag)
{
	for (size_t i = 0; run->gate && i < openers->count; i++)
		if (openers->items[i].tag == tag &&
		    openers->items[i].side == HF_LEASE_INSIDE)
			return true;
	return false;
}

static void judge(struct hf_run *run, struct hf_job *job)
{
	cleanup_lease_openers struct hf_lease_openers openers =
		HF_LEASE_OPENERS_INIT;
	struct hf_error err = {0};

	/* What the gate has let through is told by now. */
	hf_run_take_gate(run, job);
	if (hf_leases_judge(run->leases, &openers) < 0) {
		(void)hf_fail_memory(&err);
		hf_run_fail(run, &err);
		hf_job_stop(job);
		return;
	}
	for (size_t i = 0; i < openers.count; i++) {
		const struct hf_lease_opener *const opener = &openers.items[i];

		if (opener->side == HF_LEASE_INSIDE ||
		    !is_wanted_inside(run, &openers, opener->tag))
			take_opener(run, job, opener);
	}
	run->lease_ns = hf_leases_due(run->leases);
	hf_run_set_alarm(run, job);
}

void hf_run_lease_signalled(void *context, struct hf_job *job, int signal,
			    int fd)
{
	struct hf_run *const run = context;

	if (!run->leases)
		return;
	if (fd < 0)
		judge(run, job);
	else if (signal == hf_leases_signal_number())
		hf_leases_signal(run->leases, fd);
	else
		hf_leases_signals_lost(run->leases);
}

void hf_run_lease_event(struct hf_run *run, const struct hf_entry *entry,
			unsigned kinds)
{
	const size_t tag = (size_t)(entry - run->session.snapshot.tree.entries);

	if (!run->leases || entry->role != HF_ROLE_PROTECTED ||
	    entry->stat.kind != HF_KIND_FILE)
		return;
	if (kinds & (HF_WATCH_CREATED | HF_WATCH_MOVED_TO))
		hf_leases_renew(run->leases, tag);
	else if (kinds & HF_WATCH_CLOSED)
		hf_leases_retake(run->leases, tag);
}

void hf_run_lease_alarm(struct hf_run *run)
{
	if (run->leases)
		run->lease_ns = hf_leases_due(run->leases);
}

void hf_run_release_leases(struct hf_run *run)
{
	if (run->leases)
		hf_leases_release_all(run->leases);
}

void hf_run_retake_leases(struct hf_run *run)
{
	if (!run->leases)
		return;
	hf_leases_retake_all(run->leases);
	run->lease_ns = hf_leases_due(run->leases);
}

void hf_run_count_leases(struct hf_run *run)
{
	struct hf_lease_counts counts;

	if (!run->leases)
		return;
	hf_leases_count(run->leases, &counts);
	run->session.leases_wanted = counts.wanted;
	run->session.leases_held = counts.held_throughout;
}
