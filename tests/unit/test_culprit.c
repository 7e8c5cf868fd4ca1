/* SPDX-License-Identifier: MIT */
/* In which test a thread is: who is asked, in which order. */
#include "guard/culprit.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "guard/violation.h"
#include "platform/file.h"
#include "platform/task.h"
#include "support/check.h"
#include "support/sample.h"
#include "support/tmpdir.h"

static char *dir;
static int proc_fd = -1;
static struct hf_tasks *tasks;
static struct hf_sample sample = HF_SAMPLE_INIT;
static struct hf_suspect suspect;

static void setup(void)
{
	dir = hf_tmpdir_make();
	proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(proc_fd, 0);
	cr_assert_eq(hf_tasks_new(proc_fd, getpid(), &tasks), 0);
	for (size_t i = 0; i < HF_TEST_VARIABLES; i++)
		cr_assert_eq(unsetenv(hf_test_variables[i]), 0);
}

static void teardown(void)
{
	hf_sample_end(&sample);
	hf_tasks_free(&tasks);
	hf_file_close_quietly(&proc_fd);
	hf_tmpdir_remove(dir);
}

TestSuite(culprit, .init = setup, .fini = teardown, .timeout = 60);

static long start(const char *program, const char *option, const char *text)
{
	const char *const argv[] = {program, option, text, NULL};

	return hf_sample_start(&sample, argv);
}

static void look_at(const char *program, const char *option, const char *text)
{
	const long tid = start(program, option, text);

	cr_assert_eq(hf_culprit_look(tasks, tid, &suspect), 0);
	cr_assert_eq(suspect.task->tid, tid);
}

static void expect_test(const char *name, bool is_exact)
{
	cr_assert(suspect.has_test);
	cr_expect_str_eq(suspect.test, name);
	cr_expect_eq(suspect.is_test_exact, is_exact);
}

Test(culprit, is_in_no_test)
{
	look_at("python3", "-c",
		"import os, sys; print(os.getpid(), flush=True);"
		"sys.stdin.read()");
	cr_expect_not(suspect.has_test);
}

#define SET_TEST                       \
	"import os, subprocess, sys\n" \
	"os.environ['PYTEST_CURRENT_TEST'] = 'a.py::test_a (call)'\n"

Test(culprit, is_in_the_test_of_its_process)
{
	look_at("python3", "-c",
		SET_TEST "print(os.getpid(), flush=True)\n"
			 "sys.stdin.read()");
	expect_test("a.py::test_a (call)", true);
}

Test(culprit, is_in_the_test_that_started_it)
{
	look_at("python3", "-c",
		SET_TEST "subprocess.run(['sh', '-c', 'echo $$; read x'])");
	expect_test("a.py::test_a (call)", true);
	cr_expect_eq(suspect.task->parent_count, 1);
}

/* The child knows nothing; its grandparent is in a test, and runs on. */
#define IN_A_TEST                                                         \
	SET_TEST                                                          \
	"subprocess.run(['sh', '-c', \"sh -c 'echo $$; read x; :'; :\"]," \
	" env={'PATH': os.environ['PATH']})"

Test(culprit, is_in_the_test_of_a_parent)
{
	look_at("python3", "-c", IN_A_TEST);
	expect_test("a.py::test_a (call)", false);
	cr_expect_eq(suspect.task->parent_count, 2);
}

/* Beyond guard is whoever runs holdfast: perhaps a test, but another one. */
Test(culprit, is_not_in_the_test_of_an_outsider)
{
	const long tid = start("python3", "-c", IN_A_TEST);
	cleanup_tasks struct hf_tasks *others = NULL;

	cr_assert_eq(hf_tasks_new(proc_fd, tid, &others), 0);
	cr_assert_eq(hf_culprit_look(others, tid, &suspect), 0);
	cr_expect_not(suspect.has_test);
	cr_expect_geq(suspect.task->parent_count, 2);
}

Test(culprit, is_in_the_test_that_its_thread_is_named_after)
{
	char path[PATH_MAX];

	cr_assert(hf_sample_path(path, "pie"));
	look_at(path, "thread", NULL);
	expect_test("tests::it_runs", true);
	cr_expect_str_eq(suspect.task->process.comm, "environ_pie");
}

/* The shell that bats runs the test in, and a program that the test starts. */
Test(culprit, is_in_a_test_of_bats)
{
	static const char *const bodies[] = {
		"echo $$ >&6; read x <&5",
		"sh -c 'echo $$ >&6; read x <&5'",
	};
	cleanup_fd int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	cr_assert(dir_fd >= 0 && fchdir(dir_fd) == 0);
	for (size_t i = 0; i < HF_COUNT(bodies); i++) {
		cleanup_free char *text = NULL;
		long tid;

		cr_assert(asprintf(&text, "@test \"adds one_thing\" {\n%s\n}\n",
				   bodies[i]) > 0);
		hf_put_file(dir_fd, "a.bats", text);
		tid = start("sh", "-c",
			    "command -v bats >/dev/null || exec echo 0;"
			    "bats a.bats 5<&0 6>&1 >&2");
		if (tid == 0)
			hf_skip(teardown, "no bats here");
		cr_assert_eq(hf_culprit_look(tasks, tid, &suspect), 0);
		expect_test("a.bats: adds one_thing", true);
		hf_sample_end(&sample);
	}
}

/* -- the copy ------------------------------------------------------------- */

Test(culprit, is_kept)
{
	cleanup_arena struct hf_arena arena = HF_ARENA_INIT;
	const struct hf_culprit *culprit;
	const long tid = start("python3", "-c", IN_A_TEST);
	size_t parent_len;

	cr_assert_eq(hf_culprit_look(tasks, tid, &suspect), 0);
	culprit = hf_culprit_keep(&arena, suspect.task);
	parent_len = suspect.task->parents[1].command_line_len;
	hf_tasks_free(&tasks);
	cr_assert_not_null(culprit);
	cr_expect_eq(culprit->tid, tid);
	cr_expect_eq(culprit->process.pid, tid);
	cr_expect_str_eq(culprit->process.comm, "sh");
	cr_expect_eq(culprit->process.command_line_len,
		     sizeof("sh\0-c\0echo $$; read x; :"));
	cr_expect_arr_eq(culprit->process.command_line,
			 "sh\0-c\0echo $$; read x; :",
			 culprit->process.command_line_len);
	cr_expect(culprit->is_inside);
	cr_expect_eq(culprit->exe[0], '/');
	cr_expect_eq(culprit->cwd[0], '/');
	cr_assert_eq(culprit->parent_count, 2);
	cr_expect_str_eq(culprit->parents[0].command_line, "sh");
	cr_expect_eq(culprit->parents[1].pid, sample.pid);
	cr_expect_eq(culprit->parents[1].command_line_len, parent_len);
}

Test(culprit, is_gone)
{
	const long tid = start("sh", "-c", "echo $$; read x");

	hf_sample_end(&sample);
	cr_expect_eq(hf_culprit_look(tasks, tid, &suspect), -ESRCH);
}
