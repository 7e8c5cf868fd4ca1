/* SPDX-License-Identifier: MIT */
/* The watch: every kind of event with its tag, and what it says when it cannot.
 */
#include "platform/watch.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "support/check.h"
#include "support/tmpdir.h"

static char *dir;
static int dir_fd = -1;

static void setup(void)
{
	dir = hf_tmpdir_make();
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert(dir_fd >= 0);
}

static void teardown(void)
{
	(void)close(dir_fd);
	hf_tmpdir_remove(dir);
}

TestSuite(watch, .init = setup, .fini = teardown);

/* hf_watch_add_*() of a path below dir. */
typedef int add_function(struct hf_watch *watch, const char *path, size_t tag);

static int add(add_function *function, struct hf_watch *watch, const char *name,
	       size_t tag)
{
	cleanup_free char *path = hf_path_join(dir, name);

	cr_assert(path != NULL);
	return function(watch, path, tag);
}

static struct hf_watch *make(void)
{
	struct hf_watch *watch = NULL;

	cr_assert_eq(hf_watch_new(&watch), 0);
	return watch;
}

/* All that is told now about (tag, name), in one set; how often in *ret_count.
 */
static unsigned told(struct hf_watch *watch, size_t tag, const char *name,
		     size_t *ret_count)
{
	struct hf_watch_event event;
	unsigned kinds = 0;

	*ret_count = 0;
	while (hf_watch_next(watch, &event) == 1) {
		if (event.tag != tag || strcmp(event.name, name) != 0)
			continue;
		kinds |= event.kinds;
		++*ret_count;
	}
	return kinds;
}

/* -- every kind --------------------------------------------------------------
 */

static void write_to(const char *name)
{
	const int fd = openat(dir_fd, name, O_WRONLY | O_CLOEXEC);

	cr_assert(fd >= 0);
	cr_assert_eq((int)write(fd, "x", 1), 1);
	cr_assert_eq(close(fd), 0);
}

static void do_write(void)
{
	write_to("d/f");
}

static void do_close(void)
{
	(void)close(openat(dir_fd, "d/f", O_WRONLY | O_CLOEXEC));
}

static void do_truncate(void)
{
	(void)close(openat(dir_fd, "d/f", O_WRONLY | O_TRUNC | O_CLOEXEC));
}

static void do_read(void)
{
	char data[8];
	const int fd = openat(dir_fd, "d/f", O_RDONLY | O_CLOEXEC);

	cr_assert(read(fd, data, sizeof(data)) > 0);
	(void)close(fd);
}

static void do_chmod(void)
{
	cr_assert_eq(fchmodat(dir_fd, "d/f", 0600, 0), 0);
}

static void do_create(void)
{
	hf_put_file(dir_fd, "d/new", "");
}

static void do_mkdir(void)
{
	cr_assert_eq(mkdirat(dir_fd, "d/new", 0755), 0);
}

static void do_remove(void)
{
	cr_assert_eq(unlinkat(dir_fd, "d/f", 0), 0);
}

static void do_move_out(void)
{
	cr_assert_eq(renameat(dir_fd, "d/f", dir_fd, "e/f"), 0);
}

static void do_move_in(void)
{
	cr_assert_eq(renameat(dir_fd, "e/g", dir_fd, "d/f"), 0);
}

static void do_move_self(void)
{
	cr_assert_eq(renameat(dir_fd, "d", dir_fd, "moved"), 0);
}

static void do_remove_self(void)
{
	cr_assert_eq(unlinkat(dir_fd, "d/f", 0), 0);
	cr_assert_eq(unlinkat(dir_fd, "d", AT_REMOVEDIR), 0);
}

/* The other name lies in a directory that nobody watches. */
static void do_write_other_name(void)
{
	write_to("e/other");
}

