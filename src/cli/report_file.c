/* SPDX-License-Identifier: MIT */
/* Write a report where the person said. */
#include "cli/report_file.h"

#include <limits.h>
#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/project.h"
#include "core/replace.h"
#include "platform/terminal.h"

static int fail_system(const struct hf_report_file *file, int rc,
		       struct hf_error *err)
{
	return hf_fail_system(err, rc, "cannot write the %s to '%s'",
			      file->what, HF_QUOTE(file->word));
}

/* The number in "fd:N", "/dev/fd/N", "/dev/stdout"; false for a file. */
static bool parse_descriptor(const char *word, uint64_t *ret_number)
{
	static const char *const starts[] = { "fd:", "/dev/fd/" };

	if (strcmp(word, "/dev/stdout") == 0) {
		*ret_number = HF_STDOUT;
		return true;
	}
	if (strcmp(word, "/dev/stderr") == 0) {
		*ret_number = HF_STDERR;
		return true;
	}
	for (size_t i = 0; i < HF_COUNT(starts); i++) {
		const size_t len = strlen(starts[i]);

		if (strncmp(word, starts[i], len) == 0 &&
		    hf_parse_u64(word + len, strlen(word + len), 10,
				 ret_number) == 0)
			return true;
	}
	return false;
}

static int open_descriptor(struct hf_report_file *file, uint64_t number,
			   struct hf_error *err)
{
	struct hf_stat stat;
	int rc;

	if (number == HF_STDIN || number > INT_MAX)
		return hf_fail(err, HF_ERR_USAGE,
			       "cannot write the %s to '%s': no such "
			       "descriptor",
			       file->what, HF_QUOTE(file->word));
	/* 0, 1 and 2 become others' in the processes that write. */
	file->fd = hf_file_duplicate((int)number);
	if (file->fd < 0)
		return fail_system(file, file->fd, err);
	if (hf_file_stat(file->fd, &stat) < 0)
		stat.kind = HF_KIND_FIFO;
	/* The command's own output must stay before it in 1 and 2. */
	file->way = HF_REPORT_ONCE;
	if (stat.kind != HF_KIND_FILE || number <= HF_STDERR)
		return 0;
	file->way = HF_REPORT_REWRITTEN;
	/* Can it be written at all?  Nothing is lost by asking. */
	rc = hf_file_truncate(file->fd, stat.size);
	if (rc < 0)
		return fail_system(file, rc, err);
	return 0;
}

/* The canonical path of what will be replaced: links are followed. */
static int resolve(struct hf_report_file *file, bool exists, char **ret_path,
		   struct hf_error *err)
{
	cleanup_free char *parent = NULL;
	cleanup_free char *directory = NULL;
	const char *name = hf_path_name(file->word);
	const size_t len = strlen(file->word) - strlen(name);

	if (exists) {
		*ret_path = hf_file_canonical(file->word);
	} else {
		parent = malloc(len + 2);
		if (parent == NULL)
			return hf_fail_memory(err);
		memcpy(parent, len == 0 ? "." : file->word, len == 0 ? 1 : len);
		parent[len == 0 ? 1 : len] = '\0';
		directory = hf_file_canonical(parent);
		*ret_path = directory == NULL ? NULL :
						hf_path_join(directory, name);
	}
	if (*ret_path == NULL)
		return fail_system(file, -errno, err);
	return 0;
}

/* Nothing is lost with an empty file or an earlier report. */
static int check_earlier(const struct hf_report_file *file, const char *path,
			 struct hf_error *err)
{
	const size_t start_len = strlen(file->start);
	cleanup_fd int fd = hf_file_open_read_path(path);
	cleanup_free char *text = malloc(start_len);
	int64_t len;

	if (fd < 0)
		return fail_system(file, fd, err);
	if (text == NULL)
		return hf_fail_memory(err);
	len = hf_file_read(fd, text, start_len);
	if (len < 0)
		return fail_system(file, (int)len, err);
	if (len == 0 || ((size_t)len == start_len &&
			 memcmp(text, file->start, start_len) == 0))
		return 0;
	return hf_fail(err, HF_ERR_USAGE,
		       "cannot write the %s to '%s': it is no earlier "
		       "report, and what is protected is not known",
		       file->what, HF_QUOTE(file->word));
}

static int check_place(const struct hf_report_file *file, const char *path,
		       const struct hf_project *project, struct hf_error *err)
{
	const char *rule;

	if (hf_path_is_beneath(path, project->store_path))
		return hf_fail(err, HF_ERR_USAGE,
			       "cannot write the %s to '%s': it lies in "
			       "the store",
			       file->what, HF_QUOTE(file->word));
	if (hf_path_is_beneath(path, project->root))
		path += strlen(project->root) +
			(strcmp(project->root, "/") == 0 ? 0 : 1);
	rule = hf_patterns_match(project->policy.protect, path, false);
	if (rule == NULL)
		return 0;
	(void)hf_fail(err, HF_ERR_USAGE,
		      "cannot write the %s to '%s': the name is "
		      "protected by '%s'",
		      file->what, HF_QUOTE(file->word), HF_QUOTE(rule));
	return hf_fail_hint(err, "choose a name that no pattern matches, or "
				 "take it out with --exclude");
}

