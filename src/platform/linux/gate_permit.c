/* SPDX-License-Identifier: MIT */
/*
 * Would the system let the caller do it?  What it refuses by itself keeps its
 * own error and is no violation.
 *
 * The rules are those of path_resolution(7), inode(7) and capabilities(7).
 * Where they leave a doubt (another user namespace, a security module) the
 * answer is yes: then the gate refuses and says so.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/stat.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "platform/linux/gate_internal.h"

#define STATUS_MAX   16384
#define VALUE_MAX    65536 /* XATTR_SIZE_MAX */
#define NAME_LEN_MAX 255   /* XATTR_NAME_MAX */

/* Who the caller is for the file system. */
struct caller {
	char status[STATUS_MAX];
	uint32_t uid;
	uint32_t gid;
	uint64_t capabilities;
};

/* What stands behind a label of /proc/TID/status; NULL when it is not there. */
static const char *field_of(const char *status, const char *label)
{
	const char *const at = strstr(status, label);

	return at ? at + strlen(label) : NULL;
}

/* The fourth number of "Uid:" and "Gid:" counts for files. */
static uint32_t file_id(const char *status, const char *label)
{
	const char *const at = field_of(status, label);
	uint32_t id;

	return at && sscanf(at, "%*u %*u %*u %" SCNu32, &id) == 1 ? id :
								    UINT32_MAX;
}

static bool read_caller(const struct hf_gate_question *question,
			struct caller *caller)
{
	char path[GATE_LEAD_MAX];
	cleanup_fd int fd = -1;
	const char *capabilities;
	ssize_t len;

