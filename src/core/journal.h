/* SPDX-License-Identifier: MIT */
/*
 * The journal of a session: what holdfast is about to do and what it saw, so
 * that the next command can finish what a dead one began.
 *
 * JSON, one record a line, appended with one write each; every line ends with a
 * "sum" over what stands before it.  A torn last line is ignored; any other
 * damage is HF_ERR_CORRUPT.  The file is sessions/NAME.open, flock'ed (shared)
 * by the processes of the session while one of them lives, and becomes
 *NAME.done when it has ended.
 *
 *	open	kind, snapshot, command, root, pid, boot, times
 *	violation	as in the report
 *	kept	an entry about to be replaced or removed, and where its bytes
 *are accepted	an entry that a person keeps as it is, of a session that died
 *	end	outcome, exit status, counts
 *
 * While a run lives its journal is written or touched every HF_JOURNAL_BEAT_NS:
 *its modification time says until when somebody watched.
 */
#ifndef HF_CORE_JOURNAL_H
#define HF_CORE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/json.h"
#include "core/store.h"
#include "core/tree.h"

struct hf_buffer;
struct hf_error;

/* How often a run says that it lives. */
#define HF_JOURNAL_BEAT_NS ((int64_t)2 * 1000 * 1000 * 1000)

struct hf_journal {
	int fd;			/* -1 when not open */
	const struct hf_store *store;
	struct hf_name name;
	bool has_durable_name;	/* synced by this process */
};

#define HF_JOURNAL_INIT	{ .fd = -1 }
#define cleanup_journal	CLEANUP(hf_journal_close)

/*
 * The names of all journals, old to new: read once under the lock, they serve a
 * start to its end, since nobody adds any meanwhile, and one that ends is found
 * by its other suffix.
 */
struct hf_journal_names {
	struct hf_names open;
	struct hf_names done;
};

#define HF_JOURNAL_NAMES_INIT         \
	{                             \
		.open = HF_NAMES_INIT \
	}
#define cleanup_journal_names CLEANUP(hf_journal_names_done)
void hf_journal_names_done(struct hf_journal_names *names);
/* *ret_names is for hf_journal_names_done(), also after a failure. */
MUST_CHECK int hf_journal_names(const struct hf_store *store,
				struct hf_journal_names *ret_names,
				struct hf_error *err);

/* What the first record says. */
struct hf_journal_open_record {
	const char *kind;	/* "run", "restore", "undo" */
	const char *snapshot;	/* name, "" when none */
	const char *const *argv;	/* the command; NULL for none */
	uint64_t pid;		/* of the process that owns the session */
	uint64_t pid_start;	/* its start, as the system counts */
	/* The sessions there are, listed under this lock; NULL: to be listed.
	 */
	const struct hf_journal_names *names;
};

/*
 * A new session (under the store's lock).  Written, not yet synced:
 * hf_journal_sync() may run while the command starts.
 */
MUST_CHECK int hf_journal_begin(struct hf_journal *journal,
				const struct hf_store *store,
				const struct hf_journal_open_record *record,
				struct hf_error *err);
/* Content and name of the journal are on the disk. */
MUST_CHECK int hf_journal_sync(struct hf_journal *journal,
			       struct hf_error *err);
/* Append {"record":KIND,MEMBERS,"sum":...}; members is JSON without braces. */
MUST_CHECK int hf_journal_add(struct hf_journal *journal, const char *kind,
			      const char *members, struct hf_error *err);
/* The run lives: the file's modification time is now. */
void hf_journal_beat(const struct hf_journal *journal);
/*
 * "kept": before any byte of entry is replaced.  kept_path is relative to the
 * store, "" when there was nothing to keep; put is what will stand there instead
 * (kind absent for a removal).  Synced before it returns.  With both absent it
 * takes the newest record of that path back: nothing was replaced after all.
 */
MUST_CHECK int hf_journal_add_kept(struct hf_journal *journal,
				   const struct hf_entry *replaced,
				   const char *kept_path,
				   const struct hf_entry *put,
				   struct hf_error *err);

enum hf_outcome {
	HF_OUTCOME_CLEAN,
	HF_OUTCOME_VIOLATED,
	HF_OUTCOME_UNRESTORED,
	HF_OUTCOME_ERROR,
	HF_OUTCOME_DONE		/* a restore or undo that went through */
};
const char *hf_outcome_name(enum hf_outcome outcome);

