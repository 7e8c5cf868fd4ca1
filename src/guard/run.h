/* SPDX-License-Identifier: MIT */
/*
 * The state of one guarded run, shared by the files that are its phases:
 *
 *	session.c	run the job, the result
 *	run_record.c	record the tree, begin the journal
 *	run_inherited.c	descriptors that the command must not have
 *	run_arm.c	arm the watch
 *	run_gate.c	ask before calls go on; refusals into violations
 *	run_gate_set.c	what the gate protects
 *	run_lease.c	who opens a protected file for writing
 *	run_outside.c	was it a person beside the run
 *	run_beside.c	was it another run
 *	run_watch.c	turn events into violations
 *	run_note.c	violations in the list, the journal, the observer
 *	run_store.c	is the store at the end what it was, the second copy
 *	run_mend.c	make anew what the store has lost
 *	run_settle.c	end: look, compare, restore, close the journal
 *	run_verdict.c	how it ended
 *
 * Before the fork all of it is built in front; afterwards guard has its own copy
 * and front keeps the old one, to settle with if guard dies.
 */
#ifndef HF_GUARD_RUN_H
#define HF_GUARD_RUN_H

#include "base/buffer.h"
#include "core/spare.h"
#include "guard/session.h"

/* A directory, file or ancestor that is watched; the tag is its index. */
struct hf_place {
	const char *path;	/* as an entry's; borrowed or in the run's arena */
	bool is_file;		/* path itself, not what is in it */
};

/* What the store must still have at the end. */
struct hf_run_store {
	struct hf_stat manifest;
	struct hf_packs packs;
	struct hf_stat *pack_stats;	/* of each */
	struct hf_buffer first_record;	/* of the journal */
	struct hf_store lost;		/* that was removed; as long as others name it */
	struct hf_spare *spare;		/* a second copy; NULL when there is none */
	/* When it is filled, by hf_system_boot_ns(), in guard; 0: it was, or never. */
	int64_t fill_ns;
};

struct hf_run_gate;

struct hf_run {
	struct hf_session session;
	struct hf_project *project;
	const struct hf_session_options *options;
	struct hf_scan_options scan;
	struct hf_journal journal;
	struct hf_run_store store;
	/* -- the gate, in guard; NULL when there is none -- */
	struct hf_run_gate *gate;
	/* -- leases, in guard; NULL when there are none; tags are indices -- */
	struct hf_leases *leases;
	struct hf_tasks *tasks;		/* who is met there */
	struct hf_arena outsider_arena;
	int64_t lease_ns;		/* when to try again to take them; 0: never */
	int64_t beat_ns; /* when to say again that the run lives */
	/* -- the watch, in guard -- */
	struct hf_watch *watch;
	struct hf_place *places;
	size_t place_count;
	size_t place_capacity;
	struct hf_arena arena;
	/* Boot time of the first change of a burst that landed; 0: none. */
	int64_t burst_ns;
	int64_t burst_end_ns;		/* when it has come to rest */
	/* Who was alive when a burst began. */
	struct hf_processes suspects;
	/* The state that our own restore left behind, by index of the entry: an
	 * event that finds it unchanged is our own. */
	struct hf_stat *put_back;
};

/* -- run_record.c -- */

/* A failure is one before the start; the journal may be begun already. */
MUST_CHECK int hf_run_record(struct hf_run *run, struct hf_error *err);

/* -- run_inherited.c -- */

/* HF_ERR_USAGE when the command would inherit a way to write to an entry. */
MUST_CHECK int hf_run_check_inherited(const struct hf_run *run,
				      struct hf_error *err);

/* -- run_watch.c -- */

