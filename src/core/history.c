/* SPDX-License-Identifier: MIT */
/*
 * Put together what snapshots and journals say of one path.
 *
 * Snapshots first, so that a copy can be told to be of a content that was
 * recorded; what was only ever kept follows, and all is sorted by time.
 */
#include "core/history.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "core/holdings.h"
#include "core/journal.h"
#include "core/journal_text.h"

struct reading {
	const struct hf_store *store;
	const char *path;
	struct hf_buffer *notes;
	struct hf_history history;
};

void hf_history_done(struct hf_history *history)
{
	hf_free_pointee(&history->items);
	history->count = 0;
	hf_arena_done(&history->arena);
}

/* -- contents -------------------------------------------------------------- */

static bool is_same(const struct hf_entry *a, const struct hf_entry *b)
{
	if (a->stat.kind != b->stat.kind)
		return false;
	if (a->link && b->link)
		return strcmp(a->link, b->link) == 0;
	return a->has_hash && b->has_hash && a->stat.size == b->stat.size &&
	       hf_hash_equal(&a->hash, &b->hash);
}

static int copy_text(struct hf_arena *arena, const char *text,
		     const char **ret_copy, struct hf_error *err)
{
	*ret_copy = hf_arena_copy(arena, text, strlen(text));
	return *ret_copy ? 0 : hf_fail_memory(err);
}

/* A content of which nothing but the entry is known yet. */
static int add_content(struct hf_history *history, const struct hf_entry *entry,
		       struct hf_history_content **ret_content,
		       struct hf_error *err)
{
	struct hf_history_content *content;
	int rc;

	if (history->count == history->capacity) {
		const size_t wanted = 2 * history->capacity + 16;
		void *items;
		size_t size;

		if (__builtin_mul_overflow(wanted, sizeof(*history->items),
					   &size))
			return hf_fail_memory(err);
		items = realloc(history->items, size);
		if (!items)
			return hf_fail_memory(err);
		history->items = items;
		history->capacity = wanted;
	}
	content = &history->items[history->count];
	*content = (struct hf_history_content){.entry = *entry};
	rc = copy_text(&history->arena, entry->path, &content->entry.path, err);
	if (rc == 0)
		rc = copy_text(&history->arena, entry->rule,
			       &content->entry.rule, err);
	if (rc == 0)
		rc = copy_text(&history->arena, entry->xattrs,
			       &content->entry.xattrs, err);
	if (rc == 0 && entry->link)
		rc = copy_text(&history->arena, entry->link,
			       &content->entry.link, err);
	if (rc < 0)
		return rc;
	history->count++;
	*ret_content = content;
	return 0;
}

static struct hf_history_content *find_content(struct hf_history *history,
					       const struct hf_entry *entry)
{
	for (size_t i = 0; i < history->count; i++)
		if (is_same(&history->items[i].entry, entry))
			return &history->items[i];
	return NULL;
}

/* -- snapshots ------------------------------------------------------------- */

/* The entry of the path itself, with a content; NULL. */
static const struct hf_entry *find_entry(const struct reading *reading,
					 const struct hf_tree *tree)
{
	const struct hf_entry *const entry =
		tree->count > 0 ? &tree->entries[0] : NULL;

	if (!entry || strcmp(entry->path, reading->path) != 0)
		return NULL;
	return (entry->stat.kind == HF_KIND_FILE && entry->has_hash) ||
			       entry->link
		       ? entry
		       : NULL;
}

static int add_holding(struct reading *reading,
		       const struct hf_holding *holding, bool is_first,
		       uint64_t *steps, struct hf_error *err)
{
	const struct hf_entry *const entry = find_entry(reading, holding->tree);
	struct hf_history_content *content;
	int rc;

	if (!entry)
		return 0;
	content = find_content(&reading->history, entry);
	if (content) {
		content->oldest = holding->snapshot;
		return 0;
	}
	/* What is not proven is none. */
	if (!holding->is_new)
		return 0;
	rc = add_content(&reading->history, entry, &content, err);
	if (rc < 0)
		return rc;
	content->is_recorded = true;
	content->newest = holding->snapshot;
	content->oldest = holding->snapshot;
	content->seen_ns = hf_name_time_ns(&holding->snapshot);
	/* Steps are counted from the newest snapshot, whatever it holds. */
	content->step = is_first ? 0 : ++*steps;
	return 0;
}

static int read_snapshots(struct reading *reading, struct hf_error *err)
{
	const char *const paths[] = {reading->path, NULL};
	cleanup_holdings struct hf_holdings holdings = HF_HOLDINGS_INIT;
	struct hf_holding holding;
	uint64_t steps = 0;
	int rc;

	holdings.notes = reading->notes;
	rc = hf_holdings_begin(&holdings, reading->store, paths, err);
	if (rc < 0)
		return rc;
	while ((rc = hf_holdings_next(&holdings, &holding, err)) > 0) {
		const bool is_first = holdings.left + 1 == holdings.names.count;

		rc = add_holding(reading, &holding, is_first, &steps, err);
		if (rc < 0)
			return rc;
	}
	return rc;
}

/* -- sessions -------------------------------------------------------------- */

static int copy_argv(struct hf_arena *arena, char *const *argv,
		     const char *const **ret_copy, struct hf_error *err)
{
	const char **copy;
	size_t count = 0;

	while (argv && argv[count])
		count++;
	copy = hf_arena_alloc(arena, (count + 1) * sizeof(*copy));
	if (!copy)
		return hf_fail_memory(err);
	copy[count] = NULL;
	*ret_copy = copy;
	for (size_t i = 0; i < count; i++) {
		const int rc = copy_text(arena, argv[i], &copy[i], err);

		if (rc < 0)
			return rc;
	}
	return 0;
}

