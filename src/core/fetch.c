/* SPDX-License-Identifier: MIT */
/* Read one content out of its pack. */
#include "core/fetch.h"

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
