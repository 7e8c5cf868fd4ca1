/* SPDX-License-Identifier: MIT */
/* Who waits for a lease: by lines of text, by threads, across users. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/linux/lease_internal.h"
#include "support/check.h"
#include "support/leased.h"
#include "support/tmpdir.h"

#define SOMEBODY   1000
#define NO_PROCESS (-1)

/* -- lines of /proc/locks ------------------------------------------------ */

#define WAITERS_MAX 3

static const struct listing {
	const char *name;
	const char *lines[6];
	struct hf_lease_waiter waiters[WAITERS_MAX];
} listings[] = {
	{.name = "nothing", .lines = {""}},
	{.name = "held",
	 .lines = {"1: LEASE  ACTIVE    READ 10 fe:00:7 0 EOF"}},
	{.name = "broken, nobody waits",
	 .lines = {"1: LEASE  BREAKING  UNLCK 10 fe:01:7 0 EOF"},
	 .waiters = {{.file = {0xfe01, 7}, .is_ours = true}}},
	{.name = "one waits",
	 .lines = {"1: LEASE  BREAKING  UNLCK 10 fe:01:7 0 EOF",
		   "1: -> LEASE  BREAKER   WRITE 20 <none>:0 0 EOF"},
	 .waiters = {{.file = {0xfe01, 7}, .is_ours = true},
		     {.file = {0xfe01, 7},
		      .is_ours = true,
		      .pid = 20,
		      .count = 1}}},
	{.name = "a tree of them, another's lease",
	 .lines = {"21: LEASE  BREAKING  UNLCK 11 00:2a:18446744073709551615 0 "
		   "EOF",
		   "21: -> LEASE  BREAKER   WRITE 20 <none>:0 0 EOF",
		   "21:  -> LEASE  BREAKER   WRITE 20 <none>:0 0 EOF",
		   "21:   -> LEASE  BREAKER   WRITE 0 <none>:0 0 EOF"},
	 .waiters = {{.file = {0x2a, UINT64_MAX}},
		     {.file = {0x2a, UINT64_MAX}, .pid = 20, .count = 2},
		     {.file = {0x2a, UINT64_MAX}, .count = 1}}},
	{.name = "other locks wait as well",
	 .lines = {"1: POSIX  ADVISORY  WRITE 10 fe:01:7 0 EOF",
		   "1: -> POSIX  ADVISORY  WRITE 20 fe:01:7 0 EOF",
		   "2: FLOCK  ADVISORY  WRITE 10 fe:01:7 0 EOF",
		   "2: -> FLOCK  ADVISORY  WRITE 20 fe:01:7 0 EOF",
		   "3: DELEG  ACTIVE    READ 0 fe:01:7 0 EOF"}},
	{.name = "a lease after a broken one",
	 .lines = {"1: LEASE  BREAKING  UNLCK 10 fe:01:7 0 EOF",
		   "2: LEASE  ACTIVE    READ 10 fe:01:8 0 EOF",
		   "2: -> LEASE  BREAKER   WRITE 20 <none>:0 0 EOF"},
	 .waiters = {{.file = {0xfe01, 7}, .is_ours = true}}},
	{.name = "moved while it was read",
	 .lines = {"1: LEASE  BREAKING  UNLCK 10 fe:01:7 0 EOF",
		   "1: -> LEASE  BREAKER   WRITE 20 <none>:0 0 EOF",
		   "2: LEASE  BREAKING  UNLCK 10 fe:01:7 0 EOF",
		   "2: -> LEASE  BREAKER   WRITE 20 <none>:0 0 EOF"},
	 .waiters = {{.file = {0xfe01, 7}, .is_ours = true},
		     {.file = {0xfe01, 7}, .pid = 20, .count = 1, .is_ours = true},
		     {.file = {0xfe01, 7}, .is_ours = true}}},
	{.name = "damaged",
	 .lines = {"no number", "1", "1:", "1: LEASE", "1: -> LEASE BREAKER",
		   "2: LEASE  BREAKING  UNLCK x fe:01:7 0 EOF"}},
};

