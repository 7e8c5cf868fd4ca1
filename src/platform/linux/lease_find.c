/* SPDX-License-Identifier: MIT */
/*
 * Who waits for a lease.
 *
 * The signal of a broken lease names no process, but /proc/locks does: behind
 * the lease stand those that wait, each with its process (an io_uring worker
 * with the process it works for).  Its reader waits until nobody is between the
 * signal and the sleep (file_rwsem in the kernel), so whoever has caused the
 * signal stands there; this takes some milliseconds.  A waiter's thread is then
 * the one that sleeps in __break_lease.
 *
 * Where /proc shows processes alone (subset=pid) all threads are looked at, and
 * which file one waits for is not known.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/text.h"
#include "platform/file.h"
#include "platform/linux/file_internal.h"
#include "platform/linux/lease_internal.h"

#define READ_SIZE   ((size_t)16 * 1024)
/* Of all locks of the machine; what lies beyond is not looked at. */
#define LISTING_MAX ((size_t)32 * 1024 * 1024)

void hf_lease_waiters_done(struct hf_lease_waiters *waiters)
{
	hf_free_pointee(&waiters->items);
	*waiters = (struct hf_lease_waiters)HF_LEASE_WAITERS_INIT;
}

static int add(struct hf_lease_waiters *waiters,
	       const struct hf_lease_waiter *waiter)
{
	if (waiters->count == HF_LEASE_WAITERS_MAX)
		return 0;
	if (waiters->count == waiters->capacity) {
		const size_t capacity =
			waiters->capacity ? 2 * waiters->capacity : 16;
		struct hf_lease_waiter *const items =
			reallocarray(waiters->items, capacity, sizeof(*items));

		if (!items)
			return -ENOMEM;
		waiters->items = items;
		waiters->capacity = capacity;
	}
	waiters->items[waiters->count++] = *waiter;
	return 0;
}

/* -- /proc/locks --------------------------------------------------------- */

static int add_holder(struct hf_lease_lines *lines,
		      const struct hf_lease_waiter *holder,
		      struct hf_lease_waiters *waiters)
{
	const size_t place = waiters->count;
	const int rc = add(waiters, holder);

	if (rc == 0 && waiters->count > place)
		lines->holder = place;
	return rc;
}

static int add_waiter(const struct hf_lease_lines *lines, int64_t pid,
		      struct hf_lease_waiters *waiters)
{
	struct hf_lease_waiter waiter = waiters->items[lines->holder];

	/* The list is read in pieces, and what moves in between comes twice. */
	for (size_t i = 0; i < lines->holder; i++)
		if (waiters->items[i].count > 0 &&
		    waiters->items[i].pid == pid &&
		    hf_lease_is_same_file(&waiters->items[i].file,
					  &waiter.file))
			return 0;
	for (size_t i = lines->holder + 1; i < waiters->count; i++)
		if (waiters->items[i].pid == pid) {
			waiters->items[i].count++;
			return 0;
		}
	waiter.pid = pid;
	waiter.count = 1;
	return add(waiters, &waiter);
}

/*
 *	7: LEASE  BREAKING  UNLCK 2758 fe:00:11304976 0 EOF
 *	7: -> LEASE  BREAKER   WRITE 2759 <none>:0 0 EOF
 *
 * Those that wait are a tree, which indents them; all follow their lease.
 */
int hf_lease_parse_line(struct hf_lease_lines *lines, const char *line,
			struct hf_lease_waiters *waiters)
{
	const char *at = strchr(line, ':');
	struct hf_lease_waiter holder = {.has_file = true};
	bool is_waiter;
	char kind[16];
	char state[16];
	unsigned major;
	unsigned minor;
	int64_t pid;
	int fields;

	if (!at)
		return 0;
	at += 1 + strspn(at + 1, " ");
	is_waiter = strncmp(at, "->", 2) == 0;
	if (is_waiter)
		at += 2;
	fields = sscanf(at, " %15s %15s %*s %" SCNd64 " %x:%x:%" SCNu64, kind,
			state, &pid, &major, &minor, &holder.file.ino);
	if (is_waiter) {
		if (lines->holder == HF_LEASE_NO_INDEX || fields < 3)
			return 0;
		return add_waiter(lines, pid, waiters);
	}
	lines->holder = HF_LEASE_NO_INDEX;
	if (fields < 6 || strcmp(kind, "LEASE") != 0 ||
	    strcmp(state, "BREAKING") != 0)
		return 0;
	holder.file.dev = makedev(major, minor);
	holder.is_ours = pid == lines->self;
	return add_holder(lines, &holder, waiters);
}

/* All whole lines of data; how many bytes they have. */
static int64_t parse_lines(struct hf_lease_lines *lines, char *data, size_t len,
			   struct hf_lease_waiters *waiters)
{
	char *at = data;
	char *end;

	while ((end = memchr(at, '\n', len - (size_t)(at - data))) != NULL) {
		int rc;

		*end = '\0';
		rc = hf_lease_parse_line(lines, at, waiters);
		if (rc < 0)
			return rc;
		at = end + 1;
	}
	return at - data;
}

/* Our own number as this /proc has it. */
static int64_t self_of(int proc_fd)
{
	char text[32];
	const ssize_t len = readlinkat(proc_fd, "self", text, sizeof(text));
	uint64_t self;

	if (len <= 0 || hf_parse_u64(text, (size_t)len, 10, &self) < 0)
		return -1;
	return (int64_t)self;
}

