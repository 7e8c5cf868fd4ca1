/* SPDX-License-Identifier: MIT */
/* Count comment lines before and after a change. */
#include "report/comments.h"

#include <string.h>

#include "base/buffer.h"
#include "core/fetch.h"
#include "core/kept.h"
#include "core/scan.h"
#include "guard/session.h"

#define CONTENT_MAX ((size_t)1 << 20)
/* What has to be unpacked to get at a content: 20 ms. */
#define OFFSET_MAX ((uint64_t)8 << 20)

bool hf_comments_count(const char *data, size_t len, size_t *ret_count)
{
	size_t count = 0;
	bool is_start = true;

	if (len > 0 && memchr(data, '\0', len) != NULL)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (data[i] == '\n') {
			is_start = true;
		} else if (is_start && data[i] != ' ' && data[i] != '\t') {
			count += data[i] == '#';
			is_start = false;
		}
	}
	*ret_count = count;
	return true;
}

static bool count_in(const struct hf_buffer *data, size_t *ret_count)
{
	return !data->is_failed &&
	       hf_comments_count(data->data == NULL ? "" : data->data,
				 data->len, ret_count);
}

static bool count_in_file(int fd, size_t *ret_count)
{
	cleanup_buffer struct hf_buffer data = HF_BUFFER_INIT;

	return hf_file_read_all(fd, CONTENT_MAX, &data) >= 0 &&
	       count_in(&data, ret_count);
}

/* In the file as it stands in the tree. */
static bool count_in_tree(const struct hf_session *session, const char *path,
			  size_t *ret_count)
{
	const char *name;
	cleanup_fd int dir_fd =
		hf_scan_open_parent(session->project->root_fd, path, &name);
	cleanup_fd int fd = -1;

	if (dir_fd < 0)
		return false;
	fd = hf_file_open_read_at(dir_fd, name);
	return fd >= 0 && count_in_file(fd, ret_count);
}

/* In a content of the store, if not much stands before it. */
static bool count_in_pack(const struct hf_session *session,
			  const struct hf_entry *entry, size_t *ret_count)
{
	cleanup_buffer struct hf_buffer data = HF_BUFFER_INIT;
	struct hf_error ignored;

	return entry->has_hash && entry->location.pack != 0 &&
	       entry->location.offset <= OFFSET_MAX &&
	       hf_fetch(&session->project->store, entry, &data, &ignored) ==
		       0 &&
	       count_in(&data, ret_count);
}

static bool is_small_file(const struct hf_entry *entry)
{
	return entry->stat.kind == HF_KIND_FILE &&
	       entry->stat.size <= CONTENT_MAX;
}

static void add_counts(size_t before, size_t after, struct hf_buffer *out)
{
	if (before != after)
		hf_buffer_printf(out, ", %zu -> %zu comment lines", before,
				 after);
}

void hf_report_drift_comments(const struct hf_session *session,
			      const struct hf_delta *delta,
			      struct hf_buffer *out)
{
	size_t before;
	size_t after;

	if ((delta->change & HF_CHANGE_CONTENT) &&
	    !(delta->change & (HF_CHANGE_KIND | HF_CHANGE_MISSING)) &&
	    is_small_file(delta->before) && is_small_file(delta->after) &&
	    session->project->store.dir_fd >= 0 &&
	    count_in_pack(session, delta->before, &before) &&
	    count_in_tree(session, delta->after->path, &after))
		add_counts(before, after, out);
}

void hf_report_comments(const struct hf_session *session,
			const struct hf_violation *violation,
			struct hf_buffer *out)
{
	struct hf_error ignored;
	cleanup_fd int fd = -1;
	size_t before;
	size_t after;

	if (!violation->is_restored || violation->kept == NULL ||
	    !(violation->change & HF_CHANGE_CONTENT) ||
	    !is_small_file(&violation->before) ||
	    session->project->store.dir_fd < 0)
		return;
	fd = hf_kept_open(&session->project->store, violation->kept, &ignored);
	if (fd >= 0 && count_in_file(fd, &after) &&
	    count_in_tree(session, violation->path, &before))
		add_counts(before, after, out);
}