	(void)snprintf(path, sizeof(path), "%u/status", question->notice.pid);
	fd = openat(question->gate->proc_fd, path, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? -1 : read(fd, caller->status, STATUS_MAX - 1);
	if (len <= 0)
		return false;
	caller->status[len] = '\0';
	caller->uid = file_id(caller->status, "\nUid:");
	caller->gid = file_id(caller->status, "\nGid:");
	capabilities = field_of(caller->status, "\nCapEff:");
	return capabilities &&
	       sscanf(capabilities, "%" SCNx64, &caller->capabilities) == 1;
}

static bool has(const struct caller *caller, unsigned capability)
{
	return caller->capabilities >> capability & 1;
}

static bool is_in_group(const struct caller *caller, uint32_t gid)
{
	const char *at = field_of(caller->status, "\nGroups:");

	if (caller->gid == gid)
		return true;
	while (at && *at != '\n' && *at) {
		uint32_t group;

		if (sscanf(at, "%" SCNu32, &group) == 1 && group == gid)
			return true;
		at += strspn(at, "0123456789");
		at += strspn(at, " \t");
	}
	return false;
}

static bool is_owner(const struct caller *caller, const struct hf_stat *stat)
{
	return caller->uid == stat->uid || has(caller, CAP_FOWNER);
}

/* An ACL may say more than the mode: asked of the system, as ourselves. */
static bool may_by_access(int fd, int wanted)
{
	return syscall(SYS_faccessat2, fd, "", wanted,
		       AT_EMPTY_PATH | AT_EACCESS) == 0;
}

static bool has_acl(int fd)
{
	char path[GATE_LEAD_MAX];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return getxattr(path, "system.posix_acl_access", NULL, 0) > 0;
}

/* wanted: 04 read, 02 write, 01 search. */
static bool may(const struct caller *caller, int fd, const struct hf_stat *stat,
		unsigned wanted)
{
	unsigned mode = stat->mode & 7;

	if (has(caller, CAP_DAC_OVERRIDE))
		return true;
	if (caller->uid == geteuid())
		return may_by_access(fd, (int)wanted);
	/* It may say more than the mode; who reads it for another? */
	if (has_acl(fd))
		return true;
	if (caller->uid == stat->uid)
		mode = stat->mode >> 6 & 7;
	else if (is_in_group(caller, stat->gid))
		mode = stat->mode >> 3 & 7;
	return (mode & wanted) == wanted;
}

/* Read-only, by its file system or by a flag of its own. */
static bool is_fixed(int fd, bool is_for_names)
{
	struct statvfs system;
	struct statx found;
	const uint64_t flags =
		STATX_ATTR_IMMUTABLE | (is_for_names ? 0 : STATX_ATTR_APPEND);

	if (fstatvfs(fd, &system) == 0 && system.f_flag & ST_RDONLY)
		return true;
	return statx(fd, "", AT_EMPTY_PATH, 0, &found) == 0 &&
	       found.stx_attributes & flags;
}

/* Names may be made, removed and moved in the directory that holds this one. */
static bool may_name(struct hf_gate_question *question,
		     const struct caller *caller, size_t index)
{
	const struct hf_gate_place *const place = &question->call.places[index];
	cleanup_fd int fd = gate_open_parent(question, index);
	struct hf_stat parent;
	struct stat found;

	if (fd < 0 || fstat(fd, &found) < 0)
		return true;
	gate_to_stat(&found, &parent);
	if (is_fixed(fd, true) || !may(caller, fd, &parent, 03))
		return false;
	/* The sticky bit: only what is one's own may be taken away. */
	if (!(parent.mode & S_ISVTX) || !(place->known & HF_GATE_FACT_NAME) ||
	    place->name_rc < 0)
		return true;
	return caller->uid == parent.uid || is_owner(caller, &place->name);
}

static bool may_write(struct hf_gate_question *question,
		      const struct caller *caller, size_t index)
{
	const struct hf_gate_place *const place = &question->call.places[index];
	const unsigned wanted = question->call.flags & HF_GATE_READS ? 06 : 02;
	cleanup_fd int fd = gate_open_object(question, index);
	bool appends;

	if (fd < 0)
		return true;
	appends = question->call.operation == HF_GATE_OPEN &&
		  question->flags & O_APPEND &&
		  !(question->call.flags & HF_GATE_TRUNCATES);
	return !is_fixed(fd, appends) &&
	       may(caller, fd, &place->object, wanted);
}

static bool may_own(struct hf_gate_question *question,
		    const struct caller *caller, const struct hf_stat *object)
{
	const struct hf_gate_call *const call = &question->call;

	if (has(caller, CAP_CHOWN))
		return true;
	return caller->uid == object->uid &&
	       (call->uid == UINT32_MAX || call->uid == object->uid) &&
	       (call->gid == UINT32_MAX || call->gid == object->gid ||
		is_in_group(caller, call->gid));
}

static bool may_attribute(struct hf_gate_question *question,
			  const struct caller *caller, size_t index)
{
	const struct hf_stat *const object =
		&question->call.places[index].object;
	char name[NAME_LEN_MAX + 1];

	if (gate_read_text(question,
			   gate_argument(question, question->shape->value),
			   name, sizeof(name)) < 0)
		return false;
	if (strncmp(name, "user.", 5) == 0)
		return (object->kind == HF_KIND_FILE ||
			object->kind == HF_KIND_DIRECTORY) &&
		       may_write(question, caller, index);
	if (strncmp(name, "system.posix_acl_", 17) == 0)
		return is_owner(caller, object);
	if (strcmp(name, "security.capability") == 0)
		return has(caller, CAP_SETFCAP);
	return has(caller, CAP_SYS_ADMIN);
}

/* Is this namespace of the caller ours? */
static bool shares(const struct hf_gate_question *question, const char *kind)
{
	char theirs[GATE_LEAD_MAX];
	char ours[GATE_LEAD_MAX];
	struct stat a;
	struct stat b;

	(void)snprintf(theirs, sizeof(theirs), "%u/ns/%s", question->notice.pid,
		       kind);
	(void)snprintf(ours, sizeof(ours), "self/ns/%s", kind);
	return fstatat(question->gate->proc_fd, theirs, &a, 0) < 0 ||
	       fstatat(question->gate->proc_fd, ours, &b, 0) < 0 ||
	       (a.st_ino == b.st_ino && a.st_dev == b.st_dev);
}

static bool may_change(struct hf_gate_question *question,
		       const struct caller *caller, size_t index)
{
	const struct hf_gate_place *const place = &question->call.places[index];
	cleanup_fd int fd = gate_open_object(question, index);

	if (fd >= 0 && is_fixed(fd, false) &&
	    question->call.operation != HF_GATE_FLAGS)
		return false;
	switch (question->call.operation) {
	case HF_GATE_OWNER:
		return may_own(question, caller, &place->object);
	case HF_GATE_TIMES:
		return is_owner(caller, &place->object) ||
		       (question->call.sets_now &&
			may_write(question, caller, index));
	case HF_GATE_ATTRIBUTE:
		return may_attribute(question, caller, index);
	default:
		return is_owner(caller, &place->object);
	}
}

/* A descriptor that only names (O_PATH) changes nothing: EBADF. */
static bool is_name_only(const struct hf_gate_question *question, size_t index)
{
	const struct gate_path *const path = &question->paths[index];
	char text[STATUS_MAX];
	cleanup_fd int fd = -1;
	const char *flags;
	unsigned value;
	ssize_t len;

	/* AT_EMPTY_PATH takes one. */
	if (!path->is_descriptor || path->dir_fd < 0 ||
	    question->flags & AT_EMPTY_PATH)
		return false;
	(void)snprintf(text, sizeof(text), "%u/fdinfo/%d", question->notice.pid,
		       path->dir_fd);
	fd = openat(question->gate->proc_fd, text, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	text[len > 0 ? len : 0] = '\0';
	flags = field_of(text, "flags:");
	return flags && sscanf(flags, "%o", &value) == 1 && value & O_PATH;
}

/* Would a directory become part of itself? */
static bool is_into_itself(struct hf_gate_question *question)
{
	const struct hf_stat *const moved = &question->call.places[0].name;
	cleanup_fd int fd = -1;
	struct stat at;

	if (question->call.operation != HF_GATE_RENAME ||
	    moved->kind != HF_KIND_DIRECTORY)
		return false;
	fd = gate_open_parent(question, 1);
	for (unsigned depth = 0; fd >= 0 && depth < PATH_MAX / 2; depth++) {
		const ino_t below = depth > 0 ? at.st_ino : 0;
		int up;

		if (fstat(fd, &at) < 0 || at.st_ino == below)
			return false;
		if (at.st_ino == moved->ino && at.st_dev == moved->dev)
			return true;
		up = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
		hf_file_close_quietly(&fd);
		fd = up;
	}
	return false;
}

bool gate_is_permitted(struct hf_gate_question *question, size_t index)
{
	const struct hf_gate_place *const place = &question->call.places[index];
	struct caller caller;

	if (is_name_only(question, index) || is_into_itself(question))
		return false;
	if (!read_caller(question, &caller))
		return true;
	switch (question->call.operation) {
	case HF_GATE_OPEN:
		if (!(place->known & HF_GATE_FACT_OBJECT) ||
		    place->object_rc < 0)
			return may_name(question, &caller, index);
		return may_write(question, &caller, index);
	case HF_GATE_TRUNCATE:
		return may_write(question, &caller, index);
	case HF_GATE_HANDLE:
		return has(&caller, CAP_DAC_READ_SEARCH);
	case HF_GATE_MODE:
	case HF_GATE_OWNER:
	case HF_GATE_TIMES:
	case HF_GATE_ATTRIBUTE:
	case HF_GATE_FLAGS:
		return may_change(question, &caller, index);
	case HF_GATE_CREATE:
	case HF_GATE_BIND:
	case HF_GATE_REMOVE:
	case HF_GATE_REMOVE_DIRECTORY:
	case HF_GATE_RENAME:
	case HF_GATE_LINK:
		return may_name(question, &caller, index);
	case HF_GATE_MOUNT:
	case HF_GATE_UNMOUNT:
		/* In mounts of its own it hides nothing from anybody else. */
		return has(&caller, CAP_SYS_ADMIN) && shares(question, "mnt") &&
		       shares(question, "user");
	case HF_GATE_DIRECTORY:
	case HF_GATE_VIEW:
	case HF_GATE_PROCESS:
		break;
	}
	return true;
}

/* -- is it so already? -------------------------------------------------------
 */

static bool has_same_value(struct hf_gate_question *question, const char *path,
			   const char *name)
{
	const unsigned first = question->shape->value;
	const uint64_t size = gate_argument(question, first + 2);
	cleanup_free char *there = NULL;
	cleanup_free char *wanted = NULL;

	if (size > VALUE_MAX)
		return false;
	there = malloc(VALUE_MAX);
	wanted = malloc(VALUE_MAX);
	return there && wanted &&
	       getxattr(path, name, there, VALUE_MAX) == (ssize_t)size &&
	       gate_read(question, gate_argument(question, first + 1), wanted,
			 (size_t)size) == 0 &&
	       memcmp(there, wanted, (size_t)size) == 0;
}

/* An attribute that is to be removed is not there; one that is to be set has
 * the value, or must not be there (XATTR_CREATE) or must (XATTR_REPLACE). */
static bool is_same_attribute(struct hf_gate_question *question, int fd)
{
	char path[GATE_LEAD_MAX];
	char name[NAME_LEN_MAX + 1];
	const unsigned first = question->shape->value;
	uint64_t flags;
	bool is_there;

	if (gate_read_text(question, gate_argument(question, first), name,
			   sizeof(name)) < 0)
		return true;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	is_there = getxattr(path, name, NULL, 0) >= 0 || errno != ENODATA;
	if (question->call.flags & HF_GATE_REMOVES)
		return !is_there;
	flags = gate_argument(question, first + 3);
	if ((flags & XATTR_CREATE && is_there) ||
	    (flags & XATTR_REPLACE && !is_there))
		return true;
	return is_there && has_same_value(question, path, name);
}

static bool is_same_flags(struct hf_gate_question *question, int path_fd)
{
	const unsigned command = (unsigned)gate_argument(question, 2);
	const uint64_t address = gate_argument(question, 3);
	char path[GATE_LEAD_MAX];
	cleanup_fd int fd = -1;
	unsigned now;
	unsigned wanted;

	if (_IOC_NR(command) != _IOC_NR(FS_IOC_SETFLAGS) ||
	    _IOC_TYPE(command) != 'f')
		return false;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return fd >= 0 && ioctl(fd, FS_IOC_GETFLAGS, &now) == 0 &&
	       gate_read(question, address, &wanted, sizeof(wanted)) == 0 &&
	       now == wanted;
}

static bool is_mounted(int fd)
{
	struct statx found;

	return statx(fd, "", AT_EMPTY_PATH, 0, &found) < 0 ||
	       !(found.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) ||
	       found.stx_attributes & STATX_ATTR_MOUNT_ROOT;
}

bool gate_is_same(struct hf_gate_question *question, size_t index)
{
	cleanup_fd int fd = gate_open_object(question, index);

	if (fd < 0)
		return false;
	if (question->call.operation == HF_GATE_UNMOUNT)
		return !is_mounted(fd);
	return question->call.operation == HF_GATE_FLAGS
		       ? is_same_flags(question, fd)
		       : is_same_attribute(question, fd);
}

/* -- setuid ------------------------------------------------------------------
 */

static bool may_gain_none(const struct caller *caller)
{
	const char *const flag = field_of(caller->status, "\nNoNewPrivs:");

	return flag && flag[strspn(flag, " \t")] == '1';
}

bool gate_has_lost_privilege(const struct hf_gate_question *question)
{
	char path[GATE_LEAD_MAX];
	struct stat program;
	struct caller caller;

	(void)snprintf(path, sizeof(path), "%u/exe", question->notice.pid);
	return fstatat(question->gate->proc_fd, path, &program, 0) == 0 &&
	       program.st_mode & S_ISUID && read_caller(question, &caller) &&
	       may_gain_none(&caller) && caller.uid != program.st_uid;
}
