/* SPDX-License-Identifier: MIT */
/* What the environment of a program says, for all kinds of programs. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/file.h"
#include "platform/task.h"
#include "support/check.h"
#include "support/sample.h"
#include "support/tmpdir.h"

#define NAME   "PYTEST_CURRENT_TEST"
#define NOBODY 65534

static int proc_fd = -1;
static struct hf_tasks *tasks;
static struct hf_sample sample = HF_SAMPLE_INIT;
static char *dir; /* of those that need one */

static void setup(void)
{
	proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(proc_fd, 0);
	cr_assert_eq(hf_tasks_new(proc_fd, getpid(), &tasks), 0);
	cr_assert_eq(unsetenv(NAME), 0);
}

static void teardown(void)
{
	hf_sample_end(&sample);
	hf_tasks_free(&tasks);
	hf_file_close_quietly(&proc_fd);
	if (dir)
		hf_tmpdir_remove(dir);
}

TestSuite(task_environ, .init = setup, .fini = teardown, .timeout = 60);

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
	hf_sample_tell(&sample, 's');
	expect_value(tid, "second.py::test (call)");
}

static void copy_program(const char *from, const char *to)
{
	cleanup_fd int in = open(from, O_RDONLY | O_CLOEXEC);
	cleanup_fd int out =
		open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	struct stat stat;

	cr_assert(in >= 0 && out >= 0 && fstat(in, &stat) == 0);
	cr_assert_eq(sendfile(out, in, NULL, (size_t)stat.st_size),
		     stat.st_size);
	cr_assert_eq(fchmod(out, 0755), 0);
}

static void overwrite(const char *path, size_t at, const void *bytes,
		      size_t len)
{
	cleanup_fd int fd = open(path, O_WRONLY | O_CLOEXEC);

	cr_assert_eq(pwrite(fd, bytes, len, (off_t)at), (ssize_t)len);
}

Test(task_environ, sees_setenv_in_a_pie)
{
	expect_live("pie");
}

/* It has no copy of the variable: the C library's is used. */
Test(task_environ, sees_setenv_in_a_pic)
{
	expect_live("pic");
}

Test(task_environ, sees_setenv_in_a_no_pie)
{
	expect_live("no_pie");
}

Test(task_environ, sees_setenv_in_a_static_program)
{
	expect_live("static");
}

Test(task_environ, sees_setenv_in_a_static_pie)
{
	expect_live("static_pie");
}

Test(task_environ, sees_setenv_with_musl)
{
	expect_live("musl");
}

Test(task_environ, sees_setenv_with_a_static_musl)
{
	expect_live("static_musl");
}

Test(task_environ, sees_setenv_in_a_32_bit_program)
{
	expect_live("32");
}

Test(task_environ, sees_setenv_in_a_static_32_bit_program)
{
	expect_live("static_32");
}

/* It has no symbols: what it was started with is all that there is. */
Test(task_environ, falls_back_to_the_first_environment)
{
	cr_assert_eq(setenv(NAME, "first.py::test (call)", 1), 0);
	expect_value(start_sample("stripped", "set"), "first.py::test (call)");
}

/* Programs in dir can be executed then, wherever we were built. */
static void become_user(void)
{
	if (geteuid() != 0)
		return;
	cr_assert(chown(dir, NOBODY, NOBODY) == 0 && chmod(dir, 0755) == 0);
	cr_assert_eq(setresgid(NOBODY, NOBODY, NOBODY), 0);
	cr_assert_eq(setresuid(NOBODY, NOBODY, NOBODY), 0);
}

/* Files are opened in its own view then, not through map_files. */
Test(task_environ, sees_setenv_as_an_ordinary_user)
{
	static const char *const kinds[] = {"pie", "pic", "musl"};
	char copies[HF_COUNT(kinds)][PATH_MAX];

	dir = hf_tmpdir_make();
	for (size_t i = 0; i < HF_COUNT(kinds); i++) {
		char path[PATH_MAX];

		path_of(path, kinds[i]);
		(void)snprintf(copies[i], PATH_MAX, "%s/%zu", dir, i);
		copy_program(path, copies[i]);
	}
	become_user();
	for (size_t i = 0; i < HF_COUNT(kinds); i++) {
		const char *const argv[] = {copies[i], "set", NULL};

		expect_value(hf_sample_start(&sample, argv),
			     "set.py::test (call)");
		hf_sample_end(&sample);
	}
}

Test(task_environ, sees_putenv)
{
	expect_value(start_sample("pie", "put"), "put.py::test (call)");
}

Test(task_environ, sees_unsetenv)
{
	cr_assert_eq(setenv(NAME, "first.py::test (call)", 1), 0);
	expect_value(start_sample("pie", "unset"), "-");
}

Test(task_environ, sees_the_last_of_a_large_environment)
{
	expect_value(start_sample("pie", "big"), "big.py::test (call)");
}

