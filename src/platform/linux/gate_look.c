/* SPDX-License-Identifier: MIT */
/*
 * What a call would meet, by one look at its path.
 *
 * Relative paths are looked at through /proc/TID/cwd and /proc/TID/fd, absolute
 * ones as they are.  That is wrong where a link leads through /proc/self, which
 * means us here, or where the caller has another root or other mounts; there
 * the path is walked (gate_walk.c).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "platform/linux/file_internal.h"
#include "platform/linux/gate_internal.h"

/* As hf_file_stat() has it; what a decision needs. */
void gate_to_stat(const struct stat *from, struct hf_stat *to)
{
	*to = (struct hf_stat){
		.kind = hf_file_kind(from->st_mode),
		.mode = from->st_mode & 07777u,
		.uid = from->st_uid,
		.gid = from->st_gid,
		.nlink = (uint32_t)from->st_nlink,
		.size = (uint64_t)from->st_size,
		.dev = from->st_dev,
		.ino = from->st_ino,
		.mtime_ns = hf_file_time_ns(&from->st_mtim),
	};
}

static bool ends_with(const char *text, const char *end, const char *word,
		      size_t len)
{
	return (size_t)(end - text) >= len && memcmp(end - len, word, len) == 0;
}

/* Does a directory on the way have a name as in /proc/self/fd? */
static bool leads_to_itself(const char *text)
{
	const char *slash = strchr(text, '/');

	for (; slash; slash = strchr(slash + 1, '/'))
		if (ends_with(text, slash, "fd", 2) ||
		    ends_with(text, slash, "self", 4) ||
		    ends_with(text, slash, "proc", 4))
			return true;
	return false;
}

/* Might a look from here see something else than the caller would? */
static bool is_doubtful(const struct hf_gate_question *question,
			const struct gate_path *path)
{
	const char *const text = path->text;

	if (path->is_descriptor)
		return false;
	if (question->is_close || question->resolve ||
	    question->gate->has_other_views)
		return true;
	/* With what leads to it, it is no path any more. */
	if ((size_t)(text - path->begin) + path->len + 1 >= PATH_MAX)
		return true;
	/* One component leads nowhere but by a link. */
	if (path->last == text)
		return false;
	if (strncmp(text, "/dev/", 5) == 0)
		return strcmp(text + 5, "null") != 0;
	return leads_to_itself(text);
}

static bool is_own(const struct gate *gate, const struct stat *found)
{
	for (size_t i = 0; i < gate->own_count; i++)
		if (gate->own[i].ino == found->st_ino &&
		    gate->own[i].dev == found->st_dev)
			return true;
	return false;
}

/* A link to /dev/fd or /dev/stdout leads to our descriptors from here, which are
 * mostly no files. */
static bool may_be_own(const struct hf_gate_question *question,
		       const struct gate_path *path, const struct stat *found)
{
	if (!S_ISREG(found->st_mode) && !S_ISLNK(found->st_mode) &&
	    question->call.operation == HF_GATE_OPEN)
		return strcmp(path->text, "/dev/null") != 0;
	return is_own(question->gate, found);
}

bool hf_gate_look_closer(struct hf_gate_question *question)
{
	if (question->is_close)
		return false;
	question->is_close = true;
	for (size_t i = 0; i < question->call.place_count; i++) {
		question->call.places[i].known = 0;
		question->call.places[i].last = question->paths[i].last;
		gate_walk_done(&question->paths[i]);
	}
	return true;
}

static int look_here(struct hf_gate_question *question,
		     const struct gate_path *path, bool follows,
		     struct stat *ret_found)
{
	struct gate *const gate = question->gate;
	const int flags = follows ? 0 : AT_SYMLINK_NOFOLLOW;
	int fd = -1;

	if (!path->is_absolute && path->dir_fd == AT_FDCWD &&
	    !path->is_descriptor)
		fd = gate_standing_of(&gate->standing, gate->proc_fd,
				      question->notice.pid);
	return fstatat(fd < 0 ? gate->proc_fd : fd,
		       fd < 0 ? path->begin : path->text, ret_found, flags) < 0 ?
		       -errno :
		       0;
}

static int look(struct hf_gate_question *question, struct gate_path *path,
		bool follows, struct stat *ret_found)
{
	const bool creates = question->call.flags & HF_GATE_CREATES ||
			     question->call.operation == HF_GATE_CREATE ||
			     path != question->paths;
	int rc = 0;

	if (!is_doubtful(question, path)) {
		rc = look_here(question, path, follows, ret_found);
		/* What is to be made is mostly not there. */
		if (path->is_descriptor || (rc == -ENOENT && creates && !follows))
			return rc;
		if (rc < 0 ? rc != -ENOENT :
			     !may_be_own(question, path, ret_found))
			return rc;
	}
	gate_walk(question, path);
	if (path->walk.rc < 0)
		return path->walk.rc;
	question->call.places[path - question->paths].last = path->walk.last;
	/* The walk went to the end, as the call does. */
	if (!follows && path->follows && path->walk.parent_fd >= 0)
		return fstatat(path->walk.parent_fd, path->walk.last, ret_found,
			       AT_SYMLINK_NOFOLLOW) < 0
			       ? -errno
			       : 0;
	*ret_found = path->walk.object;
	return path->walk.object_rc;
}

