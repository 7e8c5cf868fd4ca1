/* SPDX-License-Identifier: MIT */
/* Read from a store what retention decides about. */
#include "core/retention_store.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "core/journal_text.h"
#include "core/pack_lost.h"
#include "core/pack_name.h"
#include "core/retention_spans.h"
#include "core/snapshot.h"
#include "platform/system.h"

struct reading {
	const struct hf_store *store;
	struct hf_retention_view *view;
	struct hf_spans spans;
	bool *is_in_use; /* of each snapshot */
};

static void reading_done(struct reading *reading)
{
	hf_spans_done(&reading->spans);
	hf_free_pointee(&reading->is_in_use);
}

static int fail_look(struct hf_error *err, int rc, const char *what,
		     const char *name)
{
	return hf_fail_system(err, rc, "cannot look at %s '%s'", what, name);
}

/* The index of a name in a list, or its length. */
static size_t find_name(const struct hf_names *names, const char *text)
{
	size_t i = 0;

	while (i < names->count && strcmp(names->items[i].text, text) != 0)
		i++;
	return i;
}

/* -- sessions ----------------------------------------------------------------
 */

/* Journals, and kept copies whose journal is gone. */
static int list_sessions(const struct hf_store *store,
			 const struct hf_names *kept, struct hf_names *ret_all,
			 struct hf_error *err)
{
	cleanup_names struct hf_names journals = HF_NAMES_INIT;
	struct hf_name *items;
	size_t j = 0;
	size_t k = 0;
	size_t count = 0;
	int rc;

	rc = hf_journal_list(store, &journals, err);
	if (rc < 0)
		return rc;
	items = calloc(journals.count + kept->count + 1, sizeof(*items));
	if (!items)
		return hf_fail_memory(err);
	while (j < journals.count || k < kept->count) {
		const uint64_t journal =
			j < journals.count ? hf_name_number(&journals.items[j])
					   : UINT64_MAX;
		const uint64_t copies =
			k < kept->count ? hf_name_number(&kept->items[k])
					: UINT64_MAX;

		items[count++] =
			journal <= copies ? journals.items[j] : kept->items[k];
		k += copies <= journal;
		j += journal <= copies;
	}
	*ret_all = (struct hf_names){.items = items, .count = count};
	return 0;
}

/*
 * Bytes of the journal; 1 when it has not ended, 0, or 2 when there is none.
 * Open first: one that ends in between is found by its other name.
 */
static int look_at_journal(const struct hf_store *store,
			   const struct hf_name *name, uint64_t *bytes,
			   struct hf_error *err)
{
	static const char *const suffixes[] = {HF_JOURNAL_OPEN,
					       HF_JOURNAL_DONE};
	const int folder_fd = store->folder_fd[HF_STORE_SESSIONS];
	char file_name[HF_JOURNAL_FILE_NAME];

	for (int i = 0; i < 2; i++) {
		int rc;

		hf_journal_file_name(name, suffixes[i], file_name);
		rc = hf_store_size_at(folder_fd, file_name, bytes);
		if (rc == 0)
			return i == 0;
		if (rc != -ENOENT)
			return fail_look(err, rc, "the journal", name->text);
	}
	return 2;
}

/* What a run put something else in place of is damage. */
static int add_damage(struct reading *reading,
		      const struct hf_session_record *record,
		      struct hf_error *err)
{
	struct hf_name snapshot;