/* To the end: sessions come from new to old. */
static int add_copy(struct reading *reading, struct hf_history_content *content,
		    const struct hf_session_record *record,
		    const struct hf_kept_record *kept, struct hf_error *err)
{
	struct hf_arena *const arena = &reading->history.arena;
	const size_t size = sizeof(struct hf_history_copy);
	struct hf_history_copy *const copies =
		hf_arena_alloc(arena, (content->copy_count + 1) * size);
	struct hf_history_copy *const copy = copies + content->copy_count;
	int rc;

	if (!copies)
		return hf_fail_memory(err);
	if (content->copy_count > 0)
		memcpy(copies, content->copies, content->copy_count * size);
	*copy = (struct hf_history_copy){
		.session = record->name,
		.time_ns = record->begun_ns,
	};
	rc = copy_text(arena, record->kind, &copy->kind, err);
	if (rc == 0)
		rc = copy_text(arena, kept->kept_path, &copy->path, err);
	if (rc == 0)
		rc = copy_argv(arena, record->argv, &copy->argv, err);
	if (rc < 0)
		return rc;
	content->copies = copies;
	content->copy_count++;
	return 0;
}

/* Did the run find it, and had no snapshot had it before? */
static bool is_damage(const struct hf_history_content *content,
		      const struct hf_session_record *record)
{
	struct hf_name put_back;

	return strcmp(record->kind, "run") == 0 &&
	       hf_name_parse(record->snapshot, &put_back) &&
	       (!content->is_recorded ||
		hf_name_number(&put_back) < hf_name_number(&content->oldest));
}

/* Does it take the record before it, of the same path, back? */
static bool is_void(const struct hf_session_record *record, size_t index)
{
	const struct hf_kept_record *const kept = &record->kept[index];

	return kept->replaced->stat.kind == HF_KIND_ABSENT &&
	       kept->put->stat.kind == HF_KIND_ABSENT;
}

static int add_kept(struct reading *reading,
		    const struct hf_session_record *record, size_t index,
		    struct hf_error *err)
{
	const struct hf_kept_record *const kept = &record->kept[index];
	const struct hf_entry *const entry = kept->replaced;
	struct hf_history_content *content;
	int rc;

	if (kept->kept_path[0] == '\0' || (!entry->has_hash && !entry->link))
		return 0;
	content = find_content(&reading->history, entry);
	if (!content) {
		rc = add_content(&reading->history, entry, &content, err);
		if (rc < 0)
			return rc;
	}
	/* A session tells better when it was there than a snapshot before. */
	if (record->begun_ns > content->seen_ns)
		content->seen_ns = record->begun_ns;
	content->is_damage |= is_damage(content, record);
	return add_copy(reading, content, record, kept, err);
}

static int add_session(struct reading *reading,
		       const struct hf_session_record *record,
		       struct hf_error *err)
{
	size_t voided = 0;

	for (size_t i = record->kept_count; i > 0; i--) {
		int rc = 0;

		if (strcmp(record->kept[i - 1].replaced->path, reading->path) !=
		    0)
			continue;
		if (is_void(record, i - 1))
			voided++;
		else if (voided > 0)
			voided--;
		else
			rc = add_kept(reading, record, i - 1, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int read_sessions(struct reading *reading, struct hf_error *err)
{
	cleanup_names struct hf_names kept = HF_NAMES_INIT;
	int rc;

	/* A session that kept nothing has nothing to tell here. */
	rc = hf_store_list(reading->store, HF_STORE_KEPT, "", &kept, err);
	for (size_t i = kept.count; rc == 0 && i > 0; i--) {
		cleanup_session_record struct hf_session_record record =
			HF_SESSION_RECORD_INIT;

		rc = hf_journal_read(reading->store, &kept.items[i - 1],
				     &record, err);
		if (rc == 0) {
			rc = add_session(reading, &record, err);
		} else if (rc == HF_ERR_CORRUPT || rc == HF_ERR_UNSUPPORTED ||
			   err->sys_errno == ENOENT) {
			if (reading->notes)
				hf_buffer_printf(reading->notes,
						 "passed over: %s\n",
						 err->text);
			rc = 0;
		}
	}
	return rc;
}

/* -- all of it ------------------------------------------------------------- */

static bool is_newest(const struct hf_history_content *content)
{
	return content->is_recorded && content->step == 0;
}

/* What was there last first: that is what the newest snapshot has, since all
 * else was put back.  Of one time what was recorded, by its step. */
static int compare(const void *a, const void *b)
{
	const struct hf_history_content *const left = a;
	const struct hf_history_content *const right = b;

	if (is_newest(left) || is_newest(right))
		return is_newest(left) ? -1 : 1;
	if (left->seen_ns != right->seen_ns)
		return left->seen_ns > right->seen_ns ? -1 : 1;
	if (left->is_recorded != right->is_recorded)
		return left->is_recorded ? -1 : 1;
	return left->step < right->step ? -1 : left->step > right->step;
}

int hf_history_read(const struct hf_store *store, const char *path,
		    struct hf_buffer *notes, struct hf_history *ret_history,
		    struct hf_error *err)
{
	struct reading reading = {
		.store = store,
		.path = path,
		.notes = notes,
		.history = HF_HISTORY_INIT,
	};
	int rc;

	rc = read_snapshots(&reading, err);
	if (rc == 0)
		rc = read_sessions(&reading, err);
	if (rc < 0) {
		hf_history_done(&reading.history);
		return rc;
	}
	if (reading.history.count > 1)
		qsort(reading.history.items, reading.history.count,
		      sizeof(*reading.history.items), compare);
	*ret_history = reading.history;
	return 0;
}
