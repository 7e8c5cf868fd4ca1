/* SPDX-License-Identifier: MIT */
/*
 * Restores that meet resistance: flags, mounts, damaged packs, missing rights,
 * somebody who writes at the same time.
 */
#include "core/restore.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/text.h"
#include "core/swap_set.h"
#include "support/check.h"
#include "support/workbench.h"

static struct hf_bench bench;

static void begin(bool as_user)
{
	hf_bench_begin(&bench, "** !victim", as_user);
	hf_put_file(bench.root_fd, "a.toml", "a = 1\n");
	hf_put_file(bench.root_fd, "b.toml", "b = 2\n");
	cr_assert_eq(mkdirat(bench.root_fd, "d", 0755), 0);
	hf_put_file(bench.root_fd, "d/x", "x\n");
}

static void done(void)
{
	hf_bench_done(&bench);
}

static const struct hf_step *step_of(const char *path)
{
	const struct hf_step *const step = hf_bench_step(&bench, path);

	cr_assert(step, "%s has no step", path);
	return step;
}

static void restore(void)
{
	struct hf_error err = {.text = ""};

	cr_assert_eq(hf_bench_restore(&bench, true, &err), 0, "%s", err.text);
	cr_expect_eq(hf_bench_temporaries(&bench), 0);
	cr_expect_eq(hf_bench_differences(&bench, true), 0);
}

/* -- flags ------------------------------------------------------------------
 */

static int flags_of(const char *name)
{
	cleanup_fd int fd = openat(bench.root_fd, name, O_RDONLY | O_CLOEXEC);
	int flags = 0;

	(void)ioctl(fd, FS_IOC_GETFLAGS, &flags);
	return flags & (FS_IMMUTABLE_FL | FS_APPEND_FL);
}

static bool set_flags(const char *name, int flags)
{
	cleanup_fd int fd = openat(bench.root_fd, name, O_RDONLY | O_CLOEXEC);
	int all = 0;

	if (ioctl(fd, FS_IOC_GETFLAGS, &all) < 0)
		return false;
	all = (all & ~(FS_IMMUTABLE_FL | FS_APPEND_FL)) | flags;
	return ioctl(fd, FS_IOC_SETFLAGS, &all) == 0;
}

Test(restore_hard, protected_by_flags)
{
	static const char *const names[] = {"a.toml", "b.toml", "d/x", "d"};

	begin(false);
	hf_bench_record(&bench);
	hf_put_file(bench.root_fd, "a.toml", "damage\n");
	cr_assert_eq(fchmodat(bench.root_fd, "b.toml", 0600, 0), 0);
	hf_put_file(bench.root_fd, "d/x", "damage\n");
	hf_put_file(bench.root_fd, "d/new", "new\n");
	if (!set_flags("a.toml", FS_IMMUTABLE_FL))
		hf_skip(done, "the file system has no such flags");
	cr_assert(set_flags("b.toml", FS_IMMUTABLE_FL));
	cr_assert(set_flags("d/x", FS_APPEND_FL));
	cr_assert(set_flags("d/new", FS_IMMUTABLE_FL));
	cr_assert(set_flags("d", FS_APPEND_FL));

	restore();
	cr_expect_eq(flags_of("a.toml"), FS_IMMUTABLE_FL);
	cr_expect_eq(flags_of("b.toml"), FS_IMMUTABLE_FL);
	cr_expect_eq(flags_of("d/x"), FS_APPEND_FL);
	cr_expect_eq(flags_of("d"), FS_APPEND_FL);
	for (size_t i = 0; i < HF_COUNT(names); i++)
		cr_assert(set_flags(names[i], 0));
	done();
}

/* -- extended attributes -----------------------------------------------------
 */

Test(restore_hard, extended_attributes)
{
	char path[512];
	char value[16] = "";

	begin(false);
	(void)snprintf(path, sizeof(path), "%s/a.toml", bench.at.root);
	if (setxattr(path, "user.color", "blue", 4, 0) < 0)
		hf_skip(done, "the file system has no extended attributes");
	hf_bench_record(&bench);

	cr_assert_eq(setxattr(path, "user.color", "red", 3, 0), 0);
	cr_assert_eq(setxattr(path, "user.other", "1", 1, 0), 0);
	restore();
	cr_expect_eq(getxattr(path, "user.color", value, sizeof(value)), 4);
	cr_expect_eq(getxattr(path, "user.other", value, sizeof(value)), -1);

	hf_put_file(bench.root_fd, "a.toml", "damage\n");
	cr_assert_eq(removexattr(path, "user.color"), 0);
	restore();
	cr_expect_eq(getxattr(path, "user.color", value, sizeof(value)), 4);
	done();
}

