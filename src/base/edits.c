/* SPDX-License-Identifier: MIT */
/*
 * Myers' O(ND) comparison in linear space: where the shortest paths from both
 * ends of a box meet, the box is cut in two.
 *
 * Texts get numbers first, so that comparing two is comparing numbers.  What
 * occurs on one side alone needs no search: it is removed or added, and left
 * out. In the end each run of changes is moved down as far as it can go, so
 * that what is put in between two alike is shown where a person would have
 * typed it.
 */
#include "base/edits.h"

#include <string.h>

#define DEAD (-1) /* no path of that length ends on this diagonal */

void hf_edits_done(struct hf_edits *edits)
{
	hf_free_pointee(&edits->is_removed);
	hf_free_pointee(&edits->is_added);
}

/* -- numbers for texts ----------------------------------------------------- */

/* A text of either side; indices of the second go on behind the first's. */
struct item {
	struct hf_span span;
	size_t index;
};

static int compare_items(const void *left, const void *right)
{
	const struct hf_span *const a = &((const struct item *)left)->span;
	const struct hf_span *const b = &((const struct item *)right)->span;

	if (a->len != b->len)
		return a->len < b->len ? -1 : 1;
	return a->len == 0 ? 0 : memcmp(a->text, b->text, a->len);
}

/* numbers: of all of a, then all of b. */
static int give_numbers(const struct hf_span *a, size_t a_count,
			const struct hf_span *b, size_t b_count,
			uint32_t *numbers, uint32_t *ret_count)
{
	const size_t count = a_count + b_count;
	cleanup_free struct item *items = calloc(count + 1, sizeof(*items));
	uint32_t number = 0;

	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		items[i] = (struct item){
			.span = i < a_count ? a[i] : b[i - a_count],
			.index = i,
		};
	qsort(items, count, sizeof(*items), compare_items);
	for (size_t i = 0; i < count; i++) {
		number += i > 0 && compare_items(&items[i - 1], &items[i]) != 0;
		numbers[items[i].index] = number;
	}
	*ret_count = number + 1;
	return 0;
}

/* -- one side ---------------------------------------------------------------
 */

struct side {
	uint32_t *numbers; /* of all */
	size_t count;
	uint32_t *kept; /* of those that both sides have */
	size_t *index;	/* where those stand */
	size_t kept_count;
	bool *is_changed;
};

static void side_done(struct side *side)
{
	hf_free_pointee(&side->kept);
	hf_free_pointee(&side->index);
}

/* Bits of has: which side has that number. */
static int keep_common(struct side *side, const unsigned char *has)
{
	side->kept = calloc(side->count + 1, sizeof(*side->kept));
	side->index = calloc(side->count + 1, sizeof(*side->index));
	if (!side->kept || !side->index)
		return -ENOMEM;
	for (size_t i = 0; i < side->count; i++) {
		if (has[side->numbers[i]] != 3) {
			side->is_changed[i] = true;
			continue;
		}
		side->kept[side->kept_count] = side->numbers[i];
		side->index[side->kept_count++] = i;
	}
	return 0;
}

/* Each run of changes as far down as equal texts let it. */
static void settle(struct side *side)
{
	bool *const is_changed = side->is_changed;
	size_t begin = 0;

	while (begin < side->count) {
		size_t end = begin;

		if (!is_changed[begin]) {
			begin++;
			continue;
		}
		while (end < side->count && is_changed[end])
			end++;
		while (end < side->count && !is_changed[end] &&
		       side->numbers[begin] == side->numbers[end]) {
			is_changed[begin++] = false;
			is_changed[end++] = true;
			/* It may have met the next run. */
			while (end < side->count && is_changed[end])
				end++;
		}
		begin = end;
	}
}

/* -- boxes ------------------------------------------------------------------
 */

struct box {
	size_t a_begin;
	size_t a_end;
	size_t b_begin;
	size_t b_end;
};

struct search {
	struct side *a;
	struct side *b;
	int32_t *forward; /* how far along a, by diagonal */
	int32_t *backward;
	uint64_t effort;
	bool is_rough;
};

