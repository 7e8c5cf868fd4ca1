/* SPDX-License-Identifier: MIT */
/* A job whose command is behind the gate. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/job.h"
#include "support/check.h"
#include "support/gated.h"

/* What the processes of a job leave for the test: they share this memory. */
struct seen {
	int gate_rc; /* of hf_job_gate() */
	int start_rc;
	unsigned judged;
	pid_t guard;
	pid_t front;
	pid_t settled_by;
	bool is_survivor;
	int code;
	int rc;
};

/* A number that every shell takes; the scripts name it. */
#define SAID 9

static struct hf_gated gated;
static struct seen *seen;
/* The command writes to it without asking anybody. */
static int said[2];

static void setup(void)
{
	hf_gated_setup(&gated);
	hf_put_file(gated.dir_fd, "precious", "content\n");
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert(seen != MAP_FAILED);
	cr_assert_eq(pipe2(said, O_NONBLOCK), 0);
}

static void teardown(void)
{
	(void)close(said[0]);
	(void)close(said[1]);
	(void)munmap(seen, sizeof(*seen));
	hf_gated_teardown(&gated);
}

TestSuite(job_gate, .init = setup, .fini = teardown, .timeout = 60);

static int judge(void *context, struct hf_gate_question *question)
{
	const struct hf_gate_call *const call = hf_gate_question_call(question);

	(void)context;
	if (call->place_count == 0 ||
	    strcmp(call->places[0].last, "precious") != 0)
		return 0;
	seen->judged++;
	return EACCES;
}

static void take_effect(void *context, struct hf_gate_question *question,
			enum hf_gate_effect effect)
{
	(void)context;
	(void)question;
	(void)effect;
}

static int arm(void *context, struct hf_job *job, struct hf_error *err)
{
	const struct hf_gate_hooks hooks = {
		.judge = judge,
		.effect = take_effect,
	};

	(void)context;
	(void)err;
	seen->guard = getpid();
	seen->gate_rc = hf_job_gate(job);
	if (seen->gate_rc >= 0)
		seen->start_rc =
			hf_gate_start(seen->gate_rc, hf_job_proc(job), &hooks);
	return 0;
}

static void ready(void *context, struct hf_job *job)
{
	(void)context;
	(void)job;
}

static void alarm_rang(void *context, struct hf_job *job)
{
	(void)context;
	(void)job;
}

static int started(void *context, struct hf_error *err)
{
	(void)context;
	(void)err;
	return 0;
}

static int settle(void *context, const struct hf_job_end *end)
{
	(void)context;
	seen->settled_by = getpid();
	seen->is_survivor = end->is_survivor;
	seen->code = end->code;
	return 0;
}

/* In a process of its own, for hf_job_run() spoils its caller. */
static void run_here(const char *script, bool wants_gate)
{
	const char *const argv[] = {"sh", "-c", script, NULL};
	const struct hf_job_options options = {
		.argv = argv,
		.wants_gate = wants_gate,
		.hooks = {.arm = arm,
			  .ready = ready,
			  .alarm = alarm_rang,
			  .started = started,
			  .settle = settle},
	};
	struct hf_job_result result;
	struct hf_error err = {0};

	(void)setpgid(0, 0);
	(void)dup2(said[1], SAID);
	seen->front = getpid();
	seen->rc = hf_job_run(&options, &result, &err);
	_exit(0);
}

static void run(const char *script, bool wants_gate)
{
	const pid_t pid = fork();
	int status;

	cr_assert_geq(pid, 0);
	if (pid == 0)
		run_here(script, wants_gate);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%#x",
		  (unsigned)status);
}

Test(job_gate, its_listener_answers_the_command)
{
	run("rm -f precious 2>/dev/null", true);
	cr_assert_geq(seen->gate_rc, 0, "%d", seen->gate_rc);
	cr_expect_eq(seen->start_rc, 0);
	cr_expect_eq(seen->judged, 1);
	cr_expect_eq(seen->code, 1, "%d", seen->code);
	cr_expect(hf_file_has(gated.dir_fd, "precious", "content\n"));
	cr_expect_eq(seen->settled_by, seen->guard);
}

Test(job_gate, there_is_none_where_none_is_wanted)
{
	run("rm precious", false);
	cr_expect_lt(seen->gate_rc, 0);
	cr_expect_eq(seen->code, 0);
	cr_expect_eq(access("precious", F_OK), -1);
}

/* The call waits until the command is ended; were the last listener gone, it
 * would fail with ENOSYS and the command would go on. */
Test(job_gate, its_listener_outlives_guard_in_front)
{
	char text[16];

	run("kill -KILL $PPID; true >precious; echo on >&9", true);
	cr_assert_geq(seen->gate_rc, 0);
	cr_expect(seen->is_survivor);
	cr_expect_eq(seen->settled_by, seen->front);
	cr_expect_eq(read(said[0], text, sizeof(text)), -1,
		     "the command went on");
	cr_expect(hf_file_has(gated.dir_fd, "precious", "content\n"));
}

static void run_below(struct hf_gated *child)
{
	const pid_t pid = fork();
	int status;

	(void)child;
	if (pid == 0)
		run_here("exit 3", true);
	hf_gated_need(waitpid(pid, &status, 0) == pid && status == 0, "job");
}

Test(job_gate, there_is_one_already)
{
	hf_gated_run(&gated, run_below);
	cr_expect_eq(seen->rc, 0);
	cr_expect_eq(seen->gate_rc, -EBUSY, "%d", seen->gate_rc);
	cr_expect_eq(seen->code, 3, "the command runs all the same");
}
