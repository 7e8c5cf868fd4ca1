/* SPDX-License-Identifier: MIT */
/* The table: what becomes of an entry that a session which died left different.
 */
#include "core/recover.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "core/journal_text.h"

/* The session lived until then. */
#define ALIVE  1000
#define BEFORE 500
#define AFTER  2000

enum what { GONE, RECORDED, DAMAGE, OTHER };

/* What the journal tells of the path. */
enum told {
	NOTHING,
	SEEN,	 /* a change, not what it led to */
	LEFT,	 /* DAMAGE */
	PERSON,	 /* a person's change */
	BOTH,	 /* a person's, and one of the command's */
	ACCEPTED /* OTHER, later, by a person */
};

static const struct {
	const char *name;
	enum what before;
	enum what now;
	int64_t ctime;
	enum told told;
	bool is_run;
	bool is_other_boot;
	enum hf_recovery want;
} cases[] = {
	{"as recorded", RECORDED, RECORDED, BEFORE, NOTHING, true, false,
	 HF_RECOVERY_NOTHING},
	{"as recorded, whatever was seen", RECORDED, RECORDED, AFTER, LEFT,
	 true, false, HF_RECOVERY_NOTHING},
	{"missing", RECORDED, GONE, 0, NOTHING, true, false,
	 HF_RECOVERY_PUT_BACK},
	{"missing, another boot", RECORDED, GONE, 0, NOTHING, true, true,
	 HF_RECOVERY_PUT_BACK},
	{"known damage", RECORDED, DAMAGE, AFTER, LEFT, true, false,
	 HF_RECOVERY_PUT_BACK},
	{"known damage, another boot", RECORDED, DAMAGE, AFTER, LEFT, true,
	 true, HF_RECOVERY_PUT_BACK},
	{"something else since", RECORDED, OTHER, AFTER, LEFT, true, false,
	 HF_RECOVERY_UNDECIDED},
	{"changed while it lived", RECORDED, OTHER, BEFORE, NOTHING, true,
	 false, HF_RECOVERY_PUT_BACK},
	{"changed in its last moment", RECORDED, OTHER, ALIVE, SEEN, true,
	 false, HF_RECOVERY_PUT_BACK},
	{"changed behind that", RECORDED, OTHER, ALIVE + 1, SEEN, true, false,
	 HF_RECOVERY_UNDECIDED},
	{"the clock of another boot", RECORDED, OTHER, BEFORE, NOTHING, true,
	 true, HF_RECOVERY_UNDECIDED},
	{"new while it lived", GONE, OTHER, BEFORE, NOTHING, true, false,
	 HF_RECOVERY_PUT_BACK},
	{"new since", GONE, OTHER, AFTER, NOTHING, true, false,
	 HF_RECOVERY_UNDECIDED},
	{"a person's", RECORDED, OTHER, BEFORE, PERSON, true, false,
	 HF_RECOVERY_LEAVE},
	{"removed by a person", RECORDED, GONE, 0, PERSON, true, false,
	 HF_RECOVERY_LEAVE},
	{"a person's, changed since", RECORDED, OTHER, AFTER, PERSON, true,
	 false, HF_RECOVERY_UNDECIDED},
	{"a person's and the command's", RECORDED, OTHER, BEFORE, BOTH, true,
	 false, HF_RECOVERY_PUT_BACK},
	{"accepted", RECORDED, OTHER, AFTER, ACCEPTED, true, false,
	 HF_RECOVERY_LEAVE},
	{"accepted, changed since", RECORDED, DAMAGE, AFTER, ACCEPTED, true,
	 false, HF_RECOVERY_UNDECIDED},
	{"by hand: as it was before", RECORDED, OTHER, BEFORE, NOTHING, false,
	 false, HF_RECOVERY_UNDECIDED},
	{"by hand: missing", RECORDED, GONE, 0, NOTHING, false, false,
	 HF_RECOVERY_UNDECIDED},
	{"by hand: was about to be replaced", RECORDED, DAMAGE, BEFORE, LEFT,
	 false, false, HF_RECOVERY_PUT_BACK},
};

static struct hf_entry entry_of(enum what what, int64_t ctime_ns)
{
	struct hf_entry entry = {
		.path = "a.toml",
		.rule = "*.toml",
		.xattrs = "",
	};

	if (what == GONE)
		return entry;
	entry.stat.kind = HF_KIND_FILE;
	entry.stat.mode = 0644;
	entry.stat.size = (uint64_t)what;
	entry.stat.ino = (uint64_t)what;
	entry.stat.ctime_ns = ctime_ns;
	entry.has_hash = true;
	entry.hash = hf_hash_of(&what, sizeof(what));
	return entry;
}

TestSuite(recover);

