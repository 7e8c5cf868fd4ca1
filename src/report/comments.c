/* SPDX-License-Identifier: MIT */
/* Count comment lines before and after a change. */
#include "report/comments.h"

#include <string.h>

#include "base/buffer.h"
#include "core/kept.h"
#include "core/scan.h"
#include "guard/session.h"

#define CONTENT_MAX ((size_t)1 << 20)

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

static bool count_in(int fd, size_t *ret_count)
{
	cleanup_buffer struct hf_buffer data = HF_BUFFER_INIT;

	return hf_file_read_all(fd, CONTENT_MAX, &data) >= 0 &&
	       hf_comments_count(data.data == NULL ? "" : data.data, data.len,
				 ret_count);
}

static bool count_restored(const struct hf_session *session, const char *path,
			   size_t *ret_count)
{
	const char *name;
	cleanup_fd int dir_fd =
		hf_scan_open_parent(session->project->root_fd, path, &name);
	cleanup_fd int fd = -1;

	if (dir_fd < 0)
		return false;
	fd = hf_file_open_read_at(dir_fd, name);
	return fd >= 0 && count_in(fd, ret_count);
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
	    violation->before.stat.kind != HF_KIND_FILE ||
	    violation->before.stat.size > CONTENT_MAX ||
	    session->project->store.dir_fd < 0)
		return;
	fd = hf_kept_open(&session->project->store, violation->kept, &ignored);
	if (fd < 0 || !count_in(fd, &after) ||
	    !count_restored(session, violation->path, &before))
		return;
	if (before != after)
		hf_buffer_printf(out, ", %zu -> %zu comment lines", before,
				 after);
}
