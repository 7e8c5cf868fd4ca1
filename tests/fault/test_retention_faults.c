/* SPDX-License-Identifier: MIT */
/*
 * Retention while calls fail, and dying at every one: what has to stay can be
 * restored, no snapshot names a content that is not there, and the next time
 * finishes it.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/path.h"
#include "core/kept.h"
#include "core/retention_store.h"
#include "core/snapshot.h"
#include "support/check.h"
#include "support/fault.h"
#include "support/faults.h"
#include "support/stored.h"

#define CONTENTS  2
#define SNAPSHOTS 5
#define RUNS	  4
#define PLENTY	  ((uint64_t)1 << 40)

static struct hf_stored s;
static struct hf_name names[SNAPSHOTS]; /* of the snapshots */
static struct hf_name runs[RUNS];

static char *template_path; /* the folders of the store as they begin */

/* -- a store with a past
 * ------------------------------------------------------- */

static void empty_folder(enum hf_store_folder folder)
{
	cleanup_directory struct hf_directory *directory = NULL;
	const char *name;
	enum hf_kind kind;

	cr_assert_eq(hf_directory_open(s.store.folder_fd[folder], &directory),
		     0);
	while (hf_directory_next(directory, &name, &kind) == 1)
		cr_assert_eq(
			hf_store_remove_at(s.store.folder_fd[folder], name), 0);
}

/* A run that kept something, on the snapshot. */
static void add_run(size_t index, const char *snapshot, bool has_ended)
{
	cleanup_journal struct hf_journal journal = HF_JOURNAL_INIT;
	const struct hf_journal_open_record record = {
		.kind = "run",
		.snapshot = snapshot,
	};
	const int kept_fd = s.store.folder_fd[HF_STORE_KEPT];
	cleanup_fd int fd = -1;
	struct hf_error err;

	cr_assert_eq(hf_journal_begin(&journal, &s.store, &record, &err), 0);
	runs[index] = journal.name;
	cr_assert_eq(hf_file_mkdir_at(kept_fd, journal.name.text, 0700), 0);
	fd = hf_file_open_directory_at(kept_fd, journal.name.text);
	cr_assert(fd >= 0);
	hf_put_file(fd, "a.toml", "kept");
	if (has_ended)
		cr_assert_eq(hf_journal_end(&journal, HF_OUTCOME_VIOLATED, 97,
					    1, &err),
			     0);
}

/* It needs the second snapshot, and has not ended. */
#define RUN_OPEN (RUNS - 1)

static void build(void)
{
	hf_put_file(s.root_fd, "b.toml", "the same in all\n");
	for (unsigned i = 0; i < SNAPSHOTS; i++) {
		cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;
		struct hf_snapshot_result result;
		char text[32];

		(void)snprintf(text, sizeof(text), "key = %u\n", i);
		hf_put_file(s.root_fd, "a.toml", text);
		hf_stored_take(&s, &manifest, &result);
		names[i] = manifest.name;
	}
	for (size_t i = 0; i < RUNS; i++)
		add_run(i, names[1].text, i != RUN_OPEN);
}

/* Nothing in a store is written to in place: second names are a copy. */
static void link_all(int from_fd, int to_fd)
{
	cleanup_directory struct hf_directory *directory = NULL;
	const char *name;
	enum hf_kind kind;

	cr_assert_eq(hf_directory_open(from_fd, &directory), 0);
	while (hf_directory_next(directory, &name, &kind) == 1) {
		cleanup_fd int from = hf_file_open_directory_at(from_fd, name);
		cleanup_fd int to = -1;

		if (from < 0) {
			cr_assert_eq(
				hf_file_link_at(from_fd, name, to_fd, name), 0);
			continue;
		}
		cr_assert_eq(hf_file_mkdir_at(to_fd, name, 0700), 0);
		to = hf_file_open_directory_at(to_fd, name);
		cr_assert(to >= 0);
		link_all(from, to);
	}
}

static int open_template(enum hf_store_folder folder)
{
	cleanup_free char *path =
		hf_path_join(template_path, hf_store_folder_name(folder));
	int fd;

	cr_assert(path && hf_file_mkdir_path(path) == 0);
	fd = hf_file_open_directory(path);
	cr_assert(fd >= 0);
	return fd;
}

static void setup(void)
{
	hf_stored_make(&s, "*.toml");
	template_path = hf_path_join(s.dir, "template");
	cr_assert(template_path);
	build();
	for (enum hf_store_folder i = 0; i < HF_STORE_FOLDERS; i++) {
		cleanup_fd int fd = open_template(i);

		link_all(s.store.folder_fd[i], fd);
	}
}

static void teardown(void)
{
	hf_free_pointee(&template_path);
	hf_stored_remove(&s);
}

TestSuite(retention_faults, .init = setup, .fini = teardown, .timeout = 600);

static void prepare(void *context)
{
	(void)context;
	for (enum hf_store_folder i = 0; i < HF_STORE_FOLDERS; i++) {
		cleanup_fd int fd = open_template(i);

		empty_folder(i);
		link_all(fd, s.store.folder_fd[i]);
	}
}

/* Did nothing fail until all was read and decided? */
static bool was_read;

