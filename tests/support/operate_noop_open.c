/* SPDX-License-Identifier: MIT */
/* Opens and truncations that change nothing, as in operate_noop.c. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <linux/openat2.h>

#include "support/operate.h"

static long open_at(const char *name, int flags)
{
	const long fd =
		RAW(__NR_openat, AT_FDCWD, name, flags | O_CLOEXEC, STAGE_MODE);

	if (fd >= 0)
		(void)close((int)fd);
	return fd < 0 ? fd : 0;
}

static long open_other(NO_STAGE)
{
	return open_at(STAGE_OTHER, O_WRONLY | O_TRUNC);
}

static long open_new_other(NO_STAGE)
{
	return open_at(STAGE_NEAR "/" STAGE_GONE, O_RDWR | O_CREAT | O_EXCL);
}

static long open_read(NO_STAGE)
{
	return open_at(STAGE_KEPT, O_RDONLY);
}

static long open_update(NO_STAGE)
{
	return open_at(STAGE_KEPT, O_RDWR);
}

static long open_create_there(NO_STAGE)
{
	return open_at(STAGE_KEPT, O_RDONLY | O_CREAT);
}

static long open_exclusive(NO_STAGE)
{
	return open_at(STAGE_KEPT, O_WRONLY | O_CREAT | O_EXCL);
}

static long open_exclusive_link(NO_STAGE)
{
	return open_at(STAGE_DANGLING, O_WRONLY | O_CREAT | O_EXCL);
}

static long open_missing(NO_STAGE)
{
	return open_at(STAGE_ABSENT, O_WRONLY | O_TRUNC);
}

static long open_missing_directory(NO_STAGE)
{
	return open_at("none/" STAGE_ABSENT, O_WRONLY | O_CREAT);
}

static long open_through_file(NO_STAGE)
{
	return open_at(STAGE_KEPT "/in.toml", O_WRONLY | O_CREAT);
}

static long open_slash(NO_STAGE)
{
	return open_at(STAGE_KEPT "/", O_WRONLY);
}

static long open_create_slash(NO_STAGE)
{
	return open_at(STAGE_ABSENT "/", O_WRONLY | O_CREAT);
}

static long open_directory(NO_STAGE)
{
	return open_at(STAGE_TREE, O_WRONLY);
}

static long open_directory_create(NO_STAGE)
{
	return open_at(STAGE_TREE, O_RDONLY | O_CREAT);
}

static long open_as_directory(NO_STAGE)
{
	return open_at(STAGE_KEPT, O_WRONLY | O_DIRECTORY);
}

static long open_no_follow(NO_STAGE)
{
	return open_at(STAGE_LINK, O_WRONLY | O_TRUNC | O_NOFOLLOW);
}

static long open_path_only(NO_STAGE)
{
	return open_at(STAGE_KEPT, O_PATH | O_WRONLY | O_TRUNC);
}

static long open_unnamed(NO_STAGE)
{
	return open_at(STAGE_TREE, O_TMPFILE | O_WRONLY);
}

static long open_empty(NO_STAGE)
{
	return open_at("", O_WRONLY);
}

static long open_bad_pointer(NO_STAGE)
{
	return RAW(__NR_openat, AT_FDCWD, 8L, O_WRONLY);
}

static long open_bad_descriptor(NO_STAGE)
{
	return RAW(__NR_openat, 999, STAGE_KEPT, O_WRONLY);
}

static long open_file_as_base(NO_STAGE)
{
	return RAW(__NR_openat, hf_stage_open_kept(), STAGE_KEPT, O_WRONLY);
}

static long open_long_name(NO_STAGE)
{
	char name[300];

	(void)memset(name, 'n', sizeof(name));
	(void)snprintf(name + 280, 20, ".toml");
	return open_at(name, O_WRONLY | O_CREAT);
}

static long open_long_path(NO_STAGE)
{
	char path[5000];

	(void)memset(path, '/', sizeof(path));
	(void)snprintf(path + 4900, 100, "%s", STAGE_KEPT);
	return open_at(path, O_WRONLY);
}

static long open_loop(NO_STAGE)
{
	if (symlink("round", "round") < 0)
		return -errno;
	return open_at("round/" STAGE_KEPT, O_WRONLY | O_CREAT);
}

static long open2(int dir_fd, const char *name, uint64_t flags,
		  uint64_t resolve, size_t len)
{
	struct open_how how = {.flags = flags, .resolve = resolve};

	return RAW(__NR_openat2, dir_fd, name, &how, len);
}

static long open2_leaves(const struct hf_stage *stage)
{
	return open2(stage->dir_fd, "../" STAGE_KEPT, O_WRONLY, RESOLVE_BENEATH,
		     sizeof(struct open_how));
}

static long open2_no_links(NO_STAGE)
{
	return open2(AT_FDCWD, STAGE_LINK, O_WRONLY, RESOLVE_NO_SYMLINKS,
		     sizeof(struct open_how));
}

static long open2_unknown_flags(NO_STAGE)
{
	return open2(AT_FDCWD, STAGE_KEPT, O_WRONLY | (1ull << 40), 0,
		     sizeof(struct open_how));
}

static long open2_short(NO_STAGE)
{
	return open2(AT_FDCWD, STAGE_KEPT, O_WRONLY, 0, 8);
}

static long open2_mode_without_create(NO_STAGE)
{
	const struct open_how how = {.flags = O_WRONLY, .mode = 0600};

	return RAW(__NR_openat2, AT_FDCWD, STAGE_KEPT, &how, sizeof(how));
}

static long truncate_missing(NO_STAGE)
{
	return RAW(__NR_truncate, STAGE_ABSENT, 0L);
}

static long truncate_negative(NO_STAGE)
{
	return RAW(__NR_truncate, STAGE_KEPT, -1L);
}

static long truncate_directory(NO_STAGE)
{
	return RAW(__NR_truncate, STAGE_TREE, 0L);
}

static long truncate_elsewhere(NO_STAGE)
{
	return RAW(__NR_truncate, STAGE_OTHER, 3L);
}

/* Nobody's permission is missing when root asks: as somebody else. */
static long open_not_permitted(NO_STAGE)
{
	if (geteuid() == 0 && RAW(__NR_setuid, 65534) < 0)
		return -ENOTRECOVERABLE;
	return open_at(STAGE_KEPT, O_WRONLY | O_TRUNC);
}

