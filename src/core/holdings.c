/* SPDX-License-Identifier: MIT */
/* Walk the snapshots and tell by a hash what was held already. */
#include "core/holdings.h"

#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "core/snapshot_peek.h"

void hf_holdings_done(struct hf_holdings *holdings)
{
	hf_names_done(&holdings->names);
	hf_free_pointee(&holdings->seen);
	hf_free_pointee(&holdings->hints);
	hf_tree_done(&holdings->tree);
}

int hf_holdings_begin(struct hf_holdings *holdings,
		      const struct hf_store *store, const char *const *paths,
		      struct hf_error *err)
{
	size_t count = 0;
	int rc;

	holdings->store = store;
	holdings->paths = paths;
	rc = hf_store_list(store, HF_STORE_SNAPSHOTS, "", &holdings->names,
			   err);
	if (rc < 0)
		return rc;
	holdings->left = holdings->names.count;
	while (paths[count])
		count++;
	holdings->seen = calloc(holdings->left + 1, sizeof(*holdings->seen));
	holdings->hints = calloc(count + 1, sizeof(*holdings->hints));
	return holdings->seen && holdings->hints ? 0 : hf_fail_memory(err);
}

/* -- what a snapshot holds ------------------------------------------------- */

static bool is_content(const struct hf_entry *entry)
{
	return (entry->stat.kind == HF_KIND_FILE && entry->has_hash) ||
	       entry->stat.kind == HF_KIND_LINK;
}

static void add_content(struct hf_hasher *hasher, const struct hf_entry *entry)
{
	const uint64_t kind_and_size[2] = {(uint64_t)entry->stat.kind,
					   entry->stat.size};

	hf_hasher_update(hasher, entry->path, strlen(entry->path) + 1);
	hf_hasher_update(hasher, kind_and_size, sizeof(kind_and_size));
	if (entry->has_hash)
		hf_hasher_update(hasher, &entry->hash, sizeof(entry->hash));
	else
		hf_hasher_update(hasher, entry->link, strlen(entry->link) + 1);
}

/* 1 with what the entries hold, 0 when that is nothing. */
static int summarize(const struct hf_tree *tree, struct hf_hash *ret_hash,
		     struct hf_error *err)
{
	cleanup_hasher struct hf_hasher *hasher = hf_hasher_new();
	int count = 0;

	if (!hasher)
		return hf_fail_memory(err);
	for (size_t i = 0; i < tree->count; i++) {
		if (!is_content(&tree->entries[i]))
			continue;
		add_content(hasher, &tree->entries[i]);
		count = 1;
	}
	*ret_hash = hf_hasher_digest(hasher);
	return count;
}

static int look(struct hf_holdings *holdings, const struct hf_name *name,
		bool is_proven, struct hf_hash *ret_hash, struct hf_error *err)
{
	struct hf_tree *const tree = &holdings->tree;
	int rc;

	hf_tree_done(tree);
	*tree = (struct hf_tree)HF_TREE_INIT;
	rc = is_proven
		     ? hf_snapshot_prove(holdings->store, name, holdings->paths,
					 tree, err)
		     : hf_snapshot_peek(holdings->store, name, holdings->paths,
					holdings->hints, tree, err);
	return rc < 0 ? rc : summarize(tree, ret_hash, err);
}

/* Its place among what was seen; seen_count when it is new. */
static size_t find_seen(const struct hf_holdings *holdings,
			const struct hf_hash *hash)
{
	size_t i = 0;

	while (i < holdings->seen_count &&
	       !hf_hash_equal(&holdings->seen[i], hash))
		i++;
	return i;
}

/* -- one after the other --------------------------------------------------- */

static int ask(struct hf_holdings *holdings, struct hf_holding *holding,
	       struct hf_error *err)
{
	const struct hf_name *const name = &holding->snapshot;
	struct hf_hash hash;
	int rc;

	rc = look(holdings, name, false, &hash, err);
	if (rc > 0 && find_seen(holdings, &hash) == holdings->seen_count) {
		rc = look(holdings, name, true, &hash, err);
		/* Something else after all, or nothing: that counts. */
		holding->is_new = rc > 0 && find_seen(holdings, &hash) ==
						    holdings->seen_count;
	}
	if (rc < 0)
		return rc;
	holding->has_content = rc > 0;
	holding->tree = &holdings->tree;
	if (rc == 0)
		return 0;
	holding->index = find_seen(holdings, &hash);
	if (holding->is_new)
		holdings->seen[holdings->seen_count++] = hash;
	return 0;
}

int hf_holdings_next(struct hf_holdings *holdings,
		     struct hf_holding *ret_holding, struct hf_error *err)
{
	while (holdings->left > 0) {
		const struct hf_name *const name =
			&holdings->names.items[--holdings->left];
		struct hf_holding holding = {.snapshot = *name};
		int rc;

		if (hf_name_time_ns(name) > holdings->until_ns)
			continue;
		rc = ask(holdings, &holding, err);
		if (rc == 0) {
			*ret_holding = holding;
			return 1;
		}
		if (rc != HF_ERR_CORRUPT && rc != HF_ERR_UNSUPPORTED)
			return rc;
		/* Others may be whole. */
		if (holdings->notes)
			hf_buffer_printf(holdings->notes, "passed over: %s\n",
					 err->text);
	}
	return 0;
}
