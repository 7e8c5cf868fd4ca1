/* SPDX-License-Identifier: MIT */
/* Operations that open a file by its plain name, and truncation. */
#include <string.h>
#include <sys/mman.h>

#include <linux/openat2.h>

#include "platform/linux/operation_internal.h"

static long spoil_open(const char *name, int flags)
{
	return hf_stage_spoil(
		RAW(__NR_open, name, flags | O_CLOEXEC, STAGE_MODE));
}

static long spoil_openat(const char *name, int flags)
{
	return hf_stage_spoil(RAW(__NR_openat, AT_FDCWD, name,
				  flags | O_CLOEXEC, STAGE_MODE));
}

/* The open alone is what does it: nothing can be written through it. */
static long just_open(long number, const char *name, int flags)
{
	const long fd = number == __NR_openat
				? RAW(number, AT_FDCWD, name, flags, STAGE_MODE)
				: RAW(number, name, flags, STAGE_MODE);

	if (fd >= 0)
		(void)close((int)fd);
	return fd < 0 ? fd : 0;
}

static long open_write(NO_STAGE)
{
	return spoil_open(STAGE_KEPT, O_WRONLY);
}

static long open_append(NO_STAGE)
{
	return spoil_open(STAGE_KEPT, O_WRONLY | O_APPEND);
}

static long open_truncate(NO_STAGE)
{
	return spoil_open(STAGE_KEPT, O_WRONLY | O_TRUNC);
}

static long open_read_truncate(NO_STAGE)
{
	return just_open(__NR_open, STAGE_KEPT, O_RDONLY | O_TRUNC);
}

static long open_create_over(NO_STAGE)
{
	return spoil_open(STAGE_KEPT, O_WRONLY | O_CREAT | O_TRUNC);
}

static long open_create(NO_STAGE)
{
	return spoil_open(STAGE_ABSENT, O_WRONLY | O_CREAT);
}

static long open_create_read(NO_STAGE)
{
	return just_open(__NR_open, STAGE_ABSENT, O_RDONLY | O_CREAT);
}

static long openat_write(NO_STAGE)
{
	return spoil_openat(STAGE_KEPT, O_WRONLY);
}

static long openat_read_truncate(NO_STAGE)
{
	return just_open(__NR_openat, STAGE_KEPT, O_RDONLY | O_TRUNC);
}

static long openat_update_truncate(NO_STAGE)
{
	return spoil_openat(STAGE_KEPT, O_RDWR | O_TRUNC);
}

/* Mode 3 neither reads nor writes, but truncates. */
static long openat_no_access_truncate(NO_STAGE)
{
	return just_open(__NR_openat, STAGE_KEPT, O_ACCMODE | O_TRUNC);
}

static long openat_create(NO_STAGE)
{
	return spoil_openat(STAGE_ABSENT, O_WRONLY | O_CREAT | O_EXCL);
}

static long openat_create_in_tree(NO_STAGE)
{
	return spoil_openat(STAGE_TREE_NEW, O_WRONLY | O_CREAT);
}

static long openat_update(NO_STAGE)
{
	return spoil_openat(STAGE_KEPT, O_RDWR);
}

static long openat_update_map(NO_STAGE)
{
	const size_t len = 4096;
	const long fd =
		RAW(__NR_openat, AT_FDCWD, STAGE_KEPT, O_RDWR | O_CLOEXEC);
	char *map;

	if (fd < 0)
		return fd;
	map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	map[0] = '!';
	(void)munmap(map, len);
	(void)close((int)fd);
	return 0;
}

static long creat_over(NO_STAGE)
{
	return hf_stage_spoil(RAW(__NR_creat, STAGE_KEPT, STAGE_MODE));
}

static long creat_new(NO_STAGE)
{
	return hf_stage_spoil(RAW(__NR_creat, STAGE_ABSENT, STAGE_MODE));
}

static long open_how(int dir_fd, const char *name, uint64_t flags,
		     uint64_t resolve)
{
	struct open_how how = {.flags = flags | O_CLOEXEC, .resolve = resolve};

	if (flags & O_CREAT)
		how.mode = STAGE_MODE;
	return RAW(__NR_openat2, dir_fd, name, &how, sizeof(how));
}