static const struct {
	const char *name;
	add_function *add;
	const char *path;
	void (*act)(void);
	const char *event; /* its name */
	unsigned kinds;	   /* exactly these; 0: nothing is told */
} cases[] = {
	{"write", hf_watch_add_directory, "d", do_write, "f", HF_WATCH_WRITTEN},
	{"close", hf_watch_add_directory, "d", do_close, "f", 0},
	{"truncate", hf_watch_add_directory, "d", do_truncate, "f",
	 HF_WATCH_WRITTEN},
	{"read", hf_watch_add_directory, "d", do_read, "f", 0},
	{"chmod", hf_watch_add_directory, "d", do_chmod, "f",
	 HF_WATCH_METADATA},
	{"create", hf_watch_add_directory, "d", do_create, "new",
	 HF_WATCH_CREATED},
	{"mkdir", hf_watch_add_directory, "d", do_mkdir, "new",
	 HF_WATCH_CREATED},
	{"remove", hf_watch_add_directory, "d", do_remove, "f",
	 HF_WATCH_REMOVED},
	{"move out", hf_watch_add_directory, "d", do_move_out, "f",
	 HF_WATCH_MOVED_FROM},
	{"move in", hf_watch_add_directory, "d", do_move_in, "f",
	 HF_WATCH_MOVED_TO},
	{"move the directory", hf_watch_add_directory, "d", do_move_self, "",
	 HF_WATCH_SELF_GONE},
	{"remove the directory", hf_watch_add_directory, "d", do_remove_self,
	 "", HF_WATCH_SELF_GONE},
	{"names: write", hf_watch_add_names, "d", do_write, "f", 0},
	{"names: chmod", hf_watch_add_names, "d", do_chmod, "f", 0},
	{"names: create", hf_watch_add_names, "d", do_create, "new",
	 HF_WATCH_CREATED},
	{"names: remove", hf_watch_add_names, "d", do_remove, "f",
	 HF_WATCH_REMOVED},
	{"names: move out", hf_watch_add_names, "d", do_move_out, "f",
	 HF_WATCH_MOVED_FROM},
	{"names: move in", hf_watch_add_names, "d", do_move_in, "f",
	 HF_WATCH_MOVED_TO},
	{"names: move the directory", hf_watch_add_names, "d", do_move_self, "",
	 HF_WATCH_SELF_GONE},
	{"file: write", hf_watch_add_file, "d/f", do_write, "",
	 HF_WATCH_WRITTEN | HF_WATCH_CLOSED},
	{"file: other name", hf_watch_add_file, "d/f", do_write_other_name, "",
	 HF_WATCH_WRITTEN | HF_WATCH_CLOSED},
	{"directory: other name", hf_watch_add_directory, "d",
	 do_write_other_name, "f", 0},
	{"file: chmod", hf_watch_add_file, "d/f", do_chmod, "",
	 HF_WATCH_METADATA},
	{"ancestor: moved", hf_watch_add_ancestor, "d", do_move_self, "",
	 HF_WATCH_SELF_GONE},
	{"ancestor: removed", hf_watch_add_ancestor, "d", do_remove_self, "",
	 HF_WATCH_SELF_GONE},
	{"ancestor: a new name", hf_watch_add_ancestor, "d", do_create, "new",
	 0},
};

static void prepare(void)
{
	cr_assert_eq(mkdirat(dir_fd, "d", 0755), 0);
	cr_assert_eq(mkdirat(dir_fd, "e", 0755), 0);
	hf_put_file(dir_fd, "d/f", "content");
	hf_put_file(dir_fd, "e/g", "content");
	cr_assert_eq(linkat(dir_fd, "d/f", dir_fd, "e/other", 0), 0);
}

Test(watch, tells_every_kind)
{
	for (size_t i = 0; i < HF_COUNT(cases); i++) {
		cleanup_watch struct hf_watch *watch = make();
		size_t count;
		unsigned kinds;

		prepare();
		cr_assert_eq(add(cases[i].add, watch, cases[i].path, 7), 0,
			     "%s", cases[i].name);
		cases[i].act();
		kinds = told(watch, 7, cases[i].event, &count);
		cr_expect(kinds == cases[i].kinds, "%s: told %#x, wanted %#x",
			  cases[i].name, kinds, cases[i].kinds);
		teardown();
		setup();
	}
}

