/* SPDX-License-Identifier: MIT */
/* Writing and reading packs while calls fail, and dying at every one. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "core/pack.h"
#include "support/fault.h"
#include "support/faults.h"
#include "support/stored.h"

static struct hf_stored s;
static struct hf_tree tree;

/* Enough to be written before the end, and without much to compress. */
#define SIZE ((size_t)700000)
static char *noise;

static void setup(void)
{
	uint32_t state = 1;

	hf_stored_make(&s, "*.toml");
	tree = (struct hf_tree)HF_TREE_INIT;
	noise = malloc(SIZE);
	cr_assert(noise);
	for (size_t i = 0; i < SIZE; i++) {
		state = state * 1664525 + 1013904223;
		noise[i] = (char)(state >> 24);
	}
	for (int i = 0; i < 3; i++) {
		const char path[] = {(char)('a' + i), '\0'};
		struct hf_entry *const entry = hf_tree_add(&tree, path);

		cr_assert(entry);
		entry->stat.kind = HF_KIND_FILE;
		entry->stat.size = SIZE - (size_t)i;
		entry->has_hash = true;
		entry->hash = hf_hash_of(noise, entry->stat.size);
	}
}

static void teardown(void)
{
	free(noise);
	hf_tree_done(&tree);
	hf_stored_remove(&s);
}

TestSuite(pack_faults, .init = setup, .fini = teardown, .timeout = 300);

static int write_pack(void *context, struct hf_error *err)
{
	cleanup_pack_writer struct hf_pack_writer *writer = NULL;
	int rc;

	(void)context;
	rc = hf_pack_writer_new(&s.store, 1, &writer, err);
	for (size_t i = 0; i < tree.count && rc == 0; i++) {
		struct hf_entry *const entry = &tree.entries[i];

		rc = hf_pack_begin_member(writer, entry, &entry->location, err);
		if (rc == 0)
			rc = hf_pack_write(writer, noise, entry->stat.size,
					   err);
		if (rc == 0)
			rc = hf_pack_end_member(writer, &entry->hash, err);
	}
	return rc < 0 ? rc : hf_pack_commit(writer, err);
}

static void remove_pack(void *context)
{
	const int packs_fd = s.store.folder_fd[HF_STORE_PACKS];

	(void)context;
	(void)!hf_file_unlink_at(packs_fd, "000001.tar.zst");
	(void)!hf_file_unlink_at(packs_fd, "000001.index");
}

/* Either the whole pack with its index, or nothing once it is swept. */
static void check_pack(void *context, int rc)
{
	const int packs_fd = s.store.folder_fd[HF_STORE_PACKS];
	cleanup_contents struct hf_contents *contents = NULL;
	cleanup_buffer struct hf_buffer notes = HF_BUFFER_INIT;
	struct hf_error err;
	size_t count;

	(void)context;
	cr_assert_eq(hf_store_sweep(&s.store, &err), 0);
	count = hf_count_names(packs_fd, "");
	cr_expect(count == 0 || count == 2, "%zu files after %s", count,
		  fault_call());
	cr_expect(rc < 0 || count == 2, "%s", fault_call());
	cr_assert_eq(hf_contents_load(&s.store, &contents, &notes, &err), 0);
	cr_expect_eq(notes.len, 0, "%s", notes.data);
	if (count == 2) {
		cr_expect(hf_stored_check(&s.store, &tree, &err) == 0, "%s",
			  err.text);
		cr_expect(hf_contents_find(contents, &tree.entries[0].hash,
					   SIZE));
	}
}

Test(pack_faults, any_failure_leaves_a_whole_pack_or_none)
{
	const struct fault_case fault_case = {
		.prepare = remove_pack,
		.run = write_pack,
		.check = check_pack,
	};

	fault_loop(&fault_case, 30);
}

/* The reason is the system's, although libarchive stands between. */
Test(pack_faults, a_full_disk_is_said_to_be_full)
{
	struct hf_error err = {.code = 0};
	bool has_fired = true;
	unsigned n = 1;
	unsigned writes = 0;

	for (; has_fired; n++) {
		remove_pack(NULL);
		fault_arm(n, ENOSPC, false);
		(void)!write_pack(NULL, &err);
		has_fired = fault_disarm();
		if (strcmp(fault_call(), "write") != 0)
			continue;
		writes++;
		cr_expect_eq(err.sys_errno, ENOSPC, "%s", err.text);
		cr_expect(strstr(err.text, "cannot write "), "%s", err.text);
	}
	fault_expect_all_tried(n - 1);
	cr_expect_geq(writes, 3);
}

static void write_body(void *context)
{
	struct hf_error err;

	if (write_pack(context, &err) < 0)
		abort();
}

Test(pack_faults, dying_anywhere_leaves_a_whole_pack_or_none)
{
	bool has_crashed = true;
	unsigned n = 1;
	unsigned points = 0;
	struct hf_error err;

	/* The parent has to know where the members lie. */
	cr_assert_eq(write_pack(NULL, &err), 0);
	for (; has_crashed; n++) {
		remove_pack(NULL);
		has_crashed = fault_crash(n, write_body, NULL);
		points += has_crashed;
		check_pack(NULL, has_crashed ? -1 : 0);
	}
	fault_expect_all_tried(n - 1);
	cr_expect_geq(points, 30);
}

/* -- reading --------------------------------------------------------------- */

static int read_pack(void *context, struct hf_error *err)
{
	cleanup_contents struct hf_contents *contents = NULL;
	int rc;

	(void)context;
	rc = hf_contents_load(&s.store, &contents, NULL, err);
	return rc < 0 ? rc : hf_stored_check(&s.store, &tree, err);
}

static void nothing(void *context)
{
	(void)context;
}

static void check_read(void *context, int rc)
{
	(void)context;
	(void)rc;
}

Test(pack_faults, a_failed_read_is_no_damage)
{
	const struct fault_case fault_case = {
		.prepare = nothing,
		.run = read_pack,
		.check = check_read,
	};
	struct hf_error err = {.code = 0};
	bool has_fired = true;
	unsigned n = 1;

	cr_assert_eq(write_pack(NULL, &err), 0);
	fault_loop(&fault_case, 25);

	for (; has_fired; n++) {
		int rc;

		fault_arm(n, EIO, false);
		rc = read_pack(NULL, &err);
		has_fired = fault_disarm();
		cr_expect(rc == 0 || rc == HF_ERR_SYSTEM, "%s at %u: %s",
			  fault_call(), n, err.text);
	}
	fault_expect_all_tried(n - 1);
}
