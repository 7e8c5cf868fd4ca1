/* SPDX-License-Identifier: MIT */
/* Where a path leads, from the view of whoever waits at the gate. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"
#include "support/gated.h"

#define REFUSED EDQUOT
#define FD_DIR	100
#define FD_FILE 101

static struct hf_gated gated;
/* Paths that are known only now. */
static char absolute[PATH_MAX];
static char through_root[PATH_MAX];
static char through_pid[PATH_MAX];
static char longest[PATH_MAX];
static char too_long[PATH_MAX + 8];

static void fill(char *text, size_t len)
{
	memset(text, '/', len);
	for (size_t i = 0; i + 1 < len; i += 2)
		text[i] = '.';
	text[len - 1] = 'f';
	text[len] = '\0';
}

static void setup(void)
{
	hf_gated_setup(&gated);
	hf_put_file(gated.dir_fd, "f", "content\n");
	cr_assert(mkdir("d", 0755) == 0 && mkdir("bare", 0755) == 0);
	hf_put_file(gated.dir_fd, "d/g", "more\n");
	cr_assert(symlink("f", "link") == 0 && symlink("d", "dirlink") == 0 &&
		  symlink("d/new", "dangling") == 0 &&
		  symlink("dangling", "twice") == 0 &&
		  symlink("loop", "loop") == 0 &&
		  symlink("/proc/self/fd/101", "inproc") == 0);
	(void)snprintf(absolute, sizeof(absolute), "%s/f", gated.dir);
	(void)snprintf(through_root, sizeof(through_root),
		       "/proc/self/root%s/f", gated.dir);
	fill(longest, PATH_MAX - 1 - (PATH_MAX - 1 + 1) % 2);
	memset(too_long, '/', sizeof(too_long) - 1);
	gated.answer = REFUSED;
}

static void teardown(void)
{
	hf_gated_teardown(&gated);
}

TestSuite(gate_path, .init = setup, .fini = teardown, .timeout = 120);

static void open_all(void)
{
	const int dir_fd = open("d", O_RDONLY | O_DIRECTORY);
	const int file_fd = open("f", O_RDONLY);

	hf_gated_need(dup2(dir_fd, FD_DIR) == FD_DIR &&
			      dup2(file_fd, FD_FILE) == FD_FILE,
		      "descriptors");
}

/* -- open for writing ---------------------------------------------------------
 */

