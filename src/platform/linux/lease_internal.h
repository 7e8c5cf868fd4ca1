/* SPDX-License-Identifier: MIT */
/*
 * What the files behind platform/lease.h share.  See lease.c for how they fit
 * together.
 */
#ifndef HF_PLATFORM_LINUX_LEASE_INTERNAL_H
#define HF_PLATFORM_LINUX_LEASE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/defs.h"
#include "platform/lease.h"

struct hf_directory;
struct hf_mutex;

#define HF_LEASE_NO_INDEX	SIZE_MAX

enum hf_lease_state {
	HF_LEASE_NONE,		/* cannot be had; no descriptor */
	HF_LEASE_RESTING,	/* not to be taken before hf_leases_retake_all() */
	HF_LEASE_UNARMED,	/* to be taken when nobody writes */
	HF_LEASE_ARMED,
	HF_LEASE_BROKEN,	/* told by the kernel, not judged */
	HF_LEASE_KEPT		/* judged: whoever waits goes on waiting */
};

/* Which file, whatever it is called. */
struct hf_lease_file {
	uint64_t dev;
	uint64_t ino;
};

struct hf_lease {
	char *path;
	int dir_fd;		/* borrowed */
	int fd;			/* -1: none */
	size_t tag;
	struct hf_lease_file file;
	uint32_t uid;		/* of the file */
	size_t next;		/* lease of the same bucket */
	enum hf_lease_state state;
	int why;		/* state NONE: -errno */
	bool was_held;		/* throughout, so far */
	int64_t since_ns;	/* state UNARMED: since when, and */
	int64_t due_ns;		/* when to try again */
};

/* A thread whose call was approved; kept when over, as a place for its next. */
struct hf_lease_call {
	int64_t tid;		/* 0: a free place */
	bool is_over;
	struct hf_lease_file file;
	size_t tag;
};

/* By tid, open addressing; a power of two places. */
struct hf_lease_calls {
	struct hf_lease_call *items;
	size_t size;
	size_t used;		/* places that are not free */
};

/*
 * The main thread alone changes what is in here, but for states, times and calls,
 * which the gate's thread changes as well; both under the mutex.
 */
struct hf_leases {
	struct hf_mutex *mutex;
	int proc_fd;		/* borrowed */
	int64_t inside;
	struct hf_lease *items;
	size_t count;
	size_t capacity;
	size_t *by_tag;
	size_t by_tag_size;
	size_t *by_fd;
	size_t by_fd_size;
	size_t *buckets;	/* first lease of each, by file */
	size_t bucket_count;	/* a power of two */
	int fd_bound;		/* descriptors from here on are for others */
	size_t without;		/* files that found no room */
	bool is_full;
	int wake_fd;		/* tells the main thread that */
	bool is_idle;		/* nothing was due when it last looked */
	bool has_broken;	/* leases in state BROKEN */
	struct hf_lease_calls calls;
};

static inline bool hf_lease_is_same_file(const struct hf_lease_file *a,
					 const struct hf_lease_file *b)
{
	return a->ino == b->ino && a->dev == b->dev;
}

/* -- lease.c; the caller has the mutex ----------------------------------- */

/* Give it back, whatever its state, and try again at due_ns. */
void hf_lease_disarm(struct hf_lease *lease, int64_t due_ns);
/* Take it if it is unarmed. */
void hf_lease_arm(struct hf_lease *lease);
/* Does somebody wait for it, as far as the kernel knows? */
bool hf_lease_is_breaking(const struct hf_lease *lease);
/* -- lease_table.c ------------------------------------------------------- */

/* Leases by number, found by tag, descriptor and file. */
MUST_CHECK int hf_lease_table_reserve(struct hf_leases *leases, size_t tag);
MUST_CHECK int hf_lease_table_reserve_fd(struct hf_leases *leases, int fd);
struct hf_lease *hf_lease_of_tag(const struct hf_leases *leases, size_t tag);
struct hf_lease *hf_lease_of_fd(const struct hf_leases *leases, int fd);
/* Every lease of the file that this one is of, itself included. */
typedef void hf_lease_function(struct hf_lease *lease);
void hf_lease_each_of_file(struct hf_leases *leases,
			   const struct hf_lease *lease,
			   hf_lease_function *function);