static int open_replaced(struct hf_report_file *file, const char *path,
			 bool exists, uint32_t mode, struct hf_error *err)
{
	cleanup_free char *directory = NULL;
	cleanup_fd int fd = -1;
	struct hf_stat stat = { .mode = mode };
	int rc = 0;

	if (!exists) {
		/* Made as the person's umask says; the report takes the mode
		 * over. */
		fd = hf_file_create_path(path);
		rc = fd < 0 ? fd : hf_file_stat(fd, &stat);
	}
	if (rc >= 0) {
		directory = malloc(hf_path_parent_len(path) + 1);
		file->name = hf_path_join("", hf_path_name(path));
		if (directory == NULL || file->name == NULL)
			return hf_fail_memory(err);
		memcpy(directory, path, hf_path_parent_len(path));
		directory[hf_path_parent_len(path)] = '\0';
		file->fd = hf_file_open_directory(directory);
		rc = file->fd;
	}
	if (rc < 0)
		return fail_system(file, rc, err);
	file->way = HF_REPORT_REPLACED;
	file->mode = stat.mode;
	return 0;
}

/* In the words of the report, not of the file beside it that failed. */
static int fail_replace(const struct hf_report_file *file, struct hf_error *err)
{
	if (err->sys_errno == 0)
		return err->code;
	return fail_system(file, -err->sys_errno, err);
}

/* Can there be another file beside it? */
static int try_replace(const struct hf_report_file *file, struct hf_error *err)
{
	cleanup_replace struct hf_replace replace = HF_REPLACE_INIT;
	const int rc = hf_replace_begin(&replace, file->fd, file->name,
					file->mode, err);

	return rc < 0 ? fail_replace(file, err) : 0;
}

int hf_report_file_inherit(struct hf_report_file *file, const char *word,
			   struct hf_error *err)
{
	uint64_t number;

	file->word = word;
	if (word == NULL)
		return 0;
	if (parse_descriptor(word, &number))
		return open_descriptor(file, number, err);
	if (strncmp(word, "fd:", 3) == 0) {
		(void)hf_fail(err, HF_ERR_USAGE,
			      "cannot write the %s to '%s': not a "
			      "descriptor's number",
			      file->what, HF_QUOTE(word));
		return hf_fail_hint(err, "a file of this name is './%s'",
				    HF_QUOTE(word));
	}
	return 0;
}

int hf_report_file_open(struct hf_report_file *file,
			const struct hf_project *project, struct hf_error *err)
{
	const char *word = file->word;
	cleanup_free char *path = NULL;
	struct hf_stat stat = { .kind = HF_KIND_ABSENT };
	bool exists;
	int rc;

	if (word == NULL || file->way != HF_REPORT_NONE)
		return 0;
	exists = hf_file_stat_path(word, &stat) == 0;
	if (stat.kind == HF_KIND_DIRECTORY || hf_path_name(word)[0] == '\0')
		return hf_fail(err, HF_ERR_USAGE,
			       "cannot write the %s to '%s': it is %s",
			       file->what, HF_QUOTE(word),
			       word[0] == '\0' ? "empty" : "a directory");
	if (exists && stat.kind != HF_KIND_FILE) {
		file->fd = hf_file_create_path(word);
		if (file->fd < 0)
			return fail_system(file, file->fd, err);
		file->way = HF_REPORT_ONCE;
		return 0;
	}
	rc = resolve(file, exists, &path, err);
	if (rc < 0)
		return rc;
	if (project->store_path != NULL)
		rc = check_place(file, path, project, err);
	else if (exists)
		rc = check_earlier(file, path, err);
	if (rc < 0)
		return rc;
	rc = open_replaced(file, path, exists, stat.mode, err);
	return rc < 0 ? rc : try_replace(file, err);
}

/* A device takes both, one after the other. */
static bool is_same_place(const struct hf_report_file *a,
			  const struct hf_report_file *b)
{
	struct hf_stat left;
	struct hf_stat right;

	return (a->way == HF_REPORT_REPLACED) ==
		       (b->way == HF_REPORT_REPLACED) &&
	       hf_file_stat(a->fd, &left) == 0 &&
	       hf_file_stat(b->fd, &right) == 0 && left.dev == right.dev &&
	       left.ino == right.ino &&
	       left.kind != HF_KIND_CHARACTER_DEVICE &&
	       (a->name == NULL || strcmp(a->name, b->name) == 0);
}

int hf_report_file_check_apart(const struct hf_report_file *file,
			       const struct hf_report_file *other,
			       struct hf_error *err)
{
	if (file->way == HF_REPORT_NONE || other->way == HF_REPORT_NONE ||
	    !is_same_place(file, other))
		return 0;
	(void)hf_fail(err, HF_ERR_USAGE,
		      "cannot write the %s to '%s': the %s goes there",
		      file->what, HF_QUOTE(file->word), other->what);
	return hf_fail_hint(err, "give each a file of its own");
}

int hf_report_file_write(const struct hf_report_file *file, const char *text,
			 size_t len, bool is_last, struct hf_error *err)
{
	int rc = 0;

	if (file->way == HF_REPORT_NONE ||
	    (file->way == HF_REPORT_ONCE && !is_last))
		return 0;
	if (file->way == HF_REPORT_REPLACED) {
		rc = hf_replace_write(file->fd, file->name, file->mode, text,
				      len, err);
		return rc < 0 ? fail_replace(file, err) : 0;
	}
	if (file->way == HF_REPORT_REWRITTEN) {
		rc = hf_file_seek(file->fd, 0);
		if (rc >= 0)
			rc = hf_file_truncate(file->fd, 0);
	}
	if (rc >= 0)
		rc = hf_file_write(file->fd, text, len);
	/* Who listened has gone: nobody misses it. */
	if (rc == -EPIPE)
		return 0;
	if (rc < 0)
		return fail_system(file, rc, err);
	return 0;
}

void hf_report_file_done(struct hf_report_file *file)
{
	hf_file_close_quietly(&file->fd);
	hf_free_pointee(&file->name);
	file->way = HF_REPORT_NONE;
}
