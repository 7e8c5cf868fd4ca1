/* SPDX-License-Identifier: MIT */
/*
 * The watch by inotify(7).
 *
 * A watch descriptor belongs to an inode, so two paths to one file share it and
 * the later tag would win.  Adding with IN_MASK_CREATE (4.18) refuses that; the
 * first tag stays and the second path is watched by its directory alone.
 */
#include "platform/watch.h"

#include <limits.h>
#include <stdalign.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "platform/file.h"

/*
 * A mask with nothing that can happen to a child (fsnotify(9) calls it
 * "watching children") leaves the dentries of the directory unmarked, and
 * opening a file in it costs what it costs anywhere.
 */
#define NAMES_MASK                                             \
	(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | \
	 IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)
#define DIRECTORY_MASK	(NAMES_MASK | IN_MODIFY | IN_ATTRIB | IN_EXCL_UNLINK)
#define FILE_MASK	(IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE)
#define ANCESTOR_MASK	(IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

/* One read takes this many bytes of events: at least one with the longest name. */
#define QUEUE_SIZE	((size_t)32 * 1024)

/* How long, and how often, to wait for an instance: a fifth of a second. */
#define INSTANCE_PAUSE_NS	(5L * 1000 * 1000)
#define INSTANCE_TRIES		40

struct hf_watch {
	int fd;
	size_t *tags;		/* by watch descriptor: they count up from 1 */
	size_t tag_count;
	size_t len;		/* of what was read */
	size_t position;
	alignas(struct inotify_event) char queue[QUEUE_SIZE];
};

/*
 * A user has 128 instances, and those that are left to the collector count until
 * it has closed them: when runs follow each other at once, wait for it.
 */
static int new_instance(void)
{
	const struct timespec pause = { .tv_nsec = INSTANCE_PAUSE_NS };
	int fd;

	for (int i = 0;; i++) {
		fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
		if (fd >= 0 || errno != EMFILE || i == INSTANCE_TRIES)
			return fd < 0 ? -errno : fd;
		(void)nanosleep(&pause, NULL);
	}
}

int hf_watch_new(struct hf_watch **ret_watch)
{
	struct hf_watch *watch = malloc(sizeof(*watch));

	if (!watch)
		return -ENOMEM;
	watch->tags = NULL;
	watch->tag_count = 0;
	watch->len = 0;
	watch->position = 0;
	watch->fd = new_instance();
	if (watch->fd < 0) {
		const int rc = watch->fd;

		free(watch);
		return rc;
	}
	*ret_watch = watch;
	return 0;
}

/*
 * Closing an inotify instance waits until its marks are destroyed, which takes an
 * SRCU grace period: 16 ms on a 250 Hz kernel, in the exit of whoever closes it
 * last, several times what the whole of a short run takes.  Nobody needs to wait:
 * sent over a socket that is itself in flight in its own queue, the descriptor is
 * garbage, and the kernel's collector for such sockets (unix(7), SCM_RIGHTS;
 * net/unix/garbage.c) closes it from a thread of its own.  Where the collector
 * works at once, in close(), the wait is merely what it would have been.
 */
static void leave_to_collector(int *fd)
{
	const int flags = SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(2 * sizeof(int))];
	} control = { .bytes = { 0 } };
	char byte = 0;
	struct iovec data = { .iov_base = &byte, .iov_len = 1 };
	const struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	int pair[2];

	if (socketpair(AF_UNIX, flags, 0, pair) < 0)
		return;
	control.header = (struct cmsghdr){
		.cmsg_len = CMSG_LEN(2 * sizeof(int)),
		.cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS,
	};
	memcpy(CMSG_DATA(&control.header), (int[]){ *fd, pair[1] },
	       2 * sizeof(int));
	(void)sendmsg(pair[0], &message, MSG_NOSIGNAL);
	/* Before the pair: the collector must find the only reference. */
	hf_file_close_quietly(fd);
	(void)close(pair[0]);
	(void)close(pair[1]);
}

void hf_watch_free(struct hf_watch **watch)
{
	if (!*watch)
		return;
	leave_to_collector(&(*watch)->fd);
	hf_file_close_quietly(&(*watch)->fd);
	hf_free_pointee(&(*watch)->tags);
	hf_free_pointee(watch);
}

