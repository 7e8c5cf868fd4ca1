/* SPDX-License-Identifier: MIT */
/*
 * Follow a path as its caller would, component by component.
 *
 * Its root, working directory and descriptors are entered through /proc; from
 * there on each component is opened by itself.  Links are read and walked, ".."
 * ends at the caller's root, "/proc/self" becomes the caller's number, and what
 * is a link of /proc itself (fd/N, cwd, root, exe) is entered as the kernel
 * does (path_resolution(7), proc(5)).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "platform/linux/gate_internal.h"

/* As the kernel has it. */
#define LINKS_MAX  40
#define STATUS_MAX 8192

struct walker {
	struct hf_gate_question *question;
	int root_fd; /* the caller's */
	int at_fd;   /* where the walk stands */
	unsigned links;
	bool follows;		     /* the last component too */
	char rest[2 * PATH_MAX + 2]; /* still to be walked */
	size_t start;		     /* in rest */
};

static int open_of_caller(const struct hf_gate_question *question,
			  const char *what)
{
	char path[2 * GATE_LEAD_MAX];
	int fd;

	(void)snprintf(path, sizeof(path), "%u/%s", question->notice.pid, what);
	fd = openat(question->gate->proc_fd, path, O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int open_start(const struct hf_gate_question *question,
		      const struct gate_path *path, bool is_in_root)
{
	char what[GATE_LEAD_MAX];

	if (path->is_absolute && !is_in_root)
		return open_of_caller(question, "root");
	if (path->dir_fd == AT_FDCWD)
		return open_of_caller(question, "cwd");
	(void)snprintf(what, sizeof(what), "fd/%d", path->dir_fd);
	return open_of_caller(question, what);
}

static bool is_proc(int fd)
{
	struct statfs system;

	return fstatfs(fd, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

static bool is_same_directory(int a_fd, int b_fd)
{
	struct stat a;
	struct stat b;

	return fstat(a_fd, &a) == 0 && fstat(b_fd, &b) == 0 &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static void stand_at(struct walker *walker, int fd)
{
	hf_file_close_quietly(&walker->at_fd);
	walker->at_fd = fd;
}

/* The last number of a line of /proc/PID/status is that of its own namespace. */
static unsigned last_number(const char *status, const char *label,
			    unsigned otherwise)
{
	const char *const line = strstr(status, label);
	const char *const end = line ? strchr(line + 1, '\n') : NULL;
	const char *const last =
		end ? memrchr(line, '\t', (size_t)(end - line)) : NULL;
	unsigned number;

	return last && sscanf(last, "%u", &number) == 1 ? number : otherwise;
}

static unsigned first_number(const char *status, const char *label,
			     unsigned otherwise)
{
	const char *const line = strstr(status, label);
	unsigned number;

	return line && sscanf(line + strlen(label), "%u", &number) == 1 ?
		       number :
		       otherwise;
}

static bool is_same_system(int a_fd, int b_fd)
{
	struct stat a;
	struct stat b;

	return fstat(a_fd, &a) == 0 && fstat(b_fd, &b) == 0 &&
	       a.st_dev == b.st_dev;
}

/* The number of the caller's process and of its thread, as this /proc has them. */
static void numbers_of(const struct hf_gate_question *question, int proc_fd,
		       unsigned *ret_pid, unsigned *ret_tid)
{
	char path[GATE_LEAD_MAX];
	char status[STATUS_MAX];
	cleanup_fd int fd = -1;
	ssize_t len;

	*ret_tid = question->notice.pid;
	*ret_pid = question->notice.pid;
	(void)snprintf(path, sizeof(path), "%u/status", question->notice.pid);
	fd = openat(question->gate->proc_fd, path, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? -1 : read(fd, status, sizeof(status) - 1);
	status[len > 0 ? len : 0] = '\0';
	if (is_same_system(proc_fd, question->gate->proc_fd)) {
		*ret_pid = first_number(status, "\nTgid:", *ret_pid);
		return;
	}
	*ret_pid = last_number(status, "\nNStgid:", *ret_pid);
	*ret_tid = last_number(status, "\nNSpid:", *ret_tid);
}

/* Put text in front of what is still to be walked. */
static int insert(struct walker *walker, const char *text)
{
	const size_t len = strlen(text);
	const char *const rest = walker->rest + walker->start;
	const size_t rest_len = strlen(rest);

	if (len + 1 + rest_len >= sizeof(walker->rest))
		return -ENAMETOOLONG;
	memmove(walker->rest + len + 1, rest, rest_len + 1);
	memcpy(walker->rest, text, len);
	walker->rest[len] = '/';
	if (rest_len == 0)
		walker->rest[len] = '\0';
	walker->start = 0;
	return 0;
}

/* Cut the next component off; false when there is none. */
static bool next_component(struct walker *walker, char *name, bool *ret_is_last)
{
	char *at = walker->rest + walker->start;
	size_t len;

	at += strspn(at, "/");
	len = strcspn(at, "/");
	if (len == 0 || len > NAME_MAX)
		return false;
	memcpy(name, at, len);
	name[len] = '\0';
	at += len;
	*ret_is_last = at[strspn(at, "/")] == '\0';
	walker->start = (size_t)(at - walker->rest);
	return true;
}

static int go_up(struct walker *walker)
{
	int fd;

	if (is_same_directory(walker->at_fd, walker->root_fd))
		return 0;
	fd = openat(walker->at_fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	stand_at(walker, fd);
	return 0;
}

static int follow_text(struct walker *walker, const char *name)
{
	char text[PATH_MAX];
	const ssize_t len =
		readlinkat(walker->at_fd, name, text, sizeof(text) - 1);

	if (len < 0)
		return -errno;
	text[len] = '\0';
	if (text[0] == '/') {
		const int fd = fcntl(walker->root_fd, F_DUPFD_CLOEXEC, 0);

		if (fd < 0)
			return -errno;
		stand_at(walker, fd);
	}
	return insert(walker, text);
}

/* In /proc: "self" and "thread-self" are text, all other links lead themselves.
 * 1: entered, there is no name; 0: walk on. */
static int follow_in_proc(struct walker *walker, const char *name)
{
	char text[GATE_LEAD_MAX];
	unsigned pid;
	unsigned tid;
	int fd;

	if (strcmp(name, "self") == 0 || strcmp(name, "thread-self") == 0) {
		numbers_of(walker->question, walker->at_fd, &pid, &tid);
		if (name[0] == 's')
			(void)snprintf(text, sizeof(text), "%u", pid);
		else
			(void)snprintf(text, sizeof(text), "%u/task/%u", pid,
				       tid);
		return insert(walker, text);
	}
	/* "mounts", "net": text. */
	if (strcmp(name, "mounts") == 0 || strcmp(name, "net") == 0)
		return follow_text(walker, name);
	fd = openat(walker->at_fd, name, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	stand_at(walker, fd);
	return 1;
}

static void found_object(struct gate_walk *walk, int fd)
{
	walk->object_fd = fd;
	walk->object_rc = fstat(fd, &walk->object) < 0 ? -errno : 0;
}

/* The last component, and it is no link to be followed. */
static int end_at(struct walker *walker, struct gate_walk *walk,
		  const char *name)
{
	const int fd =
		openat(walker->at_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	walk->parent_fd = fcntl(walker->at_fd, F_DUPFD_CLOEXEC, 0);
	if (walk->parent_fd < 0)
		return -errno;
	(void)snprintf(walk->last, sizeof(walk->last), "%s", name);
	if (fd < 0)
		walk->object_rc = -errno;
	else
		found_object(walk, fd);
	return 0;
}

/* Step into a component; 1 when the walk has ended. */
static int step(struct walker *walker, struct gate_walk *walk, const char *name,
		bool is_last)
{
	struct stat found;
	int fd;
	int rc;

	if (strcmp(name, ".") == 0)
		return 0;
	if (strcmp(name, "..") == 0)
		return go_up(walker);
	rc = fstatat(walker->at_fd, name, &found, AT_SYMLINK_NOFOLLOW) < 0
		     ? -errno
		     : 0;
	if (rc == 0 && S_ISLNK(found.st_mode) &&
	    (!is_last || walker->follows)) {
		if (++walker->links > LINKS_MAX)
			return -ELOOP;
		rc = is_proc(walker->at_fd) ? follow_in_proc(walker, name)
					    : follow_text(walker, name);
		return rc < 0 ? rc : 0;
	}
	if (is_last) {
		rc = end_at(walker, walk, name);
		return rc < 0 ? rc : 1;
	}
	if (rc < 0)
		return rc;
	fd = openat(walker->at_fd, name,
		    O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	stand_at(walker, fd);
	return 0;
}

static int walk_all(struct walker *walker, struct gate_walk *walk)
{
	char name[NAME_MAX + 1];
	bool is_last;
	int rc = 0;
	int fd;

	while (rc == 0 && next_component(walker, name, &is_last))
		rc = step(walker, walk, name, is_last);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	/* Ended at a directory or a link of /proc: there is no name. */
	fd = fcntl(walker->at_fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	found_object(walk, fd);
	return 0;
}

/* openat2(2) has rules of its own (RESOLVE_IN_ROOT, ...), which only the kernel
 * knows well. */
static int walk_by_rules(const struct hf_gate_question *question,
			 struct gate_path *path, int start_fd)
{
	struct gate_walk *const walk = &path->walk;
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = question->resolve,
	};
	const char kept = *path->last;
	int fd;

	how.flags |= path->follows ? 0 : O_NOFOLLOW;
	fd = (int)syscall(SYS_openat2, start_fd, path->text, &how, sizeof(how));
	if (fd < 0)
		walk->object_rc = -errno;
	else
		found_object(walk, fd);
	if (kept == '\0')
		return walk->object_rc;
	(void)snprintf(walk->last, sizeof(walk->last), "%s", path->last);
	how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
	*path->last = '\0';
	fd = (int)syscall(SYS_openat2, start_fd,
			  path->text[0] == '\0' ? "." : path->text, &how,
			  sizeof(how));
	*path->last = kept;
	walk->parent_fd = fd;
	return fd < 0 ? -errno : 0;
}

void gate_walk(struct hf_gate_question *question, struct gate_path *path)
{
	struct gate_walk *const walk = &path->walk;
	struct walker walker = {
		.question = question,
		.follows = path->follows,
	};
	const bool is_in_root = question->resolve & RESOLVE_IN_ROOT;

	if (walk->is_done)
		return;
	walk->is_done = true;
	walk->parent_fd = -1;
	walk->object_fd = -1;
	walk->last[0] = '\0';
	walk->object_rc = -ENOENT;
	walker.root_fd = open_of_caller(question, "root");
	walker.at_fd = open_start(question, path, is_in_root);
	(void)snprintf(walker.rest, sizeof(walker.rest), "%s", path->text);
	walk->rc = walker.at_fd < 0   ? walker.at_fd :
		   walker.root_fd < 0 ? walker.root_fd :
		   question->resolve  ? walk_by_rules(question, path,
						      walker.at_fd) :
					walk_all(&walker, walk);
	hf_file_close_quietly(&walker.at_fd);
	hf_file_close_quietly(&walker.root_fd);
}

void gate_walk_done(struct gate_path *path)
{
	if (!path->walk.is_done)
		return;
	path->walk.is_done = false;
	hf_file_close_quietly(&path->walk.parent_fd);
	hf_file_close_quietly(&path->walk.object_fd);
}
