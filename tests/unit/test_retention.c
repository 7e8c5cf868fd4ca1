/* SPDX-License-Identifier: MIT */
/* What may be dropped: histories as strings, and what is left of them. */
#include "core/retention.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "holdfast/error.h"

#define DAY_NS	      ((int64_t)86400 * 1000 * 1000 * 1000)
#define NOW_NS	      (1000 * DAY_NS)
#define SNAPSHOTS_MAX 32
#define PATHS_MAX     3
#define PLENTY	      ((uint64_t)1 << 40)
#define SNAPSHOT_SIZE 10
#define PACK_SIZE     100

/*
 * A character for each snapshot, a day apart, the last one now: an upper-case
 * letter is a content of 100 bytes, a lower-case one of 40, '0' an empty one, a
 * digit 100 bytes that a run has found and replaced, '/' a directory, '.'
 * nothing.  Left of snapshots: '+' stays, '-' goes, 's' goes since the store is
 * too large.  Each content has a pack of its own.  Why it stays: by the letters
 * below, '.' what does not.
 */
static const struct row {
	const char *name;
	const char *paths[PATHS_MAX];
	const char *modes;  /* of the first path; NULL: all the same */
	const char *in_use; /* 'u' for each that a session needs */
	uint64_t contents;
	uint64_t days;
	uint64_t bytes; /* 0: plenty */
	const char *left;
	const char *packs;
	const char *whys; /* NULL: not looked at */
	bool is_over;
} rows[] = {
	{.name = "nothing",
	 .paths = {""},
	 .contents = 1,
	 .left = "",
	 .packs = ""},
	{.name = "the newest three of five",
	 .paths = {"ABCDE"},
	 .contents = 3,
	 .left = "--+++",
	 .packs = "--+++",
	 .whys = "..aaL"},
	{.name = "one content is one, however often it is recorded",
	 .paths = {"ABBBBC"},
	 .contents = 2,
	 .left = "----++",
	 .packs = "-++"},
	{.name = "a content that came again is new",
	 .paths = {"ABCA"},
	 .contents = 2,
	 .left = "--++",
	 .packs = "+-+"},
	{.name = "each path by itself",
	 .paths = {"AAAAAA", "BCDEFG"},
	 .contents = 2,
	 .left = "----++",
	 .packs = "+----++"},
	{.name = "what is held for one path holds the rest",
	 .paths = {"ABBBBB", "CDEFGH"},
	 .contents = 2,
	 .left = "+---++",
	 .packs = "+++---++"},
	{.name = "an entry that is gone keeps its newest",
	 .paths = {"AB....", "CCCCCC"},
	 .contents = 1,
	 .left = "-+---+",
	 .packs = "-++"},
	{.name = "all that is young",
	 .paths = {"ABCDEF"},
	 .contents = 1,
	 .days = 3,
	 .left = "--++++",
	 .packs = "--++++",
	 .whys = "..yyyL"},
	{.name = "it counts when it was replaced, not when it was made",
	 .paths = {"AAAAAB"},
	 .contents = 1,
	 .days = 1,
	 .left = "----++",
	 .packs = "++"},
	{.name = "a mode is remembered for days",
	 .paths = {"AAAA"},
	 .modes = "1234",
	 .contents = 3,
	 .days = 2,
	 .left = "-+++",
	 .packs = "+"},
	{.name = "but is no content",
	 .paths = {"BAAAA"},
	 .modes = "11234",
	 .contents = 2,
	 .left = "+---+",
	 .packs = "++"},
	{.name = "sessions hold theirs",
	 .paths = {"ABCDE"},
	 .in_use = ".u...",
	 .contents = 1,
	 .left = "-+--+",
	 .packs = "-+--+"},
	{.name = "pinned: empty since",
	 .paths = {"ABC0"},
	 .contents = 1,
	 .left = "--++",
	 .packs = "--++"},
	{.name = "pinned: less than half since, again and again",
	 .paths = {"ABabcde"},
	 .contents = 2,
	 .left = "-+---++",
	 .packs = "-+---++"},
	{.name = "pinned: a directory since",
	 .paths = {"AB/////"},
	 .contents = 1,
	 .left = "-+----+",
	 .packs = "-+"},
	{.name = "no longer pinned when it has grown again",
	 .paths = {"AB0CD"},
	 .contents = 1,
	 .left = "----+",
	 .packs = "----+"},
	{.name = "a growing file is none that drifted",
	 .paths = {"0abAB"},
	 .contents = 1,
	 .left = "----+",
	 .packs = "----+"},
	{.name = "damage displaces nothing",
	 .paths = {"AB12345"},
	 .contents = 2,
	 .left = "++----+",
	 .packs = "++----+"},
	{.name = "damage is no more when it was recorded before",
	 .paths = {"A1B1"},
	 .contents = 2,
	 .left = "--++",
	 .packs = "-++"},
	{.name = "of a path that is gone its last, and the last that is none",
	 .paths = {"A1..", "CCCC"},
	 .contents = 1,
	 .bytes = 1,
	 .left = "++-+",
	 .packs = "+++",
	 .is_over = true},
	{.name = "too large: the oldest first",
	 .paths = {"ABCDE"},
	 .contents = 5,
	 .bytes = 3 * (SNAPSHOT_SIZE + PACK_SIZE),
	 .left = "ss+++",
	 .packs = "--+++"},
	{.name = "too large: damage before all",
	 .paths = {"ABCD1E"},
	 .contents = 9,
	 .days = 90,
	 .bytes = 5 * (SNAPSHOT_SIZE + PACK_SIZE),
	 .left = "++++s+",
	 .packs = "++++-+"},
	{.name = "too large: never what must stay",
	 .paths = {"ABC0", "DEFG"},
	 .in_use = "u...",
	 .contents = 9,
	 .bytes = 1,
	 .left = "+s++",
	 .packs = "++--++++",
	 .whys = "u.pL",
	 .is_over = true},
	{.name = "too large: a pack shared with what stays does not help",
	 .paths = {"AAAA"},
	 .modes = "1234",
	 .contents = 1,
	 .days = 90,
	 .bytes = PACK_SIZE + 2 * SNAPSHOT_SIZE,
	 .left = "ss++",
	 .packs = "+"},
};

