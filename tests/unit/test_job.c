/* SPDX-License-Identifier: MIT */
/* A job: what its hooks are told, and that nothing of it is left. */
#include "platform/job.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "platform/file.h"
#include "platform/system.h"
#include "support/check.h"
#include "support/tmpdir.h"

#define PATIENCE_MS 30000
#define PAUSE_US    5000

enum { SEEN_MAX = 8 };

/* What the processes of a job leave for the test: they share this memory. */
struct seen {
	char order[32]; /* a letter a call */
	size_t order_len;
	struct hf_job_end end; /* its pointers are theirs */
	struct hf_process leftovers[SEEN_MAX];
	struct hf_process processes[SEEN_MAX];
	size_t process_count;
	pid_t front;
	pid_t guard;
	pid_t settled_by;
	int rc;
	struct hf_job_result result;
};

static char *dir;
static int dir_fd = -1;
static struct seen *seen;
/* Every process of the command holds its write end. */
static int life[2] = {-1, -1};

static void setup(void)
{
	dir = hf_tmpdir_make();
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert(dir_fd >= 0 && fchdir(dir_fd) == 0);
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert(seen != MAP_FAILED);
	cr_assert(pipe2(life, 0) == 0);
	cr_assert(fcntl(life[0], F_SETFD, FD_CLOEXEC) == 0);
	cr_assert(mkfifo("tell", 0600) == 0);
}

static void teardown(void)
{
	(void)munmap(seen, sizeof(*seen));
	hf_file_close_quietly(&life[0]);
	hf_file_close_quietly(&life[1]);
	hf_file_close_quietly(&dir_fd);
	hf_tmpdir_remove(dir);
}

TestSuite(job, .init = setup, .fini = teardown, .timeout = 60);

/* -- hooks --------------------------------------------------------------- */

static void note(char letter)
{
	const size_t at =
		__atomic_fetch_add(&seen->order_len, 1, __ATOMIC_SEQ_CST);

	if (at < sizeof(seen->order) - 1)
		seen->order[at] = letter;
}

static int arm(void *context, struct hf_job *job, struct hf_error *err)
{
	(void)context;
	(void)err;
	seen->guard = getpid();
	note('a');
	/* The command says something by writing to it. */
	hf_job_listen(job, open("tell", O_RDONLY | O_NONBLOCK | O_CLOEXEC));
	return 0;
}

static void copy_processes(const struct hf_processes *from,
			   struct hf_process to[SEEN_MAX])
{
	for (size_t i = 0; i < from->count && i < SEEN_MAX; i++) {
		to[i] = from->items[i];
		to[i].command_line = NULL;
	}
}

static void ready(void *context, struct hf_job *job)
{
	cleanup_processes struct hf_processes processes = HF_PROCESSES_INIT;

	(void)context;
	note('r');
	if (hf_job_processes(job, &processes) == 0) {
		seen->process_count = processes.count;
		copy_processes(&processes, seen->processes);
	}
	hf_job_stop(job);
}

static int started(void *context, struct hf_error *err)
{
	(void)context;
	(void)err;
	note('s');
	hf_put_file(AT_FDCWD, "started", "");
	return 0;
}

static int settle(void *context, const struct hf_job_end *end)
{
	(void)context;
	seen->end = *end;
	copy_processes(&end->leftovers, seen->leftovers);
	seen->settled_by = getpid();
	note('S');
	return 0;
}

static const struct hf_job_hooks hooks = {
	.arm = arm,
	.ready = ready,
	.started = started,
	.settle = settle,
};

/* -- running ------------------------------------------------------------- */

/* Run it in a process of its own, for hf_job_run() spoils its caller. */
static pid_t begin(const struct hf_job_options *options)
{
	const pid_t pid = fork();

	cr_assert(pid >= 0);
	if (pid == 0) {
		struct hf_error err = {0};

		/* As a shell with job control would; an orphaned group with a
		 * stopped member is hung up. */
		(void)setpgid(0, 0);
		seen->front = getpid();
		seen->rc = hf_job_run(options, &seen->result, &err);
		_exit(0);
	}
	hf_file_close_quietly(&life[1]);
	return pid;
}

