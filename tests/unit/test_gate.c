/* SPDX-License-Identifier: MIT */
/* Each call that the gate is told of: what it says, and that it can refuse. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include "support/check.h"
#include "support/gated.h"

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SYS_move_mount
#define SYS_move_mount 429
#endif

/* No call fails with this by itself. */
#define REFUSED EDQUOT

/* What the child has open. */
#define FD_DIR	100
#define FD_FILE 101
#define FD_PATH 102
#define FD_SOCK 103

static struct hf_gated gated;

static void setup(void)
{
	hf_gated_setup(&gated);
	hf_put_file(gated.dir_fd, "f", "content\n");
	cr_assert_eq(mkdir("d", 0755), 0);
	cr_assert_eq(mkdir("bare", 0755), 0);
	hf_put_file(gated.dir_fd, "d/g", "more\n");
	cr_assert_eq(symlink("f", "link"), 0);
	gated.answer = REFUSED;
}

static void teardown(void)
{
	hf_gated_teardown(&gated);
}

TestSuite(gate, .init = setup, .fini = teardown, .timeout = 120);

static void open_all(void)
{
	const int dir_fd = open("d", O_RDONLY | O_DIRECTORY);
	const int file_fd = open("f", O_RDONLY);
	const int path_fd = open("f", O_PATH);
	const int socket_fd = socket(AF_UNIX, SOCK_STREAM, 0);

	hf_gated_need(dup2(dir_fd, FD_DIR) == FD_DIR &&
			      dup2(file_fd, FD_FILE) == FD_FILE &&
			      dup2(path_fd, FD_PATH) == FD_PATH &&
			      dup2(socket_fd, FD_SOCK) == FD_SOCK,
		      "descriptors");
}

/* -- the calls ---------------------------------------------------------------
 */

#define P(text) ((long)(text))
#define CWD	((long)AT_FDCWD)
#define D	((long)FD_DIR)
#define F	((long)FD_FILE)

static struct open_how how = {.flags = O_RDWR | O_CREAT};
static struct sockaddr_un address = {.sun_family = AF_UNIX,
				     .sun_path = "d/socket"};
static struct sockaddr_un nameless = {.sun_family = AF_UNIX,
				      .sun_path = "\0abstract"};
static struct utimbuf seconds = {.actime = 1, .modtime = 7};
static struct timeval micros[2] = {{1, 1}, {7, 5}};
static struct timespec nanos[2] = {{1, 1}, {7, 5}};
static struct timespec now[2] = {{0, UTIME_OMIT}, {0, UTIME_NOW}};
static struct timespec kept[2] = {{1, 1}, {0, UTIME_OMIT}};
static int inode_flags;

#define W  HF_GATE_WRITES
#define WC (HF_GATE_WRITES | HF_GATE_CREATES)

struct row {
	const char *name; /* of the call, as it is told */
	enum hf_gate_operation operation;
	unsigned flags;
	long number;
	long args[6];
	const char *last[2]; /* NULL: there is no such place */
	const char *object;  /* what place 0 reaches; NULL: nothing */
	const char *parent;  /* of the last place; NULL: none */
	const char *detail;
};

#define HOW	    sizeof(how)
#define ANEW	    O_WRONLY | O_CREAT | O_TRUNC
#define CALL(what)  .name = #what, .number = SYS_##what
#define DOES(what)  .operation = HF_GATE_##what
#define ARGS(...)   .args = {__VA_ARGS__}
#define LASTS(...)  .last = {__VA_ARGS__}
#define MEETS(...)  .object = __VA_ARGS__
#define BENEATH(at) .parent = at

