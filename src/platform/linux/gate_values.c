/* SPDX-License-Identifier: MIT */
/* What a call says besides where: flags, modes, owners, times. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <string.h>

#include "platform/linux/gate_internal.h"

#define NS_PER_SECOND	  INT64_C(1000000000)
/* utimensat(2) */
#define NSEC_NOW	  0x3fffffff
#define NSEC_OMIT	  0x3ffffffe
/* renameat2(2): flags that exist. */
#define RENAME_KNOWN	  (RENAME_NOREPLACE | RENAME_EXCHANGE | RENAME_WHITEOUT)
#define MODE_BITS	  07777u
/* openat2(2): the flags that exist; O_TMPFILE without O_DIRECTORY,
 * and O_LARGEFILE on either architecture, where the other has O_NOFOLLOW. */
#define TMPFILE_BIT	  UINT64_C(020000000)
#define OPEN_KNOWN                                                             \
	((uint64_t)(O_ACCMODE | O_CREAT | O_NOCTTY | O_EXCL | O_TRUNC |        \
		    O_APPEND | O_NONBLOCK | O_DSYNC | O_SYNC | O_ASYNC |       \
		    O_DIRECT | O_DIRECTORY | O_NOFOLLOW | O_NOATIME |          \
		    O_CLOEXEC | O_PATH) |                                      \
	 TMPFILE_BIT | UINT64_C(0100000) | UINT64_C(0400000))
#define RESOLVE_KNOWN                                                          \
	((uint64_t)(RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS |                  \
		    RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH | RESOLVE_IN_ROOT |  \
		    RESOLVE_CACHED))
/* mount(2): other flags of a mount, or how it spreads; nothing is hidden by it. */
#define MOUNT_IDLE                                                             \
	((uint64_t)(MS_REMOUNT | MS_SHARED | MS_PRIVATE | MS_SLAVE |           \
		    MS_UNBINDABLE))

/* openat2(2): what it does not know, it fails at. */
static bool is_known_how(const struct open_how *how)
{
	return !(how->flags & ~OPEN_KNOWN) &&
	       !(how->resolve & ~RESOLVE_KNOWN) &&
	       !(how->mode & ~(uint64_t)MODE_BITS) &&
	       (how->mode == 0 || how->flags & (O_CREAT | TMPFILE_BIT)) &&
	       !((how->resolve & RESOLVE_IN_ROOT) &&
		 (how->resolve & RESOLVE_BENEATH));
}

static int take_how(struct hf_gate_question *question)
{
	const uint64_t size = gate_argument(question, 4);
	struct open_how how;
	int rc;

	if (size < sizeof(how)) {
		question->call.flags |= HF_GATE_IS_INVALID;
		return 0;
	}
	rc = gate_read(question, gate_argument(question, question->shape->flags),
		       &how, sizeof(how));
	if (rc < 0)
		return rc;
	question->flags = how.flags;
	question->resolve = how.resolve;
	if (!is_known_how(&how))
		question->call.flags |= HF_GATE_IS_INVALID;
	return 0;
}

static int take_open_flags(struct hf_gate_question *question)
{
	const struct gate_shape *const shape = question->shape;

	if (shape->traits & GATE_HOW)
		return take_how(question);
	if (shape->flags == 0)
		question->flags = O_CREAT | O_WRONLY | O_TRUNC;
	return 0;
}

static void take_open(struct hf_gate_question *question)
{
	const uint64_t given = question->flags;
	unsigned *const flags = &question->call.flags;

	if ((given & O_ACCMODE) != O_RDONLY)
		*flags |= HF_GATE_WRITES;
	/* Mode 3 asks for both and gets neither. */
	if ((given & O_ACCMODE) != O_RDONLY && (given & O_ACCMODE) != O_WRONLY)
		*flags |= HF_GATE_READS;
	if (given & O_TRUNC)
		*flags |= HF_GATE_TRUNCATES;
	if (given & O_CREAT)
		*flags |= HF_GATE_CREATES;
	if (given & O_EXCL)
		*flags |= HF_GATE_EXCLUSIVE;
	if (given & O_NOFOLLOW)
		*flags |= HF_GATE_NO_LINK;
	if (given & O_PATH || (given & O_TMPFILE) == O_TMPFILE)
		*flags |= HF_GATE_UNNAMED;
	if (given & O_DIRECTORY)
		*flags |= HF_GATE_OF_DIRECTORY;
}

