/* SPDX-License-Identifier: MIT */
/*
 * What the sink of hf_pack_read() gets: wants of one content at one place are
 * served together.  Private to core/pack*.c.
 */
#ifndef HF_CORE_PACK_GROUP_H
#define HF_CORE_PACK_GROUP_H

#include "core/pack.h"

struct hf_pack_outcome {
	const struct hf_pack_sink *sink;
	struct hf_error *first; /* the first failure of any want */
	int rc;			/* its code; 0 while there is none */
};

/* Wants for the same member; those that are over get no more calls. */
struct hf_pack_group {
	const struct hf_pack_want *wants;
	bool *is_over;
	size_t count;
};

/* How many of the wants name the same content at the same place. */
size_t hf_pack_group_len(const struct hf_pack_want *wants, size_t count);
void hf_pack_group_begin(struct hf_pack_group *group,
			 struct hf_pack_outcome *outcome);
void hf_pack_group_data(struct hf_pack_group *group,
			struct hf_pack_outcome *outcome, const void *data,
			size_t len);
/* Nobody wants the rest. */
bool hf_pack_group_is_over(const struct hf_pack_group *group);
/* All that are not over end so; err is NULL when all was right. */
void hf_pack_group_end(struct hf_pack_group *group,
		       struct hf_pack_outcome *outcome,
		       const struct hf_error *err);

#endif /* HF_CORE_PACK_GROUP_H */
