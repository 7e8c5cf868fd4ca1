/* SPDX-License-Identifier: MIT */
/*
 * Broken leases: who waits, and whether the gate has approved it.
 *
 * An approved call mostly meets no lease; it does when another's close() made
 * us retake it in between.  Such a thread is found by its number, which is
 * quick, and let through at once.  Only for all else is the machine asked who
 * waits.
 */
#include <unistd.h>

#include "platform/file.h"
#include "platform/linux/lease_internal.h"
#include "platform/system.h"

/* Approved threads of one file that are looked at before all others. */
#define QUICK_MAX 64u
/* A listing of locks that come and go meanwhile may miss one. */
#define LOOKS_MAX 3u
/* As in lease.c: an approved open is over soon. */
#define RETRY_NS  ((int64_t)100 * 1000 * 1000)

/* Those that are being judged. */
struct batch {
	size_t *items;
	size_t count;
};

/* -- what the kernel tells ----------------------------------------------- */

static void note_broken(struct hf_leases *leases, struct hf_lease *lease)
{
	/* A signal may be older than what we have done since. */
	if (lease->state != HF_LEASE_ARMED || !hf_lease_is_breaking(lease))
		return;
	lease->state = HF_LEASE_BROKEN;
	leases->has_broken = true;
}

void hf_leases_signal(struct hf_leases *leases, int fd)
{
	struct hf_lease *lease;

	hf_mutex_lock(leases->mutex);
	lease = hf_lease_of_fd(leases, fd);
	if (lease)
		note_broken(leases, lease);
	hf_mutex_unlock(leases->mutex);
}

void hf_leases_signals_lost(struct hf_leases *leases)
{
	hf_mutex_lock(leases->mutex);
	for (size_t i = 0; i < leases->count; i++)
		note_broken(leases, &leases->items[i]);
	hf_mutex_unlock(leases->mutex);
}

/* -- the gate's thread --------------------------------------------------- */

/* The main thread has no reason to come by itself. */
static void wake(struct hf_leases *leases)
{
	const uint64_t one = 1;

	if (leases->is_idle)
		(void)!write(leases->wake_fd, &one, sizeof(one));
	leases->is_idle = false;
}

/* Whoever breaks a lease is not to slip through with the approved. */
static void disarm_unbroken(struct hf_lease *lease)
{
	if (lease->state == HF_LEASE_UNARMED ||
	    (lease->state == HF_LEASE_ARMED && !hf_lease_is_breaking(lease)))
		hf_lease_disarm(lease, hf_system_boot_ns() + RETRY_NS);
}

int hf_leases_approve(struct hf_leases *leases, size_t tag, int64_t tid)
{
	const struct hf_lease *lease;
	int rc = 0;

	hf_mutex_lock(leases->mutex);
	lease = hf_lease_of_tag(leases, tag);
	if (lease && lease->fd >= 0)
		rc = hf_lease_calls_note(&leases->calls, leases->proc_fd, tid,
					 lease);
	if (lease && lease->fd >= 0 && rc == 0) {
		hf_lease_each_of_file(leases, lease, disarm_unbroken);
		wake(leases);
	}
	hf_mutex_unlock(leases->mutex);
	return rc;
}

void hf_leases_forget(struct hf_leases *leases, int64_t tid)
{
	/* Only this thread makes places. */
	if (leases->calls.used == 0)
		return;
	hf_mutex_lock(leases->mutex);
	hf_lease_calls_end(&leases->calls, tid);
	hf_mutex_unlock(leases->mutex);
}

/* -- who waits ----------------------------------------------------------- */

static int gather(struct hf_leases *leases, struct batch *ret_batch)
{
	struct batch batch = {.items = NULL};
	size_t count = 0;

	hf_mutex_lock(leases->mutex);
	for (size_t i = 0; i < leases->count; i++)
		count += leases->items[i].state == HF_LEASE_BROKEN;
	if (count > 0)
		batch.items = calloc(count, sizeof(*batch.items));
	for (size_t i = 0; batch.items && i < leases->count; i++)
		if (leases->items[i].state == HF_LEASE_BROKEN)
			batch.items[batch.count++] = i;
	if (count == 0)
		leases->has_broken = false;
	hf_mutex_unlock(leases->mutex);
	if (count > 0 && !batch.items)
		return -ENOMEM;
	*ret_batch = batch;
	return 0;
}

