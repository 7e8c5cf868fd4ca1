/* SPDX-License-Identifier: MIT */
/* Write the journal of a living session anew, where the store has lost it. */
#include "core/journal.h"

#include "base/buffer.h"
#include "base/fail.h"
#include "core/journal_text.h"
#include "core/replace.h"

static int fail_journal(const struct hf_journal *journal, int rc,
			const char *verb, struct hf_error *err)
{
	return hf_fail_system(err, rc, "cannot %s the journal of session %s",
			      verb, journal->name.text);
}

int hf_journal_text(const struct hf_journal *journal,
		    struct hf_buffer *ret_text, struct hf_error *err)
{
	int rc;

	/* What is read to its end can be appended to as before. */
	rc = hf_file_seek(journal->fd, 0);
	if (rc == 0)
		rc = hf_file_read_all(journal->fd, HF_JOURNAL_SIZE_MAX,
				      ret_text);
	return rc < 0 ? fail_journal(journal, rc, "read", err) : 0;
}

int hf_journal_write_again(struct hf_journal *journal, const char *text,
			   size_t len, struct hf_error *err)
{
	cleanup_replace struct hf_replace file = HF_REPLACE_INIT;
	char name[HF_JOURNAL_FILE_NAME];
	cleanup_fd int fd = -1;
	int rc;

	hf_journal_file_name(&journal->name, HF_JOURNAL_OPEN, name);
	rc = hf_replace_begin(&file,
			      journal->store->folder_fd[HF_STORE_SESSIONS],
			      name, 0600, err);
	if (rc < 0)
		return rc;
	rc = hf_file_write(file.fd, text, len);
	if (rc == 0)
		rc = hf_lock_try(file.fd, HF_LOCK_EXCLUSIVE);
	if (rc < 0)
		return fail_journal(journal, rc, "write", err);
	fd = take_fd(&file.fd);
	rc = hf_replace_rename(&file, err);
	if (rc < 0)
		return rc;
	hf_file_close_quietly(&journal->fd);
	journal->fd = take_fd(&fd);
	return hf_journal_sync(journal, err);
}
