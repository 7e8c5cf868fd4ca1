/* SPDX-License-Identifier: MIT */
/*
 * The kept copies of one session: what lies in kept/SESSION, and what the
 * session's journal says of it.
 *
 *	cleanup_kept_list struct hf_kept_list list = HF_KEPT_LIST_INIT;
 *
 *	rc = hf_kept_list_read(store, &session, &list, err);
 *
 * A copy that no record names (what a restore that was killed had left, a file
 * that a program went on writing to) is listed, too.
 */
#ifndef HF_CORE_KEPT_LIST_H
#define HF_CORE_KEPT_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/journal.h"

struct hf_kept_copy {
	const char *name; /* in kept/SESSION: what it is called by */
	enum hf_kind kind;
	uint64_t size;
	const struct hf_kept_record *record; /* NULL: the journal has none */
};

struct hf_kept_list {
	struct hf_name session;
	struct hf_session_record record; /* if has_record */
	bool has_record;	    /* the journal is there, and can be read */
	struct hf_kept_copy *items; /* by name */
	size_t count;
	size_t capacity;
	struct hf_arena arena;
};

#define HF_KEPT_LIST_INIT                         \
	{                                         \
		.record = HF_SESSION_RECORD_INIT, \
	}
#define cleanup_kept_list CLEANUP(hf_kept_list_done)

/* A session without a folder of copies has none: no failure. */
MUST_CHECK int hf_kept_list_read(const struct hf_store *store,
				 const struct hf_name *session,
				 struct hf_kept_list *ret_list,
				 struct hf_error *err);
/* The copy that lies at NAME; NULL for none.  Pure. */
const struct hf_kept_copy *hf_kept_list_find(const struct hf_kept_list *list,
					     const char *name);
/* The newest copy of the entry path; NULL for none.  Pure. */
const struct hf_kept_copy *hf_kept_list_find_entry(
	const struct hf_kept_list *list, const char *path);
/* What the copies take. */
uint64_t hf_kept_list_bytes(const struct hf_kept_list *list);
/* Where a copy lies, from the store; to free(), NULL when out of memory. */
MUST_CHECK char *hf_kept_list_path(const struct hf_kept_list *list,
				   const char *name);
void hf_kept_list_done(struct hf_kept_list *list);

#endif /* HF_CORE_KEPT_LIST_H */
