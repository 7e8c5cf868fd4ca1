/* SPDX-License-Identifier: MIT */
/*
 * Extended attributes as text, and back.
 *
 * Most files have none, and scanning looks at every file: one system call says
 * so (flistxattr, listxattrat) and nothing else happens.  Only what has some is
 * reached a second time, through /proc, since no older kernel has calls that
 * take a directory and a name.
 */
#include "platform/file.h"

#include <fcntl.h>
#include <linux/limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/encode.h"
#include "base/path.h"
#include "platform/linux/file_internal.h"
#include "platform/system.h"

/* Linux 6.13; the number is the same everywhere. */
#ifndef SYS_listxattrat
#define SYS_listxattrat 465
#endif

/* Enough for the names of nearly every file that has some. */
#define NAMES_USUAL 512

/* What is looked at: a path that is not followed in its last component or, when
 * that is NULL, an open file. */
struct target {
	int fd;
	const char *path;
};

static ssize_t list_names(const struct target *target, char *names, size_t size)
{
	if (!target->path)
		return HF_CALL(flistxattr(target->fd, names, size));
	return HF_CALL(llistxattr(target->path, names, size));
}

static ssize_t get_value(const struct target *target, const char *name,
			 void *value, size_t size)
{
	if (!target->path)
		return HF_CALL(fgetxattr(target->fd, name, value, size));
	return HF_CALL(lgetxattr(target->path, name, value, size));
}

static int set_value(const struct target *target, const char *name,
		     const void *value, size_t size)
{
	if (!target->path)
		return HF_CALL(fsetxattr(target->fd, name, value, size, 0));
	return HF_CALL(lsetxattr(target->path, name, value, size, 0));
}

static int remove_value(const struct target *target, const char *name)
{
	if (!target->path)
		return HF_CALL(fremovexattr(target->fd, name));
	return HF_CALL(lremovexattr(target->path, name));
}

/* -- names --------------------------------------------------------------- */

static bool starts_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* See hf_file_get_xattrs_at(): can and may this be put back? */
static bool is_recorded(const char *name)
{
	if (starts_with(name, "user.") ||
	    strcmp(name, "system.posix_acl_access") == 0 ||
	    strcmp(name, "system.posix_acl_default") == 0)
		return true;
	/* Signatures of the kernel: wrong as soon as anything changes. */
	if (strcmp(name, "security.ima") == 0 ||
	    strcmp(name, "security.evm") == 0)
		return false;
	return (starts_with(name, "security.") ||
		starts_with(name, "trusted.")) &&
	       hf_system_is_root();
}

/* Does any of the names, each with its NUL, concern us? */
static bool any_is_recorded(const char *names, size_t len)
{
	for (const char *name = names; name < names + len;
	     name += strlen(name) + 1) {
		if (is_recorded(name))
			return true;
	}
	return false;
}

/*
 * A name may hold any byte but NUL: "=", newline, and what is no UTF-8 and
 * could not be kept in JSON.  Those become %XX.
 */
static bool is_plain_byte(char c)
{
	return c > ' ' && c < 0x7f && c != '%' && c != '=';
}

static void add_name(struct hf_buffer *text, const char *name)
{
	for (; *name != '\0'; name++) {
		if (is_plain_byte(*name))
			hf_buffer_add(text, name, 1);
		else
			hf_buffer_printf(text, "%%%02x", (unsigned char)*name);
	}
}

static int decode_name(char name[XATTR_NAME_MAX + 1], const char *text,
		       size_t len)
{
	size_t name_len = 0;

	for (size_t i = 0; i < len; i++) {
		uint8_t byte = (uint8_t)text[i];

		if (text[i] == '%') {
			if (len - i < 3 ||
			    hf_hex_decode(&byte, text + i + 1, 1) < 0)
				return -EINVAL;
			i += 2;
		} else if (!is_plain_byte(text[i])) {
			return -EINVAL;
		}
		if (byte == 0 || name_len == XATTR_NAME_MAX)
			return -EINVAL;
		name[name_len++] = (char)byte;
	}
	name[name_len] = '\0';
	return name_len > 0 ? 0 : -EINVAL;
}

/* -- reading ------------------------------------------------------------- */

/* Append one attribute; nothing where it is gone or not ours to read. */
static int add_line(const struct target *target, const char *name, char *value,
		    struct hf_buffer *text)
{
	const ssize_t len = get_value(target, name, value, XATTR_SIZE_MAX);

