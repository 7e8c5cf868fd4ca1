/* SPDX-License-Identifier: MIT */
/* Look up single paths in the manifests of a store. */
#include "core/snapshot_peek.h"

#include "base/buffer.h"
#include "base/fail.h"
#include "core/manifest.h"
#include "core/manifest_find.h"
#include "core/snapshot_load.h"

/* The lines do not know whose they are. */
static int fail_name(const struct hf_name *name, struct hf_error *err)
{
	const struct hf_error cause = *err;

	if (cause.code != HF_ERR_CORRUPT)
		return cause.code;
	return hf_fail(err, HF_ERR_CORRUPT, "cannot read 'snapshot %s': %s",
		       name->text, cause.text);
}

int hf_snapshot_peek(const struct hf_store *store, const struct hf_name *name,
		     const char *const *paths, uint64_t *hints,
		     struct hf_tree *tree, struct hf_error *err)
{
	cleanup_fd int fd = hf_snapshot_open(store, name, err);
	int rc = 0;

	if (fd < 0)
		return err->code;
	for (size_t i = 0; rc == 0 && paths[i]; i++) {
		uint64_t none = 0;

		rc = hf_manifest_find_in(fd, paths[i],
					 hints ? &hints[i] : &none, tree, err);
	}
	return rc < 0 ? fail_name(name, err) : 0;
}

static int read_whole(const struct hf_store *store, const struct hf_name *name,
		      struct hf_buffer *text, struct hf_error *err)
{
	cleanup_fd int fd = hf_snapshot_open(store, name, err);
	cleanup_buffer struct hf_buffer label = HF_BUFFER_INIT;
	struct hf_name found;
	int rc;

	if (fd < 0)
		return err->code;
	rc = hf_snapshot_read(fd, name, &label, text, err);
	if (rc == 0)
		rc = hf_manifest_check(label.data, text->data ? text->data : "",
				       text->len, &found, err);
	return rc < 0 ? rc
		      : hf_snapshot_check_name(label.data, &found, name, err);
}

int hf_snapshot_prove(const struct hf_store *store, const struct hf_name *name,
		      const char *const *paths, struct hf_tree *tree,
		      struct hf_error *err)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	int rc = read_whole(store, name, &text, err);

	if (rc < 0)
		return hf_snapshot_add_cure(name, err);
	for (; rc == 0 && *paths; paths++)
		rc = hf_manifest_find(text.data, text.len, *paths, tree, err);
	return rc;
}

int hf_snapshot_measure(const struct hf_store *store,
			const struct hf_name *name, size_t *ret_entries,
			uint64_t *ret_bytes, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	const int rc = read_whole(store, name, &text, err);

	if (rc == 0)
		hf_manifest_measure(text.data, text.len, ret_entries,
				    ret_bytes);
	return rc;
}
