/* SPDX-License-Identifier: MIT */
/* lstat, link text and extended attributes of one name, as one state. */
#include "core/scan_entry.h"

#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/scan.h"
#include "platform/system.h"

/* How often a name that changes under our eyes is looked at. */
#define TRIES	3
#define SECOND_NS	INT64_C(1000000000)

/* A buffer's text in the arena; "" needs no memory. */
static int keep_text(struct hf_arena *arena, const struct hf_buffer *buffer,
		     const char **ret_text, struct hf_error *err)
{
	const char *text = "";
	int rc;

	rc = hf_buffer_check(buffer, err);
	if (rc < 0)
		return rc;
	if (buffer->len > 0)
		text = hf_arena_copy(arena, buffer->data, buffer->len);
	if (!text)
		return hf_fail_memory(err);
	*ret_text = text;
	return 0;
}

void hf_scan_set_absent(struct hf_entry *entry)
{
	entry->link = NULL;
	entry->xattrs = "";
	entry->stat = (struct hf_stat){ .kind = HF_KIND_ABSENT };
	entry->has_hash = false;
	entry->is_racy = false;
	entry->hash = (struct hf_hash){ .bytes = { 0 } };
	entry->location = (struct hf_location){ .pack = 0 };
}

bool hf_scan_is_absence(int rc)
{
	return rc == -ENOENT || rc == -ENOTDIR || rc == -ELOOP;
}

bool hf_scan_is_racy(int64_t ctime_ns, int64_t since_ns)
{
	int64_t unit = 1;

	while (unit < SECOND_NS && ctime_ns % (unit * 10) == 0)
		unit *= 10;
	return ctime_ns > since_ns - 2 * unit;
}

bool hf_scan_is_tolerable(int rc)
{
	return rc < 0 && rc != -ENOMEM && rc != -EMFILE && rc != -ENFILE;
}

int hf_scan_fail_directory(const char *path, int rc, struct hf_error *err)
{
	(void)hf_fail_system(err, rc, "cannot read directory '%s'",
			     HF_QUOTE(path));
	if (rc != -EACCES)
		return err->code;
	/* The root cannot be taken out, nor by itself what reads as a pattern. */
	if (strcmp(path, ".") == 0 || strpbrk(path, "*?[]\\!") != NULL)
		return hf_fail_hint(err, "make it readable");
	return hf_fail_hint(err,
			    "make it readable, or take it out of the protected "
			    "set with --exclude '%s/'",
			    HF_QUOTE(path));
}

/*
 * The parts of one look.  0 is done, 1 that the name changed meanwhile, -errno
 * else.
 */
static int look(int dir_fd, const char *name, struct hf_stat *stat,
		struct hf_buffer *link, struct hf_buffer *xattrs)
{
	int rc;

	rc = hf_file_stat_at(dir_fd, name, stat);
	if (rc < 0)
		return rc;
	hf_buffer_clear(link);
	hf_buffer_clear(xattrs);
	if (stat->kind == HF_KIND_LINK) {
		rc = hf_file_read_link_at(dir_fd, name, link);
		if (rc == -EINVAL || rc == -ENOENT)
			return 1;
		if (rc < 0)
			return rc;
	}
	rc = hf_file_get_xattrs_at(dir_fd, name, xattrs);
	return rc == -ENOENT ? 1 : rc;
}

int hf_scan_fill(int dir_fd, const char *name, struct hf_arena *arena,
		 int64_t since_ns, struct hf_entry *entry, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer link = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer xattrs = HF_BUFFER_INIT;
	struct hf_entry seen = *entry;
	int rc = 1;

	hf_scan_set_absent(&seen);
	for (int i = 0; i < TRIES && rc == 1; i++)
		rc = look(dir_fd, name, &seen.stat, &link, &xattrs);
	if (hf_scan_is_absence(rc)) {
		hf_scan_set_absent(entry);
		return 0;
	}
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot look at '%s'",
				      HF_QUOTE(entry->path));
	if (rc == 1)
		return hf_fail(err, HF_ERR_CHANGED,
			       "cannot look at '%s': it keeps changing",
			       HF_QUOTE(entry->path));

	rc = keep_text(arena, &xattrs, &seen.xattrs, err);
	if (rc < 0)
		return rc;
	if (seen.stat.kind == HF_KIND_LINK) {
		rc = keep_text(arena, &link, &seen.link, err);
		if (rc < 0)
			return rc;
	}
	seen.is_racy = hf_scan_is_racy(seen.stat.ctime_ns, since_ns);
	*entry = seen;
	return 0;
}

int hf_scan_entry(int dir_fd, const char *name, struct hf_tree *tree,
		  struct hf_entry *entry, struct hf_error *err)
{
	return hf_scan_fill(dir_fd, name, &tree->arena,
			    hf_system_file_time_ns(), entry, err);
}

int hf_scan_open_parent(int root_fd, const char *path, const char **ret_name)
{
	const size_t len = hf_path_parent_len(path);
	cleanup_fd int top_fd = -1;
	char parent[HF_PATH_MAX];
	int fd;

	if (len >= sizeof(parent))
		return -ENAMETOOLONG;
	memcpy(parent, path, len);
	parent[len] = '\0';

	if (!hf_path_is_absolute(path)) {
		fd = hf_file_open_beneath(root_fd, len > 0 ? parent : ".");
	} else {
		top_fd = hf_file_open_directory("/");
		if (top_fd < 0)
			return top_fd;
		fd = hf_file_open_beneath(top_fd, len > 1 ? parent + 1 : ".");
	}
	if (fd >= 0)
		*ret_name = hf_path_name(path);
	return fd;
}

const char *hf_scan_entry_path(const char *root, const char *absolute)
{
	if (strcmp(absolute, root) == 0)
		return ".";
	if (!hf_path_is_beneath(absolute, root))
		return absolute;
	return absolute + strlen(root) + (strcmp(root, "/") == 0 ? 0 : 1);
}
