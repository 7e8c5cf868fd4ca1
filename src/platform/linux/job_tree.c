/* SPDX-License-Identifier: MIT */
/*
 * The processes beneath us: find them, signal them, end them all.
 *
 * Found by /proc and the parents' numbers, in one pass: a process whose parent
 * has ended belongs to its subreaper, which is one of us, so the chain never
 * breaks.
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "platform/file.h"
#include "platform/linux/job_internal.h"
#include "platform/system.h"

/* How long killed processes may take to vanish: dying of a large one, a slow
 * disk.  Beyond it they are said to be there. */
#define END_BOUND_NS	((int64_t)5 * 1000 * 1000 * 1000)
#define END_PAUSE_NS	(1000L * 1000)
#define COMMAND_LINE_MAX 4096

/* Looks at /proc until one finds every parent. */
#define LOOKS_MAX	4

/* Looks at our own children, and how much of each. */
#define CHILDREN_LOOKS	20u
#define CHILDREN_MAX	4096

struct seat {
	pid_t pid;
	pid_t parent;
	char state;
	char comm[32];
	signed char is_ours;	/* -1 unknown, 0 no, 1 yes */
};

struct seats {
	struct seat *items;
	size_t count;
	size_t capacity;
	bool is_torn;		/* a parent ended while we read */
};

static int read_file(int dir_fd, const char *name, char *data, size_t size)
{
	cleanup_fd int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
	ssize_t len;

	if (fd < 0)
		return -errno;
	do
		len = read(fd, data, size - 1);
	while (len < 0 && errno == EINTR);
	if (len < 0)
		return -errno;
	data[len] = '\0';
	return (int)len;
}

/*
 * proc_pid_stat(5): "PID (COMM) STATE PARENT ...".  COMM may hold anything, even
 * a closing parenthesis; the last one ends it.
 */
static bool parse_stat(const char *text, struct seat *ret_seat)
{
	const char *const open = strchr(text, '(');
	const char *const end = strrchr(text, ')');
	size_t len;
	int parent;

	if (!open || !end || end < open ||
	    sscanf(end + 1, " %c %d", &ret_seat->state, &parent) != 2)
		return false;
	ret_seat->parent = parent;
	len = (size_t)(end - open - 1);
	if (len >= sizeof(ret_seat->comm))
		len = sizeof(ret_seat->comm) - 1;
	memcpy(ret_seat->comm, open + 1, len);
	ret_seat->comm[len] = '\0';
	return true;
}

bool hf_tree_is_stopped(int proc_fd, pid_t pid)
{
	char name[32];
	char text[512];
	struct seat seat;

	(void)snprintf(name, sizeof(name), "%d/stat", (int)pid);
	return read_file(proc_fd, name, text, sizeof(text)) > 0 &&
	       parse_stat(text, &seat) &&
	       (seat.state == 'T' || seat.state == 't');
}

static int add_seat(struct seats *seats, const struct seat *seat)
{
	if (seats->count == seats->capacity) {
		const size_t capacity =
			seats->capacity ? 2 * seats->capacity : 256;
		struct seat *const items = reallocarray(
			seats->items, capacity, sizeof(*items));

		if (!items)
			return -ENOMEM;
		seats->items = items;
		seats->capacity = capacity;
	}
	seats->items[seats->count++] = *seat;
	return 0;
}

static void close_listing(DIR **listing)
{
	if (*listing)
		(void)closedir(*listing);
}

