/* SPDX-License-Identifier: MIT */
/* What is protected, found by identity and by name. */
#include "guard/decide_set.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "support/decided.h"

static struct hf_decided decided;

static void setup(void)
{
	hf_decided_setup(&decided, HF_DECIDED_WIDE);
}

static void teardown(void)
{
	hf_decided_teardown(&decided);
}

TestSuite(decide_set, .init = setup, .fini = teardown, .timeout = 60);

static const struct hf_entry *entry_of(const char *path)
{
	const struct hf_entry *const entry = hf_tree_find(&decided.tree, path);

	cr_assert(entry, "%s", path);
	return entry;
}

Test(decide_set, finds_what_it_was_filled_with)
{
	const struct hf_decide_set *const set = &decided.set;

	for (size_t i = 0; i < decided.tree.count; i++) {
		const struct hf_entry *const entry = &decided.tree.entries[i];
		const struct hf_known *const known = hf_decide_set_find(
			set, entry->stat.dev, entry->stat.ino);

		if (entry->stat.kind == HF_KIND_ABSENT) {
			cr_expect_null(known, "%s", entry->path);
			continue;
		}
		cr_assert(known, "%s", entry->path);
		cr_expect_eq(known->kind, HF_KNOWN_ENTRY, "%s", entry->path);
		cr_expect(known->entry == entry, "%s", entry->path);
		cr_expect_str_eq(known->path, entry->path);
		cr_expect_eq(known->is_directory,
			     entry->stat.kind == HF_KIND_DIRECTORY, "%s",
			     entry->path);
	}
	cr_expect_null(hf_decide_set_find(set, 1, 70), "nobody's");
	cr_expect_null(hf_decide_set_find(set, 2, 11), "another device");
	cr_expect_null(hf_decide_set_find(set, 0, 0), "what is not there");
}

Test(decide_set, an_entry_says_more_than_what_is_above_it)
{
	const struct hf_known *const root =
		hf_decide_set_find(&decided.set, 1, 10);
	const struct hf_known *const home =
		hf_decide_set_find(&decided.set, 1, 50);
	const struct hf_known *const store =
		hf_decide_set_find(&decided.set, 1, 60);

	cr_assert(root && home && store);
	cr_expect_eq(root->kind, HF_KNOWN_ENTRY);
	cr_expect_str_eq(root->path, ".");
	cr_expect_eq(home->kind, HF_KNOWN_ABOVE);
	cr_expect_str_eq(home->path, "/home");
	cr_expect(home->is_directory);
	cr_expect_eq(store->kind, HF_KNOWN_STORE);
}

/* -- many -------------------------------------------------------------------
 */

/* The low half is what a small table sees: these meet each other there. */
#define FAR_APART (UINT64_C(1) << 32)

Test(decide_set, finds_each_of_many)
{
	enum { COUNT = 20000 };
	struct hf_decide_set *const set = &decided.set;
	char name[32];

	for (uint64_t i = 1; i <= COUNT; i++) {
		(void)snprintf(name, sizeof(name), "n%u", (unsigned)i);
		cr_assert_eq(hf_decide_set_add_store(set, name, 5, i, false),
			     0);
		cr_assert_eq(hf_decide_set_add_store(set, "same", 6,
						     i * FAR_APART, true),
			     0);
	}
	for (uint64_t i = 1; i <= COUNT; i++) {
		const struct hf_known *const near =
			hf_decide_set_find(set, 5, i);
		const struct hf_known *const far =
			hf_decide_set_find(set, 6, i * FAR_APART);

		cr_assert(near && near->dev == 5 && near->ino == i);
		cr_assert(far && far->dev == 6 && far->ino == i * FAR_APART);
		cr_assert(!near->is_directory && far->is_directory);
		cr_assert_null(hf_decide_set_find(set, 7, i));
		(void)snprintf(name, sizeof(name), "n%u", (unsigned)i);
		cr_assert(hf_decide_set_has_name(set, name), "%s", name);
	}
	cr_expect_not(hf_decide_set_has_name(set, "n0"));
	cr_expect_not(hf_decide_set_has_name(set, "n"));
	cr_expect(hf_decide_set_find(set, 1, 11), "the first are still there");
}

