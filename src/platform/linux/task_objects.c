/* SPDX-License-Identifier: MIT */
/*
 * Find where a process keeps `environ`: which files it has mapped as programs
 * and libraries, and what their symbols say.
 *
 * The executable first, since it may have a copy that all libraries use (theirs
 * stays empty then); then the C library, then all others: the first of these
 * that knows the variable decides.  A file may also be mapped as mere data, so
 * every mapping of its beginning is tried until one holds an environment.
 *
 * What a file says is remembered: the C library is read once, not for every
 * process.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/text.h"
#include "platform/file.h"
#include "platform/linux/task_internal.h"

/* Of the mappings of one process: enough for 100,000. */
#define MAPS_MAX    ((size_t)8 * 1024 * 1024)
/* Files looked into for one process, and remembered of all. */
#define TRIES_MAX   256u
#define OBJECTS_MAX 256u

#define OPEN_FLAGS (O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

struct object {
	dev_t dev;
	ino_t ino;
	off_t size;
	struct timespec mtime;
	struct timespec ctime;
	bool is_program;
	struct hf_symbol symbol;
};

struct hf_objects {
	struct object items[OBJECTS_MAX];
	size_t count;
	size_t oldest; /* the next to be overwritten once full */
};

enum rank { RANK_PROGRAM, RANK_LIBC, RANK_OTHER, RANK_COUNT };

/* One mapping of a file's beginning. */
struct mapping {
	uint64_t begin;
	uint64_t end;
	const char *path; /* not ended by NUL */
	size_t path_len;
};

struct search {
	struct hf_objects *objects;
	int proc_fd;
	int64_t pid;
	char exe[PATH_MAX];
	size_t exe_len;
	unsigned tries;
	bool has_symbol; /* a file knows the variable */
};

int hf_objects_new(struct hf_objects **ret_objects)
{
	struct hf_objects *const objects = calloc(1, sizeof(*objects));

	if (!objects)
		return -ENOMEM;
	*ret_objects = objects;
	return 0;
}

void hf_objects_free(struct hf_objects **objects)
{
	hf_free_pointee(objects);
}

/* -- one file ------------------------------------------------------------- */

static bool is_same(const struct object *object, const struct stat *stat,
		    bool is_program)
{
	return object->ino == stat->st_ino && object->dev == stat->st_dev &&
	       object->size == stat->st_size &&
	       object->mtime.tv_sec == stat->st_mtim.tv_sec &&
	       object->mtime.tv_nsec == stat->st_mtim.tv_nsec &&
	       object->ctime.tv_sec == stat->st_ctim.tv_sec &&
	       object->ctime.tv_nsec == stat->st_ctim.tv_nsec &&
	       object->is_program == is_program;
}

static const struct hf_symbol *symbol_of(struct hf_objects *objects, int fd,
					 bool is_program)
{
	struct object *object;
	struct stat stat;

	if (fstat(fd, &stat) < 0 || !S_ISREG(stat.st_mode))
		return NULL;
	for (size_t i = 0; i < objects->count; i++)
		if (is_same(&objects->items[i], &stat, is_program))
			return &objects->items[i].symbol;

	if (objects->count < OBJECTS_MAX) {
		object = &objects->items[objects->count++];
	} else {
		object = &objects->items[objects->oldest];
		objects->oldest = (objects->oldest + 1) % OBJECTS_MAX;
	}
	*object = (struct object){
		.dev = stat.st_dev,
		.ino = stat.st_ino,
		.size = stat.st_size,
		.mtime = stat.st_mtim,
		.ctime = stat.st_ctim,
		.is_program = is_program,
	};
	hf_symbol_find_environ(fd, is_program, &object->symbol);
	return &object->symbol;
}

/*
 * The mapped file itself where we may (it needs a capability); else by its name
 * in the process's own view.  What is no regular file is not opened: a device
 * may do something then.
 */
