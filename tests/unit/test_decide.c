/* SPDX-License-Identifier: MIT */
/* The gate's decisions about content and metadata, as a table. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "support/decided.h"

static struct hf_decided decided;

static void setup(void)
{
	hf_decided_setup(&decided, HF_DECIDED_WIDE);
}

static void setup_plain(void)
{
	hf_decided_setup(&decided, HF_DECIDED_PLAIN);
}

static void teardown(void)
{
	hf_decided_teardown(&decided);
}

TestSuite(decide, .init = setup, .fini = teardown, .timeout = 60);
TestSuite(decide_plain, .init = setup_plain, .fini = teardown, .timeout = 60);

#define PASS	HF_VERDICT_PASS
#define DONE	HF_VERDICT_DONE
#define REFUSE	HF_VERDICT_REFUSE
#define OBSERVE HF_VERDICT_OBSERVE

#define WRITE	 HF_GATE_WRITES
#define UPDATE	 (HF_GATE_WRITES | HF_GATE_READS)
#define TRUNCATE (HF_GATE_WRITES | HF_GATE_TRUNCATES)
#define CREATE	 (HF_GATE_WRITES | HF_GATE_CREATES)
#define ANEW	 (CREATE | HF_GATE_TRUNCATES)
#define ONLY_NEW (CREATE | HF_GATE_EXCLUSIVE)
#define NO_LINK	 HF_GATE_NO_LINK

#define PRESETS	 "presets.toml (*.toml)"
#define INSIDE	 "data/a.bin (data/)"
#define OUTSIDE	 "/elsewhere/settings.ini (/elsewhere/settings.ini)"
#define OF_STORE "/home/store (the store)"

#define ROW(what, ...)                                  \
	{                                               \
		.name = what, HF_GATE_OPEN, __VA_ARGS__ \
	}
static const struct hf_decided_row opens[] = {
	ROW("to read", 0, {"presets.toml"}, PASS, NULL, 0),
	ROW("to write", WRITE, {"presets.toml"}, REFUSE, PRESETS, 2),
	ROW("to write anew", ANEW, {"presets.toml"}, REFUSE, PRESETS, 2),
	ROW("to read, emptied", HF_GATE_READS | HF_GATE_TRUNCATES,
	    {"presets.toml"}, REFUSE, PRESETS, 2),
	ROW("to read, made", HF_GATE_CREATES, {"presets.toml"}, PASS, NULL, 1),
	ROW("only if it is new", ONLY_NEW, {"presets.toml"}, PASS, NULL, 1),
	ROW("a path alone", WRITE | HF_GATE_UNNAMED, {"presets.toml"}, PASS,
	    NULL, 0),
	ROW("as a directory", WRITE | HF_GATE_OF_DIRECTORY, {"presets.toml"},
	    PASS, NULL, 1),
	ROW("with a slash behind", WRITE, {"presets.toml/"}, PASS, NULL, 1),
	ROW("without permission", WRITE, {"presets.toml"}, PASS, NULL, 2,
	    .is_denied = true),

	/* Read-write opens. */
	ROW("for update", UPDATE, {"presets.toml"}, OBSERVE, PRESETS, 2),
	ROW("for update, made", UPDATE | HF_GATE_CREATES, {"app.db"}, OBSERVE,
	    "app.db (app.db)", 2),
	ROW("for update, emptied", UPDATE | HF_GATE_TRUNCATES, {"app.db"},
	    REFUSE, "app.db (app.db)", 2),
	ROW("for update, not wanted", UPDATE, {"app.db"}, REFUSE,
	    "app.db (app.db)", 2, .refuses_updates = true),
	ROW("for update, without permission", UPDATE, {"app.db"}, PASS, NULL, 2,
	    .is_denied = true),
	ROW("the store for update", UPDATE, {"/home/store/journal"}, REFUSE,
	    OF_STORE, 2),

	/* Roles. */
	ROW("allowed", ANEW, {"allowed.toml"}, PASS, NULL, 1),
	ROW("a side file", WRITE, {"app.db-wal"}, REFUSE, "app.db-wal (app.db)",
	    2),
	ROW("a side cache", WRITE, {"app.db-shm"}, PASS, NULL, 1),
	ROW("in a tree", WRITE, {"data/a.bin"}, REFUSE, INSIDE, 2),
	ROW("outside the root", WRITE, {"/elsewhere/settings.ini"}, REFUSE,
	    OUTSIDE, 2),
	ROW("the store", WRITE, {"/home/store/journal"}, REFUSE, OF_STORE, 2),
	ROW("a directory", WRITE, {"data"}, PASS, NULL, 1),

	/* By another name. */
	ROW("by a link", WRITE, {"other/link"}, REFUSE, PRESETS, 3),
	ROW("not by a link", WRITE | NO_LINK, {"other/link"}, PASS, NULL, 1),
	ROW("by a protected link", WRITE, {"latest.toml"}, REFUSE, PRESETS, 3),
	ROW("by a link, for update", UPDATE, {"other/link"}, OBSERVE, PRESETS,
	    3),
	ROW("by a second name", WRITE, {"other/hard"}, REFUSE, PRESETS, 2),
	ROW("by a descriptor", WRITE, {":presets.toml"}, REFUSE, PRESETS, 2),
	ROW("by a descriptor, to read", HF_GATE_CREATES, {":presets.toml"},
	    PASS, NULL, 0),
	ROW("what stands there since", WRITE, {"stale.toml"}, REFUSE,
	    "stale.toml (*.toml)", 3),
	ROW("what stands there since, a descriptor", WRITE, {":stale.toml"},
	    PASS, NULL, 1),

	/* What is not there. */
	ROW("an addition", CREATE, {"new.toml"}, REFUSE, "new.toml (*.toml)",
	    3),
	ROW("an addition to read", HF_GATE_CREATES, {"new.toml"}, REFUSE,
	    "new.toml (*.toml)", 3),
	ROW("an addition, only if it is new", ONLY_NEW, {"new.toml"}, REFUSE,
	    "new.toml (*.toml)", 3),
	ROW("an addition, not made", WRITE, {"new.toml"}, PASS, NULL, 1),
	ROW("an addition without permission", CREATE, {"new.toml"}, PASS, NULL,
	    3, .is_denied = true),
	ROW("a new name with a slash", CREATE, {"new.toml/"}, PASS, NULL, 1),
	ROW("an addition taken out", CREATE, {"free2.txt"}, PASS, NULL, 2),
	ROW("one that is allowed", CREATE, {"made-1.toml"}, PASS, NULL, 2),
	ROW("one the command may make", CREATE, {"uv.toml"}, PASS, NULL, 2,
	    .argv = (const char *const[]){"uv", "add", "x", NULL}),
	ROW("one another command may not", CREATE, {"uv.toml"}, REFUSE,
	    "uv.toml (*.toml)", 3,
	    .argv = (const char *const[]){"uv", "lock", NULL}),
	ROW("in a tree", CREATE, {"data/new"}, REFUSE, "data/new (data/)", 3),
	ROW("deep in a tree", CREATE, {"data/empty/new"}, REFUSE,
	    "data/empty/new (data/)", 3),
	ROW("deep", CREATE, {"other/new.cfg"}, REFUSE,
	    "other/new.cfg (**/*.cfg)", 4),
	ROW("not so deep", CREATE, {"other/new.toml"}, PASS, NULL, 3),
	ROW("absent", CREATE, {"secret.key"}, REFUSE, "secret.key (secret.key)",
	    3),
	ROW("absent in a directory", CREATE, {"conf/new.ini"}, REFUSE,
	    "conf/new.ini (conf/new.ini)", 3),
	ROW("absent elsewhere", CREATE, {"other/secret.key"}, PASS, NULL, 3),
	ROW("new in the store", CREATE, {"/home/store/new"}, REFUSE, OF_STORE,
	    3),
	ROW("new elsewhere", CREATE, {"/elsewhere/new.ini"}, PASS, NULL, 2),
	ROW("no directory", CREATE, {"nowhere/new.toml"}, PASS, NULL, 2),
	ROW("in a file", CREATE, {"free.txt/new.toml"}, PASS, NULL, 1),

	/* Where a link leads to nothing. */
	ROW("through a link, made", CREATE, {"other/dangling"}, REFUSE,
	    "new.toml (*.toml)", 4),
	ROW("through a link, not made", WRITE, {"other/dangling"}, PASS, NULL,
	    2),
	ROW("through a link, only if new", ONLY_NEW, {"other/dangling"}, PASS,
	    NULL, 1),
	ROW("not through a link", CREATE | NO_LINK, {"other/dangling"}, PASS,
	    NULL, 1),
	ROW("through a link to nobody", CREATE, {"other/adrift"}, PASS, NULL,
	    4),

	/* Nobody's. */
	ROW("another file", ANEW, {"free.txt"}, PASS, NULL, 1),
	ROW("taken out", ANEW, {"free.toml"}, PASS, NULL, 1),
	ROW("the same name elsewhere", ANEW, {"other/presets.toml"}, PASS, NULL,
	    3),
	ROW("a fifo", WRITE, {"other/fifo"}, PASS, NULL, 1),
	ROW("the root", WRITE, {":."}, PASS, NULL, 1),
};
#undef ROW