/* Enter the lease for its file and descriptor, or take it out. */
void hf_lease_link(struct hf_leases *leases, struct hf_lease *lease);
void hf_lease_unlink(struct hf_leases *leases, struct hf_lease *lease);

/* -- lease_calls.c ------------------------------------------------------- */

/* Of what the lease is of: its file, or what has its path by then. */
MUST_CHECK int hf_lease_calls_note(struct hf_lease_calls *calls, int proc_fd,
				   int64_t tid, const struct hf_lease *lease);
void hf_lease_calls_end(struct hf_lease_calls *calls, int64_t tid);
/* Is this thread approved for the lease (NULL: for any)? */
bool hf_lease_calls_has(const struct hf_lease_calls *calls, int64_t tid,
			const struct hf_lease *lease);
/* The threads approved for the lease, at most max; how many. */
size_t hf_lease_calls_of(const struct hf_lease_calls *calls,
			 const struct hf_lease *lease, int64_t *ret_tids,
			 size_t max);

/* -- lease_find.c -------------------------------------------------------- */

/* Threads of one process that wait for the lease of one file. */
struct hf_lease_waiter {
	struct hf_lease_file file;	/* as the kernel names it */
	bool is_ours;		/* the lease waited for was taken by us */
	bool has_file;		/* else it is one of all that are broken */
	int64_t pid;		/* 0: not visible from here */
	size_t count;		/* 0: a broken lease, before those who wait */
};

/* Of one machine's processes; more are not looked at. */
#define HF_LEASE_WAITERS_MAX	4096

struct hf_lease_waiters {
	struct hf_lease_waiter *items;
	size_t count;
	size_t capacity;
};

#define HF_LEASE_WAITERS_INIT { .items = NULL }
#define cleanup_lease_waiters CLEANUP(hf_lease_waiters_done)
void hf_lease_waiters_done(struct hf_lease_waiters *waiters);

/* A line of /proc/locks after the other. */
struct hf_lease_lines {
	int64_t self;
	size_t holder;		/* its place among the waiters; NO_INDEX: none */
};

MUST_CHECK int hf_lease_parse_line(struct hf_lease_lines *lines,
				   const char *line,
				   struct hf_lease_waiters *waiters);
/* Everybody who waits for any lease, by /proc/locks. */
MUST_CHECK int hf_lease_find(int proc_fd, struct hf_lease_waiters *waiters);
/* The same, where there is no such file, by what each thread sleeps in. */
MUST_CHECK int hf_lease_find_by_threads(int proc_fd,
					struct hf_lease_waiters *waiters);

enum hf_lease_thread {
	HF_LEASE_THREAD_ELSEWHERE,	/* or not there */
	HF_LEASE_THREAD_UNKNOWN,	/* runs, or may not be looked at */
	HF_LEASE_THREAD_WAITS
};

/* Of this process; of any when pid is 0. */
enum hf_lease_thread hf_lease_thread_look(int proc_fd, int64_t pid,
					  int64_t tid);
/* The threads of a process; 0 at the end. */
MUST_CHECK int hf_lease_tasks_open(int proc_fd, int64_t pid,
				   struct hf_directory **ret_tasks);
int64_t hf_lease_tasks_next(struct hf_directory *tasks);

/* -- lease_process.c ----------------------------------------------------- */

bool hf_lease_descends(int proc_fd, int64_t pid, int64_t from);
/* process, uid and namespaces of an opener; -ESRCH when it has ended. */
MUST_CHECK int hf_lease_describe(int proc_fd, int64_t pid,
				 struct hf_lease_opener *opener);

#endif /* HF_PLATFORM_LINUX_LEASE_INTERNAL_H */
