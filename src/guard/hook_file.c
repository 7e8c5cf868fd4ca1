/* SPDX-License-Identifier: MIT */
/*
 * Put one hook into a directory and take it away.
 *
 * The hook that is there first gets a second name, then its own is taken by one
 * rename; on the way back one rename gives it its name again, and with it its
 * bytes, mode and times.  A crash leaves the one or the other.
 */
#include "guard/hook_file.h"

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/replace.h"
#include "platform/file.h"

#define SCRIPT_MAX  ((size_t)1 << 20)
#define SCRIPT_MODE 0755

static const char *const result_names[HF_HOOK_RESULTS] = {
	[HF_HOOK_INSTALLED] = "installed",   [HF_HOOK_CHAINED] = "chained",
	[HF_HOOK_UNCHANGED] = "unchanged",   [HF_HOOK_REMOVED] = "removed",
	[HF_HOOK_GIVEN_BACK] = "given-back", [HF_HOOK_NONE] = "none",
};

const char *hf_hook_result_name(enum hf_hook_result result)
{
	return result_names[result];
}

/* -- looking ------------------------------------------------------------------
 */

/* Room for the longest name of a hook and of what stands behind one. */
struct name {
	char text[64];
};

static struct name name_of(enum hf_hook hook, const char *suffix)
{
	struct name name;

	(void)snprintf(name.text, sizeof(name.text), "%s%s", hf_hook_name(hook),
		       suffix);
	return name;
}

static enum hf_hook_file judge_at(int dir_fd, enum hf_hook hook,
				  const char *suffix, struct hf_buffer *text)
{
	const struct name name = name_of(hook, suffix);
	cleanup_fd int fd = hf_file_open_read_at(dir_fd, name.text);

	if (fd == -ENOENT)
		return HF_HOOK_FILE_NONE;
	if (fd < 0 || hf_file_read_all(fd, SCRIPT_MAX, text) < 0)
		return HF_HOOK_FILE_FOREIGN;
	return hf_hook_script_judge(hook, text->data ? text->data : "",
				    text->len);
}

enum hf_hook_file hf_hook_file_at(const char *directory, enum hf_hook hook,
				  const char *suffix)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	cleanup_fd int dir_fd = hf_file_open_directory(directory);

	return dir_fd < 0 ? HF_HOOK_FILE_NONE
			  : judge_at(dir_fd, hook, suffix, &text);
}

bool hf_hook_file_is_executable(const char *directory, enum hf_hook hook)
{
	cleanup_free char *path = hf_path_join(directory, hf_hook_name(hook));
	struct hf_stat stat;

	return path && hf_file_stat_path(path, &stat) == 0 &&
	       (stat.mode & 0111) != 0;
}

static bool is_there(int dir_fd, const struct name *name,
		     struct hf_stat *ret_stat)
{
	return hf_file_stat_at(dir_fd, name->text, ret_stat) == 0;
}

static int fail_at(struct hf_error *err, int rc, const char *verb,
		   const char *directory, const struct name *name)
{
	return hf_fail_system(err, rc, "cannot %s '%s/%s'", verb,
			      HF_QUOTE(directory), name->text);
}

static int fail_edited(const char *verb, const char *directory,
		       const struct name *name, struct hf_error *err)
{
	(void)hf_fail(err, HF_ERR_DENIED,
		      "cannot %s '%s/%s': it was edited since holdfast wrote "
		      "it",
		      verb, HF_QUOTE(directory), name->text);
	return hf_fail_hint(err, "move what was added to a hook of its own, "
				 "then remove the file");
}

/* -- putting ------------------------------------------------------------------
 */

/* The directory, made if only itself is missing. */
static int open_place(const char *directory, struct hf_error *err)
{
	cleanup_fd int fd = hf_file_open_directory(directory);
	const size_t len = hf_path_parent_len(directory);
	cleanup_free char *parent = strndup(directory, len > 0 ? len : 1);
	cleanup_fd int parent_fd = -1;
	int rc;

	if (fd == -ENOENT && parent) {
		parent_fd = hf_file_open_directory(parent);
		rc = parent_fd < 0
			     ? parent_fd
			     : hf_file_mkdir_at(parent_fd,
						hf_path_name(directory), 0755);
		fd = rc < 0 && rc != -EEXIST
			     ? rc
			     : hf_file_open_directory(directory);
	}
	if (fd < 0)
		return hf_fail_system(err, fd, "cannot open '%s'",
				      HF_QUOTE(directory));
	return take_fd(&fd);
}