static const struct row {
	const char *name;
	int dir_fd;
	const char *path;
	const char *last;
	const char *object; /* by a plain path; NULL: not there */
	const char *parent; /* NULL: there is no name */
	bool wants_directory;
	bool creates;
	int name_rc;
	int object_rc;
} rows[] = {
	{"relative", AT_FDCWD, "f", "f", "f", ".", .name_rc = 0},
	{"absolute", AT_FDCWD, absolute, "f", "f", ".", .name_rc = 0},
	{"of a descriptor", FD_DIR, "g", "g", "d/g", "d", .name_rc = 0},
	{"up from a descriptor", FD_DIR, "../f", "f", "f", ".", .name_rc = 0},
	{"up and down", AT_FDCWD, "d/../d/./g", "g", "d/g", "d", .name_rc = 0},
	{"two slashes", AT_FDCWD, "d//g", "g", "d/g", "d", .name_rc = 0},
	{"a dot in front", AT_FDCWD, "./f", "f", "f", ".", .name_rc = 0},
	{"a dot at the end", AT_FDCWD, "d/.", "", "d", NULL, .name_rc = 0},
	{"up at the end", AT_FDCWD, "d/..", "", ".", NULL, .name_rc = 0},
	{"the root", AT_FDCWD, "/", "", "/", NULL, .name_rc = 0},
	{"above the root", AT_FDCWD, "/../..", "", "/", NULL, .name_rc = 0},
	{"a slash behind a directory", AT_FDCWD, "d/", "d", "d", ".",
	 .wants_directory = true},
	{"a slash behind a file", AT_FDCWD, "f/", "f", "f", ".",
	 .wants_directory = true, .object_rc = -ENOTDIR},
	{"a slash behind a link", AT_FDCWD, "dirlink/", "d", "d", ".",
	 .wants_directory = true},
	{"a link", AT_FDCWD, "link", "link", "f", ".", .name_rc = 0},
	{"through a link", AT_FDCWD, "dirlink/g", "g", "d/g", "d",
	 .name_rc = 0},
	{"up from a link", AT_FDCWD, "dirlink/../f", "f", "f", ".",
	 .name_rc = 0},
	{"a loop", AT_FDCWD, "loop", "loop", NULL, ".", .object_rc = -ELOOP},
	{"through a loop", AT_FDCWD, "loop/f", "f", NULL, NULL,
	 .name_rc = -ELOOP, .object_rc = -ELOOP},
	{"nothing", AT_FDCWD, "none", "none", NULL, ".", .name_rc = -ENOENT,
	 .object_rc = -ENOENT},
	{"in nothing", AT_FDCWD, "none/f", "f", NULL, NULL, .name_rc = -ENOENT,
	 .object_rc = -ENOENT},
	{"in a file", AT_FDCWD, "f/x", "x", NULL, NULL, .name_rc = -ENOTDIR,
	 .object_rc = -ENOTDIR},
	{"of a file", FD_FILE, "x", "x", NULL, NULL, .name_rc = -ENOTDIR,
	 .object_rc = -ENOTDIR},
	{"new", AT_FDCWD, "d/new", "new", NULL, "d", .creates = true,
	 .name_rc = -ENOENT, .object_rc = -ENOENT},
	{"a link to nothing", AT_FDCWD, "dangling", "new", NULL, "d",
	 .creates = true, .object_rc = -ENOENT},
	{"two links to nothing", AT_FDCWD, "twice", "new", NULL, "d",
	 .creates = true, .object_rc = -ENOENT},

	{"of /proc", AT_FDCWD, "/proc/self/fd/101", "", "f", NULL,
	 .name_rc = 0},
	{"of /proc by number", AT_FDCWD, through_pid, "", "f", NULL,
	 .name_rc = 0},
	{"of the thread in /proc", AT_FDCWD, "/proc/thread-self/fd/101", "",
	 "f", NULL, .name_rc = 0},
	{"of /dev", AT_FDCWD, "/dev/fd/101", "", "f", NULL, .name_rc = 0},
	{"a link into /proc", AT_FDCWD, "inproc", "", "f", NULL,
	 .name_rc = 0},
	{"the working directory of /proc", AT_FDCWD, "/proc/self/cwd/d/g", "g",
	 "d/g", "d", .name_rc = 0},
	{"the root of /proc", AT_FDCWD, through_root, "f", "f", ".",
	 .name_rc = 0},
	{"a descriptor of /proc and on", AT_FDCWD, "/proc/self/fd/100/../f",
	 "f", "f", ".", .name_rc = 0},
	{"long", AT_FDCWD, longest, "f", "f", ".", .name_rc = 0},
};
_Static_assert(HF_COUNT(rows) <= HF_GATED_MAX, "room for a record a row");

static void look(struct hf_gated *child, size_t at)
{
	const struct row *const row = &rows[at];

	hf_gated_mark(child, at);
	if (row->object)
		hf_gated_need(hf_file_stat_at(AT_FDCWD, row->object,
					      &child->shared->objects[at]) == 0,
			      row->object);
	if (row->parent)
		hf_gated_need(hf_file_stat_at(AT_FDCWD, row->parent,
					      &child->shared->parents[at]) == 0,
			      row->parent);
}

static void open_each(struct hf_gated *child)
{
	open_all();
	(void)snprintf(through_pid, sizeof(through_pid), "/proc/%d/fd/101",
		       (int)getpid());
	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		const long flags = O_WRONLY | (rows[i].creates ? O_CREAT : 0);

		look(child, i);
		hf_gated_call(child, SYS_openat,
			      (const long[6]){rows[i].dir_fd,
					      (long)rows[i].path, flags, 0600});
	}
}

