/* SPDX-License-Identifier: MIT */
/*
 * Decide what may be dropped.
 *
 * Every snapshot gets a hold: the strongest reason for which a content that it
 * is the newest to have must stay.  Those without one go at once, then, while
 * all together is too large, the weakest holds in order of age.
 */
#include "core/retention.h"

#include <stdlib.h>

#include "base/fail.h"
#include "core/retention_hold.h"

struct planning {
	const struct hf_retention_input *in;
	struct hf_held *holds;	    /* of each snapshot */
	bool *is_dropped;	    /* snapshot */
	enum hf_retention_why *why; /* of each snapshot, then each session */
	bool *is_kept_dropped;	    /* session */
	bool *is_session_dropped;
	size_t *pack_uses;
	bool *is_pack_held; /* used by nothing, and young */
	uint64_t bytes;
};

static void planning_done(struct planning *p)
{
	hf_free_pointee(&p->holds);
	hf_free_pointee(&p->is_dropped);
	hf_free_pointee(&p->why);
	hf_free_pointee(&p->is_kept_dropped);
	hf_free_pointee(&p->is_session_dropped);
	hf_free_pointee(&p->pack_uses);
	hf_free_pointee(&p->is_pack_held);
}

static int planning_init(struct planning *p,
			 const struct hf_retention_input *in,
			 struct hf_error *err)
{
	const size_t both = in->snapshot_count + in->session_count;

	p->in = in;
	p->holds = calloc(in->snapshot_count + 1, sizeof(*p->holds));
	p->is_dropped = calloc(in->snapshot_count + 1, sizeof(bool));
	p->why = calloc(both + 1, sizeof(*p->why));
	p->is_kept_dropped = calloc(in->session_count + 1, sizeof(bool));
	p->is_session_dropped = calloc(in->session_count + 1, sizeof(bool));
	p->pack_uses = calloc(in->pack_count + 1, sizeof(size_t));
	p->is_pack_held = calloc(in->pack_count + 1, sizeof(bool));
	if (!p->holds || !p->is_dropped || !p->why || !p->is_kept_dropped ||
	    !p->is_session_dropped || !p->pack_uses || !p->is_pack_held)
		return hf_fail_memory(err);
	return 0;
}

/* -- dropping ----------------------------------------------------------------
 */

static int compare_pack(const void *key, const void *item)
{
	const uint32_t number = *(const uint32_t *)key;
	const uint32_t other = ((const struct hf_retention_pack *)item)->number;

	return number < other ? -1 : number > other;
}

/* NULL when it is not there. */
static size_t *uses_of(struct planning *p, uint32_t number)
{
	const struct hf_retention_pack *const packs = p->in->packs;
	const struct hf_retention_pack *const found =
		p->in->pack_count == 0
			? NULL
			: bsearch(&number, packs, p->in->pack_count,
				  sizeof(*packs), compare_pack);

	return found ? &p->pack_uses[found - packs] : NULL;
}

/* The newest stays in any case: its number must not be given again. */
static bool is_pack_dropped(const struct planning *p, size_t index)
{
	return p->pack_uses[index] == 0 && !p->is_pack_held[index] &&
	       index + 1 < p->in->pack_count;
}

static void drop_snapshot(struct planning *p, size_t index,
			  enum hf_retention_why why)
{
	const struct hf_retention_snapshot *const snapshot =
		&p->in->snapshots[index];

	p->is_dropped[index] = true;
	p->why[index] = why;
	p->bytes -= snapshot->bytes;
	for (size_t i = 0; i < snapshot->pack_count; i++) {
		size_t *const uses = uses_of(p, snapshot->packs[i]);

		if (!uses)
			continue;
		--*uses;
		if (is_pack_dropped(p, (size_t)(uses - p->pack_uses)))
			p->bytes -= p->in->packs[uses - p->pack_uses].bytes;
	}
}

static void drop_kept(struct planning *p, size_t index,
		      enum hf_retention_why why)
{
	const struct hf_retention_session *const session =
		&p->in->sessions[index];

	p->is_kept_dropped[index] = true;
	p->why[p->in->snapshot_count + index] = why;
	p->bytes -= session->bytes + session->kept_bytes;
}