Test(watch, says_whether_it_is_a_directory)
{
	cleanup_watch struct hf_watch *watch = make();
	struct hf_watch_event event;

	prepare();
	cr_assert_eq(add(hf_watch_add_directory, watch, "d", 7), 0);
	do_mkdir();
	cr_assert_eq(hf_watch_next(watch, &event), 1);
	cr_expect(event.is_directory);
	do_chmod();
	cr_assert_eq(hf_watch_next(watch, &event), 1);
	cr_expect_not(event.is_directory);
}

Test(watch, is_readable_when_there_is_something)
{
	cleanup_watch struct hf_watch *watch = make();
	struct pollfd fd = {.fd = hf_watch_fd(watch), .events = POLLIN};
	struct hf_watch_event event;

	prepare();
	cr_assert_eq(add(hf_watch_add_directory, watch, "d", 7), 0);
	cr_expect_eq(poll(&fd, 1, 0), 0);
	cr_expect_eq(hf_watch_next(watch, &event), 0);
	do_chmod();
	cr_expect_eq(poll(&fd, 1, 0), 1);
	cr_expect_eq(hf_watch_next(watch, &event), 1);
	cr_expect_eq(hf_watch_next(watch, &event), 0);
	cr_expect_eq(poll(&fd, 1, 0), 0);
}

/* -- what is added
 * -------------------------------------------------------------- */

Test(watch, refuses_what_is_not_there)
{
	cleanup_watch struct hf_watch *watch = make();

	prepare();
	cr_assert_eq(symlinkat("d", dir_fd, "link"), 0);
	cr_expect_eq(add(hf_watch_add_directory, watch, "none", 1), -ENOENT);
	cr_expect_eq(add(hf_watch_add_file, watch, "d/none", 1), -ENOENT);
	cr_expect_eq(add(hf_watch_add_ancestor, watch, "none", 1), -ENOENT);
	cr_expect_eq(add(hf_watch_add_directory, watch, "d/f", 1), -ENOTDIR);
	/* Its target is another's business. */
	cr_expect_eq(add(hf_watch_add_directory, watch, "link", 1), -ENOTDIR);
}

Test(watch, keeps_the_first_tag_of_two_names)
{
	cleanup_watch struct hf_watch *watch = make();
	size_t count;

	prepare();
	cr_assert_eq(add(hf_watch_add_file, watch, "d/f", 1), 0);
	cr_assert_eq(add(hf_watch_add_file, watch, "e/other", 2), 0);
	write_to("e/other");
	cr_expect(told(watch, 1, "", &count) & HF_WATCH_WRITTEN);
	write_to("d/f");
	cr_expect_eq(told(watch, 2, "", &count), 0);
}

/* An ancestor that is watched as a directory already loses nothing. */
Test(watch, keeps_what_a_directory_tells)
{
	cleanup_watch struct hf_watch *watch = make();
	size_t count;

	prepare();
	cr_assert_eq(add(hf_watch_add_directory, watch, "d", 1), 0);
	cr_assert_eq(add(hf_watch_add_ancestor, watch, "d", 2), 0);
	do_create();
	cr_expect(told(watch, 1, "new", &count) & HF_WATCH_CREATED);
	do_move_self();
	cr_expect(told(watch, 1, "", &count) & HF_WATCH_SELF_GONE);
}