Test(decide, opens)
{
	hf_decided_expect(&decided, opens, HF_COUNT(opens));
}

#define ROW(what, ...)                              \
	{                                           \
		.name = what, HF_GATE_##__VA_ARGS__ \
	}
static const struct hf_decided_row contents[] = {
	ROW("truncate", TRUNCATE, 0, {"presets.toml"}, REFUSE, PRESETS, 2),
	ROW("truncate by a link", TRUNCATE, 0, {"other/link"}, REFUSE, PRESETS,
	    2),
	ROW("truncate for update", TRUNCATE, HF_GATE_READS, {"presets.toml"},
	    REFUSE, PRESETS, 2),
	ROW("truncate another", TRUNCATE, 0, {"free.txt"}, PASS, NULL, 1),
	ROW("truncate nothing", TRUNCATE, 0, {"new.toml"}, PASS, NULL, 1),
	ROW("truncate a directory", TRUNCATE, 0, {"data"}, PASS, NULL, 1),
	ROW("truncate the store", TRUNCATE, 0, {"/home/store/journal"}, REFUSE,
	    OF_STORE, 2),
	ROW("truncate what is allowed", TRUNCATE, 0, {"allowed.toml"}, PASS,
	    NULL, 1),
	ROW("truncate without permission", TRUNCATE, 0, {"data/a.bin"}, PASS,
	    NULL, 2, .is_denied = true),
	ROW("handle to read", HANDLE, 0, {":presets.toml"}, PASS, NULL, 0),
	ROW("handle to write", HANDLE, WRITE, {":presets.toml"}, REFUSE,
	    PRESETS, 2),
	ROW("handle for update", HANDLE, UPDATE, {":presets.toml"}, OBSERVE,
	    PRESETS, 2),
	ROW("handle of another", HANDLE, WRITE, {":free.txt"}, PASS, NULL, 1),
};