int hf_lease_find(int proc_fd, struct hf_lease_waiters *waiters)
{
	struct hf_lease_lines lines = {.self = self_of(proc_fd),
				       .holder = HF_LEASE_NO_INDEX};
	cleanup_fd int fd =
		HF_CALL(openat(proc_fd, "locks", O_RDONLY | O_CLOEXEC));
	char data[READ_SIZE];
	size_t len = 0;

	if (fd < 0)
		return fd;
	for (size_t total = 0; total < LISTING_MAX;) {
		const ssize_t count =
			HF_CALL(read(fd, data + len, sizeof(data) - len));
		int64_t used;

		if (count <= 0)
			return (int)count;
		total += (size_t)count;
		len += (size_t)count;
		used = parse_lines(&lines, data, len, waiters);
		if (used < 0)
			return (int)used;
		/* A line is no longer than a hundred bytes. */
		if (used == 0 && len == sizeof(data))
			return -EIO;
		len -= (size_t)used;
		memmove(data, data + used, len);
	}
	return 0;
}

/* -- threads ------------------------------------------------------------- */

/* proc_pid_wchan(5): the kernel's function that a thread sleeps in, or "0". */
static enum hf_lease_thread look_at(int dir_fd, const char *name)
{
	cleanup_fd int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
	char text[64];
	const char *function = text;
	ssize_t len;

	if (fd < 0)
		return HF_LEASE_THREAD_ELSEWHERE;
	len = HF_CALL(read(fd, text, sizeof(text) - 1));
	if (len <= 0)
		return HF_LEASE_THREAD_ELSEWHERE;
	text[len] = '\0';
	if (strcmp(text, "0") == 0)
		return HF_LEASE_THREAD_UNKNOWN;
	/* What a compiler makes of a function keeps the beginning of its name.
	 */
	function += strspn(function, "_");
	return strncmp(function, "break_lease", strlen("break_lease")) == 0
		       ? HF_LEASE_THREAD_WAITS
		       : HF_LEASE_THREAD_ELSEWHERE;
}

enum hf_lease_thread hf_lease_thread_look(int proc_fd, int64_t pid, int64_t tid)
{
	char name[80];

	if (pid == 0)
		(void)snprintf(name, sizeof(name), "%" PRId64 "/wchan", tid);
	else
		(void)snprintf(name, sizeof(name),
			       "%" PRId64 "/task/%" PRId64 "/wchan", pid, tid);
	return look_at(proc_fd, name);
}

/* The number that an entry of /proc or of a task directory is; 0 for others. */
static int64_t number_of(const char *name)
{
	uint64_t number;

	if (hf_parse_u64(name, strlen(name), 10, &number) < 0 ||
	    number > INT64_MAX)
		return 0;
	return (int64_t)number;
}

int hf_lease_tasks_open(int proc_fd, int64_t pid,
			struct hf_directory **ret_tasks)
{
	cleanup_fd int fd = -1;
	char path[64];

	(void)snprintf(path, sizeof(path), "%" PRId64 "/task", pid);
	fd = hf_file_open_directory_at(proc_fd, path);
	return fd < 0 ? fd : hf_directory_open(fd, ret_tasks);
}

int64_t hf_lease_tasks_next(struct hf_directory *tasks)
{
	const char *name;
	enum hf_kind kind;

	while (hf_directory_next(tasks, &name, &kind) == 1) {
		const int64_t tid = number_of(name);

		if (tid != 0)
			return tid;
	}
	return 0;
}

static size_t count_threads(int proc_fd, int64_t pid)
{
	cleanup_directory struct hf_directory *tasks = NULL;
	int64_t tid;
	size_t count = 0;

	if (hf_lease_tasks_open(proc_fd, pid, &tasks) < 0)
		return 0;
	while ((tid = hf_lease_tasks_next(tasks)) != 0)
		count += hf_lease_thread_look(proc_fd, pid, tid) ==
			 HF_LEASE_THREAD_WAITS;
	return count;
}

/* Most processes have one thread, which is cheaper to look at than to list. */
static size_t count_waiting(int proc_fd, int64_t pid)
{
	char name[64];
	struct stat st;

	(void)snprintf(name, sizeof(name), "%" PRId64 "/task", pid);
	if (fstatat(proc_fd, name, &st, 0) < 0)
		return 0;
	if (st.st_nlink != 3)
		return count_threads(proc_fd, pid);
	(void)snprintf(name, sizeof(name), "%" PRId64 "/wchan", pid);
	return look_at(proc_fd, name) == HF_LEASE_THREAD_WAITS;
}

int hf_lease_find_by_threads(int proc_fd, struct hf_lease_waiters *waiters)
{
	cleanup_directory struct hf_directory *processes = NULL;
	/* A description of its own, which begins at the beginning. */
	cleanup_fd int fd = hf_file_open_directory_at(proc_fd, ".");
	const char *name;
	enum hf_kind kind;
	int rc;

	if (fd < 0)
		return fd;
	rc = hf_directory_open(fd, &processes);
	if (rc < 0)
		return rc;
	while ((rc = hf_directory_next(processes, &name, &kind)) == 1) {
		struct hf_lease_waiter waiter = {.pid = number_of(name)};

		if (waiter.pid == 0)
			continue;
		waiter.count = count_waiting(proc_fd, waiter.pid);
		if (waiter.count == 0)
			continue;
		rc = add(waiters, &waiter);
		if (rc < 0)
			return rc;
	}
	return rc;
}
