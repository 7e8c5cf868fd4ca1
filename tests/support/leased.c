/* SPDX-License-Identifier: MIT */
/* Leases on files of a temporary directory, and who wants to write them. */
#include "support/leased.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"
#include "support/tmpdir.h"

void hf_leased_setup(struct hf_leased *leased, int64_t inside)
{
	sigset_t all;

	(void)sigfillset(&all);
	cr_assert_eq(sigprocmask(SIG_BLOCK, &all, NULL), 0);
	*leased = (struct hf_leased){.dir = hf_tmpdir_make()};
	leased->dir_fd = open(leased->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	leased->proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	leased->signal_fd = signalfd(-1, &all, SFD_NONBLOCK | SFD_CLOEXEC);
	cr_assert(leased->dir_fd >= 0 && leased->proc_fd >= 0 &&
		  leased->signal_fd >= 0);
	cr_assert_eq(hf_leases_new(leased->proc_fd, inside, &leased->leases),
		     0);
}

void hf_leased_teardown(struct hf_leased *leased)
{
	hf_lease_openers_done(&leased->openers);
	hf_leases_free(&leased->leases);
	(void)close(leased->signal_fd);
	(void)close(leased->proc_fd);
	(void)close(leased->dir_fd);
	hf_tmpdir_remove(leased->dir);
}

int hf_leased_add(struct hf_leased *leased, const char *name, size_t tag)
{
	hf_put_file(leased->dir_fd, name, "content\n");
	return hf_leases_add(leased->leases, leased->dir_fd, name, tag);
}

void hf_leased_take_signals(struct hf_leased *leased)
{
	struct signalfd_siginfo info;

	while (read(leased->signal_fd, &info, sizeof(info)) ==
	       (ssize_t)sizeof(info)) {
		if ((int)info.ssi_signo == hf_leases_signal_number())
			hf_leases_signal(leased->leases, info.ssi_fd);
		if (info.ssi_signo != SIGIO)
			continue;
		leased->lost++;
		hf_leases_signals_lost(leased->leases);
	}
}

void hf_leased_judge(struct hf_leased *leased)
{
	struct pollfd fd = {.fd = leased->signal_fd, .events = POLLIN};

	hf_lease_openers_done(&leased->openers);
	while (leased->openers.count == 0) {
		cr_assert_eq(poll(&fd, 1, -1), 1);
		hf_leased_take_signals(leased);
		cr_assert_eq(hf_leases_judge(leased->leases, &leased->openers),
			     0);
	}
}

/* -- openers ------------------------------------------------------------- */

void hf_opener_end_with_us(void)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

struct deed {
	const char *name;
	int flags; /* -1: truncate */
	uid_t uid; /* 0: the test's own */
	bool is_held;
};

/* In the child: act, and tell. */
static _Noreturn void act(const struct hf_leased *leased,
			  const struct deed *deed, int result_fd)
{
	char path[512];
	int result = 0;

	if (deed->uid != 0 && setresuid(deed->uid, deed->uid, deed->uid) < 0)
		_exit(1);
	hf_opener_end_with_us();
	(void)snprintf(path, sizeof(path), "%s/%s", leased->dir, deed->name);
	if (deed->is_held)
		(void)raise(SIGSTOP);
	if (deed->flags < 0 ? truncate(path, 0) < 0
			    : open(path, deed->flags) < 0)
		result = errno;
	(void)!write(result_fd, &result, sizeof(result));
	_exit(0);
}

static struct hf_opener start(const struct hf_leased *leased,
			      const struct deed *deed)
{
	struct hf_opener opener;
	int result[2];

	cr_assert_eq(pipe(result), 0);
	opener.pid = fork();
	cr_assert(opener.pid >= 0);
	if (opener.pid == 0)
		act(leased, deed, result[1]);
	(void)close(result[1]);
	opener.result_fd = result[0];
	return opener;
}

struct hf_opener hf_opener_start(const struct hf_leased *leased,
				 const char *name, int flags, uid_t uid)
{
	return start(leased,
		     &(struct deed){.name = name, .flags = flags, .uid = uid});
}

struct hf_opener hf_opener_start_held(const struct hf_leased *leased,
				      const char *name, int flags)
{
	const struct hf_opener opener = start(
		leased,
		&(struct deed){.name = name, .flags = flags, .is_held = true});
	int status;

	cr_assert_eq(waitpid(opener.pid, &status, WUNTRACED), opener.pid);
	cr_assert(WIFSTOPPED(status));
	return opener;
}

void hf_opener_go(const struct hf_opener *opener)
{
	cr_assert_eq(kill(opener->pid, SIGCONT), 0);
}

struct hf_opener hf_truncater_start(const struct hf_leased *leased,
				    const char *name)
{
	return start(leased, &(struct deed){.name = name, .flags = -1});
}

void hf_opener_wait_blocked(pid_t pid, pid_t tid)
{
	char path[64];
	char text[64] = "";

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/wchan", (int)pid,
		       (int)tid);
	while (strstr(text, "break_lease") == NULL) {
		const int fd = open(path, O_RDONLY | O_CLOEXEC);
		const ssize_t len = read(fd, text, sizeof(text) - 1);

		(void)close(fd);
		cr_assert(len >= 0, "the opener has ended");
		text[len] = '\0';
		(void)sched_yield();
	}
}

int hf_opener_is_busy(const struct hf_opener *opener)
{
	struct pollfd fd = {.fd = opener->result_fd, .events = POLLIN};

	return poll(&fd, 1, 0) == 0;
}

int hf_opener_result(struct hf_opener *opener)
{
	int result = -1;

	cr_expect_eq((int)read(opener->result_fd, &result, sizeof(result)),
		     (int)sizeof(result));
	(void)close(opener->result_fd);
	cr_expect_eq(waitpid(opener->pid, NULL, 0), opener->pid);
	return result;
}

int hf_leased_try(const struct hf_leased *leased, const char *name)
{
	const int fd =
		openat(leased->dir_fd, name, O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return errno;
	(void)close(fd);
	return 0;
}
