/* SPDX-License-Identifier: MIT */
/* Read every journal, and every kept copy that one names. */
#include "core/inspect_run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/text.h"
#include "core/content.h"
#include "core/kept.h"

/* The text of a link is no longer than a path. */
#define LINK_MAX_LEN ((size_t)64 << 10)

/* -- kept copies ---------------------------------------------------------- */

static int fail_other(const char *what, struct hf_error *err)
{
	return hf_fail(err, HF_ERR_CORRUPT, "%s", what);
}

static int check_link(int fd, const struct hf_entry *was, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	const int rc = hf_file_read_all(fd, LINK_MAX_LEN, &text);

	if (rc == -ENOMEM)
		return hf_fail_memory(err);
	if (rc < 0 || text.len != strlen(was->link) ||
	    memcmp(text.data, was->link, text.len) != 0)
		return fail_other("it is not the text of the link", err);
	return 0;
}

static int check_file(struct hf_inspect_run *run, int fd, const char *path,
		      const struct hf_entry *was, struct hf_error *err)
{
	struct hf_hash hash;
	uint64_t size;
	int rc;

	rc = hf_content_copy(fd, NULL, path, &size, &hash, err);
	if (rc < 0)
		return rc;
	hf_inspect_add_bytes(run, size);
	if (size != was->stat.size)
		return fail_other("it has another size than was recorded", err);
	if (was->has_hash && !hf_hash_equal(&hash, &was->hash))
		return fail_other("it holds other bytes than were recorded",
				  err);
	return 0;
}

static int check_copy(struct hf_inspect_run *run,
		      const struct hf_kept_record *record, struct hf_error *err)
{
	const struct hf_entry *const was = record->replaced;
	cleanup_fd int fd = -1;
	struct hf_stat stat;
	int rc;

	if (!hf_inspect_has(run, HF_STORE_KEPT))
		return fail_other("it is missing", err);
	fd = hf_kept_open(run->store, record->kept_path, err);
	if (fd < 0 && err->sys_errno == ENOENT)
		return fail_other("it is missing", err);
	if (fd < 0)
		return fd;
	rc = hf_file_stat(fd, &stat);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot look at it");
	if (was->stat.kind == HF_KIND_DIRECTORY)
		return stat.kind == HF_KIND_DIRECTORY
			       ? 0
			       : fail_other("it is no directory", err);
	if (stat.kind != HF_KIND_FILE)
		return fail_other("it is no file", err);
	return was->stat.kind == HF_KIND_LINK
		       ? check_link(fd, was, err)
		       : check_file(run, fd, record->kept_path, was, err);
}

static int compare_records(const void *left, const void *right)
{
	const struct hf_kept_record *const a =
		*(struct hf_kept_record *const *)left;
	const struct hf_kept_record *const b =
		*(struct hf_kept_record *const *)right;
	const int order = strcmp(a->kept_path, b->kept_path);

	/* Of one copy the newest record speaks: it may have been written on. */
	return order != 0 ? order : a < b ? -1 : a > b;
}

static int check_copies(struct hf_inspect_run *run,
			struct hf_session_record *session, struct hf_error *err)
{
	const size_t count = session->kept_count;
	cleanup_free struct hf_kept_record **records =
		calloc(count + 1, sizeof(struct hf_kept_record *));
	char cost[sizeof(struct hf_quoted) + 100];

	if (!records)
		return hf_fail_memory(err);
	for (size_t i = 0; i < count; i++)
		records[i] = &session->kept[i];
	if (count > 0)
		qsort(records, count, sizeof(*records), compare_records);
	for (size_t i = 0; i < count; i++) {
		const struct hf_kept_record *const record = records[i];
		struct hf_error found;

		if (record->kept_path[0] == '\0' ||
		    (records[i + 1] &&
		     strcmp(record->kept_path, records[i + 1]->kept_path) == 0))
			continue;
		run->counts.kept++;
		if (check_copy(run, record, &found) == 0)
			continue;
		if (hf_inspect_has_failed(&found)) {
			*err = found;
			return found.code;
		}
		(void)snprintf(cost, sizeof(cost),
			       "what session %" PRIu64 " replaced of '%s' "
			       "cannot be brought back",
			       hf_name_number(&session->name),
			       HF_QUOTE(record->replaced->path));
		hf_inspect_tell(run, record->kept_path, found.text, cost);
	}
	return 0;
}

