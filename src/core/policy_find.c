/* SPDX-License-Identifier: MIT */
/* Where the root and the policy file are. */
#include "core/policy.h"

#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/policy_internal.h"
#include "platform/file.h"
#include "platform/system.h"

/* The directory part of path; "." when it has none.  NULL: no memory. */
static char *parent_of(const char *path)
{
	const size_t len = hf_path_parent_len(path);
	char *const parent = malloc(len + 2);

	if (!parent)
		return NULL;
	memcpy(parent, len > 0 ? path : ".", len > 0 ? len : 1);
	parent[len > 0 ? len : 1] = '\0';
	return parent;
}

char *hf_policy_home(void)
{
	cleanup_free char *home = NULL;
	char *canonical;

	if (hf_system_home(&home) < 0)
		return NULL;
	canonical = hf_file_canonical(home);
	return canonical ? canonical : take_ptr(&home);
}

/* -- the file --------------------------------------------------------- */

static int check_owner(const char *file, uint32_t uid, struct hf_error *err)
{
	if (uid == 0 || uid == hf_system_uid())
		return 0;
	(void)hf_fail(err, HF_ERR_DENIED,
		      "cannot use '%s': owned by user %" PRIu32
		      ", neither you nor root",
		      HF_QUOTE(file), uid);
	return hf_fail_hint(err, "name it with --config if you trust it");
}

int hf_policy_open(const char *file, bool is_named, struct hf_error *err)
{
	cleanup_fd int fd = hf_file_open_read_path(file);
	struct hf_stat st;
	int rc;

	if (fd < 0)
		return hf_fail(err, HF_ERR_USAGE, "cannot read '%s': %s",
			       HF_QUOTE(file), strerror(-fd));
	rc = hf_file_stat(fd, &st);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot look at '%s'",
				      HF_QUOTE(file));
	if (st.kind != HF_KIND_FILE)
		return hf_fail(err, HF_ERR_USAGE,
			       "cannot use '%s': not a regular file",
			       HF_QUOTE(file));
	if (!is_named) {
		rc = check_owner(file, st.uid, err);
		if (rc < 0)
			return rc;
	}
	return take_fd(&fd);
}

/* Open it once, so that a wrong file is said to be one before anything else. */
static int check_file(const char *file, bool is_named, struct hf_error *err)
{
	cleanup_fd int fd = hf_policy_open(file, is_named, err);

	return fd < 0 ? fd : 0;
}

/* The directory is resolved but not the name: a link is what gets replaced. */
static int named_file(const char *config, char **ret_file, struct hf_error *err)
{
	cleanup_free char *parent = parent_of(config);
	cleanup_free char *directory = NULL;
	cleanup_free char *file = NULL;
	int rc;

	if (!parent)
		return hf_fail_memory(err);
	directory = hf_file_canonical(parent);
	if (!directory)
		return hf_fail(err, HF_ERR_USAGE, "cannot read '%s': %s",
			       HF_QUOTE(config), strerror(errno));
	file = hf_path_join(directory, hf_path_name(config));
	if (!file)
		return hf_fail_memory(err);
	rc = check_file(file, true, err);
	if (rc < 0)
		return rc;
	*ret_file = take_ptr(&file);
	return 0;
}

/* -- searching upwards ------------------------------------------------ */

/* The entry name of directory (canonical): 1 with its path, or 0. */
static int find_name(const char *directory, const char *name, char **ret_path,
		     struct hf_stat *ret_stat, struct hf_error *err)
{
	cleanup_free char *path = hf_path_join(directory, name);
	int rc;

	if (!path)
		return hf_fail_memory(err);
	/* No component can be a link, and an absolute path needs no base. */
	rc = hf_file_stat_at(-1, path, ret_stat);
	if (rc == -ENOENT)
		return 0;
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot look at '%s'",
				      HF_QUOTE(path));
	*ret_path = take_ptr(&path);
	return 1;
}

static int find_file(const char *directory, char **ret_file,
		     struct hf_error *err)
{
	cleanup_free char *file = NULL;
	struct hf_stat st;
	int rc;

	rc = find_name(directory, HF_POLICY_NAME, &file, &st, err);
	if (rc <= 0)
		return rc;
	/* Of a link: whoever made it chose the policy. */
	rc = check_owner(file, st.uid, err);
	if (rc < 0)
		return rc;
	rc = check_file(file, false, err);
	if (rc < 0)
		return rc;
	*ret_file = take_ptr(&file);
	return 1;
}

