/* SPDX-License-Identifier: MIT */
/* What the machine and the user are. */
#include "platform/system.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/file.h"
#include "support/check.h"
#include "support/tmpdir.h"

#define NS_PER_S  INT64_C(1000000000)
#define YEAR_2020 (INT64_C(1577836800) * NS_PER_S)

Test(system, clocks)
{
	const int64_t boot = hf_system_boot_ns();

	cr_expect_gt(hf_system_time_ns(), YEAR_2020);
	cr_expect_gt(hf_system_file_time_ns(), YEAR_2020);
	cr_expect_gt(boot, 0);
	cr_expect_geq(hf_system_boot_ns(), boot);
}

Test(system, file_time_is_never_ahead_of_a_later_change)
{
	char *const top = hf_tmpdir_make();
	cleanup_fd int top_fd = open(top, O_RDONLY | O_CLOEXEC);

	for (unsigned i = 0; i < 2000; i++) {
		const int64_t before = hf_system_file_time_ns();
		struct hf_stat st;

		cr_assert_eq(fchmod(top_fd, i % 2 == 0 ? 0700 : 0711), 0);
		cr_assert_eq(hf_file_stat(top_fd, &st), 0);
		cr_assert_leq(before, st.ctime_ns);
	}
	hf_tmpdir_remove(top);
}

Test(system, boot_id)
{
	char id[37];
	char again[37];

	hf_system_boot_id(id);
	hf_system_boot_id(again);
	cr_expect_eq(strlen(id), 36, "'%s'", id);
	cr_expect_eq(strspn(id, "0123456789abcdef-"), 36, "'%s'", id);
	cr_expect_str_eq(id, again);
}

Test(system, user)
{
	char *const top = hf_tmpdir_make();

	cr_expect_eq(hf_system_uid(), geteuid());
	cr_expect_eq(hf_system_is_root(), geteuid() == 0);
	hf_become_user(top);
	cr_expect_neq(hf_system_uid(), 0);
	cr_expect_not(hf_system_is_root());
	(void)seteuid(getuid());
	hf_tmpdir_remove(top);
}

Test(system, home_is_not_from_the_environment)
{
	const struct passwd *const entry = getpwuid(geteuid());
	cleanup_free char *home = NULL;

	cr_assert_eq(setenv("HOME", "/nonexistent", 1), 0);
	if (!entry)
		hf_skip_now("this user is not in the user database");
	cr_assert_eq(hf_system_home(&home), 0);
	cr_expect_str_eq(home, entry->pw_dir);
}

Test(system, home_of_nobody_at_all)
{
	char *home = NULL;

	if (geteuid() != 0)
		hf_skip_now("needs root");
	cr_assert_eq(seteuid(3999999), 0);
	cr_expect_eq(hf_system_home(&home), -ENOENT);
	cr_assert_eq(unsetenv("XDG_STATE_HOME"), 0);
	cr_expect_eq(hf_system_state_directory(&home), -ENOENT);
	cr_expect_null(home);
}

Test(system, state_directory)
{
	static const struct {
		const char *value;    /* NULL: not set */
		const char *expected; /* NULL: beneath home */
	} rows[] = {
		{NULL, NULL},
		{"", NULL},
		{"relative/state", NULL},
		{"~/state", NULL},
		{"/somewhere/state", "/somewhere/state"},
	};
	cleanup_free char *home = NULL;
	cleanup_free char *beneath = NULL;

	cr_assert_eq(hf_system_home(&home), 0);
	cr_assert_gt(asprintf(&beneath, "%s/.local/state", home), 0);
	cr_assert_eq(setenv("HOME", "/nonexistent", 1), 0);
	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		cleanup_free char *path = NULL;

		cr_assert_eq(rows[i].value ? setenv("XDG_STATE_HOME",
						    rows[i].value, 1)
					   : unsetenv("XDG_STATE_HOME"),
			     0);
		cr_assert_eq(hf_system_state_directory(&path), 0);
		cr_expect_str_eq(path,
				 rows[i].expected ? rows[i].expected : beneath);
	}
}

Test(system, working_directory)
{
	char *const top = hf_tmpdir_make();
	cleanup_fd int top_fd = open(top, O_RDONLY | O_CLOEXEC);
	cleanup_free char *path = NULL;
	char *gone = NULL;

	cr_assert_eq(fchdir(top_fd), 0);
	cr_assert_eq(hf_system_working_directory(&path), 0);
	cr_expect_str_eq(path, top);
	hf_tmpdir_remove(top);
	cr_expect_eq(hf_system_working_directory(&gone), -ENOENT);
	cr_expect_null(gone);
}

