/* SPDX-License-Identifier: MIT */
/* Take paths apart and put them together, as bytes. */
#include "base/path.h"

#include <string.h>

static bool is_dot(const char *name, size_t len)
{
	return len == 1 && name[0] == '.';
}

static bool is_dot_dot(const char *name, size_t len)
{
	return len == 2 && name[0] == '.' && name[1] == '.';
}

size_t hf_path_name_len(const char *at)
{
	const size_t len = strcspn(at, "/");

	return len > HF_NAME_MAX || is_dot(at, len) || is_dot_dot(at, len)
		       ? 0
		       : len;
}

bool hf_path_is_plain(const char *path)
{
	const char *name = path;

	if (strnlen(path, HF_PATH_MAX) == HF_PATH_MAX)
		return false;
	if (strcmp(path, ".") == 0)
		return true;
	if (hf_path_is_absolute(path))
		name++;

	for (;;) {
		const size_t len = hf_path_name_len(name);

		if (len == 0)
			return false;
		if (name[len] == '\0')
			return true;
		name += len + 1;
	}
}

bool hf_path_is_absolute(const char *path)
{
	return path[0] == '/';
}

const char *hf_path_name(const char *path)
{
	const char *const slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

size_t hf_path_parent_len(const char *path)
{
	const char *const slash = strrchr(path, '/');

	if (!slash)
		return 0;
	return slash == path ? 1 : (size_t)(slash - path);
}

bool hf_path_is_beneath(const char *path, const char *ancestor)
{
	const size_t len = strlen(ancestor);

	if (strcmp(ancestor, ".") == 0)
		return !hf_path_is_absolute(path) && strcmp(path, ".") != 0;
	if (strcmp(ancestor, "/") == 0)
		return hf_path_is_absolute(path) && path[1] != '\0';
	return len > 0 && strncmp(path, ancestor, len) == 0 &&
	       path[len] == '/' && path[len + 1] != '\0';
}

/* The end first, then the slash, then all other bytes in their order. */
static int rank(char c)
{
	if (c == '\0')
		return 0;
	return c == '/' ? 1 : 1 + (unsigned char)c;
}

int hf_path_compare(const char *a, const char *b)
{
	const bool is_absolute = hf_path_is_absolute(a);

	/* They do not lie in ".", so they must not stand in the middle of it. */
	if (is_absolute != hf_path_is_absolute(b))
		return is_absolute ? 1 : -1;
	/* The root comes before what lies in it, "!x" too. */
	if (strcmp(a, ".") == 0)
		a = "";
	if (strcmp(b, ".") == 0)
		b = "";
	while (*a == *b && *a != '\0') {
		a++;
		b++;
	}
	return rank(*a) - rank(*b);
}

char *hf_path_join(const char *directory, const char *name)
{
	const size_t name_len = strlen(name);
	size_t len = strlen(directory);
	char *path;

	if (strcmp(directory, ".") == 0)
		len = 0;
	path = malloc(len + 1 + name_len + 1);
	if (!path)
		return NULL;
	memcpy(path, directory, len);
	if (len > 0 && directory[len - 1] != '/')
		path[len++] = '/';
	memcpy(path + len, name, name_len + 1);
	return path;
}

/* Forget the last component of path, whose first start bytes stay. */
static int drop_component(const char *path, size_t start, size_t *len)
{
	if (*len == start)
		return -EINVAL;
	while (*len > start && path[*len - 1] != '/')
		(*len)--;
	if (*len > start)
		(*len)--;
	return 0;
}

/* Write the normal form of path to out, which has room for strlen + 2. */
static int normalize_to(char *out, const char *path)
{
	const size_t start = hf_path_is_absolute(path) ? 1 : 0;
	const char *name = path;
	size_t len = start;

	if (start)
		out[0] = '/';
	while (*name != '\0') {
		const size_t name_len = strcspn(name, "/");

		if (is_dot_dot(name, name_len)) {
			const int rc = drop_component(out, start, &len);
			if (rc < 0)
				return rc;
		} else if (name_len > 0 && !is_dot(name, name_len)) {
			if (name_len > HF_NAME_MAX)
				return -ENAMETOOLONG;
			if (len > start)
				out[len++] = '/';
			memcpy(out + len, name, name_len);
			len += name_len;
		}
		name += name_len;
		name += strspn(name, "/");
	}
	if (len == 0)
		out[len++] = '.';
	out[len] = '\0';
	return len < HF_PATH_MAX ? 0 : -ENAMETOOLONG;
}

char *hf_path_normalize(const char *path)
{
	cleanup_free char *out = malloc(strlen(path) + 2);
	int rc;

	if (!out)
		return NULL;
	rc = normalize_to(out, path);
	if (rc < 0) {
		errno = -rc;
		return NULL;
	}
	return take_ptr(&out);
}
