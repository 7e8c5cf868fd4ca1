/* SPDX-License-Identifier: MIT */
/*
 * Find the store of a root: by option, by the pointer in the git common
 * directory, or where the user's state is kept.
 *
 * The pointer `<git common directory>/holdfast` has a line for each root:
 * STORE, a tab, ROOT.  It is believed only where the user (or root) alone wrote
 * it and where it names a store of this root.
 */
#include "core/store.h"

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/git_place.h"
#include "core/hash.h"
#include "core/replace.h"
#include "core/store_identity.h"
#include "platform/system.h"

#define POINTER_NAME   "holdfast"
#define POINTER_MAX    ((size_t)64 << 10)
/* Of the root's name in the store's: enough to tell them apart by eye. */
#define NAME_SHOWN_MAX 64
#define HASH_DIGITS    16

/* -- the git common directory --------------------------------------------- */

/*
 * Open the git common directory of root; -1 when there is none.  It must be
 * the user's and look like one: a .git file from a foreign archive could name
 * any directory.
 */
static int open_common(const char *root)
{
	cleanup_free char *top = hf_git_top_of(root);
	cleanup_free char *git = top ? hf_git_directory_of(top) : NULL;
	cleanup_free char *common = git ? hf_git_common_of(git) : NULL;
	cleanup_fd int fd = -1;
	struct hf_stat stat;

	if (!common)
		return -1;
	fd = hf_file_open_directory(common);
	if (fd < 0 || hf_file_stat(fd, &stat) < 0 ||
	    stat.uid != hf_system_uid() ||
	    hf_file_stat_at(fd, "HEAD", &stat) < 0)
		return -1;
	return take_fd(&fd);
}

/* -- the pointer ---------------------------------------------------------- */

/* Its text, appended; false when there is none or it is not trustworthy. */
static bool read_pointer(int common_fd, struct hf_buffer *text)
{
	cleanup_fd int fd = hf_file_open_read_at(common_fd, POINTER_NAME);
	struct hf_stat stat;

	if (fd < 0 || hf_file_stat(fd, &stat) < 0)
		return false;
	return stat.kind == HF_KIND_FILE && (stat.mode & 022) == 0 &&
	       (stat.uid == hf_system_uid() || stat.uid == 0) &&
	       hf_file_read_all(fd, POINTER_MAX, text) == 0 && text->data;
}

/*
 * The line of root: where it begins, its length with the newline, and that of
 * the store in it.
 */
static const char *find_line(const char *text, const char *root,
			     size_t *ret_len, size_t *ret_store_len)
{
	const size_t root_len = strlen(root);

	while (*text != '\0') {
		const size_t len = strcspn(text, "\n");
		const size_t store_len = strcspn(text, "\t\n");

		if (len == store_len + 1 + root_len &&
		    memcmp(text + store_len + 1, root, root_len) == 0) {
			*ret_len = len + (text[len] == '\n' ? 1 : 0);
			*ret_store_len = store_len;
			return text;
		}
		text += len;
		text += *text == '\n' ? 1 : 0;
	}
	return NULL;
}

/* Is there a store at path that says it is root's, and ours alone? */
static bool is_store_of(const char *path, const char *root)
{
	cleanup_store_identity struct hf_store_identity identity =
		HF_STORE_IDENTITY_INIT;
	cleanup_fd int fd = hf_file_open_directory(path);
	struct hf_error err;

	return fd >= 0 && hf_store_check_owner(fd, path, &err) == 0 &&
	       hf_store_identity_read(fd, path, &identity, &err) == 0 &&
	       strcmp(identity.root, root) == 0;
}

/* The absolute path that a pointer's text has for root; to free(). */
static char *find_path(const char *text, const char *root)
{
	cleanup_free char *path = NULL;
	const char *line;
	size_t len;
	size_t store_len;

	line = find_line(text, root, &len, &store_len);
	if (!line || store_len == 0 || store_len >= HF_PATH_MAX)
		return NULL;
	path = malloc(store_len + 1);
	if (!path)
		return NULL;
	memcpy(path, line, store_len);
	path[store_len] = '\0';
	return hf_path_is_absolute(path) ? take_ptr(&path) : NULL;
}

/* The same of the pointer in the git common directory, if that is trustworthy. */
static char *read_pointed(const char *root)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	cleanup_fd int fd = open_common(root);

	return fd >= 0 && read_pointer(fd, &text) ? find_path(text.data, root)
						  : NULL;
}

/* What the pointer says about root, if it can be believed; to free(). */
static char *pointed(const char *root)
{
	cleanup_free char *path = read_pointed(root);

	return path && is_store_of(path, root) ? take_ptr(&path) : NULL;
}

static int fail_away(const char *path, struct hf_error *err)
{
	(void)hf_fail(err, HF_ERR_SYSTEM,
		      "cannot find the store '%s', where this project is "
		      "recorded",
		      HF_QUOTE(path));
	return hf_fail_hint(err, "bring it back, or name with --store DIR "
				 "where it is now or a new one shall be");
}