/* A slash behind the name of what is no directory: no call gets there. */
static int rc_of_object(const struct hf_gate_place *place)
{
	return place->wants_directory && place->object.kind != HF_KIND_DIRECTORY
		       ? -ENOTDIR
		       : 0;
}

static void learn_name(struct hf_gate_question *question, size_t index)
{
	struct hf_gate_place *const place = &question->call.places[index];
	struct gate_path *const path = &question->paths[index];
	struct stat found;

	place->name_rc = look(question, path, path->is_descriptor, &found);
	if (place->name_rc < 0)
		return;
	gate_to_stat(&found, &place->name);
	/* One look for both, where no link is to be followed. */
	if (!S_ISLNK(found.st_mode) || !path->follows) {
		place->known |= HF_GATE_FACT_OBJECT;
		place->object = place->name;
		place->object_rc = rc_of_object(place);
	}
}

/* open_by_handle_at(2): who can call it can look the handle up, as we do. */
static int look_by_handle(struct hf_gate_question *question,
			  struct stat *ret_found)
{
	union {
		struct file_handle handle;
		char space[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} there = {.space = {0}};
	const uint64_t address = gate_argument(question, 2);
	const int mount_fd = (int)gate_argument(question, 1);
	char path[GATE_LEAD_MAX];
	cleanup_fd int at_fd = -1;
	cleanup_fd int fd = -1;
	int rc;

	rc = gate_read(question, address, &there, sizeof(there.handle));
	if (rc == 0 && there.handle.handle_bytes > MAX_HANDLE_SZ)
		rc = -EINVAL;
	if (rc == 0)
		rc = gate_read(question, address, &there,
			       sizeof(there.handle) +
				       there.handle.handle_bytes);
	if (rc < 0)
		return rc;
	if (mount_fd == AT_FDCWD)
		(void)snprintf(path, sizeof(path), "%u/cwd",
			       question->notice.pid);
	else
		(void)snprintf(path, sizeof(path), "%u/fd/%d",
			       question->notice.pid, mount_fd);
	at_fd = openat(question->gate->proc_fd, path, O_RDONLY | O_CLOEXEC);
	fd = at_fd < 0 ? -1
		       : open_by_handle_at(at_fd, &there.handle,
					   O_PATH | O_CLOEXEC);
	return fd < 0 || fstat(fd, ret_found) < 0 ? -errno : 0;
}

static void learn_object(struct hf_gate_question *question, size_t index)
{
	struct hf_gate_place *const place = &question->call.places[index];
	struct gate_path *const path = &question->paths[index];
	struct stat found;

	place->object_rc =
		question->call.operation == HF_GATE_HANDLE
			? look_by_handle(question, &found)
			: look(question, path,
			       path->follows || path->is_descriptor, &found);
	if (place->object_rc < 0)
		return;
	gate_to_stat(&found, &place->object);
	place->object_rc = rc_of_object(place);
}

/* The directory of the name, through the path in front of it. */
static int look_at_parent(struct hf_gate_question *question,
			  struct gate_path *path, struct stat *ret_found)
{
	const char kept = *path->last;
	int rc = -ENOENT;