Test(decide, contents)
{
	hf_decided_expect(&decided, contents, HF_COUNT(contents));
}

/* What it is already, so that a row says what differs. */
#define AS_IT_IS                                                             \
	.mode = HF_DECIDED_MODE, .uid = HF_DECIDED_ID, .gid = HF_DECIDED_ID, \
	.mtime_ns = HF_DECIDED_MTIME
#define LEAVE UINT32_MAX

static const struct hf_decided_row metadata[] = {
	ROW("mode", MODE, 0, {"presets.toml"}, REFUSE, PRESETS, 2,
	    .mode = 0600),
	ROW("mode of a descriptor", MODE, 0, {":presets.toml"}, REFUSE, PRESETS,
	    2, .mode = 0600),
	ROW("mode by a link", MODE, 0, {"other/link"}, REFUSE, PRESETS, 2,
	    .mode = 0600),
	ROW("mode of a link", MODE, 0, {"latest.toml"}, PASS, NULL, 1,
	    .mode = 0600, .is_link_meant = true),
	ROW("mode as it is", MODE, 0, {"presets.toml"}, DONE, NULL, 2,
	    AS_IT_IS),
	ROW("mode of a directory", MODE, 0, {"data"}, REFUSE, "data (data/)", 2,
	    .mode = 0700),
	ROW("mode of an ancestor", MODE, 0, {"conf"}, PASS, NULL, 1,
	    .mode = 0700),
	ROW("mode of the root", MODE, 0, {":."}, PASS, NULL, 1, .mode = 0700),
	ROW("mode of the store", MODE, 0, {"/home/store"}, REFUSE, OF_STORE, 2,
	    .mode = 0777),
	ROW("mode of what is allowed", MODE, 0, {"allowed.toml"}, PASS, NULL, 1,
	    .mode = 0600),
	ROW("mode of a side cache", MODE, 0, {"app.db-shm"}, PASS, NULL, 1,
	    .mode = 0600),
	ROW("mode of nothing", MODE, 0, {"new.toml"}, PASS, NULL, 1),
	ROW("mode, a slash behind", MODE, 0, {"presets.toml/"}, PASS, NULL, 1),
	ROW("mode without permission", MODE, 0, {"presets.toml"}, PASS, NULL, 2,
	    .mode = 0600, .is_denied = true),
	ROW("mode of another", MODE, 0, {"free.txt"}, PASS, NULL, 1,
	    .mode = 0600),
	ROW("mode of what stands there since", MODE, 0, {"stale.toml"}, REFUSE,
	    "stale.toml (*.toml)", 4, .mode = 0600),

	ROW("owner", OWNER, 0, {"presets.toml"}, REFUSE, PRESETS, 2, .uid = 0,
	    .gid = LEAVE),
	ROW("group", OWNER, 0, {"presets.toml"}, REFUSE, PRESETS, 2,
	    .uid = LEAVE, .gid = 5),
	ROW("owner left", OWNER, 0, {"presets.toml"}, DONE, NULL, 2,
	    .uid = LEAVE, .gid = LEAVE),
	ROW("owner as it is", OWNER, 0, {"presets.toml"}, DONE, NULL, 2,
	    AS_IT_IS),
	ROW("owner of a link", OWNER, 0, {"latest.toml"}, REFUSE,
	    "latest.toml (*.toml)", 2, .uid = 0, .is_link_meant = true),

	ROW("times", TIMES, 0, {"presets.toml"}, REFUSE, PRESETS, 2,
	    .mtime_ns = 1),
	ROW("times as they are", TIMES, 0, {"presets.toml"}, PASS, NULL, 1,
	    AS_IT_IS),
	ROW("times, the access alone", TIMES, 0, {"presets.toml"}, PASS, NULL,
	    1, .keeps_mtime = true, .mtime_ns = 1),
	ROW("times, now", TIMES, 0, {"presets.toml"}, REFUSE, PRESETS, 2,
	    AS_IT_IS, .sets_now = true),
	ROW("times of a directory", TIMES, 0, {"data"}, PASS, NULL, 1,
	    .sets_now = true),
	ROW("times of a link", TIMES, 0, {"latest.toml"}, REFUSE,
	    "latest.toml (*.toml)", 2, .sets_now = true, .is_link_meant = true),
	ROW("times of another", TIMES, 0, {"free.txt"}, PASS, NULL, 1,
	    .sets_now = true),

	ROW("attribute", ATTRIBUTE, 0, {"presets.toml"}, REFUSE, PRESETS, 3),
	ROW("attribute as it is", ATTRIBUTE, 0, {"presets.toml"}, PASS, NULL, 2,
	    .is_same = true),
	ROW("attribute of the store", ATTRIBUTE, 0, {"/home/store"}, REFUSE,
	    OF_STORE, 3),
	ROW("attribute of another", ATTRIBUTE, 0, {"free.txt"}, PASS, NULL, 1),
	ROW("flags", FLAGS, 0, {":data/a.bin"}, REFUSE, INSIDE, 3),
	ROW("flags as they are", FLAGS, 0, {":data/a.bin"}, PASS, NULL, 2,
	    .is_same = true),
	ROW("flags of another", FLAGS, 0, {":free.txt"}, PASS, NULL, 1),
};