static const struct row rows[] = {
#ifdef SYS_open
	{CALL(open), DOES(OPEN), ARGS(P("f"), O_WRONLY), .flags = W, LASTS("f"),
	 MEETS("f"), BENEATH("."), .detail = "O_WRONLY"},
	{CALL(creat), DOES(OPEN), ARGS(P("d/g"), 0644),
	 .flags = WC | HF_GATE_TRUNCATES, LASTS("g"), MEETS("d/g"),
	 BENEATH("d"), .detail = "O_WRONLY|O_CREAT|O_TRUNC"},
#endif
	{CALL(openat), DOES(OPEN), ARGS(CWD, P("f"), O_RDWR | O_APPEND),
	 .flags = W | HF_GATE_READS, LASTS("f"), MEETS("f"), BENEATH("."),
	 .detail = "O_RDWR|O_APPEND"},
	{CALL(openat), DOES(OPEN), ARGS(D, P("g"), O_RDONLY | O_TRUNC),
	 .flags = HF_GATE_TRUNCATES, LASTS("g"), MEETS("d/g"), BENEATH("d"),
	 .detail = "O_RDONLY|O_TRUNC"},
	{CALL(openat), DOES(OPEN), ARGS(D, P("n"), O_WRONLY | O_CREAT | O_EXCL),
	 .flags = WC | HF_GATE_EXCLUSIVE, LASTS("n"), BENEATH("d"),
	 .detail = "O_WRONLY|O_CREAT|O_EXCL"},
	{CALL(openat), DOES(OPEN), ARGS(CWD, P("d"), O_TMPFILE | O_RDWR, 0600),
	 .flags = W | HF_GATE_READS | HF_GATE_UNNAMED | HF_GATE_OF_DIRECTORY,
	 LASTS("d"), MEETS("d"), BENEATH("."), .detail = "O_RDWR|O_DIRECTORY"},
	{CALL(openat), DOES(OPEN), ARGS(CWD, P("link"), O_WRONLY | O_NOFOLLOW),
	 .flags = W | HF_GATE_NO_LINK, LASTS("link"), MEETS("link"),
	 BENEATH("."), .detail = "O_WRONLY|O_NOFOLLOW"},
	{CALL(openat2), DOES(OPEN), ARGS(D, P("g"), P(&how), HOW),
	 .flags = WC | HF_GATE_READS, LASTS("g"), MEETS("d/g"), BENEATH("d"),
	 .detail = "O_RDWR|O_CREAT"},
	{CALL(truncate), DOES(TRUNCATE), ARGS(P("f"), 1), LASTS("f"),
	 MEETS("f"), BENEATH(".")},
#ifdef SYS_rename
	{CALL(rename), DOES(RENAME), ARGS(P("f"), P("d/n")), LASTS("f", "n"),
	 MEETS("f"), BENEATH("d"), .detail = "f -> d/n"},
	{CALL(unlink), DOES(REMOVE), ARGS(P("link")), LASTS("link"),
	 MEETS("link"), BENEATH(".")},
	{CALL(rmdir), DOES(REMOVE_DIRECTORY), ARGS(P("bare/")), LASTS("bare"),
	 MEETS("bare"), BENEATH(".")},
	{CALL(link), DOES(LINK), ARGS(P("link"), P("d/n")), LASTS("link", "n"),
	 MEETS("link"), BENEATH("d"), .detail = "link -> d/n"},
	{CALL(symlink), DOES(CREATE), ARGS(P("any"), P("d/n")), LASTS("n"),
	 BENEATH("d")},
	{CALL(mknod), DOES(CREATE), ARGS(P("d/n"), S_IFIFO | 0600), LASTS("n"),
	 BENEATH("d")},
	{CALL(mkdir), DOES(CREATE), ARGS(P("d/n"), 0700), LASTS("n"),
	 .flags = HF_GATE_OF_DIRECTORY, BENEATH("d")},
	{CALL(chmod), DOES(MODE), ARGS(P("link"), 0100600), LASTS("link"),
	 MEETS("f"), BENEATH("."), .detail = "0600"},
	{CALL(chown), DOES(OWNER), ARGS(P("link"), 7, -1), LASTS("link"),
	 MEETS("f"), BENEATH("."), .detail = "7:-1"},
	{CALL(lchown), DOES(OWNER), ARGS(P("link"), -1, 70000), LASTS("link"),
	 MEETS("link"), BENEATH("."), .detail = "-1:70000"},
	{CALL(utime), DOES(TIMES), ARGS(P("link"), P(&seconds)), LASTS("link"),
	 MEETS("f"), BENEATH(".")},
	{CALL(utimes), DOES(TIMES), ARGS(P("f"), P(micros)), LASTS("f"),
	 MEETS("f"), BENEATH(".")},
	{CALL(futimesat), DOES(TIMES), ARGS(D, P("g"), P(micros)), LASTS("g"),
	 MEETS("d/g"), BENEATH("d")},
#endif
#ifdef SYS_renameat
	{CALL(renameat), DOES(RENAME), ARGS(D, P("g"), CWD, P("n")),
	 LASTS("g", "n"), MEETS("d/g"), BENEATH("."), .detail = "g -> n"},
#endif
	{CALL(renameat2), DOES(RENAME),
	 ARGS(CWD, P("f"), D, P("g"), RENAME_EXCHANGE), LASTS("f", "g"),
	 .flags = HF_GATE_EXCHANGES, MEETS("f"), BENEATH("d"),
	 .detail = "f -> g (RENAME_EXCHANGE)"},
	{CALL(renameat2), DOES(RENAME),
	 ARGS(CWD, P("f"), D, P("n"), RENAME_NOREPLACE), LASTS("f", "n"),
	 .flags = HF_GATE_EXCLUSIVE, MEETS("f"), BENEATH("d"),
	 .detail = "f -> n"},
	{CALL(renameat2), DOES(RENAME), ARGS(CWD, P("f"), D, P("n"), 1 << 20),
	 LASTS("f", "n"), .flags = HF_GATE_IS_INVALID, MEETS("f"), BENEATH("d"),
	 .detail = "f -> n"},
	{CALL(unlinkat), DOES(REMOVE), ARGS(D, P("g"), 0), LASTS("g"),
	 MEETS("d/g"), BENEATH("d")},
	{CALL(unlinkat), DOES(REMOVE_DIRECTORY),
	 ARGS(CWD, P("bare"), AT_REMOVEDIR), LASTS("bare"), MEETS("bare"),
	 BENEATH(".")},
	{CALL(unlinkat), DOES(REMOVE), ARGS(D, P("g"), 1 << 20), LASTS("g"),
	 .flags = HF_GATE_IS_INVALID, MEETS("d/g"), BENEATH("d")},
	{CALL(linkat), DOES(LINK), ARGS(D, P("g"), CWD, P("n"), 0),
	 LASTS("g", "n"), MEETS("d/g"), BENEATH("."), .detail = "g -> n"},
	{CALL(linkat), DOES(LINK),
	 ARGS(CWD, P("link"), D, P("n"), AT_SYMLINK_FOLLOW), LASTS("link", "n"),
	 MEETS("f"), BENEATH("d"), .detail = "link -> n"},
	{CALL(linkat), DOES(LINK), ARGS(F, P(""), D, P("n"), AT_EMPTY_PATH),
	 LASTS("", "n"), MEETS("f"), BENEATH("d"), .detail = " -> n"},
	{CALL(symlinkat), DOES(CREATE), ARGS(P("any"), D, P("n")), LASTS("n"),
	 BENEATH("d")},
	{CALL(mknodat), DOES(CREATE), ARGS(D, P("n"), S_IFIFO | 0600),
	 LASTS("n"), BENEATH("d")},
	{CALL(mkdirat), DOES(CREATE), ARGS(D, P("n/"), 0700), LASTS("n"),
	 .flags = HF_GATE_OF_DIRECTORY, BENEATH("d")},
	{CALL(bind), DOES(BIND), ARGS(FD_SOCK, P(&address), sizeof(address)),
	 LASTS("socket"), BENEATH("d")},
	{CALL(bind), DOES(BIND), ARGS(FD_SOCK, P(&nameless), 11)},
	{CALL(fchmod), DOES(MODE), ARGS(F, 0600), LASTS(""), MEETS("f"),
	 .detail = "0600"},
	{CALL(fchmodat), DOES(MODE), ARGS(D, P("g"), 04755), LASTS("g"),
	 MEETS("d/g"), BENEATH("d"), .detail = "4755"},
	{CALL(fchmodat2), DOES(MODE),
	 ARGS(CWD, P("link"), 0600, AT_SYMLINK_NOFOLLOW), LASTS("link"),
	 MEETS("link"), BENEATH("."), .detail = "0600"},
	{CALL(fchown), DOES(OWNER), ARGS(F, 0, 0), LASTS(""), MEETS("f"),
	 .detail = "0:0"},
	{CALL(fchownat), DOES(OWNER), ARGS(FD_PATH, P(""), 1, 2, AT_EMPTY_PATH),
	 LASTS(""), MEETS("f"), .detail = "1:2"},
	{CALL(utimensat), DOES(TIMES), ARGS(D, P("g"), P(nanos), 0), LASTS("g"),
	 MEETS("d/g"), BENEATH("d")},
	{CALL(utimensat), DOES(TIMES),
	 ARGS(CWD, P("link"), P(now), AT_SYMLINK_NOFOLLOW), LASTS("link"),
	 MEETS("link"), BENEATH(".")},
	{CALL(utimensat), DOES(TIMES), ARGS(F, 0, P(kept), 0), LASTS(""),
	 MEETS("f")},
	{CALL(utimensat), DOES(TIMES), ARGS(F, 0, 0, 0), LASTS(""), MEETS("f")},
	{CALL(setxattr), DOES(ATTRIBUTE),
	 ARGS(P("link"), P("user.a"), P("x"), 1, 0), LASTS("link"), MEETS("f"),
	 BENEATH("."), .detail = "user.a"},
	{CALL(lsetxattr), DOES(ATTRIBUTE),
	 ARGS(P("link"), P("user.a"), P("x"), 1, 0), LASTS("link"),
	 MEETS("link"), BENEATH("."), .detail = "user.a"},
	{CALL(fsetxattr), DOES(ATTRIBUTE), ARGS(F, P("user.b"), P("x"), 1, 0),
	 LASTS(""), MEETS("f"), .detail = "user.b"},
	{CALL(removexattr), DOES(ATTRIBUTE), ARGS(P("f"), P("user.a")),
	 .flags = HF_GATE_REMOVES, LASTS("f"), MEETS("f"), BENEATH("."),
	 .detail = "user.a"},
	{CALL(lremovexattr), DOES(ATTRIBUTE), ARGS(P("link"), P("user.a")),
	 .flags = HF_GATE_REMOVES, LASTS("link"), MEETS("link"), BENEATH("."),
	 .detail = "user.a"},
	{CALL(fremovexattr), DOES(ATTRIBUTE), ARGS(F, P("user.a")),
	 .flags = HF_GATE_REMOVES, LASTS(""), MEETS("f"), .detail = "user.a"},
	{CALL(ioctl), DOES(FLAGS), ARGS(F, FS_IOC_SETFLAGS, P(&inode_flags)),
	 LASTS(""), MEETS("f")},
	{CALL(mount), DOES(MOUNT), ARGS(P("none"), P("d"), P("tmpfs"), 0, 0),
	 LASTS("d"), MEETS("d"), BENEATH(".")},
	{CALL(move_mount), DOES(MOUNT), ARGS(CWD, P("d"), D, P("."), 0),
	 LASTS("."), MEETS("d")},
	{CALL(umount2), DOES(UNMOUNT), ARGS(P("d"), 0), LASTS("d"), MEETS("d"),
	 BENEATH(".")},
};
_Static_assert(HF_COUNT(rows) <= HF_GATED_MAX, "room for a record a row");

