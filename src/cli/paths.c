/* SPDX-License-Identifier: MIT */
/* Make a typed path relative to the root. */
#include "cli/paths.h"

#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "platform/file.h"
#include "platform/system.h"

static int fail_path(const char *typed, struct hf_error *err)
{
	if (errno == ENOMEM)
		return hf_fail_memory(err);
	return hf_fail(err, HF_ERR_USAGE, "cannot use the path '%s': %s",
		       HF_QUOTE(typed),
		       typed[0] == '\0'	     ? "it is empty" :
		       errno == ENAMETOOLONG ? "it is too long" :
					       "it leads out of everything");
}

static bool is_at_or_beneath(const char *path, const char *root)
{
	return strcmp(path, root) == 0 || hf_path_is_beneath(path, root);
}

int hf_paths_resolve_from(const char *root, const char *directory,
			  const char *typed, char **ret_path,
			  struct hf_error *err)
{
	cleanup_free char *joined = NULL;
	cleanup_free char *path = NULL;
	const char *base = is_at_or_beneath(directory, root) ? directory : root;
	const char *beneath;

	if (typed[0] == '\0') {
		errno = EINVAL;
		return fail_path(typed, err);
	}
	if (hf_path_is_absolute(typed))
		path = hf_path_normalize(typed);
	else {
		joined = hf_path_join(base, typed);
		path = joined == NULL ? NULL : hf_path_normalize(joined);
	}
	if (path == NULL)
		return fail_path(typed, err);
	if (strcmp(path, root) == 0)
		beneath = ".";
	else if (hf_path_is_beneath(path, root))
		beneath =
			path + strlen(root) + (strcmp(root, "/") == 0 ? 0 : 1);
	else
		beneath = path;
	*ret_path = hf_path_join("", beneath);
	return *ret_path == NULL ? hf_fail_memory(err) : 0;
}

/* An absolute path may lead to the root through a link above it. */
static char *canonical_parent(const char *typed)
{
	cleanup_free char *path = hf_path_normalize(typed);
	cleanup_free char *canonical = NULL;

	if (path == NULL || strcmp(path, "/") == 0)
		return NULL;
	path[hf_path_parent_len(path)] = '\0';
	canonical = hf_file_canonical(path);
	return canonical == NULL ? NULL :
				   hf_path_join(canonical, hf_path_name(typed));
}

int hf_paths_resolve(const char *root, const char *typed, char **ret_path,
		     struct hf_error *err)
{
	cleanup_free char *directory = NULL;
	cleanup_free char *canonical = NULL;
	cleanup_free char *through = NULL;
	int rc;

	if (hf_path_is_absolute(typed) && hf_path_name(typed)[0] != '\0')
		through = canonical_parent(typed);
	if (through != NULL && is_at_or_beneath(through, root))
		typed = through;
	rc = hf_system_working_directory(&directory);
	if (rc < 0)
		return hf_fail_system(err, rc,
				      "cannot find the working "
				      "directory");
	canonical = hf_file_canonical(directory);
	if (canonical == NULL)
		return hf_fail_system(err, -errno,
				      "cannot find the working "
				      "directory");
	return hf_paths_resolve_from(root, canonical, typed, ret_path, err);
}
