/* SPDX-License-Identifier: MIT */
/*
 * Violations: what happened to protected entries, grouped.
 *
 * Repeats of one operation on one path by one process in one test are one
 * violation with a count.
 */
#ifndef HF_GUARD_VIOLATION_H
#define HF_GUARD_VIOLATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "core/entry.h"
#include "platform/job.h"

struct hf_error;
struct hf_buffer;

/* Who did it, as far as it could be looked at; strings are "" when unknown. */
struct hf_culprit {
	struct hf_process process;
	int64_t tid;
	uint64_t start;		/* of the thread, in ticks since boot */
	const char *exe;
	const char *cwd;
	bool is_inside;		/* started by the command */
	struct hf_process *parents;	/* nearest first */
	size_t parent_count;
};

struct hf_violation {
	const char *path;
	const char *rule;
	/* The system call that was refused; else what was seen: "write",
	 * "remove", "rename", ... */
	const char *operation;
	const char *detail;	/* its arguments: "O_WRONLY|O_CREAT"; "" when none */
	unsigned change;	/* set of enum hf_change; 0: undone meanwhile */
	/* False: the gate refused it, nothing was touched. */
	bool has_landed;
	bool is_restored;
	/* Differed when it was last looked at, and nothing was done since. */
	bool is_open;
	bool is_stuck;		/* could not be put back */
	const char *kept;	/* relative to the store, the last; NULL for none */
	size_t kept_count;	/* how often something was kept (keep-going) */
	const char *error;	/* why it is stuck; NULL */
	struct hf_entry before;	/* strings live as long as the list */
	struct hf_entry after;
	bool has_after;
	uint64_t count;
	int64_t time_ns;	/* of the first */
	int64_t burst_ns;	/* the burst of events that was counted last */
	/* Certain; NULL when it is not. */
	const struct hf_culprit *culprit;
	/* "tests/test_x.py::test_y (call)"; NULL when unknown. */
	const char *test;
	bool is_test_exact;	/* false: the process has run on since */
	/* Done by a person beside the run, and left as it is. */
	bool is_outside;
	/* Who might have done it: processes of the command that were alive. */
	struct hf_process *candidates;
	size_t candidate_count;
	struct hf_violation *next; /* of the same path and table */
};

/* The first violation of each path, by hash. */
struct hf_violation_table {
	struct hf_violation **slots;
	size_t size; /* a power of two, or 0 */
	size_t path_count;
};

struct hf_violations {
	struct hf_violation **items;	/* pointers stay valid */
	size_t count;
	size_t capacity;
	struct hf_violation_table landed;
	struct hf_violation_table refused;
	struct hf_arena arena;
};

#define HF_VIOLATIONS_INIT { .items = NULL }
#define cleanup_violations CLEANUP(hf_violations_done)

/*
 * The change of (path, operation) that landed, made when it is not there;
 * before may be NULL (an addition).  NULL when out of memory.  Counts and is
 * otherwise left to the caller.
 */
struct hf_violation *hf_violations_note(struct hf_violations *violations,
					const char *path, const char *rule,
					const char *operation,
					const struct hf_entry *before,
					int64_t time_ns);

/* The same of what a person did, whatever it was: one for each path. */
struct hf_violation *
hf_violations_note_outside(struct hf_violations *violations, const char *path,
			   const char *rule, const char *operation,
			   const struct hf_entry *before, int64_t time_ns);

/* An attempt that was refused; strings are copied, culprit is borrowed. */
struct hf_attempt {
	const char *path;
	const char *rule;
	const char *operation;
	const char *detail;
	const struct hf_entry *before; /* NULL for an addition */
	const struct hf_culprit *culprit;
	const char *test; /* NULL when unknown */
	bool is_test_exact;
	int64_t time_ns;
};

/* The violation of the same operation on the same path by the same process in
 * the same test, made when it is not there.  NULL when out of memory. */
struct hf_violation *hf_violations_note_attempt(
	struct hf_violations *violations, const struct hf_attempt *attempt);

/* Any change of this path that landed; NULL when there is none. */
struct hf_violation *hf_violations_find(const struct hf_violations *violations,
					const char *path);
/* Any attempt on this path that was refused; NULL when there is none.  The others
 * follow as next. */
struct hf_violation *
hf_violations_find_attempt(const struct hf_violations *violations,
			   const char *path);
/* How many different paths were changed. */
size_t hf_violations_paths(const struct hf_violations *violations);

/* Copy an entry so that it lives as long as the list; 0 or -ENOMEM. */
MUST_CHECK int hf_violations_copy_entry(struct hf_violations *violations,
					struct hf_entry *to,
					const struct hf_entry *from);
/* Copy processes as the candidates of a violation; 0 or -ENOMEM. */
MUST_CHECK int hf_violations_set_candidates(struct hf_violations *violations,
					    struct hf_violation *violation,
					    const struct hf_processes *from);
void hf_violations_done(struct hf_violations *violations);

#endif /* HF_GUARD_VIOLATION_H */