static bool is_approved_waiting(struct hf_leases *leases,
				const struct hf_lease *lease)
{
	int64_t tids[QUICK_MAX];
	size_t count;

	hf_mutex_lock(leases->mutex);
	count = hf_lease_calls_of(&leases->calls, lease, tids, QUICK_MAX);
	hf_mutex_unlock(leases->mutex);
	for (size_t i = 0; i < count; i++)
		if (hf_lease_thread_look(leases->proc_fd, 0, tids[i]) ==
		    HF_LEASE_THREAD_WAITS)
			return true;
	return false;
}

static void let_through(struct hf_leases *leases, struct hf_lease *lease)
{
	hf_mutex_lock(leases->mutex);
	hf_lease_disarm(lease, hf_system_boot_ns() + RETRY_NS);
	hf_mutex_unlock(leases->mutex);
}

/* Approved ones at once; who else waits for the file goes with them, and the
 * watch and the last look see what it does. */
static void let_approved(struct hf_leases *leases, struct batch *batch)
{
	size_t count = 0;

	for (size_t i = 0; i < batch->count; i++) {
		struct hf_lease *const lease = &leases->items[batch->items[i]];

		if (is_approved_waiting(leases, lease))
			let_through(leases, lease);
		else
			batch->items[count++] = batch->items[i];
	}
	batch->count = count;
}

/* Not every file system shows the device number that it tells of its files. */
static bool concerns(const struct hf_lease_waiter *waiter,
		     const struct hf_lease *lease)
{
	if (!waiter->has_file)
		return true;
	return waiter->file.ino == lease->file.ino &&
	       (waiter->is_ours || waiter->file.dev == lease->file.dev);
}

static bool is_listed(const struct hf_lease_waiters *waiters,
		      const struct hf_lease *lease)
{
	for (size_t i = 0; i < waiters->count; i++)
		if (concerns(&waiters->items[i], lease))
			return true;
	return false;
}

static bool are_listed(const struct hf_leases *leases,
		       const struct batch *batch,
		       const struct hf_lease_waiters *waiters)
{
	for (size_t i = 0; i < batch->count; i++)
		if (!is_listed(waiters, &leases->items[batch->items[i]]))
			return false;
	return true;
}

static int find(const struct hf_leases *leases, const struct batch *batch,
		struct hf_lease_waiters *waiters)
{
	int rc = 0;

	for (size_t i = 0; i < LOOKS_MAX; i++) {
		hf_lease_waiters_done(waiters);
		rc = hf_lease_find(leases->proc_fd, waiters);
		if (rc < 0 && rc != -ENOMEM) {
			hf_lease_waiters_done(waiters);
			return hf_lease_find_by_threads(leases->proc_fd,
							waiters);
		}
		if (rc < 0 || are_listed(leases, batch, waiters))
			break;
	}
	return rc;
}

/* -- the verdict --------------------------------------------------------- */

/* Of one process: its threads that wait for a lease, or are about to. */
struct threads {
	size_t all;	   /* waiting or not */
	size_t approved;   /* for this file */
	size_t unapproved; /* for any */
	int64_t first;	   /* of the unapproved */
};

static struct threads look_at_threads(struct hf_leases *leases,
				      const struct hf_lease *lease, int64_t pid)
{
	cleanup_directory struct hf_directory *tasks = NULL;
	struct threads threads = {.approved = 0};
	int64_t tid;

	if (hf_lease_tasks_open(leases->proc_fd, pid, &tasks) < 0)
		return threads;
	while ((tid = hf_lease_tasks_next(tasks)) != 0) {
		const enum hf_lease_thread look =
			hf_lease_thread_look(leases->proc_fd, pid, tid);
		bool is_approved;
		bool is_in_call;

		threads.all++;
		if (look == HF_LEASE_THREAD_ELSEWHERE)
			continue;
		hf_mutex_lock(leases->mutex);
		is_approved = hf_lease_calls_has(&leases->calls, tid, lease);
		is_in_call = hf_lease_calls_has(&leases->calls, tid, NULL);
		hf_mutex_unlock(leases->mutex);
		threads.approved += is_approved;
		if (is_in_call || look != HF_LEASE_THREAD_WAITS)
			continue;
		if (threads.unapproved++ == 0)
			threads.first = tid;
	}
	return threads;
}

static int add_opener(struct hf_lease_openers *openers,
		      const struct hf_lease_opener *opener)
{
	if (openers->count == openers->capacity) {
		const size_t capacity =
			openers->capacity ? 2 * openers->capacity : 16;
		struct hf_lease_opener *const items =
			reallocarray(openers->items, capacity, sizeof(*items));

		if (!items)
			return -ENOMEM;
		openers->items = items;
		openers->capacity = capacity;
	}
	openers->items[openers->count++] = *opener;
	return 0;
}

