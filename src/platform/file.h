/* SPDX-License-Identifier: MIT */
/*
 * The file seam: every file operation of holdfast, as the system has it.
 *
 * Functions return >= 0 or -errno and no text; whoever knows the path writes
 * the message (hf_fail_system()).  Descriptors are close-on-exec.  Names given
 * together with a dir_fd are one component unless "path" is said; the last
 * component is never followed when it is a link.  EINTR is retried inside.
 */
#ifndef HF_PLATFORM_FILE_H
#define HF_PLATFORM_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/defs.h"
#include "holdfast/holdfast.h"

struct hf_buffer;

/* What lstat() tells.  Times are nanoseconds since 1970 in UTC. */
struct hf_stat {
	enum hf_kind kind;
	uint32_t mode;		/* permission bits, 07777 */
	uint32_t uid;
	uint32_t gid;
	uint32_t nlink;
	uint64_t size;		/* of a file: bytes; else 0 */
	uint64_t dev;
	uint64_t ino;
	uint64_t rdev;		/* of a device node */
	uint64_t blocks;	/* allocated, in units of 512 bytes */
	int64_t mtime_ns;	/* past the year 2262: INT64_MAX */
	int64_t ctime_ns;
};

/* Owner and time to set; a file gets them before it takes its name. */
struct hf_owner {
	uint32_t uid;
	uint32_t gid;
};

#define cleanup_fd	CLEANUP(hf_file_close_quietly)

/* For cleanup: never fails, keeps errno, sets *fd to -1. */
void hf_file_close_quietly(int *fd);
/* Checked once on paths that write.  The descriptor is gone either way. */
MUST_CHECK int hf_file_close(int *fd);

/* -- opening ------------------------------------------------------------- */

/* A directory by any path; links are followed. */
MUST_CHECK int hf_file_open_directory(const char *path);
/* A directory of dir_fd, or by an absolute path; no link, if not on the way. */
MUST_CHECK int hf_file_open_directory_at(int dir_fd, const char *name);
/* The same of a name; -EXDEV where something is mounted, as far as the kernel
 * can tell. */
MUST_CHECK int hf_file_open_directory_here(int dir_fd, const char *name);
/*
 * The directory path (plain, several components, "." for dir_fd itself) beneath
 * dir_fd with no link followed anywhere.  openat2(RESOLVE_BENEATH |
 * RESOLVE_NO_SYMLINKS), or a walk by components where the kernel has none.
 */
MUST_CHECK int hf_file_open_beneath(int dir_fd, const char *path);
/*
 * A file for reading: never blocks on a fifo, never follows a link, leaves the
 * access time alone where the owner may ask for that.
 */
MUST_CHECK int hf_file_open_read_at(int dir_fd, const char *name);
/* A new file; -EEXIST when the name is taken.  Mode as given, no umask. */
MUST_CHECK int hf_file_create_at(int dir_fd, const char *name, uint32_t mode);
/* A file of ours for appending, made when missing, mode 0600. */
MUST_CHECK int hf_file_open_append_at(int dir_fd, const char *name);
/* An existing file for reading and writing in place, not truncated. */
MUST_CHECK int hf_file_open_write_at(int dir_fd, const char *name);
/* A file by any path for a report: made or truncated, links followed. */
MUST_CHECK int hf_file_create_path(const char *path);
/* A file by any path for reading (policy, pointer); a fifo does not block. */
MUST_CHECK int hf_file_open_read_path(const char *path);
/* A second descriptor, above 2, for what fd has open. */
MUST_CHECK int hf_file_duplicate(int fd);

/* -- looking ------------------------------------------------------------- */

MUST_CHECK int hf_file_stat(int fd, struct hf_stat *ret_stat);
/* When the file came into being, in ns since 1970; 0 where that is not known. */
uint64_t hf_file_birth_ns(int fd);
/* lstat; name may be a path when no component of it can be a link. */
MUST_CHECK int hf_file_stat_at(int dir_fd, const char *name,
			       struct hf_stat *ret_stat);
/* stat by any path, links followed. */
MUST_CHECK int hf_file_stat_path(const char *path, struct hf_stat *ret_stat);
/* The text of a link, appended; -EINVAL when it is none. */
MUST_CHECK int hf_file_read_link_at(int dir_fd, const char *name,
				    struct hf_buffer *ret_text);
/* The names in a directory, "." and ".." left out, in no order. */
struct hf_directory;	/* an open listing */
/* The caller keeps dir_fd, but has one listing of it at a time. */
MUST_CHECK int hf_directory_open(int dir_fd, struct hf_directory **ret);
/*
 * 1 with the next name (valid until the next call), 0 at the end.  *ret_kind is
 * the kind when the system told it for free, else HF_KIND_ABSENT.
 */
MUST_CHECK int hf_directory_next(struct hf_directory *directory,
				 const char **ret_name,
				 enum hf_kind *ret_kind);
/* The inode of the name that came last, as the listing tells it. */
uint64_t hf_directory_inode(const struct hf_directory *directory);
void hf_directory_close(struct hf_directory **directory);
#define cleanup_directory CLEANUP(hf_directory_close)

/* An absolute path without links, ".", ".."; to free(); NULL with errno. */
MUST_CHECK char *hf_file_canonical(const char *path);

/* -- content ------------------------------------------------------------- */

/* Up to len bytes; 0 at the end; short reads only at the end. */
MUST_CHECK int64_t hf_file_read(int fd, void *data, size_t len);
MUST_CHECK int hf_file_write(int fd, const void *data, size_t len);	/* all of it */
/*
 * Once, by a program: from now on a write beyond the limit of file sizes
 * (RLIMIT_FSIZE) is -EFBIG and not the end of the process.  What is executed later
 * finds the signal as it was.
 */