/* All processes that had the write end are gone: those of ours close it. */
static bool is_all_over(void)
{
	struct pollfd fd = {.fd = life[0]};

	return poll(&fd, 1, 0) == 1 && fd.revents & POLLHUP;
}

static void run_with(struct hf_job_options options, const char *script)
{
	const char *const argv[] = {"sh", "-c", script, NULL};
	int status;
	pid_t pid;

	if (!options.argv)
		options.argv = argv;
	if (!options.hooks.arm)
		options.hooks = hooks;
	pid = begin(&options);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	cr_expect(is_all_over(), "something of the command is left");
}

static void run(const char *script)
{
	run_with((struct hf_job_options){.argv = NULL}, script);
}

/* -- the plain life ------------------------------------------------------ */

Test(job, calls_hooks_in_order)
{
	run("until [ -e started ]; do sleep 0.01; done");
	cr_expect_str_eq(seen->order, "asS");
	cr_expect_eq(seen->rc, 0);
	cr_expect_eq(seen->settled_by, seen->guard);
	cr_expect(seen->end.has_run && !seen->end.was_stopped &&
		  !seen->end.is_survivor);
}

Test(job, passes_on_how_the_command_ended)
{
	static const struct {
		const char *script;
		int code;
		int signal;
	} cases[] = {
		{"exit 0", 0, 0},
		{"exit 7", 7, 0},
		{"exit 255", 255, 0},
		{"kill -TERM $$", -1, SIGTERM},
		{"kill -KILL $$", -1, SIGKILL},
		{"kill -INT $$", -1, SIGINT},
	};

	for (size_t i = 0; i < HF_COUNT(cases); i++) {
		run(cases[i].script);
		cr_expect_eq(seen->end.code, cases[i].code, "%s",
			     cases[i].script);
		cr_expect_eq(seen->end.signal, cases[i].signal, "%s",
			     cases[i].script);
		cr_expect_eq(seen->result.code, cases[i].code);
		cr_expect_eq(seen->result.signal, cases[i].signal);
		cr_expect(seen->result.has_run);
		teardown();
		setup();
	}
}

Test(job, says_why_the_command_was_not_executed)
{
	static const struct {
		const char *command;
		int error;
	} cases[] = {
		{"hf-no-such-command", ENOENT},
		{"./none", ENOENT},
		{"./plain", EACCES},
		{"./folder", EACCES},
		{"./plain/none", ENOTDIR},
	};

	for (size_t i = 0; i < HF_COUNT(cases); i++) {
		const char *const argv[] = {cases[i].command, NULL};

		hf_put_file(dir_fd, "plain", "exit 0\n");
		cr_assert_eq(mkdirat(dir_fd, "folder", 0755), 0);
		run_with((struct hf_job_options){.argv = argv}, NULL);
		cr_expect_eq(seen->rc, 0);
		cr_expect_eq(seen->end.exec_errno, cases[i].error, "%s",
			     cases[i].command);
		cr_expect_eq(seen->result.exec_errno, cases[i].error);
		cr_expect_not(seen->end.has_run);
		/* The layers were armed, so the end is looked at.  Front's
		 * slow work begins or not: it does not wait for the exec. */
		cr_expect_eq(seen->order[0], 'a');
		cr_expect_eq(strcspn(seen->order + 1, "arS"),
			     strcspn(seen->order + 1, "S"), "%s", seen->order);
		cr_expect(strchr(seen->order, 'S'));
		teardown();
		setup();
	}
}

static int fail_to_arm(void *context, struct hf_job *job, struct hf_error *err)
{
	(void)context;
	(void)job;
	note('a');
	return hf_fail(err, HF_ERR_CHANGED, "changed");
}

Test(job, starts_nothing_when_arming_fails)
{
	struct hf_job_options options = {.hooks = hooks};

	options.hooks.arm = fail_to_arm;
	run_with(options, ": >ran");
	cr_expect_eq(seen->rc, HF_ERR_CHANGED);
	cr_expect_str_eq(seen->order, "a");
	cr_expect(access("ran", F_OK) < 0);
}

