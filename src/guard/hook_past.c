/* SPDX-License-Identifier: MIT */
/* Read from the journals what a git hook wants to know of a path. */
#include "guard/hook_past.h"

#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "core/holdings.h"
#include "core/recover.h"

void hf_hook_history_done(struct hf_hook_history *history)
{
	for (size_t i = 0; i < history->count; i++)
		hf_session_record_done(&history->records[i]);
	hf_free_pointee(&history->records);
	history->count = 0;
}

int hf_hook_history_read(const struct hf_store *store,
			 struct hf_hook_history *ret_history,
			 struct hf_error *err)
{
	cleanup_hook_history struct hf_hook_history history = {.store = store};
	cleanup_names struct hf_names names = HF_NAMES_INIT;
	int rc;

	rc = hf_journal_list(store, &names, err);
	if (rc < 0)
		return rc;
	history.records = calloc(names.count + 1, sizeof(*history.records));
	if (!history.records)
		return hf_fail_memory(err);
	for (size_t i = names.count; i > 0; i--) {
		struct hf_session_record *const record =
			&history.records[history.count];

		rc = hf_journal_read(store, &names.items[i - 1], record, err);
		if (rc == 0)
			history.count++;
		else if (rc != HF_ERR_CORRUPT)
			return rc;
	}
	*ret_history = history;
	history = (struct hf_hook_history)HF_HOOK_HISTORY_INIT;
	return 0;
}

static bool is_kind(const struct hf_session_record *record, const char *kind)
{
	return strcmp(record->kind, kind) == 0;
}

static bool is_absent(const struct hf_entry *entry)
{
	return entry->stat.kind == HF_KIND_ABSENT;
}

/* The last thing that the session did to the path; NULL for nothing. */
static const struct hf_kept_record *find_kept(
	const struct hf_session_record *record, const char *path)
{
	for (size_t i = record->kept_count; i > 0; i--) {
		const struct hf_kept_record *const kept = &record->kept[i - 1];

		if (strcmp(kept->put->path, path) == 0 &&
		    !(is_absent(kept->put) && is_absent(kept->replaced)))
			return kept;
	}
	return NULL;
}

/* -- who removed it -----------------------------------------------------------
 */

/* Was it a person who removed it beside the run, or let it be gone after it? */
static bool says_person(const struct hf_session_record *record,
			const char *path)
{
	cleanup_dead struct hf_dead dead = HF_DEAD_INIT;
	bool is_persons = false;
	struct hf_error ignored;

	for (size_t i = 0; i < record->accepted_count; i++)
		if (strcmp(record->accepted[i]->path, path) == 0 &&
		    is_absent(record->accepted[i]))
			return true;
	if (!record->violation_lines ||
	    hf_dead_read(record, "", &dead, &ignored) < 0)
		return false;
	/* Of one path the last one counts. */
	for (size_t i = 0; i < dead.damage_count; i++)
		if (strcmp(dead.damages[i].path, path) == 0)
			is_persons = dead.damages[i].is_outside &&
				     dead.damages[i].entry &&
				     is_absent(dead.damages[i].entry);
	return is_persons;
}

enum hf_hook_past hf_hook_history_past(const struct hf_hook_history *history,
				       const char *path)
{
	for (size_t i = 0; i < history->count; i++) {
		const struct hf_session_record *const record =
			&history->records[i];
		const struct hf_kept_record *const kept =
			find_kept(record, path);

		if (says_person(record, path))
			return HF_PAST_PERSON;
		if (kept && is_absent(kept->put))
			return is_kind(record, "run") ||
					       is_kind(record, "recover")
				       ? HF_PAST_SEEN
				       : HF_PAST_PERSON;
		if (kept)
			return is_kind(record, "hook") ? HF_PAST_HOOK
						       : HF_PAST_SEEN;
		/* It was there then, or it would not be recorded any more. */
		if (is_kind(record, "run"))
			return HF_PAST_SEEN;
	}
	return HF_PAST_SEEN;
}