static void call_all(struct hf_gated *child)
{
	open_all();
	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		const struct row *const row = &rows[i];

		hf_gated_mark(child, i);
		if (row->object)
			hf_gated_need(hf_file_stat_at(
					      AT_FDCWD, row->object,
					      &child->shared->objects[i]) == 0,
				      row->object);
		if (row->parent)
			hf_gated_need(hf_file_stat_at(
					      AT_FDCWD, row->parent,
					      &child->shared->parents[i]) == 0,
				      row->parent);
		hf_gated_call(child, row->number, row->args);
	}
}

static void expect_object(size_t at)
{
	const struct hf_gate_place *const place =
		&gated.calls[at].places[0].facts;
	const struct hf_stat *const expected = &gated.shared->objects[at];
	const char *const name = rows[at].name;

	if (!rows[at].object) {
		cr_expect_eq(place->name_rc, -ENOENT, "%s %zu", name, at);
		cr_expect_eq(place->object_rc, -ENOENT, "%s %zu", name, at);
		return;
	}
	cr_expect_eq(place->object_rc, 0, "%s %zu: %d", name, at,
		     place->object_rc);
	cr_expect_eq(place->object.dev, expected->dev, "%s %zu", name, at);
	cr_expect_eq(place->object.ino, expected->ino, "%s %zu", name, at);
	cr_expect_eq(place->object.kind, expected->kind, "%s %zu", name, at);
	cr_expect_eq(place->object.mode, expected->mode, "%s %zu", name, at);
	cr_expect_eq(place->object.uid, expected->uid, "%s %zu", name, at);
	cr_expect_eq(place->object.gid, expected->gid, "%s %zu", name, at);
	cr_expect_eq(place->object.mtime_ns, expected->mtime_ns, "%s %zu", name,
		     at);
}

