/* SPDX-License-Identifier: MIT */
/* Does the gate know what the system would not let the caller do? */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "support/check.h"
#include "support/gated.h"

#define USER  1000u
#define GROUP 1001u /* that the user is in besides */
#define CWD   AT_FDCWD

static struct hf_gated gated;

static void setup(void)
{
	hf_gated_setup(&gated);
	cr_assert_eq(chmod(gated.dir, 0755), 0);
}

static void teardown(void)
{
	hf_gated_teardown(&gated);
}

TestSuite(gate_permit, .init = setup, .fini = teardown, .timeout = 120);

/* Everything is tried on each file in each directory. */
static const struct owned {
	unsigned uid;
	unsigned gid;
	mode_t mode;
} directories[] =
	{
		{USER, USER, 0755}, {0, 0, 0755},     {0, 0, 01777},
		{USER, USER, 0555}, {0, GROUP, 0775},
},
  files[] = {
	  {USER, USER, 0644}, {USER, USER, 0444}, {0, 0, 0644},
	  {0, 0, 0666},	      {0, GROUP, 0664},
};

enum what {
	WRITE,
	UPDATE,
	TRUNCATE,
	MODE,
	OWNER,
	GROUP_OF,
	NOW,
	TIME,
	REMOVE,
	RENAME,
	WHATS
};
_Static_assert(HF_COUNT(directories) * HF_COUNT(files) * WHATS <= HF_GATED_MAX,
	       "room for a record each");

static void path_of(char *path, size_t size, size_t directory, size_t file,
		    int what)
{
	(void)snprintf(path, size, "%zu/%zu-%d", directory, file, what);
}

static void own(const char *path, const struct owned *how)
{
	cr_assert(chown(path, how->uid, how->gid) == 0 &&
			  chmod(path, how->mode) == 0,
		  "%s", path);
}

static void make_all(void)
{
	char path[64];

	for (size_t d = 0; d < HF_COUNT(directories); d++) {
		(void)snprintf(path, sizeof(path), "%zu", d);
		cr_assert_eq(mkdir(path, 0755), 0);
		for (size_t f = 0; f < HF_COUNT(files); f++)
			for (int what = 0; what < WHATS; what++) {
				path_of(path, sizeof(path), d, f, what);
				hf_put_file(gated.dir_fd, path, "content\n");
				own(path, &files[f]);
			}
		(void)snprintf(path, sizeof(path), "%zu", d);
		own(path, &directories[d]);
	}
}

static void act(struct hf_gated *child, const char *path, enum what what)
{
	static const struct timespec past[2] = {{1, 0}, {1, 0}};
	char to[80];
	const long at = (long)path;
	const long calls[WHATS][6] = {
		[WRITE] = {SYS_openat, CWD, at, O_WRONLY},
		[UPDATE] = {SYS_openat, CWD, at, O_RDWR},
		[TRUNCATE] = {SYS_truncate, at, 1},
		[MODE] = {SYS_fchmodat, CWD, at, 0600},
		[OWNER] = {SYS_fchownat, CWD, at, 7, -1},
		[GROUP_OF] = {SYS_fchownat, CWD, at, -1, GROUP},
		[NOW] = {SYS_utimensat, CWD, at, 0},
		[TIME] = {SYS_utimensat, CWD, at, (long)past},
		[REMOVE] = {SYS_unlinkat, CWD, at, 0},
		[RENAME] = {SYS_renameat2, CWD, at, CWD, (long)to},
	};
	const long *const call = calls[what];

	(void)snprintf(to, sizeof(to), "%s.to", path);
	hf_gated_call(child, call[0],
		      (const long[6]){call[1], call[2], call[3], call[4],
				      call[5], 0});
}

static void act_on_all(struct hf_gated *child)
{
	char path[64];
	size_t mark = 0;

	for (size_t d = 0; d < HF_COUNT(directories); d++)
		for (size_t f = 0; f < HF_COUNT(files); f++)
			for (int what = 0; what < WHATS; what++) {
				path_of(path, sizeof(path), d, f, what);
				hf_gated_mark(child, mark++);
				act(child, path, (enum what)what);
			}
}

static void act_as_user(struct hf_gated *child)
{
	const gid_t groups[] = {GROUP};

	hf_gated_mark(child, 0);
	hf_gated_need(setgroups(1, groups) == 0 &&
			      setresgid(USER, USER, USER) == 0 &&
			      setresuid(USER, USER, USER) == 0,
		      "user");
	act_on_all(child);
}

/* What goes on tells whether the gate was right. */
static void expect_all(unsigned least_denied)
{
	unsigned denied = 0;
	char path[64];
	size_t mark = 0;

	for (size_t d = 0; d < HF_COUNT(directories); d++)
		for (size_t f = 0; f < HF_COUNT(files); f++)
			for (int what = 0; what < WHATS; what++, mark++) {
				const long rc = gated.shared->results[mark];
				const bool is_denied =
					rc == -EACCES || rc == -EPERM;

				path_of(path, sizeof(path), d, f, what);
				cr_assert_eq(gated.calls[mark].count, 1, "%s",
					     path);
				cr_expect_eq(gated.calls[mark]
						     .places[0]
						     .facts.is_permitted,
					     !is_denied, "%s: %ld", path, rc);
				denied += is_denied;
			}
	cr_expect_geq(denied, least_denied, "%u", denied);
}

Test(gate_permit, knows_what_a_user_may)
{
	if (geteuid() != 0)
		hf_skip(teardown, "files of others need root");
	make_all();
	hf_gated_run(&gated, act_as_user);
	expect_all(50);
}

Test(gate_permit, knows_that_root_may)
{
	if (geteuid() != 0)
		hf_skip(teardown, "not root");
	make_all();
	hf_gated_run(&gated, act_on_all);
	expect_all(0);
}

/* An ordinary user's own gate asks the system itself. */
static void make_own(void)
{
	char path[64];

	cr_assert_eq(mkdir("0", 0755), 0);
	cr_assert_eq(mkdir("1", 0755), 0);
	for (size_t f = 0; f < 2; f++)
		for (int what = 0; what < WHATS; what++)
			for (size_t d = 0; d < 2; d++) {
				path_of(path, sizeof(path), d, f, what);
				hf_put_file(gated.dir_fd, path, "content\n");
				cr_assert_eq(chmod(path, f ? 0444 : 0644), 0);
			}
	cr_assert_eq(chmod("1", 0555), 0);
}

static void act_on_own(struct hf_gated *child)
{
	char path[64];
	size_t mark = 0;

	for (size_t d = 0; d < 2; d++)
		for (size_t f = 0; f < 2; f++)
			for (int what = 0; what < WHATS; what++) {
				path_of(path, sizeof(path), d, f, what);
				hf_gated_mark(child, mark++);
				act(child, path, (enum what)what);
			}
}

Test(gate_permit, knows_what_its_own_user_may)
{
	hf_become_user(gated.dir);
	make_own();
	hf_gated_run(&gated, act_on_own);
	for (size_t mark = 0; mark < (size_t)4 * WHATS; mark++) {
		const long rc = gated.shared->results[mark];
		const bool is_denied = rc == -EACCES || rc == -EPERM;

		/* The group is one that it may not be in. */
		cr_expect_eq(gated.calls[mark].places[0].facts.is_permitted,
			     !is_denied, "%zu: %ld", mark, rc);
	}
}
