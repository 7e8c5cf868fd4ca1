/* SPDX-License-Identifier: MIT */
/* Making, opening, adopting, sweeping a store while calls fail or it dies. */
#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "core/store.h"
#include "support/check.h"
#include "support/fault.h"
#include "support/faults.h"
#include "support/stored.h"

/* With a tab in it no pointer is written, whose failures are no failures. */
#define ROOT "/ro\tot"

static struct hf_stored s;
static char *fresh;

static void setup(void)
{
	struct hf_error err;

	hf_stored_make(&s, "*.toml");
	cr_assert_eq(hf_store_adopt(s.store_path, ROOT, s.root_fd, &err), 0);
	fresh = hf_path_join(s.dir, "fresh");
	cr_assert(fresh);
}

static void teardown(void)
{
	hf_free_pointee(&fresh);
	hf_stored_remove(&s);
}

TestSuite(store_faults, .init = setup, .fini = teardown);

static int open_at(const char *path, enum hf_store_open_mode mode,
		   struct hf_error *err)
{
	cleanup_store struct hf_store store = HF_STORE_INIT;

	return hf_store_open(&store, path, ROOT, s.root_fd, mode, err);
}

/* Whatever an attempt left, the next one makes a store of it. */
static void expect_usable(void)
{
	cleanup_store struct hf_store store = HF_STORE_INIT;
	struct hf_error err;

	cr_assert(hf_store_open(&store, fresh, ROOT, s.root_fd, HF_STORE_MAKE,
				&err) == 0,
		  "after %s: %s", fault_call(), err.text);
	cr_assert_eq(hf_store_sweep(&store, &err), 0);
	cr_expect_eq(hf_count_names(store.dir_fd, HF_TEMPORARY_PREFIX), 0);
	/* store.json, the lock, four folders. */
	cr_expect_eq(hf_count_names(store.dir_fd, ""), 6);
}

static void remove_fresh(void *context)
{
	static const char *const folders[] = {"packs", "snapshots", "sessions",
					      "kept"};
	cleanup_fd int fd = hf_file_open_directory(fresh);
	cleanup_fd int dir_fd = hf_file_open_directory(s.dir);

	(void)context;
	if (fd < 0)
		return;
	for (size_t i = 0; i < HF_COUNT(folders); i++)
		(void)!hf_file_rmdir_at(fd, folders[i]);
	(void)!hf_file_unlink_at(fd, "store.json");
	(void)!hf_file_unlink_at(fd, "lock");
	cr_assert_eq(hf_file_rmdir_at(dir_fd, "fresh"), 0);
}

static int make(void *context, struct hf_error *err)
{
	(void)context;
	return open_at(fresh, HF_STORE_MAKE, err);
}

static void check_made(void *context, int rc)
{
	(void)context;
	(void)rc;
	expect_usable();
}

/* A directory above that is there already cannot be made, for any reason. */
static bool is_mkdir(const char *call)
{
	return strcmp(call, "mkdir") == 0;
}

Test(store_faults, making_one)
{
	const struct fault_case fault_case = {
		.prepare = remove_fresh,
		.run = make,
		.check = check_made,
		.may_ignore = is_mkdir,
	};

	fault_loop(&fault_case, 30);
}

/* After a power cut a new store is there, however many directories were made. */
Test(store_faults, each_directory_made_is_on_the_disk)
{
	unsigned synced = 0;
	bool fired = true;

	for (unsigned n = 1; fired; n++) {
		char path[HF_PATH_MAX];
		struct hf_error err;
		int rc;

		(void)snprintf(path, sizeof(path), "%s/%u/y/store", s.dir, n);
		fault_arm(n, EIO, false);
		rc = open_at(path, HF_STORE_MAKE, &err);
		fired = fault_disarm();
		if (fired && strcmp(fault_call(), "fsync") == 0) {
			synced++;
			cr_expect_lt(rc, 0);
		}
	}
	/* Three names, store.json with its own, the folders. */
	cr_expect_eq(synced, 6);
}

static void make_body(void *context)
{
	struct hf_error err;

	if (make(context, &err) < 0)
		abort();
}

Test(store_faults, dying_while_making_one)
{
	bool has_crashed = true;
	unsigned n = 1;
	unsigned points = 0;

	for (; has_crashed; n++) {
		remove_fresh(NULL);
		has_crashed = fault_crash(n, make_body, NULL);
		points += has_crashed;
		expect_usable();
	}
	fault_expect_all_tried(n - 1);
	cr_expect_geq(points, 30);
}

