/* SPDX-License-Identifier: MIT */
/* From the numbers of a system call to what it is about to do. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "gate_numbers.h"
#include "platform/linux/gate_internal.h"

/* umount2(2), in a header that does not go together with the others. */
#define UNMOUNT_NO_FOLLOW 8
/* socketcall(2): bind. */
#define SOCKETCALL_BIND	  2

static const struct gate_shape shapes[GATE_CALLS] = {
#define SHAPE(call, does, ...) \
	[GATE_CALL_##call] = { \
		.name = #call, .operation = HF_GATE_##does, __VA_ARGS__},
	HF_GATE_CALLS(SHAPE)
#undef SHAPE
};

const struct gate_shape *gate_shape_of(const struct seccomp_data *data,
				       bool *ret_is_compat)
{
	const unsigned number = (unsigned)data->nr;
	enum gate_call call = GATE_CALL_NONE;

	*ret_is_compat = data->arch == GATE_AUDIT_compat;
	if (number < sizeof(gate_native))
		call = *ret_is_compat ? gate_compat[number]
				      : gate_native[number];
	return call == GATE_CALL_NONE ? NULL : &shapes[call];
}

/* -- places -----------------------------------------------------------------
 */

/* A number in front of what is written already. */
static char *put_number(char *at, unsigned number)
{
	do
		*--at = (char)('0' + number % 10);
	while (number /= 10);
	return at;
}

static char *put_text(char *at, const char *text)
{
	const size_t len = strlen(text);

	return memcpy(at - len, text, len);
}

/* Write what leads to the text in front of it, from right to left. */
static void lead_to(const struct hf_gate_question *question,
		    struct gate_path *path)
{
	char *at = path->text;

	path->begin = at;
	if (path->is_absolute)
		return;
	if (path->dir_fd == AT_FDCWD) {
		at = put_text(at, "/cwd/");
	} else {
		at = put_text(at, "/");
		at = put_number(at, (unsigned)path->dir_fd);
		at = put_text(at, "/fd/");
	}
	path->begin = put_number(at, question->notice.pid);
}

static void find_last(struct gate_path *path, struct hf_gate_place *place,
		      size_t len)
{
	char *const text = path->text;
	size_t start;

	place->wants_directory = len > 0 && text[len - 1] == '/';
	while (len > 0 && text[len - 1] == '/')
		len--;
	for (start = len; start > 0 && text[start - 1] != '/'; start--)
		;
	path->len = len;
	path->last = text + start;
	/* What "." and ".." mean has another name, and "/" has none. */
	if (len - start == 0 || (len - start == 1 && text[start] == '.') ||
	    (len - start == 2 && memcmp(text + start, "..", 2) == 0)) {
		path->last = text + strlen(text);
		path->len = strlen(text);
		place->wants_directory = false;
	} else {
		text[len] = '\0';
	}
	place->last = path->last;
}

static void set_path(struct hf_gate_question *question, size_t index,
		     int dir_fd, size_t len)
{
	struct gate_path *const path = &question->paths[index];

	question->call.places[index].known = 0;
	path->dir_fd = dir_fd;
	path->is_absolute = path->text[0] == '/';
	path->follows = !(question->shape->traits & GATE_NO_FOLLOW);
	lead_to(question, path);
	find_last(path, &question->call.places[index], len);
	question->call.place_count = index + 1;
}

/* A descriptor itself, as fchmod() and AT_EMPTY_PATH have it. */
static void set_descriptor(struct hf_gate_question *question, size_t index,
			   int fd)
{
	struct gate_path *const path = &question->paths[index];

	path->text[0] = '\0';
	set_path(question, index, fd, 0);
	path->is_descriptor = true;
	/* Without the slash behind it: it may be no directory. */
	if (fd != AT_FDCWD)
		path->text[-1] = '\0';
}

static int take_path(struct hf_gate_question *question, size_t index)
{
	const struct gate_shape *const shape = question->shape;
	struct gate_path *const path = &question->paths[index];
	const unsigned dir = shape->dir[index];
	const int dir_fd = dir ? (int)gate_argument(question, dir) : AT_FDCWD;
	uint64_t address;
	int len;

	path->text = path->lead + GATE_LEAD_MAX;
	path->walk.is_done = false;
	path->is_descriptor = false;
	if (shape->traits & GATE_OF_DESCRIPTOR) {
		set_descriptor(question, index, dir_fd);
		return dir_fd < 0 ? -EBADF : 0;
	}
	address = gate_argument(question, shape->path[index]);
	/* utimensat(2) and futimesat(2): no path means the descriptor. */
	if (address == 0 && shape->operation == HF_GATE_TIMES && dir) {
		set_descriptor(question, index, dir_fd);
		return 0;
	}
	len = gate_read_text(question, address, path->text, PATH_MAX);
	if (len < 0)
		return len;
	if (len == 0 && !(question->flags & AT_EMPTY_PATH))
		return -ENOENT;
	if (len == 0)
		set_descriptor(question, index, dir_fd);
	else
		set_path(question, index, dir_fd, (size_t)len);
	if (path->text[0] != '/' && dir_fd < 0 && dir_fd != AT_FDCWD)
		return -EBADF;
	return 0;
}

static int take_socket(struct hf_gate_question *question)
{
	struct hf_gate_call *const call = &question->call;
	struct gate_path *const path = &question->paths[0];
	struct sockaddr_un address = {0};
	uint64_t words[3];
	size_t len;
	int rc;

	if (question->shape->dir[0]) {
		words[1] = gate_argument(question, 2);
		words[2] = (uint32_t)gate_argument(question, 3);
	} else {
		uint32_t given[3];

		if (gate_argument(question, 1) != SOCKETCALL_BIND)
			return 0;
		rc = gate_read(question, gate_argument(question, 2), given,
			       sizeof(given));
		if (rc < 0)
			return rc;
		words[1] = given[1];
		words[2] = given[2];
	}
	len = words[2] < sizeof(address) ? (size_t)words[2] : sizeof(address);
	rc = gate_read(question, words[1], &address, len);
	if (rc < 0)
		return rc;
	call->name = "bind";
	/* A name in the system alone, or in no system of files. */
	if (len <= offsetof(struct sockaddr_un, sun_path) ||
	    address.sun_family != AF_UNIX || address.sun_path[0] == '\0')
		return 0;
	len -= offsetof(struct sockaddr_un, sun_path);
	len = strnlen(address.sun_path, len);
	path->text = path->lead + GATE_LEAD_MAX;
	path->walk.is_done = false;
	path->is_descriptor = false;
	memcpy(path->text, address.sun_path, len);
	path->text[len] = '\0';
	set_path(question, 0, AT_FDCWD, len);
	return 0;
}

/* AT_SYMLINK_NOFOLLOW and its kin change what a path means. */
static void take_following(struct hf_gate_question *question)
{
	const struct gate_shape *const shape = question->shape;
	struct gate_path *const paths = question->paths;
	const uint64_t given = question->flags;

	switch (shape->operation) {
	case HF_GATE_MODE:
	case HF_GATE_OWNER:
	case HF_GATE_TIMES:
		if (given & AT_SYMLINK_NOFOLLOW)
			paths[0].follows = false;
		break;
	case HF_GATE_OPEN:
		/* An exclusive open fails at a link, wherever it leads. */
		if (given & O_NOFOLLOW || (given & O_CREAT && given & O_EXCL))
			paths[0].follows = false;
		break;
	case HF_GATE_LINK:
		if (given & AT_SYMLINK_FOLLOW)
			paths[0].follows = true;
		break;
	case HF_GATE_UNMOUNT:
		if (given & UNMOUNT_NO_FOLLOW)
			paths[0].follows = false;
		break;
	default:
		break;
	}
	/* "link/" means where it leads. */
	for (size_t i = 0; i < question->call.place_count; i++)
		if (question->call.places[i].wants_directory &&
		    shape->operation != HF_GATE_REMOVE &&
		    shape->operation != HF_GATE_RENAME)
			paths[i].follows = true;
}

int gate_decode(struct hf_gate_question *question)
{
	const struct gate_shape *const shape = question->shape;
	struct hf_gate_call *const call = &question->call;
	int rc;

	/* The places are filled in one by one: most calls have one. */
	call->operation = shape->operation;
	call->name = shape->name;
	call->flags = 0;
	call->keeps_mtime = false;
	call->sets_now = false;
	call->place_count = 0;
	question->is_close = false;
	question->is_unseen = false;
	question->resolve = 0;
	if (shape->operation == HF_GATE_BIND)
		return take_socket(question);
	rc = gate_take_flags(question);
	if (rc < 0)
		return rc;
	if (shape->operation == HF_GATE_HANDLE) {
		question->call.places[0] = (struct hf_gate_place){.last = ""};
		question->call.place_count = 1;
	}
	for (size_t i = 0; i < HF_COUNT(shape->path); i++) {
		if (!shape->path[i] &&
		    (i > 0 || !(shape->traits & GATE_OF_DESCRIPTOR)))
			break;
		rc = take_path(question, i);
		if (rc < 0)
			return rc;
	}
	rc = gate_take_values(question);
	if (rc == 0)
		take_following(question);
	return rc;
}