/* Everything, less the packs that nothing refers to from the beginning. */
static void count_all(struct planning *p, uint64_t *ret_before)
{
	const struct hf_retention_input *const in = p->in;

	for (size_t i = 0; i < in->snapshot_count; i++) {
		p->bytes += in->snapshots[i].bytes;
		for (size_t k = 0; k < in->snapshots[i].pack_count; k++) {
			size_t *const uses =
				uses_of(p, in->snapshots[i].packs[k]);

			if (uses)
				++*uses;
		}
	}
	for (size_t i = 0; i < in->session_count; i++)
		p->bytes += in->sessions[i].bytes + in->sessions[i].kept_bytes;
	for (size_t i = 0; i < in->pack_count; i++)
		p->bytes += in->packs[i].bytes;
	*ret_before = p->bytes;
	for (size_t i = 0; i < in->pack_count; i++) {
		p->is_pack_held[i] =
			p->pack_uses[i] == 0 &&
			hf_retention_is_young(in, in->packs[i].made_ns);
		if (is_pack_dropped(p, i))
			p->bytes -= in->packs[i].bytes;
	}
}

/* -- by count and age --------------------------------------------------------
 */

static void drop_old_kept(struct planning *p)
{
	const struct hf_retention_input *const in = p->in;
	uint64_t rank = 0;

	for (size_t i = in->session_count; i > 0; i--) {
		const struct hf_retention_session *const session =
			&in->sessions[i - 1];

		if (!session->has_kept || session->is_open)
			continue;
		if (rank++ >= in->limits.contents &&
		    !hf_retention_is_young(in, session->begun_ns))
			drop_kept(p, i - 1, HF_RETENTION_OLDER);
	}
}

/* Journals: the newest, those that tell what kept copies are, and an undo as
 * long as what it has undone. */
static void drop_old_sessions(struct planning *p)
{
	const struct hf_retention_input *const in = p->in;
	size_t count = 0;
	size_t violated = 0;

	for (size_t i = in->session_count; i > 0; i--) {
		const struct hf_retention_session *const session =
			&in->sessions[i - 1];
		const bool is_new = count++ < HF_RETENTION_SESSIONS;

		if (session->is_violated && !session->has_kept)
			violated++;
		p->is_session_dropped[i - 1] =
			!is_new && !session->is_open && !session->has_kept &&
			!(session->is_violated &&
			  violated <= HF_RETENTION_SESSIONS);
	}
	for (size_t i = 0; i < in->session_count; i++) {
		const size_t undone = in->sessions[i].undone;

		if (!p->is_session_dropped[i])
			continue;
		if (undone > 0 && !p->is_session_dropped[undone - 1] &&
		    !p->is_kept_dropped[undone - 1])
			p->is_session_dropped[i] = false;
		else
			p->bytes -= in->sessions[i].bytes;
	}
}

/* -- by size -----------------------------------------------------------------
 */

/* May the copies go that this session has kept? */
static bool is_kept_droppable(const struct planning *p, size_t index)
{
	const struct hf_retention_session *const session =
		&p->in->sessions[index];

	if (!session->has_kept || session->is_open || p->is_kept_dropped[index])
		return false;
	/* Not the last that kept anything. */
	for (size_t i = index + 1; i < p->in->session_count; i++)
		if (p->in->sessions[i].has_kept)
			return true;
	return false;
}

static bool is_too_large(const struct planning *p)
{
	return p->bytes > p->in->limits.bytes;
}

static void shrink_packs(struct planning *p)
{
	for (size_t i = 0; i < p->in->pack_count && is_too_large(p); i++) {
		if (!p->is_pack_held[i])
			continue;
		p->is_pack_held[i] = false;
		if (is_pack_dropped(p, i))
			p->bytes -= p->in->packs[i].bytes;
	}
}

static void shrink_runs(struct planning *p)
{
	for (size_t i = 0; i < p->in->session_count && is_too_large(p); i++)
		if (p->in->sessions[i].is_run && is_kept_droppable(p, i))
			drop_kept(p, i, HF_RETENTION_SIZE);
}

static void shrink_damage(struct planning *p)
{
	for (size_t i = 0; i < p->in->snapshot_count && is_too_large(p); i++)
		if (!p->is_dropped[i] && p->holds[i].strength == HF_HOLD_DAMAGE)
			drop_snapshot(p, i, HF_RETENTION_SIZE);
}

