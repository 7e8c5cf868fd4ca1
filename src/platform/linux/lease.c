/* SPDX-License-Identifier: MIT */
/*
 * Read leases (fcntl(2), F_SETLEASE) on protected files.
 *
 * A lease is granted while nobody has the file open for writing.  Whoever then
 * opens it for writing or truncates it by path makes the kernel send us a
 * signal with our descriptor and sleeps until we give the lease back; after
 * /proc/sys/fs/lease-break-time the kernel takes it away.  An opener counts as
 * a writer before it sleeps, so a lease cannot be retaken past one that waits.
 *
 *	lease.c		take, give back, take again
 *	lease_table.c	found by tag, descriptor and file
 *	lease_calls.c	the opens that the gate let through
 *	lease_find.c	which processes wait
 *	lease_process.c	who a process is
 *	lease_judge.c	what to do about one that waits
 *
 * The mutex is held for calls that do not sleep: the gate's thread needs it
 * while a process is frozen.  So files are opened, and processes looked at,
 * without it.
 */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/path.h"
#include "platform/file.h"
#include "platform/linux/file_internal.h"
#include "platform/linux/lease_internal.h"
#include "platform/system.h"

#define NS_PER_MS ((int64_t)1000 * 1000)
#define RETRY_NS  (100 * NS_PER_MS)
/* A lease that is back within this time was there throughout. */
#define GAP_NS	  (1000 * NS_PER_MS)

/* Descriptors for all other work, or a quarter where there are few. */
#define RESERVE 128u

/* -- one lease ----------------------------------------------------------- */

int hf_leases_signal_number(void)
{
	return SIGRTMIN + 1;
}

static bool is_held(const struct hf_lease *lease)
{
	return lease->state == HF_LEASE_ARMED ||
	       lease->state == HF_LEASE_BROKEN || lease->state == HF_LEASE_KEPT;
}

/*
 * A lease is for the file's owner; root in a container may lack CAP_LEASE, but
 * can be the owner for a moment, this thread alone.  The kernel makes a process
 * that changes so undumpable.
 */
