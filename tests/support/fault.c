/* SPDX-License-Identifier: MIT */
/*
 * The wrapped calls.  A test that does not wrap one leaves its __real_ symbol
 * undefined: all of them are weak.  Names with 64 are what glibc's headers make
 * of the plain ones with 64-bit file offsets.
 */
#include "support/fault.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* So many calls are interrupted before one gets through. */
#define EINTR_STORM 50
/* How much longer than the last round one before may be: a file changed within
 * a tick of the clock is read again, and of two threads the second finds work or
 * none, hence opens a pack or not. */
#define JITTER_MAX 12u

static bool is_armed;
static bool is_crash;
static bool is_persistent;
static bool stays_with_call;
static bool has_no_exchange;
static bool has_fired;
static int error_to_set;
static unsigned nth_call;
static unsigned call_count;
static unsigned fired_count;
static const char *first_call = "";

void fault_arm(unsigned nth, int error, bool persistent)
{
	nth_call = nth;
	error_to_set = error;
	is_persistent = persistent;
	is_crash = false;
	has_fired = false;
	call_count = 0;
	fired_count = 0;
	first_call = "";
	__atomic_store_n(&is_armed, true, __ATOMIC_SEQ_CST);
}

void fault_stay_with_call(bool stays)
{
	stays_with_call = stays;
}

void fault_take_exchange_away(bool is_away)
{
	has_no_exchange = is_away;
}

bool fault_disarm(void)
{
	__atomic_store_n(&is_armed, false, __ATOMIC_SEQ_CST);
	return has_fired;
}

unsigned fault_count(void)
{
	return call_count;
}

void fault_expect_all_tried(unsigned nth)
{
	(void)fprintf(stderr, "%u calls tried\n", nth - 1);
	cr_expect(nth - 1 - call_count <= JITTER_MAX,
		  "%u calls tried, but there are %u", nth - 1, call_count);
}

const char *fault_call(void)
{
	return first_call;
}

bool fault_is_persistent(void)
{
	return is_persistent;
}

bool fault_may_be_ignored(void)
{
	static const char *const ignored[] = {
		"close",	   "closedir",	    "unlinkat",
		"sync_file_range", "posix_fadvise", "pthread_create",
		"lgetxattr",	   "llistxattr",    "fgetxattr",
		"flistxattr",	   "lseek",	    "unlock",
	};

	if (error_to_set == EINTR)
		return true;
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++) {
		if (strcmp(first_call, ignored[i]) == 0)
			return true;
	}
	return false;
}

/* Is it this call's turn?  In a crash, the end. */
static bool tick(const char *name, int error)
{
	unsigned count;

	if (!__atomic_load_n(&is_armed, __ATOMIC_SEQ_CST))
		return false;
	count = __atomic_add_fetch(&call_count, 1, __ATOMIC_SEQ_CST);
	if (count < nth_call || (count > nth_call && !is_persistent))
		return false;
	if (stays_with_call && has_fired && strcmp(name, first_call) != 0)
		return false;
	if (is_crash)
		return true;
	if (error_to_set == EINTR &&
	    __atomic_add_fetch(&fired_count, 1, __ATOMIC_SEQ_CST) > EINTR_STORM)
		return false;
	if (!has_fired)
		first_call = name;
	has_fired = true;
	errno = error;
	return true;
}

static bool fails(const char *name)
{
	const bool is_turn = tick(name, error_to_set);

	if (is_turn && is_crash)
		(void)kill(getpid(), SIGKILL);
	return is_turn;
}

static bool fails_to_allocate(const char *name)
{
	const bool is_turn = tick(name, ENOMEM);

	if (is_turn && is_crash)
		(void)kill(getpid(), SIGKILL);
	return is_turn;
}

#define WRAP(ret, symbol, name, params, args)                        \
	ret __real_##symbol params __attribute__((weak));            \
	ret __wrap_##symbol params;                                  \
	ret __wrap_##symbol params                                   \
	{                                                            \
		return fails(name) ? (ret)-1 : __real_##symbol args; \
	}

WRAP(ssize_t, read, "read", (int fd, void *b, size_t n), (fd, b, n))
WRAP(int, fchmod, "fchmod", (int fd, mode_t m), (fd, m))
WRAP(int, chmod, "chmod", (const char *p, mode_t m), (p, m))
WRAP(int, fchown, "fchown", (int fd, uid_t u, gid_t g), (fd, u, g))
WRAP(int, fchownat, "fchownat", (int d, const char *p, uid_t u, gid_t g, int f),
     (d, p, u, g, f))