static int read_seats(int proc_fd, struct seats *seats)
{
	/* A description of its own, which begins at the beginning. */
	cleanup_fd int fd =
		openat(proc_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(close_listing) DIR *listing = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!listing)
		return -errno;
	fd = -1;
	while ((entry = readdir(listing)) != NULL) {
		struct seat seat = { .is_ours = -1 };
		char name[64];
		char text[512];
		uint64_t pid;
		int rc;

		if (hf_parse_u64(entry->d_name, strlen(entry->d_name), 10,
				 &pid) < 0)
			continue;
		(void)snprintf(name, sizeof(name), "%" PRIu64 "/stat", pid);
		seat.pid = (pid_t)pid;
		if (read_file(dirfd(listing), name, text, sizeof(text)) <= 0 ||
		    !parse_stat(text, &seat))
			continue;
		rc = add_seat(seats, &seat);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int compare_seats(const void *a, const void *b)
{
	const struct seat *const left = a;
	const struct seat *const right = b;

	return (left->pid > right->pid) - (left->pid < right->pid);
}

static struct seat *find_seat(const struct seats *seats, pid_t pid)
{
	const struct seat key = { .pid = pid };

	if (seats->count == 0)
		return NULL;
	return bsearch(&key, seats->items, seats->count, sizeof(key),
		       compare_seats);
}

/*
 * Climb until the answer is known, then write it down along the way: linear in
 * all.  A parent that is missing in the listing ended while we read it, and its
 * children have another by now.  Number 0 is outside our namespace.
 */
static bool is_ours(struct seats *seats, struct seat *seat, pid_t self)
{
	struct seat *top = seat;
	signed char answer;

	for (size_t steps = 0;; steps++) {
		struct seat *above;

		if (top->is_ours >= 0) {
			answer = top->is_ours;
			break;
		}
		if (top->parent == self || top->pid == self) {
			answer = top->parent == self;
			break;
		}
		above = find_seat(seats, top->parent);
		if (!above || steps > seats->count) {
			answer = 0;
			seats->is_torn = seats->is_torn || top->parent != 0;
			break;
		}
		top = above;
	}
	while (seat && seat->is_ours < 0) {
		struct seat *const above = find_seat(seats, seat->parent);

		seat->is_ours = answer;
		seat = seat == top ? NULL : above;
	}
	return answer == 1;
}

static int add_process(int proc_fd, struct hf_processes *processes,
		       const struct seat *seat)
{
	struct hf_process *process;
	char name[64];
	char text[COMMAND_LINE_MAX];
	int len;

	if (processes->count == processes->capacity) {
		const size_t capacity =
			processes->capacity ? 2 * processes->capacity : 16;
		struct hf_process *const items = reallocarray(
			processes->items, capacity, sizeof(*items));

		if (!items)
			return -ENOMEM;
		processes->items = items;
		processes->capacity = capacity;
	}
	process = &processes->items[processes->count++];
	*process = (struct hf_process){ .pid = seat->pid,
					.parent = seat->parent };
	memcpy(process->comm, seat->comm, sizeof(process->comm));

	(void)snprintf(name, sizeof(name), "%d/cmdline", (int)seat->pid);
	len = read_file(proc_fd, name, text, sizeof(text));
	if (len > 0) {
		process->command_line = malloc((size_t)len + 1);
		if (!process->command_line)
			return -ENOMEM;
		memcpy(process->command_line, text, (size_t)len + 1);
		process->command_line_len = (size_t)len;
	}
	return 0;
}

static int look(int proc_fd, struct hf_processes *ret_processes,
		bool *ret_is_torn)
{
	cleanup_processes struct hf_processes processes = HF_PROCESSES_INIT;
	cleanup_free struct seat *owner = NULL;
	struct seats seats = { .items = NULL };
	const pid_t self = getpid();
	int rc;

	rc = read_seats(proc_fd, &seats);
	owner = seats.items;
	if (rc < 0)
		return rc;
	if (seats.count > 0)
		qsort(seats.items, seats.count, sizeof(*seats.items),
		      compare_seats);
	for (size_t i = 0; i < seats.count; i++) {
		struct seat *const seat = &seats.items[i];

		if (seat->state == 'Z' || seat->state == 'X' ||
		    !is_ours(&seats, seat, self))
			continue;
		rc = add_process(proc_fd, &processes, seat);
		if (rc < 0)
			return rc;
	}
	hf_processes_done(ret_processes);
	*ret_processes = processes;
	processes = (struct hf_processes)HF_PROCESSES_INIT;
	*ret_is_torn = seats.is_torn;
	return 0;
}

int hf_tree_processes(int proc_fd, struct hf_processes *ret_processes)
{
	bool is_torn = true;

	for (unsigned looks = 0; is_torn && looks < LOOKS_MAX; looks++) {
		const int rc = look(proc_fd, ret_processes, &is_torn);

		if (rc < 0)
			return rc;
	}
	return 0;
}

void hf_processes_done(struct hf_processes *processes)
{
	const int saved = errno;

	for (size_t i = 0; i < processes->count; i++)
		free(processes->items[i].command_line);
	free(processes->items);
	*processes = (struct hf_processes)HF_PROCESSES_INIT;
	errno = saved;
}

size_t hf_tree_signal(const struct hf_processes *processes, int signal_number)
{
	size_t count = 0;

	for (size_t i = 0; i < processes->count; i++)
		if (kill((pid_t)processes->items[i].pid, signal_number) == 0)
			count++;
	return count;
}

static size_t signal_all(int proc_fd, int signal_number)
{
	cleanup_processes struct hf_processes processes = HF_PROCESSES_INIT;

	if (hf_tree_processes(proc_fd, &processes) < 0)
		return 0;
	(void)hf_tree_signal(&processes, signal_number);
	return processes.count;
}

/*
 * What ends after it has forked leaves its child to us: a chain of such
 * processes is faster than a look at all of /proc, but not than this one file
 * (proc_pid_task_children(5); kernels without it leave all to the looks).
 */
static void stop_children(int proc_fd)
{
	char name[64];
	char text[CHILDREN_MAX];

	(void)snprintf(name, sizeof(name), "%d/task/%d/children", (int)getpid(),
		       (int)getpid());
	for (unsigned i = 0; i < CHILDREN_LOOKS; i++) {
		const char *at = text;
		const int len = read_file(proc_fd, name, text, sizeof(text));
		int pid;
		int used;

		if (len <= 0)
			return;
		/* The last number of many may be cut. */
		if (len == (int)sizeof(text) - 1) {
			char *const last = strrchr(text, ' ');

			if (!last)
				return;
			*last = '\0';
		}
		for (; sscanf(at, "%d %n", &pid, &used) == 1; at += used)
			(void)kill(pid, SIGSTOP);
	}
}

/* False when there is no child left. */
static bool reap_all(void (*ended)(void *context, pid_t pid, int status),
		     void *context)
{
	for (;;) {
		int status;
		const pid_t pid = waitpid(-1, &status, WNOHANG);

		if (pid < 0)
			return false;
		if (pid == 0)
			return true;
		ended(context, pid, status);
	}
}

size_t hf_tree_end(int proc_fd,
		   void (*ended)(void *context, pid_t pid, int status),
		   void *context)
{
	const int64_t bound = hf_system_boot_ns() + END_BOUND_NS;
	const struct timespec pause = { .tv_nsec = END_PAUSE_NS };

	for (;;) {
		bool has_children;
		size_t left;

		stop_children(proc_fd);
		/* Twice: what was forked during the first pass is in the second,
		 * and its parent can fork no more. */
		(void)signal_all(proc_fd, SIGSTOP);
		(void)signal_all(proc_fd, SIGSTOP);
		left = signal_all(proc_fd, SIGKILL);
		has_children = reap_all(ended, context);
		if (!has_children && left == 0)
			return 0;
		/* One that cannot be seen is there all the same. */
		if (hf_system_boot_ns() >= bound)
			return left > 0 ? left : 1;
		(void)nanosleep(&pause, NULL);
	}
}
