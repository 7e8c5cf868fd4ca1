/* SPDX-License-Identifier: MIT */
/* Say for each snapshot how strongly it is held by what only it has. */
#include "core/retention_hold.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

#define NS_PER_DAY ((int64_t)86400 * 1000 * 1000 * 1000)

/* A span seen from a path. */
struct view {
	struct hf_retention_span *span;
	bool is_newest_content; /* of this content */
	bool is_newest_state;
};

struct holding {
	const struct hf_retention_input *in;
	struct view *views;
	struct hf_held *holds; /* of each snapshot */
};

bool hf_retention_is_young(const struct hf_retention_input *in, int64_t time_ns)
{
	const int64_t age = in->now_ns - time_ns;

	return age < 0 || (uint64_t)(age / NS_PER_DAY) < in->limits.days;
}

static int compare_numbers(size_t a, size_t b)
{
	return a < b ? -1 : a > b;
}

/* By path, then from new to old. */
static int compare_age(const void *left, const void *right)
{
	const struct hf_retention_span *const a =
		((const struct view *)left)->span;
	const struct hf_retention_span *const b =
		((const struct view *)right)->span;
	const int order = compare_numbers(a->path, b->path);

	return order != 0 ? order : compare_numbers(b->last, a->last);
}

static int compare_content(const void *left, const void *right)
{
	const struct hf_retention_span *const a =
		((const struct view *)left)->span;
	const struct hf_retention_span *const b =
		((const struct view *)right)->span;
	int order = compare_numbers(a->path, b->path);

	if (order == 0)
		order = memcmp(&a->content, &b->content, sizeof(a->content));
	return order != 0 ? order : compare_numbers(b->last, a->last);
}

static int compare_state(const void *left, const void *right)
{
	const struct hf_retention_span *const a =
		((const struct view *)left)->span;
	const struct hf_retention_span *const b =
		((const struct view *)right)->span;
	int order = compare_numbers(a->path, b->path);

	if (order == 0)
		order = memcmp(&a->state, &b->state, sizeof(a->state));
	return order != 0 ? order : compare_numbers(b->last, a->last);
}

static bool is_same_content(const struct hf_retention_span *a,
			    const struct hf_retention_span *b)
{
	return a->path == b->path && hf_hash_equal(&a->content, &b->content);
}

/* What was recorded before a run found it is none of its damage. */
static void spread_innocence(struct view *views, size_t count)
{
	bool is_damage = true;

	for (size_t i = 0; i < count; i++)
		is_damage &= views[i].span->is_damage;
	for (size_t i = 0; i < count; i++)
		views[i].span->is_damage = is_damage;
}

/* Find the newest span of every content and of every state of a path. */
static void mark_newest(struct holding *p)
{
	struct view *const views = p->views;
	const size_t count = p->in->span_count;
	size_t end;

	for (size_t i = 0; i < count; i++)
		views[i].span = &p->in->spans[i];
	qsort(views, count, sizeof(*views), compare_state);
	for (size_t i = 0; i < count; i++)
		views[i].is_newest_state =
			i == 0 ||
			views[i].span->path != views[i - 1].span->path ||
			!hf_hash_equal(&views[i].span->state,
				       &views[i - 1].span->state);
	qsort(views, count, sizeof(*views), compare_content);
	for (size_t i = 0; i < count; i = end) {
		for (end = i + 1; end < count; end++)
			if (!is_same_content(views[i].span, views[end].span))
				break;
		views[i].is_newest_content = true;
		spread_innocence(&views[i], end - i);
	}
	qsort(views, count, sizeof(*views), compare_age);
}

static void hold(struct holding *p, const struct hf_retention_span *span,
		 enum hf_hold strength, enum hf_retention_stay why)
{
	struct hf_held *const held = &p->holds[span->last];

	if (held->strength < strength)
		*held = (struct hf_held){
			.strength = strength,
			.why = why,
			.path = span->path,
		};
}

/* When the path ceased to be so: not when it began to be. */
static bool is_span_young(const struct hf_retention_input *in,
			  const struct hf_retention_span *span)
{
	const size_t next = span->last + 1;

	return next >= in->snapshot_count ||
	       hf_retention_is_young(in, in->snapshots[next].created_ns);
}

/*
 * The last content of which what came after has no more than half.  Views are
 * those of one path, new to old.
 */
static const struct hf_retention_span *find_pinned(const struct view *views,
						   size_t count)
{
	const struct hf_retention_span *whole = NULL;

	for (size_t i = count; i > 0; i--) {
		const struct hf_retention_span *const span = views[i - 1].span;

		if (span->is_content && !span->is_damage &&
		    (!whole || whole->size == 0 ||
		     span->size > whole->size / 2))
			whole = span;
	}
	return whole;
}

static void judge_path(struct holding *p, const struct view *views,
		       size_t count)
{
	const struct hf_retention_span *const pinned =
		find_pinned(views, count);
	bool has_newest = false;
	uint64_t rank = 0;

	if (pinned)
		hold(p, pinned, HF_HOLD_ALWAYS, HF_STAYS_PINNED);
	for (size_t i = 0; i < count; i++) {
		const struct hf_retention_span *const span = views[i].span;
		const bool is_damage = span->is_damage;

		if (span->is_content && !has_newest) {
			hold(p, span, HF_HOLD_ALWAYS, HF_STAYS_NEWEST);
			has_newest = true;
		}
		if (span->is_content && views[i].is_newest_content &&
		    !is_damage && rank < p->in->limits.contents) {
			hold(p, span,
			     rank == 0 ? HF_HOLD_ALWAYS : HF_HOLD_CONTENT,
			     rank == 0 ? HF_STAYS_NEWEST : HF_STAYS_AMONG);
			rank++;
		}
		if (views[i].is_newest_state && is_span_young(p->in, span))
			hold(p, span,
			     is_damage ? HF_HOLD_DAMAGE : HF_HOLD_CONTENT,
			     is_damage ? HF_STAYS_DAMAGE : HF_STAYS_YOUNG);
	}
}

/* For what it is, whatever it has. */
static void hold_itself(struct hf_held *held, enum hf_retention_stay why)
{
	*held = (struct hf_held){
		.strength = HF_HOLD_ALWAYS,
		.why = why,
		.path = HF_RETENTION_NO_PATH,
	};
}

int hf_retention_hold(const struct hf_retention_input *in,
		      struct hf_held *holds, struct hf_error *err)
{
	cleanup_free struct view *views =
		calloc(in->span_count + 1, sizeof(*views));
	struct holding holding = {.in = in, .views = views, .holds = holds};
	size_t end;

	if (!views)
		return hf_fail_memory(err);
	mark_newest(&holding);
	for (size_t i = 0; i < in->span_count; i = end) {
		for (end = i + 1; end < in->span_count; end++)
			if (views[i].span->path != views[end].span->path)
				break;
		judge_path(&holding, &views[i], end - i);
	}
	for (size_t i = 0; i < in->snapshot_count; i++)
		if (i + 1 == in->snapshot_count)
			hold_itself(&holds[i], HF_STAYS_LAST);
		else if (in->snapshots[i].is_in_use)
			hold_itself(&holds[i], HF_STAYS_IN_USE);
	return 0;
}