bool hf_hook_history_is_imported(const struct hf_hook_history *history,
				 const struct hf_name *snapshot)
{
	for (size_t i = 0; i < history->count; i++) {
		const struct hf_session_record *const record =
			&history->records[i];

		if (is_kind(record, "run") || is_kind(record, "restore"))
			return false;
		if (is_kind(record, "import") &&
		    strcmp(record->snapshot, snapshot->text) == 0)
			return true;
	}
	return false;
}

const char *hf_hook_history_session(const struct hf_hook_history *history,
				    const char *path)
{
	for (size_t i = 0; i < history->count; i++)
		if (find_kept(&history->records[i], path))
			return history->records[i].name.text;
	return "";
}

/* -- what damaged it
 * ----------------------------------------------------------- */

/* Does the session know damage when it sees some? */
static bool knows_damage(const struct hf_session_record *record)
{
	return is_kind(record, "run") || is_kind(record, "recover");
}

bool hf_hook_history_has_damage(const struct hf_hook_history *history,
				const char *path)
{
	for (size_t i = 0; i < history->count; i++) {
		const struct hf_session_record *const record =
			&history->records[i];

		for (size_t k = 0;
		     knows_damage(record) && k < record->kept_count; k++)
			if (strcmp(record->kept[k].replaced->path, path) == 0)
				return true;
	}
	return false;
}

uint64_t hf_hook_history_damage_size(const struct hf_hook_history *history,
				     const char *path)
{
	uint64_t size = HF_PATH_MAX; /* of a link */

	for (size_t i = 0; i < history->count; i++) {
		const struct hf_session_record *const record =
			&history->records[i];

		for (size_t k = 0;
		     knows_damage(record) && k < record->kept_count; k++) {
			const struct hf_entry *const entry =
				record->kept[k].replaced;

			if (strcmp(entry->path, path) == 0 &&
			    entry->stat.size > size)
				size = entry->stat.size;
		}
	}
	return size;
}

static bool is_same_content(const struct hf_entry *a, const struct hf_entry *b)
{
	if (a->stat.kind != b->stat.kind || strcmp(a->path, b->path) != 0)
		return false;
	if (a->stat.kind == HF_KIND_LINK)
		return a->link && b->link && strcmp(a->link, b->link) == 0;
	return a->stat.kind == HF_KIND_FILE && a->has_hash && b->has_hash &&
	       hf_hash_equal(&a->hash, &b->hash);
}

static bool has_put(const struct hf_session_record *record,
		    const struct hf_entry *entry)
{
	for (size_t i = 0; i < record->kept_count; i++)
		if (is_same_content(record->kept[i].put, entry))
			return true;
	return false;
}

static bool has_replaced(const struct hf_session_record *record,
			 const struct hf_entry *entry)
{
	for (size_t i = 0; knows_damage(record) && i < record->kept_count; i++)
		if (is_same_content(record->kept[i].replaced, entry))
			return true;
	return false;
}

/* Was it ever recorded?  One that cannot be read says nothing. */
static int is_recorded(const struct hf_store *store,
		       const struct hf_entry *entry, struct hf_error *err)
{
	const char *const paths[] = {entry->path, NULL};
	cleanup_holdings struct hf_holdings holdings = HF_HOLDINGS_INIT;
	struct hf_holding holding;
	int rc;

	rc = hf_holdings_begin(&holdings, store, paths, err);
	if (rc < 0)
		return rc;
	while ((rc = hf_holdings_next(&holdings, &holding, err)) > 0) {
		const struct hf_entry *const found =
			hf_tree_find(holding.tree, entry->path);

		if (found && is_same_content(found, entry))
			return 1;
	}
	return rc;
}

int hf_hook_history_find_damage(const struct hf_hook_history *history,
				const struct hf_entry *entry,
				const struct hf_name **ret_session,
				struct hf_error *err)
{
	const struct hf_name *session = NULL;
	int rc;

	for (size_t i = 0; !session && i < history->count; i++) {
		/* A person wanted it back. */
		if (!knows_damage(&history->records[i]) &&
		    has_put(&history->records[i], entry))
			break;
		if (has_replaced(&history->records[i], entry))
			session = &history->records[i].name;
	}
	if (session) {
		rc = is_recorded(history->store, entry, err);
		if (rc < 0)
			return rc;
		if (rc > 0)
			session = NULL;
	}
	*ret_session = session;
	return 0;
}
