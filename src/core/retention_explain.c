/* SPDX-License-Identifier: MIT */
/* Say of all that a plan does not drop why it stays. */
#include <stdlib.h>

#include "base/fail.h"
#include "core/retention.h"
#include "core/retention_hold.h"

struct explaining {
	const struct hf_retention_input *in;
	bool *is_dropped[HF_RETENTION_WHATS]; /* sets of copies: their sessions
					       */
	struct hf_held *holds;
	struct hf_retention_staying *items;
	size_t count;
};

static void explaining_done(struct explaining *e)
{
	for (size_t i = 0; i < HF_RETENTION_WHATS; i++)
		hf_free_pointee(&e->is_dropped[i]);
	hf_free_pointee(&e->holds);
	hf_free_pointee(&e->items);
}

static int explaining_init(struct explaining *e,
			   const struct hf_retention_plan *plan,
			   struct hf_error *err)
{
	const struct hf_retention_input *const in = e->in;
	const size_t counts[HF_RETENTION_WHATS] = {
		[HF_RETENTION_SNAPSHOT] = in->snapshot_count,
		[HF_RETENTION_KEPT] = in->session_count,
		[HF_RETENTION_SESSION] = in->session_count,
		[HF_RETENTION_PACK] = in->pack_count,
	};
	const size_t all =
		in->snapshot_count + 2 * in->session_count + in->pack_count;

	for (size_t i = 0; i < HF_RETENTION_WHATS; i++) {
		e->is_dropped[i] = calloc(counts[i] + 1, sizeof(bool));
		if (!e->is_dropped[i])
			return hf_fail_memory(err);
	}
	e->holds = calloc(in->snapshot_count + 1, sizeof(*e->holds));
	e->items = calloc(all + 1, sizeof(*e->items));
	if (!e->holds || !e->items)
		return hf_fail_memory(err);
	for (size_t i = 0; i < plan->count; i++) {
		const struct hf_retention_drop *const drop = &plan->drops[i];

		e->is_dropped[drop->what][drop->index] = true;
		/* The journal goes with the copies. */
		if (drop->what == HF_RETENTION_KEPT)
			e->is_dropped[HF_RETENTION_SESSION][drop->index] = true;
	}
	return 0;
}

static void add(struct explaining *e, enum hf_retention_what what, size_t index,
		uint64_t bytes, enum hf_retention_stay why, uint32_t path)
{
	if (!e->is_dropped[what][index])
		e->items[e->count++] = (struct hf_retention_staying){
			.what = what,
			.why = why,
			.index = index,
			.bytes = bytes,
			.path = path,
		};
}

static void explain_kept(struct explaining *e)
{
	const struct hf_retention_input *const in = e->in;
	uint64_t rank = 0;

	for (size_t i = in->session_count; i > 0; i--) {
		const struct hf_retention_session *const session =
			&in->sessions[i - 1];
		enum hf_retention_stay why = HF_STAYS_YOUNG;

		if (!session->has_kept)
			continue;
		if (session->is_open)
			why = HF_STAYS_IN_USE;
		else if (rank++ == 0)
			why = HF_STAYS_LAST;
		else if (rank <= in->limits.contents)
			why = HF_STAYS_AMONG;
		add(e, HF_RETENTION_KEPT, i - 1,
		    session->bytes + session->kept_bytes, why,
		    HF_RETENTION_NO_PATH);
	}
}

/* Of those without copies. */
static void explain_sessions(struct explaining *e)
{
	const struct hf_retention_input *const in = e->in;

	for (size_t i = 0; i < in->session_count; i++) {
		const struct hf_retention_session *const session =
			&in->sessions[i];
		const bool is_new =
			in->session_count - i <= HF_RETENTION_SESSIONS;

		if (!session->has_kept)
			add(e, HF_RETENTION_SESSION, i, session->bytes,
			    session->is_open		     ? HF_STAYS_IN_USE
			    : is_new || session->is_violated ? HF_STAYS_JOURNAL
							     : HF_STAYS_NEEDED,
			    HF_RETENTION_NO_PATH);
	}
}

static int compare_numbers(const void *left, const void *right)
{
	const uint32_t a = *(const uint32_t *)left;
	const uint32_t b = *(const uint32_t *)right;

	return a < b ? -1 : a > b;
}

static bool is_needed(const struct explaining *e, uint32_t pack)
{
	const struct hf_retention_input *const in = e->in;

	for (size_t i = 0; i < in->snapshot_count; i++) {
		const struct hf_retention_snapshot *const snapshot =
			&in->snapshots[i];

		if (!e->is_dropped[HF_RETENTION_SNAPSHOT][i] &&
		    snapshot->pack_count > 0 &&
		    bsearch(&pack, snapshot->packs, snapshot->pack_count,
			    sizeof(pack), compare_numbers))
			return true;
	}
	return false;
}

static void explain_packs(struct explaining *e)
{
	const struct hf_retention_input *const in = e->in;

	for (size_t i = 0; i < in->pack_count; i++) {
		const struct hf_retention_pack *const pack = &in->packs[i];
		enum hf_retention_stay why = HF_STAYS_YOUNG;

		if (is_needed(e, pack->number))
			why = HF_STAYS_NEEDED;
		else if (i + 1 == in->pack_count)
			why = HF_STAYS_LAST;
		add(e, HF_RETENTION_PACK, i, pack->bytes, why,
		    HF_RETENTION_NO_PATH);
	}
}

int hf_retention_explain(const struct hf_retention_input *input,
			 const struct hf_retention_plan *plan,
			 struct hf_retention_staying **ret_items,
			 size_t *ret_count, struct hf_error *err)
{
	CLEANUP(explaining_done) struct explaining e = {.in = input};
	int rc;

	rc = explaining_init(&e, plan, err);
	if (rc == 0)
		rc = hf_retention_hold(input, e.holds, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < input->snapshot_count; i++)
		add(&e, HF_RETENTION_SNAPSHOT, i, input->snapshots[i].bytes,
		    e.holds[i].why, e.holds[i].path);
	explain_kept(&e);
	explain_sessions(&e);
	explain_packs(&e);
	*ret_items = take_ptr(&e.items);
	*ret_count = e.count;
	return 0;
}
