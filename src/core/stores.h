/* SPDX-License-Identifier: MIT */
/*
 * The stores of a user, whosever root they are of: those in the state directory
 * are listed, any can be dropped.
 *
 * What lies there and is none is named and not entered.
 */
#ifndef HF_CORE_STORES_H
#define HF_CORE_STORES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/store.h"

struct hf_error;

enum hf_stores_root {
	HF_ROOT_HERE,
	HF_ROOT_GONE,
	HF_ROOT_OTHER,	/* another directory is at its path */
	HF_ROOT_UNKNOWN /* it cannot be looked at */
};

struct hf_stores_item {
	char *path; /* of the store */
	char *root; /* NULL: it is no store */
	enum hf_stores_root state;
	bool is_dropping; /* that was cut off */
	uint64_t bytes;
	size_t snapshots;
	int64_t used_ns; /* 0: not known */
	char *why;	 /* it is no store, or cannot be used; else NULL */
};

struct hf_stores {
	struct hf_stores_item
		*items; /* the last used first, then what is none */
	size_t count;
	char *directory;
};

#define HF_STORES_INIT        \
	{                     \
		.items = NULL \
	}
#define cleanup_stores CLEANUP(hf_stores_done)

/* Those in the user's state directory; none where that is not there. */
MUST_CHECK int hf_stores_list(struct hf_stores *ret_stores,
			      struct hf_error *err);
void hf_stores_done(struct hf_stores *stores);

/*
 * The store that a person means: path is that of a store, or of a root, which
 * may be gone, with a store in the state directory or one that its git
 * repository points to.  To free().  HF_ERR_USAGE when there is none.
 */
MUST_CHECK int hf_stores_find(const char *path, char **ret_store,
			      struct hf_error *err);

/* A store that is to be dropped: open, locked, looked at. */
struct hf_stores_drop {
	struct hf_store store;
	struct hf_stores_item item;
	size_t kept; /* sets of copies */
};

#define HF_STORES_DROP_INIT            \
	{                              \
		.store = HF_STORE_INIT \
	}
#define cleanup_stores_drop CLEANUP(hf_stores_drop_done)

/*
 * HF_ERR_USAGE: it is no store; HF_ERR_BUSY: somebody is at work on it, or a
 * run is in progress; HF_ERR_UNDECIDED: a session did not end, and its root is
 * there.
 */
MUST_CHECK int hf_stores_drop_begin(struct hf_stores_drop *drop,
				    const char *path, struct hf_error *err);
/*
 * Remove all of it that is a store's.  1 when the directory stays, since
 * something else is in it.  Cut off anywhere it is no store any more, says so
 * to whoever opens it, and can be dropped once more.
 */
MUST_CHECK int hf_stores_drop_commit(struct hf_stores_drop *drop,
				     struct hf_error *err);
void hf_stores_drop_done(struct hf_stores_drop *drop);

#endif /* HF_CORE_STORES_H */
