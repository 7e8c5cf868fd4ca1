/* SPDX-License-Identifier: MIT */
/* Read /proc/N/stat and the thread group in /proc/N/status. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "platform/file.h"
#include "platform/linux/task_internal.h"

#define STAT_MAX   1024
#define STATUS_MAX 1024

/* proc_pid_stat(5) numbers its fields from 1; behind COMM stands the third. */
enum {
	FIELD_FIRST = 3,
	FIELD_PARENT = 4,
	FIELD_START = 22,
	FIELD_SIZE = 23,
	FIELD_CODE_BEGIN = 26,
	FIELD_CODE_END = 27,
	FIELD_STACK = 28,
	FIELD_DATA_BEGIN = 45,
	FIELD_ENVIRON_END = 51
};

static int read_text(int proc_fd, int64_t number, const char *name, char *text,
		     size_t size)
{
	char path[64];
	cleanup_fd int fd = -1;
	ssize_t len;

	(void)snprintf(path, sizeof(path), "%" PRId64 "/%s", number, name);
	fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	do
		len = read(fd, text, size - 1);
	while (len < 0 && errno == EINTR);
	if (len <= 0)
		return len < 0 ? -errno : -ESRCH;
	text[len] = '\0';
	return 0;
}

static void take_field(struct hf_task_stat *stat, unsigned field,
		       uint64_t value)
{
	if (field == FIELD_PARENT)
		stat->parent = (int64_t)value;
	else if (field == FIELD_START)
		stat->start = value;
	else if (field == FIELD_SIZE)
		stat->size = value;
	else if (field >= FIELD_CODE_BEGIN && field <= FIELD_STACK)
		stat->image[field - FIELD_CODE_BEGIN] = value;
	else if (field >= FIELD_DATA_BEGIN && field <= FIELD_ENVIRON_END)
		stat->image[field - FIELD_DATA_BEGIN + 3] = value;
}

/* Some fields are letters or negative: those are none of ours. */
static void take_fields(struct hf_task_stat *stat, const char *text)
{
	for (unsigned field = FIELD_FIRST; *text; field++) {
		const size_t len = strcspn(text, " \n");
		uint64_t value;

		if (hf_parse_u64(text, len, 10, &value) == 0)
			take_field(stat, field, value);
		text += len;
		text += *text != '\0';
	}
}

/* COMM may hold anything; the last closing parenthesis ends it. */
int hf_task_stat_read(int proc_fd, int64_t number,
		      struct hf_task_stat *ret_stat)
{
	struct hf_task_stat stat = {.parent = 0};
	char text[STAT_MAX];
	const char *begin;
	const char *end;
	size_t len;
	const int rc = read_text(proc_fd, number, "stat", text, sizeof(text));

	if (rc < 0)
		return rc;
	begin = strchr(text, '(');
	end = strrchr(text, ')');
	if (!begin || !end || end < begin || end[1] != ' ')
		return -EPROTO;
	len = (size_t)(end - begin - 1);
	if (len >= sizeof(stat.comm))
		len = sizeof(stat.comm) - 1;
	memcpy(stat.comm, begin + 1, len);
	take_fields(&stat, end + 2);
	*ret_stat = stat;
	return 0;
}

int hf_task_group(int proc_fd, int64_t tid, int64_t *ret_pid)
{
	static const char label[] = "\nTgid:\t";
	char text[STATUS_MAX];
	const char *at;
	uint64_t pid;
	const int rc = read_text(proc_fd, tid, "status", text, sizeof(text));

	if (rc < 0)
		return rc;
	/* The name stands before it, but a line end in it is escaped. */
	at = strstr(text, label);
	if (!at)
		return -EPROTO;
	at += sizeof(label) - 1;
	if (hf_parse_u64(at, strcspn(at, "\n"), 10, &pid) < 0)
		return -EPROTO;
	*ret_pid = (int64_t)pid;
	return 0;
}