static int has_git(const char *directory, struct hf_error *err)
{
	cleanup_free char *path = NULL;
	struct hf_stat st;

	return find_name(directory, ".git", &path, &st, err);
}

/* Cut the last component off: 1, or 0 where the search ends. */
static int go_up(char *directory, struct hf_error *err)
{
	struct hf_stat here;
	struct hf_stat above;
	int rc;

	if (strcmp(directory, "/") == 0)
		return 0;
	rc = hf_file_stat_path(directory, &here);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot look at '%s'",
				      HF_QUOTE(directory));
	directory[hf_path_parent_len(directory)] = '\0';
	rc = hf_file_stat_path(directory, &above);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot look at '%s'",
				      HF_QUOTE(directory));
	return here.dev == above.dev;
}

/* directory is start or above it: 1 if something that is looked for is in it.
 */
static int has_either(const char *directory, struct hf_error *err)
{
	cleanup_free char *path = NULL;
	struct hf_stat st;
	const int rc = find_name(directory, HF_POLICY_NAME, &path, &st, err);

	return rc != 0 ? rc : has_git(directory, err);
}

/*
 * The search ends at the home directory, and directory is above it, start in it
 * or below.
 */
static bool is_above_home(const char *directory, const char *start)
{
	cleanup_free char *home = hf_policy_home();

	return home &&
	       (strcmp(start, home) == 0 || hf_path_is_beneath(start, home)) &&
	       strlen(directory) < strlen(home);
}

/* The nearest policy file, or else the directory with .git, or neither. */
static int search(const char *start, char **ret_file, char **ret_git,
		  struct hf_error *err)
{
	cleanup_free char *directory = strdup(start);
	int rc;

	if (!directory)
		return hf_fail_memory(err);
	do {
		rc = has_either(directory, err);
		if (rc == 0)
			rc = go_up(directory, err);
		else if (rc > 0)
			break;
	} while (rc > 0);
	/* The user database is opened only where it decides. */
	if (rc <= 0 || (strlen(directory) < strlen(start) &&
			is_above_home(directory, start)))
		return rc < 0 ? rc : 0;
	rc = find_file(directory, ret_file, err);
	if (rc == 0)
		*ret_git = take_ptr(&directory);
	return rc < 0 ? rc : 0;
}

/* -- both ------------------------------------------------------------- */

static int named_root(const char *name, char **ret_root, struct hf_error *err)
{
	cleanup_free char *root = hf_file_canonical(name);
	struct hf_stat st;
	int rc;

	if (!root)
		return hf_fail(err, HF_ERR_USAGE,
			       "cannot use '%s' as the root: %s",
			       HF_QUOTE(name), strerror(errno));
	rc = hf_file_stat_path(root, &st);
	if (rc < 0)
		return hf_fail(err, HF_ERR_USAGE,
			       "cannot use '%s' as the root: %s",
			       HF_QUOTE(name), strerror(-rc));
	if (st.kind != HF_KIND_DIRECTORY)
		return hf_fail(err, HF_ERR_USAGE,
			       "cannot use '%s' as the root: not a directory",
			       HF_QUOTE(name));
	*ret_root = take_ptr(&root);
	return 0;
}

static int working_directory(char **ret_path, struct hf_error *err)
{
	cleanup_free char *path = NULL;
	char *canonical;
	int rc;

	rc = hf_system_working_directory(&path);
	if (rc < 0)
		return hf_fail_system(err, rc,
				      "cannot find the working directory");
	canonical = hf_file_canonical(path);
	if (!canonical)
		return hf_fail_system(err, -errno, "cannot look at '%s'",
				      HF_QUOTE(path));
	*ret_path = canonical;
	return 0;
}

int hf_policy_find(const struct hf_policy_options *options, char **ret_root,
		   char **ret_file, struct hf_error *err)
{
	cleanup_free char *here = NULL;
	cleanup_free char *root = NULL;
	cleanup_free char *file = NULL;
	int rc = 0;

	if (options->root)
		rc = named_root(options->root, &root, err);
	if (rc < 0)
		return rc;

	if (options->config) {
		rc = named_file(options->config, &file, err);
	} else {
		cleanup_free char *git = NULL;

		rc = working_directory(&here, err);
		if (rc < 0)
			return rc;
		rc = search(here, &file, &git, err);
		if (!root && !file)
			root = take_ptr(&git);
	}
	if (rc < 0)
		return rc;

	if (!root)
		root = file ? parent_of(file) : take_ptr(&here);
	if (!root)
		return hf_fail_memory(err);
	*ret_root = take_ptr(&root);
	*ret_file = take_ptr(&file);
	return 0;
}
