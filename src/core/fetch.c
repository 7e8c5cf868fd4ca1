/* SPDX-License-Identifier: MIT */
/* Read one content out of its pack. */
#include "core/fetch.h"

#include <stdlib.h>

#include "base/fail.h"
#include "core/pack.h"

static int begin(const struct hf_pack_want *want, struct hf_error *err)
{
	(void)want;
	(void)err;
	return 0;
}

static int data(const struct hf_pack_want *want, const void *bytes, size_t len,
		struct hf_error *err)
{
	const struct hf_fetch_taker *const taker = want->context;

	return taker->take(taker->context, bytes, len, err);
}

static void end(const struct hf_pack_want *want, int result,
		const struct hf_error *err)
{
	(void)want;
	(void)result;
	(void)err;
}

int hf_fetch_in_pieces(const struct hf_store *store,
		       const struct hf_entry *entry,
		       const struct hf_fetch_taker *taker, struct hf_error *err)
{
	static const struct hf_pack_sink sink = {
		.begin = begin,
		.data = data,
		.end = end,
	};
	struct hf_fetch_taker own = *taker;
	const struct hf_pack_want want = {
		.location = entry->location,
		.size = entry->stat.size,
		.hash = entry->hash,
		.context = &own,
	};

	return hf_pack_read(store, &want, 1, &sink, err);
}

static int append(void *context, const void *bytes, size_t len,
		  struct hf_error *err)
{
	struct hf_buffer *const buffer = context;

	hf_buffer_add(buffer, bytes, len);
	return hf_buffer_check(buffer, err);
}

int hf_fetch(const struct hf_store *store, const struct hf_entry *entry,
	     struct hf_buffer *ret_data, struct hf_error *err)
{
	const struct hf_fetch_taker taker = {
		.take = append,
		.context = ret_data,
	};
	const int rc = hf_fetch_in_pieces(store, entry, &taker, err);

	if (rc < 0)
		hf_buffer_clear(ret_data);
	return rc;
}

/* -- many of them ---------------------------------------------------------- */

static int compare_wanted(const void *a, const void *b)
{
	const struct hf_location *const left =
		&((const struct hf_fetch_wanted *)a)->entry->location;
	const struct hf_location *const right =
		&((const struct hf_fetch_wanted *)b)->entry->location;

	if (left->pack != right->pack)
		return left->pack < right->pack ? -1 : 1;
	return left->offset < right->offset   ? -1
	       : left->offset > right->offset ? 1
					      : 0;
}

static int append_wanted(const struct hf_pack_want *want, const void *bytes,
			 size_t len, struct hf_error *err)
{
	struct hf_fetch_wanted *const wanted = want->context;

	return append(&wanted->data, bytes, len, err);
}

static void end_wanted(const struct hf_pack_want *want, int result,
		       const struct hf_error *err)
{
	struct hf_fetch_wanted *const wanted = want->context;

	(void)err;
	wanted->result = result;
	if (result < 0)
		hf_buffer_clear(&wanted->data);
}

int hf_fetch_many(const struct hf_store *store, struct hf_fetch_wanted *wanted,
		  size_t count, struct hf_error *err)
{
	static const struct hf_pack_sink sink = {
		.begin = begin,
		.data = append_wanted,
		.end = end_wanted,
	};
	cleanup_free struct hf_pack_want *wants =
		calloc(count + 1, sizeof(*wants));
	size_t end_of;

	if (!wants)
		return hf_fail_memory(err);
	if (count > 1)
		qsort(wanted, count, sizeof(*wanted), compare_wanted);
	for (size_t i = 0; i < count; i++) {
		wanted[i].result = HF_ERR_CORRUPT;
		wants[i] = (struct hf_pack_want){
			.location = wanted[i].entry->location,
			.size = wanted[i].entry->stat.size,
			.hash = wanted[i].entry->hash,
			.context = &wanted[i],
		};
	}
	for (size_t i = 0; i < count; i = end_of) {
		struct hf_error ignored;

		end_of = i + 1;
		while (end_of < count &&
		       wants[end_of].location.pack == wants[i].location.pack)
			end_of++;
		/* Each has its own result. */
		(void)!hf_pack_read(store, wants + i, end_of - i, &sink,
				    &ignored);
	}
	return 0;
}
