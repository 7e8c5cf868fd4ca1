/* SPDX-License-Identifier: MIT */
/*
 * store.json: which root a store belongs to.  Shared by the files that implement
 * core/store.h; nobody else needs it.
 */
#ifndef HF_CORE_STORE_IDENTITY_H
#define HF_CORE_STORE_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/defs.h"

struct hf_error;

/* Of all that lies in a store. */
#define HF_STORE_VERSION	1

#define HF_STORE_IDENTITY_NAME	"store.json"
/* What it is called while the store is being dropped. */
#define HF_STORE_DROPPING_NAME	"dropping.json"

struct hf_store_identity {
	char *root;
	uint64_t dev;
	uint64_t ino;
	uint64_t born_ns;	/* of the root; 0: not known */
};

#define HF_STORE_IDENTITY_INIT	{ .root = NULL }
#define cleanup_store_identity	CLEANUP(hf_store_identity_done)

/* path is the store's, for messages.  HF_ERR_UNSUPPORTED: another version;
 * HF_ERR_CORRUPT; sys_errno is ENOENT when there is no store.json. */
MUST_CHECK int hf_store_identity_read(int dir_fd, const char *path,
				      struct hf_store_identity *ret_identity,
				      struct hf_error *err);
/* The same of a store that is being dropped, or whose dropping was cut off. */
MUST_CHECK int hf_store_identity_read_dropping(
	int dir_fd, const char *path, struct hf_store_identity *ret_identity,
	struct hf_error *err);
/* Is it such a store?  1 with *err saying so, 0, or a failure. */
MUST_CHECK int hf_store_is_dropping(int dir_fd, const char *path,
				    struct hf_error *err);
/* Durable.  The identity of root_fd, for root. */
MUST_CHECK int hf_store_identity_write(int dir_fd, const char *root,
				       int root_fd, struct hf_error *err);
/*
 * HF_ERR_DENIED when it is another root.  The device number alone is no proof
 * of that: btrfs, overlay, NFS and others get one at each mount.
 */
MUST_CHECK int hf_store_identity_check(const struct hf_store_identity *identity,
				       const char *path, const char *root,
				       int root_fd, struct hf_error *err);
void hf_store_identity_done(struct hf_store_identity *identity);

/* Only the user (or root) owns it and nobody else may enter; HF_ERR_DENIED. */
MUST_CHECK int hf_store_check_owner(int dir_fd, const char *path,
				    struct hf_error *err);

/*
 * Leave word in the git common directory of root where its store is: when there
 * is none of a store that is there, or (is_move) in any case.  Only ever a
 * convenience: what hinders it is passed over.
 */
void hf_store_point(const char *root, const char *store_path, bool is_move);
/* Take the word back, if it is of this store. */
void hf_store_unpoint(const char *root, const char *store_path);

#endif /* HF_CORE_STORE_IDENTITY_H */