/* -- what is done to one that is there ------------------------------------- */

static void nothing(void *context)
{
	(void)context;
}

static void check_store(void *context, int rc)
{
	struct hf_error err;

	(void)context;
	(void)rc;
	cr_expect(open_at(s.store_path, HF_STORE_MAKE, &err) == 0, "%s: %s",
		  fault_call(), err.text);
	cr_assert_eq(hf_store_sweep(&s.store, &err), 0);
	cr_expect_eq(hf_count_names(s.store.dir_fd, ""), 6);
}

static int open_existing(void *context, struct hf_error *err)
{
	(void)context;
	return open_at(s.store_path, HF_STORE_MUST_EXIST, err);
}

static int adopt(void *context, struct hf_error *err)
{
	(void)context;
	return hf_store_adopt(s.store_path, ROOT, s.root_fd, err);
}

Test(store_faults, opening_one)
{
	const struct fault_case fault_case = {
		.prepare = nothing,
		.run = open_existing,
		.check = check_store,
	};

	fault_loop(&fault_case, 20);
}

Test(store_faults, adopting_one)
{
	const struct fault_case fault_case = {
		.prepare = nothing,
		.run = adopt,
		.check = check_store,
	};

	fault_loop(&fault_case, 15);
}

static void leave_temporary(void *context)
{
	(void)context;
	hf_put_file(s.store.folder_fd[HF_STORE_PACKS],
		    ".holdfast-0123456789abcdef", "x");
	hf_put_file(s.store.folder_fd[HF_STORE_PACKS], "000001.index", "x");
}

static int sweep(void *context, struct hf_error *err)
{
	(void)context;
	return hf_store_sweep(&s.store, err);
}

/* An index of which it is not known whether it is stray stays. */
static bool is_fstatat(const char *call)
{
	return strcmp(call, "fstatat") == 0;
}

static void check_swept(void *context, int rc)
{
	(void)context;
	if (rc == 0 && !is_fstatat(fault_call()))
		cr_expect_eq(
			hf_count_names(s.store.folder_fd[HF_STORE_PACKS], ""),
			0);
	check_store(NULL, rc);
}

/* Here a failed unlink is no detail. */
Test(store_faults, sweeping)
{
	const struct fault_case fault_case = {
		.prepare = leave_temporary,
		.run = sweep,
		.check = check_swept,
		.may_ignore = is_fstatat,
	};

	fault_loop(&fault_case, 10);
}

/* -- names and places ------------------------------------------------------ */

static int names(void *context, struct hf_error *err)
{
	struct hf_name name;
	uint64_t bytes;
	char *path = NULL;
	int rc;

	(void)context;
	rc = hf_store_next_name(&s.store, HF_STORE_SESSIONS, &name, err);
	if (rc == 0)
		rc = hf_store_resolve(&s.store, HF_STORE_SESSIONS, "41", &name,
				      err);
	if (rc == 0)
		rc = hf_store_size(&s.store, &bytes, err);
	if (rc == 0)
		rc = hf_store_locate(s.store_path, s.root, &path, err);
	free(path);
	return rc;
}

/* Every run asks for a name, in a folder that grows with each. */
Test(store_faults, the_next_name_takes_one_listing)
{
	cleanup_names struct hf_names list = HF_NAMES_INIT;
	struct hf_name name;
	struct hf_error err;
	unsigned listing;

	fault_arm(UINT_MAX, EIO, false);
	cr_assert_eq(hf_store_list(&s.store, HF_STORE_SESSIONS, ".done", &list,
				   &err),
		     0);
	listing = fault_count();
	(void)fault_disarm();
	fault_arm(UINT_MAX, EIO, false);
	cr_assert_eq(hf_store_next_name(&s.store, HF_STORE_SESSIONS, &name,
					&err),
		     0);
	cr_expect_leq(fault_count(), listing);
	(void)fault_disarm();
}

static void put_name(void *context)
{
	(void)context;
	hf_put_file(s.store.folder_fd[HF_STORE_SESSIONS],
		    "000041-20261130T030007Z.done", "x");
}

Test(store_faults, names_sizes_and_places)
{
	const struct fault_case fault_case = {
		.prepare = put_name,
		.run = names,
		.check = check_store,
	};

	fault_loop(&fault_case, 15);
}