static bool is_equal(const struct hf_lease_waiter *a,
		     const struct hf_lease_waiter *b)
{
	return hf_lease_is_same_file(&a->file, &b->file) && a->pid == b->pid &&
	       a->count == b->count && a->is_ours == b->is_ours;
}

Test(lease_find, reads_the_list_of_locks)
{
	for (size_t i = 0; i < HF_COUNT(listings); i++) {
		const struct listing *const row = &listings[i];
		cleanup_lease_waiters struct hf_lease_waiters waiters =
			HF_LEASE_WAITERS_INIT;
		struct hf_lease_lines lines = {.self = 10,
					       .holder = HF_LEASE_NO_INDEX};
		size_t want = 0;

		for (size_t j = 0; j < HF_COUNT(row->lines) && row->lines[j];
		     j++)
			cr_assert_eq(hf_lease_parse_line(&lines, row->lines[j],
							 &waiters),
				     0);
		while (want < WAITERS_MAX && row->waiters[want].file.ino != 0)
			want++;
		cr_assert_eq(waiters.count, want, "%s: %zu", row->name,
			     waiters.count);
		for (size_t j = 0; j < want; j++)
			cr_expect(is_equal(&waiters.items[j], &row->waiters[j]),
				  "%s: waiter %zu", row->name, j);
	}
}

Test(lease_find, is_bounded)
{
	cleanup_lease_waiters struct hf_lease_waiters waiters =
		HF_LEASE_WAITERS_INIT;
	struct hf_lease_lines lines = {.holder = HF_LEASE_NO_INDEX};

	for (size_t i = 0; i < 2 * HF_LEASE_WAITERS_MAX; i++)
		cr_assert_eq(
			hf_lease_parse_line(
				&lines,
				"1: LEASE  BREAKING  UNLCK 1 fe:01:7 0 EOF",
				&waiters),
			0);
	cr_expect_eq(waiters.count, HF_LEASE_WAITERS_MAX);
}

/* -- in all circumstances ------------------------------------------------ */

static struct hf_leased leased;

/* Another /proc for leased, in a mount namespace of its own; false where it
 * cannot be made. */
static bool mount_proc(const char *options)
{
	char *const place = hf_tmpdir_make();
	int fd = -1;

	if (geteuid() == 0 && unshare(CLONE_NEWNS) == 0 &&
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	    mount("proc", place, "proc", 0, options) == 0) {
		fd = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		(void)umount2(place, MNT_DETACH);
	}
	hf_tmpdir_remove(place);
	if (fd < 0)
		return false;
	cr_assert_eq(dup3(fd, leased.proc_fd, O_CLOEXEC), leased.proc_fd);
	(void)close(fd);
	return true;
}

/* The one opener of ours; the machine may have others, who wait for others. */
static const struct hf_lease_opener *inside(void)
{
	const struct hf_lease_opener *found = NULL;

	for (size_t i = 0; i < leased.openers.count; i++) {
		if (leased.openers.items[i].side != HF_LEASE_INSIDE)
			continue;
		cr_expect(found == NULL, "more than one");
		found = &leased.openers.items[i];
	}
	return found;
}

Test(lease_find, goes_by_threads_where_there_is_no_list)
{
	const struct hf_lease_opener *told;
	struct hf_opener openers[2];

	hf_leased_setup(&leased, getpid());
	if (!mount_proc("subset=pid")) {
		hf_leased_teardown(&leased);
		hf_skip_now("needs a /proc of its own");
	}
	cr_assert_eq(hf_leased_add(&leased, "f", 0), 1);
	cr_assert_eq(hf_leased_add(&leased, "g", 1), 1);
	openers[0] = hf_opener_start(&leased, "f", O_RDWR, 0);
	openers[1] = hf_opener_start(&leased, "g", O_RDWR, 0);
	for (size_t i = 0; i < HF_COUNT(openers); i++)
		hf_opener_wait_blocked(openers[i].pid, openers[i].pid);

	/* The one that was approved is known; the other could be either. */
	cr_assert_eq(hf_leases_approve(leased.leases, 1, openers[1].pid), 0);
	hf_leased_judge(&leased);
	told = inside();
	cr_assert(told != NULL);
	cr_expect_eq(told->tag, 0);
	cr_expect_eq(told->process.pid, openers[0].pid);
	cr_expect_not(told->is_certain);
	cr_expect_eq(hf_opener_result(&openers[1]), 0);
	hf_leases_release(leased.leases, 0);
	cr_expect_eq(hf_opener_result(&openers[0]), 0);
	hf_leased_teardown(&leased);
}

