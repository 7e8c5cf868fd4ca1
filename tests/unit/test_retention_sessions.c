/* SPDX-License-Identifier: MIT */
/* Which sessions, kept copies and packs without a snapshot may be dropped. */
#include "core/retention.h"

#include <criterion/criterion.h>
#include <string.h>

#include "holdfast/error.h"

#define DAY_NS	      ((int64_t)86400 * 1000 * 1000 * 1000)
#define NOW_NS	      (1000 * DAY_NS)
#define PLENTY	      ((uint64_t)1 << 40)
#define SNAPSHOT_SIZE 10
#define PACK_SIZE     100
#define SESSIONS_MAX  600
#define JOURNAL_SIZE  1
#define KEPT_SIZE     100

/*
 * A character for each session, a day apart: 'c' clean, 'v' refused something,
 * 'k' a run that kept copies, 'r' a restore that did, 'o' one in progress that
 * did, 'u' an undo of the session before, 'l' copies without a journal.  Left:
 * 'x' for copies that go, 's' since the store is too large, '-' for a journal.
 */
static const struct session_row {
	const char *name;
	const char *sessions;
	uint64_t contents;
	uint64_t days;
	uint64_t bytes;
	const char *left;
	bool is_over;
} session_rows[] = {
	{"all, while there is room", "ckrvuo", 20, 0, PLENTY, "++++++", false},
	{"the newest two that kept", "kkckrc", 2, 0, PLENTY, "xx++++", false},
	{"and what is young", "kkckrc", 1, 5, PLENTY, "x+++++", false},
	{"in progress is not counted", "okkc", 1, 0, PLENTY, "+x++", false},
	{"without a journal", "lkk", 2, 0, PLENTY, "x++", false},
	{"too large: runs first, from the old end", "krkrk", 20, 90,
	 3 * (KEPT_SIZE + JOURNAL_SIZE), "s+s++", false},
	{"too large: then restores", "krkrk", 20, 90,
	 2 * (KEPT_SIZE + JOURNAL_SIZE), "sss++", false},
	{"too large: the last stays, and what is in progress", "krokck", 20, 90,
	 1, "ss+s++", true},
};

static void fill(struct hf_retention_session *sessions, const char *text)
{
	const size_t count = strlen(text);

	for (size_t i = 0; i < count; i++) {
		const char c = text[i];

		sessions[i] = (struct hf_retention_session){
			.begun_ns =
				c == 'l' ? 0
					 : NOW_NS - (int64_t)(count - 1 - i) *
							    DAY_NS,
			.bytes = JOURNAL_SIZE,
			.has_kept = strchr("krol", c) != NULL,
			.is_open = c == 'o',
			.is_run = strchr("cvko", c) != NULL,
			.is_violated = c == 'v',
			.undone = c == 'u' ? i : 0,
		};
		if (sessions[i].has_kept)
			sessions[i].kept_bytes = KEPT_SIZE;
	}
}

static void decide_sessions(const char *name, const char *text,
			    const struct hf_retention *limits, char *left,
			    bool is_over)
{
	static struct hf_retention_session sessions[SESSIONS_MAX];
	cleanup_retention_plan struct hf_retention_plan plan =
		HF_RETENTION_PLAN_INIT;
	const struct hf_retention_input input = {
		.sessions = sessions,
		.session_count = strlen(text),
		.now_ns = NOW_NS,
		.limits = *limits,
	};
	struct hf_error err;

	fill(sessions, text);
	cr_assert_eq(hf_retention_decide(&input, &plan, &err), 0);
	memset(left, '+', input.session_count);
	left[input.session_count] = '\0';
	for (size_t i = 0; i < plan.count; i++)
		left[plan.drops[i].index] =
			plan.drops[i].what == HF_RETENTION_SESSION ? '-'
			: plan.drops[i].why == HF_RETENTION_SIZE   ? 's'
								   : 'x';
	cr_expect_eq(plan.is_over, is_over, "%s", name);
}

