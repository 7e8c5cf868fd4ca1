/* SPDX-License-Identifier: MIT */
/*
 * The oracle: a random tree is recorded, changed at random, restored and
 * compared; then the restore is undone and the changes are back.  The seed is
 * printed when a round fails: HF_SEED=N repeats it.
 */
#include "core/restore.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/path.h"
#include "base/text.h"
#include "core/scan.h"
#include "support/check.h"
#include "support/tmpdir.h"
#include "support/workbench.h"

#define ROUNDS 100
#define NAMES  5
#define DEPTH  3

/* A small generator of our own: the same everywhere for one seed. */
struct dice {
	uint64_t state;
};

static unsigned roll(struct dice *dice, unsigned sides)
{
	dice->state = dice->state * UINT64_C(6364136223846793005) +
		      UINT64_C(1442695040888963407);
	return (unsigned)(dice->state >> 33) % sides;
}

static void fill_file(struct dice *dice, int dir_fd, const char *name)
{
	static const unsigned sizes[] = {0, 1, 10, 4096, 5000, 70000, 200000};
	const unsigned size = sizes[roll(dice, HF_COUNT(sizes))];
	char *const data = calloc(1, size + 1);
	const int fd = openat(
		dir_fd, name,
		O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);

	/* A few distinct contents, so that some are equal; half are zeros. */
	cr_assert(fd >= 0 && data);
	if (size > 0)
		data[roll(dice, 2) * (size - 1)] = (char)roll(dice, 3);
	cr_assert_eq(write(fd, data, size), (ssize_t)size);
	(void)close(fd);
	free(data);
}

static void set_metadata(struct dice *dice, int dir_fd, const char *name,
			 bool is_directory)
{
	static const mode_t modes[] = {0644, 0600, 0444, 0755, 0000, 0700};
	const struct timespec times[2] = {
		{.tv_nsec = UTIME_OMIT},
		{.tv_sec = 1000 + roll(dice, 1000), .tv_nsec = 5},
	};

	(void)utimensat(dir_fd, name, times, AT_SYMLINK_NOFOLLOW);
	if (is_directory)
		(void)fchmodat(dir_fd, name, roll(dice, 2) ? 0755 : 0700, 0);
	else
		(void)fchmodat(dir_fd, name,
			       modes[roll(dice, geteuid() ? 4 : 6)], 0);
}

static void grow(struct dice *dice, int dir_fd, unsigned depth);

/* Something new under a name that is free. */
static void plant(struct dice *dice, int dir_fd, const char *name,
		  unsigned depth)
{
	int fd;

	switch (roll(dice, depth < DEPTH ? 8 : 5)) {
	case 0:
		(void)symlinkat(roll(dice, 2) ? "n0" : "../n1", dir_fd, name);
		return;
	case 1:
		(void)mkfifoat(dir_fd, name, 0600);
		return;
	case 2:
		/* Names that share a file must still share it in the end. */
		if (linkat(dir_fd, "n0", dir_fd, name, 0) == 0)
			return;
		fill_file(dice, dir_fd, name);
		return;
	case 3:
	case 4:
		fill_file(dice, dir_fd, name);
		set_metadata(dice, dir_fd, name, false);
		return;
	default:
		cr_assert_eq(mkdirat(dir_fd, name, 0755), 0);
		fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		grow(dice, fd, depth + 1);
		(void)close(fd);
		set_metadata(dice, dir_fd, name, true);
	}
}

static void grow(struct dice *dice, int dir_fd, unsigned depth)
{
	for (unsigned i = 0; i < NAMES; i++) {
		char name[] = "n0";

		name[1] = (char)('0' + i);
		if (roll(dice, 3) > 0)
			plant(dice, dir_fd, name, depth);
	}
}

/* Any path of the tree as it was recorded, or beside it. */
static void choose(struct dice *dice, const struct hf_bench *bench,
		   char path[HF_PATH_MAX])
{
	const struct hf_tree *const tree = &bench->manifest.tree;
	const char *const some =
		tree->entries[roll(dice, (unsigned)tree->count)].path;

	if (roll(dice, 4) > 0 || strcmp(some, ".") == 0)
		(void)snprintf(path, HF_PATH_MAX, "%s", some);
	else
		(void)snprintf(path, HF_PATH_MAX, "%.*s/new%u",
			       (int)hf_path_parent_len(some), some,
			       roll(dice, 3));
	if (path[0] == '/')
		memmove(path, path + 1, strlen(path));
}

