/* SPDX-License-Identifier: MIT */
/* Read the index of a pack: sealed lines, believed only as a whole. */
#include "core/pack_index.h"

#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "core/json.h"
#include "core/pack.h"
#include "core/pack_name.h"
#include "core/sealed.h"

/* A pack holds 64 MiB of content, of files that may be empty. */
#define INDEX_MAX ((size_t)1 << 30)

bool hf_pack_header_decode(const hf_json_value *header, uint32_t pack,
			   uint64_t *ret_bytes)
{
	uint64_t version;
	uint64_t number;

	return hf_json_number(hf_json_get(header, "holdfast-index"),
			      &version) &&
	       version == HF_PACK_INDEX_VERSION &&
	       hf_json_number(hf_json_get(header, "pack"), &number) &&
	       number == pack &&
	       hf_json_number(hf_json_get(header, "bytes"), ret_bytes);
}

/* One name; 0 or -errno. */
static int remove_name(const struct hf_store *store, uint32_t pack,
		       const char *suffix)
{
	char name[HF_PACK_NAME];
	int rc;

	hf_pack_name_format(pack, suffix, name);
	rc = hf_file_unlink_at(store->folder_fd[HF_STORE_PACKS], name);
	return rc == -ENOENT ? 0 : rc;
}

int hf_pack_remove(const struct hf_store *store, uint32_t pack)
{
	const int rc = remove_name(store, pack, HF_PACK_SUFFIX);

	return rc < 0 ? rc : remove_name(store, pack, HF_PACK_INDEX_SUFFIX);
}

static int decode_item(const hf_json_value *line,
		       struct hf_pack_index_item *item, struct hf_error *err)
{
	const char *const digits = hf_json_string(hf_json_get(line, "hash"));

	if (!digits || hf_hash_parse(digits, &item->hash) < 0 ||
	    !hf_json_large_number(hf_json_get(line, "size"), &item->size) ||
	    !hf_json_large_number(hf_json_get(line, "offset"), &item->offset))
		return hf_fail(err, HF_ERR_CORRUPT, "an index line is wrong");
	return 0;
}

static int read_text(const struct hf_store *store, const char *name,
		     struct hf_buffer *text, struct hf_error *err)
{
	cleanup_fd int fd = -1;
	int rc;

	fd = hf_file_open_read_at(store->folder_fd[HF_STORE_PACKS], name);
	if (fd < 0)
		return hf_fail_system(err, fd, "cannot open index '%s'", name);
	rc = hf_file_read_all(fd, INDEX_MAX, text);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot read index '%s'", name);
	return 0;
}

int hf_pack_index_read(const struct hf_store *store, uint32_t pack,
		       uint64_t pack_bytes,
		       int (*item)(void *context,
				   const struct hf_pack_index_item *item,
				   struct hf_error *err),
		       void *context, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	struct hf_pack_index_item found;
	char name[HF_PACK_NAME];
	struct hf_lines lines;
	bool has_header = false;
	const char *line;
	uint64_t bytes;
	size_t count;
	size_t len;
	int rc;

	hf_pack_name_format(pack, HF_PACK_INDEX_SUFFIX, name);
	rc = read_text(store, name, &text, err);
	if (rc == 0)
		rc = hf_sealed_check(name, text.data ? text.data : "", text.len,
				     HF_PACK_INDEX_COUNTED, &lines, &count,
				     err);
	while (rc == 0 && hf_lines_next(&lines, &line, &len)) {
		cleanup_json struct hf_json *json = NULL;

		rc = hf_json_parse_line(line, len, &json, err);
		if (rc < 0)
			break;
		if (!has_header &&
		    (!hf_pack_header_decode(hf_json_root(json), pack, &bytes) ||
		     bytes != pack_bytes))
			return hf_fail(err, HF_ERR_CORRUPT,
				       "the index is not that of the pack");
		if (has_header) {
			rc = decode_item(hf_json_root(json), &found, err);
			if (rc == 0)
				rc = item(context, &found, err);
		}
		has_header = true;
	}
	return rc;
}
