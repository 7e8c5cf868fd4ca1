/* SPDX-License-Identifier: MIT */
/*
 * Write the journal of a session.
 *
 * The file gets its name when it holds its first record and its lock is taken:
 * no reader can find a journal without either and take its owner for dead.
 * The owner's lock is exclusive and readers try a shared one, so that two of
 * them never take each other for the owner.
 */
#include "core/journal.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/text.h"
#include "core/entry_text.h"
#include "core/journal_text.h"
#include "core/replace.h"
#include "platform/system.h"

static const char *const outcome_names[] = {
	[HF_OUTCOME_CLEAN] = "clean",
	[HF_OUTCOME_VIOLATED] = "violated",
	[HF_OUTCOME_UNRESTORED] = "unrestored",
	[HF_OUTCOME_ERROR] = "error",
	[HF_OUTCOME_DONE] = "done",
};

const char *hf_outcome_name(enum hf_outcome outcome)
{
	return outcome_names[outcome];
}

void hf_journal_line(const char *kind, const char *members,
		     struct hf_buffer *out)
{
	const size_t start = out->len;
	char digits[HF_HASH_TEXT];
	struct hf_hash sum;

	hf_buffer_printf(out, "{\"record\":\"%s\",%s", kind, members);
	if (out->is_failed)
		return;
	sum = hf_hash_of(out->data + start, out->len - start);
	hf_buffer_printf(out, ",\"sum\":\"%s\"}\n",
			 hf_hash_format(&sum, digits));
}

void hf_journal_end_members(enum hf_outcome outcome, int status,
			    size_t violations, struct hf_buffer *out)
{
	hf_buffer_printf(out,
			 "\"outcome\":\"%s\",\"status\":%d,"
			 "\"violations\":%zu,\"time\":\"",
			 hf_outcome_name(outcome), status, violations);
	hf_time_encode(hf_system_time_ns(), out);
	hf_buffer_add(out, "\"", 1);
}

void hf_journal_file_name(const struct hf_name *name, const char *suffix,
			  char file_name[HF_JOURNAL_FILE_NAME])
{
	(void)snprintf(file_name, HF_JOURNAL_FILE_NAME, "%s%s", name->text,
		       suffix);
}

/* -- records -------------------------------------------------------------- */

/*
 * At once: what two processes of a session add does not mix.  A full disk may take
 * part of a line; it is cut off again, since only the last line may be torn.
 */
static int append(int fd, const char *line, size_t len)
{
	struct hf_stat before;
	int rc;

	rc = hf_file_stat(fd, &before);
	if (rc < 0)
		return rc;
	rc = hf_file_write(fd, line, len);
	if (rc < 0) {
		const int cut = hf_file_truncate(fd, before.size);

		/* Nothing is left to try: the reader stops at the torn line. */
		(void)cut;
	}
	return rc;
}

int hf_journal_add(struct hf_journal *journal, const char *kind,
		   const char *members, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer line = HF_BUFFER_INIT;
	int rc;

	assert(journal->fd >= 0);
	assert(!strchr(members, '\n'));

	hf_journal_line(kind, members, &line);
	rc = hf_buffer_check(&line, err);
	if (rc < 0)
		return rc;
	if (line.len > HF_JSON_LINE_MAX)
		return hf_fail(err, HF_ERR_LIMIT,
			       "cannot write the journal of session %s: "
			       "a record is too large",
			       journal->name.text);
	rc = append(journal->fd, line.data, line.len);
	if (rc < 0)
		return hf_fail_system(err, rc,
				      "cannot write the journal of session %s",
				      journal->name.text);
	return 0;
}

static int sync_file(struct hf_journal *journal, struct hf_error *err)
{
	const int rc = hf_file_sync(journal->fd);

	if (rc < 0)
		return hf_fail_system(err, rc,
				      "cannot flush the journal of session %s",
				      journal->name.text);
	return 0;
}

static int sync_folder(const struct hf_store *store, const struct hf_name *name,
		       struct hf_error *err)
{
	const int rc = hf_file_sync(store->folder_fd[HF_STORE_SESSIONS]);

	if (rc < 0)
		return hf_fail_system(err, rc,
				      "cannot flush the journal of session %s",
				      name->text);
	return 0;
}

int hf_journal_sync(struct hf_journal *journal, struct hf_error *err)
{
	int rc;

	rc = sync_file(journal, err);
	if (rc == 0)
		rc = sync_folder(journal->store, &journal->name, err);
	journal->has_durable_name |= rc == 0;
	return rc;
}