/* What a person replaced by hand, and earlier contents, by their age. */
static void shrink_contents(struct planning *p)
{
	const struct hf_retention_input *const in = p->in;
	size_t s = 0;
	size_t k = 0;

	while (is_too_large(p)) {
		while (s < in->snapshot_count &&
		       (p->is_dropped[s] ||
			p->holds[s].strength == HF_HOLD_ALWAYS))
			s++;
		while (k < in->session_count && !is_kept_droppable(p, k))
			k++;
		if (s == in->snapshot_count && k == in->session_count)
			return;
		if (k == in->session_count ||
		    (s < in->snapshot_count &&
		     in->snapshots[s].created_ns <= in->sessions[k].begun_ns))
			drop_snapshot(p, s, HF_RETENTION_SIZE);
		else
			drop_kept(p, k, HF_RETENTION_SIZE);
	}
}

/* -- the plan ----------------------------------------------------------------
 */

static void add(struct hf_retention_plan *plan, enum hf_retention_what what,
		enum hf_retention_why why, size_t index, uint64_t bytes)
{
	plan->drops[plan->count++] = (struct hf_retention_drop){
		.what = what,
		.why = why,
		.index = index,
		.bytes = bytes,
	};
}

/* What refers to something before what it refers to. */
static int list_drops(const struct planning *p, struct hf_retention_plan *plan,
		      struct hf_error *err)
{
	const struct hf_retention_input *const in = p->in;
	const enum hf_retention_why *const whys = p->why + in->snapshot_count;

	plan->drops = calloc(in->snapshot_count + in->session_count +
				     in->pack_count + 1,
			     sizeof(*plan->drops));
	if (!plan->drops)
		return hf_fail_memory(err);
	for (size_t i = 0; i < in->snapshot_count; i++)
		if (p->is_dropped[i])
			add(plan, HF_RETENTION_SNAPSHOT, p->why[i], i,
			    in->snapshots[i].bytes);
	for (size_t i = 0; i < in->session_count; i++) {
		const struct hf_retention_session *const session =
			&in->sessions[i];

		if (p->is_kept_dropped[i])
			add(plan, HF_RETENTION_KEPT, whys[i], i,
			    session->bytes + session->kept_bytes);
		else if (p->is_session_dropped[i])
			add(plan, HF_RETENTION_SESSION, HF_RETENTION_OLDER, i,
			    session->bytes);
	}
	for (size_t i = 0; i < in->pack_count; i++)
		if (is_pack_dropped(p, i))
			add(plan, HF_RETENTION_PACK, HF_RETENTION_UNUSED, i,
			    in->packs[i].bytes);
	return 0;
}

int hf_retention_decide(const struct hf_retention_input *input,
			struct hf_retention_plan *ret_plan,
			struct hf_error *err)
{
	CLEANUP(planning_done) struct planning p = {.in = NULL};
	struct hf_retention_plan plan = HF_RETENTION_PLAN_INIT;
	int rc;

	rc = planning_init(&p, input, err);
	if (rc < 0)
		return rc;
	rc = hf_retention_hold(input, p.holds, err);
	if (rc < 0)
		return rc;
	count_all(&p, &plan.bytes_before);
	for (size_t i = 0; i < input->snapshot_count; i++)
		if (p.holds[i].strength == HF_HOLD_NONE)
			drop_snapshot(&p, i, HF_RETENTION_OLDER);
	drop_old_kept(&p);
	drop_old_sessions(&p);
	shrink_packs(&p);
	shrink_runs(&p);
	shrink_damage(&p);
	shrink_contents(&p);
	rc = list_drops(&p, &plan, err);
	if (rc < 0)
		return rc;
	plan.bytes_after = p.bytes;
	plan.is_over = is_too_large(&p);
	*ret_plan = plan;
	return 0;
}

void hf_retention_plan_done(struct hf_retention_plan *plan)
{
	hf_free_pointee(&plan->drops);
	plan->count = 0;
}

const char *hf_retention_why_text(enum hf_retention_why why)
{
	static const char *const texts[] = {
		[HF_RETENTION_OLDER] = "older than what is kept",
		[HF_RETENTION_SIZE] = "the store is too large",
		[HF_RETENTION_UNUSED] = "no snapshot refers to it",
	};

	return texts[why];
}

const char *hf_retention_what_text(enum hf_retention_what what, bool is_plural)
{
	static const char *const texts[HF_RETENTION_WHATS][2] = {
		[HF_RETENTION_SNAPSHOT] = {"snapshot", "snapshots"},
		[HF_RETENTION_KEPT] = {"set of kept copies",
				       "sets of kept copies"},
		[HF_RETENTION_SESSION] = {"session", "sessions"},
		[HF_RETENTION_PACK] = {"pack", "packs"},
	};

	return texts[what][is_plural];
}
