/* SPDX-License-Identifier: MIT */
/* A journal that is written when all of it has happened. */
#include "core/journal_text.h"

#include <inttypes.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "core/entry_text.h"
#include "core/replace.h"
#include "platform/job.h"
#include "platform/system.h"

static void encode_open(const struct hf_store *store, const char *kind,
			const char *snapshot, const struct hf_buffer *words,
			struct hf_buffer *out)
{
	uint64_t pid;
	uint64_t start;
	char boot_id[37];

	hf_process_self(&pid, &start);
	hf_system_boot_id(boot_id);
	hf_buffer_printf(out,
			 "\"version\":%d,\"kind\":\"%s\",\"snapshot\":\"%s\","
			 "\"command\":[",
			 HF_JOURNAL_VERSION, kind, snapshot);
	hf_buffer_add(out, words->data, words->len);
	hf_buffer_add_text(out, "],");
	hf_text_encode("root", store->root, out);
	hf_buffer_printf(out,
			 ",\"pid\":%" PRIu64 ",\"pid_start\":\"%" PRIu64
			 "\",\"boot\":\"%s\",\"time\":\"",
			 pid, start, boot_id);
	hf_time_encode(hf_system_time_ns(), out);
	hf_buffer_add_text(out, "\",\"boot_time\":\"");
	hf_time_encode(hf_system_boot_ns(), out);
	hf_buffer_add_text(out, "\"");
}

int hf_journal_write_done(const struct hf_store *store, const char *kind,
			  const char *snapshot, const struct hf_buffer *words,
			  const struct hf_buffer *lines, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer members = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	char file_name[HF_JOURNAL_FILE_NAME];
	struct hf_name name;
	int rc;

	encode_open(store, kind, snapshot, words, &members);
	rc = words->is_failed ? hf_buffer_check(words, err)
			      : hf_buffer_check(&members, err);
	if (rc < 0)
		return rc;
	hf_journal_line("open", members.data, &text);
	if (lines)
		hf_buffer_add(&text, lines->data, lines->len);
	hf_buffer_clear(&members);
	hf_journal_end_members(HF_OUTCOME_DONE, 0, 0, &members);
	rc = hf_buffer_check(&members, err);
	if (rc == 0 && lines)
		rc = hf_buffer_check(lines, err);
	if (rc < 0)
		return rc;
	hf_journal_line("end", members.data, &text);
	rc = hf_buffer_check(&text, err);
	if (rc == 0)
		rc = hf_store_next_name(store, HF_STORE_SESSIONS, &name, err);
	if (rc < 0)
		return rc;
	hf_journal_file_name(&name, HF_JOURNAL_DONE, file_name);
	return hf_replace_write(store->folder_fd[HF_STORE_SESSIONS], file_name,
				0600, text.data, text.len, err);
}
