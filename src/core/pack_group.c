/* SPDX-License-Identifier: MIT */
/* Hand a content to all that want it. */
#include "core/pack_group.h"

#include "base/fail.h"

size_t hf_pack_group_len(const struct hf_pack_want *wants, size_t count)
{
	size_t len = 1;

	while (len < count &&
	       wants[len].location.offset == wants->location.offset &&
	       wants[len].size == wants->size &&
	       hf_hash_equal(&wants[len].hash, &wants->hash))
		len++;
	return len;
}

static void note_failure(struct hf_pack_outcome *outcome,
			 const struct hf_error *err)
{
	if (outcome->rc == 0) {
		outcome->rc = err->code;
		*outcome->first = *err;
	}
}

void hf_pack_group_begin(struct hf_pack_group *group,
			 struct hf_pack_outcome *outcome)
{
	for (size_t i = 0; i < group->count; i++) {
		struct hf_error err;

		group->is_over[i] =
			outcome->sink->begin(&group->wants[i], &err) < 0;
		if (group->is_over[i])
			note_failure(outcome, &err);
	}
}

void hf_pack_group_end(struct hf_pack_group *group,
		       struct hf_pack_outcome *outcome,
		       const struct hf_error *err)
{
	const struct hf_error none = {.code = HF_OK};

	for (size_t i = 0; i < group->count; i++) {
		if (group->is_over[i])
			continue;
		group->is_over[i] = true;
		if (err)
			note_failure(outcome, err);
		outcome->sink->end(&group->wants[i], err ? err->code : 0,
				   err ? err : &none);
	}
}

void hf_pack_group_data(struct hf_pack_group *group,
			struct hf_pack_outcome *outcome, const void *data,
			size_t len)
{
	for (size_t i = 0; i < group->count; i++) {
		const struct hf_pack_want *const want = &group->wants[i];
		struct hf_error err;

		if (group->is_over[i] ||
		    outcome->sink->data(want, data, len, &err) >= 0)
			continue;
		group->is_over[i] = true;
		note_failure(outcome, &err);
		outcome->sink->end(want, err.code, &err);
	}
}

bool hf_pack_group_is_over(const struct hf_pack_group *group)
{
	for (size_t i = 0; i < group->count; i++)
		if (!group->is_over[i])
			return false;
	return true;
}
