/* SPDX-License-Identifier: MIT */
/* Ask the held thread, then those who started it. */
#include "guard/culprit.h"

#include <string.h>

#include "base/arena.h"
#include "guard/violation.h"
#include "platform/task.h"

/* What may not be looked at, or is gone, says nothing. */
static bool ask(struct hf_tasks *tasks, int64_t pid, char *ret_name)
{
	const char *values[HF_TEST_VARIABLES];

	return hf_tasks_variables(tasks, pid, hf_test_variables,
				  HF_TEST_VARIABLES, values) > 0 &&
	       hf_test_name_of_variables(values, ret_name);
}

static bool ask_parents(struct hf_tasks *tasks, const struct hf_task *task,
			char *ret_name)
{
	/* Beyond the command are programs that have nothing to do with it. */
	for (size_t i = 0; task->is_inside && i < task->parent_count; i++)
		if (ask(tasks, task->parents[i].pid, ret_name))
			return true;
	return false;
}

static bool ask_thread(const struct hf_task *task, char *ret_name,
		       bool *ret_is_exact)
{
	if (task->tid == task->process.pid ||
	    !hf_test_name_of_thread(task->thread_name, task->process.comm,
				    task->exe, ret_is_exact))
		return false;
	memcpy(ret_name, task->thread_name, strlen(task->thread_name) + 1);
	return true;
}

int hf_culprit_look(struct hf_tasks *tasks, int64_t tid,
		    struct hf_suspect *ret_suspect)
{
	const struct hf_task *task;
	const int rc = hf_tasks_look(tasks, tid, &task);

	if (rc < 0)
		return rc;
	ret_suspect->task = task;
	ret_suspect->is_test_exact = true;
	ret_suspect->has_test =
		ask(tasks, task->process.pid, ret_suspect->test);
	if (ret_suspect->has_test)
		return 0;
	ret_suspect->is_test_exact = false;
	ret_suspect->has_test = ask_parents(tasks, task, ret_suspect->test) ||
				ask_thread(task, ret_suspect->test,
					   &ret_suspect->is_test_exact);
	return 0;
}

static bool keep_process(struct hf_arena *arena, struct hf_process *to,
			 const struct hf_process *from)
{
	*to = *from;
	if (!from->command_line)
		return true;
	to->command_line = hf_arena_copy(arena, from->command_line,
					 from->command_line_len);
	return to->command_line != NULL;
}

struct hf_culprit *hf_culprit_keep(struct hf_arena *arena,
				   const struct hf_task *task)
{
	struct hf_culprit *const culprit =
		hf_arena_alloc(arena, sizeof(*culprit));
	struct hf_process *const parents =
		hf_arena_alloc(arena, task->parent_count * sizeof(*parents));

	if (!culprit || !parents ||
	    !keep_process(arena, &culprit->process, &task->process))
		return NULL;
	culprit->tid = task->tid;
	culprit->start = task->start;
	culprit->exe = hf_arena_copy(arena, task->exe, strlen(task->exe));
	culprit->cwd = hf_arena_copy(arena, task->cwd, strlen(task->cwd));
	culprit->is_inside = task->is_inside;
	culprit->parents = parents;
	culprit->parent_count = task->parent_count;
	if (!culprit->exe || !culprit->cwd)
		return NULL;
	for (size_t i = 0; i < task->parent_count; i++)
		if (!keep_process(arena, &parents[i], &task->parents[i]))
			return NULL;
	return culprit;
}
