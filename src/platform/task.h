/* SPDX-License-Identifier: MIT */
/*
 * The seam to a thread that is held at a system call: who it is, who started it,
 * and what its environment says.
 *
 * What does not change while a program runs is read once and kept; a second look
 * at the same thread costs a few microseconds.  Nothing here waits for another
 * process, and nothing it says is trusted: sizes and counts are bounded.
 *
 * One thread at a time uses a struct hf_tasks.  Returns >= 0 or -errno.
 */
#ifndef HF_PLATFORM_TASK_H
#define HF_PLATFORM_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/defs.h"
#include "platform/job.h"

struct hf_tasks;

/* Strings are "" when unknown. */
struct hf_task {
	struct hf_process process;	/* the one that the thread belongs to */
	int64_t tid;
	uint64_t start;			/* of the thread, in ticks since boot */
	const char *thread_name;
	const char *exe;
	const char *cwd;
	/* Nearest first, up to guard's child: the command comes last. */
	struct hf_process *parents;
	size_t parent_count;
	bool is_inside;			/* guard is an ancestor */
};

/* How many variables can be asked for at once, and how much of a value is kept. */
#define HF_TASK_NAMES_MAX 8
#define HF_TASK_VALUE_MAX 4096

/*
 * proc_fd is the /proc to look into and stays the caller's; guard_pid the process
 * of ours above the command, to which orphans come.
 */
MUST_CHECK int hf_tasks_new(int proc_fd, int64_t guard_pid,
			    struct hf_tasks **ret_tasks);
void hf_tasks_free(struct hf_tasks **tasks);
#define cleanup_tasks CLEANUP(hf_tasks_free)

/*
 * The thread with this number; all that *ret_task points to is valid until the
 * next look.  -ESRCH when it is gone.
 */
MUST_CHECK int hf_tasks_look(struct hf_tasks *tasks, int64_t tid,
			     const struct hf_task **ret_task);

/*
 * The variables names[0..count) in the environment that the process has now,
 * setenv() included.  Where that cannot be found (a static program without
 * symbols), in the one that its program was started with.
 *
 * ret_values[i] is the value of names[i], cut at HF_TASK_VALUE_MAX, or NULL; valid
 * until the next call.  Returns how many are set; -EACCES or -EPERM when the
 * process may not be looked at, -ESRCH when it is gone.
 */
MUST_CHECK int hf_tasks_variables(struct hf_tasks *tasks, int64_t pid,
				  const char *const *names, size_t count,
				  const char **ret_values);

#endif /* HF_PLATFORM_TASK_H */