/* Two files with the same bytes, or one with two names. */
static bool is_same(int dir_fd, enum hf_hook hook, const struct hf_stat *now,
		    const struct hf_stat *before)
{
	cleanup_buffer struct hf_buffer a = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer b = HF_BUFFER_INIT;

	if (now->dev == before->dev && now->ino == before->ino)
		return true;
	if (now->kind != HF_KIND_FILE || before->kind != HF_KIND_FILE ||
	    now->mode != before->mode)
		return false;
	(void)judge_at(dir_fd, hook, "", &a);
	(void)judge_at(dir_fd, hook, HF_HOOK_BEFORE, &b);
	return a.len == b.len && now->size == a.len &&
	       (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

/* The hook that is there gets its second name. */
static int keep_before(int dir_fd, const char *directory, enum hf_hook hook,
		       struct hf_error *err)
{
	const struct name name = name_of(hook, "");
	const struct name before = name_of(hook, HF_HOOK_BEFORE);
	struct hf_stat now;
	struct hf_stat old;
	int rc;

	rc = hf_file_stat_at(dir_fd, name.text, &now);
	if (rc < 0)
		return fail_at(err, rc, "look at", directory, &name);
	if (now.kind != HF_KIND_FILE && now.kind != HF_KIND_LINK)
		return hf_fail(err, HF_ERR_DENIED,
			       "cannot replace '%s/%s': it is no file",
			       HF_QUOTE(directory), name.text);
	if (is_there(dir_fd, &before, &old)) {
		if (is_same(dir_fd, hook, &now, &old))
			return 0;
		(void)hf_fail(err, HF_ERR_DENIED,
			      "cannot keep '%s/%s': '%s' is there already",
			      HF_QUOTE(directory), name.text, before.text);
		return hf_fail_hint(err, "another program has replaced our "
					 "hook; remove the one that is not "
					 "wanted");
	}
	rc = hf_file_link_at(dir_fd, name.text, dir_fd, before.text);
	/* Where there are no second names there is none of it for a moment. */
	if (rc < 0)
		rc = hf_file_rename_new_at(dir_fd, name.text, dir_fd,
					   before.text);
	return rc < 0 ? fail_at(err, rc, "keep", directory, &name) : 0;
}

static int write_script(int dir_fd, const char *directory,
			const struct name *name, const struct hf_buffer *script,
			struct hf_error *err)
{
	const int rc = hf_replace_write(dir_fd, name->text, SCRIPT_MODE,
					script->data, script->len, err);

	return rc < 0 && err->sys_errno > 0
		       ? fail_at(err, -err->sys_errno, "write", directory, name)
		       : rc;
}

static int fail_husky(const char *directory, enum hf_hook hook,
		      struct hf_error *err)
{
	(void)hf_fail(err, HF_ERR_DENIED,
		      "cannot change '%s/%s': the project keeps it for husky",
		      HF_QUOTE(directory), hf_hook_name(hook));
	return hf_fail_hint(err,
			    "add a line to it: holdfast hook run %s "
			    "-- \"$@\"",
			    hf_hook_name(hook));
}

int hf_hook_file_put(const char *directory, enum hf_hook hook,
		     const struct hf_buffer *script, bool may_chain,
		     enum hf_hook_result *ret_result, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	cleanup_fd int dir_fd = open_place(directory, err);
	const struct name name = name_of(hook, "");
	const struct name before = name_of(hook, HF_HOOK_BEFORE);
	enum hf_hook_file file;
	struct hf_stat stat;
	int rc = 0;

	if (dir_fd < 0)
		return dir_fd;
	file = judge_at(dir_fd, hook, "", &text);
	if (file == HF_HOOK_FILE_EDITED)
		return fail_edited("replace", directory, &name, err);
	if (file == HF_HOOK_FILE_CALLS ||
	    (file == HF_HOOK_FILE_OURS && text.len == script->len &&
	     memcmp(text.data, script->data, text.len) == 0 &&
	     hf_hook_file_is_executable(directory, hook)) ||
	    (file == HF_HOOK_FILE_FOREIGN &&
	     hf_hook_file_at(directory, hook, HF_HOOK_LEGACY) ==
		     HF_HOOK_FILE_OURS)) {
		*ret_result = HF_HOOK_UNCHANGED;
		return 0;
	}
	if (file == HF_HOOK_FILE_FOREIGN)
		rc = may_chain ? keep_before(dir_fd, directory, hook, err)
			       : fail_husky(directory, hook, err);
	if (rc == 0)
		rc = write_script(dir_fd, directory, &name, script, err);
	if (rc == 0)
		*ret_result = is_there(dir_fd, &before, &stat)
				      ? HF_HOOK_CHAINED
				      : HF_HOOK_INSTALLED;
	return rc;
}

/* -- taking -------------------------------------------------------------------
 */

/* Ours under that name goes; what was before it comes. */
static int give_back(int dir_fd, const char *directory, enum hf_hook hook,
		     const char *suffix, enum hf_hook_result *result,
		     struct hf_error *err)
{
	const struct name name = name_of(hook, suffix);
	const struct name before = name_of(hook, HF_HOOK_BEFORE);
	struct hf_stat stat;
	const bool has_before = is_there(dir_fd, &before, &stat);
	int rc;

	rc = has_before
		     ? hf_file_rename_at(dir_fd, before.text, dir_fd, name.text)
		     : hf_file_unlink_at(dir_fd, name.text);
	if (rc == 0)
		rc = hf_file_sync(dir_fd);
	if (rc < 0)
		return fail_at(err, rc, "remove", directory, &name);
	/* Ours may be there twice: another program has moved one aside. */
	if (has_before || *result != HF_HOOK_GIVEN_BACK)
		*result = has_before ? HF_HOOK_GIVEN_BACK : HF_HOOK_REMOVED;
	return 0;
}

int hf_hook_file_take(const char *directory, enum hf_hook hook,
		      enum hf_hook_result *ret_result, struct hf_error *err)
{
	static const char *const suffixes[] = {"", HF_HOOK_LEGACY, HF_HOOK_OLD};
	cleanup_fd int dir_fd = hf_file_open_directory(directory);
	const struct name before = name_of(hook, HF_HOOK_BEFORE);
	const struct name name = name_of(hook, "");
	struct hf_stat now;
	struct hf_stat old;
	int rc;

	if (dir_fd == -ENOENT)
		return 0;
	if (dir_fd < 0)
		return hf_fail_system(err, dir_fd, "cannot open '%s'",
				      HF_QUOTE(directory));
	for (size_t i = 0; i < HF_COUNT(suffixes); i++) {
		cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
		const struct name ours = name_of(hook, suffixes[i]);
		const enum hf_hook_file file =
			judge_at(dir_fd, hook, suffixes[i], &text);

		if (file == HF_HOOK_FILE_EDITED)
			return fail_edited("remove", directory, &ours, err);
		if (file != HF_HOOK_FILE_OURS)
			continue;
		rc = give_back(dir_fd, directory, hook, suffixes[i], ret_result,
			       err);
		if (rc < 0)
			return rc;
	}
	/* Somebody removed ours, or a crash came between the two names. */
	if (!is_there(dir_fd, &before, &old))
		return 0;
	if (!is_there(dir_fd, &name, &now))
		rc = hf_file_rename_at(dir_fd, before.text, dir_fd, name.text);
	else if (is_same(dir_fd, hook, &now, &old))
		rc = hf_file_unlink_at(dir_fd, before.text);
	else
		return 0;
	if (rc == 0)
		rc = hf_file_sync(dir_fd);
	if (rc < 0)
		return fail_at(err, rc, "give back", directory, &name);
	*ret_result = HF_HOOK_GIVEN_BACK;
	return 0;
}
