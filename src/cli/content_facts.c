/* SPDX-License-Identifier: MIT */
/* Describe one content of a path. */
#include "cli/content_facts.h"

#include <inttypes.h>
#include <string.h>

#include "base/buffer.h"
#include "base/text.h"
#include "core/entry_text.h"
#include "core/fetch.h"
#include "core/kept.h"
#include "report/comments.h"
#include "report/words.h"

/* Of larger ones, and of those deep in a pack, lines are not counted: a list is
 * to be there at once. */
#define COUNTED_MAX ((size_t)1 << 20)
#define OFFSET_MAX  ((uint64_t)2 << 20)

static bool read_content(const struct hf_store *store,
			 const struct hf_history_content *content,
			 struct hf_buffer *data)
{
	cleanup_fd int fd = -1;
	struct hf_error ignored;

	if (content->entry.stat.size > COUNTED_MAX)
		return false;
	if (content->is_recorded)
		return content->entry.location.pack != 0 &&
		       content->entry.location.offset <= OFFSET_MAX &&
		       hf_fetch(store, &content->entry, data, &ignored) == 0;
	fd = hf_kept_open(store, content->copies[0].path, &ignored);
	return fd >= 0 && hf_file_read_all(fd, COUNTED_MAX, data) == 0;
}

static void count(const struct hf_store *store,
		  const struct hf_history_content *content,
		  struct hf_content_facts *facts)
{
	cleanup_buffer struct hf_buffer data = HF_BUFFER_INIT;
	const char *text;

	if (!read_content(store, content, &data))
		return;
	text = data.data == NULL ? "" : data.data;
	facts->is_text = hf_comments_count(text, data.len, &facts->comments);
	for (size_t i = 0; i < data.len; i++)
		facts->lines += text[i] == '\n';
	facts->lines += data.len > 0 && text[data.len - 1] != '\n';
}

bool hf_content_is(const struct hf_entry *now, const struct hf_entry *entry)
{
	if (now->stat.kind != entry->stat.kind)
		return false;
	if (entry->link != NULL)
		return now->link != NULL && strcmp(now->link, entry->link) == 0;
	return now->has_hash && hf_hash_equal(&now->hash, &entry->hash);
}

struct hf_content_facts hf_content_facts_of(
	const struct hf_store *store, const struct hf_history_content *content,
	const struct hf_entry *now)
{
	const struct hf_entry *const entry = &content->entry;
	struct hf_content_facts facts = {.is_now = hf_content_is(now, entry)};

	if (entry->has_hash) {
		facts.has_hash = true;
		facts.hash = entry->hash;
		count(store, content, &facts);
	}
	return facts;
}

void hf_content_facts_add(const struct hf_history_content *content,
			  const struct hf_content_facts *facts,
			  struct hf_buffer *out)
{
	struct hf_short_text size;

	if (content->entry.link != NULL) {
		hf_buffer_add_text(out, "link to ");
		hf_text_add_name(out, content->entry.link);
	} else {
		hf_buffer_add_text(
			out, hf_format_size(&size, content->entry.stat.size));
	}
	if (facts->is_text) {
		hf_buffer_add_text(out, ", ");
		hf_text_add_count(out, facts->lines, "line", "lines");
		if (facts->comments > 0) {
			hf_buffer_add_text(out, " (");
			hf_text_add_count(out, facts->comments, "comment line)",
					  "comment lines)");
		}
	}
	if (facts->is_now)
		hf_buffer_add_text(out, ", as it is now");
	if (content->is_damage)
		hf_buffer_add_text(out, ", damage");
}

void hf_content_copies_add(const struct hf_history_content *content,
			   struct hf_buffer *out)
{
	for (size_t i = 0; i < content->copy_count; i++) {
		const struct hf_history_copy *copy = &content->copies[i];

		hf_buffer_printf(out, "; kept by %s ", copy->kind);
		hf_text_add_number(out, &copy->session);
		if (strcmp(copy->kind, "run") == 0 && copy->argv[0] != NULL) {
			hf_buffer_add_text(out, ": ");
			hf_text_add_command(out, copy->argv);
		}
	}
}
