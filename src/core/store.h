/* SPDX-License-Identifier: MIT */
/*
 * The store: the directory that holds everything recorded about one root.
 *
 *	store.json		format version, the root's path and identity
 *	lock			flock: exclusive while something is committed or restored
 *	packs/NNNNNN.tar.zst	contents		packs/NNNNNN.index	what is in it
 *	snapshots/NNNNNN-TIME	manifests
 *	sessions/NNNNNN-TIME.open	journal of a session that has not ended
 *	sessions/NNNNNN-TIME.done	the same, ended
 *	kept/NNNNNN-TIME/PATH	what that session's restore replaced
 *
 * Names count up (NNNNNN), so that their order does not depend on the clock.
 * Mode 0700, files 0600.  It lies outside the tree unless --store says otherwise.
 * Temporary names begin with ".holdfast-" and are swept under the lock.
 */
#ifndef HF_CORE_STORE_H
#define HF_CORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For the names that are swept. */
#include "core/replace.h"
#include "platform/file.h"
#include "platform/lock.h"

struct hf_error;

/* What is to be taken out of the store (core/purge.h), while that is done. */
#define HF_STORE_PURGING_NAME "purging"

enum hf_store_folder {
	HF_STORE_PACKS,
	HF_STORE_SNAPSHOTS,
	HF_STORE_SESSIONS,
	HF_STORE_KEPT,
	HF_STORE_FOLDERS	/* how many */
};

/* "packs", ... */
const char *hf_store_folder_name(enum hf_store_folder folder);

struct hf_store {
	char *path;		/* canonical */
	char *root;		/* canonical path of the root it belongs to */
	int dir_fd;
	int folder_fd[HF_STORE_FOLDERS];
	int lock_fd;
	bool can_lock;		/* lock_fd is open for writing */
	bool is_new;		/* made by this open */
	/* Called once when the lock is waited for longer than a moment; may be
	 * NULL.  false: then it is given up, as HF_ERR_BUSY. */
	bool (*on_wait)(void *context);
	void *wait_context;
};

#define HF_STORE_INIT							\
	{ .dir_fd = -1, .folder_fd = { -1, -1, -1, -1 }, .lock_fd = -1 }
#define cleanup_store	CLEANUP(hf_store_close)

/*
 * Where the store of root lies: option when given; else what the pointer in the
 * git common directory says, if that is a store of this root owned by the user;
 * else <state directory>/holdfast/<name>-<hash of root>.  To free().
 */
MUST_CHECK int hf_store_locate(const char *option, const char *root,
			       char **ret_path, struct hf_error *err);

/*
 * Does the pointer name a store for root that is not there, as when its file system
 * is not mounted, or cannot be used?  Then a second one must not be made elsewhere:
 * a failure that names it.
 */
MUST_CHECK int hf_store_check_pointer(const char *root, struct hf_error *err);

enum hf_store_open_mode {
	HF_STORE_MUST_EXIST,	/* HF_ERR_NOTHING "nothing is recorded yet" */
	HF_STORE_MAKE		/* made when missing; the pointer is written */
};

/*
 * Open the store at path for root.  HF_ERR_DENIED: it belongs to another root
 * (by path, or the same path is another directory now), or to another user;
 * HF_ERR_UNSUPPORTED: another format version; HF_ERR_CORRUPT: store.json is
 * damaged; HF_ERR_SYSTEM: cannot be made or written, with a hint.
 */
MUST_CHECK int hf_store_open(struct hf_store *store, const char *path,
			     const char *root, int root_fd,
			     enum hf_store_open_mode mode,
			     struct hf_error *err);

/*
 * Open what is there, whosever root it is of: nothing is made, a folder that
 * cannot be opened is -1, and whether it is a store at all is for the caller
 * to see.
 */
MUST_CHECK int hf_store_open_as_is(struct hf_store *store, const char *path,
				   struct hf_error *err);