/* The next of the times that something is due. */
void hf_run_set_alarm(struct hf_run *run, struct hf_job *job);
/* Say that the run lives, when it is time. */
void hf_run_beat(struct hf_run *run);
/* hf_job_hooks.arm, .ready and .alarm. */
int hf_run_arm(void *context, struct hf_job *job, struct hf_error *err);
void hf_run_ready(void *context, struct hf_job *job);
void hf_run_alarm(void *context, struct hf_job *job);
/* Watch what a restore has made anew. */
void hf_run_watch_again(struct hf_run *run);
/* What stands at its path now, in place of what was watched there. */
void hf_run_watch_entry(struct hf_run *run, const struct hf_entry *entry);
/* Read what is still in the queue. */
void hf_run_drain(struct hf_run *run);

/* -- run_gate.c -- */

/* Once the tree was looked at again.  A gate that is not to be had is a failure
 * only where it is required. */
MUST_CHECK int hf_run_arm_gate(struct hf_run *run, struct hf_job *job,
			       struct hf_error *err);
/* Around what both threads write to; nothing without a gate. */
void hf_run_gate_lock(struct hf_run *run);
void hf_run_gate_unlock(struct hf_run *run);
/* What the gate has seen since; job is NULL at the end. */
void hf_run_take_gate(struct hf_run *run, struct hf_job *job);
/* An entry is another file now: it is protected from here on. */
void hf_run_gate_renew(struct hf_run *run, const struct hf_entry *entry,
		       const struct hf_stat *now);
/* Who had the entry open for reading and writing: of one, *ret_culprit and its
 * test; else candidates for the violation.  0, or how many there were. */
size_t hf_run_gate_openers(struct hf_run *run, const struct hf_entry *entry,
			   struct hf_violation *violation);

/* Has the command mounted something?  Then the gate has not seen all ways to a
 * file (an overlay whose upper layer is the project). */
bool hf_run_gate_has_mounts(struct hf_run *run);
/* What a call may have done to a name, when not all is known of it. */
enum hf_deed { HF_DEED_REMOVE, HF_DEED_REPLACE, HF_DEED_CREATE, HF_DEED_METADATA };
#define HF_DEEDS 4
/* From a call to our look at what it did, on a busy machine. */
#define HF_MOMENT_NS (100 * INT64_C(1000000))
/*
 * Were calls of that kind let go on within the last moment, to whatever name?
 * Then *ret_first_ns is when the first of them was, by hf_system_boot_ns():
 * after a whole moment without any.
 */
bool hf_run_gate_has_passed(struct hf_run *run, enum hf_deed deed,
			    int64_t *ret_first_ns);
/* When the command last opened the entry for reading and writing; 0: never. */
int64_t hf_run_gate_opened_ns(struct hf_run *run, const struct hf_entry *entry);

/* -- run_lease.c -- */

void hf_run_arm_leases(struct hf_run *run, struct hf_job *job);
/* hf_job_hooks.signalled. */
void hf_run_lease_signalled(void *context, struct hf_job *job, int signal,
			    int fd);
/* Something happened to the file of an entry: set of enum hf_watch_event_kind. */
void hf_run_lease_event(struct hf_run *run, const struct hf_entry *entry,
			unsigned kinds);
/* Take what can be taken again, if it is time. */
void hf_run_lease_alarm(struct hf_run *run);
/* Around what we write ourselves. */
void hf_run_release_leases(struct hf_run *run);
void hf_run_retake_leases(struct hf_run *run);
/* Into the session, before the last release. */
void hf_run_count_leases(struct hf_run *run);

/* -- run_outside.c -- */

/* Has somebody who is not of the command changed the entry (NULL: added path)? */
bool hf_run_is_outside(struct hf_run *run, const char *path,
		       const struct hf_entry *entry);
/* Another file may have the name now: guard that one. */
void hf_run_follow(struct hf_run *run, const struct hf_entry *entry);
/* Remember who it was, as far as that is known. */
void hf_run_note_outsider(struct hf_run *run, const char *path,
			  const struct hf_process *process, bool is_person);

/* -- run_beside.c -- */

/* Has the command of another session, that lives or lived beside this one,
 * changed this path? */
bool hf_run_is_of_another(const struct hf_run *run, const char *path,
			  struct hf_name *ret_session);