/* The text of a side so many from the begin, or from the end, of the box. */
static uint32_t at(const uint32_t *kept, size_t begin, size_t end,
		   int32_t offset, bool is_backward)
{
	return is_backward ? kept[end - 1 - (size_t)offset]
			   : kept[begin + (size_t)offset];
}

/*
 * The furthest that a path with one change more gets on diagonal k, then along
 * what is equal.  v has the ways of those with one change less.
 */
static int32_t advance(struct search *search, const struct box *box,
		       const int32_t *v, int32_t k, bool is_backward)
{
	const int32_t n = (int32_t)(box->a_end - box->a_begin);
	const int32_t m = (int32_t)(box->b_end - box->b_begin);
	const int32_t right = v[k - 1] == DEAD ? DEAD : v[k - 1] + 1;
	const int32_t down = v[k + 1];
	int32_t x = DEAD;
	int32_t y;
	uint64_t equal;

	if (right != DEAD && right <= n)
		x = right;
	if (down != DEAD && down - k <= m && down > x)
		x = down;
	if (x == DEAD)
		return DEAD;
	y = x - k;
	equal = (uint64_t)x;
	while (x < n && y < m &&
	       at(search->a->kept, box->a_begin, box->a_end, x, is_backward) ==
		       at(search->b->kept, box->b_begin, box->b_end, y,
			  is_backward)) {
		x++;
		y++;
	}
	equal = (uint64_t)x - equal;
	search->effort -= equal < search->effort ? equal : search->effort;
	return x;
}

struct meeting {
	int32_t x;
	int32_t y;
};

/* All diagonals of one more change, in one direction; do the paths meet? */
static bool take_turn(struct search *search, const struct box *box, int32_t d,
		      bool is_backward, struct meeting *meeting)
{
	const int32_t n = (int32_t)(box->a_end - box->a_begin);
	const int32_t m = (int32_t)(box->b_end - box->b_begin);
	const int32_t delta = n - m;
	int32_t *const mine = is_backward ? search->backward : search->forward;
	const int32_t *const other =
		is_backward ? search->forward : search->backward;
	/* The other direction has made as many, or one less. */
	const int32_t reach = is_backward ? d : d - 1;

	/* Diagonals of the other parity have the ways of one change less. */
	mine[-d - 1] = DEAD;
	mine[d + 1] = DEAD;
	for (int32_t k = -d; k <= d; k += 2) {
		int32_t x = d == 0 ? 0 : DEAD;

		if (k < -m || k > n) {
			mine[k] = DEAD;
			continue;
		}
		if (d == 0)
			/* From the corner, along what is equal. */
			mine[1] = 0;
		x = advance(search, box, mine, k, is_backward);
		mine[k] = x;
		if (x == DEAD || (delta & 1) == (is_backward ? 1 : 0) ||
		    delta - k < -reach || delta - k > reach ||
		    other[delta - k] == DEAD || x + other[delta - k] < n)
			continue;
		*meeting = (struct meeting){
			.x = is_backward ? n - x : x,
			.y = is_backward ? m - (x - k) : x - k,
		};
		return true;
	}
	return false;
}

/* Where the shortest paths meet; false when that would take too long. */
static bool find_meeting(struct search *search, const struct box *box,
			 struct meeting *meeting)
{
	for (int32_t d = 0;; d++) {
		const uint64_t cost = 2 * ((uint64_t)d + 1);

		if (search->effort < cost)
			return false;
		search->effort -= cost;
		if (take_turn(search, box, d, false, meeting) ||
		    take_turn(search, box, d, true, meeting))
			return true;
	}
}

static void mark_all(struct search *search, const struct box *box)
{
	for (size_t i = box->a_begin; i < box->a_end; i++)
		search->a->is_changed[search->a->index[i]] = true;
	for (size_t i = box->b_begin; i < box->b_end; i++)
		search->b->is_changed[search->b->index[i]] = true;
}

static struct box trim(const struct search *search, struct box box)
{
	const uint32_t *const a = search->a->kept;
	const uint32_t *const b = search->b->kept;

