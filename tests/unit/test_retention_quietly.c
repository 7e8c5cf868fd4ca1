/* SPDX-License-Identifier: MIT */
/* Retention at the end of a command: when, and how much there is left. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "core/journal.h"
#include "core/project.h"
#include "core/retention_store.h"
#include "core/snapshot.h"
#include "support/check.h"
#include "support/stored.h"

#define PLENTY ((uint64_t)1 << 40)

static struct hf_stored s;

static void setup(void)
{
	hf_stored_make(&s, "**");
}

static void teardown(void)
{
	hf_stored_remove(&s);
}

TestSuite(retention_quietly, .init = setup, .fini = teardown, .timeout = 300);

static void put(const char *name, unsigned number)
{
	char text[64];

	(void)snprintf(text, sizeof(text), "this is content %u\n", number);
	hf_put_file(s.root_fd, name, text);
}

static struct hf_name take(void)
{
	cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;
	struct hf_snapshot_result result;

	hf_stored_take(&s, &manifest, &result);
	return manifest.name;
}

static size_t count(enum hf_store_folder folder)
{
	return hf_count_names(s.store.folder_fd[folder], "");
}

/* All that is left can be restored; how many snapshots that are. */
static size_t check_all(void)
{
	cleanup_names struct hf_names names = HF_NAMES_INIT;
	struct hf_error err;

	cr_assert_eq(
		hf_store_list(&s.store, HF_STORE_SNAPSHOTS, "", &names, &err),
		0);
	for (size_t i = 0; i < names.count; i++) {
		cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;

		cr_assert(hf_snapshot_load(&s.store, &names.items[i], &manifest,
					   &err) == 0,
			  "%s", err.text);
		cr_expect(hf_stored_check(&s.store, &manifest.tree, &err) == 0,
			  "%s: %s", names.items[i].text, err.text);
	}
	return names.count;
}

static void apply_quietly(const struct hf_retention_hint *hint, uint64_t bytes)
{
	struct hf_project project = {.root_fd = -1};

	project.policy.retention = (struct hf_retention){3, 0, bytes};
	project.store = s.store;
	hf_retention_apply_quietly(&project, hint);
}

/* Bytes that zstd makes nothing of. */
static void put_noise(unsigned seed)
{
	char text[4001];

	for (size_t i = 0; i + 1 < sizeof(text); i++) {
		seed = seed * 1103515245u + 12345u;
		text[i] = (char)('!' + (seed >> 16) % 90);
	}
	text[sizeof(text) - 1] = '\0';
	hf_put_file(s.root_fd, "a", text);
}

static uint64_t size(void)
{
	uint64_t bytes;
	struct hf_error err;

	cr_assert_eq(hf_store_size(&s.store, &bytes, &err), 0);
	return bytes;
}

Test(retention_quietly, the_store_does_not_grow)
{
	uint64_t largest = 0;
	const unsigned rounds = 300;

	for (unsigned i = 1; i <= rounds; i++) {
		struct hf_retention_hint hint = {.snapshot = 0};
		struct hf_name name;

		put_noise(i);
		name = take();
		hint.snapshot = hf_name_number(&name);
		apply_quietly(&hint, PLENTY);
		if (i > 16 && size() > largest)
			largest = size();
	}
	/* Three that stay, eight until it is looked at again, and the lines in
	 * the log. */
	cr_expect_lt(largest, 11 * 5000 + rounds / 8 * 3000, "%lu bytes",
		     (unsigned long)largest);
	cr_expect_leq(check_all(), 11);
	(void)fprintf(stderr, "%u rounds, at most %lu bytes\n", rounds,
		      (unsigned long)largest);
}

Test(retention_quietly, nothing_happens_while_another_has_the_lock)
{
	cleanup_store struct hf_store other = HF_STORE_INIT;
	const struct hf_retention_hint hint = {.snapshot = 8};
	struct hf_error err;

	for (unsigned i = 0; i < 8; i++) {
		put("a", i);
		(void)take();
	}
	cr_assert_eq(hf_store_open(&other, s.store_path, s.root, s.root_fd,
				   HF_STORE_MUST_EXIST, &err),
		     0);
	cr_assert_eq(hf_store_lock(&other, false, &err), 0);
	apply_quietly(&hint, 1);
	cr_expect_eq(check_all(), 8);
	hf_store_unlock(&other);
	apply_quietly(&hint, PLENTY);
	cr_expect_eq(check_all(), 3);
	/* And let go of it. */
	cr_expect_eq(hf_store_lock(&other, false, &err), 0);
}

Test(retention_quietly, nothing_is_looked_at_unless_it_may_matter)
{
	static const struct {
		struct hf_retention_hint hint;
		uint64_t bytes;
		size_t left;
	} hints[] = {
		{{8, 0, false}, 1, 8},	    {{64, 0, false}, 1, 8},
		{{0, 7, false}, PLENTY, 8}, {{7, 0, true}, PLENTY, 8},
		{{0, 8, false}, PLENTY, 3}, {{8, 0, true}, PLENTY, 3},
		{{0, 7, false}, 1, 1},
	};

	for (unsigned i = 0; i < 8; i++) {
		put("a", i);
		(void)take();
	}
	for (size_t i = 0; i < HF_COUNT(hints); i++) {
		apply_quietly(&hints[i].hint, hints[i].bytes);
		cr_expect_eq(check_all(), hints[i].left, "%zu", i);
		while (count(HF_STORE_SNAPSHOTS) < 8) {
			put("a", 100 + (unsigned)i * 8 +
					 (unsigned)count(HF_STORE_SNAPSHOTS));
			(void)take();
		}
	}
}

/* A look reads every manifest: of many there is one less often. */
Test(retention_quietly, of_many_snapshots_it_is_rare)
{
	static const struct {
		struct hf_retention_hint hint;
		size_t left;
	} hints[] = {
		{{0, 8, false}, 130},  {{8, 0, true}, 130},
		{{0, 16, false}, 130}, {{0, 48, false}, 130},
		{{48, 0, true}, 130},  {{0, 96, false}, 3},
		{{0, 4, false}, 3},
	};

	for (unsigned i = 0; i < 130; i++) {
		put("a", i);
		(void)take();
	}
	for (size_t i = 0; i < HF_COUNT(hints); i++) {
		apply_quietly(&hints[i].hint, PLENTY);
		cr_expect_eq(count(HF_STORE_SNAPSHOTS), hints[i].left, "%zu",
			     i);
	}
}

Test(retention_quietly, journals_are_bounded_without_a_look_at_the_rest)
{
	const struct hf_retention_hint hint = {.session = 256};
	const struct hf_journal_open_record record = {
		.kind = "run",
		.snapshot = "",
	};

	put("a", 0);
	(void)take();
	put("a", 1);
	(void)take();
	for (unsigned i = 0; i < 256; i++) {
		cleanup_journal struct hf_journal journal = HF_JOURNAL_INIT;
		struct hf_error err;

		cr_assert_eq(
			hf_journal_begin(&journal, &s.store, &record, &err), 0);
		cr_assert_eq(
			hf_journal_end(&journal, HF_OUTCOME_CLEAN, 0, 0, &err),
			0);
	}
	apply_quietly(&hint, 1);
	/* And the line that says so. */
	cr_expect_eq(count(HF_STORE_SESSIONS), HF_RETENTION_SESSIONS + 1);
	cr_expect_eq(check_all(), 2);
}