Test(task_environ, sees_the_last_of_a_large_first_environment)
{
	static char filler[100 * 1024];

	memset(filler, 'x', sizeof(filler) - 1);
	cr_assert_eq(setenv("FILLER", filler, 1), 0);
	cr_assert_eq(setenv(NAME, "first.py::test (call)", 1), 0);
	expect_value(start_sample("pie", "nothing"), "first.py::test (call)");
	hf_sample_end(&sample);
	expect_value(start_sample("stripped", "nothing"),
		     "first.py::test (call)");
}

/* Strings are read a page at once; a name may begin in one and end in the next.
 */
Test(task_environ, sees_a_variable_wherever_it_begins)
{
	for (int len = 3900; len < 4100; len += 7) {
		char filler[4100];

		(void)snprintf(filler, sizeof(filler), "%0*d", len, 0);
		cr_assert_eq(clearenv(), 0);
		cr_assert_eq(setenv("FILLER", filler, 1), 0);
		cr_assert_eq(setenv(NAME "_TOO", "another", 1), 0);
		cr_assert_eq(setenv(NAME, "first.py::test (call)", 1), 0);
		expect_value(start_sample("pie", "nothing"),
			     "first.py::test (call)");
		hf_sample_end(&sample);
	}
}

Test(task_environ, cuts_a_long_value)
{
	const int64_t tid = start_sample("pie", "long");

	cr_expect_eq(strlen(value_of(tid)), HF_TASK_VALUE_MAX - 1);
}

/* After clearenv() nothing is set, whatever it was started with. */
Test(task_environ, sees_that_there_is_no_environment)
{
	cr_assert_eq(setenv(NAME, "first.py::test (call)", 1), 0);
	expect_value(start_sample("pie", "null"), "-");
}

/* Garbage may be an array that is being replaced: it is looked at again. */
Test(task_environ, does_not_follow_garbage)
{
	int64_t tid;

	cr_assert_eq(setenv(NAME, "first.py::test (call)", 1), 0);
	tid = start_sample("pie", "garbage");
	expect_value(tid, "first.py::test (call)");
	hf_sample_tell(&sample, 'r');
	expect_value(tid, "put.py::test (call)");
}

/* The kernel runs what libelf would allocate without end for. */
Test(task_environ, bears_a_program_with_false_headers)
{
	static const unsigned char many[2] = {0xff, 0xff};
	static const size_t places[] = {
		offsetof(ElfW(Ehdr), e_shoff),
		offsetof(ElfW(Ehdr), e_shnum),
		offsetof(ElfW(Ehdr), e_shentsize),
		offsetof(ElfW(Ehdr), e_shstrndx),
	};
	char path[PATH_MAX];
	char copy[PATH_MAX];
	const char *const argv[] = {copy, "set", NULL};

	path_of(path, "static");
	dir = hf_tmpdir_make();
	cr_assert_eq(setenv(NAME, "first.py::test (call)", 1), 0);
	for (size_t i = 0; i < HF_COUNT(places); i++) {
		(void)snprintf(copy, sizeof(copy), "%s/%zu", dir, i);
		copy_program(path, copy);
		overwrite(copy, places[i], many, sizeof(many));
		cr_expect_str_neq(value_of(hf_sample_start(&sample, argv)),
				  "-");
		hf_sample_end(&sample);
	}
}

Test(task_environ, sees_what_python_sets)
{
	static const char *const argv[] = {"python3", "-c",
					   "import os, sys\n"
					   "os.environ['" NAME
					   "'] = 'a.py::test (call)'\n"
					   "print(os.getpid(), flush=True)\n"
					   "sys.stdin.read()",
					   NULL};

	expect_value(hf_sample_start(&sample, argv), "a.py::test (call)");
}

Test(task_environ, asks_a_thread_for_its_process)
{
	const int64_t tid = start_sample("pie", "thread");

	cr_assert_neq(tid, sample.pid);
	cr_assert_eq(setenv(NAME, "unused", 1), 0);
	hf_sample_tell(&sample, 's');
	expect_value(tid, "second.py::test (call)");
}

Test(task_environ, says_when_it_may_not_look)
{
	static const char *const names[] = {NAME};
	char path[PATH_MAX];
	char copy[PATH_MAX];
	const char *const argv[] = {copy, "hide", NULL};
	const char *value = "untouched";
	long tid;
	int rc;

	path_of(path, "pie");
	dir = hf_tmpdir_make();
	(void)snprintf(copy, sizeof(copy), "%s/copy", dir);
	copy_program(path, copy);
	become_user();
	tid = hf_sample_start(&sample, argv);
	rc = hf_tasks_variables(tasks, tid, names, 1, &value);
	cr_expect(rc == -EACCES || rc == -EPERM, "rc is %d", rc);
	cr_expect_str_eq(value, "untouched");
}

Test(task_environ, notices_another_program_in_the_process)
{
	char path[PATH_MAX];
	const char *const argv[] = {
		"sh", "-c", "echo $$; read x; exec \"$0\" set", path, NULL};
	long tid;

	path_of(path, "static");
	tid = hf_sample_start(&sample, argv);
	expect_value(tid, "-");
	cr_assert_eq(write(sample.to_fd, "\n", 1), 1);
	cr_assert_eq(hf_sample_read(&sample), tid);
	expect_value(tid, "set.py::test (call)");
}