/* Contents in order of their first appearance: each has a pack. */
struct history {
	const struct row *row;
	size_t count;
	struct hf_retention_snapshot snapshots[SNAPSHOTS_MAX];
	uint32_t packs[SNAPSHOTS_MAX][PATHS_MAX];
	struct hf_retention_span spans[PATHS_MAX * SNAPSHOTS_MAX];
	size_t span_count;
	struct hf_retention_pack pack_items[PATHS_MAX * SNAPSHOTS_MAX];
	size_t pack_count;
};

static struct hf_hash hash_of(char content, char mode)
{
	const char text[2] = {content, mode};

	return hf_hash_of(text, sizeof(text));
}

static bool has_content(char c)
{
	return c != '.' && c != '/';
}

static uint64_t size_of(char c)
{
	return c == '0' || !has_content(c) ? 0
	       : islower((unsigned char)c) ? 40
					   : 100;
}

/* The pack of a content of a path: found, or made. */
static uint32_t pack_of(struct history *h, size_t path, size_t at)
{
	static uint32_t numbers[PATHS_MAX][256];
	uint32_t *const number =
		&numbers[path][(unsigned char)h->row->paths[path][at]];

	if (h->pack_count == 0)
		memset(numbers, 0, sizeof(numbers));
	if (*number == 0) {
		*number = (uint32_t)h->pack_count + 1;
		h->pack_items[h->pack_count++] = (struct hf_retention_pack){
			.number = *number,
			.bytes = PACK_SIZE,
		};
	}
	return *number;
}

static void add_state(struct history *h, size_t path, size_t at)
{
	const char *const text = h->row->paths[path];
	const char mode = path == 0 && h->row->modes ? h->row->modes[at] : '1';
	const char old_mode = at > 0 && path == 0 && h->row->modes
				      ? h->row->modes[at - 1]
				      : '1';

	if (at > 0 && text[at] == text[at - 1] && mode == old_mode) {
		for (size_t i = h->span_count; i > 0; i--) {
			if (h->spans[i - 1].path != path)
				continue;
			h->spans[i - 1].last = at;
			return;
		}
	}
	h->spans[h->span_count++] = (struct hf_retention_span){
		.path = (uint32_t)path,
		.is_content = has_content(text[at]),
		/* "A1B1": what a run found after it was there is none. */
		.is_damage = isdigit((unsigned char)text[at]) &&
			     text[at] != '0' &&
			     !(at == 1 && strcmp(text, "A1B1") == 0),
		.size = size_of(text[at]),
		.content = hash_of(text[at], 0),
		.state = hash_of(text[at], mode),
		.last = at,
	};
}