Test(watch, knows_hundreds_by_their_tags)
{
	enum { COUNT = 300 };
	cleanup_watch struct hf_watch *watch = make();
	char name[32];

	for (size_t i = 0; i < COUNT; i++) {
		(void)snprintf(name, sizeof(name), "f%zu", i);
		hf_put_file(dir_fd, name, "x");
		cr_assert_eq(add(hf_watch_add_file, watch, name, i + 5), 0);
	}
	for (size_t i = 0; i < COUNT; i++) {
		struct hf_watch_event event;

		(void)snprintf(name, sizeof(name), "f%zu", i);
		cr_assert_eq(fchmodat(dir_fd, name, 0600, 0), 0);
		cr_assert_eq(hf_watch_next(watch, &event), 1);
		cr_assert_eq(event.tag, i + 5);
	}
}

/* Watch descriptors are not used again: the tag of a gone one names nothing. */
Test(watch, goes_on_when_a_directory_is_gone)
{
	cleanup_watch struct hf_watch *watch = make();
	size_t count;

	prepare();
	cr_assert_eq(add(hf_watch_add_directory, watch, "d", 1), 0);
	cr_assert_eq(add(hf_watch_add_directory, watch, "e", 2), 0);
	do_remove_self();
	cr_expect(told(watch, 1, "", &count) & HF_WATCH_SELF_GONE);
	hf_put_file(dir_fd, "e/g", "more");
	cr_expect(told(watch, 2, "g", &count) & HF_WATCH_WRITTEN);
}

Test(watch, gives_names_of_any_bytes)
{
	static const char *const names[] = {"line\nbreak", "\033[31m",
					    "\xff\xfe", " "};
	cleanup_watch struct hf_watch *watch = make();
	char longest[256];
	size_t count;

	memset(longest, 'n', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	prepare();
	cr_assert_eq(add(hf_watch_add_directory, watch, ".", 1), 0);
	for (size_t i = 0; i < HF_COUNT(names); i++) {
		hf_put_file(dir_fd, names[i], "");
		cr_expect(told(watch, 1, names[i], &count) & HF_WATCH_CREATED,
			  "name %zu", i);
	}
	hf_put_file(dir_fd, longest, "");
	cr_expect(told(watch, 1, longest, &count) & HF_WATCH_CREATED);
}

/* -- too many
 * -------------------------------------------------------------------- */

static size_t queue_limit(void)
{
	FILE *const file =
		fopen("/proc/sys/fs/inotify/max_queued_events", "re");
	size_t limit = 0;

	if (!file || fscanf(file, "%zu", &limit) != 1)
		limit = 0;
	if (file)
		(void)fclose(file);
	return limit;
}

Test(watch, says_when_events_were_lost)
{
	enum { LARGEST = 1000 * 1000 };
	cleanup_watch struct hf_watch *watch = make();
	const size_t limit = queue_limit();
	struct hf_watch_event event;
	size_t count = 0;
	bool is_lost = false;

	if (limit == 0 || limit > LARGEST)
		hf_skip(teardown, "the queue is too long to fill");
	prepare();
	cr_assert_eq(add(hf_watch_add_directory, watch, "d", 1), 0);
	/* Equal events in a row are one. */
	for (size_t i = 0; i < limit + 1000; i++)
		cr_assert_eq(fchmodat(dir_fd, i % 2 ? "d/f" : "d",
				      i % 4 < 2 ? 0755 : 0700, 0),
			     0);
	while (hf_watch_next(watch, &event) == 1) {
		count++;
		is_lost = is_lost || event.kinds & HF_WATCH_OVERFLOW;
	}
	cr_expect(is_lost);
	cr_expect(count >= limit);
	/* Once read it tells again. */
	do_create();
	cr_expect(told(watch, 1, "new", &count) & HF_WATCH_CREATED);
}

Test(watch, leaves_no_descriptor)
{
	const int before = hf_open_descriptors();
	struct hf_watch *watch = make();

	prepare();
	cr_assert_eq(add(hf_watch_add_directory, watch, "d", 1), 0);
	hf_watch_free(&watch);
	cr_expect(watch == NULL);
	hf_watch_free(&watch);
	cr_expect_eq(hf_open_descriptors(), before);
}