/*
 * The last record, then NAME.open becomes NAME.done.  An unrestored session stays
 * open: the next command must see it.
 */
MUST_CHECK int hf_journal_end(struct hf_journal *journal,
			      enum hf_outcome outcome, int status,
			      size_t violations, struct hf_error *err);
void hf_journal_close(struct hf_journal *journal);

/* -- reading -------------------------------------------------------------- */

struct hf_kept_record {
	struct hf_entry *replaced;	/* in hf_session.tree; kind absent: nothing was there */
	struct hf_entry *put;
	const char *kept_path;		/* "" when none */
};

/* A session as its journal tells it. */
struct hf_session_record {
	struct hf_name name;
	char *kind;
	char *snapshot;
	char **argv;		/* NULL-terminated; empty for none */
	uint64_t pid;
	uint64_t pid_start;
	char boot_id[40];
	int64_t begun_ns;	/* wall clock */
	int64_t begun_boot_ns;
	bool has_ended;
	enum hf_outcome outcome;
	int status;
	uint64_t violations;
	int64_t ended_ns;
	/* The violation records as JSON objects, a line each. */
	char *violation_lines;
	struct hf_kept_record *kept;
	size_t kept_count;
	/* What a person keeps as it is, of a session that died. */
	struct hf_entry **accepted;
	size_t accepted_count;
	/* When its run last said that it lived, by the clock of the store's
	 * files; 0 where that is not known: the record was decoded, not read.
	 */
	int64_t alive_ns;
	struct hf_arena arena;
};

#define HF_SESSION_RECORD_INIT	{ .kind = NULL }
#define cleanup_session_record	CLEANUP(hf_session_record_done)

/* Pure: from the bytes of a journal. */
MUST_CHECK int hf_journal_decode(const char *label, const char *data,
				 size_t len, struct hf_session_record *ret,
				 struct hf_error *err);
/* From the store, .open or .done. */
MUST_CHECK int hf_journal_read(const struct hf_store *store,
			       const struct hf_name *name,
			       struct hf_session_record *ret,
			       struct hf_error *err);
/* What the first record says alone, however much follows. */
MUST_CHECK int hf_journal_read_first(const struct hf_store *store,
				     const struct hf_name *name,
				     struct hf_session_record *ret,
				     struct hf_error *err);
void hf_session_record_done(struct hf_session_record *record);

/*
 * The names of all sessions, open or not, old to new.  A journal without a whole
 * first record, since a crash came before that was on the disk, is that of a
 * session that never started: neither this nor hf_journal_find_open() names it.
 */
MUST_CHECK int hf_journal_list(const struct hf_store *store,
			       struct hf_names *ret_names,
			       struct hf_error *err);
/* The same of names that were listed before. */
MUST_CHECK int hf_journal_list_of(const struct hf_store *store,
				  const struct hf_journal_names *names,
				  struct hf_names *ret_names,
				  struct hf_error *err);
/*
 * Sessions that are open: with an owner that lives (its lock is held), or
 * without one.
 */
MUST_CHECK int hf_journal_find_open(const struct hf_store *store,
				    struct hf_names *ret_living,
				    struct hf_names *ret_dead,
				    struct hf_error *err);
/* The same of all, the open ones as they were listed before. */
MUST_CHECK int hf_journal_find_open_of(const struct hf_store *store,
				       const struct hf_names *all,
				       struct hf_names *ret_living,
				       struct hf_names *ret_dead,
				       struct hf_error *err);
/*
 * A person keeps entry as it is, although the session, which died, may have
 * left it so.  Durable when it returns; does not count as a beat.
 */
MUST_CHECK int hf_journal_accept(const struct hf_store *store,
				 const struct hf_name *name,
				 const struct hf_entry *entry,
				 struct hf_error *err);
/* A dead session was settled: NAME.open becomes NAME.done, "end" appended. */
MUST_CHECK int hf_journal_settle(const struct hf_store *store,
				 const struct hf_name *name,
				 enum hf_outcome outcome, struct hf_error *err);

#endif /* HF_CORE_JOURNAL_H */
