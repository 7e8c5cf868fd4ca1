/* SPDX-License-Identifier: MIT */
/* What a person types for a snapshot, and which one that is. */
#include "core/moment.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "core/manifest.h"
#include "core/replace.h"
#include "core/snapshot.h"
#include "core/snapshot_peek.h"
#include "support/check.h"
#include "support/stored.h"

#define S    INT64_C(1000000000)
#define NOW  (INT64_C(1796000000) * S)
#define H    (3600 * S)
#define D    (24 * H)
#define NAME HF_MOMENT_NAME
#define STEP HF_MOMENT_STEPS
#define TIME HF_MOMENT_TIME
#define BAD  -1

static const struct {
	const char *typed;
	int kind;
	uint64_t steps;
	int64_t time_ns;
} cases[] = {
	{"@", STEP, 0, 0},
	{"@{0}", STEP, 0, 0},
	{"@{1}", STEP, 1, 0},
	{"@{007}", STEP, 7, 0},
	{"@{18446744073709551615}", STEP, UINT64_MAX, 0},
	{"2h", TIME, 0, NOW - 2 * H},
	{"30m", TIME, 0, NOW - H / 2},
	{"45s", TIME, 0, NOW - 45 * S},
	{"3d", TIME, 0, NOW - 3 * D},
	{"1w", TIME, 0, NOW - 7 * D},
	{"0s", TIME, 0, NOW},
	{"yesterday", TIME, 0, NOW - D},
	{"3 days ago", TIME, 0, NOW - 3 * D},
	{"3.days.ago", TIME, 0, NOW - 3 * D},
	{"3days", TIME, 0, NOW - 3 * D},
	{"1 hour ago", TIME, 0, NOW - H},
	{"10 min", TIME, 0, NOW - H / 6},
	{"2 weeks ago", TIME, 0, NOW - 14 * D},
	{"@{2h}", TIME, 0, NOW - 2 * H},
	{"@{yesterday}", TIME, 0, NOW - D},
	{"@{3 days ago}", TIME, 0, NOW - 3 * D},
	{"@{1970-01-01}", TIME, 0, D - 1},
	{"1970-01-01", TIME, 0, D - 1},
	{"1970-01-01T00:00:07Z", TIME, 0, 8 * S - 1},
	/* As far back as there is. */
	{"99999999999w", TIME, 0, INT64_MIN},
	{"99999999999999999999999h", TIME, 0, INT64_MIN},
	{"42", NAME, 0, 0},
	{"000042-20261130T030007Z", NAME, 0, 0},
	{"", NAME, 0, 0},
	{"h", NAME, 0, 0},
	{"2x", NAME, 0, 0},
	{"2h later", NAME, 0, 0},
	{"2hh", NAME, 0, 0},
	{"-2h", NAME, 0, 0},
	{"2 months ago", NAME, 0, 0},
	{"1970-01-01x", NAME, 0, 0},
	{"1970-01-01T00:00", NAME, 0, 0},
	{"yesterday ago", NAME, 0, 0},
	{"a", NAME, 0, 0},
	{"@1", NAME, 0, 0},
	{"@{}", BAD, 0, 0},
	{"@{", BAD, 0, 0},
	{"@{1", BAD, 0, 0},
	{"@{-1}", BAD, 0, 0},
	{"@{1}x", BAD, 0, 0},
	{"@{a.toml}", BAD, 0, 0},
	{"@{000000000000000000000000000000000000000000000000000000000000001}",
	 BAD, 0, 0},
};

Test(moment, parse)
{
	for (size_t i = 0; i < HF_COUNT(cases); i++) {
		struct hf_moment moment = {.kind = NAME};
		struct hf_error err;
		const int rc =
			hf_moment_parse(cases[i].typed, NOW, &moment, &err);

		if (cases[i].kind == BAD) {
			cr_expect_eq(rc, HF_ERR_USAGE, "'%s'", cases[i].typed);
			continue;
		}
		cr_expect_eq(rc, 0, "'%s'", cases[i].typed);
		cr_expect_eq((int)moment.kind, cases[i].kind, "'%s'",
			     cases[i].typed);
		cr_expect_eq(moment.steps, cases[i].steps, "'%s'",
			     cases[i].typed);
		cr_expect_eq(moment.time_ns, cases[i].time_ns, "'%s'",
			     cases[i].typed);
	}
}