static void uproot(const struct hf_bench *bench, const char *path)
{
	char *all = NULL;
	struct stat st;

	cr_assert_geq(asprintf(&all, "%s/%s", bench->at.root, path), 0);
	if (fstatat(bench->root_fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		free(all);
		return;
	}
	hf_tmpdir_remove(all);
}

/* One change; what is impossible just does not happen. */
static void mutate(struct dice *dice, const struct hf_bench *bench)
{
	const int root_fd = bench->root_fd;
	char other[HF_PATH_MAX];
	char path[HF_PATH_MAX];
	struct stat st;
	int fd;

	choose(dice, bench, path);
	choose(dice, bench, other);
	if (strcmp(path, ".") == 0 || strcmp(other, ".") == 0)
		return;
	fd = openat(root_fd, path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK);
	switch (roll(dice, 8)) {
	case 0:
		if (fd >= 0)
			(void)!ftruncate(fd, roll(dice, 9000));
		break;
	case 1:
		if (fd >= 0)
			(void)!write(fd, "changed", roll(dice, 8));
		break;
	case 2:
		if (fstatat(root_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    !S_ISLNK(st.st_mode))
			set_metadata(dice, root_fd, path, S_ISDIR(st.st_mode));
		break;
	case 3:
		(void)renameat(root_fd, path, root_fd, other);
		break;
	case 4:
		(void)linkat(root_fd, path, root_fd, other, 0);
		break;
	case 5:
		uproot(bench, path);
		break;
	default:
		uproot(bench, path);
		other[hf_path_parent_len(path)] = '\0';
		if (hf_path_parent_len(path) == 0 ||
		    (fstatat(root_fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0 &&
		     errno == ENOENT)) {
			char parent[HF_PATH_MAX] = ".";

			if (hf_path_parent_len(path) > 0)
				(void)snprintf(parent, sizeof(parent), "%.*s",
					       (int)hf_path_parent_len(path),
					       path);
			if (fstatat(root_fd, parent, &st,
				    AT_SYMLINK_NOFOLLOW) == 0 &&
			    S_ISDIR(st.st_mode))
				plant(dice, root_fd, path, DEPTH - 1);
		}
	}
	if (fd >= 0)
		(void)close(fd);
}

/* A copy of what the tree is now, to compare with after the undo. */
static void remember(struct hf_bench *bench, struct hf_tree *tree)
{
	(void)hf_bench_differences(bench, false);
	*tree = bench->now;
	bench->now = (struct hf_tree)HF_TREE_INIT;
	hf_deltas_done(&bench->deltas);
}

static size_t compare_with(struct hf_bench *bench, const struct hf_tree *tree)
{
	cleanup_deltas struct hf_deltas deltas = HF_DELTAS_INIT;
	size_t count = 0;
	struct hf_error err;

	(void)hf_bench_differences(bench, false);
	cr_assert_eq(hf_compare(tree, &bench->now, &deltas, &err), 0);
	for (size_t i = 0; i < deltas.count; i++) {
		const struct hf_delta *const delta = &deltas.items[i];

		count++;
		(void)fprintf(stderr, "after undo: %s: %s\n",
			      delta->before ? delta->before->path
					    : delta->after->path,
			      hf_change_name(delta->change));
	}
	return count;
}

static void play(uint64_t seed, bool as_user)
{
	struct dice dice = {.state = seed};
	cleanup_tree struct hf_tree damaged = HF_TREE_INIT;
	struct hf_bench bench;
	struct hf_error err = {.text = ""};
	int rc;

	hf_bench_begin(&bench, "**", as_user);
	hf_put_file(bench.root_fd, "n9", "always there\n");
	grow(&dice, bench.root_fd, 0);
	hf_bench_record(&bench);
	for (unsigned i = roll(&dice, 16); i > 0; i--)
		mutate(&dice, &bench);
	remember(&bench, &damaged);

	rc = hf_bench_restore(&bench, true, &err);
	cr_assert_eq(rc, 0, "HF_SEED=%llu user %d: %s",
		     (unsigned long long)seed, as_user, err.text);
	cr_assert_eq(hf_bench_differences(&bench, true), 0,
		     "HF_SEED=%llu user %d", (unsigned long long)seed, as_user);
	cr_assert_eq(hf_bench_temporaries(&bench), 0);

	rc = hf_bench_undo(&bench, &err);
	cr_assert_eq(rc, 0, "undo, HF_SEED=%llu user %d: %s",
		     (unsigned long long)seed, as_user, err.text);
	cr_assert_eq(compare_with(&bench, &damaged), 0,
		     "undo, HF_SEED=%llu user %d", (unsigned long long)seed,
		     as_user);
	cr_assert_eq(hf_bench_temporaries(&bench), 0);
	hf_bench_done(&bench);
}

static void play_rounds(bool as_user)
{
	const char *const given = getenv("HF_SEED");
	uint64_t first = (uint64_t)time(NULL) * 1000;

	if (given)
		cr_assert_eq(hf_parse_u64(given, strlen(given), 10, &first), 0);
	for (uint64_t i = 0; i < (given ? 1 : ROUNDS); i++)
		play(first + i, as_user);
}

Test(round_trip, as_root)
{
	play_rounds(false);
}

Test(round_trip, as_user)
{
	play_rounds(true);
}
