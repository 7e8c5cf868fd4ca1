/* SPDX-License-Identifier: MIT */
/*
 * The lease seam: whoever opens a protected file for writing, or truncates it
 * by its name, waits in the kernel until we have seen who it is.
 *
 * Calling sequence, in guard with all signals blocked, the command forked and
 * held:
 *
 *	hf_leases_new(proc_fd, pid of guard, &leases)
 *	hf_leases_add(leases, root_fd, path, tag)	each protected file
 *
 * In the loop of the main thread:
 *
 *	signal hf_leases_signal_number(): hf_leases_signal(leases, si_fd)
 *	any other signal of leases (SIGIO): hf_leases_signals_lost(leases)
 *	when the signals that had come are read (fd -1 of hf_job_hooks.signalled):
 *		hf_leases_judge(leases, &openers), and for each of the openers
 *		HF_LEASE_INSIDE: end the tree; the file stays as it is until
 *			hf_leases_release_all()
 *		HF_LEASE_OUTSIDE: note it, hf_leases_release(leases, tag), unless
 *			the same tag has one from inside as well
 *		HF_LEASE_NOBODY: nothing to do
 *	a descriptor open for writing was closed: hf_leases_retake(leases, tag)
 *	another file took the name (moved to, created): hf_leases_renew(leases, tag)
 *	set the alarm to what hf_leases_due() returns; call it again then, and
 *		when hf_leases_fd() is readable
 *
 * In the gate's thread, for each notification, before it is answered:
 *
 *	let through, and it opens a leased file for writing or truncates it:
 *		hf_leases_approve(leases, tag, tid)
 *	all else, refused or not: hf_leases_forget(leases, tid)
 *
 * Before guard itself writes a protected file (a restore):
 *
 *	hf_leases_release_all(leases)
 *	hf_leases_retake_all(leases)		if the run goes on
 *
 * The first three groups of functions are for the main thread alone;
 * hf_leases_approve() and hf_leases_forget() for any one other thread.  Nothing
 * here waits for a process; hf_leases_judge() takes 5 to 15 ms when it has somebody
 * to name (50 with 16,384 leases), far less for the approved.  While leases are
 * held their file systems cannot be unmounted.
 *
 * A lease misses an open for reading that truncates, and every change of a name
 * or of metadata.  Functions return >= 0 or -errno.
 */
#ifndef HF_PLATFORM_LEASE_H
#define HF_PLATFORM_LEASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/defs.h"
#include "platform/job.h"

struct hf_leases;
#define cleanup_leases	CLEANUP(hf_leases_free)

/* More files than this are not leased: each costs a descriptor and 6 us. */
#define HF_LEASES_MAX	16384

/*
 * proc_fd: /proc, borrowed.  What descends from the process inside is "inside".
 * Raises the limit of open descriptors as far as this process may.
 */
MUST_CHECK int hf_leases_new(int proc_fd, int64_t inside,
			     struct hf_leases **ret_leases);
/* Gives all of them back. */
void hf_leases_free(struct hf_leases **leases);

/*
 * A file: dir_fd is borrowed as long as leases lives, path is plain (absolute:
 * dir_fd is not used).  Tags are small numbers, one a path.  1 when the lease is
 * held; 0 when somebody has the file open for writing now: it is taken when that
 * is over.  -errno when there will be none: -EMFILE beyond what fits, -EACCES for
 * another user's file, -EINVAL, -EOPNOTSUPP by kind and file system.  All of them
 * count as wanted.
 */
MUST_CHECK int hf_leases_add(struct hf_leases *leases, int dir_fd,
			     const char *path, size_t tag);

/* -- what the kernel tells ----------------------------------------------- */

int hf_leases_signal_number(void);
/* This signal has come with this descriptor (si_fd, ssi_fd). */
void hf_leases_signal(struct hf_leases *leases, int fd);
/* SIGIO has come: the queue of signals was full.  Looks at all leases. */
void hf_leases_signals_lost(struct hf_leases *leases);

enum hf_lease_side {
	/* Opened without waiting and got an error, or gave up.  The lease is
	 * released, and retaken where that works. */
	HF_LEASE_NOBODY,
	HF_LEASE_INSIDE,	/* and not approved; it waits */
	HF_LEASE_OUTSIDE	/* it waits */
};

struct hf_lease_opener {
	size_t tag;
	enum hf_lease_side side;
	/* Is this the file it waits for?  Otherwise one of several. */
	bool is_certain;
	/* pid 0: nobody that can be seen from here (outside), or nobody. */
	struct hf_process process;
	int64_t tid;		/* 0: one of its threads */
	uint32_t uid;		/* effective; UINT32_MAX when unknown */
	/* Known to live in our pid and mount namespaces. */
	bool is_in_namespaces;
};

struct hf_lease_openers {
	struct hf_lease_opener *items;
	size_t count;
	size_t capacity;
};

#define HF_LEASE_OPENERS_INIT { .items = NULL }
#define cleanup_lease_openers CLEANUP(hf_lease_openers_done)
void hf_lease_openers_done(struct hf_lease_openers *openers);

/*
 * Who waits for the leases that were broken since.  The approved are let through
 * and not told; the files of all others are kept until hf_leases_release().
 * Appends to *openers.  -ENOMEM loses nothing: call again.
 */
MUST_CHECK int hf_leases_judge(struct hf_leases *leases,
			       struct hf_lease_openers *openers);

/* -- giving back and taking again ---------------------------------------- */

/* Let whoever waits for the file through; retaken when it is closed. */
void hf_leases_release(struct hf_leases *leases, size_t tag);
/* Try now. */
void hf_leases_retake(struct hf_leases *leases, size_t tag);
/* The same, of the file that has the path now. */
void hf_leases_renew(struct hf_leases *leases, size_t tag);
/* Try what is due; when to come again (hf_system_boot_ns()), 0 for never. */
int64_t hf_leases_due(struct hf_leases *leases);
/* Readable when the gate's thread has given one back and hf_leases_due() had said
 * never: an approved open that fails is followed by no close. */
int hf_leases_fd(const struct hf_leases *leases);
/* All, until hf_leases_retake_all(), which renews them. */
void hf_leases_release_all(struct hf_leases *leases);
void hf_leases_retake_all(struct hf_leases *leases);

/* -- for the gate's thread ----------------------------------------------- */

/*
 * The call that this thread waits in will open the file of tag (any of them, if it
 * has several names) and may: the lease is given back, and should the call meet a
 * retaken one, it is let through (one that asks not to wait gets EAGAIN then).
 * -ENOMEM: nothing was done, the call must fail.
 * Where the lease is being broken by another it stays: the caller's call waits
 * until hf_leases_judge() has looked.
 */
MUST_CHECK int hf_leases_approve(struct hf_leases *leases, size_t tag,
				 int64_t tid);
/* What this thread does now is another call. */
void hf_leases_forget(struct hf_leases *leases, int64_t tid);

/* -- what held ----------------------------------------------------------- */

struct hf_lease_counts {
	size_t wanted;
	size_t held;		/* now */
	size_t held_throughout;
	size_t no_room;		/* beyond what fits */
	size_t not_ours;	/* another user's files */
};

void hf_leases_count(struct hf_leases *leases,
		     struct hf_lease_counts *ret_counts);
/*
 * Was the lease of tag there all the time, except for approved opens (and our own
 * writing) that were over within a second?
 */
bool hf_leases_was_held(struct hf_leases *leases, size_t tag);

#endif /* HF_PLATFORM_LEASE_H */