	while (box.a_begin < box.a_end && box.b_begin < box.b_end &&
	       a[box.a_begin] == b[box.b_begin]) {
		box.a_begin++;
		box.b_begin++;
	}
	while (box.a_begin < box.a_end && box.b_begin < box.b_end &&
	       a[box.a_end - 1] == b[box.b_end - 1]) {
		box.a_end--;
		box.b_end--;
	}
	return box;
}

/* Each cut halves the number of changes: 32 levels at most. */
static void split(struct search *search, struct box whole)
{
	const struct box box = trim(search, whole);
	struct meeting meeting;
	struct box first = box;
	struct box second = box;

	if (box.a_begin == box.a_end || box.b_begin == box.b_end) {
		mark_all(search, &box);
		return;
	}
	if (!find_meeting(search, &box, &meeting)) {
		search->is_rough = true;
		mark_all(search, &box);
		return;
	}
	first.a_end = second.a_begin = box.a_begin + (size_t)meeting.x;
	first.b_end = second.b_begin = box.b_begin + (size_t)meeting.y;
	split(search, first);
	split(search, second);
}

/* -- all of it --------------------------------------------------------------
 */

static int search_all(struct side *a, struct side *b, uint64_t effort,
		      bool *ret_is_rough)
{
	/* Diagonals from -middle to middle. */
	const size_t middle = a->kept_count + b->kept_count + 2;
	cleanup_free int32_t *ways =
		calloc(2 * (2 * middle + 1), sizeof(*ways));
	struct search search = {.a = a, .b = b, .effort = effort};

	if (!ways)
		return -ENOMEM;
	search.forward = ways + middle;
	search.backward = ways + (2 * middle + 1) + middle;
	split(&search, (struct box){
			       .a_end = a->kept_count,
			       .b_end = b->kept_count,
		       });
	*ret_is_rough = search.is_rough;
	return 0;
}

static int find(struct side *a, struct side *b, uint32_t number_count,
		uint64_t effort, bool *ret_is_rough)
{
	cleanup_free unsigned char *has = calloc(number_count, 1);
	int rc;

	if (!has)
		return -ENOMEM;
	for (size_t i = 0; i < a->count; i++)
		has[a->numbers[i]] |= 1;
	for (size_t i = 0; i < b->count; i++)
		has[b->numbers[i]] |= 2;
	rc = keep_common(a, has);
	if (rc == 0)
		rc = keep_common(b, has);
	if (rc == 0)
		rc = search_all(a, b, effort, ret_is_rough);
	if (rc < 0)
		return rc;
	settle(a);
	settle(b);
	return 0;
}

int hf_edits_find(const struct hf_span *a, size_t a_count,
		  const struct hf_span *b, size_t b_count, uint64_t effort,
		  struct hf_edits *ret_edits)
{
	cleanup_edits struct hf_edits edits = HF_EDITS_INIT;
	cleanup_free uint32_t *numbers = NULL;
	CLEANUP(side_done) struct side first = {.count = a_count};
	CLEANUP(side_done) struct side second = {.count = b_count};
	uint32_t number_count;
	int rc;

	if (a_count > HF_EDITS_MAX || b_count > HF_EDITS_MAX - a_count)
		return -EFBIG;
	edits.is_removed = calloc(a_count + 1, sizeof(bool));
	edits.is_added = calloc(b_count + 1, sizeof(bool));
	numbers = calloc(a_count + b_count + 1, sizeof(*numbers));
	if (!edits.is_removed || !edits.is_added || !numbers)
		return -ENOMEM;
	rc = give_numbers(a, a_count, b, b_count, numbers, &number_count);
	if (rc < 0)
		return rc;
	first.numbers = numbers;
	first.is_changed = edits.is_removed;
	second.numbers = numbers + a_count;
	second.is_changed = edits.is_added;
	rc = find(&first, &second, number_count, effort, &edits.is_rough);
	if (rc < 0)
		return rc;
	*ret_edits = edits;
	edits = (struct hf_edits)HF_EDITS_INIT;
	return 0;
}