int hf_store_check_pointer(const char *root, struct hf_error *err)
{
	cleanup_store_identity struct hf_store_identity identity =
		HF_STORE_IDENTITY_INIT;
	cleanup_free char *path = read_pointed(root);
	cleanup_fd int fd = -1;
	int rc;

	if (!path)
		return 0;
	fd = hf_file_open_directory(path);
	if (fd < 0)
		return fail_away(path, err);
	rc = hf_store_check_owner(fd, path, err);
	if (rc < 0)
		return rc;
	/* Whose it is does not matter: one that another root has adopted is
	 * not ours any more. */
	rc = hf_store_identity_read(fd, path, &identity, err);
	if (rc == HF_ERR_SYSTEM && err->sys_errno == ENOENT)
		return fail_away(path, err);
	return rc;
}

void hf_store_point(const char *root, const char *store_path, bool is_move)
{
	cleanup_free char *there = NULL;
	cleanup_buffer struct hf_buffer old = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	cleanup_fd int fd = -1;
	struct hf_error err;
	const char *line = NULL;
	size_t len = 0;
	size_t store_len = 0;

	if (strpbrk(root, "\t\n") || strpbrk(store_path, "\t\n"))
		return;
	fd = open_common(root);
	if (fd < 0)
		return;
	if (read_pointer(fd, &old)) {
		line = find_line(old.data, root, &len, &store_len);
		if (line && store_len == strlen(store_path) &&
		    memcmp(line, store_path, store_len) == 0)
			return;
		there = is_move ? NULL : find_path(old.data, root);
		if (there && is_store_of(there, root))
			return;
		hf_buffer_add(&text, old.data,
			      line ? (size_t)(line - old.data) : old.len);
		if (line)
			hf_buffer_add_text(&text, line + len);
		if (text.len > 0 && text.data[text.len - 1] != '\n')
			hf_buffer_add(&text, "\n", 1);
	}
	hf_buffer_printf(&text, "%s\t%s\n", store_path, root);
	if (hf_buffer_check(&text, &err) == 0 && text.len <= POINTER_MAX)
		(void)!hf_replace_write(fd, POINTER_NAME, 0600, text.data,
					text.len, &err);
}

void hf_store_unpoint(const char *root, const char *store_path)
{
	cleanup_buffer struct hf_buffer old = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	cleanup_fd int fd = open_common(root);
	struct hf_error err;
	const char *line;
	size_t len = 0;
	size_t store_len = 0;

	if (fd < 0 || !read_pointer(fd, &old))
		return;
	line = find_line(old.data, root, &len, &store_len);
	if (!line || store_len != strlen(store_path) ||
	    memcmp(line, store_path, store_len) != 0)
		return;
	hf_buffer_add(&text, old.data, (size_t)(line - old.data));
	hf_buffer_add_text(&text, line + len);
	if (text.len == 0)
		(void)!hf_file_unlink_at(fd, POINTER_NAME);
	else if (hf_buffer_check(&text, &err) == 0)
		(void)!hf_replace_write(fd, POINTER_NAME, 0600, text.data,
					text.len, &err);
}

/* -- where ---------------------------------------------------------------- */

/* The option made absolute; links resolved when it exists already. */
static int locate_option(const char *option, char **ret_path,
			 struct hf_error *err)
{
	cleanup_free char *working = NULL;
	cleanup_free char *joined = NULL;
	cleanup_free char *path = hf_file_canonical(option);
	int rc;

	if (path) {
		*ret_path = take_ptr(&path);
		return 0;
	}
	if (option[0] == '\0')
		return hf_fail(err, HF_ERR_USAGE,
			       "cannot use the store '': it is empty");
	if (errno != ENOENT)
		return hf_fail_system(err, -errno, "cannot use the store '%s'",
				      HF_QUOTE(option));
	rc = hf_system_working_directory(&working);
	if (rc < 0)
		return hf_fail_system(err, rc,
				      "cannot find the working directory");
	joined = hf_path_is_absolute(option) ? strdup(option)
					     : hf_path_join(working, option);
	if (!joined)
		return hf_fail_memory(err);
	path = hf_path_normalize(joined);
	if (!path)
		return hf_fail_system(err, -errno, "cannot use the store '%s'",
				      HF_QUOTE(option));
	*ret_path = take_ptr(&path);
	return 0;
}

/* <state directory>/holdfast/<name>-<hash of root>. */
static int locate_default(const char *root, char **ret_path,
			  struct hf_error *err)
{
	const struct hf_hash hash = hf_hash_of(root, strlen(root));
	const char *const name = root[1] == '\0' ? "root" : hf_path_name(root);
	char digits[HF_HASH_TEXT];
	cleanup_free char *state = NULL;
	cleanup_buffer struct hf_buffer path = HF_BUFFER_INIT;
	int rc;

	rc = hf_system_state_directory(&state);
	if (rc < 0) {
		(void)hf_fail_system(err, rc,
				     "cannot find the user's state directory");
		return hf_fail_hint(err, "name a place with --store DIR, or set "
					 "XDG_STATE_HOME");
	}
	(void)hf_hash_format(&hash, digits);
	hf_buffer_printf(&path, "%s/holdfast/%.*s-%.*s", state, NAME_SHOWN_MAX,
			 name, HASH_DIGITS, digits);
	rc = hf_buffer_check(&path, err);
	if (rc < 0)
		return rc;
	*ret_path = hf_buffer_take(&path);
	return 0;
}

int hf_store_locate(const char *option, const char *root, char **ret_path,
		    struct hf_error *err)
{
	char *path;

	if (option)
		return locate_option(option, ret_path, err);
	path = pointed(root);
	if (path) {
		*ret_path = path;
		return 0;
	}
	return locate_default(root, ret_path, err);
}