Test(system, random)
{
	/* More than the kernel gives at once without a second look. */
	static uint8_t a[1000];
	static uint8_t b[1000];

	cr_assert_eq(hf_system_random(a, sizeof(a)), 0);
	cr_assert_eq(hf_system_random(b, sizeof(b)), 0);
	cr_expect_neq(memcmp(a, b, sizeof(a)), 0);
	/* The end is filled, too. */
	cr_expect_neq(memcmp(a + 900, a + 800, 100), 0);
	cr_expect_eq(hf_system_random(NULL, 0), 0);
}

Test(system, cpus)
{
	const unsigned cpus = hf_system_cpus();

	cr_expect_geq(cpus, 1);
	cr_expect_leq(cpus, (unsigned)sysconf(_SC_NPROCESSORS_CONF));
}

/* -- threads ------------------------------------------------------------- */

struct shared {
	struct hf_mutex *mutex;
	unsigned long count;
	bool is_blocked; /* signals, in the second thread */
};

enum { ROUNDS = 200000 };

static void count_up(struct shared *shared)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		hf_mutex_lock(shared->mutex);
		shared->count++;
		hf_mutex_unlock(shared->mutex);
	}
}

static void second(void *argument)
{
	struct shared *const shared = argument;
	sigset_t mask;

	(void)pthread_sigmask(SIG_SETMASK, NULL, &mask);
	shared->is_blocked = sigismember(&mask, SIGTERM) == 1 &&
			     sigismember(&mask, SIGINT) == 1;
	count_up(shared);
}

Test(system, two_threads)
{
	struct shared shared = {.count = 0};
	struct hf_thread *thread = NULL;
	sigset_t mask;

	cr_assert_eq(hf_mutex_new(&shared.mutex), 0);
	cr_assert_eq(hf_thread_start(second, &shared, &thread), 0);
	count_up(&shared);
	hf_thread_join(&thread);
	cr_expect_null(thread);
	cr_expect_eq(shared.count, 2 * ROUNDS);
	cr_expect(shared.is_blocked);
	(void)pthread_sigmask(SIG_SETMASK, NULL, &mask);
	cr_expect_eq(sigismember(&mask, SIGTERM), 0);

	hf_thread_join(&thread);
	hf_mutex_free(&shared.mutex);
	hf_mutex_free(&shared.mutex);
	cr_expect_null(shared.mutex);
}

/* -- bells -------------------------------------------------------------------- */

static bool is_heard(const struct hf_bell *bell)
{
	struct pollfd fd = {.fd = hf_bell_fd(bell), .events = POLLIN};

	return poll(&fd, 1, 0) == 1;
}

Test(system, a_bell_is_heard_until_it_is_silenced)
{
	const int before = hf_open_descriptors();
	struct hf_bell *bell = NULL;

	cr_assert_eq(hf_bell_new(&bell), 0);
	cr_expect_not(is_heard(bell));
	hf_bell_silence(bell);
	cr_expect_not(is_heard(bell), "silencing is no ringing");
	/* However often it was rung, and nobody waits for a listener. */
	for (unsigned i = 0; i < 100000; i++)
		hf_bell_ring(bell);
	cr_expect(is_heard(bell));
	cr_expect(is_heard(bell), "hearing does not silence it");
	hf_bell_silence(bell);
	cr_expect_not(is_heard(bell));
	hf_bell_ring(bell);
	cr_expect(is_heard(bell));
	hf_bell_free(&bell);
	cr_expect_null(bell);
	hf_bell_free(&bell);
	cr_expect_eq(hf_open_descriptors(), before);
}

static void ring(void *bell)
{
	hf_bell_ring(bell);
}

Test(system, a_bell_is_heard_from_another_thread)
{
	cleanup_bell struct hf_bell *bell = NULL;
	struct hf_thread *thread = NULL;
	struct pollfd fd;

	cr_assert_eq(hf_bell_new(&bell), 0);
	fd = (struct pollfd){.fd = hf_bell_fd(bell), .events = POLLIN};
	cr_assert_eq(hf_thread_start(ring, bell, &thread), 0);
	cr_expect_eq(poll(&fd, 1, 30000), 1);
	hf_thread_join(&thread);
}
