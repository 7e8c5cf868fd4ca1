/* SPDX-License-Identifier: MIT */
/* Follow .git, where it is a file, and "commondir". */
#include "core/git_place.h"

#include <string.h>

#include "base/buffer.h"
#include "base/path.h"
#include "platform/file.h"

#define GIT_FILE_MAX ((size_t)HF_PATH_MAX + 64)

/* The first line of a small file behind prefix; NULL when it is not so. */
static char *read_line(const char *path, const char *prefix)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	cleanup_fd int fd = hf_file_open_read_path(path);
	const size_t prefix_len = strlen(prefix);

	if (fd < 0 || hf_file_read_all(fd, GIT_FILE_MAX, &text) < 0)
		return NULL;
	if (text.len < prefix_len ||
	    strncmp(text.data, prefix, prefix_len) != 0)
		return NULL;
	text.data[strcspn(text.data, "\r\n")] = '\0';
	return strlen(text.data) > prefix_len ? strdup(text.data + prefix_len)
					      : NULL;
}

/* path, or directory/path when it is relative; to free(). */
static char *resolve(const char *directory, const char *path)
{
	return hf_path_is_absolute(path) ? strdup(path)
					 : hf_path_join(directory, path);
}

char *hf_git_directory_of(const char *directory)
{
	cleanup_free char *git = hf_path_join(directory, ".git");
	cleanup_free char *named = NULL;
	struct hf_stat stat;

	if (!git || hf_file_stat_path(git, &stat) < 0)
		return NULL;
	if (stat.kind == HF_KIND_DIRECTORY)
		return take_ptr(&git);
	if (stat.kind != HF_KIND_FILE)
		return NULL;
	named = read_line(git, "gitdir: ");
	return named ? resolve(directory, named) : NULL;
}

char *hf_git_common_of(const char *git_directory)
{
	cleanup_free char *file = hf_path_join(git_directory, "commondir");
	cleanup_free char *common = file ? read_line(file, "") : NULL;

	return common ? resolve(git_directory, common) : strdup(git_directory);
}

char *hf_git_top_of(const char *directory)
{
	cleanup_free char *top = strdup(directory);

	while (top) {
		cleanup_free char *git = hf_git_directory_of(top);
		const size_t len = hf_path_parent_len(top);

		if (git)
			return take_ptr(&top);
		if (len == 0 || top[len] == '\0')
			break;
		top[len] = '\0';
	}
	return NULL;
}
