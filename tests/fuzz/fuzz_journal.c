/* SPDX-License-Identifier: MIT */
/*
 * A journal as it lies there, and the same lines with right sums.
 */
/* The assertions are the test. */
#undef NDEBUG
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/path.h"
#include "core/hash.h"
#include "core/journal.h"
#include "core/journal_text.h"
#include "core/sealed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_session(const struct hf_session_record *session)
{
	assert(session->kind && session->snapshot && session->argv);
	assert(session->violation_lines);
	assert(strlen(session->boot_id) < sizeof(session->boot_id));
	for (size_t i = 0; i < session->kept_count; i++) {
		assert(session->kept[i].kept_path);
		assert(hf_path_is_plain(session->kept[i].replaced->path));
		assert(hf_path_is_plain(session->kept[i].put->path));
	}
}

static void check(const char *text, size_t len)
{
	struct hf_session_record session = HF_SESSION_RECORD_INIT;
	struct hf_error err;

	assert(hf_journal_good_len(text, len) <= len);
	if (hf_journal_decode("x", text, len, &session, &err) < 0) {
		assert(err.code == HF_ERR_CORRUPT ||
		       err.code == HF_ERR_UNSUPPORTED);
		assert(!strchr(err.text, '\n'));
		return;
	}
	check_session(&session);
	hf_session_record_done(&session);
}

/* Put the right sum behind each line. */
static void add_sums(const char *text, size_t len, struct hf_buffer *out)
{
	struct hf_lines lines = {.next = text, .end = text + len};
	const char *line;
	size_t line_len;

	while (hf_lines_next(&lines, &line, &line_len)) {
		const struct hf_hash sum = hf_hash_of(line, line_len);
		char digits[HF_HASH_TEXT];

		hf_buffer_add(out, line, line_len);
		hf_buffer_printf(out, ",\"sum\":\"%s\"}\n",
				 hf_hash_format(&sum, digits));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct hf_buffer summed = HF_BUFFER_INIT;

	check((const char *)data, len);
	add_sums((const char *)data, len, &summed);
	check(summed.data ? summed.data : "", summed.len);
	hf_buffer_done(&summed);
	return 0;
}