static const struct {
	const char *typed;
	size_t len;
} splits[] = {
	{"42", 2},
	{"42:a.toml", 2},
	{"42:a:b.toml", 2},
	{"@:a.toml", 1},
	{"@{1}:a.toml", 4},
	{"@{2026-11-30 03:00:07Z}:a.toml", 23},
	{"2026-11-30:a.toml", 10},
	{"2026-11-30T03:00:07Z:a.toml", 20},
	{"2026-11-30T03:00:07+01:00:a.toml", 25},
	{"2026-11-30T03:00:07Z", 20},
	{"@{1:a.toml", 10},
	{":a.toml", 0},
	{"", 0},
};

Test(moment, split)
{
	for (size_t i = 0; i < HF_COUNT(splits); i++)
		cr_expect_eq(hf_moment_split(splits[i].typed), splits[i].len,
			     "'%s'", splits[i].typed);
}

/* -- with a store -----------------------------------------------------------
 */

static struct hf_stored s;

static void setup(void)
{
	hf_stored_make(&s, "*.toml");
}

static void teardown(void)
{
	hf_stored_remove(&s);
}

TestSuite(moment_find, .init = setup, .fini = teardown);

/* Files by their contents: "a=1 b=2 d/c=3"; "a=" is absent. */
static void fill(struct hf_tree *tree, const char *files)
{
	while (*files != '\0') {
		const size_t len = strcspn(files, " ");
		const size_t path_len = strcspn(files, "=");
		struct hf_entry *entry;
		char path[32] = "";

		memcpy(path, files, path_len);
		entry = hf_tree_add(tree, path);
		cr_assert_not_null(entry);
		entry->stat.kind = HF_KIND_ABSENT;
		if (len > path_len + 1) {
			entry->stat.kind = HF_KIND_FILE;
			entry->stat.size = len - path_len - 1;
			entry->hash = hf_hash_of(files + path_len + 1,
						 len - path_len - 1);
			entry->has_hash = true;
			entry->location.pack = 1;
		}
		files += len;
		files += *files == ' ';
	}
}

/* A snapshot of the given number, recorded on that day of November. */
static void put(unsigned number, unsigned day, const char *files)
{
	cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	struct hf_error err;

	(void)snprintf(manifest.name.text, sizeof(manifest.name.text),
		       "%06u-202611%02uT120000Z", number % 1000000, day % 100);
	manifest.root = strdup("/project");
	fill(&manifest.tree, files);
	cr_assert_eq(hf_tree_sort(&manifest.tree, &err), 0);
	cr_assert_eq(hf_manifest_encode(&manifest, &text, &err), 0);
	cr_assert_eq(hf_replace_write(s.store.folder_fd[HF_STORE_SNAPSHOTS],
				      manifest.name.text, 0600, text.data,
				      text.len, &err),
		     0);
}

static void put_history(void)
{
	put(1, 1, "a=1 b=1 d/c=x");
	put(2, 2, "a=2 b=1 d/c=x");
	put(3, 3, "a=1 b=1 d/c=x");
	put(4, 4, "a=3 b=1 d/c=x d/e=y");
	put(5, 5, "a= b=2 d/c=x d/e=y");
	put(6, 6, "a=3 b=2 d/c=x d/e=y");
	put(10, 7, "a=4 b=2 d/c=x d/e=y");
}

struct expectation {
	const char *typed;
	const char *paths[3];
	unsigned number; /* 0: there is none */
};

static const struct expectation found[] = {
	/* Of snapshots. */
	{"@", {NULL}, 10},
	{"@{1}", {NULL}, 6},
	{"@{6}", {NULL}, 1},
	{"@{7}", {NULL}, 0},
	{"@{18446744073709551615}", {NULL}, 0},
	{"4", {NULL}, 4},
	{"000004-20261104T120000Z", {NULL}, 4},
	{"000004", {NULL}, 4},
	{"00001", {NULL}, 1},
	{"00", {NULL}, 0},
	{"7", {NULL}, 0},
	{"", {NULL}, 0},
	{"2026-11-04", {NULL}, 4},
	{"2026-11-04T12:00:00Z", {NULL}, 4},
	{"2026-11-04T11:59:59Z", {NULL}, 3},
	{"2026-11-04T12:59:59+01:00", {NULL}, 3},
	{"2026-10-31", {NULL}, 0},
	{"9999w", {NULL}, 0},
	/* Of contents: each once, in the newest snapshot that has it. */
	{"@", {"a"}, 10},
	{"@{1}", {"a"}, 6},
	{"@{2}", {"a"}, 3},
	{"@{3}", {"a"}, 2},
	{"@{4}", {"a"}, 0},
	{"@{1}", {"b"}, 4},
	{"@{2}", {"b"}, 0},
	{"@{1}", {"nothing"}, 0},
	{"@{1}", {"d"}, 3},
	{"@{2}", {"d"}, 0},
	{"@{1}", {"d/e"}, 0},
	{"@{1}", {"b", "d"}, 4},
	{"@{2}", {"b", "d"}, 3},
	/* Absent on that day: what it held before. */
	{"2026-11-05", {"a"}, 4},
	{"2026-11-05", {"b"}, 5},
	{"2026-11-03", {"d/e"}, 0},
	/* A name is one, whatever the paths hold. */
	{"5", {"a"}, 5},
};

