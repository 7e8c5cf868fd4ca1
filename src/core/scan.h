/* SPDX-License-Identifier: MIT */
/*
 * Look at the tree: which entries the policy names, and what they are.
 *
 * Nothing is changed, no link is followed, nothing blocks.  A scan alone reads
 * no content; hf_scan_read() does.
 */
#ifndef HF_CORE_SCAN_H
#define HF_CORE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/tree.h"

struct hf_error;
struct hf_policy;
struct hf_buffer;

struct hf_scan_options {
	const struct hf_policy *policy;
	int root_fd;		/* borrowed */
	const char *root;	/* canonical, for messages and outside paths */
	const char *const *argv;	/* the command, for "allow"; may be NULL */
	const char *store;	/* canonical path never entered by "**"; may be NULL */
	/*
	 * Look at each of these entries in any case, absent or not; may be NULL.
	 * Wanted by every scan that is compared with an earlier one: without it
	 * a directory that led to nothing but removed files is in no tree any
	 * more, and would seem to be missing itself.
	 */
	const struct hf_tree *before;
	/*
	 * For the final look: a directory that cannot be read seems empty, what
	 * lies in it absent, and a note says so.  Otherwise it is an error.
	 */
	bool is_tolerant;
	/*
	 * Only to know whether there are so many: a walk ends when it has found
	 * as many protected names.  0: all are wanted.
	 */
	size_t enough;
};

/*
 * Every entry that exists and matches, every ancestor of one, every literal that
 * does not exist (as absent), and the side files NAME-wal, NAME-journal of a
 * protected file NAME.  The tree comes back sorted, without hashes.
 * A directory that cannot be read is an error: what is protected must be seen.
 * ret_notes (may be NULL) gets a line for each thing worth saying: a protected
 * link whose target is not in the set, a pattern behind a link.
 */
MUST_CHECK int hf_scan(const struct hf_scan_options *options,
		       struct hf_tree *ret_tree, struct hf_buffer *ret_notes,
		       struct hf_error *err);
/*
 * The same in two steps, for who has to wait for options->before: begin needs it
 * in a tolerant scan only.  In between, ancestors and side files may be listed
 * that are none.
 */
MUST_CHECK int hf_scan_begin(const struct hf_scan_options *options,
			     struct hf_tree *ret_tree,
			     struct hf_buffer *ret_notes, struct hf_error *err);
MUST_CHECK int hf_scan_finish(const struct hf_scan_options *options,
			      struct hf_tree *tree, struct hf_buffer *ret_notes,
			      struct hf_error *err);

/*
 * Add to after the NAME-wal, NAME-shm and NAME-journal that stand beside a
 * protected file NAME of before and that neither tree lists: unwanted additions
 * when the command has ended.  Both trees are sorted, and after still is.
 */
MUST_CHECK int hf_scan_side_files(const struct hf_scan_options *options,
				  const struct hf_tree *before,
				  struct hf_tree *after, struct hf_error *err);

/*
 * How much of path leads to the innermost directory above it that "**" does not
 * enter because of its name; 0 for none.  For hf_patterns_match_past() about a
 * name that was not scanned.
 */
size_t hf_scan_skipped_len(const char *path);

/*
 * The canonical form of an absolute path of which the end may not exist (or not
 * be accessible: opening it fails, too, and says so).  To free(); NULL with
 * errno.
 */
MUST_CHECK char *hf_scan_canonical(const char *path);

/*
 * Open the directory that holds entry path, no link followed; ret_name gets the
 * last component.  The root itself is "." in root_fd.  -errno on failure.
 */
MUST_CHECK int hf_scan_open_parent(int root_fd, const char *path,
				   const char **ret_name);

/* Fill in one entry (stat, link text, xattrs; absent when it is not there). */
MUST_CHECK int hf_scan_entry(int dir_fd, const char *name,
			     struct hf_tree *tree, struct hf_entry *entry,
			     struct hf_error *err);

/*
 * Where read content goes besides the hash; may be called on two threads, for
 * different entries, at once (worker is 0 or 1).  A negative return stops.
 *
 *	begin(context, worker, entry)		before the first byte
 *	data(context, worker, data, len)	in order, all of it
 *	end(context, worker, entry)		entry->hash is known
 *	again(context, worker, entry)		it changed while being read: forget
 */
struct hf_scan_sink {
	void *context;
	int (*begin)(void *context, unsigned worker,
		     const struct hf_entry *entry, struct hf_error *err);
	int (*data)(void *context, unsigned worker, const void *data,
		    size_t len, struct hf_error *err);
	int (*end)(void *context, unsigned worker, struct hf_entry *entry,
		   struct hf_error *err);
	void (*again)(void *context, unsigned worker,
		      const struct hf_entry *entry);
};

struct hf_progress;

/*
 * Read and hash every file of the tree that has_hash is false for.  fstat before
 * and after; changed in between: three tries, then HF_ERR_CHANGED.  Two threads
 * when there is enough to do.  sink and progress may be NULL.
 *
 * With a tolerant read (the final look), an entry that cannot be read or that
 * vanished keeps has_hash false and is no error: comparison then says so.
 */
MUST_CHECK int hf_scan_read(const struct hf_scan_options *options,
			    struct hf_tree *tree,
			    const struct hf_scan_sink *sink, bool is_tolerant,
			    struct hf_progress *progress,
			    struct hf_error *err);

/*
 * Take over hash and location from an earlier tree where nothing has moved
 * (size, mtime, ctime, dev, ino, mode, owner) and the earlier entry is not racy.
 * Returns how many were taken over.
 */
size_t hf_scan_use_cache(struct hf_tree *tree, const struct hf_tree *earlier);

/*
 * How far long work is.  Counted by the workers, drawn by whoever owns the
 * terminal.
 */
struct hf_progress {
	/* Called now and then, from one thread at a time. */
	void (*update)(void *context, uint64_t done_bytes, uint64_t all_bytes,
		       size_t done_entries, size_t all_entries);
	void *context;
};

#endif /* HF_CORE_SCAN_H */