Test(recover, table)
{
	for (size_t i = 0; i < HF_COUNT(cases); i++) {
		struct hf_entry before = entry_of(cases[i].before, 1);
		struct hf_entry now = entry_of(cases[i].now, cases[i].ctime);
		struct hf_entry left = entry_of(DAMAGE, 1);
		struct hf_entry other = entry_of(OTHER, 1);
		struct hf_entry *const accepted[] = {&other};
		struct hf_damage damages[] = {
			{.path = "a.toml", .is_outside = true},
			{.path = "a.toml"},
			{.path = "b.toml", .entry = &other},
		};
		struct hf_dead dead = {
			.is_run = cases[i].is_run,
			.alive_ns = cases[i].is_other_boot ? 0 : ALIVE,
			.damages = damages,
			.damage_count = HF_COUNT(damages),
			.accepted = accepted,
			.accepted_count = cases[i].told == ACCEPTED,
		};
		const struct hf_delta delta = {
			.before = cases[i].before == GONE ? NULL : &before,
			.after = cases[i].now == GONE ? NULL : &now,
			.change = hf_compare_entry(&before, &now),
		};

		if (cases[i].told == PERSON)
			damages[1].is_outside = true;
		else if (cases[i].told != BOTH)
			damages[0].path = damages[1].path = "A.toml";
		if (cases[i].told == SEEN || cases[i].told == LEFT)
			damages[0].is_outside = false,
			damages[0].path = damages[1].path = "a.toml";
		if (cases[i].told == LEFT)
			damages[1].entry = &left;
		cr_expect_eq(hf_recover_decide(&dead, &delta), cases[i].want,
			     "%s", cases[i].name);
	}
}

/* -- from a journal ----------------------------------------------------------
 */

static void add_line(struct hf_buffer *journal, const char *kind,
		     const char *members)
{
	hf_journal_line(kind, members, journal);
}

static void decode(const struct hf_buffer *journal,
		   struct hf_session_record *record)
{
	struct hf_error err = {0};

	cr_assert_eq(hf_journal_decode("journal", journal->data, journal->len,
				       record, &err),
		     0, "%s", err.text);
}

static void begin(struct hf_buffer *journal)
{
	add_line(journal, "open",
		 "\"version\":1,\"kind\":\"run\",\"snapshot\":\"\","
		 "\"command\":[],\"root\":\"/\",\"pid\":1,"
		 "\"pid_start\":\"1\",\"boot\":\"this\","
		 "\"time\":\"1.000000000\",\"boot_time\":\"1.000000000\"");
}

Test(recover, reads_a_journal)
{
	cleanup_session_record struct hf_session_record record =
		HF_SESSION_RECORD_INIT;
	cleanup_buffer struct hf_buffer journal = HF_BUFFER_INIT;
	cleanup_dead struct hf_dead dead = HF_DEAD_INIT;
	struct hf_error err = {0};

	begin(&journal);
	add_line(&journal, "violation",
		 "\"path\":\"b\",\"landed\":true,\"outside\":true");
	add_line(&journal, "violation",
		 "\"path\":\"a\",\"landed\":true,\"after\":{\"path\":"
		 "\"a\",\"kind\":\"absent\"}");
	add_line(&journal, "violation", "\"path\":\"c\",\"landed\":false");
	add_line(&journal, "accepted",
		 "\"alive\":\"7.000000000\",\"entry\":{\"path\":\"a\","
		 "\"kind\":\"absent\"}");
	decode(&journal, &record);
	cr_assert_eq(hf_dead_read(&record, "this", &dead, &err), 0, "%s",
		     err.text);
	cr_expect(dead.is_run);
	cr_expect_eq(dead.alive_ns, 7000000000 + HF_JOURNAL_BEAT_NS);
	cr_assert_eq(dead.damage_count, 2);
	cr_expect_str_eq(dead.damages[0].path, "a");
	cr_expect_not_null(dead.damages[0].entry);
	cr_expect(dead.damages[1].is_outside);
	cr_expect_eq(dead.accepted_count, 1);
	cr_expect_eq(hf_recover_left(&dead, "a"), dead.damages[0].entry);
	cr_expect_null(hf_recover_left(&dead, "b"));
	cr_expect_null(hf_recover_left(&dead, "d"));
}

Test(recover, another_boot)
{
	cleanup_session_record struct hf_session_record record =
		HF_SESSION_RECORD_INIT;
	cleanup_buffer struct hf_buffer journal = HF_BUFFER_INIT;
	cleanup_dead struct hf_dead dead = HF_DEAD_INIT;
	struct hf_error err = {0};

	begin(&journal);
	decode(&journal, &record);
	record.alive_ns = 7;
	cr_assert_eq(hf_dead_read(&record, "other", &dead, &err), 0);
	cr_expect_eq(dead.alive_ns, 0);
}

Test(recover, refuses_what_is_damaged)
{
	static const char *const lines[] = {
		"\"landed\":true",
		"\"path\":\"a\",\"landed\":true,\"after\":{\"path\":\"a\"}",
	};

	for (size_t i = 0; i < HF_COUNT(lines); i++) {
		cleanup_session_record struct hf_session_record record =
			HF_SESSION_RECORD_INIT;
		cleanup_buffer struct hf_buffer journal = HF_BUFFER_INIT;
		cleanup_dead struct hf_dead dead = HF_DEAD_INIT;
		struct hf_error err = {0};

		begin(&journal);
		add_line(&journal, "violation", lines[i]);
		decode(&journal, &record);
		cr_expect_eq(hf_dead_read(&record, "this", &dead, &err),
			     HF_ERR_CORRUPT, "%zu", i);
	}
}
