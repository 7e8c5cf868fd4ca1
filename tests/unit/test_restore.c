/* SPDX-License-Identifier: MIT */
/*
 * Each kind of damage, once as root and once as an ordinary user: after a
 * restore everything is as recorded, and what was replaced is kept.
 */
#include "core/restore.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/check.h"
#include "support/workbench.h"

/* Everything a row may look at. */
static struct hf_bench bench;

static void must(int rc, const char *what)
{
	cr_assert_geq(rc, 0, "%s failed", what);
}

static void set_old(int dir_fd, const char *name)
{
	const struct timespec times[2] = {{.tv_sec = 5}, {.tv_sec = 7}};

	must(utimensat(dir_fd, name, times, AT_SYMLINK_NOFOLLOW), "utimensat");
}

/* The project that every row damages. */
static void build(void)
{
	const int fd = bench.root_fd;

	hf_put_file(fd, "a.toml", "a = 1\n");
	hf_put_file(fd, "b.toml", "b = 2\n");
	hf_put_file(fd, "same.toml", "a = 1\n");
	hf_put_file(fd, "empty.toml", "");
	hf_put_file(fd, "secret.toml", "token\n");
	must(fchmodat(fd, "secret.toml", 0600, 0), "chmod");
	must(mkdirat(fd, "data", 0755), "mkdir");
	must(mkdirat(fd, "data/sub", 0750), "mkdir");
	hf_put_file(fd, "data/big.bin", "big\n");
	hf_put_file(fd, "data/sub/deep.bin", "deep\n");
	must(mkdirat(fd, "data/empty", 0700), "mkdir");
	must(mkdirat(fd, "locked", 0755), "mkdir");
	hf_put_file(fd, "locked/file", "file\n");
	must(fchmodat(fd, "locked", 0555, 0), "chmod");
	must(symlinkat("a.toml", fd, "link"), "symlink");
	must(symlinkat("a.toml", fd, "old link"), "symlink");
	set_old(fd, "old link");
	must(mkfifoat(fd, "pipe", 0600), "mkfifo");
	must(mkfifoat(fd, "old pipe", 0600), "mkfifo");
	set_old(fd, "old pipe");
	hf_put_file(fd, "twin1", "twin\n");
	must(linkat(fd, "twin1", fd, "twin2", 0), "link");
}

static void cut_file(void)
{
	hf_put_file(bench.root_fd, "a.toml", "");
}

static void grow_file(void)
{
	hf_put_file(bench.root_fd, "a.toml", "a = 1\nmore = 2\n");
}

static void same_length(void)
{
	hf_put_file(bench.root_fd, "a.toml", "a = 7\n");
}

static void remove_file(void)
{
	must(unlinkat(bench.root_fd, "a.toml", 0), "unlink");
}

static void remove_same(void)
{
	remove_file();
	must(unlinkat(bench.root_fd, "same.toml", 0), "unlink");
}

static void fill_empty(void)
{
	hf_put_file(bench.root_fd, "empty.toml", "no more\n");
}

static void open_secret(void)
{
	must(fchmodat(bench.root_fd, "secret.toml", 0644, 0), "chmod");
}

static void set_mtime(void)
{
	set_old(bench.root_fd, "a.toml");
}

/* v36: nothing can be read, and nothing written. */
static void lock_directory(void)
{
	hf_put_file(bench.root_fd, "data/big.bin", "");
	must(fchmodat(bench.root_fd, "data/big.bin", 0, 0), "chmod");
	must(fchmodat(bench.root_fd, "data", 0555, 0), "chmod");
}

static void lock_everything(void)
{
	hf_put_file(bench.root_fd, "data/sub/deep.bin", "x");
	must(fchmodat(bench.root_fd, "data/sub/deep.bin", 0, 0), "chmod");
	must(fchmodat(bench.root_fd, "data/sub", 0, 0), "chmod");
	must(fchmodat(bench.root_fd, "data", 0, 0), "chmod");
}

