/* SPDX-License-Identifier: MIT */
/* Who a thread is, and that a change of that is noticed. */
#include "platform/task.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/file.h"
#include "support/check.h"
#include "support/sample.h"

static int proc_fd = -1;
static struct hf_tasks *tasks;
static struct hf_sample sample = HF_SAMPLE_INIT;

static void setup(void)
{
	proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(proc_fd, 0);
	cr_assert_eq(hf_tasks_new(proc_fd, getpid(), &tasks), 0);
}

static void teardown(void)
{
	hf_sample_end(&sample);
	hf_tasks_free(&tasks);
	hf_file_close_quietly(&proc_fd);
}

TestSuite(task, .init = setup, .fini = teardown, .timeout = 60);

static void path_of(char path[PATH_MAX], const char *kind)
{
	if (!hf_sample_path(path, kind))
		hf_skip(teardown, "no compiler for such a program");
}

static int64_t start_sample(const char *kind, const char *what)
{
	char path[PATH_MAX];
	const char *const argv[] = {path, what, NULL};

	path_of(path, kind);
	return hf_sample_start(&sample, argv);
}

static const struct hf_task *look(int64_t tid)
{
	const struct hf_task *task = NULL;

	cr_assert_eq(hf_tasks_look(tasks, tid, &task), 0);
	return task;
}

Test(task, names_a_thread)
{
	const int64_t tid = start_sample("pie", "thread");
	const struct hf_task *task = look(tid);
	char path[PATH_MAX];
	char here[PATH_MAX];

	path_of(path, "pie");
	cr_expect_eq(task->tid, tid);
	cr_expect_eq(task->process.pid, sample.pid);
	cr_expect_eq(task->process.parent, getpid());
	cr_expect_str_eq(task->process.comm, "environ_pie");
	cr_expect_str_eq(task->thread_name, "tests::it_runs");
	cr_expect_str_eq(task->exe, path);
	cr_expect_str_eq(task->cwd, getcwd(here, sizeof(here)));
	cr_assert_eq(task->process.command_line_len, strlen(path) + 8);
	cr_expect_str_eq(task->process.command_line, path);
	cr_expect_str_eq(task->process.command_line + strlen(path) + 1,
			 "thread");
	cr_expect(task->is_inside);
	cr_expect_eq(task->parent_count, 0);
}

Test(task, notices_what_changes)
{
	const int64_t tid = start_sample("pie", "thread");
	const struct hf_task *task = look(tid);

	hf_sample_tell(&sample, 'c');
	hf_sample_tell(&sample, 'n');
	task = look(tid);
	cr_expect_str_eq(task->cwd, "/");
	cr_expect_str_eq(task->thread_name, "re) R 1 (x");
	cr_expect_str_eq(task->process.comm, "environ_pie");
	/* The leader's name is the process's. */
	task = look(task->process.pid);
	cr_expect_str_eq(task->process.comm, "environ_pie");
	cr_expect_str_eq(task->thread_name, "environ_pie");
}

Test(task, notices_another_program_in_the_process)
{
	char path[PATH_MAX];
	const char *const argv[] = {
		"sh", "-c", "echo $$; read x; exec \"$0\" set", path, NULL};
	long tid;

	path_of(path, "static");
	tid = hf_sample_start(&sample, argv);
	cr_expect_str_eq(look(tid)->process.command_line, "sh");
	cr_assert_eq(write(sample.to_fd, "\n", 1), 1);
	cr_assert_eq(hf_sample_read(&sample), tid);
	cr_expect_str_eq(look(tid)->process.command_line, path);
	cr_expect_str_eq(look(tid)->exe, path);
	cr_expect_str_eq(look(tid)->process.comm, "environ_static");
}