/* Is there what landed and turns out to be another's?  True when there is, and
 * nothing else that landed. */
bool hf_run_disown(struct hf_run *run);
/* What others have changed, and is as it was after the last look, is no
 * violation of ours. */
void hf_run_forget_beside(struct hf_run *run);

/* -- run_gate_set.c -- */

struct hf_decide_set;
MUST_CHECK int hf_run_fill_set(const struct hf_run *run,
			       struct hf_decide_set *set,
			       struct hf_error *err);

/* -- run_store.c -- */

/* Remember which files of the store the session needs. */
MUST_CHECK int hf_run_mark_store(struct hf_run *run, struct hf_error *err);
/* HF_ERR_CORRUPT when one of them is gone, or is not what it was. */
MUST_CHECK int hf_run_check_store(const struct hf_run *run,
				  struct hf_error *err);
void hf_run_store_done(struct hf_run_store *mark);
/* Write packs that were removed anew, from what is held of them. */
void hf_run_mend_packs(struct hf_run *run);
/* Is the store where it was; is that of this run whole in it? */
bool hf_run_has_store(const struct hf_run *run);
bool hf_run_has_folder(const struct hf_store *store,
		       enum hf_store_folder folder);
bool hf_run_has_manifest(const struct hf_run *run);
bool hf_run_has_journal(const struct hf_run *run);
/* The command runs: hold a second copy of what it may damage, once it is time. */
void hf_run_fill_spare(struct hf_run *run);

/* -- run_mend.c -- */

/*
 * Under the store's lock or where there is none any more: make anew what this run
 * needs of a store that was removed in whole or in part, so that what is replaced
 * can be kept and the next command finds the recorded state.
 */
MUST_CHECK int hf_run_mend_store(struct hf_run *run, struct hf_error *err);

/* -- run_settle.c -- */

/* hf_job_hooks.settle: the exit status that is ours, or 0. */
int hf_run_settle(void *context, const struct hf_job_end *end);
/*
 * Look and restore while the command goes on (keep-going).  Failures stay for the
 * end to find again.
 */
void hf_run_restore_now(struct hf_run *run);

/* -- run_verdict.c -- */

/* How the command and what it started ended. */
void hf_run_take_end(struct hf_run *run, const struct hf_job_end *end);
/* Is there something that could not be put back? */
bool hf_run_has_stuck(const struct hf_run *run);
/* The session's status and exit status, from all that is known. */
void hf_run_decide(struct hf_run *run);
void hf_run_close_journal(struct hf_run *run);

/* -- run_note.c -- */

/* The same for either thread: nothing but the journal is touched. */
MUST_CHECK int hf_run_write_journal(struct hf_run *run,
				    const struct hf_violation *violation,
				    struct hf_error *err);
/* Append what is known of a violation to the journal. */
void hf_run_journal(struct hf_run *run, const struct hf_violation *violation);
/* Take over from the journal what guard saw before it died. */
void hf_run_adopt(struct hf_run *run);

/*
 * Note that operation happened to path, in the list and in the journal, and tell
 * the observer.  before is NULL for an addition.
 */
struct hf_violation *hf_run_note(struct hf_run *run, const char *path,
				 const char *rule, const char *operation,
				 const struct hf_entry *before);
/* The same of what a person did beside the run. */
struct hf_violation *hf_run_note_outside(struct hf_run *run, const char *path,
					 const char *rule,
					 const char *operation,
					 const struct hf_entry *before);
/* The same of an attempt that the gate refused. */
struct hf_violation *hf_run_note_attempt(struct hf_run *run,
					 const struct hf_attempt *attempt,
					 uint64_t count);
/* The policy lets the command change this entry. */
static inline bool hf_run_is_allowed(const struct hf_delta *delta)
{
	return hf_delta_entry(delta)->role == HF_ROLE_ALLOWED;
}
/* Remember the first thing that went wrong. */
void hf_run_fail(struct hf_run *run, const struct hf_error *err);

#endif /* HF_GUARD_RUN_H */