	if (len == -ENODATA || len == -EACCES || len == -EPERM ||
	    len == -EOPNOTSUPP)
		return 0;
	if (len < 0)
		return (int)len;
	add_name(text, name);
	hf_buffer_add(text, "=", 1);
	hf_base64_encode(text, value, (size_t)len);
	hf_buffer_add(text, "\n", 1);
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Append those of names that are recorded, in the order of their bytes. */
static int add_lines(const struct target *target, const char *names,
		     size_t names_len, struct hf_buffer *text)
{
	/* No name is shorter than "user." with its NUL. */
	cleanup_free const char **sorted =
		calloc(names_len / 6 + 1, sizeof(*sorted));
	cleanup_free char *value = malloc(XATTR_SIZE_MAX);
	size_t count = 0;

	if (!sorted || !value)
		return -ENOMEM;
	for (const char *name = names; name < names + names_len;
	     name += strlen(name) + 1) {
		if (is_recorded(name))
			sorted[count++] = name;
	}
	qsort(sorted, count, sizeof(*sorted), compare_names);

	for (size_t i = 0; i < count; i++) {
		const int rc = add_line(target, sorted[i], value, text);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int get_xattrs(const struct target *target, struct hf_buffer *text)
{
	cleanup_free char *names = malloc(XATTR_LIST_MAX);
	const size_t start = text->len;
	ssize_t len;
	int rc;

	if (!names)
		return -ENOMEM;
	len = list_names(target, names, XATTR_LIST_MAX);
	if (len == 0 || len == -EOPNOTSUPP)
		return 0;
	if (len < 0)
		return (int)len;
	rc = add_lines(target, names, (size_t)len, text);
	if (rc == 0 && text->is_failed)
		rc = -ENOMEM;
	if (rc < 0 && text->data) {
		text->len = start;
		text->data[start] = '\0';
	}
	return rc;
}

/* What a first list of names says: 0 nothing of ours, 1 look closer. */
static int judge_list(ssize_t len, const char *names)
{
	if (len == -ERANGE)
		return 1;
	if (len == -EOPNOTSUPP)
		return 0;
	if (len < 0)
		return (int)len;
	return any_is_recorded(names, (size_t)len) ? 1 : 0;
}

/* The path of name by way of /proc; false when it is too long. */
static bool format_path(char path[HF_PATH_MAX], int dir_fd, const char *name)
{
	const int len = snprintf(path, HF_PATH_MAX, "/proc/self/fd/%d/%s",
				 dir_fd, name);

	return len > 0 && len < HF_PATH_MAX;
}

/* judge_list() of a name on kernels before 6.13. */
static int judge_name_by_proc(int dir_fd, const char *name)
{
	char names[NAMES_USUAL];
	char path[HF_PATH_MAX];
	ssize_t len;

	if (!format_path(path, dir_fd, name))
		return 1;
	len = HF_CALL(llistxattr(path, names, sizeof(names)));
	/* The name is missing, or /proc: open_target() tells. */
	return len == -ENOENT ? 1 : judge_list(len, names);
}

static int judge_name(int dir_fd, const char *name)
{
	char names[NAMES_USUAL];
	const ssize_t len =
		HF_CALL(syscall(SYS_listxattrat, dir_fd, name,
				AT_SYMLINK_NOFOLLOW, names, sizeof(names)));

	/* Filters of containers answer -EPERM to what they do not know. */
	if (len == -ENOSYS || len == -EPERM)
		return judge_name_by_proc(dir_fd, name);
	return judge_list(len, names);
}

/* Reach a name by its path or, where there is no /proc, by opening it. */
static int open_target(struct target *target, char path[HF_PATH_MAX],
		       int dir_fd, const char *name)
{
	struct stat st;
	int fd;

	*target = (struct target){.fd = -1, .path = path};
	if (format_path(path, dir_fd, name) && lstat(path, &st) == 0)
		return 0;
	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return -EOPNOTSUPP;
	fd = hf_file_open_read_at(dir_fd, name);
	if (fd < 0)
		return fd;
	*target = (struct target){.fd = fd};
	return 0;
}

int hf_file_get_xattrs_at(int dir_fd, const char *name,
			  struct hf_buffer *ret_text)
{
	char path[HF_PATH_MAX];
	struct target target;
	int rc = judge_name(dir_fd, name);

	hf_buffer_add(ret_text, "", 0);
	if (rc <= 0)
		return rc;
	rc = open_target(&target, path, dir_fd, name);
	if (rc < 0)
		return rc;
	rc = get_xattrs(&target, ret_text);
	hf_file_close_quietly(&target.fd);
	return rc;
}

int hf_file_get_xattrs(int fd, struct hf_buffer *ret_text)
{
	const struct target target = {.fd = fd};
	char names[NAMES_USUAL];
	const int rc =
		judge_list(list_names(&target, names, sizeof(names)), names);

	hf_buffer_add(ret_text, "", 0);
	if (rc <= 0)
		return rc;
	return get_xattrs(&target, ret_text);
}

/* -- writing ------------------------------------------------------------- */

/* One line of the text, and where its parts are. */
struct line {
	const char *text;
	size_t name_len; /* up to "=" */
	size_t len;	 /* with the newline */
};

/* 1 with the line that text begins with, 0 at the end, or -EINVAL. */
static int parse_line(const char *text, struct line *ret_line)
{
	const char *const end = strchr(text, '\n');
	const char *const equals = strchr(text, '=');

	if (*text == '\0')
		return 0;
	if (!end || !equals || equals > end)
		return -EINVAL;
	*ret_line = (struct line){
		.text = text,
		.name_len = (size_t)(equals - text),
		.len = (size_t)(end - text) + 1,
	};
	return 1;
}

/* Does text have a line that begins with the first len bytes of this one? */
static bool has_line(const char *text, const struct line *wanted, size_t len)
{
	struct line line;

	for (; parse_line(text, &line) > 0; text += line.len) {
		if (line.len >= len &&
		    memcmp(line.text, wanted->text, len) == 0)
			return true;
	}
	return false;
}

static int remove_line(const struct target *target, const struct line *line)
{
	char name[XATTR_NAME_MAX + 1];
	int rc = decode_name(name, line->text, line->name_len);

	if (rc < 0)
		return rc;
	rc = remove_value(target, name);
	return rc == -ENODATA ? 0 : rc;
}

static int set_line(const struct target *target, const struct line *line)
{
	cleanup_buffer struct hf_buffer value = HF_BUFFER_INIT;
	char name[XATTR_NAME_MAX + 1];
	int rc = decode_name(name, line->text, line->name_len);

	if (rc < 0)
		return rc;
	/* Nor is anything put back that would not have been recorded. */
	if (!is_recorded(name))
		return -EPERM;
	rc = hf_base64_decode(&value, line->text + line->name_len + 1,
			      line->len - line->name_len - 2);
	if (rc < 0)
		return rc;
	return set_value(target, name, value.data, value.len);
}

/* For each line of text that other lacks, in its name or as a whole. */
static int for_missing(const struct target *target, const char *text,
		       const char *other, bool by_name,
		       int (*function)(const struct target *,
				       const struct line *))
{
	struct line line;
	int first = 0;

	for (; parse_line(text, &line) > 0; text += line.len) {
		const size_t len = by_name ? line.name_len + 1 : line.len;
		int rc;

		if (has_line(other, &line, len))
			continue;
		rc = function(target, &line);
		if (rc < 0 && first == 0)
			first = rc;
	}
	return first;
}

static bool is_well_formed(const char *text)
{
	struct line line;
	int rc = parse_line(text, &line);

	for (; rc > 0; rc = parse_line(text, &line))
		text += line.len;
	return rc == 0;
}

static int set_xattrs(const struct target *target, const char *text)
{
	cleanup_buffer struct hf_buffer current = HF_BUFFER_INIT;
	int removed;
	int rc;

	if (!is_well_formed(text))
		return -EINVAL;
	hf_buffer_add(&current, "", 0);
	if (current.is_failed)
		return -ENOMEM;
	rc = get_xattrs(target, &current);
	if (rc < 0 || strcmp(current.data, text) == 0)
		return rc;

	removed = for_missing(target, current.data, text, true, remove_line);
	rc = for_missing(target, text, current.data, false, set_line);
	return removed < 0 ? removed : rc;
}

int hf_file_set_xattrs(int fd, const char *text)
{
	const struct target target = {.fd = fd};

	return set_xattrs(&target, text);
}

int hf_file_set_xattrs_at(int dir_fd, const char *name, const char *text)
{
	char path[HF_PATH_MAX];
	struct target target;
	int rc = open_target(&target, path, dir_fd, name);

	if (rc < 0)
		return rc;
	rc = set_xattrs(&target, text);
	hf_file_close_quietly(&target.fd);
	return rc;
}
