/* SPDX-License-Identifier: MIT */
/* Ask the journals of the newest sessions for their snapshots. */
#include "core/snapshot_used.h"

#include <string.h>

#include "base/fail.h"
#include "core/journal.h"

/* The newest may go back to an older snapshot; not so many in a row. */
#define ASKED_MAX 8

/*
 * What this session used, if that is newer.  1 for a run: it used the newest that
 * there was then, while a restore may go back to an older one.
 */
static int ask(const struct hf_store *store, const struct hf_name *session,
	       struct hf_snapshot_used *used, struct hf_error *err)
{
	cleanup_session_record struct hf_session_record record =
		HF_SESSION_RECORD_INIT;
	struct hf_error unread;
	struct hf_name name;
	int rc;

	rc = hf_journal_read_first(store, session, &record, &unread);
	if (rc == HF_ERR_CORRUPT || rc == HF_ERR_UNSUPPORTED)
		return 0;
	if (rc < 0) {
		*err = unread;
		return rc;
	}
	if (!hf_name_parse(record.snapshot, &name))
		return 0;
	if (used->snapshot.text[0] == '\0' ||
	    hf_name_number(&name) > hf_name_number(&used->snapshot))
		*used = (struct hf_snapshot_used){
			.snapshot = name,
			.session = *session,
		};
	return strcmp(record.kind, "run") == 0;
}

int hf_snapshot_find_used(const struct hf_store *store,
			  const struct hf_names *sessions,
			  struct hf_snapshot_used *ret_used,
			  struct hf_error *err)
{
	struct hf_snapshot_used used = { .snapshot = { .text = "" } };
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sessions->count && i < ASKED_MAX; i++)
		rc = ask(store, &sessions->items[sessions->count - 1 - i],
			 &used, err);
	if (rc < 0)
		return rc;
	*ret_used = used;
	return 0;
}