static int forbid_writing(int dir_fd)
{
	return fchmodat(dir_fd, STAGE_KEPT, 0444, 0) < 0 ? -errno : 0;
}

static const struct noop noops[] = {
	NOOP(openat, ".other", open_other, 0),
	NOOP(openat, ".new-other", open_new_other, 0),
	NOOP(openat, ".read", open_read, 0),
	NOOP(openat, ".update", open_update, 0),
	NOOP(openat, ".create-there", open_create_there, 0),
	NOOP(openat, ".exclusive", open_exclusive, EEXIST),
	NOOP(openat, ".exclusive-link", open_exclusive_link, EEXIST),
	NOOP(openat, ".missing", open_missing, ENOENT),
	NOOP(openat, ".missing-directory", open_missing_directory, ENOENT),
	NOOP(openat, ".through-file", open_through_file, ENOTDIR),
	NOOP(openat, ".slash", open_slash, ENOTDIR),
	NOOP(openat, ".create-slash", open_create_slash, EISDIR),
	NOOP(openat, ".directory", open_directory, EISDIR),
	NOOP(openat, ".directory-create", open_directory_create, EISDIR),
	NOOP(openat, ".as-directory", open_as_directory, ENOTDIR),
	NOOP(openat, ".no-follow", open_no_follow, ELOOP),
	NOOP(openat, ".path-only", open_path_only, 0),
	NOOP(openat, ".unnamed", open_unnamed, 0),
	NOOP(openat, ".empty", open_empty, ENOENT),
	NOOP(openat, ".bad-pointer", open_bad_pointer, EFAULT),
	NOOP(openat, ".bad-descriptor", open_bad_descriptor, EBADF),
	NOOP(openat, ".file-as-base", open_file_as_base, ENOTDIR),
	NOOP(openat, ".long-name", open_long_name, ENAMETOOLONG),
	NOOP(openat, ".long-path", open_long_path, ENAMETOOLONG),
	NOOP(openat, ".loop", open_loop, ELOOP),
	NOOP(openat2, ".leaves", open2_leaves, EXDEV),
	NOOP(openat2, ".no-links", open2_no_links, ELOOP),
	NOOP(openat2, ".unknown-flags", open2_unknown_flags, EINVAL),
	NOOP(openat2, ".short", open2_short, EINVAL),
	NOOP(openat2, ".mode-without-create", open2_mode_without_create,
	     EINVAL),
	NOOP(truncate, ".missing", truncate_missing, ENOENT),
	NOOP(truncate, ".negative", truncate_negative, EINVAL),
	NOOP(truncate, ".directory", truncate_directory, EISDIR),
	NOOP(truncate, ".elsewhere", truncate_elsewhere, 0),
	{OPERATION_PREPARED(openat, ".not-permitted", forbid_writing,
			    open_not_permitted, 0),
	 EACCES},
};

const struct noop *noop_open_at(size_t index)
{
	return index < HF_COUNT(noops) ? &noops[index] : NULL;
}
