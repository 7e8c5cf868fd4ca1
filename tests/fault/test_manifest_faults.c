/* SPDX-License-Identifier: MIT */
/* Encoding, writing, reading and decoding a manifest while calls fail. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "core/manifest.h"
#include "core/replace.h"
#include "core/snapshot.h"
#include "support/fault.h"
#include "support/faults.h"
#include "support/stored.h"

#define NAME "000001-20261130T030007Z"

static struct hf_stored s;
static struct hf_manifest before;

static void setup(void)
{
	struct hf_entry *entry;

	hf_stored_make(&s, "*.toml");
	before = (struct hf_manifest)HF_MANIFEST_INIT;
	cr_assert(hf_name_parse(NAME, &before.name));
	before.root = strdup("/r\xff");
	before.patterns = strdup("*.toml\n");
	for (int i = 0; i < 3; i++) {
		const char path[] = {(char)('a' + i), (char)(i ? 'x' : 0xff),
				     '\0'};

		entry = hf_tree_add(&before.tree, path);
		cr_assert(entry);
		entry->stat.kind = HF_KIND_FILE;
		entry->has_hash = true;
		entry->location.pack = 1;
		entry->rule = "a\xff*";
		entry->xattrs = "user.a=YQ==\n";
	}
}

static void teardown(void)
{
	hf_manifest_done(&before);
	hf_stored_remove(&s);
}

TestSuite(manifest_faults, .init = setup, .fini = teardown);

static int write_and_load(void *context, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	cleanup_manifest struct hf_manifest after = HF_MANIFEST_INIT;
	int rc;

	(void)context;
	rc = hf_manifest_encode(&before, &text, err);
	if (rc < 0)
		return rc;
	rc = hf_replace_write(s.store.folder_fd[HF_STORE_SNAPSHOTS], NAME, 0600,
			      text.data, text.len, err);
	if (rc < 0)
		return rc;
	rc = hf_snapshot_load_newest(&s.store, &after, err);
	if (rc < 0)
		return rc;
	cr_expect_eq(after.tree.count, before.tree.count);
	return 0;
}

static void prepare(void *context)
{
	(void)context;
	(void)!hf_file_unlink_at(s.store.folder_fd[HF_STORE_SNAPSHOTS], NAME);
}

/* There is none, or a whole one. */
static void check(void *context, int rc)
{
	cleanup_manifest struct hf_manifest loaded = HF_MANIFEST_INIT;
	struct hf_error err;
	const int load_rc = hf_snapshot_load_newest(&s.store, &loaded, &err);

	(void)context;
	cr_expect(load_rc == 0 || load_rc == HF_ERR_NOTHING, "%s",
		  err.text);
	cr_expect(rc < 0 || load_rc == 0);
	cr_assert_eq(hf_store_sweep(&s.store, &err), 0);
	cr_expect_eq(hf_count_names(s.store.folder_fd[HF_STORE_SNAPSHOTS],
				    HF_TEMPORARY_PREFIX),
		     0);
}

Test(manifest_faults, any_failure_leaves_none_or_a_whole_one)
{
	const struct fault_case fault_case = {
		.prepare = prepare,
		.run = write_and_load,
		.check = check,
	};

	fault_loop(&fault_case, 40);
}

/* Memory that is missing is never taken for damage. */
Test(manifest_faults, without_memory_it_is_not_damaged)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	struct hf_error err;
	bool has_fired = true;
	unsigned n = 1;

	cr_assert_eq(hf_manifest_encode(&before, &text, &err), 0);
	for (; has_fired; n++) {
		struct hf_manifest after = HF_MANIFEST_INIT;
		int rc;

		fault_arm(n, ENOMEM, false);
		rc = hf_manifest_decode("x", text.data, text.len, &after, &err);
		has_fired = fault_disarm();
		cr_expect_eq(rc, has_fired ? HF_ERR_SYSTEM : 0, "%s at %u: %s",
			     fault_call(), n, err.text);
		hf_manifest_done(&after);
	}
	fault_expect_all_tried(n - 1);
}
