/* SPDX-License-Identifier: MIT */
/* Look whether the packs that manifests refer to are still there. */
#include "core/pack_lost.h"

#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "core/json.h"
#include "core/pack_name.h"

/* A header is far shorter. */
#define HEADER_MAX 256

void hf_packs_done(struct hf_packs *packs)
{
	hf_free_pointee(&packs->items);
}

/* Where number is, or belongs. */
static size_t find_place(const struct hf_packs *packs, uint32_t number)
{
	size_t low = 0;
	size_t high = packs->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (packs->items[middle] < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool has_number(const struct hf_packs *packs, uint32_t number)
{
	const size_t at = find_place(packs, number);

	return at < packs->count && packs->items[at] == number;
}

int hf_packs_add(struct hf_packs *packs, uint32_t number, struct hf_error *err)
{
	const size_t at = find_place(packs, number);
	uint32_t *items = packs->items;

	if (at < packs->count && items[at] == number)
		return 0;
	if (packs->count == packs->capacity) {
		const size_t wanted = 2 * packs->capacity + 64;

		items = realloc(items, wanted * sizeof(*items));
		if (!items)
			return hf_fail_memory(err);
		packs->items = items;
		packs->capacity = wanted;
	}
	memmove(&items[at + 1], &items[at],
		(packs->count - at) * sizeof(*items));
	items[at] = number;
	packs->count++;
	return 0;
}

int hf_packs_add_there(struct hf_packs *packs, const struct hf_store *store,
		       struct hf_error *err)
{
	cleanup_directory struct hf_directory *directory = NULL;
	const char *name;
	enum hf_kind kind;
	uint32_t pack;
	int rc;

	rc = hf_directory_open(store->folder_fd[HF_STORE_PACKS], &directory);
	while (rc >= 0) {
		rc = hf_directory_next(directory, &name, &kind);
		if (rc <= 0)
			break;
		if (hf_pack_name_parse(name, HF_PACK_SUFFIX, &pack) &&
		    hf_packs_add(packs, pack, err) < 0)
			return err->code;
	}
	return rc < 0 ? hf_fail_system(err, rc, "cannot list the packs of '%s'",
				       HF_QUOTE(store->path))
		      : 0;
}

int hf_packs_add_tree(struct hf_packs *packs, const struct hf_tree *tree,
		      struct hf_error *err)
{
	uint32_t previous = 0;

	for (size_t i = 0; i < tree->count; i++) {
		const uint32_t pack = tree->entries[i].location.pack;
		int rc;

		/* Neighbours mostly share a pack. */
		if (pack == previous || pack == 0)
			continue;
		rc = hf_packs_add(packs, pack, err);
		if (rc < 0)
			return rc;
		previous = pack;
	}
	return 0;
}

/*
 * How long the pack was written: 1 when its index says, or 0.  An index is a help:
 * without one the pack is believed.
 */
static int read_size(const struct hf_store *store, uint32_t pack,
		     uint64_t *ret_bytes, struct hf_error *err)
{
	cleanup_json struct hf_json *json = NULL;
	cleanup_fd int fd = -1;
	char name[HF_PACK_NAME];
	char text[HEADER_MAX];
	const char *newline;
	int64_t len;
	int rc;

	hf_pack_name_format(pack, HF_PACK_INDEX_SUFFIX, name);
	fd = hf_file_open_read_at(store->folder_fd[HF_STORE_PACKS], name);
	if (fd == -ENOENT)
		return 0;
	len = fd < 0 ? fd : hf_file_read(fd, text, sizeof(text));
	if (len < 0)
		return hf_fail_system(err, (int)len, "cannot read index '%s'",
				      name);
	newline = memchr(text, '\n', (size_t)len);
	if (!newline)
		return 0;
	rc = hf_json_parse_line(text, (size_t)(newline - text), &json, err);
	if (rc < 0)
		return rc == HF_ERR_CORRUPT ? 0 : rc;
	return hf_pack_header_decode(hf_json_root(json), pack, ret_bytes);
}

/* 1 when the pack is not there or not whole, 0, or a failure. */
static int is_lost(const struct hf_store *store, uint32_t pack,
		   struct hf_error *err)
{
	char name[HF_PACK_NAME];
	struct hf_stat stat;
	uint64_t bytes;
	int rc;

	hf_pack_name_format(pack, HF_PACK_SUFFIX, name);
	rc = hf_file_stat_at(store->folder_fd[HF_STORE_PACKS], name, &stat);
	if (rc == -ENOENT)
		return 1;
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot look at pack '%s'",
				      name);
	rc = read_size(store, pack, &bytes, err);
	if (rc < 0)
		return rc;
	return stat.kind != HF_KIND_FILE || (rc > 0 && bytes != stat.size);
}

int hf_packs_keep_lost(const struct hf_store *store, struct hf_packs *packs,
		       struct hf_error *err)
{
	size_t kept = 0;

	for (size_t i = 0; i < packs->count; i++) {
		const int rc = is_lost(store, packs->items[i], err);

		if (rc < 0)
			return rc;
		if (rc > 0)
			packs->items[kept++] = packs->items[i];
	}
	packs->count = kept;
	return 0;
}

int hf_pack_forget_lost(const struct hf_store *store, struct hf_tree *tree,
			struct hf_pack_lost *ret_lost, struct hf_error *err)
{
	cleanup_packs struct hf_packs packs = HF_PACKS_INIT;
	struct hf_pack_lost lost = {.count = 0};
	int rc;

	rc = hf_packs_add_tree(&packs, tree, err);
	if (rc < 0)
		return rc;
	if (packs.count > 0)
		lost.last = packs.items[packs.count - 1];
	rc = hf_packs_keep_lost(store, &packs, err);
	if (rc < 0)
		return rc;
	lost.count = packs.count;
	if (lost.count > 0)
		lost.first = packs.items[0];
	for (size_t i = 0; lost.count > 0 && i < tree->count; i++) {
		struct hf_entry *const entry = &tree->entries[i];

		if (!has_number(&packs, entry->location.pack))
			continue;
		entry->location = (struct hf_location){.pack = 0};
		/* The hash stays, to compare with; nothing else is believed. */
		entry->is_racy = true;
	}
	*ret_lost = lost;
	return 0;
}