static void expect_row(size_t at)
{
	const struct row *const row = &rows[at];
	const struct hf_gated_place *const seen = &gated.calls[at].places[0];
	const struct hf_gate_place *const place = &seen->facts;

	cr_expect_eq(gated.calls[at].count, 1, "%s", row->name);
	cr_expect_eq(gated.shared->results[at], -REFUSED, "%s", row->name);
	cr_expect_eq(place->wants_directory, row->wants_directory, "%s",
		     row->name);
	cr_expect_eq(place->name_rc, row->name_rc, "%s: name %d", row->name,
		     place->name_rc);
	cr_expect_eq(place->object_rc, row->object_rc, "%s: object %d",
		     row->name, place->object_rc);
	cr_expect_str_eq(seen->last, row->last, "%s: '%s'", row->name,
			 seen->last);
	if (row->object && row->object_rc == 0) {
		cr_expect_eq(place->object.ino, gated.shared->objects[at].ino,
			     "%s: another object", row->name);
		cr_expect_eq(place->object.dev, gated.shared->objects[at].dev,
			     "%s", row->name);
	}
	if (!row->parent)
		return;
	cr_expect_eq(place->parent_rc, 0, "%s: parent %d", row->name,
		     place->parent_rc);
	cr_expect_eq(place->parent.ino, gated.shared->parents[at].ino,
		     "%s: another directory", row->name);
}

Test(gate_path, leads_where_it_leads_the_caller)
{
	hf_gated_run(&gated, open_each);
	for (size_t i = 0; i < HF_COUNT(rows); i++)
		expect_row(i);
	cr_expect_str_eq(gated.calls[1].places[0].parent_path, gated.dir);
}

/* A second thread has descriptors of its own. */
static void *open_of_thread(void *context)
{
	struct hf_gated *const child = context;
	int fd;

	hf_gated_need(unshare(CLONE_FILES) == 0, "unshare");
	fd = open("d/g", O_RDONLY);
	hf_gated_need(dup2(fd, FD_FILE) == FD_FILE, "descriptor");
	hf_gated_need(hf_file_stat_at(AT_FDCWD, "d/g",
				      &child->shared->objects[0]) == 0,
		      "d/g");
	hf_gated_call(child, SYS_openat,
		      (const long[6]){AT_FDCWD,
				      (long)"/proc/thread-self/fd/101",
				      O_WRONLY});
	return NULL;
}

static void open_in_thread(struct hf_gated *child)
{
	pthread_t thread;

	open_all();
	hf_gated_need(pthread_create(&thread, NULL, open_of_thread, child) == 0,
		      "thread");
	(void)pthread_join(thread, NULL);
}

Test(gate_path, of_a_second_thread)
{
	hf_gated_run(&gated, open_in_thread);
	cr_expect_eq(gated.shared->results[0], -REFUSED);
	cr_expect_eq(gated.calls[0].places[0].facts.object.ino,
		     gated.shared->objects[0].ino);
}

/* -- what cannot be read ------------------------------------------------------
 */

static const char *at_the_edge(void)
{
	char *const pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	hf_gated_need(pages != MAP_FAILED && munmap(pages + 4096, 4096) == 0,
		      "pages");
	memcpy(pages + 4094, "f", 2);
	return pages + 4094;
}

static const char *over_the_edge(void)
{
	char *const pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	hf_gated_need(pages != MAP_FAILED && munmap(pages + 4096, 4096) == 0,
		      "pages");
	pages[4095] = 'f';
	return pages + 4095;
}

enum { WILD, NONE, EDGE, OVER, EMPTY, TOO_LONG, NO_FD, ODD_FLAGS };

static void open_text(struct hf_gated *child, size_t mark, const char *path)
{
	hf_gated_mark(child, mark);
	hf_gated_call(child, SYS_openat,
		      (const long[6]){AT_FDCWD, (long)path, O_WRONLY});
}

static void open_badly(struct hf_gated *child)
{
	const char *const edge = at_the_edge();

	open_text(child, WILD, (const char *)8);
	open_text(child, NONE, NULL);
	open_text(child, EDGE, edge);
	open_text(child, OVER, over_the_edge());
	open_text(child, EMPTY, "");
	open_text(child, TOO_LONG, too_long);
	hf_gated_mark(child, NO_FD);
	hf_gated_call(child, SYS_openat,
		      (const long[6]){77, (long)"f", O_WRONLY});
	/* An int is an int, whatever stands above it. */
	hf_gated_mark(child, ODD_FLAGS);
	hf_gated_call(child, SYS_unlinkat,
		      (const long[6]){(long)0xdead0000ffffff9c, (long)"f",
				      (long)0xdead000000000000});
}