/* The directory was recorded so, and must be so again. */
static void replace_in_locked(void)
{
	must(fchmodat(bench.root_fd, "locked", 0755, 0), "chmod");
	must(unlinkat(bench.root_fd, "locked/file", 0), "unlink");
	hf_put_file(bench.root_fd, "locked/file", "other\n");
	hf_put_file(bench.root_fd, "locked/new", "new\n");
	must(fchmodat(bench.root_fd, "locked", 0555, 0), "chmod");
}

/* v25 */
static void move_directory(void)
{
	must(renameat(bench.root_fd, "data", bench.root_fd, "data.old"),
	     "rename");
}

static void check_moved(void)
{
	cr_expect(hf_file_has(bench.root_fd, "data.old/big.bin", "big\n"),
		  "what is not ours stays");
}

/* v27 */
static void other_case(void)
{
	must(renameat(bench.root_fd, "a.toml", bench.root_fd, "A.toml"),
	     "rename");
}

/* v43 */
static void trade_names(void)
{
	must(renameat(bench.root_fd, "a.toml", bench.root_fd, ".swap"), "mv");
	must(renameat(bench.root_fd, "b.toml", bench.root_fd, "a.toml"), "mv");
	must(renameat(bench.root_fd, ".swap", bench.root_fd, "b.toml"), "mv");
}

/* v33 */
static void link_to_victim(void)
{
	hf_put_file(bench.root_fd, "victim.txt", "victim\n");
	remove_file();
	must(symlinkat("victim.txt", bench.root_fd, "a.toml"), "symlink");
}

static void check_victim(void)
{
	cr_expect(hf_file_has(bench.root_fd, "victim.txt", "victim\n"),
		  "nothing is written through a link");
}

static void directory_in_place(void)
{
	remove_file();
	must(mkdirat(bench.root_fd, "a.toml", 0755), "mkdir");
	must(mkdirat(bench.root_fd, "a.toml/in", 0555), "mkdir");
	must(fchmodat(bench.root_fd, "a.toml/in", 0755, 0), "chmod");
	hf_put_file(bench.root_fd, "a.toml/in/x", "mine\n");
	must(symlinkat("/etc/passwd", bench.root_fd, "a.toml/in/l"), "ln");
	must(mkfifoat(bench.root_fd, "a.toml/fifo", 0600), "mkfifo");
	must(fchmodat(bench.root_fd, "a.toml/in", 0, 0), "chmod");
}

static void check_directory_in_place(void)
{
	const struct hf_step *const step = hf_bench_step(&bench, "a.toml");
	char path[256];

	cr_assert(step && step->kept);
	(void)snprintf(path, sizeof(path), "%s/in/x", step->kept);
	cr_expect(hf_bench_kept_has(&bench, path, "mine\n"));
}

static void fifo_in_place(void)
{
	remove_file();
	must(mkfifoat(bench.root_fd, "a.toml", 0644), "mkfifo");
}

static void file_for_directory(void)
{
	must(renameat(bench.root_fd, "data", bench.root_fd, "elsewhere"),
	     "rename");
	hf_put_file(bench.root_fd, "data", "a file\n");
}

static void link_for_directory(void)
{
	must(renameat(bench.root_fd, "data", bench.root_fd, "elsewhere"),
	     "rename");
	must(symlinkat("elsewhere", bench.root_fd, "data"), "symlink");
	hf_put_file(bench.root_fd, "elsewhere/big.bin", "changed\n");
}

static void check_elsewhere(void)
{
	cr_expect(hf_file_has(bench.root_fd, "elsewhere/big.bin", "changed\n"),
		  "the link is not followed");
}

static void link_elsewhere(void)
{
	must(unlinkat(bench.root_fd, "link", 0), "unlink");
	must(symlinkat("b.toml", bench.root_fd, "link"), "symlink");
}

static void file_for_link(void)
{
	must(unlinkat(bench.root_fd, "link", 0), "unlink");
	hf_put_file(bench.root_fd, "link", "a = 1\n");
}

