/* SPDX-License-Identifier: MIT */
/*
 * One recorded content from the store, for who wants to look at it.
 */
#ifndef HF_CORE_FETCH_H
#define HF_CORE_FETCH_H

#include "base/buffer.h"
#include "core/entry.h"
#include "core/store.h"

struct hf_error;

/*
 * The bytes of a file's entry (which has a hash and a location) in pieces, in
 * order. A negative return of take ends it, and is what is returned.
 * HF_ERR_CORRUPT also when everything was handed over and was not what was
 * recorded.
 */
struct hf_fetch_taker {
	int (*take)(void *context, const void *data, size_t len,
		    struct hf_error *err);
	void *context;
};
MUST_CHECK int hf_fetch_in_pieces(const struct hf_store *store,
				  const struct hf_entry *entry,
				  const struct hf_fetch_taker *taker,
				  struct hf_error *err);
/* All of it, proven; appended to a buffer that is empty after a failure.  The
 * caller has looked at the size. */
MUST_CHECK int hf_fetch(const struct hf_store *store,
			const struct hf_entry *entry,
			struct hf_buffer *ret_data, struct hf_error *err);

/* One of many, which may share packs. */
struct hf_fetch_wanted {
	const struct hf_entry *entry;
	struct hf_buffer data; /* empty when it was not right */
	int result;	       /* 0 or the failure */
};
/*
 * All of them, each pack read once and no further than it takes: the result of
 * each is told.  Sorts them.
 */
MUST_CHECK int hf_fetch_many(const struct hf_store *store,
			     struct hf_fetch_wanted *wanted, size_t count,
			     struct hf_error *err);

#endif /* HF_CORE_FETCH_H */