void hf_file_expect_limit(void);
MUST_CHECK int hf_file_seek(int fd, uint64_t offset);
/* Where data begins at or after offset (holes skipped); size when none.  The
 * position is undefined afterwards: hf_file_seek(). */
MUST_CHECK int64_t hf_file_next_data(int fd, uint64_t offset, uint64_t size);
MUST_CHECK int hf_file_truncate(int fd, uint64_t size);
/* Its access and modification times are now, by the file system's clock. */
MUST_CHECK int hf_file_touch(int fd);
/* To the disk: content and what is needed to find it. */
MUST_CHECK int hf_file_sync(int fd);
/* Begin writing back what was written so far; only ever makes sync faster. */
void hf_file_start_sync(int fd);
/* Content that will be read once from start to end. */
void hf_file_advise_sequential(int fd);
/*
 * Does anybody have it open for writing, or mapped so?  fd is open for reading
 * alone.  1 or 0; -errno where it cannot be told: not our file, no leases.
 */
MUST_CHECK int hf_file_has_writer(int fd);
/* All of a small file, at most max bytes; -EFBIG beyond. */
MUST_CHECK int hf_file_read_all(int fd, size_t max, struct hf_buffer *ret_data);

/* -- names --------------------------------------------------------------- */

MUST_CHECK int hf_file_rename_at(int from_fd, const char *from, int to_fd,
				 const char *to);
/*
 * The same, but -EEXIST when the target exists.  Where the file system cannot
 * do it at once, a second name is made and the first removed (a crash in
 * between leaves both); of a directory it is -EINVAL then.
 */
MUST_CHECK int hf_file_rename_new_at(int from_fd, const char *from, int to_fd,
				     const char *to);
/* Both names trade places at once; -EINVAL or -ENOSYS where unsupported. */
MUST_CHECK int hf_file_exchange_at(int a_fd, const char *a, int b_fd,
				   const char *b);
MUST_CHECK int hf_file_link_at(int from_fd, const char *from, int to_fd,
			       const char *to);
MUST_CHECK int hf_file_unlink_at(int dir_fd, const char *name);
MUST_CHECK int hf_file_rmdir_at(int dir_fd, const char *name);
/* Less the umask, as hf_file_mknod_at(). */
MUST_CHECK int hf_file_mkdir_at(int dir_fd, const char *name, uint32_t mode);
/* Every missing directory of an absolute path, mode 0700; they are on the disk. */
MUST_CHECK int hf_file_mkdir_path(const char *path);
MUST_CHECK int hf_file_symlink_at(const char *text, int dir_fd,
				  const char *name);
/* A fifo, socket or device node. */
MUST_CHECK int hf_file_mknod_at(int dir_fd, const char *name,
				enum hf_kind kind, uint32_t mode,
				uint64_t rdev);

/* -- metadata ------------------------------------------------------------ */

MUST_CHECK int hf_file_set_mode(int fd, uint32_t mode);
/* Of a name, never through a link; -EOPNOTSUPP for a link itself. */
MUST_CHECK int hf_file_set_mode_at(int dir_fd, const char *name,
				   uint32_t mode);
MUST_CHECK int hf_file_set_owner(int fd, uint32_t uid, uint32_t gid);
MUST_CHECK int hf_file_set_owner_at(int dir_fd, const char *name, uint32_t uid,
				    uint32_t gid);
/* The access time stays as it is. */
MUST_CHECK int hf_file_set_mtime(int fd, int64_t mtime_ns);
MUST_CHECK int hf_file_set_mtime_at(int dir_fd, const char *name,
				    int64_t mtime_ns);

/*
 * Extended attributes, POSIX ACLs among them (system.posix_acl_*): all that the
 * user can read and set, sorted by name, as one text:
 * "name=<base64>\n" for each, "" when there are none or the file system has
 * none.  In the name "%", "=" and what is no printable ASCII are %XX.
 * security.* and trusted.* are recorded as root only, ima/evm never.
 * A link's own are looked at, never its target's.
 */
MUST_CHECK int hf_file_get_xattrs_at(int dir_fd, const char *name,
				     struct hf_buffer *ret_text);
MUST_CHECK int hf_file_get_xattrs(int fd, struct hf_buffer *ret_text);
/* Make them what text says: others are removed.  All is tried, and the first
 * failure returned; -EINVAL, with nothing done, where the lines are damaged. */
MUST_CHECK int hf_file_set_xattrs(int fd, const char *text);
MUST_CHECK int hf_file_set_xattrs_at(int dir_fd, const char *name,
				     const char *text);

/*
 * The immutable and append-only flags.  *ret_flags has them; set puts them
 * back.  -EOPNOTSUPP where there are none.
 */
MUST_CHECK int hf_file_get_protection(int fd, uint32_t *ret_flags);
MUST_CHECK int hf_file_set_protection(int fd, uint32_t flags);

/* -- file systems -------------------------------------------------------- */

enum hf_file_system_trait {
	HF_FS_VOLATILE = 1 << 0,	/* tmpfs, ramfs: gone at power-off */
	HF_FS_OVERLAY = 1 << 1,		/* gone with the container */
	HF_FS_REMOTE = 1 << 2		/* NFS, SMB, FUSE: no events from afar */
};

/* A set of enum hf_file_system_trait. */
MUST_CHECK int hf_file_system_traits(int fd, unsigned *ret_traits);
/* Bytes that an ordinary user can still write. */
MUST_CHECK int hf_file_system_free(int fd, uint64_t *ret_bytes);

#endif /* HF_PLATFORM_FILE_H */