WRAP(int, ftruncate64, "ftruncate", (int fd, off_t n), (fd, n))
WRAP(off_t, lseek64, "lseek", (int fd, off_t o, int w), (fd, o, w))
WRAP(int, fstat64, "fstat", (int fd, struct stat *s), (fd, s))
WRAP(int, fstatat64, "fstatat", (int d, const char *p, struct stat *s, int f),
     (d, p, s, f))
WRAP(int, stat64, "stat", (const char *p, struct stat *s), (p, s))
WRAP(int, lstat64, "lstat", (const char *p, struct stat *s), (p, s))
WRAP(int, renameat, "renameat", (int a, const char *b, int c, const char *d),
     (a, b, c, d))
WRAP(int, linkat, "linkat", (int a, const char *b, int c, const char *d, int f),
     (a, b, c, d, f))
WRAP(int, symlinkat, "symlinkat", (const char *t, int d, const char *p),
     (t, d, p))
WRAP(int, unlinkat, "unlinkat", (int d, const char *p, int f), (d, p, f))
WRAP(int, mkdir, "mkdir", (const char *p, mode_t m), (p, m))
WRAP(int, mkdirat, "mkdirat", (int d, const char *p, mode_t m), (d, p, m))
WRAP(int, mknodat, "mknodat", (int d, const char *p, mode_t m, dev_t r),
     (d, p, m, r))
WRAP(ssize_t, readlinkat, "readlinkat",
     (int d, const char *p, char *b, size_t n), (d, p, b, n))
WRAP(int, utimensat, "utimensat",
     (int d, const char *p, const struct timespec *t, int f), (d, p, t, f))
WRAP(int, futimens, "futimens", (int fd, const struct timespec *t), (fd, t))
WRAP(ssize_t, getrandom, "getrandom", (void *b, size_t n, unsigned f),
     (b, n, f))
WRAP(int, flock, (o & LOCK_UN) != 0 ? "unlock" : "flock", (int fd, int o),
     (fd, o))
WRAP(int, sync_file_range, "sync_file_range",
     (int fd, off_t o, off_t n, unsigned f), (fd, o, n, f))
WRAP(ssize_t, lgetxattr, "lgetxattr",
     (const char *p, const char *n, void *v, size_t s), (p, n, v, s))
WRAP(ssize_t, fgetxattr, "fgetxattr",
     (int fd, const char *n, void *v, size_t s), (fd, n, v, s))
WRAP(ssize_t, llistxattr, "llistxattr", (const char *p, char *l, size_t s),
     (p, l, s))
WRAP(ssize_t, flistxattr, "flistxattr", (int fd, char *l, size_t s), (fd, l, s))
WRAP(int, fsetxattr, "fsetxattr",
     (int fd, const char *n, const void *v, size_t s, int f), (fd, n, v, s, f))
WRAP(int, lsetxattr, "lsetxattr",
     (const char *p, const char *n, const void *v, size_t s, int f),
     (p, n, v, s, f))
WRAP(int, fremovexattr, "fremovexattr", (int fd, const char *n), (fd, n))
WRAP(int, lremovexattr, "lremovexattr", (const char *p, const char *n), (p, n))

/* -- those with something of their own ------------------------------------- */

int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
	/* No test takes the power away: without the disk's time the loops over
	 * all calls are ten times as fast. */
	(void)fd;
	return fails("fsync") ? -1 : 0;
}

ssize_t __real_write(int fd, const void *data, size_t len)
	__attribute__((weak));
ssize_t __wrap_write(int fd, const void *data, size_t len);
ssize_t __wrap_write(int fd, const void *data, size_t len)
{
	if (!tick("write", error_to_set))
		return __real_write(fd, data, len);
	if (is_crash) {
		/* The power goes in the middle of a record. */
		(void)!__real_write(fd, data, len / 2);
		(void)kill(getpid(), SIGKILL);
	}
	return -1;
}

int __real_close(int fd) __attribute__((weak));
int __wrap_close(int fd);
int __wrap_close(int fd)
{
	/* A failed close() still releases the descriptor. */
	const bool is_failing = fails("close");
	const int saved = errno;
	const int rc = __real_close(fd);

	if (!is_failing)
		return rc;
	errno = saved;
	return -1;
}

int __real_open64(const char *path, int flags, ...) __attribute__((weak));
int __wrap_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = (flags & O_CREAT) != 0 ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	return fails("open") ? -1 : __real_open64(path, flags, mode);
}

int __real_openat64(int dir_fd, const char *path, int flags, ...)
	__attribute__((weak));