static int fail_to_start(void *context, struct hf_error *err)
{
	(void)context;
	note('s');
	return hf_fail(err, HF_ERR_SYSTEM, "the disk is full");
}

Test(job, ends_the_command_when_slow_work_fails)
{
	struct hf_job_options options = {.hooks = hooks};

	options.hooks.started = fail_to_start;
	run_with(options, "sleep 1000");
	cr_expect_str_eq(seen->order, "asS");
	cr_expect(seen->end.was_stopped);
	cr_expect_eq(seen->end.error.code, HF_ERR_SYSTEM);
}

/* -- what the command is given ------------------------------------------- */

#define LOOK                                                        \
	"exec >\"$OUT\"; grep -E 'Sig(Blk|Ign)' /proc/self/status;" \
	"for fd in /proc/$$/fd/*; do echo ${fd##*/}; done"

static int run_bare(const char *script)
{
	const char *const argv[] = {"sh", "-c", script, NULL};
	const pid_t pid = fork();
	int status = -1;

	if (pid == 0)
		_exit(hf_process_exec(argv) != 0);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	return status;
}

Test(job, gives_the_command_what_it_would_have)
{
	const int given = open("/dev/null", O_RDONLY);
	const int kept = open("/dev/null", O_RDONLY);
	struct hf_job_options options = {
		.keep = &kept,
		.keep_count = 1,
		.variables = (const char *const[]){"OUT=guarded", NULL},
	};
	sigset_t set;

	cr_assert(given >= 0 && kept >= 0);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGUSR1);
	cr_assert_eq(sigprocmask(SIG_BLOCK, &set, NULL), 0);
	(void)signal(SIGUSR2, SIG_IGN);

	(void)fcntl(kept, F_SETFD, FD_CLOEXEC);
	cr_assert_eq(setenv("OUT", "bare", 1), 0);
	cr_assert_eq(run_bare(LOOK), 0);
	(void)fcntl(kept, F_SETFD, 0);
	run_with(options, LOOK);
	cr_expect_eq(run_bare("diff bare guarded >&2"), 0);
}

/* -- the end of a tree --------------------------------------------------- */

Test(job, stops_a_large_tree)
{
	run("trap '' TERM INT HUP; i=0; while [ $i -lt 50 ]; do\n"
	    "	sleep 1000 & setsid sleep 1000 &\n"
	    "	(sleep 1000 & setsid -f sleep 1000)\n"
	    "	i=$((i + 1))\n"
	    "done\n"
	    "echo >tell; wait");
	cr_expect(seen->process_count > 200);
	cr_expect(seen->end.was_stopped);
	cr_expect_eq(seen->end.signal, SIGKILL);
	cr_expect_eq(seen->end.unended, 0);
}

/* Each has a child before it can be killed; only a stop of all helps. */
Test(job, stops_what_forks_on)
{
	run("f() { (f) & exit; }\n"
	    "for i in 1 2 3 4 5 6 7 8; do (f) & done\n"
	    "echo >tell; sleep 1000");
	cr_expect(seen->end.was_stopped);
	cr_expect_eq(seen->end.unended, 0);
}

Test(job, stops_what_is_stopped)
{
	run("(sleep 0.1; echo >tell) & kill -STOP $$");
	cr_expect(seen->end.was_stopped);
	cr_expect_eq(seen->end.signal, SIGKILL);
}

#define UNTIL_SLEEP(pid) "until grep -q sleep /proc/" pid "/comm; do :; done;"

Test(job, lists_and_ends_leftovers)
{
	run("sleep 1000 & " UNTIL_SLEEP(
		"$!") "setsid sleep 1000 "
		      "& " UNTIL_SLEEP("$!") "(trap '' TERM; "
					     "exec sleep 1000) "
					     "& " UNTIL_SLEEP("$"
							      "!") "exit 3");
	cr_expect_eq(seen->end.code, 3);
	cr_expect_not(seen->end.was_stopped);
	cr_assert_eq(seen->end.leftovers.count, 3);
	for (size_t i = 0; i < 3; i++) {
		cr_expect_str_eq(seen->leftovers[i].comm, "sleep");
		cr_expect(seen->leftovers[i].has_ended);
		cr_expect_not(seen->leftovers[i].has_ended_itself);
	}
	cr_expect_eq(seen->end.unended, 0);
}