Test(decide_set, the_same_twice_is_once)
{
	struct hf_decide_set *const set = &decided.set;
	const size_t known = set->known_count;
	const size_t names = set->name_count;

	cr_assert_eq(hf_decide_set_add_store(set, "journal", 1, 61, false), 0);
	cr_expect_eq(set->known_count, known);
	cr_expect_eq(set->name_count, names);
}

Test(decide_set, what_has_no_number_is_not_kept)
{
	const size_t known = decided.set.known_count;

	cr_assert_eq(hf_decide_set_add_store(&decided.set, "x", 1, 0, false),
		     0);
	cr_expect_eq(decided.set.known_count, known);
	cr_expect(hf_decide_set_has_name(&decided.set, "x"));
}

/* -- names ------------------------------------------------------------------
 */

Test(decide_set, names)
{
	static const struct {
		const char *name;
		bool has; /* something protected, or above, or the store's */
		bool may; /* the policy could want it */
	} rows[] = {
		{"presets.toml", true, true},
		{"a.bin", true, true},
		{"data", true, true},
		{"app.ini", true, true},
		{"new.ini", true, true},
		{"secret.key", true, true},
		{"settings.ini", true, true},
		{"home", true, true},
		{"here", true, true},
		{"store", true, true},
		{"journal", true, true},
		{"app.db-wal", true, true},
		/* Whatever its name is, it may lie in the tree data. */
		{"free.txt", false, true},
		{"new.toml", false, true},
		{"PRESETS.TOML", false, true},
		{"presets.tom", false, true},
		{"", false, true},
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		cr_expect_eq(hf_decide_set_has_name(&decided.set, rows[i].name),
			     rows[i].has, "%s", rows[i].name);
		cr_expect_eq(hf_decide_set_may_name(&decided.set, rows[i].name),
			     rows[i].may, "%s", rows[i].name);
	}
}

static const struct {
	const char *pattern;
	const char *yes; /* a name that it may want; NULL */
	const char *no;
	bool has_trees;
	bool is_deep;
} patterns[] = {
	{"*.toml", "a.toml", "a.tom", false, false},
	{"a?c", "abc", "ac", false, false},
	{"[ab].ini", "b.ini", "c.ini", false, false},
	{"x/*.toml", "a.toml", "a.tom", false, true},
	{"**/*.cfg", "a.cfg", "a.cf", false, true},
	{"a.key", "a.key", "b.key", false, false},
	{"x/y/a.key", "a.key", "y", false, true},
	{"/etc/a.conf", "a.conf", "etc", false, true},
	{"\\*.key", "*.key", "a.key", false, false},
	{"data/", "data", NULL, true, false},
	{"x/data/", "anything", NULL, true, true},
	{"data/**", "anything", NULL, true, true},
	{"**", "anything", NULL, true, true},
	{"!a.toml", NULL, "a.toml", false, false},
};

Test(decide_set, what_a_pattern_says_of_names)
{
	for (size_t i = 0; i < HF_COUNT(patterns); i++) {
		const char *const text = patterns[i].pattern;
		struct hf_tree tree = HF_TREE_INIT;
		struct hf_policy policy = HF_POLICY_INIT;
		cleanup_decide_set struct hf_decide_set set =
			HF_DECIDE_SET_INIT;
		struct hf_error err;

		policy.protect = hf_patterns_new();
		cr_assert(policy.protect &&
			  hf_patterns_add(policy.protect, text, &err) == 0);
		cr_assert_eq(
			hf_decide_set_fill(&set, &tree, &policy, NULL, &err),
			0);
		cr_expect(!patterns[i].yes ||
				  hf_decide_set_may_name(&set, patterns[i].yes),
			  "%s", text);
		cr_expect(!patterns[i].no ||
				  !hf_decide_set_may_name(&set, patterns[i].no),
			  "%s", text);
		cr_expect_eq(set.has_trees, patterns[i].has_trees, "%s", text);
		cr_expect_eq(set.is_deep, patterns[i].is_deep, "%s", text);
		hf_policy_done(&policy);
	}
}