static int open_object(const struct search *search,
		       const struct mapping *mapping, enum rank rank)
{
	char path[PATH_MAX + 64];
	struct stat stat;
	int fd;

	if (rank == RANK_PROGRAM)
		(void)snprintf(path, sizeof(path), "%" PRId64 "/exe",
			       search->pid);
	else
		(void)snprintf(path, sizeof(path),
			       "%" PRId64 "/map_files/%" PRIx64 "-%" PRIx64,
			       search->pid, mapping->begin, mapping->end);
	fd = openat(search->proc_fd, path, OPEN_FLAGS);
	if (fd >= 0 || mapping->path_len >= PATH_MAX)
		return fd;
	(void)snprintf(path, sizeof(path), "%" PRId64 "/root%.*s", search->pid,
		       (int)mapping->path_len, mapping->path);
	if (fstatat(search->proc_fd, path, &stat, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(stat.st_mode))
		return -1;
	return openat(search->proc_fd, path, OPEN_FLAGS | O_NOFOLLOW);
}

/* -- the mappings of a process -------------------------------------------- */

/* proc_pid_maps(5): "BEGIN-END PERMISSIONS OFFSET DEVICE INODE    PATH". */
static bool parse_mapping(const char *line, size_t len,
			  struct mapping *ret_mapping)
{
	const char *const dash = memchr(line, '-', len);
	const char *const blank = memchr(line, ' ', len);
	const char *const path = memchr(line, '/', len);
	const char *offset;

	if (!dash || !blank || !path || dash > blank)
		return false;
	offset = memchr(blank + 1, ' ', (size_t)(path - blank - 1));
	if (!offset || strspn(offset + 1, "0") < 8 ||
	    offset[1 + strspn(offset + 1, "0")] != ' ' ||
	    hf_parse_u64(line, (size_t)(dash - line), 16, &ret_mapping->begin) <
		    0 ||
	    hf_parse_u64(dash + 1, (size_t)(blank - dash - 1), 16,
			 &ret_mapping->end) < 0)
		return false;
	ret_mapping->path = path;
	ret_mapping->path_len = (size_t)(line + len - path);
	return true;
}

static bool begins(const char *name, size_t len, const char *with)
{
	return len >= strlen(with) && memcmp(name, with, strlen(with)) == 0;
}

static enum rank rank_of(const struct search *search,
			 const struct mapping *mapping)
{
	const char *const slash =
		memrchr(mapping->path, '/', mapping->path_len);
	const char *const name = slash + 1;
	const size_t len = mapping->path_len - (size_t)(name - mapping->path);

	if (mapping->path_len == search->exe_len &&
	    memcmp(mapping->path, search->exe, search->exe_len) == 0)
		return RANK_PROGRAM;
	/* glibc before 2.34 has libc-2.31.so. */
	if (begins(name, len, "libc.") || begins(name, len, "libc-") ||
	    begins(name, len, "ld-musl"))
		return RANK_LIBC;
	return RANK_OTHER;
}

/* Is the environment where this mapping has it? */
static bool try_mapping(struct search *search, const struct mapping *mapping,
			enum rank rank, struct hf_environ_place *ret_place)
{
	cleanup_fd int fd = -1;
	struct hf_environ_place place;
	struct hf_environ_values none = {.count = 0};
	const struct hf_symbol *symbol;

	if (search->tries++ >= TRIES_MAX)
		return false;
	fd = open_object(search, mapping, rank);
	if (fd < 0)
		return false;
	symbol = symbol_of(search->objects, fd, rank == RANK_PROGRAM);
	if (!symbol || !symbol->is_found)
		return false;
	search->has_symbol = true;
	place = (struct hf_environ_place){
		.address = symbol->is_fixed ? symbol->value
					    : mapping->begin + symbol->value,
		.pointer_size = symbol->pointer_size,
	};
	if (hf_environ_read(search->pid, &place, &none) < 0)
		return false;
	*ret_place = place;
	return true;
}

static void search_maps(struct search *search, const struct hf_buffer *maps,
			struct hf_environ_place *ret_place)
{
	const char *const end = maps->data + maps->len;

	for (unsigned rank = 0; rank < RANK_COUNT && !search->has_symbol;
	     rank++) {
		const char *line = maps->data;

		while (line < end) {
			const char *const found =
				memchr(line, '\n', (size_t)(end - line));
			const char *const line_end = found ? found : end;
			struct mapping mapping;

			if (parse_mapping(line, (size_t)(line_end - line),
					  &mapping) &&
			    rank_of(search, &mapping) == rank &&
			    try_mapping(search, &mapping, rank, ret_place))
				return;
			line = line_end + 1;
		}
	}
}

int hf_objects_find_environ(struct hf_objects *objects, int proc_fd,
			    int64_t pid, struct hf_environ_place *ret_place)
{
	cleanup_buffer struct hf_buffer maps = HF_BUFFER_INIT;
	cleanup_fd int fd = -1;
	struct search search = {
		.objects = objects,
		.proc_fd = proc_fd,
		.pid = pid,
	};
	char name[64];
	ssize_t len;
	int rc;

	(void)snprintf(name, sizeof(name), "%" PRId64 "/exe", pid);
	len = readlinkat(proc_fd, name, search.exe, sizeof(search.exe));
	search.exe_len = len < 0 ? 0 : (size_t)len;

	(void)snprintf(name, sizeof(name), "%" PRId64 "/maps", pid);
	fd = openat(proc_fd, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	rc = hf_file_read_all(fd, MAPS_MAX, &maps);
	if (rc < 0 && rc != -EFBIG)
		return rc;
	*ret_place = (struct hf_environ_place){.address = 0};
	if (rc == 0 && maps.len > 0)
		search_maps(&search, &maps, ret_place);
	return search.has_symbol && ret_place->address == 0 ? -EAGAIN : 0;
}
