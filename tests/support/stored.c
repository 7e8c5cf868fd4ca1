/* SPDX-License-Identifier: MIT */
/* What the tests of the store share. */
#include "support/stored.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/buffer.h"
#include "base/path.h"
#include "core/pack.h"
#include "support/scanned.h"
#include "support/tmpdir.h"

static void open_store(struct hf_stored *stored)
{
	struct hf_error err;

	stored->store = (struct hf_store)HF_STORE_INIT;
	cr_assert(hf_store_open(&stored->store, stored->store_path,
				stored->root, stored->root_fd, HF_STORE_MAKE,
				&err) == 0,
		  "%s", err.text);
}

void hf_stored_make(struct hf_stored *stored, const char *protect)
{
	*stored = (struct hf_stored){.dir = hf_tmpdir_make()};
	stored->root = hf_path_join(stored->dir, "root");
	stored->store_path = hf_path_join(stored->dir, "store");
	cr_assert(stored->root && stored->store_path);
	cr_assert(hf_file_mkdir_path(stored->root) == 0);
	stored->root_fd = hf_file_open_directory(stored->root);
	cr_assert(stored->root_fd >= 0);
	hf_make_policy(&stored->policy, protect, "");
	open_store(stored);
	stored->scan = (struct hf_scan_options){
		.policy = &stored->policy,
		.root_fd = stored->root_fd,
		.root = stored->root,
		.store = stored->store_path,
	};
}

void hf_stored_remove(struct hf_stored *stored)
{
	hf_store_close(&stored->store);
	hf_policy_done(&stored->policy);
	hf_file_close_quietly(&stored->root_fd);
	hf_free_pointee(&stored->root);
	hf_free_pointee(&stored->store_path);
	hf_tmpdir_remove(stored->dir);
}

void hf_stored_reopen(struct hf_stored *stored)
{
	hf_store_close(&stored->store);
	open_store(stored);
}

void hf_stored_take(struct hf_stored *stored, struct hf_manifest *ret_manifest,
		    struct hf_snapshot_result *ret_result)
{
	const struct hf_snapshot_options options = {.scan = &stored->scan};
	struct hf_error err;

	cr_assert(hf_snapshot_take(&stored->store, &options, NULL, ret_manifest,
				   ret_result, &err) == 0,
		  "%s", err.text);
}

static int begin(const struct hf_pack_want *want, struct hf_error *err)
{
	(void)want;
	(void)err;
	return 0;
}

static int add_data(const struct hf_pack_want *want, const void *data,
		    size_t len, struct hf_error *err)
{
	(void)err;
	if (want->context)
		hf_buffer_add(want->context, data, len);
	return 0;
}

static void end(const struct hf_pack_want *want, int result,
		const struct hf_error *err)
{
	(void)want;
	(void)result;
	(void)err;
}

int hf_stored_read(const struct hf_store *store, const struct hf_entry *entry,
		   struct hf_buffer *ret_content, struct hf_error *err)
{
	static const struct hf_pack_sink sink = {
		.begin = begin,
		.data = add_data,
		.end = end,
	};
	const struct hf_pack_want want = {
		.location = entry->location,
		.size = entry->stat.size,
		.hash = entry->hash,
		.context = ret_content,
	};

	return hf_pack_read(store, &want, 1, &sink, err);
}

int hf_stored_check(const struct hf_store *store, const struct hf_tree *tree,
		    struct hf_error *err)
{
	for (size_t i = 0; i < tree->count; i++) {
		const struct hf_entry *const entry = &tree->entries[i];
		int rc;

		if (entry->stat.kind != HF_KIND_FILE)
			continue;
		rc = hf_stored_read(store, entry, NULL, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

size_t hf_count_names(int dir_fd, const char *prefix)
{
	cleanup_directory struct hf_directory *directory = NULL;
	const char *name;
	enum hf_kind kind;
	size_t count = 0;

	cr_assert(hf_directory_open(dir_fd, &directory) == 0);
	while (hf_directory_next(directory, &name, &kind) == 1)
		count += strncmp(name, prefix, strlen(prefix)) == 0;
	return count;
}
