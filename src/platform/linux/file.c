/* SPDX-License-Identifier: MIT */
/* Open files, read and write what is in them. */
#include "platform/file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/path.h"
#include "platform/linux/file_internal.h"

/* How much hf_file_read_all() asks for at once. */
#define READ_CHUNK ((size_t)16 * 1024)

#define DIRECTORY_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC)
/* A fifo without a writer, or a leased file, must not make us wait. */
#define READ_FLAGS	(O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

void hf_file_close_quietly(int *fd)
{
	const int saved = errno;

	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
	errno = saved;
}

int hf_file_close(int *fd)
{
	/* After EINTR the descriptor is gone as well: another close() could
	 * hit one that a second thread has just opened. */
	if (close(take_fd(fd)) < 0 && errno != EINTR)
		return -errno;
	return 0;
}

/* -- opening ------------------------------------------------------------- */

int hf_file_open_directory(const char *path)
{
	return HF_CALL(open(path, DIRECTORY_FLAGS));
}

int hf_file_open_directory_at(int dir_fd, const char *name)
{
	return HF_CALL(openat(dir_fd, name, DIRECTORY_FLAGS | O_NOFOLLOW));
}

int hf_file_open_directory_here(int dir_fd, const char *name)
{
	struct open_how how = {
		.flags = DIRECTORY_FLAGS | O_NOFOLLOW,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_XDEV,
	};
	const long fd =
		HF_CALL(syscall(SYS_openat2, dir_fd, name, &how, sizeof(how)));

	/* Linux before 5.6; filters of containers answer either way. */
	return fd == -ENOSYS || fd == -EPERM
		       ? hf_file_open_directory_at(dir_fd, name)
		       : (int)fd;
}

/* One step of the walk; a link is -ELOOP, as openat2 has it. */
static int open_component(int dir_fd, const char *name, int flags)
{
	const int fd = HF_CALL(openat(dir_fd, name, flags));
	struct stat st;

	if (fd == -ENOTDIR &&
	    fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISLNK(st.st_mode))
		return -ELOOP;
	return fd;
}

int hf_file_open_beneath_walk(int dir_fd, const char *path)
{
	cleanup_fd int parent_fd = -1;

	for (;;) {
		const size_t len = strcspn(path, "/");
		const int from_fd = parent_fd >= 0 ? parent_fd : dir_fd;
		char name[HF_NAME_MAX + 1];
		int fd;

		if (len > HF_NAME_MAX)
			return -ENAMETOOLONG;
		memcpy(name, path, len);
		name[len] = '\0';
		if (path[len] == '\0')
			return open_component(from_fd, name,
					      DIRECTORY_FLAGS | O_NOFOLLOW);

		/* O_PATH: as with openat2, a directory on the way need not be
		 * readable. */
		fd = open_component(from_fd, name,
				    O_PATH | O_DIRECTORY | O_NOFOLLOW |
					    O_CLOEXEC);
		if (fd < 0)
			return fd;
		hf_file_close_quietly(&parent_fd);
		parent_fd = fd;
		path += len + 1;
	}
}

int hf_file_open_beneath(int dir_fd, const char *path)
{
	struct open_how how = {
		.flags = DIRECTORY_FLAGS,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
	};
	long fd;

	if (!hf_path_is_plain(path) || hf_path_is_absolute(path))
		return -EINVAL;
	fd = HF_CALL(syscall(SYS_openat2, dir_fd, path, &how, sizeof(how)));
	/* Linux before 5.6; filters of containers answer either way. */
	if (fd == -ENOSYS || fd == -EPERM)
		return hf_file_open_beneath_walk(dir_fd, path);
	return (int)fd;
}

int hf_file_open_read_at(int dir_fd, const char *name)
{
	const int flags = READ_FLAGS | O_NOFOLLOW;
	const int fd = HF_CALL(openat(dir_fd, name, flags | O_NOATIME));

	/* Only the owner may leave the access time alone. */
	if (fd == -EPERM)
		return HF_CALL(openat(dir_fd, name, flags));
	return fd;
}

int hf_file_open_read_path(const char *path)
{
	return HF_CALL(open(path, READ_FLAGS));
}

int hf_file_create_at(int dir_fd, const char *name, uint32_t mode)
{
	cleanup_fd int fd = HF_CALL(
		openat(dir_fd, name,
		       O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		       (mode_t)(mode & 0700)));
	int rc;

	if (fd < 0)
		return fd;
	/* The umask has taken its share; set-id bits are never set by open. */
	rc = hf_file_set_mode(fd, mode);
	if (rc < 0) {
		(void)unlinkat(dir_fd, name, 0);
		return rc;
	}
	return take_fd(&fd);
}

int hf_file_open_append_at(int dir_fd, const char *name)
{
	return HF_CALL(openat(dir_fd, name,
			      O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW |
				      O_NONBLOCK | O_CLOEXEC,
			      0600));
}