void hf_journal_beat(const struct hf_journal *journal)
{
	/* Without one, what changes from now on is for a person to judge. */
	if (journal->fd >= 0)
		(void)!hf_file_touch(journal->fd);
}

static int add_kept(struct hf_journal *journal, const struct hf_entry *replaced,
		    const char *kept_path, const struct hf_entry *put,
		    struct hf_error *err)
{
	cleanup_buffer struct hf_buffer members = HF_BUFFER_INIT;
	int rc;

	hf_text_encode("kept", kept_path, &members);
	hf_buffer_add_text(&members, ",\"replaced\":");
	hf_entry_encode(replaced, &members);
	hf_buffer_add_text(&members, ",\"put\":");
	hf_entry_encode(put, &members);
	rc = hf_buffer_check(&members, err);
	if (rc < 0)
		return rc;
	return hf_journal_add(journal, "kept", members.data, err);
}

/* It stands there, perhaps not on the disk: nobody may take it for done. */
static void void_kept(struct hf_journal *journal, const char *path)
{
	const struct hf_entry nothing = {
		.path = path,
		.rule = "",
		.xattrs = "",
	};
	struct hf_error ignored;
	const int rc = add_kept(journal, &nothing, "", &nothing, &ignored);

	(void)rc;
}

int hf_journal_add_kept(struct hf_journal *journal,
			const struct hf_entry *replaced, const char *kept_path,
			const struct hf_entry *put, struct hf_error *err)
{
	int rc;

	rc = add_kept(journal, replaced, kept_path, put, err);
	if (rc < 0)
		return rc;
	/* A short command may be over before anybody has synced the name. */
	rc = journal->has_durable_name ? sync_file(journal, err) :
					 hf_journal_sync(journal, err);
	if (rc < 0 && (replaced->stat.kind != HF_KIND_ABSENT ||
		       put->stat.kind != HF_KIND_ABSENT))
		void_kept(journal, replaced->path);
	return rc;
}

/* -- begin ---------------------------------------------------------------- */

static void encode_open(const struct hf_journal_open_record *record,
			const struct hf_store *store, struct hf_buffer *out)
{
	char boot_id[37];

	hf_buffer_printf(out, "\"version\":%d,\"kind\":\"%s\",\"snapshot\":",
			 HF_JOURNAL_VERSION, record->kind);
	hf_buffer_add_json(out, record->snapshot, strlen(record->snapshot));
	hf_buffer_add_text(out, ",\"command\":[");
	for (size_t i = 0; record->argv && record->argv[i]; i++) {
		hf_buffer_add(out, ",", i > 0 ? 1 : 0);
		hf_buffer_add_json(out, record->argv[i],
				   strlen(record->argv[i]));
	}
	hf_buffer_add_text(out, "],");
	hf_text_encode("root", store->root, out);
	hf_system_boot_id(boot_id);
	hf_buffer_printf(out,
			 ",\"pid\":%" PRIu64 ",\"pid_start\":\"%" PRIu64
			 "\",\"boot\":",
			 record->pid, record->pid_start);
	hf_buffer_add_json(out, boot_id, strlen(boot_id));
	hf_buffer_add_text(out, ",\"time\":\"");
	hf_time_encode(hf_system_time_ns(), out);
	hf_buffer_add_text(out, "\",\"boot_time\":\"");
	hf_time_encode(hf_system_boot_ns(), out);
	hf_buffer_add(out, "\"", 1);
}

/*
 * A command line may be longer than a line: then its words are left out from
 * the end.  They are for people to read.
 */
static int encode_bounded(const struct hf_journal_open_record *record,
			  const struct hf_store *store, struct hf_buffer *line,
			  struct hf_error *err)
{
	static const char *const cut[] = {"...", NULL};
	struct hf_journal_open_record shorter = *record;
	cleanup_buffer struct hf_buffer members = HF_BUFFER_INIT;
	int rc;

	encode_open(record, store, &members);
	if (members.len > HF_JSON_LINE_MAX / 2) {
		shorter.argv = cut;
		hf_buffer_clear(&members);
		encode_open(&shorter, store, &members);
	}
	rc = hf_buffer_check(&members, err);
	if (rc < 0)
		return rc;
	hf_journal_line("open", members.data, line);
	return hf_buffer_check(line, err);
}

