/* SPDX-License-Identifier: MIT */
/*
 * Snapshots while calls fail, and dying at every one: the store opens, its
 * newest manifest loads, and every content that it names is there.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "core/snapshot.h"
#include "support/check.h"
#include "support/fault.h"
#include "support/faults.h"
#include "support/stored.h"

static struct hf_stored s;
static struct hf_manifest first;

static void setup(void)
{
	hf_stored_make(&s, "**/*.toml");
	first = (struct hf_manifest)HF_MANIFEST_INIT;
}

static void teardown(void)
{
	hf_manifest_done(&first);
	hf_stored_remove(&s);
}

TestSuite(snapshot_faults, .init = setup, .fini = teardown, .timeout = 600);

/* Remove what snapshots have left, so that each run is the first. */
static void empty_folder(enum hf_store_folder folder)
{
	cleanup_directory struct hf_directory *directory = NULL;
	const char *name;
	enum hf_kind kind;

	cr_assert_eq(hf_directory_open(s.store.folder_fd[folder], &directory),
		     0);
	while (hf_directory_next(directory, &name, &kind) == 1)
		cr_assert_eq(hf_file_unlink_at(s.store.folder_fd[folder], name),
			     0);
}

static void prepare_first(void *context)
{
	(void)context;
	empty_folder(HF_STORE_PACKS);
	empty_folder(HF_STORE_SNAPSHOTS);
	hf_put_file(s.root_fd, "a.toml", "key = 1\n");
	hf_put_file(s.root_fd, "b.toml", "");
}

/* A snapshot is there; then something changes. */
static void prepare_second(void *context)
{
	struct hf_snapshot_result result;

	prepare_first(context);
	hf_manifest_done(&first);
	hf_stored_take(&s, &first, &result);
	hf_put_file(s.root_fd, "a.toml", "key = 2\n");
	hf_put_file(s.root_fd, "c.toml", "new");
}

static int take(void *context, struct hf_error *err)
{
	const struct hf_snapshot_options options = {.scan = &s.scan};
	cleanup_manifest struct hf_manifest taken = HF_MANIFEST_INIT;
	struct hf_snapshot_result result;

	(void)context;
	return hf_snapshot_take(&s.store, &options, NULL, &taken, &result, err);
}

static void check(void *context, int rc)
{
	const bool *const has_previous = context;
	cleanup_manifest struct hf_manifest loaded = HF_MANIFEST_INIT;
	struct hf_error err;
	int load_rc;

	cr_assert_eq(hf_store_sweep(&s.store, &err), 0);
	cr_expect_eq(hf_count_names(s.store.folder_fd[HF_STORE_PACKS],
				    HF_TEMPORARY_PREFIX),
		     0);
	cr_expect_eq(hf_count_names(s.store.folder_fd[HF_STORE_SNAPSHOTS],
				    HF_TEMPORARY_PREFIX),
		     0);
	load_rc = hf_snapshot_load_newest(&s.store, &loaded, &err);
	if (load_rc == HF_ERR_NOTHING) {
		cr_expect(!*has_previous && rc < 0, "%s", fault_call());
		return;
	}
	cr_assert(load_rc == 0, "%s: %s", fault_call(), err.text);
	cr_expect(hf_stored_check(&s.store, &loaded.tree, &err) == 0, "%s: %s",
		  fault_call(), err.text);
	if (rc == 0)
		cr_expect_eq(hf_name_number(&loaded.name),
			     *has_previous ? 2 : 1);
}

/* Where no lease is to be had nobody is known to write. */
static bool is_lease(const char *call)
{
	return strcmp(call, "lease") == 0;
}

Test(snapshot_faults, the_first_one)
{
	bool has_previous = false;
	const struct fault_case fault_case = {
		.context = &has_previous,
		.prepare = prepare_first,
		.run = take,
		.check = check,
		.may_ignore = is_lease,
	};

	fault_loop(&fault_case, 80);
}

Test(snapshot_faults, a_second_one)
{
	bool has_previous = true;
	const struct fault_case fault_case = {
		.context = &has_previous,
		.prepare = prepare_second,
		.run = take,
		.check = check,
		.may_ignore = is_lease,
	};

	fault_loop(&fault_case, 100);
}

static void take_body(void *context)
{
	struct hf_error err;

	if (take(context, &err) < 0)
		abort();
}

static unsigned crash_loop(bool has_previous)
{
	bool has_crashed = true;
	unsigned n = 1;
	unsigned points = 0;

	for (; has_crashed; n++) {
		if (has_previous)
			prepare_second(NULL);
		else
			prepare_first(NULL);
		has_crashed = fault_crash(n, take_body, &has_previous);
		points += has_crashed;
		hf_stored_reopen(&s);
		check(&has_previous, has_crashed ? -1 : 0);
	}
	fault_expect_all_tried(n - 1);
	return points;
}

Test(snapshot_faults, dying_in_the_first_one)
{
	cr_expect_geq(crash_loop(false), 80);
}

Test(snapshot_faults, dying_in_a_second_one)
{
	cr_expect_geq(crash_loop(true), 100);
}
