/* SPDX-License-Identifier: MIT */
/*
 * Find the snapshot that a person means.
 *
 * What was held is compared by a hash over all files and links that the paths
 * name.  Hundreds of manifests are asked for it without being proven; one that
 * says something new is read whole before it counts.
 */
#include "core/moment.h"

#include <inttypes.h>
#include <string.h>

#include "base/buffer.h"
#include "base/calendar.h"
#include "base/fail.h"
#include "base/text.h"
#include "core/snapshot.h"
#include "core/snapshot_peek.h"
#include "platform/system.h"

struct search {
	const struct hf_store *store;
	const char *typed;
	const char *const *paths; /* NULL: snapshots count themselves */
	struct hf_moment moment;
	struct hf_names names;
	struct hf_hash *seen; /* what was held, new to old */
	size_t seen_count;
	struct hf_buffer *notes;
};

static void search_done(struct search *search)
{
	hf_names_done(&search->names);
	hf_free_pointee(&search->seen);
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

static int look(struct search *search, const struct hf_name *name,
		bool is_proven, struct hf_hash *ret_hash, struct hf_error *err)
{
	cleanup_tree struct hf_tree tree = HF_TREE_INIT;
	const int rc = is_proven ? hf_snapshot_prove(search->store, name,
						     search->paths, &tree, err)
				 : hf_snapshot_peek(search->store, name,
						    search->paths, &tree, err);

	return rc < 0 ? rc : summarize(&tree, ret_hash, err);
}

static bool is_seen(const struct search *search, const struct hf_hash *hash)
{
	for (size_t i = 0; i < search->seen_count; i++)
		if (hf_hash_equal(&search->seen[i], hash))
			return true;
	return false;
}

static void note_damage(struct search *search, const struct hf_error *err)
{
	if (search->notes)
		hf_buffer_printf(search->notes, "passed over: %s\n", err->text);
}

/*
 * 1 when the snapshot holds something that none before it did; it is
 * remembered. 0 also for one that is damaged: others may be whole.
 */
static int is_new(struct search *search, const struct hf_name *name,
		  struct hf_error *err)
{
	struct hf_error damaged;
	struct hf_hash hash;
	int rc;

	rc = look(search, name, false, &hash, &damaged);
	if (rc == 0 || (rc > 0 && is_seen(search, &hash)))
		return 0;
	if (rc > 0)
		rc = look(search, name, true, &hash, &damaged);
	if (rc == HF_ERR_CORRUPT || rc == HF_ERR_UNSUPPORTED) {
		note_damage(search, &damaged);
		return 0;
	}
	if (rc < 0)
		*err = damaged;
	if (rc <= 0 || is_seen(search, &hash))
		return rc < 0 ? rc : 0;
	search->seen[search->seen_count++] = hash;
	return 1;
}

/* -- finding --------------------------------------------------------------- */

static int fail_steps(const struct search *search, size_t count,
		      struct hf_error *err)
{
	const bool has_paths = search->paths != NULL;

	(void)hf_fail(err, HF_ERR_USAGE,
		      "there is no '%s'%s%s%s: %zu %s recorded",
		      HF_QUOTE(search->typed), has_paths ? " of '" : "",
		      has_paths ? HF_QUOTE(search->paths[0]) : "",
		      has_paths ? "'" : "", count,
		      has_paths	   ? count == 1 ? "content is" : "contents are"
		      : count == 1 ? "snapshot is"
				   : "snapshots are");
	return hf_fail_hint(err, "'holdfast log' lists the snapshots");
}

static int find_step(struct search *search, struct hf_name *ret_name,
		     struct hf_error *err)
{
	const uint64_t steps = search->moment.steps;
	const size_t count = search->names.count;
	uint64_t passed = 0;

	/* The newest one is where counting begins, whatever it holds. */
	if (steps == 0 || !search->paths) {
		if (steps >= count)
			return fail_steps(search, count, err);
		*ret_name = search->names.items[count - 1 - steps];
		return 0;
	}
	for (size_t i = count; i > 0; i--) {
		const struct hf_name *const name = &search->names.items[i - 1];
		const int rc = is_new(search, name, err);

		if (rc < 0)
			return rc;
		passed += rc > 0 && i < count;
		if (passed == steps) {
			*ret_name = *name;
			return 0;
		}
	}
	return fail_steps(search, search->seen_count, err);
}

static int fail_time(const struct search *search, struct hf_error *err)
{
	const bool has_paths = search->paths != NULL;

	(void)hf_fail(err, HF_ERR_USAGE,
		      "there is no snapshot%s%s%s from '%s' or before",
		      has_paths ? " with a content of '" : "",
		      has_paths ? HF_QUOTE(search->paths[0]) : "",
		      has_paths ? "'" : "", HF_QUOTE(search->typed));
	return hf_fail_hint(err, "'holdfast log' lists the snapshots");
}

/* When the snapshot was taken, by its name: "000042-20261130T030007Z". */
static int64_t time_of(const struct hf_name *name)
{
	const char *const t = strchr(name->text, '-') + 1;
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	int64_t time_ns = INT64_MAX;

	hf_buffer_printf(&text, "%.4s-%.2s-%.2sT%.2s:%.2s:%.2s.0Z", t, t + 4,
			 t + 6, t + 9, t + 11, t + 13);
	if (text.data && hf_calendar_scan(text.data, &time_ns) == 0)
		return INT64_MAX;
	return time_ns;
}

static int find_time(struct search *search, struct hf_name *ret_name,
		     struct hf_error *err)
{
	for (size_t i = search->names.count; i > 0; i--) {
		const struct hf_name *const name = &search->names.items[i - 1];
		int rc = 1;

		if (time_of(name) > search->moment.time_ns)
			continue;
		if (search->paths)
			rc = is_new(search, name, err);
		if (rc < 0)
			return rc;
		if (rc > 0) {
			*ret_name = *name;
			return 0;
		}
	}
	return fail_time(search, err);
}

static int find(struct search *search, struct hf_name *ret_name,
		struct hf_error *err)
{
	struct hf_name newest;
	int rc;

	/* Counting begins at the newest: is that there? */
	rc = hf_snapshot_find_newest(search->store, &newest, err);
	if (rc == 0)
		rc = hf_store_list(search->store, HF_STORE_SNAPSHOTS, "",
				   &search->names, err);
	if (rc < 0)
		return rc;
	search->seen = calloc(search->names.count + 1, sizeof(*search->seen));
	if (!search->seen)
		return hf_fail_memory(err);
	return search->moment.kind == HF_MOMENT_TIME
		       ? find_time(search, ret_name, err)
		       : find_step(search, ret_name, err);
}

int hf_moment_find(const struct hf_store *store, const char *typed,
		   const char *const *paths, struct hf_buffer *notes,
		   struct hf_name *ret_name, struct hf_error *err)
{
	CLEANUP(search_done)
	struct search search = {
		.store = store,
		.typed = typed,
		.paths = paths && paths[0] ? paths : NULL,
		.names = HF_NAMES_INIT,
		.notes = notes,
	};
	int rc;

	if (!typed)
		return hf_snapshot_find_newest(store, ret_name, err);
	rc = hf_moment_parse(typed, hf_system_time_ns(), &search.moment, err);
	if (rc < 0)
		return rc;
	if (search.moment.kind == HF_MOMENT_NAME)
		return hf_store_resolve(store, HF_STORE_SNAPSHOTS, typed,
					ret_name, err);
	return find(&search, ret_name, err);
}