int hf_file_open_write_at(int dir_fd, const char *name)
{
	/* With O_NONBLOCK a lease, our own included, is -EAGAIN and no wait. */
	return HF_CALL(openat(dir_fd, name,
			      O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
				      O_CLOEXEC));
}

int hf_file_create_path(const char *path)
{
	return HF_CALL(open(path,
			    O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY | O_CLOEXEC,
			    0666));
}

int hf_file_duplicate(int fd)
{
	return HF_CALL(fcntl(fd, F_DUPFD_CLOEXEC, 3));
}

/* -- content ------------------------------------------------------------- */

int64_t hf_file_read(int fd, void *data, size_t len)
{
	size_t done = 0;

	while (done < len) {
		const ssize_t count =
			HF_CALL(read(fd, (char *)data + done, len - done));

		if (count < 0)
			return count;
		if (count == 0)
			break;
		done += (size_t)count;
	}
	return (int64_t)done;
}

int hf_file_write(int fd, const void *data, size_t len)
{
	const char *next = data;

	while (len > 0) {
		const ssize_t count = HF_CALL(write(fd, next, len));

		if (count < 0)
			return (int)count;
		if (count == 0)
			return -EIO;
		next += count;
		len -= (size_t)count;
	}
	return 0;
}

static void let_write_fail(int signal_number)
{
	(void)signal_number;
}

/* With a function, since an ignored signal would stay so in the command. */
void hf_file_expect_limit(void)
{
	struct sigaction action = {.sa_handler = let_write_fail,
				   .sa_flags = SA_RESTART};
	struct sigaction before;
	int rc;

	(void)sigemptyset(&action.sa_mask);
	rc = sigaction(SIGXFSZ, NULL, &before);
	if (rc == 0 && before.sa_handler == SIG_DFL)
		rc = sigaction(SIGXFSZ, &action, NULL);
	(void)rc;
}

int hf_file_seek(int fd, uint64_t offset)
{
	if (offset > INT64_MAX)
		return -EOVERFLOW;
	return lseek(fd, (off_t)offset, SEEK_SET) < 0 ? -errno : 0;
}

int64_t hf_file_next_data(int fd, uint64_t offset, uint64_t size)
{
	off_t found;

	if (size > INT64_MAX)
		return -EOVERFLOW;
	if (offset >= size)
		return (int64_t)size;
	found = lseek(fd, (off_t)offset, SEEK_DATA);
	if (found < 0) {
		if (errno == ENXIO)
			return (int64_t)size;
		/* A file system that knows no holes: all is data. */
		if (errno == EINVAL || errno == EOPNOTSUPP)
			return (int64_t)offset;
		return -errno;
	}
	return (uint64_t)found < size ? found : (int64_t)size;
}

/*
 * A read lease is only granted while nobody has the file open for writing
 * (fcntl(2)).  The signal of a lease that is broken while we have it ends us by
 * default; SIGURG does not.
 */
int hf_file_has_writer(int fd)
{
	int rc;

	rc = HF_CALL(fcntl(fd, F_SETSIG, SIGURG));
	if (rc == 0)
		rc = HF_CALL(fcntl(fd, F_SETLEASE, F_RDLCK));
	if (rc == -EAGAIN)
		return 1;
	return rc < 0 ? rc : HF_CALL(fcntl(fd, F_SETLEASE, F_UNLCK));
}

int hf_file_truncate(int fd, uint64_t size)
{
	if (size > INT64_MAX)
		return -EOVERFLOW;
	return HF_CALL(ftruncate(fd, (off_t)size));
}

int hf_file_touch(int fd)
{
	return HF_CALL(futimens(fd, NULL));
}

int hf_file_sync(int fd)
{
	/* Not fdatasync(): mode, owner and time are part of what is restored.
	 */
	return HF_CALL(fsync(fd));
}

void hf_file_start_sync(int fd)
{
	(void)sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
}

void hf_file_advise_sequential(int fd)
{
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
}

int hf_file_read_all(int fd, size_t max, struct hf_buffer *ret_data)
{
	const size_t start = ret_data->len;

	for (;;) {
		const size_t left = max - (ret_data->len - start);
		/* One more than allowed tells "too large" from "just fits". */
		const size_t want = left < READ_CHUNK ? left + 1 : READ_CHUNK;
		char *const end = hf_buffer_reserve(ret_data, want);
		int64_t count;

		if (!end)
			return -ENOMEM;
		count = hf_file_read(fd, end, want);
		if (count < 0 || (size_t)count > left) {
			ret_data->len = start;
			ret_data->data[start] = '\0';
			return count < 0 ? (int)count : -EFBIG;
		}
		end[count] = '\0';
		ret_data->len += (size_t)count;
		if ((size_t)count < want)
			return 0;
	}
}
