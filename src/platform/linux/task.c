/* SPDX-License-Identifier: MIT */
/*
 * Who a thread is, remembered.
 *
 * A thread is known by its number and start; a program by the process's number
 * and start and by where it lies in memory, which differs after every exec. All
 * of it stands in one file of /proc, so that a second look reads this file and
 * the link to the working directory, and nothing else.
 *
 * Parents are those of the first look: one that has ended meanwhile is still
 * named, unless the process has another parent now.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "platform/file.h"
#include "platform/linux/task_internal.h"

#define COMMAND_LINE_MAX 4096

/* Named parents, and how far up guard is looked for. */
#define PARENTS_MAX   64u
#define ANCESTORS_MAX 4096u

/* Walks upwards until none of them meets a process that ends. */
#define WALKS_MAX 4u

/* Looks at an environment that may be changing. */
#define LIVE_TRIES 2u

/* What is remembered before all is forgotten: about 32 MiB. */
#define STORED_MAX 4096u

enum { BUCKETS = 256 };

struct program {
	struct program *next;
	struct hf_process process;
	struct hf_task_stat stat;
	const char *exe;
	bool has_parents;
	bool is_inside;
	int64_t parent; /* whose parents these are */
	struct hf_process *parents;
	size_t parent_count;
	bool has_place;
	struct hf_environ_place place;
};

struct thread {
	struct thread *next;
	uint64_t image[HF_TASK_IMAGE];
	struct program *program;
	struct hf_task task;
};

struct hf_tasks {
	int proc_fd;
	int64_t guard;
	struct hf_arena arena;
	size_t stored;
	struct program *programs[BUCKETS];
	struct thread *threads[BUCKETS];
	struct hf_objects *objects;
	struct hf_environ_values values;
};

int hf_tasks_new(int proc_fd, int64_t guard_pid, struct hf_tasks **ret_tasks)
{
	struct hf_tasks *const tasks = calloc(1, sizeof(*tasks));
	int rc;

	if (!tasks)
		return -ENOMEM;
	rc = hf_objects_new(&tasks->objects);
	if (rc < 0) {
		free(tasks);
		return rc;
	}
	tasks->proc_fd = proc_fd;
	tasks->guard = guard_pid;
	*ret_tasks = tasks;
	return 0;
}

void hf_tasks_free(struct hf_tasks **tasks)
{
	if (!*tasks)
		return;
	hf_arena_done(&(*tasks)->arena);
	hf_objects_free(&(*tasks)->objects);
	hf_free_pointee(tasks);
}

/* A long run has any number of processes. */
static void forget_all(struct hf_tasks *tasks)
{
	memset(tasks->programs, 0, sizeof(tasks->programs));
	memset(tasks->threads, 0, sizeof(tasks->threads));
	hf_arena_done(&tasks->arena);
	tasks->stored = 0;
}

static void *store(struct hf_tasks *tasks, size_t size)
{
	tasks->stored++;
	return hf_arena_alloc(&tasks->arena, size);
}

static char *store_text(struct hf_tasks *tasks, const char *text, size_t len)
{
	tasks->stored++;
	return hf_arena_copy(&tasks->arena, text, len);
}

static size_t bucket_of(int64_t number)
{
	return (size_t)number % BUCKETS;
}

/* -- programs ------------------------------------------------------------- */

/* "" when there is no such link, or none that we may read. */
static int read_link(struct hf_tasks *tasks, int64_t number, const char *name,
		     const char **text)
{
	char path[64];
	char target[PATH_MAX];
	ssize_t len;

	(void)snprintf(path, sizeof(path), "%" PRId64 "/%s", number, name);
	len = readlinkat(tasks->proc_fd, path, target, sizeof(target));
	if (len < 0)
		len = 0;
	if (*text && strlen(*text) == (size_t)len &&
	    memcmp(*text, target, (size_t)len) == 0)
		return 0;
	*text = store_text(tasks, target, (size_t)len);
	return *text ? 0 : -ENOMEM;
}