/* Their times differ, and one cannot be set without the other. */
static void share_link_and_fifo(void)
{
	must(unlinkat(bench.root_fd, "link", 0), "unlink");
	must(linkat(bench.root_fd, "old link", bench.root_fd, "link", 0), "ln");
	must(unlinkat(bench.root_fd, "pipe", 0), "unlink");
	must(linkat(bench.root_fd, "old pipe", bench.root_fd, "pipe", 0), "ln");
}

static void no_fifo(void)
{
	must(unlinkat(bench.root_fd, "pipe", 0), "unlink");
}

static void file_for_fifo(void)
{
	no_fifo();
	hf_put_file(bench.root_fd, "pipe", "data\n");
}

static void add_things(void)
{
	hf_put_file(bench.root_fd, "new.toml", "new\n");
	must(mkdirat(bench.root_fd, "data/new", 0755), "mkdir");
	hf_put_file(bench.root_fd, "data/new/x", "x\n");
	must(symlinkat("x", bench.root_fd, "data/new/l"), "symlink");
}

static void remove_everything(void)
{
	static const char *const files[] = {
		"a.toml",
		"b.toml",
		"same.toml",
		"empty.toml",
		"secret.toml",
		"data/big.bin",
		"data/sub/deep.bin",
		"link",
		"old link",
		"pipe",
		"old pipe",
		"twin1",
		"twin2",
		"locked/file",
	};

	must(fchmodat(bench.root_fd, "locked", 0755, 0), "chmod");
	for (size_t i = 0; i < HF_COUNT(files); i++)
		must(unlinkat(bench.root_fd, files[i], 0), files[i]);
	must(unlinkat(bench.root_fd, "locked", AT_REMOVEDIR), "rmdir");
	must(unlinkat(bench.root_fd, "data/sub", AT_REMOVEDIR), "rmdir");
	must(unlinkat(bench.root_fd, "data/empty", AT_REMOVEDIR), "rmdir");
	must(unlinkat(bench.root_fd, "data", AT_REMOVEDIR), "rmdir");
}

static void write_twin(void)
{
	hf_put_file(bench.root_fd, "twin1", "a longer text\n");
	must(fchmodat(bench.root_fd, "twin1", 0444, 0), "chmod");
}

static void check_twins(void)
{
	struct stat a;
	struct stat b;

	must(fstatat(bench.root_fd, "twin1", &a, 0), "stat");
	must(fstatat(bench.root_fd, "twin2", &b, 0), "stat");
	cr_expect_eq(a.st_ino, b.st_ino, "the names share their file");
}

/* v12 */
static void write_through_other_name(void)
{
	must(linkat(bench.root_fd, "b.toml", bench.root_fd, "cache", 0), "ln");
	hf_put_file(bench.root_fd, "cache", "from cache\n");
	must(unlinkat(bench.root_fd, "cache", 0), "unlink");
}

static const struct row {
	const char *name;
	void (*damage)(void);
	void (*check)(void);
	const char *path; /* of a step whose old content is kept, */
	const char *kept; /* and that content; NULL for none */
} rows[] = {
	{"nothing", NULL, NULL, NULL, NULL},
	{"cut", cut_file, NULL, "a.toml", ""},
	{"grown", grow_file, NULL, "a.toml", "a = 1\nmore = 2\n"},
	{"same length", same_length, NULL, "a.toml", "a = 7\n"},
	{"missing", remove_file, NULL, NULL, NULL},
	{"two of one content", remove_same, NULL, NULL, NULL},
	{"empty no more", fill_empty, NULL, "empty.toml", "no more\n"},
	{"mode", open_secret, NULL, NULL, NULL},
	{"mtime", set_mtime, NULL, NULL, NULL},
	{"locked", lock_directory, NULL, "data/big.bin", ""},
	{"locked all the way", lock_everything, NULL, NULL, NULL},
	{"in a locked directory", replace_in_locked, NULL, "locked/file",
	 "other\n"},
	{"directory moved", move_directory, check_moved, NULL, NULL},
	{"case of the name", other_case, NULL, "A.toml", "a = 1\n"},
	{"names traded", trade_names, NULL, "a.toml", "b = 2\n"},
	{"link to a victim", link_to_victim, check_victim, "a.toml",
	 "victim.txt"},
	{"directory in place", directory_in_place, check_directory_in_place,
	 NULL, NULL},
	{"fifo in place", fifo_in_place, NULL, NULL, NULL},
	{"file for a directory", file_for_directory, NULL, "data", "a file\n"},
	{"link for a directory", link_for_directory, check_elsewhere, "data",
	 "elsewhere"},
	{"another link", link_elsewhere, NULL, "link", "b.toml"},
	{"file for a link", file_for_link, NULL, "link", "a = 1\n"},
	{"link and fifo shared", share_link_and_fifo, NULL, NULL, NULL},
	{"no fifo", no_fifo, NULL, NULL, NULL},
	{"file for a fifo", file_for_fifo, NULL, "pipe", "data\n"},
	{"additions", add_things, NULL, "data/new/x", "x\n"},
	{"everything gone", remove_everything, NULL, NULL, NULL},
	{"hard links", write_twin, check_twins, "twin2", "a longer text\n"},
	{"through another name", write_through_other_name, NULL, "b.toml",
	 "from cache\n"},
};