static long openat2_write(NO_STAGE)
{
	return hf_stage_spoil(open_how(AT_FDCWD, STAGE_KEPT, O_WRONLY, 0));
}

static long openat2_read_truncate(NO_STAGE)
{
	const long fd = open_how(AT_FDCWD, STAGE_KEPT, O_RDONLY | O_TRUNC, 0);

	return fd < 0 ? fd : 0;
}

static long openat2_create(NO_STAGE)
{
	return hf_stage_spoil(
		open_how(AT_FDCWD, STAGE_ABSENT, O_WRONLY | O_CREAT, 0));
}

static long openat2_beneath(const struct hf_stage *stage)
{
	return hf_stage_spoil(open_how(stage->dir_fd, STAGE_KEPT,
				       O_WRONLY | O_TRUNC, RESOLVE_BENEATH));
}

/* Here "/" is the directory of the descriptor. */
static long openat2_in_root(const struct hf_stage *stage)
{
	return hf_stage_spoil(open_how(stage->dir_fd, "/" STAGE_KEPT,
				       O_WRONLY | O_TRUNC, RESOLVE_IN_ROOT));
}

static long open_by_handle(const struct hf_stage *stage)
{
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} of = {.room = ""};
	int mount_id;
	long rc;

	of.handle.handle_bytes = MAX_HANDLE_SZ;
	rc = RAW(__NR_name_to_handle_at, AT_FDCWD, STAGE_KEPT, &of.handle,
		 &mount_id, 0);
	if (rc < 0)
		return rc;
	return hf_stage_spoil(RAW(__NR_open_by_handle_at, stage->dir_fd,
				  &of.handle, O_WRONLY | O_TRUNC));
}

static long truncate_kept(NO_STAGE)
{
	return RAW(__NR_truncate, STAGE_KEPT, 0L);
}

static long truncate64_kept(NO_STAGE)
{
	return RAW(__NR_truncate64, STAGE_KEPT, 0L, 0L);
}

static const struct hf_operation operations[] = {
	OPERATION(open, ".write", open_write, 0),
	OPERATION(open, ".append", open_append, 0),
	OPERATION(open, ".truncate", open_truncate, 0),
	OPERATION(open, ".read-truncate", open_read_truncate, 0),
	OPERATION(open, ".create-over", open_create_over, 0),
	OPERATION(open, ".create", open_create, 0),
	OPERATION(open, ".create-read", open_create_read, 0),
	OPERATION(openat, ".write", openat_write, 0),
	OPERATION(openat, ".read-truncate", openat_read_truncate, 0),
	OPERATION(openat, ".update-truncate", openat_update_truncate, 0),
	OPERATION(openat, ".no-access-truncate", openat_no_access_truncate, 0),
	OPERATION(openat, ".create", openat_create, 0),
	OPERATION(openat, ".create-in-tree", openat_create_in_tree, 0),
	OPERATION(openat, ".update", openat_update, HF_OPERATION_UPDATE),
	OPERATION(openat, ".update-map", openat_update_map,
		  HF_OPERATION_UPDATE),
	OPERATION(creat, ".over", creat_over, 0),
	OPERATION(creat, ".new", creat_new, 0),
	OPERATION(openat2, ".write", openat2_write, 0),
	OPERATION(openat2, ".read-truncate", openat2_read_truncate, 0),
	OPERATION(openat2, ".create", openat2_create, 0),
	OPERATION(openat2, ".beneath", openat2_beneath, 0),
	OPERATION(openat2, ".in-root", openat2_in_root, 0),
	OPERATION(open_by_handle_at, "", open_by_handle,
		  HF_OPERATION_PRIVILEGED),
	OPERATION(truncate, "", truncate_kept, 0),
	OPERATION(truncate64, "", truncate64_kept, 0),
};

const struct hf_operation_list hf_operations_open = {operations,
						     HF_COUNT(operations)};