/* The call's own flags: AT_*, RENAME_*, O_*, MS_*. */
int gate_take_flags(struct hf_gate_question *question)
{
	const struct gate_shape *const shape = question->shape;

	/* An int, or no more of it is used: what stands above, the kernel does
	 * not see. */
	question->flags =
		shape->flags ? (uint32_t)gate_argument(question, shape->flags)
			     : 0;
	switch (shape->operation) {
	case HF_GATE_OPEN:
		return take_open_flags(question);
	case HF_GATE_MOUNT:
		/* move_mount(2) has AT_EMPTY_PATH as a flag of its own. */
		if (shape->dir[0] &&
		    gate_argument(question, 5) & MOVE_MOUNT_T_EMPTY_PATH)
			question->flags |= AT_EMPTY_PATH;
		return 0;
	default:
		return 0;
	}
}

static void take_rename(struct hf_gate_question *question)
{
	const uint64_t given = question->flags;
	unsigned *const flags = &question->call.flags;

	if (given & ~(uint64_t)RENAME_KNOWN ||
	    ((given & RENAME_EXCHANGE) &&
	     (given & (RENAME_NOREPLACE | RENAME_WHITEOUT))))
		*flags |= HF_GATE_IS_INVALID;
	if (given & RENAME_EXCHANGE)
		*flags |= HF_GATE_EXCHANGES;
	if (given & RENAME_NOREPLACE)
		*flags |= HF_GATE_EXCLUSIVE;
	question->flags = 0;
}

static uint32_t take_id(const struct hf_gate_question *question,
			unsigned number)
{
	const uint32_t id = (uint32_t)gate_argument(question, number);

	if (!(question->shape->traits & GATE_SHORT_IDS) || !question->is_compat)
		return id;
	return (id & 0xffff) == 0xffff ? UINT32_MAX : id & 0xffff;
}

/* Both times of a call, each in seconds and a part; 32 or 64 bits wide. */
static int read_times(const struct hf_gate_question *question, uint64_t address,
		      int64_t ret_times[4])
{
	const struct gate_shape *const shape = question->shape;
	const bool is_wide = !question->is_compat ||
			     shape->times == GATE_TIMES_TIMESPEC64;
	/* struct utimbuf has no parts. */
	const size_t count = shape->times == GATE_TIMES_UTIMBUF ? 2 : 4;
	int64_t wide[4] = { 0 };
	int32_t narrow[4] = { 0 };
	int rc;

	if (is_wide)
		rc = gate_read(question, address, wide, count * sizeof(*wide));
	else
		rc = gate_read(question, address, narrow,
			       count * sizeof(*narrow));
	for (size_t i = 0; i < count; i++) {
		const int64_t value = is_wide ? wide[i] : narrow[i];
		const size_t at = count == 2 ? 2 * i : i;

		ret_times[at] = value;
	}
	return rc;
}

/* A part of a second, or what utimensat(2) has instead. */
static bool is_part(int64_t part, int64_t whole, bool may_be_special)
{
	return (part >= 0 && part < whole) ||
	       (may_be_special && (part == NSEC_NOW || part == NSEC_OMIT));
}