static void cut_openers(struct hf_lease_openers *openers, size_t count)
{
	while (openers->count > count)
		free(openers->items[--openers->count].process.command_line);
}

void hf_lease_openers_done(struct hf_lease_openers *openers)
{
	cut_openers(openers, 0);
	hf_free_pointee(&openers->items);
	*openers = (struct hf_lease_openers)HF_LEASE_OPENERS_INIT;
}

/* 1 when all of its threads that wait for the file may. */
static int judge_waiter(struct hf_leases *leases, const struct hf_lease *lease,
			const struct hf_lease_waiter *waiter, bool is_only,
			struct hf_lease_openers *openers)
{
	struct hf_lease_opener opener = {
		.tag = lease->tag,
		.side = HF_LEASE_OUTSIDE,
		.is_certain = waiter->has_file &&
			      (is_only || waiter->file.dev == lease->file.dev),
		.uid = UINT32_MAX,
	};
	struct threads threads;
	int rc;

	if (waiter->pid == 0)
		return add_opener(openers, &opener);
	threads = look_at_threads(leases, lease, waiter->pid);
	if (waiter->has_file ? threads.approved >= waiter->count
			     : threads.unapproved == 0)
		return threads.approved > 0;
	rc = hf_lease_describe(leases->proc_fd, waiter->pid, &opener);
	if (rc < 0)
		return rc == -ESRCH ? 0 : rc;
	if (hf_lease_descends(leases->proc_fd, waiter->pid, leases->inside))
		opener.side = HF_LEASE_INSIDE;
	if (threads.all == 1)
		opener.tid = waiter->pid;
	else if (threads.unapproved == 1 ||
		 threads.unapproved + threads.approved == waiter->count)
		opener.tid = threads.first;
	rc = add_opener(openers, &opener);
	if (rc < 0)
		free(opener.process.command_line);
	return rc;
}

/* Nobody waits, and only we hold it up: take it again. */
static int note_nobody(struct hf_leases *leases, struct hf_lease *lease,
		       struct hf_lease_openers *openers)
{
	const int rc = add_opener(openers, &(struct hf_lease_opener){
						   .tag = lease->tag,
						   .side = HF_LEASE_NOBODY,
						   .is_certain = true,
						   .uid = UINT32_MAX,
					   });

	if (rc < 0)
		return rc;
	hf_mutex_lock(leases->mutex);
	hf_lease_disarm(lease, 0);
	hf_lease_arm(lease);
	hf_mutex_unlock(leases->mutex);
	return 0;
}

static int judge(struct hf_leases *leases, struct hf_lease *lease,
		 const struct hf_lease_waiters *waiters, bool is_only,
		 struct hf_lease_openers *openers)
{
	const size_t before = openers->count;
	bool is_approved = false;

	for (size_t i = 0; i < waiters->count; i++) {
		const struct hf_lease_waiter *const waiter = &waiters->items[i];
		int rc;

		if (waiter->count == 0 || !concerns(waiter, lease))
			continue;
		rc = judge_waiter(leases, lease, waiter, is_only, openers);
		if (rc < 0) {
			cut_openers(openers, before);
			return rc;
		}
		is_approved = is_approved || rc == 1;
	}
	if (openers->count > before) {
		hf_mutex_lock(leases->mutex);
		lease->state = HF_LEASE_KEPT;
		hf_mutex_unlock(leases->mutex);
		return 0;
	}
	if (!is_approved)
		return note_nobody(leases, lease, openers);
	let_through(leases, lease);
	return 0;
}

int hf_leases_judge(struct hf_leases *leases, struct hf_lease_openers *openers)
{
	cleanup_lease_waiters struct hf_lease_waiters waiters =
		HF_LEASE_WAITERS_INIT;
	cleanup_free size_t *items = NULL;
	struct batch batch = {.items = NULL};
	int rc;

	if (!leases->has_broken)
		return 0;
	rc = gather(leases, &batch);
	if (rc < 0)
		return rc;
	items = batch.items;
	let_approved(leases, &batch);
	if (batch.count > 0)
		rc = find(leases, &batch, &waiters);
	for (size_t i = 0; i < batch.count && rc == 0; i++)
		rc = judge(leases, &leases->items[batch.items[i]], &waiters,
			   batch.count == 1, openers);
	return rc;
}