static void expect_places(size_t at)
{
	const struct row *const row = &rows[at];
	const struct hf_gated_call *const seen = &gated.calls[at];
	const size_t count = seen->call.place_count;
	size_t expected = 0;

	while (expected < 2 && row->last[expected])
		expected++;
	cr_assert_eq(count, expected, "%s %zu: %zu places", row->name, at,
		     count);
	for (size_t i = 0; i < count; i++)
		cr_expect_str_eq(seen->places[i].last,
				 strcmp(row->last[i], ".") == 0 ? ""
								: row->last[i],
				 "%s %zu", row->name, at);
	if (count > 0)
		expect_object(at);
	if (count == 0 || !row->parent)
		return;
	cr_expect_eq(seen->places[count - 1].facts.parent_rc, 0, "%s %zu",
		     row->name, at);
	cr_expect_eq(seen->places[count - 1].facts.parent.ino,
		     gated.shared->parents[at].ino, "%s %zu", row->name, at);
	cr_expect_eq(seen->places[count - 1].facts.parent.dev,
		     gated.shared->parents[at].dev, "%s %zu", row->name, at);
}

Test(gate, tells_of_each_call_and_refuses_it)
{
	struct stat before;
	struct stat after;

	cr_assert_eq(stat("f", &before), 0);
	hf_gated_run(&gated, call_all);
	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		const struct row *const row = &rows[i];
		const struct hf_gated_call *const seen = &gated.calls[i];

		cr_expect_eq(gated.shared->results[i], -REFUSED, "%s %zu: %ld",
			     row->name, i, gated.shared->results[i]);
		cr_assert_eq(seen->count, 1, "%s %zu: told of %u", row->name, i,
			     seen->count);
		cr_expect_str_eq(seen->name, row->name);
		cr_expect_eq(seen->call.operation, row->operation, "%s %zu: %d",
			     row->name, i, (int)seen->call.operation);
		cr_expect_eq(seen->call.flags, row->flags, "%s %zu: %#x",
			     row->name, i, seen->call.flags);
		cr_expect_str_eq(seen->detail, row->detail ? row->detail : "",
				 "%s %zu: '%s'", row->name, i, seen->detail);
		expect_places(i);
	}
	cr_assert_eq(stat("f", &after), 0);
	cr_expect_eq(before.st_ino, after.st_ino);
	cr_expect_eq(before.st_ctim.tv_nsec, after.st_ctim.tv_nsec);
	cr_expect_eq(access("d/n", F_OK), -1, "something was made");
	cr_expect_eq(access("n", F_OK), -1, "something was made");
}