Test(retention_sessions, table)
{
	for (size_t i = 0; i < HF_COUNT(session_rows); i++) {
		const struct session_row *const row = &session_rows[i];
		const struct hf_retention limits = {
			.contents = row->contents,
			.days = row->days,
			.bytes = row->bytes,
		};
		char left[SESSIONS_MAX + 1];

		decide_sessions(row->name, row->sessions, &limits, left,
				row->is_over);
		cr_expect_str_eq(left, row->left, "%s: %s, not %s", row->name,
				 left, row->left);
	}
}

/* 300 of a kind in front, then 200 clean ones: which of the front stay? */
Test(retention_sessions, many_sessions)
{
	static const struct {
		char kind;
		size_t left;
	} fronts[] = {
		{'c', 0},
		{'v', 200},
		{'k', 300},
		{'o', 300},
	};
	const struct hf_retention limits = {300, 0, PLENTY};

	for (size_t i = 0; i < HF_COUNT(fronts); i++) {
		char text[SESSIONS_MAX + 1];
		char left[SESSIONS_MAX + 1];
		size_t count = 0;

		memset(text, fronts[i].kind, 300);
		memset(text + 300, 'c', HF_RETENTION_SESSIONS);
		text[300 + HF_RETENTION_SESSIONS] = '\0';
		decide_sessions(text, text, &limits, left, false);
		for (size_t k = 0; k < strlen(text); k++)
			count += left[k] == '+';
		cr_expect_eq(count, fronts[i].left + HF_RETENTION_SESSIONS,
			     "%c: %zu", fronts[i].kind, count);
		cr_expect_eq(strspn(left + 300, "+"), HF_RETENTION_SESSIONS);
	}
}

/* Without the undo its session would look as if it were to be undone yet. */
Test(retention_sessions, an_undo_stays_as_long_as_what_it_has_undone)
{
	const struct hf_retention limits = {300, 0, PLENTY};
	char text[SESSIONS_MAX + 1] = "kucu";
	char left[SESSIONS_MAX + 1];

	memset(text + 4, 'c', HF_RETENTION_SESSIONS);
	decide_sessions(text, text, &limits, left, false);
	cr_expect(strncmp(left, "++--+", 5) == 0, "%.5s", left);
}

/* -- packs --------------------------------------------------------------------
 */

/* A manifest that somebody took away to save what can be saved. */
Test(retention_sessions, a_pack_that_nothing_refers_to_stays_for_days)
{
	static const struct {
		int64_t age;
		uint64_t bytes;
		const char *left;
	} ages[] = {
		{0, PLENTY, "++++"},
		{89, PLENTY, "++++"},
		{90, PLENTY, "--++"},
		/* As far as there is room. */
		{0, 3 * PACK_SIZE + SNAPSHOT_SIZE, "-+++"},
		{0, 1, "--++"},
	};
	static const uint32_t used = 3;
	const struct hf_retention_snapshot snapshot = {
		.created_ns = NOW_NS,
		.bytes = SNAPSHOT_SIZE,
		.packs = &used,
		.pack_count = 1,
	};

	for (size_t i = 0; i < HF_COUNT(ages); i++) {
		cleanup_retention_plan struct hf_retention_plan plan =
			HF_RETENTION_PLAN_INIT;
		struct hf_retention_pack packs[4];
		char left[] = "++++";
		struct hf_error err;
		const struct hf_retention_input input = {
			.snapshots = &snapshot,
			.snapshot_count = 1,
			.packs = packs,
			.pack_count = 4,
			.now_ns = NOW_NS,
			.limits = {20, 90, ages[i].bytes},
		};

		for (uint32_t k = 0; k < 4; k++)
			packs[k] = (struct hf_retention_pack){
				.number = k + 1,
				.bytes = PACK_SIZE,
				.made_ns = NOW_NS - ages[i].age * DAY_NS,
			};
		cr_assert_eq(hf_retention_decide(&input, &plan, &err), 0);
		for (size_t k = 0; k < plan.count; k++)
			left[plan.drops[k].index] = '-';
		cr_expect_str_eq(left, ages[i].left, "%zu: %s", i, left);
	}
}
