/* SPDX-License-Identifier: MIT */
/* Who a thread is, and what its environment says, for all kinds of programs. */
#include "platform/task.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/file.h"
#include "support/check.h"

#define NAME   "PYTEST_CURRENT_TEST"
#define NOBODY 65534

static int proc_fd = -1;
static struct hf_tasks *tasks;
static pid_t child;
static FILE *to_child;
static FILE *from_child;

static void setup(void)
{
	proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(proc_fd, 0);
	cr_assert_eq(hf_tasks_new(proc_fd, getpid(), &tasks), 0);
	cr_assert_eq(unsetenv(NAME), 0);
}

static void end_child(void)
{
	if (child == 0)
		return;
	(void)fclose(to_child);
	(void)fclose(from_child);
	cr_expect_eq(waitpid(child, NULL, 0), child);
	child = 0;
}

static void teardown(void)
{
	end_child();
	hf_tasks_free(&tasks);
	cr_expect_null(tasks);
	hf_file_close_quietly(&proc_fd);
}

TestSuite(task, .init = setup, .fini = teardown, .timeout = 60);

/* -- programs ------------------------------------------------------------- */

/* Start a program and return the number it says. */
static int64_t start(const char *const *argv)
{
	int in[2];
	int out[2];
	long number;

	cr_assert(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
	child = fork();
	if (child == 0) {
		if (dup2(in[0], 0) < 0 || dup2(out[1], 1) < 0)
			_exit(1);
		/* execv() takes what it does not change as not const. */
		(void)execvp(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	cr_assert(child > 0 && close(in[0]) == 0 && close(out[1]) == 0);
	to_child = fdopen(in[1], "w");
	from_child = fdopen(out[0], "r");
	cr_assert(to_child && from_child);
	cr_assert_eq(fscanf(from_child, "%ld%*1[\n]", &number), 1, "%s",
		     argv[0]);
	return number;
}

/* Let it make a change. */
static void tell(char byte)
{
	char answer[16];

	cr_assert(fputc(byte, to_child) == byte && fflush(to_child) == 0);
	cr_assert(fgets(answer, sizeof(answer), from_child));
}

static void path_of(char path[PATH_MAX], const char *kind)
{
	(void)snprintf(path, PATH_MAX, "%s/environ_%s", HF_SAMPLES, kind);
	if (access(path, X_OK) != 0)
		hf_skip(teardown, "no compiler for such a program");
}

static int64_t start_sample(const char *kind, const char *what)
{
	char path[PATH_MAX];
	const char *const argv[] = {path, what, NULL};

	path_of(path, kind);
	return start(argv);
}

/* What the variable is said to be; "-" when it is not set. */
static const char *value_of(int64_t tid)
{
	static const char *const names[] = {"UNSET", NAME};
	const char *values[2] = {"?", "?"};
	const struct hf_task *task = NULL;
	int count;

	cr_assert_eq(hf_tasks_look(tasks, tid, &task), 0);
	count = hf_tasks_variables(tasks, task->process.pid, names, 2, values);
	cr_assert(count == 0 || count == 1, "count is %d", count);
	cr_expect_null(values[0]);
	cr_expect_eq(values[1] != NULL, count == 1);
	return values[1] ? values[1] : "-";
}

static void expect_value(int64_t tid, const char *value)
{
	/* Searched, then remembered. */
	for (int i = 0; i < 3; i++)
		cr_expect_str_eq(value_of(tid), value);
}

/* Set and changed after the start. */
static void expect_live(const char *kind)
{
	const int64_t tid = start_sample(kind, "set");

	expect_value(tid, "set.py::test (call)");
	tell('s');
	expect_value(tid, "second.py::test (call)");
}

/* -- environments --------------------------------------------------------- */

Test(task, sees_setenv_in_a_pie)
{
	expect_live("pie");
}

Test(task, sees_setenv_in_a_no_pie)
{
	expect_live("no_pie");
}

Test(task, sees_setenv_in_a_static_program)
{
	expect_live("static");
}

Test(task, sees_setenv_in_a_static_pie)
{
	expect_live("static_pie");
}

Test(task, sees_setenv_with_musl)
{
	expect_live("musl");
}

Test(task, sees_setenv_with_a_static_musl)
{
	expect_live("static_musl");
}

Test(task, sees_setenv_in_a_32_bit_program)
{
	expect_live("32");
}

Test(task, sees_setenv_in_a_static_32_bit_program)
{
	expect_live("static_32");
}

/* It has no symbols: what it was started with is all that there is. */
Test(task, falls_back_to_the_first_environment)
{
	cr_assert_eq(setenv(NAME, "first.py::test (call)", 1), 0);
	expect_value(start_sample("stripped", "set"), "first.py::test (call)");
}

/* Files are opened in its own view then, not through map_files. */
Test(task, sees_setenv_as_an_ordinary_user)
{
	static const char *const kinds[] = {"pie", "static", "musl"};

	if (geteuid() == 0)
		cr_assert(setresgid(NOBODY, NOBODY, NOBODY) == 0 &&
			  setresuid(NOBODY, NOBODY, NOBODY) == 0);
	for (size_t i = 0; i < HF_COUNT(kinds); i++) {
		expect_live(kinds[i]);
		end_child();
	}
}

Test(task, sees_putenv)
{
	expect_value(start_sample("pie", "put"), "put.py::test (call)");
}

Test(task, sees_unsetenv)
{
	cr_assert_eq(setenv(NAME, "first.py::test (call)", 1), 0);
	expect_value(start_sample("pie", "unset"), "-");
}

Test(task, sees_the_last_of_a_large_environment)
{
	expect_value(start_sample("pie", "big"), "big.py::test (call)");
}

Test(task, sees_the_last_of_a_large_first_environment)
{
	static char filler[100 * 1024];

	memset(filler, 'x', sizeof(filler) - 1);
	cr_assert_eq(setenv("FILLER", filler, 1), 0);
	cr_assert_eq(setenv(NAME, "first.py::test (call)", 1), 0);
	expect_value(start_sample("pie", "nothing"), "first.py::test (call)");
	end_child();
	expect_value(start_sample("stripped", "nothing"),
		     "first.py::test (call)");
}

Test(task, cuts_a_long_value)
{
	const int64_t tid = start_sample("pie", "long");

	cr_expect_eq(strlen(value_of(tid)), HF_TASK_VALUE_MAX - 1);
}

/* After clearenv() nothing is set, whatever it was started with. */
Test(task, sees_that_there_is_no_environment)
{
	cr_assert_eq(setenv(NAME, "first.py::test (call)", 1), 0);
	expect_value(start_sample("pie", "null"), "-");
}

Test(task, does_not_follow_garbage)
{
	cr_assert_eq(setenv(NAME, "first.py::test (call)", 1), 0);
	expect_value(start_sample("pie", "garbage"), "first.py::test (call)");
}

Test(task, sees_what_python_sets)
{
	static const char *const argv[] = {"python3", "-c",
					   "import os, sys\n"
					   "os.environ['" NAME
					   "'] = 'a.py::test (call)'\n"
					   "print(os.getpid(), flush=True)\n"
					   "sys.stdin.read()",
					   NULL};

	expect_value(start(argv), "a.py::test (call)");
}

Test(task, asks_a_thread_for_its_process)
{
	const int64_t tid = start_sample("pie", "thread");

	cr_assert_neq(tid, child);
	cr_assert_eq(setenv(NAME, "unused", 1), 0);
	tell('s');
	expect_value(tid, "second.py::test (call)");
}

Test(task, says_when_it_may_not_look)
{
	static const char *const names[] = {NAME};
	const char *value = "untouched";
	int64_t tid;
	int rc;

	if (geteuid() == 0)
		cr_assert(setresgid(NOBODY, NOBODY, NOBODY) == 0 &&
			  setresuid(NOBODY, NOBODY, NOBODY) == 0);
	tid = start_sample("pie", "hide");
	rc = hf_tasks_variables(tasks, tid, names, 1, &value);
	cr_expect(rc == -EACCES || rc == -EPERM, "rc is %d", rc);
	cr_expect_str_eq(value, "untouched");
}

/* -- who ------------------------------------------------------------------ */

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
	cr_expect_eq(task->process.pid, child);
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

	tell('c');
	tell('n');
	task = look(tid);
	cr_expect_str_eq(task->cwd, "/");
	cr_expect_str_eq(task->thread_name, "renamed");
	cr_expect_str_eq(task->process.comm, "environ_pie");
	/* The leader's name is the process's. */
	task = look(task->process.pid);
	cr_expect_str_eq(task->process.comm, "environ_pie");
	cr_expect_str_eq(task->thread_name, "environ_pie");
}

Test(task, notices_another_program_in_the_process)
{
	char first[PATH_MAX];
	char second[PATH_MAX];
	const char *const argv[] = {"sh", "-c",
				    "echo $$; read x; exec \"$0\" "
				    "set",
				    second, NULL};
	int64_t tid;
	long again;

	path_of(first, "pie");
	path_of(second, "static");
	tid = start(argv);
	expect_value(tid, "-");
	cr_expect_str_eq(look(tid)->process.command_line, "sh");
	cr_assert(fputc('\n', to_child) == '\n' && fflush(to_child) == 0);
	cr_assert_eq(fscanf(from_child, "%ld%*1[\n]", &again), 1);
	cr_assert_eq(again, tid);
	expect_value(tid, "set.py::test (call)");
	cr_expect_str_eq(look(tid)->process.command_line, second);
	cr_expect_str_eq(look(tid)->exe, second);
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
	tid = start(argv);
	for (int i = 0; i < 2; i++) {
		task = look(tid);
		cr_expect(task->is_inside);
		cr_assert_eq(task->parent_count, 2);
		cr_expect_eq(task->parents[1].pid, child);
		cr_expect_eq(task->parents[1].parent, getpid());
		cr_expect_eq(task->parents[0].parent, child);
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
Test(task, notices_another_parent)
{
	char path[PATH_MAX];
	const char *const argv[] = {
		"sh", "-c",
		"exec 3<&0; sh -c '\"$0\" set <&3 & read x' "
		"\"$0\" <&3; read x",
		path, NULL};
	int64_t tid;
	int64_t parent;

	path_of(path, "pie");
	tid = start(argv);
	parent = look(tid)->process.parent;
	cr_assert_eq(look(tid)->parent_count, 2);
	cr_expect_eq(look(tid)->parents[0].pid, parent);
	cr_assert_eq(kill((pid_t)parent, SIGKILL), 0);
	while (kill((pid_t)parent, 0) == 0)
		(void)usleep(1000);
	cr_expect_neq(look(tid)->process.parent, parent);
	cr_expect(look(tid)->parent_count == 0 ||
		  look(tid)->parents[0].pid != parent);
	cr_assert_eq(kill((pid_t)tid, SIGKILL), 0);
	cr_assert_eq(kill(child, SIGKILL), 0);
}

Test(task, says_that_it_is_gone)
{
	static const char *const names[] = {NAME};
	const int64_t tid = start_sample("pie", "nothing");
	const struct hf_task *task = NULL;
	const char *value = NULL;

	(void)look(tid);
	end_child();
	cr_expect_eq(hf_tasks_look(tasks, tid, &task), -ESRCH);
	cr_expect_eq(hf_tasks_variables(tasks, tid, names, 1, &value), -ESRCH);
	cr_expect_null(task);
}

/* More programs than are remembered, and no descriptor left. */
Test(task, forgets)
{
	const int before = hf_open_descriptors();

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
}