static void expect(const struct expectation *e)
{
	struct hf_name name = {.text = ""};
	struct hf_error err = {0};
	const int rc =
		hf_moment_find(&s.store, e->typed, e->paths, NULL, &name, &err);

	cr_expect_eq(rc, e->number == 0 ? HF_ERR_USAGE : 0, "'%s' of %s: %s",
		     e->typed, e->paths[0] ? e->paths[0] : "all", err.text);
	if (e->number != 0)
		cr_expect_eq(hf_name_number(&name), e->number, "'%s' of %s: %s",
			     e->typed, e->paths[0] ? e->paths[0] : "all",
			     name.text);
}

Test(moment_find, finds)
{
	put_history();
	for (size_t i = 0; i < HF_COUNT(found); i++)
		expect(&found[i]);
}

/* The newest has no content of it: what was before is the first step. */
Test(moment_find, before_a_removal)
{
	put(1, 1, "a=1");
	put(2, 2, "a=2");
	put(3, 3, "a=");
	put(4, 4, "b=1");
	expect(&(struct expectation){"@{0}", {"a"}, 4});
	expect(&(struct expectation){"@{1}", {"a"}, 2});
	expect(&(struct expectation){"@{2}", {"a"}, 1});
}

Test(moment_find, several_are_named)
{
	struct hf_name name = {.text = ""};
	struct hf_error err;

	put_history();
	cr_expect_eq(hf_moment_find(&s.store, "00000", NULL, NULL, &name, &err),
		     HF_ERR_USAGE);
	cr_expect_str_eq(err.text,
			 "'00000' means more than one snapshot: "
			 "000001-20261101T120000Z, 000002-20261102T120000Z, "
			 "000003-20261103T120000Z, 000004-20261104T120000Z, "
			 "000005-20261105T120000Z, 000006-20261106T120000Z");
	cr_expect_str_eq(name.text, "");
}

Test(moment_find, nothing_is_recorded)
{
	struct hf_name name;
	struct hf_error err;

	cr_expect_eq(hf_moment_find(&s.store, NULL, NULL, NULL, &name, &err),
		     HF_ERR_NOTHING);
	cr_expect_eq(hf_moment_find(&s.store, "@{1}", NULL, NULL, &name, &err),
		     HF_ERR_NOTHING);
	cr_expect_eq(hf_moment_find(&s.store, "2h", NULL, NULL, &name, &err),
		     HF_ERR_NOTHING);
}

/* One byte of a manifest is another: it says nothing any more. */
Test(moment_find, damage_is_passed_over)
{
	static const char *const paths[] = {"a", NULL};
	static const char name_of_6[] = "000006-20261106T120000Z";
	cleanup_buffer struct hf_buffer notes = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	const int folder_fd = s.store.folder_fd[HF_STORE_SNAPSHOTS];
	cleanup_fd int fd = -1;
	struct hf_name name;
	struct hf_error err;

	put_history();
	fd = hf_file_open_read_at(folder_fd, name_of_6);
	cr_assert_eq(hf_file_read_all(fd, 1 << 20, &text), 0);
	*strstr(text.data, "\"size\":1") = '\'';
	cr_assert_eq(hf_replace_write(folder_fd, name_of_6, 0600, text.data,
				      text.len, &err),
		     0);
	cr_assert_eq(
		hf_moment_find(&s.store, "@{1}", paths, &notes, &name, &err),
		0);
	cr_expect_eq(hf_name_number(&name), 4, "%s", name.text);
	cr_assert_not_null(notes.data);
	cr_expect_not_null(strstr(notes.data, "passed over: "));
	cr_expect_not_null(strstr(notes.data, name_of_6));
}