/* Say that the store belongs to this root from now on (moved or cloned anew). */
MUST_CHECK int hf_store_adopt(const char *path, const char *root, int root_fd,
			      struct hf_error *err);

/*
 * The same for a store that is open and locked: its root is another directory now,
 * since it was removed and made again while we looked.
 */
MUST_CHECK int hf_store_note_root(struct hf_store *store, int root_fd,
				  struct hf_error *err);

/*
 * The store's lock.  wait false: HF_ERR_BUSY when another process has it.  Held
 * by all forked copies of lock_fd; released by close or hf_store_unlock().
 */
MUST_CHECK int hf_store_lock(struct hf_store *store, bool wait,
			     struct hf_error *err);
void hf_store_unlock(struct hf_store *store);

/* A name such as "000042-20261130T030007Z". */
struct hf_name {
	char text[32];
};

/* Is text such a name?  *ret_name is untouched when not. */
bool hf_name_parse(const char *text, struct hf_name *ret_name);
/* Its number: 42. */
uint64_t hf_name_number(const struct hf_name *name);
/* Its time, of which it has the seconds. */
int64_t hf_name_time_ns(const struct hf_name *name);

struct hf_names {
	struct hf_name *items;	/* oldest first */
	size_t count;
};

#define HF_NAMES_INIT	{ .items = NULL }
#define cleanup_names	CLEANUP(hf_names_done)
void hf_names_done(struct hf_names *names);

/* All names in a folder; with a suffix (".open", ".done"), only those, cut off.
 * For kept and snapshots suffix is "". */
MUST_CHECK int hf_store_list(const struct hf_store *store,
			     enum hf_store_folder folder, const char *suffix,
			     struct hf_names *ret_names, struct hf_error *err);

/*
 * The same with two suffixes in one go; suffixes[1] may be NULL.  Both lists are
 * for hf_names_done(), also after a failure.
 */
MUST_CHECK int hf_store_list_both(const struct hf_store *store,
				  enum hf_store_folder folder,
				  const char *const suffixes[2],
				  struct hf_names ret_lists[2],
				  struct hf_error *err);
/* The next free name of a folder (under the lock). */
MUST_CHECK int hf_store_next_name(const struct hf_store *store,
				  enum hf_store_folder folder,
				  struct hf_name *ret_name,
				  struct hf_error *err);

/* The same, with a number above this one. */
MUST_CHECK int hf_store_next_name_after(const struct hf_store *store,
					enum hf_store_folder folder,
					uint64_t after,
					struct hf_name *ret_name,
					struct hf_error *err);

/* The name that follows number, which is known to be the largest. */
MUST_CHECK int hf_store_name_behind(const struct hf_store *store,
				    uint64_t number, struct hf_name *ret_name,
				    struct hf_error *err);

/*
 * One name from what a person typed: the whole name, its number with or without
 * zeros ("42"), or an unambiguous beginning.  HF_ERR_USAGE when none or several.
 */
MUST_CHECK int hf_store_resolve(const struct hf_store *store,
				enum hf_store_folder folder, const char *typed,
				struct hf_name *ret_name,
				struct hf_error *err);

/* Remove temporary names left by a crash, in all folders (under the lock). */
MUST_CHECK int hf_store_sweep(const struct hf_store *store, struct hf_error *err);

/* Remove a file of a folder, or a directory with all that lies in it; 0 or -errno,
 * 0 when there is none. */
MUST_CHECK int hf_store_remove_at(int folder_fd, const char *name);

/* Bytes that all files beneath a directory take, or a file; 0 or -errno. */
MUST_CHECK int hf_store_size_at(int folder_fd, const char *name,
				uint64_t *ret_bytes);

/* Bytes that all files of the store take. */
MUST_CHECK int hf_store_size(const struct hf_store *store, uint64_t *ret_bytes,
			     struct hf_error *err);

/* Is there no store any more where it was opened? */
bool hf_store_is_gone(const struct hf_store *store);
void hf_store_close(struct hf_store *store);

#endif /* HF_CORE_STORE_H */
