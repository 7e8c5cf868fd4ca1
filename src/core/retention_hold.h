/* SPDX-License-Identifier: MIT */
/*
 * How strongly a snapshot is held: by the strongest reason for which a content
 * that it is the newest to have must stay.  Private to core/retention*.c.
 */
#ifndef HF_CORE_RETENTION_HOLD_H
#define HF_CORE_RETENTION_HOLD_H

#include "core/retention.h"

struct hf_error;

enum hf_hold {
	HF_HOLD_NONE,
	HF_HOLD_DAMAGE,	 /* only damage, and young */
	HF_HOLD_CONTENT, /* among the newest, or young */
	HF_HOLD_ALWAYS
};

/* Of a snapshot, and by what. */
struct hf_held {
	enum hf_hold strength;
	enum hf_retention_stay why;
	uint32_t path; /* of the content; HF_RETENTION_NO_PATH for none */
};

/* Has it been so, or there, within the last days? */
bool hf_retention_is_young(const struct hf_retention_input *in,
			   int64_t time_ns);

/* holds has an item for each snapshot, cleared.  Spans get their final
 * is_damage: what was recorded before a run found it is none. */
MUST_CHECK int hf_retention_hold(const struct hf_retention_input *in,
				 struct hf_held *holds, struct hf_error *err);

#endif /* HF_CORE_RETENTION_HOLD_H */