	if (strcmp(record->kind, "run") != 0 ||
	    !hf_name_parse(record->snapshot, &snapshot))
		return 0;
	for (size_t i = 0; i < record->kept_count; i++) {
		const struct hf_entry *const entry = record->kept[i].replaced;
		int rc;

		if (entry->stat.kind == HF_KIND_ABSENT)
			continue;
		rc = hf_spans_add_damage(&reading->spans, entry,
					 hf_name_number(&snapshot), err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static void describe_session(struct reading *reading,
			     const struct hf_session_record *record,
			     struct hf_retention_session *item)
{
	const struct hf_retention_view *const view = reading->view;
	const size_t snapshot = find_name(&view->snapshots, record->snapshot);

	item->begun_ns = record->begun_ns;
	item->is_run = strcmp(record->kind, "run") == 0;
	item->is_violated = record->violations > 0;
	if (item->is_open && snapshot < view->snapshots.count)
		reading->is_in_use[snapshot] = true;
	/* What an undo undid stands in its journal as the command. */
	if (strcmp(record->kind, "undo") == 0 && record->argv &&
	    record->argv[0]) {
		const size_t undone =
			find_name(&view->sessions, record->argv[0]);

		if (undone < view->sessions.count)
			item->undone = undone + 1;
	}
}

static int read_session(struct reading *reading, size_t index,
			const struct hf_names *kept, struct hf_error *err)
{
	const struct hf_store *const store = reading->store;
	const struct hf_name *const name =
		&reading->view->sessions.items[index];
	struct hf_retention_session *const item =
		&reading->view->session_items[index];
	cleanup_session_record struct hf_session_record record =
		HF_SESSION_RECORD_INIT;
	int state;
	int rc;

	item->has_kept = find_name(kept, name->text) < kept->count;
	if (item->has_kept) {
		rc = hf_store_size_at(store->folder_fd[HF_STORE_KEPT],
				      name->text, &item->kept_bytes);
		if (rc < 0)
			return fail_look(err, rc, "kept copies of", name->text);
	}
	state = look_at_journal(store, name, &item->bytes, err);
	if (state < 0 || state == 2)
		return state < 0 ? state : 0;
	item->is_open = state == 1;
	rc = hf_journal_read(store, name, &record, err);
	if (rc == HF_ERR_CORRUPT && !item->is_open) {
		/* Nobody knows what it tells of. */
		item->is_open = true;
		return 0;
	}
	if (rc < 0)
		return rc;
	describe_session(reading, &record, item);
	return add_damage(reading, &record, err);
}

static int read_sessions(struct reading *reading, struct hf_error *err)
{
	struct hf_retention_view *const view = reading->view;
	cleanup_names struct hf_names kept = HF_NAMES_INIT;
	int rc;

	rc = hf_store_list(reading->store, HF_STORE_KEPT, "", &kept, err);
	if (rc == 0)
		rc = list_sessions(reading->store, &kept, &view->sessions, err);
	if (rc < 0)
		return rc;
	view->session_items =
		calloc(view->sessions.count + 1, sizeof(*view->session_items));
	if (!view->session_items)
		return hf_fail_memory(err);
	for (size_t i = 0; i < view->sessions.count; i++) {
		rc = read_session(reading, i, &kept, err);
		if (rc < 0)
			return rc;
	}
	view->input.sessions = view->session_items;
	view->input.session_count = view->sessions.count;
	return 0;
}

/* -- snapshots ---------------------------------------------------------------
 */

static int copy_packs(struct hf_retention_view *view,
		      const struct hf_packs *packs,
		      struct hf_retention_snapshot *snapshot,
		      struct hf_error *err)
{
	const size_t size = packs->count * sizeof(*packs->items);
	uint32_t *const copy = hf_arena_alloc(&view->arena, size + 1);

	if (!copy)
		return hf_fail_memory(err);
	if (size > 0)
		memcpy(copy, packs->items, size);
	snapshot->packs = copy;
	snapshot->pack_count = packs->count;
	return 0;
}

static int read_snapshot(struct reading *reading, size_t index,
			 struct hf_error *err)
{
	struct hf_retention_view *const view = reading->view;
	const struct hf_name *const name = &view->snapshots.items[index];
	struct hf_retention_snapshot *const item = &view->snapshot_items[index];
	cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;
	cleanup_packs struct hf_packs packs = HF_PACKS_INIT;
	int rc;

	rc = hf_store_size_at(reading->store->folder_fd[HF_STORE_SNAPSHOTS],
			      name->text, &item->bytes);
	if (rc < 0)
		return fail_look(err, rc, "snapshot", name->text);
	rc = hf_snapshot_load(reading->store, name, &manifest, err);
	if (rc == 0)
		rc = hf_packs_add_tree(&packs, &manifest.tree, err);
	if (rc == 0)
		rc = copy_packs(view, &packs, item, err);
	if (rc < 0)
		return rc;
	item->created_ns = manifest.created_ns;
	item->is_in_use = reading->is_in_use[index];
	return hf_spans_add_tree(&reading->spans, &manifest.tree,
				 hf_name_number(name), err);
}

/* The names go over to the view, each to the place of its number. */
static int take_paths(struct reading *reading, struct hf_error *err)
{
	struct hf_spans *const spans = &reading->spans;
	struct hf_retention_view *const view = reading->view;

	view->paths = calloc(spans->path_count + 1, sizeof(*view->paths));
	if (!view->paths)
		return hf_fail_memory(err);
	for (size_t i = 0; i < spans->path_count; i++)
		view->paths[view->spans[spans->known[i].span].path] =
			spans->known[i].path;
	hf_arena_adopt(&view->arena, &spans->arena);
	return 0;
}

static int read_snapshots(struct reading *reading, struct hf_error *err)
{
	struct hf_retention_view *const view = reading->view;

	for (size_t i = 0; i < view->snapshots.count; i++) {
		const int rc = read_snapshot(reading, i, err);

		if (rc < 0)
			return rc;
	}
	view->input.snapshots = view->snapshot_items;
	view->input.snapshot_count = view->snapshots.count;
	view->spans = take_ptr(&reading->spans.items);
	view->input.spans = view->spans;
	view->input.span_count = reading->spans.count;
	return take_paths(reading, err);
}

/* -- packs -------------------------------------------------------------------
 */

static int look_at_pack(const struct hf_store *store, uint32_t number,
			struct hf_retention_pack *ret_pack,
			struct hf_error *err)
{
	const int folder_fd = store->folder_fd[HF_STORE_PACKS];
	char name[HF_PACK_NAME];
	struct hf_stat pack;
	struct hf_stat index = {.size = 0};
	int rc;

	hf_pack_name_format(number, HF_PACK_SUFFIX, name);
	rc = hf_file_stat_at(folder_fd, name, &pack);
	if (rc < 0)
		return fail_look(err, rc, "pack", name);
	hf_pack_name_format(number, HF_PACK_INDEX_SUFFIX, name);
	rc = hf_file_stat_at(folder_fd, name, &index);
	if (rc < 0 && rc != -ENOENT)
		return fail_look(err, rc, "index", name);
	*ret_pack = (struct hf_retention_pack){
		.number = number,
		.bytes = pack.size + index.size,
		.made_ns = pack.mtime_ns,
	};
	return 0;
}

static int read_packs(struct reading *reading, struct hf_error *err)
{
	struct hf_retention_view *const view = reading->view;
	cleanup_packs struct hf_packs packs = HF_PACKS_INIT;
	int rc;

	rc = hf_packs_add_there(&packs, reading->store, err);
	if (rc < 0)
		return rc;
	view->packs = calloc(packs.count + 1, sizeof(*view->packs));
	if (!view->packs)
		return hf_fail_memory(err);
	for (size_t i = 0; i < packs.count; i++) {
		rc = look_at_pack(reading->store, packs.items[i],
				  &view->packs[i], err);
		if (rc < 0)
			return rc;
	}
	view->input.packs = view->packs;
	view->input.pack_count = packs.count;
	return 0;
}

/* -- all of it ---------------------------------------------------------------
 */

static int read_all(struct reading *reading, enum hf_retention_extent extent,
		    struct hf_error *err)
{
	struct hf_retention_view *const view = reading->view;
	size_t count;
	int rc = 0;

	if (extent == HF_RETENTION_ALL)
		rc = hf_store_list(reading->store, HF_STORE_SNAPSHOTS, "",
				   &view->snapshots, err);
	if (rc < 0)
		return rc;
	count = view->snapshots.count + 1;
	reading->is_in_use = calloc(count, sizeof(bool));
	view->snapshot_items = calloc(count, sizeof(*view->snapshot_items));
	if (!reading->is_in_use || !view->snapshot_items)
		return hf_fail_memory(err);
	rc = read_sessions(reading, err);
	if (rc < 0 || extent != HF_RETENTION_ALL)
		return rc;
	rc = read_snapshots(reading, err);
	return rc < 0 ? rc : read_packs(reading, err);
}

int hf_retention_read(const struct hf_store *store,
		      const struct hf_retention *limits,
		      enum hf_retention_extent extent,
		      struct hf_retention_view *ret_view, struct hf_error *err)
{
	cleanup_retention_view struct hf_retention_view view =
		HF_RETENTION_VIEW_INIT;
	CLEANUP(reading_done)
	struct reading reading = {
		.store = store,
		.view = &view,
		.spans = HF_SPANS_INIT,
	};
	int rc;

	view.input.now_ns = hf_system_time_ns();
	view.input.limits = *limits;
	rc = read_all(&reading, extent, err);
	if (rc < 0)
		return rc;
	*ret_view = view;
	view = (struct hf_retention_view)HF_RETENTION_VIEW_INIT;
	return 0;
}

void hf_retention_view_done(struct hf_retention_view *view)
{
	hf_names_done(&view->snapshots);
	hf_names_done(&view->sessions);
	hf_free_pointee(&view->snapshot_items);
	hf_free_pointee(&view->session_items);
	hf_free_pointee(&view->spans);
	hf_free_pointee(&view->packs);
	hf_free_pointee(&view->paths);
	hf_arena_done(&view->arena);
}