static int read_command_line(struct hf_tasks *tasks, struct hf_process *process)
{
	char path[64];
	char text[COMMAND_LINE_MAX];
	cleanup_fd int fd = -1;
	int64_t len;

	(void)snprintf(path, sizeof(path), "%" PRId64 "/cmdline", process->pid);
	fd = openat(tasks->proc_fd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	len = hf_file_read(fd, text, sizeof(text));
	if (len <= 0)
		return 0;
	process->command_line = store_text(tasks, text, (size_t)len);
	process->command_line_len = (size_t)len;
	return process->command_line ? 0 : -ENOMEM;
}

static bool is_program(const struct program *program, int64_t pid,
		       const struct hf_task_stat *stat)
{
	return program->process.pid == pid &&
	       program->stat.start == stat->start &&
	       memcmp(program->stat.image, stat->image, sizeof(stat->image)) ==
		       0;
}

static void take_stat(struct program *program, const struct hf_task_stat *stat)
{
	program->stat = *stat;
	program->process.parent = stat->parent;
	memcpy(program->process.comm, stat->comm, sizeof(stat->comm));
}

/* The program that the process runs, given what its /proc/PID/stat says. */
static int find_program(struct hf_tasks *tasks, int64_t pid,
			const struct hf_task_stat *stat,
			struct program **ret_program)
{
	struct program **const bucket = &tasks->programs[bucket_of(pid)];
	struct program *program;
	int rc;

	for (program = *bucket; program; program = program->next)
		if (is_program(program, pid, stat)) {
			take_stat(program, stat);
			*ret_program = program;
			return 0;
		}

	program = store(tasks, sizeof(*program));
	if (!program)
		return -ENOMEM;
	*program = (struct program){.process = {.pid = pid}};
	take_stat(program, stat);
	rc = read_command_line(tasks, &program->process);
	if (rc < 0)
		return rc;
	program->next = *bucket;
	*bucket = program;
	*ret_program = program;
	return 0;
}

static int look_at_program(struct hf_tasks *tasks, int64_t pid,
			   struct program **ret_program)
{
	struct hf_task_stat stat;
	const int rc = hf_task_stat_read(tasks->proc_fd, pid, &stat);

	if (rc < 0)
		return rc;
	return find_program(tasks, pid, &stat, ret_program);
}

/* -- parents -------------------------------------------------------------- */

struct parents {
	struct hf_process items[PARENTS_MAX];
	size_t count;
	bool is_inside;
};

/* -ESRCH when one has ended on the way: its children have another by now. */
static int walk_up(struct hf_tasks *tasks, int64_t pid, struct parents *parents)
{
	parents->count = 0;
	parents->is_inside = false;
	for (size_t steps = 0; pid > 0 && steps < ANCESTORS_MAX; steps++) {
		struct program *program;
		int rc;

		if (pid == tasks->guard) {
			parents->is_inside = true;
			return 0;
		}
		rc = look_at_program(tasks, pid, &program);
		if (rc < 0)
			return rc;
		if (parents->count < PARENTS_MAX)
			parents->items[parents->count++] = program->process;
		pid = program->process.parent;
	}
	return 0;
}

static int find_parents(struct hf_tasks *tasks, struct program *program)
{
	struct parents parents;
	int64_t parent = program->process.parent;
	int rc = -ESRCH;

	for (unsigned walks = 0; rc == -ESRCH && walks < WALKS_MAX; walks++) {
		struct hf_task_stat stat;

		if (walks > 0) {
			rc = hf_task_stat_read(tasks->proc_fd,
					       program->process.pid, &stat);
			if (rc < 0)
				return rc;
			parent = stat.parent;
		}
		rc = walk_up(tasks, parent, &parents);
	}
	if (rc < 0 && rc != -ESRCH)
		return rc;

	program->parents = NULL;
	program->parent_count = parents.count;
	program->is_inside = parents.is_inside;
	if (parents.count > 0) {
		const size_t size = parents.count * sizeof(*parents.items);

		program->parents = store(tasks, size);
		if (!program->parents)
			return -ENOMEM;
		memcpy(program->parents, parents.items, size);
	}
	program->process.parent = parent;
	program->parent = parent;
	program->has_parents = rc == 0;
	return 0;
}

/* What only the one who is looked for needs, not its parents. */
static int complete_program(struct hf_tasks *tasks, struct program *program)
{
	if (!program->exe) {
		const int rc = read_link(tasks, program->process.pid, "exe",
					 &program->exe);

		if (rc < 0)
			return rc;
	}
	if (program->has_parents && program->parent == program->process.parent)
		return 0;
	return find_parents(tasks, program);
}

/* -- threads -------------------------------------------------------------- */

static int new_thread(struct hf_tasks *tasks, int64_t tid,
		      const struct hf_task_stat *stat,
		      struct thread **ret_thread)
{
	struct thread **const bucket = &tasks->threads[bucket_of(tid)];
	struct program *program;
	struct thread *thread;
	int64_t pid;
	int rc = hf_task_group(tasks->proc_fd, tid, &pid);

	if (rc < 0)
		return rc;
	rc = pid == tid ? find_program(tasks, pid, stat, &program)
			: look_at_program(tasks, pid, &program);
	if (rc < 0)
		return rc;
	thread = store(tasks, sizeof(*thread));
	if (!thread)
		return -ENOMEM;
	*thread = (struct thread){
		.next = *bucket,
		.program = program,
		.task = {.tid = tid, .start = stat->start},
	};
	memcpy(thread->image, stat->image, sizeof(stat->image));
	*bucket = thread;
	*ret_thread = thread;
	return 0;
}

static int find_thread(struct hf_tasks *tasks, int64_t tid,
		       const struct hf_task_stat *stat,
		       struct thread **ret_thread)
{
	struct thread *thread = tasks->threads[bucket_of(tid)];

	for (; thread; thread = thread->next)
		if (thread->task.tid == tid &&
		    thread->task.start == stat->start &&
		    memcmp(thread->image, stat->image, sizeof(stat->image)) ==
			    0) {
			*ret_thread = thread;
			return 0;
		}
	return new_thread(tasks, tid, stat, ret_thread);
}

static int set_name(struct hf_tasks *tasks, struct hf_task *task,
		    const char *name)
{
	if (task->thread_name && strcmp(task->thread_name, name) == 0)
		return 0;
	task->thread_name = store_text(tasks, name, strlen(name));
	return task->thread_name ? 0 : -ENOMEM;
}

int hf_tasks_look(struct hf_tasks *tasks, int64_t tid,
		  const struct hf_task **ret_task)
{
	struct hf_task_stat stat;
	struct thread *thread;
	struct program *program;
	int rc;

	if (tasks->stored >= STORED_MAX)
		forget_all(tasks);
	rc = hf_task_stat_read(tasks->proc_fd, tid, &stat);
	if (rc < 0)
		return rc;
	rc = find_thread(tasks, tid, &stat, &thread);
	if (rc < 0)
		return rc;
	program = thread->program;
	program->process.parent = stat.parent;
	if (program->process.pid == tid)
		take_stat(program, &stat);
	rc = complete_program(tasks, program);
	if (rc < 0)
		return rc;
	rc = set_name(tasks, &thread->task, stat.comm);
	if (rc < 0)
		return rc;
	rc = read_link(tasks, tid, "cwd", &thread->task.cwd);
	if (rc < 0)
		return rc;

	thread->task.process = program->process;
	thread->task.exe = program->exe;
	thread->task.parents = program->parents;
	thread->task.parent_count = program->parent_count;
	thread->task.is_inside = program->is_inside;
	*ret_task = &thread->task;
	return 0;
}

/* -- variables ------------------------------------------------------------ */

/*
 * A place that held no environment may be an old one (a library was loaded
 * again), or the array was being replaced: both are better the second time.
 * That a program keeps none anywhere is remembered; that it had a bad one is
 * not.
 */
static int read_live(struct hf_tasks *tasks, struct program *program)
{
	const int64_t pid = program->process.pid;
	int rc = -ENOENT;

	for (unsigned tries = 0; tries < LIVE_TRIES; tries++) {
		if (!program->has_place) {
			rc = hf_objects_find_environ(tasks->objects,
						     tasks->proc_fd, pid,
						     &program->place);
			program->has_place = rc >= 0;
			if (rc < 0)
				continue;
		}
		if (program->place.address == 0)
			return -ENOENT;
		rc = hf_environ_read(pid, &program->place, &tasks->values);
		if (rc == 0)
			return 0;
		program->has_place = false;
	}
	return rc;
}

int hf_tasks_variables(struct hf_tasks *tasks, int64_t pid,
		       const char *const *names, size_t count,
		       const char **ret_values)
{
	struct hf_environ_values *const values = &tasks->values;
	struct program *program;
	int rc = look_at_program(tasks, pid, &program);

	if (rc < 0)
		return rc;
	values->names = names;
	values->count = count < HF_TASK_NAMES_MAX ? count : HF_TASK_NAMES_MAX;
	rc = read_live(tasks, program);
	if (rc < 0)
		rc = hf_environ_read_initial(tasks->proc_fd, pid, values);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < count; i++)
		ret_values[i] = i < values->count && values->is_set[i]
					? values->text[i]
					: NULL;
	return (int)values->found;
}