/* -- mounts -------------------------------------------------------------------
 */

/* Before anything is opened: descriptors stay in the mounts they came from. */
static bool has_own_mounts(void)
{
	return unshare(CLONE_NEWNS) == 0 &&
	       mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

Test(restore_hard, mounted_file_is_written_in_place)
{
	char path[512];
	char other[512];
	struct hf_error err;

	if (!has_own_mounts())
		hf_skip_now("nothing may be mounted");
	begin(false);
	hf_put_file(bench.root_fd, "victim", "a = 1\n");
	hf_bench_record(&bench);
	(void)snprintf(path, sizeof(path), "%s/a.toml", bench.at.root);
	(void)snprintf(other, sizeof(other), "%s/victim", bench.at.root);
	cr_assert_eq(mount(other, path, NULL, MS_BIND, NULL), 0);

	hf_put_file(bench.root_fd, "a.toml", "damage\n");
	cr_expect_eq(hf_bench_restore(&bench, true, &err), 0, "%s", err.text);
	cr_expect(hf_file_has(bench.root_fd, "a.toml", "a = 1\n"));
	cr_expect(
		hf_bench_kept_has(&bench, step_of("a.toml")->kept, "damage\n"));
	cr_expect_eq(hf_bench_temporaries(&bench), 0);
	cr_assert_eq(umount(path), 0);
	done();
}

Test(restore_hard, mounted_directory_in_the_way)
{
	char path[512];
	struct hf_error err;

	if (!has_own_mounts())
		hf_skip_now("nothing may be mounted");
	begin(false);
	hf_bench_record(&bench);
	(void)snprintf(path, sizeof(path), "%s/a.toml", bench.at.root);
	cr_assert_eq(unlinkat(bench.root_fd, "a.toml", 0), 0);
	cr_assert_eq(mkdirat(bench.root_fd, "a.toml", 0755), 0);
	hf_put_file(bench.root_fd, "b.toml", "damage\n");
	cr_assert_eq(mount("none", path, "tmpfs", 0, NULL), 0);
	hf_put_file(bench.root_fd, "a.toml/mine", "mine\n");

	cr_expect_eq(hf_bench_restore(&bench, false, &err), HF_ERR_BUSY);
	cr_expect_str_eq(err.text, "cannot keep 'a.toml': "
				   "something is mounted there");
	cr_expect(hf_file_has(bench.root_fd, "a.toml/mine", "mine\n"));
	cr_expect(hf_file_has(bench.root_fd, "b.toml", "b = 2\n"),
		  "the others are restored");
	cr_expect_eq(hf_bench_temporaries(&bench), 0);
	cr_assert_eq(umount(path), 0);
	done();
}

/* -- the store
 * ------------------------------------------------------------------ */

Test(restore_hard, damaged_pack)
{
	struct hf_entry *entry;
	struct hf_error err;

	begin(false);
	hf_bench_record(&bench);
	hf_put_file(bench.root_fd, "a.toml", "damage\n");
	hf_put_file(bench.root_fd, "b.toml", "damage\n");
	cr_assert_eq(unlinkat(bench.root_fd, "d/x", 0), 0);
	/* As if the pack held another content. */
	entry = hf_tree_find(&bench.manifest.tree, "a.toml");
	entry->hash.bytes[0] ^= 1;

	cr_expect_eq(hf_bench_restore(&bench, true, &err), HF_ERR_CORRUPT);
	cr_expect_eq(step_of("a.toml")->result, HF_STEP_FAILED);
	cr_expect(hf_file_has(bench.root_fd, "a.toml", "damage\n"),
		  "the target is untouched");
	cr_expect(hf_file_has(bench.root_fd, "b.toml", "b = 2\n"));
	cr_expect(hf_file_has(bench.root_fd, "d/x", "x\n"));
	cr_expect_eq(hf_bench_temporaries(&bench), 0);
	done();
}

Test(restore_hard, missing_pack)
{
	cleanup_directory struct hf_directory *directory = NULL;
	enum hf_kind kind;
	const char *name;
	struct hf_error err;
	int packs_fd;

	begin(false);
	hf_bench_record(&bench);
	hf_put_file(bench.root_fd, "a.toml", "damage\n");
	cr_assert_eq(fchmodat(bench.root_fd, "b.toml", 0600, 0), 0);
	cr_assert_eq(unlinkat(bench.root_fd, "d/x", 0), 0);
	packs_fd = bench.at.store.folder_fd[HF_STORE_PACKS];
	cr_assert_eq(hf_directory_open(packs_fd, &directory), 0);
	while (hf_directory_next(directory, &name, &kind) > 0)
		cr_assert_eq(unlinkat(packs_fd, name, 0), 0);

	cr_expect_lt(hf_bench_restore(&bench, true, &err), 0);
	cr_expect_eq(hf_plan_count(&bench.plan, HF_STEP_FAILED), 2);
	cr_expect_eq(step_of("b.toml")->result, HF_STEP_DONE);
	cr_expect(hf_file_has(bench.root_fd, "a.toml", "damage\n"));
	cr_expect_eq(hf_bench_temporaries(&bench), 0);
	done();
}

/* -- rights
 * -------------------------------------------------------------------- */

Test(restore_hard, owner_that_a_user_cannot_give)
{
	struct hf_error err;

	begin(true);
	hf_bench_record(&bench);
	if (hf_tree_find(&bench.manifest.tree, "a.toml")->stat.uid == 0)
		hf_skip(done, "root gives to everybody");
	hf_put_file(bench.root_fd, "a.toml", "damage\n");
	hf_put_file(bench.root_fd, "b.toml", "damage\n");
	cr_assert_eq(unlinkat(bench.root_fd, "d/x", 0), 0);
	cr_assert_eq(unlinkat(bench.root_fd, "d", AT_REMOVEDIR), 0);
	hf_tree_find(&bench.manifest.tree, "a.toml")->stat.uid = 0;
	hf_tree_find(&bench.manifest.tree, "d")->stat.uid = 0;

	cr_expect_eq(hf_bench_restore(&bench, true, &err), HF_ERR_SYSTEM);
	cr_expect_str_eq(step_of("a.toml")->err->text,
			 "cannot give 'a.toml' back to its owner: "
			 "Operation not permitted");
	cr_expect_str_eq(step_of("a.toml")->err->hint, "only root may do that");
	/* The content at least. */
	cr_expect(hf_file_has(bench.root_fd, "a.toml", "a = 1\n"));
	cr_expect(hf_file_has(bench.root_fd, "b.toml", "b = 2\n"));
	cr_expect_eq(step_of("d")->result, HF_STEP_FAILED);
	cr_expect_eq(step_of("d/x")->result, HF_STEP_SKIPPED);
	cr_expect_str_eq(step_of("d/x")->err->text,
			 "cannot restore 'd/x': its directory could not be "
			 "made");
	cr_expect_eq(hf_bench_temporaries(&bench), 0);
	done();
}

/* In place, somebody else's bytes would end up between ours. */
Test(restore_hard, nothing_is_written_in_place_beside_a_writer)
{
	cleanup_fd int fd = -1;
	struct hf_error err;

	begin(false);
	cr_assert_eq(linkat(bench.root_fd, "a.toml", bench.root_fd,
			    "../other-name", 0),
		     0);
	hf_bench_record(&bench);
	hf_put_file(bench.root_fd, "a.toml", "damage\n");
	fd = openat(bench.root_fd, "a.toml", O_WRONLY | O_CLOEXEC);
	cr_assert_geq(fd, 0);
	cr_expect_eq(hf_bench_restore(&bench, true, &err), HF_ERR_BUSY);
	cr_expect(strstr(err.text, "has it open for writing"), "%s", err.text);
	cr_expect(hf_file_has(bench.root_fd, "a.toml", "damage\n"));
	hf_file_close_quietly(&fd);
	cr_expect_eq(hf_bench_restore(&bench, true, &err), 0, "%s", err.text);
	cr_expect(hf_file_has(bench.root_fd, "a.toml", "a = 1\n"));
	done();
}

/* -- what stands in the way
 * ----------------------------------------------------- */

Test(restore_hard, too_deep)
{
	cleanup_session_record struct hf_session_record session =
		HF_SESSION_RECORD_INIT;
	struct hf_error err;
	int fd;

	begin(false);
	hf_bench_record(&bench);
	cr_assert_eq(unlinkat(bench.root_fd, "a.toml", 0), 0);
	cr_assert_eq(mkdirat(bench.root_fd, "a.toml", 0755), 0);
	fd = openat(bench.root_fd, "a.toml", O_RDONLY | O_CLOEXEC);
	for (int i = 0; i < HF_SWAP_DEPTH_MAX + 1; i++) {
		int next;

		cr_assert_eq(mkdirat(fd, "n", 0755), 0);
		next = openat(fd, "n", O_RDONLY | O_CLOEXEC);
		(void)close(fd);
		fd = next;
	}
	(void)close(fd);
	hf_bench_plan(&bench, false);
	cr_expect_eq(hf_bench_apply(&bench, &err), HF_ERR_LIMIT, "%s",
		     err.text);
	cr_expect_eq(faccessat(bench.root_fd, "a.toml/n/n", F_OK, 0), 0);
	cr_expect_eq(hf_bench_temporaries(&bench), 0);
	/* Nothing was replaced, so there is nothing to undo. */
	cr_expect_null(step_of("a.toml")->kept);
	cr_assert_eq(hf_journal_read(&bench.at.store, &bench.name, &session,
				     &err),
		     0);
	cr_expect_eq(session.kept_count, 0);
	done();
}

Test(restore_hard, put_right_before_it_began)
{
	struct hf_error err;

	begin(false);
	hf_bench_record(&bench);
	cr_assert_eq(renameat(bench.root_fd, "a.toml", bench.root_fd, "victim"),
		     0);
	hf_put_file(bench.root_fd, "new", "new\n");
	hf_bench_plan(&bench, true);
	cr_assert_eq(renameat(bench.root_fd, "victim", bench.root_fd, "a.toml"),
		     0);
	cr_assert_eq(unlinkat(bench.root_fd, "new", 0), 0);
	cr_expect_eq(hf_bench_apply(&bench, &err), 0, "%s", err.text);
	cr_expect_eq(step_of("a.toml")->result, HF_STEP_SKIPPED);
	cr_expect_null(step_of("a.toml")->err);
	cr_expect_eq(step_of("new")->result, HF_STEP_SKIPPED);
	cr_expect_eq(hf_bench_differences(&bench, true), 0);
	done();
}

Test(restore_hard, sparse)
{
	const off_t size = 16 << 20;
	struct stat st;
	int fd;

	begin(false);
	fd = openat(bench.root_fd, "big", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	cr_assert_eq(ftruncate(fd, size), 0);
	cr_assert_eq(pwrite(fd, "x", 1, size / 2), 1);
	(void)close(fd);
	hf_bench_record(&bench);
	cr_assert_eq(unlinkat(bench.root_fd, "big", 0), 0);
	restore();
	cr_assert_eq(fstatat(bench.root_fd, "big", &st, 0), 0);
	cr_expect_eq(st.st_size, size);
	cr_expect_lt(st.st_blocks * 512, size / 4);
	done();
}

/* -- somebody writes meanwhile
 * ---------------------------------------------------- */

#define VERSIONS 4000

/* Where each version that was written went. */
static bool is_accounted[VERSIONS];

static int number_in(int dir_fd, const char *name)
{
	cleanup_fd int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
	char text[32] = "";
	uint64_t number;

	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		return -1;
	if (text[0] != 'v' ||
	    hf_parse_u64(text + 1, strcspn(text + 1, "\n"), 10, &number) < 0)
		return -1;
	return (int)number;
}

static void account(int dir_fd, const char *name)
{
	const int number = number_in(dir_fd, name);

	if (number >= 0 && number < VERSIONS)
		is_accounted[number] = true;
}

/* Puts versions in the place of a.toml, and sees what it gets for them. */
static void *meddle(void *argument)
{
	const int fd = bench.root_fd;

	(void)argument;
	for (int i = 0; i < VERSIONS; i++) {
		char text[32];

		(void)snprintf(text, sizeof(text), "v%d\n", i);
		hf_put_file(fd, "victim", text);
		if (syscall(SYS_renameat2, fd, "victim", fd, "a.toml",
			    2 /* RENAME_EXCHANGE */) == 0)
			account(fd, "victim");
		else
			is_accounted[i] = true;
	}
	return NULL;
}

/* Those among the kept copies. */
static void account_kept(int fd)
{
	cleanup_directory struct hf_directory *directory = NULL;
	enum hf_kind kind;
	const char *name;

	cr_assert_eq(hf_directory_open(fd, &directory), 0);
	while (hf_directory_next(directory, &name, &kind) > 0) {
		cleanup_fd int child = hf_file_open_directory_at(fd, name);

		if (child >= 0)
			account_kept(child);
		else
			account(fd, name);
	}
}

Test(restore_hard, nothing_written_meanwhile_is_lost)
{
	struct hf_error err;
	pthread_t thread;
	int restores = 0;

	begin(false);
	hf_bench_record(&bench);
	cr_assert_eq(pthread_create(&thread, NULL, meddle, NULL), 0);
	while (pthread_tryjoin_np(thread, NULL) != 0)
		restores += hf_bench_restore(&bench, false, &err) == 0;
	account(bench.root_fd, "a.toml");
	account_kept(bench.at.store.folder_fd[HF_STORE_KEPT]);
	for (int i = 0; i < VERSIONS; i++)
		cr_expect(is_accounted[i], "version %d is lost", i);
	cr_expect_eq(hf_bench_temporaries(&bench), 0);
	restore();
	(void)fprintf(stderr, "%d restores went through\n", restores);
	done();
}