int hf_watch_fd(const struct hf_watch *watch)
{
	return watch->fd;
}

static int remember(struct hf_watch *watch, int descriptor, size_t tag)
{
	const size_t index = (size_t)descriptor;
	size_t *tags;
	size_t count = watch->tag_count;

	if (index >= count) {
		count = count < 64 ? 64 : count;
		while (count <= index)
			count *= 2;
		tags = reallocarray(watch->tags, count, sizeof(*tags));
		if (!tags) {
			(void)inotify_rm_watch(watch->fd, descriptor);
			return -ENOMEM;
		}
		watch->tags = tags;
		watch->tag_count = count;
	}
	watch->tags[index] = tag;
	return 0;
}

static int add(struct hf_watch *watch, const char *path, uint32_t mask,
	       size_t tag)
{
	const int descriptor = inotify_add_watch(
		watch->fd, path, mask | IN_DONT_FOLLOW | IN_MASK_CREATE);

	if (descriptor < 0)
		return errno == EEXIST ? 0 : -errno;
	return remember(watch, descriptor, tag);
}

int hf_watch_add_directory(struct hf_watch *watch, const char *path, size_t tag)
{
	return add(watch, path, DIRECTORY_MASK, tag);
}

int hf_watch_add_names(struct hf_watch *watch, const char *path, size_t tag)
{
	return add(watch, path, NAMES_MASK, tag);
}

int hf_watch_add_file(struct hf_watch *watch, const char *path, size_t tag)
{
	return add(watch, path, FILE_MASK, tag);
}

int hf_watch_add_ancestor(struct hf_watch *watch, const char *path, size_t tag)
{
	return add(watch, path, ANCESTOR_MASK, tag);
}

static unsigned kinds_of(uint32_t mask)
{
	static const struct {
		uint32_t mask;
		unsigned kind;
	} table[] = {
		{ IN_MODIFY, HF_WATCH_WRITTEN },
		{ IN_ATTRIB, HF_WATCH_METADATA },
		{ IN_CLOSE_WRITE, HF_WATCH_CLOSED },
		{ IN_CREATE, HF_WATCH_CREATED },
		{ IN_DELETE, HF_WATCH_REMOVED },
		{ IN_MOVED_FROM, HF_WATCH_MOVED_FROM },
		{ IN_MOVED_TO, HF_WATCH_MOVED_TO },
		{ IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT,
		  HF_WATCH_SELF_GONE },
		{ IN_Q_OVERFLOW, HF_WATCH_OVERFLOW },
	};
	unsigned kinds = 0;

	for (size_t i = 0; i < HF_COUNT(table); i++)
		if (mask & table[i].mask)
			kinds |= table[i].kind;
	return kinds;
}

/* 1 when there is something in the queue, 0 when not. */
static int fill(struct hf_watch *watch)
{
	ssize_t len;

	if (watch->position < watch->len)
		return 1;
	do
		len = read(watch->fd, watch->queue, sizeof(watch->queue));
	while (len < 0 && errno == EINTR);
	if (len < 0)
		return errno == EAGAIN ? 0 : -errno;
	watch->position = 0;
	watch->len = (size_t)len;
	return len > 0;
}

int hf_watch_next(struct hf_watch *watch, struct hf_watch_event *ret_event)
{
	for (;;) {
		const struct inotify_event *event;
		int rc;

		rc = fill(watch);
		if (rc <= 0)
			return rc;
		event = (const void *)(watch->queue + watch->position);
		watch->position += sizeof(*event) + event->len;

		*ret_event = (struct hf_watch_event){
			.kinds = kinds_of(event->mask),
			.is_directory = event->mask & IN_ISDIR,
			.name = event->len > 0 ? event->name : "",
		};
		/* The mask before the descriptor: an overflow has none. */
		if (ret_event->kinds & HF_WATCH_OVERFLOW)
			return 1;
		if (ret_event->kinds == 0 || event->wd < 0 ||
		    (size_t)event->wd >= watch->tag_count)
			continue;
		ret_event->tag = watch->tags[event->wd];
		return 1;
	}
}