static void build(struct history *h, const struct row *row)
{
	memset(h, 0, sizeof(*h));
	h->row = row;
	h->count = strlen(row->paths[0]);
	for (size_t i = 0; i < h->count; i++) {
		struct hf_retention_snapshot *const item = &h->snapshots[i];

		*item = (struct hf_retention_snapshot){
			.created_ns =
				NOW_NS - (int64_t)(h->count - 1 - i) * DAY_NS,
			.bytes = SNAPSHOT_SIZE,
			.is_in_use = row->in_use && row->in_use[i] == 'u',
			.packs = h->packs[i],
		};
		for (size_t p = 0; p < PATHS_MAX && row->paths[p]; p++) {
			const char c = row->paths[p][i];

			if (c == '.')
				continue;
			add_state(h, p, i);
			if (has_content(c))
				h->packs[i][item->pack_count++] =
					pack_of(h, p, i);
		}
	}
}

static struct hf_retention_input input_of(struct history *h)
{
	return (struct hf_retention_input){
		.snapshots = h->snapshots,
		.snapshot_count = h->count,
		.spans = h->spans,
		.span_count = h->span_count,
		.packs = h->pack_items,
		.pack_count = h->pack_count,
		.now_ns = NOW_NS,
		.limits = {.contents = h->row->contents,
			   .days = h->row->days,
			   .bytes = h->row->bytes > 0 ? h->row->bytes : PLENTY},
	};
}

/* What is left, in the notation of the rows; checks the sum as well. */
static void draw(const struct history *h, const struct hf_retention_plan *plan,
		 char *left, char *packs)
{
	uint64_t bytes = 0;

	memset(left, '+', h->count);
	left[h->count] = '\0';
	memset(packs, '+', h->pack_count);
	packs[h->pack_count] = '\0';
	for (size_t i = 0; i < plan->count; i++) {
		const struct hf_retention_drop *const drop = &plan->drops[i];

		bytes += drop->bytes;
		if (drop->what == HF_RETENTION_SNAPSHOT)
			left[drop->index] =
				drop->why == HF_RETENTION_SIZE ? 's' : '-';
		else
			packs[drop->index] = '-';
	}
	cr_expect_eq(plan->bytes_before,
		     h->count * SNAPSHOT_SIZE + h->pack_count * PACK_SIZE, "%s",
		     h->row->name);
	cr_expect_eq(plan->bytes_before - plan->bytes_after, bytes, "%s",
		     h->row->name);
}

/* No snapshot that stays misses a pack. */
static void check_packs(const struct history *h, const char *left,
			const char *packs)
{
	for (size_t i = 0; i < h->count; i++)
		for (size_t k = 0;
		     left[i] == '+' && k < h->snapshots[i].pack_count; k++)
			cr_expect_eq(packs[h->packs[i][k] - 1], '+', "%s",
				     h->row->name);
}

/* What is not dropped is explained, and nothing twice. */
static void check_whys(const struct history *h,
		       const struct hf_retention_input *input,
		       const struct hf_retention_plan *plan)
{
	static const char letters[HF_STAYS + 1] = "Lupnaydej";
	struct hf_retention_staying *items = NULL;
	char whys[SNAPSHOTS_MAX + 1];
	struct hf_error err;
	size_t count;

	cr_assert_eq(hf_retention_explain(input, plan, &items, &count, &err),
		     0);
	cr_expect_eq(count + plan->count, h->count + h->pack_count, "%s",
		     h->row->name);
	memset(whys, '.', h->count);
	whys[h->count] = '\0';
	for (size_t i = 0; i < count; i++)
		if (items[i].what == HF_RETENTION_SNAPSHOT)
			whys[items[i].index] = letters[items[i].why];
	if (h->row->whys)
		cr_expect_str_eq(whys, h->row->whys, "%s: %s, not %s",
				 h->row->name, whys, h->row->whys);
	free(items);
}

Test(retention, table)
{
	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		cleanup_retention_plan struct hf_retention_plan plan =
			HF_RETENTION_PLAN_INIT;
		struct history history;
		struct hf_retention_input input;
		struct hf_error err;
		char left[SNAPSHOTS_MAX + 1];
		char packs[PATHS_MAX * SNAPSHOTS_MAX + 1];

		build(&history, &rows[i]);
		input = input_of(&history);
		cr_assert_eq(hf_retention_decide(&input, &plan, &err), 0);
		draw(&history, &plan, left, packs);
		check_packs(&history, left, packs);
		check_whys(&history, &input, &plan);
		cr_expect_str_eq(left, rows[i].left, "%s: %s, not %s",
				 rows[i].name, left, rows[i].left);
		cr_expect_str_eq(packs, rows[i].packs, "%s: packs %s, not %s",
				 rows[i].name, packs, rows[i].packs);
		cr_expect_eq(plan.is_over, rows[i].is_over, "%s", rows[i].name);
	}
}