/* -- journals ------------------------------------------------------------- */

static bool has_kept(const struct hf_inspect_run *run,
		     const struct hf_name *name)
{
	struct hf_stat stat;

	return hf_inspect_has(run, HF_STORE_KEPT) &&
	       hf_file_stat_at(run->store->folder_fd[HF_STORE_KEPT], name->text,
			       &stat) == 0;
}

static void tell_session(struct hf_inspect_run *run, const struct hf_name *name,
			 const char *reason)
{
	char file[sizeof(name->text) + 32];
	char cost[200];

	(void)snprintf(file, sizeof(file), "sessions/%s", name->text);
	(void)snprintf(
		cost, sizeof(cost),
		has_kept(run, name)
			? "'holdfast undo' cannot use it; what the session "
			  "replaced lies in kept/%s"
			: "what session %s did is not known any more",
		name->text);
	hf_inspect_tell(run, file, reason, cost);
}

static int check_session(struct hf_inspect_run *run, const struct hf_name *name,
			 struct hf_error *err)
{
	cleanup_session_record struct hf_session_record session =
		HF_SESSION_RECORD_INIT;
	struct hf_error found;
	int rc;

	rc = hf_journal_read(run->store, name, &session, &found);
	if (rc < 0 && hf_inspect_has_failed(&found)) {
		*err = found;
		return rc;
	}
	if (rc < 0) {
		tell_session(run, name, found.text);
		return 0;
	}
	run->counts.sessions++;
	return check_copies(run, &session, err);
}

static bool has_name(const struct hf_names *names, const struct hf_name *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->items[i].text, name->text) == 0)
			return true;
	return false;
}

/* Copies of a session that has no journal. */
static int check_folders(struct hf_inspect_run *run,
			 const struct hf_journal_names *sessions,
			 struct hf_error *err)
{
	cleanup_names struct hf_names folders = HF_NAMES_INIT;
	int rc;

	if (!hf_inspect_has(run, HF_STORE_KEPT))
		return 0;
	rc = hf_store_list(run->store, HF_STORE_KEPT, "", &folders, err);
	for (size_t i = 0; rc == 0 && i < folders.count; i++) {
		const struct hf_name *const name = &folders.items[i];

		if (!has_name(&sessions->open, name) &&
		    !has_name(&sessions->done, name))
			tell_session(run, name, "its journal is missing");
	}
	return rc;
}

int hf_inspect_sessions(struct hf_inspect_run *run, struct hf_error *err)
{
	cleanup_journal_names struct hf_journal_names names =
		HF_JOURNAL_NAMES_INIT;
	cleanup_names struct hf_names all = HF_NAMES_INIT;
	struct hf_error found;
	int rc = 0;

	if (hf_inspect_has(run, HF_STORE_SESSIONS)) {
		rc = hf_journal_names(run->store, &names, &found);
		if (rc == 0)
			rc = hf_journal_list_of(run->store, &names, &all,
						&found);
	}
	if (rc < 0 && hf_inspect_has_failed(&found)) {
		*err = found;
		return rc;
	}
	if (rc < 0)
		hf_inspect_tell(run, "sessions", found.text,
				"its journals were not looked at");
	rc = 0;
	for (size_t i = 0; rc == 0 && i < all.count; i++)
		rc = check_session(run, &all.items[i], err);
	return rc < 0 ? rc : check_folders(run, &names, err);
}