/* -- what a call says besides its place ---------------------------------------
 */

static const struct row *find_row(const char *name, unsigned nth,
				  size_t *ret_at)
{
	for (size_t i = 0; i < HF_COUNT(rows); i++)
		if (strcmp(rows[i].name, name) == 0 && nth-- == 0) {
			*ret_at = i;
			return &rows[i];
		}
	return NULL;
}

static const struct {
	const char *name;
	unsigned nth;
	int64_t mtime_ns;
	bool sets_now;
	bool keeps_mtime;
} times[] = {
	{"utime", 0, 7000000000, false, false},
	{"utimes", 0, 7000005000, false, false},
	{"futimesat", 0, 7000005000, false, false},
	{"utimensat", 0, 7000000005, false, false},
	{"utimensat", 1, 0, true, false},
	{"utimensat", 2, 0, false, true},
	{"utimensat", 3, 0, true, false},
};

Test(gate, times_and_owners)
{
	size_t at = 0;

	hf_gated_run(&gated, call_all);
	for (size_t i = 0; i < HF_COUNT(times); i++) {
		const struct hf_gate_call *call;

		if (!find_row(times[i].name, times[i].nth, &at))
			continue;
		call = &gated.calls[at].call;
		cr_expect_eq(call->sets_now, times[i].sets_now, "%s",
			     times[i].name);
		cr_expect_eq(call->keeps_mtime, times[i].keeps_mtime, "%s",
			     times[i].name);
		if (times[i].mtime_ns != 0)
			cr_expect_eq(call->mtime_ns, times[i].mtime_ns, "%s",
				     times[i].name);
	}
	cr_assert(find_row("fchownat", 0, &at));
	cr_expect_eq(gated.calls[at].call.uid, 1);
	cr_expect_eq(gated.calls[at].call.gid, 2);
	cr_assert(find_row("fchmod", 0, &at));
	cr_expect_eq(gated.calls[at].call.mode, 0600);
	cr_assert(find_row("rmdir", 0, &at) || find_row("unlinkat", 1, &at));
	cr_expect(gated.calls[at].places[0].facts.is_empty);
	cr_assert(find_row("mount", 0, &at));
	cr_expect_not(gated.calls[at].places[0].facts.is_empty);
}

static void go_on(struct hf_gated *child)
{
	hf_gated_mark(child, 0);
	hf_gated_need(mkdir("made", 0700) == 0 && rename("made", "moved") == 0,
		      "what is not refused");
}

Test(gate, what_is_not_refused_goes_on)
{
	gated.answer = 0;
	hf_gated_run(&gated, go_on);
	cr_expect_eq(gated.calls[0].count, 2);
	cr_expect_eq(access("moved", F_OK), 0);
}