Test(lease_find, names_another_users_opener)
{
	struct hf_opener opener;

	if (geteuid() != 0)
		hf_skip_now("needs root");
	hf_leased_setup(&leased, NO_PROCESS);
	cr_assert_eq(hf_leased_add(&leased, "f", 0), 1);
	cr_assert_eq(fchmod(leased.dir_fd, 0755), 0);
	cr_assert_eq(fchmodat(leased.dir_fd, "f", 0666, 0), 0);
	opener = hf_opener_start(&leased, "f", O_RDWR, SOMEBODY);
	hf_leased_judge(&leased);
	cr_assert_eq(leased.openers.count, 1);
	cr_expect_eq(leased.openers.items[0].process.pid, opener.pid);
	cr_expect_eq(leased.openers.items[0].uid, SOMEBODY);
	hf_leases_release(leased.leases, 0);
	cr_expect_eq(hf_opener_result(&opener), 0);
	hf_leased_teardown(&leased);
}

/* Forked while still root; opens when told. */
static pid_t start_root(int *ret_go_fd)
{
	int go[2];
	pid_t pid;

	cr_assert_eq(pipe2(go, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		char byte;

		hf_opener_end_with_us();
		if (read(go[0], &byte, 1) != 1)
			_exit(1);
		_exit(openat(leased.dir_fd, "f", O_RDWR | O_CLOEXEC) < 0);
	}
	(void)close(go[0]);
	*ret_go_fd = go[1];
	return pid;
}

/* An ordinary user's leases, and root opens; what is told of it. */
static void meet_root(struct hf_lease_opener *ret_told, pid_t *ret_pid)
{
	int status;
	int go_fd;

	hf_put_file(leased.dir_fd, "f", "");
	cr_assert_eq(fchmod(leased.dir_fd, 0755), 0);
	cr_assert_eq(fchownat(leased.dir_fd, "f", SOMEBODY, SOMEBODY, 0), 0);
	*ret_pid = start_root(&go_fd);
	cr_assert_eq(setgroups(0, NULL), 0);
	cr_assert_eq(setegid(SOMEBODY), 0);
	cr_assert_eq(setresuid(SOMEBODY, SOMEBODY, 0), 0);

	cr_assert_eq(hf_leases_add(leased.leases, leased.dir_fd, "f", 0), 1);
	cr_assert_eq(write(go_fd, "g", 1), 1);
	hf_leased_judge(&leased);
	cr_assert_eq(leased.openers.count, 1);
	*ret_told = leased.openers.items[0];
	hf_leases_release(leased.leases, 0);
	cr_assert_eq(setresuid(0, 0, 0), 0);
	cr_assert_eq(waitpid(*ret_pid, &status, 0), *ret_pid);
	cr_expect_eq(status, 0);
	(void)close(go_fd);
}

/* Whose threads an ordinary user may not look at. */
Test(lease_find, names_root_to_an_ordinary_user)
{
	struct hf_lease_opener told;
	pid_t pid;

	if (geteuid() != 0)
		hf_skip_now("needs root");
	hf_leased_setup(&leased, NO_PROCESS);
	meet_root(&told, &pid);
	cr_expect_eq(told.side, HF_LEASE_OUTSIDE);
	cr_expect_eq(told.process.pid, pid);
	cr_expect_eq(told.uid, 0);
	cr_expect_not(told.is_in_namespaces, "may not be looked at");
	hf_leased_teardown(&leased);
}

/* Nor at anything else of it: still it is not nobody. */
Test(lease_find, tells_of_an_opener_that_is_hidden)
{
	struct hf_lease_opener told;
	pid_t pid;

	hf_leased_setup(&leased, NO_PROCESS);
	if (!mount_proc("hidepid=2")) {
		hf_leased_teardown(&leased);
		hf_skip_now("needs a /proc of its own");
	}
	meet_root(&told, &pid);
	cr_expect_eq(told.side, HF_LEASE_OUTSIDE);
	cr_expect_eq(told.process.pid, pid);
	cr_expect_eq(told.uid, UINT32_MAX);
	cr_expect_eq(told.process.comm[0], '\0');
	hf_leased_teardown(&leased);
}

/* -- a guard in a process of its own ------------------------------------- */

struct told {
	enum hf_lease_side side;
	int64_t pid;
	bool is_certain;
};

/* Lease, say where, tell who opens, let it through. */
static _Noreturn void guard(int tell_fd, bool has_namespace)
{
	struct told told;

	hf_opener_end_with_us();
	hf_leased_setup(&leased, NO_PROCESS);
	if ((has_namespace && !mount_proc("")) ||
	    hf_leased_add(&leased, "f", 0) != 1 ||
	    write(tell_fd, leased.dir, strlen(leased.dir) + 1) < 0)
		_exit(1);
	hf_leased_judge(&leased);
	told = (struct told){
		.side = leased.openers.items[0].side,
		.pid = leased.openers.items[0].process.pid,
		.is_certain = leased.openers.items[0].is_certain,
	};
	if (write(tell_fd, &told, sizeof(told)) != (ssize_t)sizeof(told))
		_exit(1);
	hf_leases_release(leased.leases, 0);
	hf_leased_teardown(&leased);
	_exit(0);
}

struct guarded {
	struct hf_leased theirs; /* dir alone */
	char dir[256];
	pid_t pid;
	int told_fd;
};

static void start_guard(struct guarded *guarded, bool has_namespace)
{
	int tell[2];

	*guarded = (struct guarded){.theirs = {.dir = guarded->dir}};
	cr_assert_eq(pipe2(tell, O_CLOEXEC), 0);
	guarded->pid = fork();
	cr_assert(guarded->pid >= 0);
	if (guarded->pid == 0)
		guard(tell[1], has_namespace);
	(void)close(tell[1]);
	guarded->told_fd = tell[0];
	cr_assert(read(tell[0], guarded->dir, sizeof(guarded->dir)) > 1);
}

static struct told end_guard(struct guarded *guarded)
{
	struct told told = {.pid = -1};
	int status;

	cr_expect_eq((int)read(guarded->told_fd, &told, sizeof(told)),
		     (int)sizeof(told));
	cr_assert_eq(waitpid(guarded->pid, &status, 0), guarded->pid);
	cr_expect_eq(status, 0);
	(void)close(guarded->told_fd);
	return told;
}

Test(lease_find, names_an_opener_who_came_while_we_stood_still)
{
	struct guarded guarded;
	struct hf_opener opener;
	int status;

	start_guard(&guarded, false);
	cr_assert_eq(kill(guarded.pid, SIGSTOP), 0);
	cr_assert_eq(waitpid(guarded.pid, &status, WUNTRACED), guarded.pid);
	cr_assert(WIFSTOPPED(status));
	opener = hf_opener_start(&guarded.theirs, "f", O_RDWR, 0);
	hf_opener_wait_blocked(opener.pid, opener.pid);
	cr_assert_eq(kill(guarded.pid, SIGCONT), 0);

	cr_expect_eq(end_guard(&guarded).pid, opener.pid);
	cr_expect_eq(hf_opener_result(&opener), 0);
}

/* A container's holdfast, an editor of its host. */
Test(lease_find, tells_of_an_opener_that_cannot_be_seen)
{
	struct guarded guarded;
	struct hf_opener opener;
	struct told told;

	if (geteuid() != 0 || unshare(CLONE_NEWPID) < 0)
		hf_skip_now("needs a namespace of processes");
	start_guard(&guarded, true);
	/* Forked from here it would live there. */
	cr_assert_eq(setns(open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC),
			   CLONE_NEWPID),
		     0);
	opener = hf_opener_start(&guarded.theirs, "f", O_RDWR, 0);
	told = end_guard(&guarded);
	cr_expect_eq(told.side, HF_LEASE_OUTSIDE);
	cr_expect_eq(told.pid, 0);
	cr_expect(told.is_certain);
	cr_expect_eq(hf_opener_result(&opener), 0);
}