Test(job, leaves_time_to_what_ends_by_itself)
{
	const struct hf_job_options options = {
		.wait_for_leftovers = true,
		.leftover_limit_ms = PATIENCE_MS,
	};

	run_with(options, "setsid sh -c 'sleep 0.2; : >late' & exit 3");
	cr_expect_eq(seen->end.code, 3);
	cr_expect(access("late", F_OK) == 0);
	/* The shell, and its sleep if that was there already. */
	cr_assert(seen->end.leftovers.count > 0);
	for (size_t i = 0; i < seen->end.leftovers.count; i++)
		cr_expect(seen->leftovers[i].has_ended &&
			  seen->leftovers[i].has_ended_itself);
}

Test(job, does_not_wait_for_ever)
{
	const struct hf_job_options options = {
		.wait_for_leftovers = true,
		.leftover_limit_ms = 50,
	};

	run_with(options, "sleep 1000 & exit 3");
	cr_expect_eq(seen->end.code, 3);
	cr_assert_eq(seen->end.leftovers.count, 1);
	cr_expect(seen->leftovers[0].has_ended);
	cr_expect_not(seen->leftovers[0].has_ended_itself);
	cr_expect_eq(seen->end.unended, 0);
}

/* -- deaths of ours --------------------------------------------------------- */

Test(job, outlives_guard)
{
	run("until [ -e started ]; do sleep 0.01; done\n"
	    "setsid sleep 1000 & kill -KILL $PPID; sleep 1000");
	cr_expect_str_eq(seen->order, "asS");
	cr_expect_eq(seen->settled_by, seen->front);
	cr_expect(seen->end.is_survivor && seen->end.has_run &&
		  seen->end.was_stopped);
	cr_expect_eq(seen->end.unended, 0);
}

/* Before there is a canary. */
Test(job, outlives_guard_from_the_start)
{
	run("kill -KILL $PPID; sleep 1000");
	cr_expect_eq(seen->settled_by, seen->front);
}

Test(job, outlives_front)
{
	const char *const argv[] = {
		"sh", "-c",
		"setsid sleep 1000 &\n"
		"kill -KILL $(sed 's/.*) . \\([0-9]*\\).*/\\1/' "
		"/proc/$PPID/stat); sleep 1000",
		NULL};
	const struct hf_job_options options = {.argv = argv, .hooks = hooks};
	const pid_t front = begin(&options);
	const int64_t limit =
		hf_system_boot_ns() + INT64_C(1000000) * PATIENCE_MS;
	int status;

	cr_assert_eq(waitpid(front, &status, 0), front);
	cr_expect(WIFSIGNALED(status));
	while (!strchr(seen->order, 'S') && hf_system_boot_ns() < limit)
		(void)usleep(PAUSE_US);
	cr_expect_eq(seen->settled_by, seen->guard);
	cr_expect(seen->end.is_survivor);
	cr_expect(is_all_over());
}

/* -- looking at processes ------------------------------------------------ */

Test(job, is_not_misled_by_names)
{
	static const char *const names[] = {"NAME=a) R 1", "NAME=b) Z 0 (",
					    "NAME=)\n) X 1",
					    "NAME=\033[31m\xff"};

	for (size_t i = 0; i < HF_COUNT(names); i++) {
		const char *const variables[] = {names[i], NULL};

		run_with((struct hf_job_options){.variables = variables},
			 "sleep 1000 & printf %s \"$NAME\" >/proc/$$/comm;"
			 "echo >tell; wait");
		cr_assert_eq(seen->process_count, 2, "case %zu", i);
		cr_expect_str_eq(seen->processes[0].comm, names[i] + 5);
		cr_expect_eq(seen->processes[0].parent, seen->guard);
		cr_expect_eq(seen->processes[1].parent, seen->processes[0].pid);
		teardown();
		setup();
	}
}