struct parameter {
	size_t row;
	bool as_user;
};

ParameterizedTestParameters(restore, damage)
{
	static struct parameter parameters[2 * HF_COUNT(rows)];

	for (size_t i = 0; i < HF_COUNT(parameters); i++) {
		parameters[i].row = i / 2;
		parameters[i].as_user = i % 2 == 1;
	}
	return cr_make_param_array(struct parameter, parameters,
				   HF_COUNT(parameters));
}

static int64_t mtime_of(const char *path)
{
	struct hf_stat stat = {.mtime_ns = 0};

	must(hf_file_stat_at(bench.root_fd, path, &stat), path);
	return stat.mtime_ns;
}

/* What the plan did with each step, for the log of a failing test. */
static void tell_steps(const char *name)
{
	for (size_t i = 0; i < bench.plan.count; i++) {
		const struct hf_step *const step = &bench.plan.steps[i];

		if (step->err)
			(void)fprintf(stderr, "%s: %s: %s\n", name,
				      hf_step_path(step), step->err->text);
	}
}

ParameterizedTest(struct parameter *parameter, restore, damage)
{
	const struct row *const row = &rows[parameter->row];
	int64_t root_mtime;
	int64_t data_mtime;
	struct hf_error err;
	int descriptors;
	int rc;

	hf_bench_begin(&bench, "** !victim.txt !elsewhere/ !data.old/",
		       parameter->as_user);
	build();
	hf_bench_record(&bench);
	root_mtime = mtime_of(".");
	data_mtime = mtime_of("data");
	if (row->damage)
		row->damage();
	descriptors = hf_open_descriptors();

	rc = hf_bench_restore(&bench, true, &err);
	tell_steps(row->name);
	cr_expect_eq(rc, 0, "%s", row->name);
	cr_expect_eq(hf_open_descriptors(), descriptors, "%s: leak", row->name);
	cr_expect_eq(hf_plan_count(&bench.plan, HF_STEP_FAILED), 0);
	cr_expect_eq(hf_plan_count(&bench.plan, HF_STEP_WAITING), 0);
	if (row->kept) {
		const struct hf_step *const step =
			hf_bench_step(&bench, row->path);

		cr_assert(step, "%s: no step", row->name);
		cr_expect(hf_bench_kept_has(&bench, step->kept, row->kept),
			  "%s: not kept", row->name);
	}
	if (row->check)
		row->check();
	if (bench.plan.count > 0)
		cr_expect_eq(mtime_of("."), root_mtime, "%s: .", row->name);
	if (hf_bench_step(&bench, "data/big.bin"))
		cr_expect_eq(mtime_of("data"), data_mtime, "%s", row->name);
	cr_expect_eq(hf_bench_temporaries(&bench), 0, "%s", row->name);
	cr_expect_eq(hf_bench_differences(&bench, true), 0, "%s", row->name);
	hf_bench_done(&bench);
}