int __wrap_openat64(int dir_fd, const char *path, int flags, ...);
int __wrap_openat64(int dir_fd, const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = (flags & O_CREAT) != 0 ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	return fails("openat") ? -1
			       : __real_openat64(dir_fd, path, flags, mode);
}

int __real_fcntl64(int fd, int command, ...) __attribute__((weak));
int __wrap_fcntl64(int fd, int command, ...);
int __wrap_fcntl64(int fd, int command, ...)
{
	const bool is_lease = command == F_SETLEASE || command == F_SETSIG;
	va_list ap;
	long argument;

	va_start(ap, command);
	argument = va_arg(ap, long);
	va_end(ap);
	return fails(is_lease ? "lease" : "fcntl")
		       ? -1
		       : __real_fcntl64(fd, command, argument);
}

/* openat2, renameat2 and others that the C library does not name. */
long __real_syscall(long number, ...) __attribute__((weak));
long __wrap_syscall(long number, ...);
long __wrap_syscall(long number, ...)
{
	va_list ap;
	long a[6];

	va_start(ap, number);
	for (size_t i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (has_no_exchange && number == SYS_renameat2 &&
	    (a[4] & RENAME_EXCHANGE) != 0) {
		errno = EINVAL;
		return -1;
	}
	return fails("syscall") ? -1
				: __real_syscall(number, a[0], a[1], a[2], a[3],
						 a[4], a[5]);
}

/* These two return the error. */
int __real_posix_fadvise64(int fd, off_t offset, off_t len, int advice)
	__attribute__((weak));
int __wrap_posix_fadvise64(int fd, off_t offset, off_t len, int advice);
int __wrap_posix_fadvise64(int fd, off_t offset, off_t len, int advice)
{
	return fails("posix_fadvise")
		       ? error_to_set
		       : __real_posix_fadvise64(fd, offset, len, advice);
}

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*start)(void *), void *argument)
	__attribute__((weak));
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*start)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*start)(void *), void *argument)
{
	return fails("pthread_create")
		       ? EAGAIN
		       : __real_pthread_create(thread, attributes, start,
					       argument);
}

DIR *__real_fdopendir(int fd) __attribute__((weak));
DIR *__wrap_fdopendir(int fd);
DIR *__wrap_fdopendir(int fd)
{
	return fails("fdopendir") ? NULL : __real_fdopendir(fd);
}

struct dirent *__real_readdir64(DIR *stream) __attribute__((weak));
struct dirent *__wrap_readdir64(DIR *stream);
struct dirent *__wrap_readdir64(DIR *stream)
{
	return fails("readdir") ? NULL : __real_readdir64(stream);
}

char *__real_realpath(const char *path, char *resolved) __attribute__((weak));
char *__wrap_realpath(const char *path, char *resolved);
char *__wrap_realpath(const char *path, char *resolved)
{
	return fails("realpath") ? NULL : __real_realpath(path, resolved);
}

/* -- memory ---------------------------------------------------------------- */

void *__real_malloc(size_t size) __attribute__((weak));
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
	return fails_to_allocate("malloc") ? NULL : __real_malloc(size);
}

void *__real_calloc(size_t count, size_t size) __attribute__((weak));
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size)
{
	return fails_to_allocate("calloc") ? NULL : __real_calloc(count, size);
}

void *__real_realloc(void *old, size_t size) __attribute__((weak));
void *__wrap_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size)
{
	return fails_to_allocate("realloc") ? NULL : __real_realloc(old, size);
}

char *__real_strdup(const char *text) __attribute__((weak));
char *__wrap_strdup(const char *text);
char *__wrap_strdup(const char *text)
{
	return fails_to_allocate("strdup") ? NULL : __real_strdup(text);
}

/* -- dying ----------------------------------------------------------------- */

bool fault_crash(unsigned nth, void (*body)(void *argument), void *argument)
{
	unsigned *const count =
		mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child;
	int status;

	cr_assert(count != MAP_FAILED);
	child = fork();
	cr_assert(child >= 0);
	if (child == 0) {
		fault_arm(nth, 0, false);
		is_crash = true;
		body(argument);
		(void)fault_disarm();
		*count = call_count;
		_exit(0);
	}
	cr_assert(waitpid(child, &status, 0) == child);
	call_count = *count;
	(void)munmap(count, sizeof(*count));
	if (WIFEXITED(status)) {
		cr_assert(WEXITSTATUS(status) == 0, "the child failed");
		return false;
	}
	cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
		  "the child died of signal %d", WTERMSIG(status));
	return true;
}