static int take_times(struct hf_gate_question *question)
{
	const struct gate_shape *const shape = question->shape;
	const uint64_t address = gate_argument(question, shape->value);
	const bool is_micro = shape->times == GATE_TIMES_TIMEVAL;
	const int64_t whole = is_micro ? NS_PER_SECOND / 1000 : NS_PER_SECOND;
	struct hf_gate_call *const call = &question->call;
	int64_t times[4] = { 0 };
	int rc;

	if (address == 0) {
		call->sets_now = true;
		return 0;
	}
	rc = read_times(question, address, times);
	if (rc < 0)
		return rc;
	/* Only the low half counts in a 32-bit program. */
	if (shape->times == GATE_TIMES_TIMESPEC64 && question->is_compat) {
		times[1] = (int32_t)times[1];
		times[3] = (int32_t)times[3];
	}
	if (!is_part(times[1], whole, !is_micro) ||
	    !is_part(times[3], whole, !is_micro))
		call->flags |= HF_GATE_IS_INVALID;
	call->keeps_mtime = !is_micro && times[3] == NSEC_OMIT;
	call->sets_now = !is_micro && times[3] == NSEC_NOW;
	if (is_micro)
		times[3] *= 1000;
	if (__builtin_mul_overflow(times[2], NS_PER_SECOND, &call->mtime_ns) ||
	    __builtin_add_overflow(call->mtime_ns, times[3], &call->mtime_ns))
		call->mtime_ns = INT64_MAX;
	return 0;
}

/* symlink(2): a link to nothing fails. */
static int take_text(struct hf_gate_question *question)
{
	char first;
	const int rc = gate_read(question, gate_argument(question, 1), &first, 1);

	if (rc == 0 && first == '\0')
		question->call.flags |= HF_GATE_IS_INVALID;
	return rc;
}

static void take_length(struct hf_gate_question *question)
{
	const uint64_t given = gate_argument(question, 2);
	const bool is_negative = question->is_compat ?
					 (int32_t)given < 0 :
					 (int64_t)given < 0;

	/* truncate64() has it in two halves. */
	if (is_negative && strcmp(question->shape->name, "truncate") == 0)
		question->call.flags |= HF_GATE_IS_INVALID;
}

/* Flags of *at() calls that no kernel of today knows. */
static bool has_unknown_flags(const struct hf_gate_question *question)
{
	const uint64_t flags = question->flags;

	switch (question->shape->operation) {
	case HF_GATE_MODE:
	case HF_GATE_OWNER:
	case HF_GATE_TIMES:
		return flags & ~(uint64_t)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH);
	case HF_GATE_LINK:
		return flags & ~(uint64_t)(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH);
	default:
		return false;
	}
}

int gate_take_values(struct hf_gate_question *question)
{
	const struct gate_shape *const shape = question->shape;
	struct hf_gate_call *const call = &question->call;

	if (has_unknown_flags(question))
		call->flags |= HF_GATE_IS_INVALID;
	switch (shape->operation) {
	case HF_GATE_OPEN:
	case HF_GATE_HANDLE:
		take_open(question);
		return 0;
	case HF_GATE_MODE:
		call->mode = (uint32_t)gate_argument(question, shape->value) &
			     MODE_BITS;
		return 0;
	case HF_GATE_OWNER:
		call->uid = take_id(question, shape->value);
		call->gid = take_id(question, shape->value + 1u);
		return 0;
	case HF_GATE_TIMES:
		return take_times(question);
	case HF_GATE_RENAME:
		take_rename(question);
		return 0;
	case HF_GATE_CREATE:
		if (shape->traits & GATE_MAKES_DIRECTORY)
			call->flags |= HF_GATE_OF_DIRECTORY;
		return shape->traits & GATE_MAKES_LINK ? take_text(question) :
							 0;
	case HF_GATE_TRUNCATE:
		take_length(question);
		return 0;
	case HF_GATE_MOUNT:
		/* Other flags of a mount, or how it spreads: nothing is hidden. */
		if (!shape->dir[0] && question->flags & MOUNT_IDLE)
			call->flags |= HF_GATE_IS_INVALID;
		return 0;
	case HF_GATE_ATTRIBUTE:
		if (shape->traits & GATE_REMOVES_ATTRIBUTE)
			call->flags |= HF_GATE_REMOVES;
		return 0;
	case HF_GATE_REMOVE:
		if (question->flags & ~(uint64_t)AT_REMOVEDIR)
			call->flags |= HF_GATE_IS_INVALID;
		if (question->flags & AT_REMOVEDIR)
			call->operation = HF_GATE_REMOVE_DIRECTORY;
		return 0;
	default:
		return 0;
	}
}

