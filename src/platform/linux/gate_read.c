/* SPDX-License-Identifier: MIT */
/* The memory of a caller that waits at the gate. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "platform/linux/gate_internal.h"

/* Pages are at least so big on every system we run on. */
#define PAGE	   4096u
/* Most paths are shorter; the first read asks for no more. */
#define FIRST_READ 256u

uint64_t gate_argument(const struct hf_gate_question *question, unsigned number)
{
	const uint64_t value = question->notice.data.args[number - 1];

	return question->is_compat ? (uint32_t)value : value;
}

/* Whatever the page's rights say (proc(5), /proc/PID/mem). */
static ssize_t read_forced(const struct hf_gate_question *question,
			   uint64_t address, void *data, size_t len)
{
	char path[GATE_LEAD_MAX];
	cleanup_fd int fd = -1;
	ssize_t got;

	(void)snprintf(path, sizeof(path), "%u/mem", question->notice.pid);
	fd = openat(question->gate->proc_fd, path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : pread(fd, data, len, (off_t)address);
	return got > 0 ? got : -EFAULT;
}

/* As much as there is, up to len: a read stops where the memory does. */
static ssize_t read_some(const struct hf_gate_question *question,
			 uint64_t address, void *data, size_t len)
{
	const size_t in_page = PAGE - (size_t)(address % PAGE);
	const size_t first = len < in_page ? len : in_page;
	const struct iovec here = {.iov_base = data, .iov_len = len};
	const struct iovec there[2] = {
		{.iov_base = (void *)(uintptr_t)address, .iov_len = first},
		{.iov_base = (void *)(uintptr_t)(address + first),
		 .iov_len = len - first},
	};
	const ssize_t got = process_vm_readv((pid_t)question->notice.pid, &here,
					     1, there, first < len ? 2 : 1, 0);

	if (got >= 0)
		return got;
	/* A page that may be written and not read: the kernel reads it. */
	return errno == EFAULT ? read_forced(question, address, data, first) :
				 -errno;
}

int gate_read(const struct hf_gate_question *question, uint64_t address,
	      void *data, size_t len)
{
	size_t done = 0;

	while (done < len) {
		const ssize_t got =
			read_some(question, address + done, (char *)data + done,
				  len - done < PAGE ? len - done : PAGE);

		if (got <= 0)
			return got < 0 && got != -ESRCH ? (int)got : -EFAULT;
		done += (size_t)got;
	}
	return 0;
}

int gate_read_text(const struct hf_gate_question *question, uint64_t address,
		   char *text, size_t size)
{
	size_t len = 0;

	while (len < size) {
		const size_t want = len == 0 ? FIRST_READ : PAGE;
		const ssize_t got =
			read_some(question, address + len, text + len,
				  want < size - len ? want : size - len);
		const char *end;

		if (got <= 0)
			return got < 0 && got != -ESRCH ? (int)got : -EFAULT;
		end = memchr(text + len, '\0', (size_t)got);
		if (end)
			return (int)(end - text);
		len += (size_t)got;
	}
	return -ENAMETOOLONG;
}