/* -- what changes ------------------------------------------------------------
 */

Test(decide_set, an_entry_that_was_put_back_has_a_new_number)
{
	struct hf_decide_set *const set = &decided.set;
	const struct hf_entry *const entry = entry_of("presets.toml");

	for (uint64_t ino = 1000; ino < 1100; ino++) {
		const struct hf_known *known;

		cr_assert_eq(hf_decide_set_renew(set, entry, 1, ino), 0);
		known = hf_decide_set_find(set, 1, ino);
		cr_assert(known && known->entry == entry);
		cr_expect_null(hf_decide_set_find(set, 1, ino - 1));
		cr_expect_null(hf_decide_set_find(set, 1, 11));
	}
	cr_expect(hf_decide_set_find(set, 1, 12), "the others stay");
	/* The old number again: it may be used by anybody, us too. */
	cr_assert_eq(hf_decide_set_renew(set, entry, 1, 11), 0);
	cr_expect(hf_decide_set_find(set, 1, 11));
	cr_assert_eq(
		hf_decide_set_renew(set, entry_of("personas.toml"), 1, 1050),
		0);
	cr_expect(hf_decide_set_find(set, 1, 1050)->entry ==
		  entry_of("personas.toml"));
}

Test(decide_set, an_entry_may_take_the_number_of_another)
{
	struct hf_decide_set *const set = &decided.set;
	const struct hf_entry *const a = entry_of("presets.toml");
	const struct hf_entry *const b = entry_of("personas.toml");

	/* What was b's is a's now, and b is another one's. */
	cr_assert_eq(hf_decide_set_renew(set, b, 1, 2000), 0);
	cr_assert_eq(hf_decide_set_renew(set, a, 1, 12), 0);
	cr_expect(hf_decide_set_find(set, 1, 12)->entry == a);
	cr_expect(hf_decide_set_find(set, 1, 2000)->entry == b);
}

Test(decide_set, an_absent_entry_that_a_person_made_is_known)
{
	const struct hf_entry *const entry = entry_of("secret.key");
	struct hf_decide_set *const set = &decided.set;

	cr_assert_eq(hf_decide_set_renew(set, entry, 1, 3000), 0);
	cr_expect(hf_decide_set_find(set, 1, 3000)->entry == entry);
}

Test(decide_set, copies_stay_when_the_entry_is_renewed)
{
	const struct hf_entry *const entry = entry_of("presets.toml");
	struct hf_decide_set *const set = &decided.set;
	const struct hf_known *copy;

	cr_assert_eq(hf_decide_set_add_copy(set, entry, 1, 500), 0);
	cr_assert_eq(hf_decide_set_add_copy(set, entry, 1, 501), 0);
	cr_assert_eq(hf_decide_set_renew(set, entry, 1, 600), 0);
	for (uint64_t ino = 500; ino <= 501; ino++) {
		copy = hf_decide_set_find(set, 1, ino);
		cr_assert(copy && copy->kind == HF_KNOWN_COPY);
		cr_expect(copy->entry == entry);
	}
	cr_expect_null(hf_decide_set_find(set, 1, 11));
}

Test(decide_set, done_leaves_nothing)
{
	hf_decide_set_done(&decided.set);
	cr_expect_null(hf_decide_set_find(&decided.set, 1, 11));
	cr_expect_not(hf_decide_set_has_name(&decided.set, "presets.toml"));
	cr_expect_not(hf_decide_set_may_name(&decided.set, "nothing"));
	hf_decide_set_done(&decided.set);
}
