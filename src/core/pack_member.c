/* SPDX-License-Identifier: MIT */
/* Name the members of archives. */
#include "core/pack_member.h"

#include <string.h>

#include "base/buffer.h"
#include "base/path.h"

/*
 * Where files from outside the root are in the archive.  A name at the top of
 * the root that is this, with any number of marks behind it, gets one mark
 * more: so no two paths have one name.
 */
#define OUTSIDE	     "outside"
#define OUTSIDE_MARK "~"

/* Of the first component, if that could be taken for OUTSIDE; else 0. */
static size_t marked_len(const char *path)
{
	const size_t len = strcspn(path, "/");

	if (strncmp(path, OUTSIDE, strlen(OUTSIDE)) != 0 ||
	    strlen(OUTSIDE) + strspn(path + strlen(OUTSIDE), OUTSIDE_MARK) !=
		    len)
		return 0;
	return len;
}

size_t hf_pack_member_len(const char *path)
{
	const size_t len = strlen(path);

	if (hf_path_is_absolute(path))
		return strlen(OUTSIDE) + len;
	return marked_len(path) > 0 ? len + strlen(OUTSIDE_MARK) : len;
}

char *hf_pack_member_name(const char *path)
{
	cleanup_buffer struct hf_buffer name = HF_BUFFER_INIT;
	const size_t marked = marked_len(path);

	if (hf_path_is_absolute(path))
		return hf_path_join(OUTSIDE, path + 1);
	hf_buffer_add(&name, path, marked);
	hf_buffer_add_text(&name, marked > 0 ? OUTSIDE_MARK : "");
	hf_buffer_add_text(&name, path + marked);
	return hf_buffer_take(&name);
}

char *hf_pack_member_path(const char *name)
{
	cleanup_buffer struct hf_buffer path = HF_BUFFER_INIT;
	const size_t marked = marked_len(name);
	const size_t mark = marked > strlen(OUTSIDE) ? strlen(OUTSIDE_MARK) : 0;

	if (!hf_path_is_plain(name) || hf_path_is_absolute(name) ||
	    (marked == strlen(OUTSIDE) && name[marked] == '\0')) {
		errno = EINVAL;
		return NULL;
	}
	if (marked == 0 || mark > 0)
		hf_buffer_add(&path, name, marked - mark);
	hf_buffer_add_text(&path, name + marked);
	return hf_buffer_take(&path);
}