/* The shell waits; the shell above it as well; what stands above is ours. */
Test(task, names_the_parents)
{
	char path[PATH_MAX];
	const char *const argv[] = {
		"sh", "-c", "sh -c '\"$0\" set; :' \"$0\"; :", path, NULL};
	const struct hf_task *task;
	int64_t tid;

	path_of(path, "pie");
	tid = hf_sample_start(&sample, argv);
	for (int i = 0; i < 2; i++) {
		task = look(tid);
		cr_expect(task->is_inside);
		cr_assert_eq(task->parent_count, 2);
		cr_expect_eq(task->parents[1].pid, sample.pid);
		cr_expect_eq(task->parents[1].parent, getpid());
		cr_expect_eq(task->parents[0].parent, sample.pid);
		cr_expect_eq(task->process.parent, task->parents[0].pid);
		cr_expect_str_eq(task->parents[0].comm, "sh");
		cr_expect_str_eq(task->parents[0].command_line + 6,
				 "\"$0\" set; :");
	}
}

Test(task, tells_inside_from_outside)
{
	const int64_t tid = start_sample("pie", "nothing");
	cleanup_tasks struct hf_tasks *others = NULL;
	const struct hf_task *task = NULL;

	cr_assert_eq(hf_tasks_new(proc_fd, tid, &others), 0);
	cr_assert_eq(hf_tasks_look(others, tid, &task), 0);
	cr_expect_not(task->is_inside);
	cr_assert_gt(task->parent_count, 0);
	cr_expect_eq(task->parents[0].pid, getpid());
	/* Up to the first process of all. */
	cr_expect_eq(task->parents[task->parent_count - 1].parent, 0);
}

/* Its parent ends; the next look finds another. */
static void expect_another_parent(const char *what)
{
	char path[PATH_MAX];
	const char *const argv[] = {
		"sh",
		"-c",
		"exec 3<&0; sh -c '\"$0\" \"$1\" <&3 & wait' \"$0\" \"$1\" &"
		"wait; read x",
		path,
		what,
		NULL};
	long tid;
	pid_t parent;

	path_of(path, "pie");
	tid = hf_sample_start(&sample, argv);
	cr_assert_eq(look(tid)->parent_count, 2);
	parent = (pid_t)look(tid)->process.parent;
	cr_expect_eq(look(tid)->parents[0].pid, parent);
	cr_assert_eq(kill(parent, SIGKILL), 0);
	while (kill(parent, 0) == 0)
		(void)usleep(1000);
	cr_expect_neq(look(tid)->process.parent, parent);
	cr_expect(look(tid)->parent_count == 0 ||
		  look(tid)->parents[0].pid != parent);
	cr_assert_eq(kill((pid_t)look(tid)->process.pid, SIGKILL), 0);
	cr_assert_eq(kill(sample.pid, SIGKILL), 0);
	hf_sample_end(&sample);
}

Test(task, notices_another_parent)
{
	expect_another_parent("set");
	expect_another_parent("thread");
}

Test(task, says_that_it_is_gone)
{
	static const char *const names[] = {"NAME"};
	const int64_t tid = start_sample("pie", "nothing");
	const struct hf_task *task = NULL;
	const char *value = NULL;

	(void)look(tid);
	hf_sample_end(&sample);
	cr_expect_eq(hf_tasks_look(tasks, tid, &task), -ESRCH);
	cr_expect_eq(hf_tasks_variables(tasks, tid, names, 1, &value), -ESRCH);
	cr_expect_null(task);
}

/* More programs than are remembered, and no descriptor left. */
Test(task, forgets)
{
	const int before = hf_open_descriptors();
	const size_t memory = mallinfo2().uordblks;

	for (int i = 0; i < 3000; i++) {
		const pid_t pid = fork();

		if (pid == 0) {
			(void)pause();
			_exit(0);
		}
		cr_assert_eq(look(pid)->process.pid, pid);
		cr_expect(look(pid)->is_inside);
		cr_assert_eq(kill(pid, SIGKILL), 0);
		cr_assert_eq(waitpid(pid, NULL, 0), pid);
	}
	cr_expect_eq(hf_open_descriptors(), before);
	/* All remembered, they would be 2 MiB. */
	cr_expect_lt(mallinfo2().uordblks, memory + ((size_t)1 << 20));
}
