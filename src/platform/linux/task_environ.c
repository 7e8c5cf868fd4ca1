/* SPDX-License-Identifier: MIT */
/*
 * Read an environment: from the memory of a process, or as its program was
 * started with.
 *
 * Only one thread of the process is held; another may change the environment
 * while we read.  What we read is then a mixture: a pointer that leads nowhere
 * says so, and the caller tries again.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/buffer.h"
#include "platform/file.h"
#include "platform/linux/task_internal.h"

#define PAGE 4096u

/* Variables, and reads of memory, that one look is worth: a hostile array could
 * lead to a different page with every pointer. */
#define VARIABLES_MAX 65536u
#define READS_MAX     4096u

/* Longer than any "NAME=" that is asked for. */
#define PREFIX_MAX 128u

/* The kernel allows 6 MiB of arguments and environment. */
#define INITIAL_MAX ((size_t)8 * 1024 * 1024)

/* A piece of the other's memory. */
struct window {
	uint64_t begin;
	size_t len;
	char data[PAGE];
};

struct reader {
	pid_t pid;
	unsigned reads;
	struct window pointers;
	struct window strings;
};

/* -- memory --------------------------------------------------------------- */

/*
 * As much as there is from address on, at most a page.  In two pieces, since
 * the second page may be none: the first is read all the same.
 */
static int fill(struct reader *reader, struct window *window, uint64_t address)
{
	const size_t first = PAGE - (size_t)(address % PAGE);
	const struct iovec local = {window->data, sizeof(window->data)};
	const struct iovec remote[2] = {
		{(void *)(uintptr_t)address, first},
		{(void *)(uintptr_t)(address + first), PAGE - first},
	};
	ssize_t len;

	window->len = 0;
	if (reader->reads++ >= READS_MAX)
		return -E2BIG;
	len = process_vm_readv(reader->pid, &local, 1, remote,
			       first < PAGE ? 2 : 1, 0);
	if (len < 0)
		return errno == EFAULT ? -EINVAL : -errno;
	window->begin = address;
	window->len = (size_t)len;
	return 0;
}

/* What is at address, at least so many bytes if there are; how many in all. */
static int64_t look(struct reader *reader, struct window *window,
		    uint64_t address, size_t least, const char **ret_data)
{
	uint64_t offset = address - window->begin;

	if (address < window->begin || offset >= window->len ||
	    window->len - offset < least) {
		const int rc = fill(reader, window, address);

		if (rc < 0)
			return rc;
		offset = 0;
	}
	*ret_data = window->data + offset;
	return (int64_t)(window->len - offset);
}

static int read_pointer(struct reader *reader, uint64_t address, size_t size,
			uint64_t *ret_value)
{
	const char *data = NULL;
	const int64_t len =
		look(reader, &reader->pointers, address, size, &data);
	uint32_t small;

	if (len < 0)
		return (int)len;
	if ((size_t)len < size)
		return -EINVAL;
	if (size == sizeof(small)) {
		memcpy(&small, data, sizeof(small));
		*ret_value = small;
	} else {
		memcpy(ret_value, data, sizeof(*ret_value));
	}
	return 0;
}

/* -- variables ------------------------------------------------------------ */

/* Which of the names is it, and where does its value begin? */
static bool find_name(const struct hf_environ_values *values, const char *text,
		      size_t len, size_t *ret_index, size_t *ret_skip)
{
	for (size_t i = 0; i < values->count; i++) {
		size_t name_len;

		/* Most differ at once: thousands of variables are asked. */
		if (len == 0 || *text != *values->names[i])
			continue;
		name_len = strlen(values->names[i]);
		if (!values->is_set[i] && len > name_len &&
		    text[name_len] == '=' &&
		    memcmp(text, values->names[i], name_len) == 0) {
			*ret_index = i;
			*ret_skip = name_len + 1;
			return true;
		}
	}
	return false;
}

static void set_value(struct hf_environ_values *values, size_t index,
		      const char *text, size_t len)
{
	len = strnlen(text,
		      len < HF_TASK_VALUE_MAX ? len : HF_TASK_VALUE_MAX - 1);
	memcpy(values->text[index], text, len);
	values->text[index][len] = '\0';
	values->is_set[index] = true;
	values->found++;
}

static int read_string(struct reader *reader, uint64_t address,
		       struct hf_environ_values *values)
{
	const char *text = NULL;
	size_t index;
	size_t skip;
	int64_t len = look(reader, &reader->strings, address, 1, &text);

	if (len > 0 && len < PREFIX_MAX && !memchr(text, '\0', (size_t)len))
		len = look(reader, &reader->strings, address, PREFIX_MAX,
			   &text);
	if (len <= 0)
		return len < 0 ? (int)len : -EINVAL;
	if (!find_name(values, text, (size_t)len, &index, &skip))
		return 0;
	text += skip;
	len -= (int64_t)skip;
	if (!memchr(text, '\0', (size_t)len))
		len = look(reader, &reader->strings, address + skip,
			   HF_TASK_VALUE_MAX, &text);
	if (len < 0)
		return (int)len;
	set_value(values, index, text, (size_t)len);
	return 0;
}

/*
 * A process without any variable may have no array at all.  The array is read
 * to its end even when all that was asked for is found: that is what tells an
 * environment from any other memory.
 */
int hf_environ_read(int64_t pid, const struct hf_environ_place *place,
		    struct hf_environ_values *values)
{
	struct reader reader = {.pid = (pid_t)pid};
	const size_t size = place->pointer_size;
	uint64_t array = 0;
	int rc = read_pointer(&reader, place->address, size, &array);

	values->found = 0;
	memset(values->is_set, 0, sizeof(values->is_set));
	if (rc < 0 || array == 0)
		return rc;
	for (size_t i = 0; i < VARIABLES_MAX; i++) {
		uint64_t string = 0;

		rc = read_pointer(&reader, array + i * size, size, &string);
		if (rc < 0 || string == 0)
			return rc;
		rc = read_string(&reader, string, values);
		if (rc < 0)
			return rc;
	}
	return -E2BIG;
}

int hf_environ_read_initial(int proc_fd, int64_t pid,
			    struct hf_environ_values *values)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	cleanup_fd int fd = -1;
	char name[64];
	int rc;

	values->found = 0;
	memset(values->is_set, 0, sizeof(values->is_set));
	(void)snprintf(name, sizeof(name), "%" PRId64 "/environ", pid);
	fd = openat(proc_fd, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	rc = hf_file_read_all(fd, INITIAL_MAX, &text);
	if (rc < 0)
		return rc;
	for (size_t at = 0; at < text.len;) {
		const size_t len = strlen(text.data + at);
		size_t index;
		size_t skip;

		if (find_name(values, text.data + at, len, &index, &skip))
			set_value(values, index, text.data + at + skip,
				  len - skip);
		at += len + 1;
	}
	return 0;
}
