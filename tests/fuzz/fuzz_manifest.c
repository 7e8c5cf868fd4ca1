/* SPDX-License-Identifier: MIT */
/*
 * A manifest as it lies there, and the same lines under a right seal: behind
 * the hash nothing may be believed either.  What is accepted must come back as
 * it is, and each entry of it be found by itself.
 */
/* The assertions are the test. */
#undef NDEBUG
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/path.h"
#include "core/manifest.h"
#include "core/manifest_find.h"
#include "core/sealed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_tree(const struct hf_tree *tree)
{
	for (size_t i = 0; i < tree->count; i++) {
		const struct hf_entry *const entry = &tree->entries[i];

		assert(hf_path_is_plain(entry->path));
		assert(entry->stat.mode <= 07777);
		assert((entry->stat.kind == HF_KIND_LINK) == !!entry->link);
		assert(entry->stat.kind != HF_KIND_FILE ||
		       entry->role == HF_ROLE_SIDE_CACHE ||
		       (entry->has_hash && entry->location.pack > 0));
		assert(i == 0 || hf_path_compare(tree->entries[i - 1].path,
						 entry->path) < 0);
	}
}

/* Of lines that are none it is found out in bounds and in time. */
static void find_in_anything(const char *text, size_t len)
{
	struct hf_tree tree = HF_TREE_INIT;
	struct hf_error err;
	const int rc = hf_manifest_find(text, len, "a.toml", &tree, &err);

	assert(rc == 0 || rc == HF_ERR_CORRUPT || rc == HF_ERR_UNSUPPORTED);
	hf_tree_done(&tree);
}

static void find_each(const struct hf_tree *tree, const struct hf_buffer *text)
{
	for (size_t i = 0; i < tree->count && i < 64; i++) {
		struct hf_tree found = HF_TREE_INIT;
		struct hf_error err;

		assert(hf_manifest_find(text->data, text->len,
					tree->entries[i].path, &found,
					&err) == 0);
		assert(found.count > 0);
		assert(strcmp(found.entries[0].path, tree->entries[i].path) ==
		       0);
		hf_tree_done(&found);
	}
}

static void check(const char *text, size_t len)
{
	struct hf_manifest manifest = HF_MANIFEST_INIT;
	struct hf_manifest again = HF_MANIFEST_INIT;
	struct hf_buffer first = HF_BUFFER_INIT;
	struct hf_buffer second = HF_BUFFER_INIT;
	struct hf_error err;

	find_in_anything(text, len);
	if (hf_manifest_decode("x", text, len, &manifest, &err) < 0) {
		assert(err.code == HF_ERR_CORRUPT ||
		       err.code == HF_ERR_UNSUPPORTED);
		assert(!strchr(err.text, '\n'));
		return;
	}
	check_tree(&manifest.tree);
	assert(hf_manifest_encode(&manifest, &first, &err) == 0);
	assert(hf_manifest_decode("x", first.data, first.len, &again, &err) ==
	       0);
	assert(hf_manifest_encode(&again, &second, &err) == 0);
	assert(strcmp(first.data, second.data) == 0);
	find_each(&manifest.tree, &first);
	hf_buffer_done(&first);
	hf_buffer_done(&second);
	hf_manifest_done(&manifest);
	hf_manifest_done(&again);
}

/* How many of the lines are entries. */
static size_t count_entries(const char *text, size_t len)
{
	struct hf_lines lines = {.next = text, .end = text + len};
	size_t count = 0;
	const char *line;
	size_t line_len;

	while (hf_lines_next(&lines, &line, &line_len))
		count += line_len > 7 && memcmp(line, "{\"path\"", 7) == 0;
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct hf_buffer sealed = HF_BUFFER_INIT;

	check((const char *)data, len);
	hf_buffer_add(&sealed, data, len);
	if (len > 0 && data[len - 1] != '\n')
		hf_buffer_add(&sealed, "\n", 1);
	hf_sealed_end(&sealed, "entries",
		      count_entries(sealed.data, sealed.len));
	check(sealed.data, sealed.len);
	hf_buffer_done(&sealed);
	return 0;
}