	if (!path->walk.is_done && !is_doubtful(question, path)) {
		*path->last = '\0';
		rc = fstatat(question->gate->proc_fd, path->begin, ret_found,
			     0) < 0
			     ? -errno
			     : 0;
		*path->last = kept;
		if (rc != -ENOENT)
			return rc;
	}
	gate_walk(question, path);
	if (path->walk.rc < 0 || path->walk.parent_fd < 0)
		return path->walk.rc < 0 ? path->walk.rc : -ENOENT;
	return fstat(path->walk.parent_fd, ret_found) < 0 ? -errno : 0;
}

static void learn_parent(struct hf_gate_question *question, size_t index,
			 bool goes_to_end)
{
	struct hf_gate_place *const place = &question->call.places[index];
	struct gate_path *const path = &question->paths[index];
	struct stat found;

	if (goes_to_end)
		gate_walk(question, path);
	place->parent_rc = look_at_parent(question, path, &found);
	place->known |= HF_GATE_FACT_PARENT;
	if (place->parent_rc < 0)
		return;
	if (path->walk.is_done)
		place->last = path->walk.last;
	place->parent = (struct hf_gate_identity){.dev = found.st_dev,
						  .ino = found.st_ino};
}

int gate_open_object(struct hf_gate_question *question, size_t index)
{
	struct gate_path *const path = &question->paths[index];
	int fd;

	if (path->walk.is_done)
		fd = path->walk.object_fd < 0
			     ? -1
			     : fcntl(path->walk.object_fd, F_DUPFD_CLOEXEC, 0);
	else
		fd = openat(question->gate->proc_fd, path->begin,
			    O_PATH | O_CLOEXEC |
				    (path->follows || path->is_descriptor
					     ? 0
					     : O_NOFOLLOW));
	return fd < 0 ? -errno : fd;
}

int gate_open_parent(struct hf_gate_question *question, size_t index)
{
	struct gate_path *const path = &question->paths[index];
	const char kept = *path->last;
	int fd;

	if (path->walk.is_done) {
		fd = path->walk.parent_fd < 0
			     ? -1
			     : fcntl(path->walk.parent_fd, F_DUPFD_CLOEXEC, 0);
		return fd < 0 ? -errno : fd;
	}
	*path->last = '\0';
	fd = openat(question->gate->proc_fd, path->begin,
		    O_PATH | O_DIRECTORY | O_CLOEXEC);
	*path->last = kept;
	return fd < 0 ? -errno : fd;
}

/* As the kernel names it: links are gone from it. */
static void learn_parent_path(struct hf_gate_question *question, size_t index)
{
	struct hf_gate_place *const place = &question->call.places[index];
	char *const text = question->paths[index].parent_path;
	cleanup_fd int fd = gate_open_parent(question, index);
	char link[GATE_LEAD_MAX];
	ssize_t len = -1;

	if (fd >= 0) {
		(void)snprintf(link, sizeof(link), "self/fd/%d", fd);
		len = readlinkat(question->gate->proc_fd, link, text,
				 PATH_MAX - 1);
	}
	text[len > 0 ? len : 0] = '\0';
	place->parent_path = text;
}

static void learn_empty(struct hf_gate_question *question, size_t index)
{
	struct hf_gate_place *const place = &question->call.places[index];
	struct hf_directory *directory = NULL;
	cleanup_fd int path_fd = gate_open_object(question, index);
	cleanup_fd int fd = -1;
	const char *name;
	enum hf_kind kind;

	place->is_empty = true;
	if (path_fd >= 0)
		fd = openat(path_fd, ".",
			    O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || hf_directory_open(fd, &directory) < 0)
		return;
	place->is_empty = hf_directory_next(directory, &name, &kind) <= 0;
	hf_directory_close(&directory);
}

/* A failure that is ours, and says nothing of what the call would meet. */
static bool is_our_failure(const struct hf_gate_question *question, int rc)
{
	char path[GATE_LEAD_MAX];
	struct stat found;

	if (rc == -EMFILE || rc == -ENFILE || rc == -ENOMEM)
		return true;
	if (rc != -EACCES && rc != -EPERM)
		return false;
	/* Of the way, or of a caller that may not be looked at? */
	(void)snprintf(path, sizeof(path), "%u/cwd", question->notice.pid);
	return fstatat(question->gate->proc_fd, path, &found, 0) < 0 &&
	       (errno == EACCES || errno == EPERM);
}

static void learn(struct hf_gate_question *question, size_t index,
		  enum hf_gate_fact fact)
{
	struct hf_gate_place *const place = &question->call.places[index];

	place->known |= fact;
	switch (fact) {
	case HF_GATE_FACT_NAME:
		learn_name(question, index);
		break;
	case HF_GATE_FACT_OBJECT:
		learn_object(question, index);
		break;
	case HF_GATE_FACT_PARENT:
		learn_parent(question, index, false);
		break;
	case HF_GATE_FACT_END:
		learn_parent(question, index, true);
		break;
	case HF_GATE_FACT_PARENT_PATH:
		learn_parent_path(question, index);
		break;
	case HF_GATE_FACT_EMPTY:
		learn_empty(question, index);
		break;
	case HF_GATE_FACT_SAME:
		place->is_same = gate_is_same(question, index);
		break;
	case HF_GATE_FACT_PERMITTED:
		place->is_permitted = gate_is_permitted(question, index);
		break;
	}
}

void hf_gate_learn(struct hf_gate_question *question, size_t index,
		   enum hf_gate_fact fact)
{
	const struct hf_gate_place *const place = &question->call.places[index];
	int rc = 0;

	learn(question, index, fact);
	if (fact == HF_GATE_FACT_NAME)
		rc = place->name_rc;
	else if (fact == HF_GATE_FACT_OBJECT)
		rc = place->object_rc;
	else if (fact & (HF_GATE_FACT_PARENT | HF_GATE_FACT_END))
		rc = place->parent_rc;
	if (rc < 0 && is_our_failure(question, rc))
		question->is_unseen = true;
}