static int take_as_owner(const struct hf_lease *lease)
{
	const int dumpable = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
	const int before = setfsuid(lease->uid);
	const int rc = HF_CALL(fcntl(lease->fd, F_SETLEASE, F_RDLCK));

	(void)setfsuid((uid_t)before);
	if (dumpable == 1)
		(void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	return rc;
}

static int take(const struct hf_lease *lease)
{
	int rc;

	/* One that was given back has forgotten its signal and whose it is. */
	rc = HF_CALL(fcntl(lease->fd, F_SETSIG, hf_leases_signal_number()));
	if (rc == 0)
		rc = HF_CALL(fcntl(lease->fd, F_SETOWN, getpid()));
	if (rc == 0)
		rc = HF_CALL(fcntl(lease->fd, F_SETLEASE, F_RDLCK));
	if (rc == -EACCES && geteuid() == 0)
		rc = take_as_owner(lease);
	return rc;
}

static bool is_gap_over(const struct hf_lease *lease)
{
	return hf_system_boot_ns() - lease->since_ns > GAP_NS;
}

void hf_lease_arm(struct hf_lease *lease)
{
	if (lease->state != HF_LEASE_UNARMED)
		return;
	lease->why = take(lease);
	if (lease->why == 0) {
		lease->state = HF_LEASE_ARMED;
		if (is_gap_over(lease))
			lease->was_held = false;
	} else if (lease->why == -EAGAIN) {
		lease->due_ns = hf_system_boot_ns() + RETRY_NS;
	} else {
		lease->state = HF_LEASE_NONE;
		lease->was_held = false;
	}
}

/* False when the kernel had taken it away already. */
static bool give_back(const struct hf_lease *lease)
{
	return HF_CALL(fcntl(lease->fd, F_SETLEASE, F_UNLCK)) == 0;
}

void hf_lease_disarm(struct hf_lease *lease, int64_t due_ns)
{
	if (is_held(lease)) {
		if (!give_back(lease))
			lease->was_held = false;
		lease->state = HF_LEASE_UNARMED;
		lease->since_ns = hf_system_boot_ns();
	}
	lease->due_ns = due_ns;
}

bool hf_lease_is_breaking(const struct hf_lease *lease)
{
	return HF_CALL(fcntl(lease->fd, F_GETLEASE)) != F_RDLCK;
}

/* -- all of them --------------------------------------------------------- */

/* In this process alone: the command was forked before. */
static int raise_limit(void)
{
	struct rlimit limit;
	rlim_t bound;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -errno;
	if (limit.rlim_cur < limit.rlim_max) {
		struct rlimit raised = limit;

		raised.rlim_cur = raised.rlim_max;
		if (setrlimit(RLIMIT_NOFILE, &raised) == 0)
			limit = raised;
	}
	bound = limit.rlim_cur < INT_MAX ? limit.rlim_cur : INT_MAX;
	return (int)(bound - (bound / 4 < RESERVE ? bound / 4 : RESERVE));
}

int hf_leases_new(int proc_fd, int64_t inside, struct hf_leases **ret_leases)
{
	cleanup_leases struct hf_leases *leases = calloc(1, sizeof(*leases));
	int rc;

	if (!leases)
		return -ENOMEM;
	leases->proc_fd = proc_fd;
	leases->wake_fd = -1;
	leases->is_idle = true;
	leases->inside = inside;
	rc = hf_mutex_new(&leases->mutex);
	if (rc < 0)
		return rc;
	leases->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (leases->wake_fd < 0)
		return -errno;
	leases->fd_bound = raise_limit();
	if (leases->fd_bound < 0)
		return leases->fd_bound;
	*ret_leases = take_ptr(&leases);
	return 0;
}

void hf_leases_free(struct hf_leases **leases)
{
	if (!*leases)
		return;
	for (size_t i = 0; i < (*leases)->count; i++) {
		hf_file_close_quietly(&(*leases)->items[i].fd);
		hf_free_pointee(&(*leases)->items[i].path);
	}
	hf_file_close_quietly(&(*leases)->wake_fd);
	hf_mutex_free(&(*leases)->mutex);
	hf_free_pointee(&(*leases)->items);
	hf_free_pointee(&(*leases)->by_tag);
	hf_free_pointee(&(*leases)->by_fd);
	hf_free_pointee(&(*leases)->buckets);
	hf_free_pointee(&(*leases)->calls.items);
	hf_free_pointee(leases);
}

static int open_file(const struct hf_lease *lease)
{
	const size_t len = hf_path_parent_len(lease->path);
	cleanup_free char *parent = NULL;
	cleanup_fd int parent_fd = -1;

	if (len == 0 || hf_path_is_absolute(lease->path))
		return hf_file_open_read_at(lease->dir_fd, lease->path);
	parent = strndup(lease->path, len);
	if (!parent)
		return -ENOMEM;
	parent_fd = hf_file_open_beneath(lease->dir_fd, parent);
	if (parent_fd < 0)
		return parent_fd;
	return hf_file_open_read_at(parent_fd, hf_path_name(lease->path));
}

/* What the lease is of, from now on: fd (which is taken), or nothing (-1). */
static int adopt(struct hf_leases *leases, struct hf_lease *lease, int *fd,
		 const struct hf_stat *stat)
{
	cleanup_fd int before = -1;
	int rc = 0;

	hf_mutex_lock(leases->mutex);
	if (*fd >= 0)
		rc = hf_lease_table_reserve_fd(leases, *fd);
	if (rc == 0) {
		/* Another file has been under this name without a lease. */
		if (is_held(lease))
			lease->was_held = false;
		hf_lease_unlink(leases, lease);
		before = lease->fd;
		lease->fd = take_fd(fd);
		lease->state = HF_LEASE_NONE;
	}
	if (rc == 0 && lease->fd >= 0) {
		lease->file = (struct hf_lease_file){.dev = stat->dev,
						     .ino = stat->ino};
		lease->uid = stat->uid;
		hf_lease_link(leases, lease);
		lease->state = HF_LEASE_UNARMED;
	}
	hf_mutex_unlock(leases->mutex);
	return rc;
}

/* Make the lease one of the file that has the path now. */
static int follow(struct hf_leases *leases, struct hf_lease *lease)
{
	cleanup_fd int fd = -1;
	struct hf_stat stat;
	int rc;

	fd = open_file(lease);
	rc = fd < 0 ? fd : hf_file_stat(fd, &stat);
	if (rc >= 0 && stat.kind != HF_KIND_FILE)
		rc = -EINVAL;
	if (rc >= 0 && lease->fd < 0 && fd >= leases->fd_bound) {
		leases->is_full = true;
		rc = -EMFILE;
	}
	if (rc < 0) {
		hf_file_close_quietly(&fd);
		(void)adopt(leases, lease, &fd, NULL);
		return rc;
	}
	if (lease->fd >= 0 && stat.dev == lease->file.dev &&
	    stat.ino == lease->file.ino)
		return 0;
	return adopt(leases, lease, &fd, &stat);
}

static int renew(struct hf_leases *leases, struct hf_lease *lease)
{
	int rc = follow(leases, lease);

	hf_mutex_lock(leases->mutex);
	if (rc < 0) {
		lease->why = rc;
		lease->was_held = false;
	} else {
		/* What forbade it may have changed. */
		if (lease->state == HF_LEASE_NONE)
			lease->state = HF_LEASE_UNARMED;
		hf_lease_arm(lease);
		rc = lease->state == HF_LEASE_NONE ? lease->why
						   : is_held(lease);
	}
	hf_mutex_unlock(leases->mutex);
	return rc;
}

int hf_leases_add(struct hf_leases *leases, int dir_fd, const char *path,
		  size_t tag)
{
	struct hf_lease *lease;
	char *copy;
	int rc;

	if (leases->is_full || leases->count == HF_LEASES_MAX) {
		leases->without++;
		return -EMFILE;
	}
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	hf_mutex_lock(leases->mutex);
	rc = hf_lease_table_reserve(leases, tag);
	if (rc < 0) {
		hf_mutex_unlock(leases->mutex);
		free(copy);
		return rc;
	}
	leases->by_tag[tag] = leases->count;
	lease = &leases->items[leases->count++];
	*lease = (struct hf_lease){
		.path = copy,
		.dir_fd = dir_fd,
		.fd = -1,
		.tag = tag,
		.since_ns = hf_system_boot_ns(),
	};
	hf_mutex_unlock(leases->mutex);

	rc = renew(leases, lease);
	hf_mutex_lock(leases->mutex);
	lease->was_held = rc == 1;
	hf_mutex_unlock(leases->mutex);
	return rc;
}

/* -- giving back and taking again ---------------------------------------- */

static void each_of_tag(struct hf_leases *leases, size_t tag,
			hf_lease_function *function)
{
	const struct hf_lease *lease;

	hf_mutex_lock(leases->mutex);
	lease = hf_lease_of_tag(leases, tag);
	if (lease && lease->fd >= 0)
		hf_lease_each_of_file(leases, lease, function);
	hf_mutex_unlock(leases->mutex);
}

static void release(struct hf_lease *lease)
{
	/* Somebody goes through whom the gate has not approved. */
	if (lease->state == HF_LEASE_BROKEN || lease->state == HF_LEASE_KEPT)
		lease->was_held = false;
	hf_lease_disarm(lease, hf_system_boot_ns() + RETRY_NS);
}

void hf_leases_release(struct hf_leases *leases, size_t tag)
{
	each_of_tag(leases, tag, release);
}

void hf_leases_retake(struct hf_leases *leases, size_t tag)
{
	each_of_tag(leases, tag, hf_lease_arm);
}

void hf_leases_renew(struct hf_leases *leases, size_t tag)
{
	struct hf_lease *const lease = hf_lease_of_tag(leases, tag);

	if (lease && (lease->fd >= 0 || lease->why != -EMFILE))
		(void)renew(leases, lease);
}

int hf_leases_fd(const struct hf_leases *leases)
{
	return leases->wake_fd;
}

int64_t hf_leases_due(struct hf_leases *leases)
{
	const int64_t now = hf_system_boot_ns();
	int64_t next = 0;
	uint64_t woken;

	hf_mutex_lock(leases->mutex);
	(void)!read(leases->wake_fd, &woken, sizeof(woken));
	for (size_t i = 0; i < leases->count; i++) {
		struct hf_lease *const lease = &leases->items[i];

		if (lease->state != HF_LEASE_UNARMED)
			continue;
		if (lease->due_ns <= now)
			hf_lease_arm(lease);
		if (lease->state == HF_LEASE_UNARMED &&
		    (next == 0 || lease->due_ns < next))
			next = lease->due_ns;
	}
	leases->is_idle = next == 0;
	hf_mutex_unlock(leases->mutex);
	return next;
}

void hf_leases_release_all(struct hf_leases *leases)
{
	hf_mutex_lock(leases->mutex);
	for (size_t i = 0; i < leases->count; i++) {
		struct hf_lease *const lease = &leases->items[i];

		if (is_held(lease))
			release(lease);
		if (lease->state != HF_LEASE_UNARMED)
			continue;
		if (is_gap_over(lease))
			lease->was_held = false;
		lease->state = HF_LEASE_RESTING;
	}
	hf_mutex_unlock(leases->mutex);
}

void hf_leases_retake_all(struct hf_leases *leases)
{
	hf_mutex_lock(leases->mutex);
	for (size_t i = 0; i < leases->count; i++)
		if (leases->items[i].state == HF_LEASE_RESTING)
			leases->items[i].state = HF_LEASE_UNARMED;
	hf_mutex_unlock(leases->mutex);
	for (size_t i = 0; i < leases->count; i++)
		hf_leases_renew(leases, leases->items[i].tag);
}

/* -- what held ----------------------------------------------------------- */

static bool was_held(const struct hf_lease *lease)
{
	return lease->was_held &&
	       (lease->state != HF_LEASE_UNARMED || !is_gap_over(lease));
}

void hf_leases_count(struct hf_leases *leases,
		     struct hf_lease_counts *ret_counts)
{
	struct hf_lease_counts counts = {
		.wanted = leases->count + leases->without,
		.no_room = leases->without,
	};

	hf_mutex_lock(leases->mutex);
	for (size_t i = 0; i < leases->count; i++) {
		const struct hf_lease *const lease = &leases->items[i];
		const bool has_none = lease->state == HF_LEASE_NONE;

		counts.held += is_held(lease);
		counts.held_throughout += was_held(lease);
		counts.no_room += has_none && lease->why == -EMFILE;
		counts.not_ours += has_none && lease->why == -EACCES;
	}
	hf_mutex_unlock(leases->mutex);
	*ret_counts = counts;
}

bool hf_leases_was_held(struct hf_leases *leases, size_t tag)
{
	const struct hf_lease *lease;
	bool was;

	hf_mutex_lock(leases->mutex);
	lease = hf_lease_of_tag(leases, tag);
	was = lease && was_held(lease);
	hf_mutex_unlock(leases->mutex);
	return was;
}