Test(gate_path, what_cannot_be_read_fails_by_itself)
{
	static const struct {
		size_t mark;
		int rc;
		unsigned count;
	} expected[] = {
		{WILD, -EFAULT, 0},	  {NONE, -EFAULT, 0},
		{EDGE, -REFUSED, 1},	  {OVER, -EFAULT, 0},
		{EMPTY, -ENOENT, 0},	  {TOO_LONG, -ENAMETOOLONG, 0},
		{ODD_FLAGS, -REFUSED, 1},
	};

	hf_gated_run(&gated, open_badly);
	for (size_t i = 0; i < HF_COUNT(expected); i++) {
		const size_t mark = expected[i].mark;

		cr_expect_eq(gated.shared->results[mark], expected[i].rc,
			     "%zu: %ld", mark, gated.shared->results[mark]);
		cr_expect_eq(gated.calls[mark].count, expected[i].count, "%zu",
			     mark);
	}
	cr_expect_eq(gated.calls[ODD_FLAGS].call.flags, 0);
	cr_expect_eq(gated.calls[ODD_FLAGS].call.operation, HF_GATE_REMOVE);
	/* Asked or not, nothing is there. */
	cr_expect(gated.calls[NO_FD].count == 0 ||
		  gated.calls[NO_FD].places[0].facts.object_rc < 0);
}

/* -- other views
 * --------------------------------------------------------------- */

/* Root has a view of its own; anybody else needs a user namespace for it. */
static bool can_unshare(void)
{
	const pid_t pid = fork();
	int status = 0;

	if (pid == 0)
		_exit(unshare(CLONE_NEWNS |
			      (geteuid() == 0 ? 0 : CLONE_NEWUSER)) < 0);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void take_own_view(void)
{
	const int flags = CLONE_NEWNS | (geteuid() == 0 ? 0 : CLONE_NEWUSER);

	hf_gated_need(unshare(flags) == 0, "unshare");
	hf_gated_need(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0,
		      "private");
}

/* Both may be reached by a plain path as well. */
static void open_as(struct hf_gated *child, size_t mark, const char *path,
		    const char *object, const char *parent)
{
	hf_gated_mark(child, mark);
	hf_gated_need(hf_file_stat_at(AT_FDCWD, object,
				      &child->shared->objects[mark]) == 0,
		      object);
	hf_gated_need(hf_file_stat_at(AT_FDCWD, parent,
				      &child->shared->parents[mark]) == 0,
		      parent);
	hf_gated_call(child, SYS_openat,
		      (const long[6]){AT_FDCWD, (long)path, O_WRONLY});
}

static void expect_views(size_t first, size_t count)
{
	for (size_t i = first; i < first + count; i++) {
		const struct hf_gate_place *const place =
			&gated.calls[i].places[0].facts;

		cr_expect_eq(gated.shared->results[i], -REFUSED, "%zu: %ld", i,
			     gated.shared->results[i]);
		cr_expect_eq(place->object.ino, gated.shared->objects[i].ino,
			     "%zu: another object", i);
		cr_expect_eq(place->object.dev, gated.shared->objects[i].dev,
			     "%zu", i);
		cr_expect_eq(place->parent.ino, gated.shared->parents[i].ino,
			     "%zu: another directory", i);
	}
}

static void open_below(struct hf_gated *child)
{
	take_own_view();
	hf_gated_need(chroot("d") == 0 && chdir("/") == 0, "chroot");
	open_as(child, 1, "/g", "/g", "/");
	open_as(child, 2, "/../g", "/g", "/");
	open_as(child, 3, "g", "g", ".");
}

Test(gate_path, of_another_root)
{
	if (!can_unshare())
		hf_skip(teardown, "no namespace of its own");
	hf_put_file(gated.dir_fd, "g", "not this one\n");
	gated.lets_mount = true;
	hf_gated_run(&gated, open_below);
	expect_views(1, 3);
}

static void open_mounted(struct hf_gated *child)
{
	take_own_view();
	hf_gated_need(mount("d", "bare", NULL, MS_BIND, NULL) == 0, "bind");
	open_as(child, 1, "bare/g", "d/g", "d");
	open_as(child, 2, absolute, "f", ".");
	open_as(child, 3, "bare/../f", "f", ".");
	open_as(child, 4, "bare/out", "f", ".");
}

Test(gate_path, of_other_mounts)
{
	if (!can_unshare())
		hf_skip(teardown, "no namespace of its own");
	/* Seen in the directory that is mounted over another. */
	cr_assert_eq(symlink("../f", "d/out"), 0);
	gated.lets_mount = true;
	hf_gated_run(&gated, open_mounted);
	expect_views(1, 4);
}