Test(decide, metadata)
{
	hf_decided_expect(&decided, metadata, HF_COUNT(metadata));
}

/* A file that runs as another user loses that when its owner is set. */
Test(decide, an_owner_as_it_is_takes_the_set_id_bits)
{
	static const struct {
		uint32_t mode;
		enum hf_verdict verdict;
	} rows[] = {
		{00644, DONE},	 {04644, REFUSE}, {02755, REFUSE},
		{06644, REFUSE}, {01644, DONE},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		struct hf_gate_call call = {
			.operation = HF_GATE_OWNER,
			.uid = LEAVE,
			.gid = LEAVE,
			.place_count = 1,
			.places[0] =
				{
					.last = "",
					.known = HF_GATE_FACT_OBJECT |
						 HF_GATE_FACT_PERMITTED,
					.is_permitted = true,
					.object = {.kind = HF_KIND_FILE,
						   .mode = rows[i].mode,
						   .dev = 1,
						   .ino = hf_decided_ino(
							   "presets.toml")},
				},
		};

		cr_expect_eq(hf_decide(&decided.set, &call, &decided.decision),
			     rows[i].verdict, "%04o", rows[i].mode);
	}
}

/* -- what concerns nobody costs nothing ------------------------------------ */

static const struct hf_decided_row cheap[] = {
	ROW("open", OPEN, ANEW, {"a.o"}, PASS, NULL, 1),
	ROW("open what is there", OPEN, ANEW, {"free.txt"}, PASS, NULL, 1),
	ROW("open by a link", OPEN, WRITE, {"other/link"}, REFUSE, PRESETS, 3),
	ROW("make a directory", CREATE, HF_GATE_OF_DIRECTORY, {"d"}, PASS, NULL,
	    0),
	ROW("make a link", CREATE, 0, {"l"}, PASS, NULL, 0),
	ROW("make a link that is wanted", CREATE, 0, {"l.toml"}, REFUSE,
	    "l.toml (*.toml)", 3),
	ROW("name a socket", BIND, 0, {"s"}, PASS, NULL, 0),
	ROW("remove", REMOVE, 0, {"free.txt"}, PASS, NULL, 0),
	ROW("remove the same name elsewhere", REMOVE, 0, {"other/presets.toml"},
	    PASS, NULL, 2),
	ROW("remove a directory", REMOVE_DIRECTORY, 0, {"other/bare"}, PASS,
	    NULL, 0),
	ROW("rename", RENAME, 0, {"free.txt", "free2.txt"}, PASS, NULL, 0),
	ROW("link", LINK, 0, {"free.txt", "free2.txt"}, PASS, NULL, 4),
	ROW("a view", VIEW, 0, {NULL}, PASS, NULL, 0),
	ROW("a process", PROCESS, 0, {NULL}, PASS, NULL, 0),
	/* No pattern reaches into a directory: where it is, is not asked. */
	ROW("deep", OPEN, CREATE, {"other/new.toml"}, PASS, NULL, 2),
};

Test(decide_plain, what_concerns_nobody_costs_nothing)
{
	hf_decided_expect(&decided, cheap, HF_COUNT(cheap));
}
#undef ROW

/* -- whatever the facts ------------------------------------------------------
 */

static void try_any(unsigned seed)
{
	uint8_t bytes[96];

	srandom(seed);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)random();
	for (size_t i = 0; i < 200000; i++) {
		const char *wrong;

		/* One byte at a time, so that most of a case stays. */
		bytes[(size_t)random() % sizeof(bytes)] = (uint8_t)random();
		wrong = hf_decided_try(&decided, bytes, sizeof(bytes));
		cr_assert_null(wrong, "seed %u, %zu: %s", seed, i, wrong);
	}
}

Test(decide, ends_and_names_what_is_ours_whatever_the_facts)
{
	for (unsigned seed = 1; seed <= 4; seed++)
		try_any(seed);
}

Test(decide_plain, ends_and_names_what_is_ours_whatever_the_facts)
{
	try_any(7);
}
