/* SPDX-License-Identifier: MIT */
/*
 * The form of a journal: what its writer and its reader agree on.
 *
 *	{"record":"KIND",MEMBERS,"sum":"HEX"}
 *
 * The sum is the hash of the line's bytes before ,"sum".
 */
#ifndef HF_CORE_JOURNAL_TEXT_H
#define HF_CORE_JOURNAL_TEXT_H

#include "core/journal.h"

struct hf_buffer;

#define HF_JOURNAL_VERSION	1
#define HF_JOURNAL_FILE_NAME	40	/* bytes of a file name */
#define HF_JOURNAL_OPEN		".open"
#define HF_JOURNAL_DONE		".done"
/* A session of hours with a violation a second stays far below. */
#define HF_JOURNAL_SIZE_MAX	((size_t)1 << 30)

void hf_journal_file_name(const struct hf_name *name, const char *suffix,
			  char file_name[HF_JOURNAL_FILE_NAME]);

/* One record with its sum and a newline. */
void hf_journal_line(const char *kind, const char *members,
		     struct hf_buffer *out);
/* The members of an "end" record of now. */
void hf_journal_end_members(enum hf_outcome outcome, int status,
			    size_t violations, struct hf_buffer *out);
/*
 * A journal of something that is no session: written at once and ended, so that
 * nobody takes it for one in progress.  words: JSON strings with commas
 * between, where a run has its command; lines: of hf_journal_line(), or NULL.
 */
MUST_CHECK int hf_journal_write_done(const struct hf_store *store,
				     const char *kind, const char *snapshot,
				     const struct hf_buffer *words,
				     const struct hf_buffer *lines,
				     struct hf_error *err);
/* NAME.open becomes NAME.done, durably. */
MUST_CHECK int hf_journal_close_name(const struct hf_store *store,
				     const struct hf_name *name, bool is_durable,
				     struct hf_error *err);

/* All that was written to an open one so far. */
MUST_CHECK int hf_journal_text(const struct hf_journal *journal,
			       struct hf_buffer *ret_text,
			       struct hf_error *err);
/*
 * Write it anew under its name with this text, under the store's lock: the store has
 * lost it.
 */
MUST_CHECK int hf_journal_write_again(struct hf_journal *journal,
				      const char *text, size_t len,
				      struct hf_error *err);

/* Bytes of a journal up to the end of its last good line. */
size_t hf_journal_good_len(const char *data, size_t len);

#endif /* HF_CORE_JOURNAL_TEXT_H */