static int apply(void *context, struct hf_error *err)
{
	const struct hf_retention limits = {CONTENTS, 0, PLENTY};
	cleanup_retention_view struct hf_retention_view view =
		HF_RETENTION_VIEW_INIT;
	cleanup_retention_plan struct hf_retention_plan plan =
		HF_RETENTION_PLAN_INIT;
	int rc;

	(void)context;
	rc = hf_retention_read(&s.store, &limits, HF_RETENTION_ALL, &view, err);
	if (rc == 0)
		rc = hf_retention_decide(&view.input, &plan, err);
	was_read = fault_call()[0] == '\0';
	return rc < 0 ? rc : hf_retention_apply(&s.store, &view, &plan, err);
}

/* The journal may do without the boot and the start of the process. */
static bool is_about_us(const char *call)
{
	return was_read &&
	       (strcmp(call, "open") == 0 || strcmp(call, "read") == 0);
}

/* -- what must hold
 * -------------------------------------------------------------- */

static void check_snapshot(const struct hf_name *name)
{
	cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;
	struct hf_error err;

	cr_assert(hf_snapshot_load(&s.store, name, &manifest, &err) == 0,
		  "%s: %s", fault_call(), err.text);
	cr_expect(hf_stored_check(&s.store, &manifest.tree, &err) == 0,
		  "%s: %s", fault_call(), err.text);
}

/* A journal that tells of copies has them, the newest in any case. */
static void check_sessions(void)
{
	cleanup_names struct hf_names sessions = HF_NAMES_INIT;
	struct hf_error err;

	cr_assert_eq(hf_journal_list(&s.store, &sessions, &err), 0);
	for (size_t i = 0; i < RUNS; i++) {
		cleanup_session_record struct hf_session_record record =
			HF_SESSION_RECORD_INIT;
		char path[256];
		int fd;

		(void)snprintf(path, sizeof(path), "kept/%s/a.toml",
			       runs[i].text);
		fd = hf_kept_open(&s.store, path, &err);
		if (hf_journal_read(&s.store, &runs[i], &record, &err) == 0)
			cr_expect(fd >= 0, "%s: copies of %s", fault_call(),
				  runs[i].text);
		else
			cr_expect(i < RUNS - 1 - CONTENTS, "%s: journal of %s",
				  fault_call(), runs[i].text);
		hf_file_close_quietly(&fd);
	}
	/* All others can be read as well: the line that tells of it. */
	for (size_t i = 0; i < sessions.count; i++) {
		cleanup_session_record struct hf_session_record record =
			HF_SESSION_RECORD_INIT;

		cr_expect(hf_journal_read(&s.store, &sessions.items[i], &record,
					  &err) == 0,
			  "%s: %s", fault_call(), err.text);
	}
}

static void check_store(void)
{
	cleanup_names struct hf_names left = HF_NAMES_INIT;
	cleanup_manifest struct hf_manifest newest = HF_MANIFEST_INIT;
	struct hf_error err;

	cr_assert_eq(
		hf_store_list(&s.store, HF_STORE_SNAPSHOTS, "", &left, &err),
		0);
	for (size_t i = 0; i < left.count; i++)
		check_snapshot(&left.items[i]);
	for (size_t i = SNAPSHOTS - CONTENTS; i < SNAPSHOTS; i++)
		check_snapshot(&names[i]);
	check_snapshot(&names[1]);
	cr_expect(hf_snapshot_load_newest(&s.store, &newest, &err) == 0, "%s",
		  err.text);
	check_sessions();
}

/* What failed is brought to its end. */
static void check(void *context, int rc)
{
	struct hf_error err;
	size_t sessions;

	check_store();
	if (rc < 0)
		cr_expect(apply(context, &err) == 0, "%s: %s", fault_call(),
			  err.text);
	check_store();
	cr_assert_eq(hf_store_sweep(&s.store, &err), 0);
	for (enum hf_store_folder i = 0; i < HF_STORE_FOLDERS; i++)
		cr_expect_eq(hf_count_names(s.store.folder_fd[i],
					    HF_TEMPORARY_PREFIX),
			     0);
	cr_expect_eq(hf_count_names(s.store.folder_fd[HF_STORE_SNAPSHOTS], ""),
		     CONTENTS + 1, "%s", fault_call());
	/* One more: that of b. */
	cr_expect_eq(hf_count_names(s.store.folder_fd[HF_STORE_PACKS], ""),
		     2 * (CONTENTS + 2), "%s", fault_call());
	cr_expect_eq(hf_count_names(s.store.folder_fd[HF_STORE_KEPT], ""),
		     RUNS - 1, "%s", fault_call());
	sessions = hf_count_names(s.store.folder_fd[HF_STORE_SESSIONS], "");
	cr_expect(sessions >= RUNS, "nothing is told: %s", fault_call());
}

Test(retention_faults, every_call_fails)
{
	const struct fault_case fault_case = {
		.prepare = prepare,
		.run = apply,
		.check = check,
		.may_ignore = is_about_us,
		.is_long = true,
	};

	fault_loop(&fault_case, 100);
}

static void apply_body(void *context)
{
	struct hf_error err;

	if (apply(context, &err) < 0)
		abort();
}

Test(retention_faults, dying_at_every_call)
{
	bool has_crashed = true;
	unsigned points = 0;

	for (unsigned n = 1; has_crashed; n++) {
		prepare(NULL);
		has_crashed = fault_crash(n, apply_body, NULL);
		points += has_crashed;
		hf_stored_reopen(&s);
		check(NULL, has_crashed ? -1 : 0);
	}
	(void)fprintf(stderr, "%u points\n", points);
	cr_expect_geq(points, 100);
}