/* Write, lock and name the file. */
static int create(struct hf_journal *journal, struct hf_replace *file,
		  const struct hf_buffer *line, struct hf_error *err)
{
	const char *const name = journal->name.text;
	int rc;

	rc = hf_file_write(file->fd, line->data, line->len);
	if (rc < 0)
		return hf_fail_system(err, rc,
				      "cannot write the journal of session %s",
				      name);
	rc = hf_lock_try(file->fd, HF_LOCK_EXCLUSIVE);
	if (rc < 0)
		return hf_fail_system(
			err, rc, "cannot lock the journal of session %s", name);
	journal->fd = take_fd(&file->fd);
	return hf_replace_rename(file, err);
}

static uint64_t last_number(const struct hf_names *names)
{
	return names->count > 0
		       ? hf_name_number(&names->items[names->count - 1])
		       : 0;
}

static int find_name(const struct hf_store *store,
		     const struct hf_journal_names *names,
		     struct hf_name *ret_name, struct hf_error *err)
{
	uint64_t open;
	uint64_t done;

	if (!names)
		return hf_store_next_name(store, HF_STORE_SESSIONS, ret_name,
					  err);
	open = last_number(&names->open);
	done = last_number(&names->done);
	return hf_store_name_behind(store, open > done ? open : done, ret_name,
				    err);
}

int hf_journal_begin(struct hf_journal *journal, const struct hf_store *store,
		     const struct hf_journal_open_record *record,
		     struct hf_error *err)
{
	cleanup_journal struct hf_journal begun = HF_JOURNAL_INIT;
	cleanup_replace struct hf_replace file = HF_REPLACE_INIT;
	cleanup_buffer struct hf_buffer line = HF_BUFFER_INIT;
	char file_name[HF_JOURNAL_FILE_NAME];
	int rc;

	begun.store = store;
	rc = find_name(store, record->names, &begun.name, err);
	if (rc < 0)
		return rc;
	rc = encode_bounded(record, store, &line, err);
	if (rc < 0)
		return rc;
	hf_journal_file_name(&begun.name, HF_JOURNAL_OPEN, file_name);
	rc = hf_replace_begin(&file, store->folder_fd[HF_STORE_SESSIONS],
			      file_name, 0600, err);
	if (rc < 0)
		return rc;
	rc = create(&begun, &file, &line, err);
	if (rc < 0)
		return rc;
	*journal = begun;
	begun = (struct hf_journal)HF_JOURNAL_INIT;
	return 0;
}

/* -- end ------------------------------------------------------------------ */

int hf_journal_close_name(const struct hf_store *store,
			  const struct hf_name *name, bool is_durable,
			  struct hf_error *err)
{
	const int folder_fd = store->folder_fd[HF_STORE_SESSIONS];
	char open_name[HF_JOURNAL_FILE_NAME];
	char done_name[HF_JOURNAL_FILE_NAME];
	int rc;

	hf_journal_file_name(name, HF_JOURNAL_OPEN, open_name);
	hf_journal_file_name(name, HF_JOURNAL_DONE, done_name);
	rc = hf_file_rename_at(folder_fd, open_name, folder_fd, done_name);
	if (rc < 0)
		return hf_fail_system(err, rc,
				      "cannot close the journal of session %s",
				      name->text);
	return is_durable ? sync_folder(store, name, err) : 0;
}

int hf_journal_end(struct hf_journal *journal, enum hf_outcome outcome,
		   int status, size_t violations, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer members = HF_BUFFER_INIT;
	int rc;

	assert(status >= 0);

	hf_journal_end_members(outcome, status, violations, &members);
	rc = hf_buffer_check(&members, err);
	if (rc < 0)
		return rc;
	rc = hf_journal_add(journal, "end", members.data, err);
	if (rc < 0)
		return rc;
	/*
	 * After a clean run nothing waits for the disk: if the power fails before
	 * this is written, the next command finds the session open and the tree
	 * as it was recorded, and closes it.
	 */
	if (outcome != HF_OUTCOME_CLEAN) {
		rc = sync_file(journal, err);
		if (rc < 0 || outcome == HF_OUTCOME_UNRESTORED)
			return rc;
	}
	return hf_journal_close_name(journal->store, &journal->name,
				     outcome != HF_OUTCOME_CLEAN, err);
}

void hf_journal_close(struct hf_journal *journal)
{
	hf_file_close_quietly(&journal->fd);
}
