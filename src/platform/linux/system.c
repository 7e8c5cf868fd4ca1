/* SPDX-License-Identifier: MIT */
/* Ask the system about time, the user, directories and processors. */
#include "platform/system.h"

#include <fcntl.h>
#include <pthread.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/path.h"
#include "platform/file.h"
#include "platform/linux/file_internal.h"

#define BOOT_ID_FILE "/proc/sys/kernel/random/boot_id"
#define BOOT_ID_LEN  36

/* More than any sane entry of the user database has. */
#define PASSWD_MAX ((size_t)1024 * 1024)

/* -- clocks -------------------------------------------------------------- */

static int64_t read_clock(clockid_t clock)
{
	struct timespec now = {.tv_sec = 0};

	(void)clock_gettime(clock, &now);
	return hf_file_time_ns(&now);
}

int64_t hf_system_time_ns(void)
{
	return read_clock(CLOCK_REALTIME);
}

int64_t hf_system_file_time_ns(void)
{
	/* The kernel stamps inodes with the time of the last tick. */
	return read_clock(CLOCK_REALTIME_COARSE);
}

int64_t hf_system_boot_ns(void)
{
	return read_clock(CLOCK_BOOTTIME);
}

void hf_system_boot_id(char ret_id[37])
{
	cleanup_fd int fd = hf_file_open_read_path(BOOT_ID_FILE);

	if (fd >= 0 && hf_file_read(fd, ret_id, BOOT_ID_LEN) == BOOT_ID_LEN)
		ret_id[BOOT_ID_LEN] = '\0';
	else
		ret_id[0] = '\0';
}

/* -- the user ------------------------------------------------------------ */

uint32_t hf_system_uid(void)
{
	return geteuid();
}

bool hf_system_is_root(void)
{
	return geteuid() == 0;
}

int hf_system_home(char **ret_path)
{
	for (size_t size = 1024; size <= PASSWD_MAX; size *= 4) {
		cleanup_free char *text = malloc(size);
		struct passwd entry;
		struct passwd *found = NULL;
		int rc;

		if (!text)
			return -ENOMEM;
		/* Unlike system calls, it returns the error. */
		rc = getpwuid_r(geteuid(), &entry, text, size, &found);
		if (rc == ERANGE || rc == EINTR)
			continue;
		if (rc != 0)
			return -rc;
		if (!found || !hf_path_is_absolute(found->pw_dir))
			return -ENOENT;
		*ret_path = strdup(found->pw_dir);
		return *ret_path ? 0 : -ENOMEM;
	}
	return -ERANGE;
}

int hf_system_state_directory(char **ret_path)
{
	/*
	 * The only variable that is ever read.  It says where this user keeps
	 * the state of programs, all of them, and so places the store; what is
	 * protected, and how, no variable can change.  Not for a program that
	 * runs with more rights than its caller: secure_getenv().
	 */
	const char *const given = secure_getenv("XDG_STATE_HOME");
	cleanup_free char *home = NULL;
	char *path;
	int rc;

	if (given && hf_path_is_absolute(given)) {
		path = strdup(given);
	} else {
		rc = hf_system_home(&home);
		if (rc < 0)
			return rc;
		path = hf_path_join(home, ".local/state");
	}
	if (!path)
		return -ENOMEM;
	*ret_path = path;
	return 0;
}

int hf_system_working_directory(char **ret_path)
{
	char *const path = getcwd(NULL, 0);

	if (!path)
		return -errno;
	*ret_path = path;
	return 0;
}

int hf_system_random(void *data, size_t len)
{
	char *next = data;

	while (len > 0) {
		const ssize_t count = HF_CALL(getrandom(next, len, 0));

		if (count < 0)
			return (int)count;
		next += count;
		len -= (size_t)count;
	}
	return 0;
}

/* -- signals --------------------------------------------------------------- */

static const int ending_signals[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };

uint64_t hf_system_hold_signals(void)
{
	uint64_t held = 0;
	sigset_t wanted;
	sigset_t before;

	(void)sigemptyset(&wanted);
	for (size_t i = 0; i < HF_COUNT(ending_signals); i++)
		(void)sigaddset(&wanted, ending_signals[i]);
	if (sigprocmask(SIG_BLOCK, &wanted, &before) < 0)
		return 0;
	for (size_t i = 0; i < HF_COUNT(ending_signals); i++)
		if (!sigismember(&before, ending_signals[i]))
			held |= UINT64_C(1) << ending_signals[i];
	return held;
}

bool hf_system_is_signal_held(uint64_t held)
{
	sigset_t pending;

	if (sigpending(&pending) < 0)
		return false;
	for (size_t i = 0; i < HF_COUNT(ending_signals); i++)
		if (held & UINT64_C(1) << ending_signals[i] &&
		    sigismember(&pending, ending_signals[i]))
			return true;
	return false;
}

void hf_system_release_signals(uint64_t held)
{
	sigset_t given_back;

	(void)sigemptyset(&given_back);
	for (size_t i = 0; i < HF_COUNT(ending_signals); i++)
		if (held & UINT64_C(1) << ending_signals[i])
			(void)sigaddset(&given_back, ending_signals[i]);
	(void)sigprocmask(SIG_UNBLOCK, &given_back, NULL);
}

/* -- threads ------------------------------------------------------------- */

struct hf_thread {
	pthread_t id;
	hf_thread_function *function;
	void *argument;
};

struct hf_mutex {
	pthread_mutex_t mutex;
};

static void *run_thread(void *data)
{
	struct hf_thread *const thread = data;

	thread->function(thread->argument);
	return NULL;
}

int hf_thread_start(hf_thread_function *function, void *argument,
		    struct hf_thread **ret_thread)
{
	cleanup_free struct hf_thread *thread = malloc(sizeof(*thread));
	sigset_t all;
	sigset_t before;
	int rc;

	if (!thread)
		return -ENOMEM;
	thread->function = function;
	thread->argument = argument;

	/* Signals are the first thread's: it waits for them. */
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&thread->id, NULL, run_thread, thread);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc != 0)
		return -rc;
	*ret_thread = take_ptr(&thread);
	return 0;
}

void hf_thread_join(struct hf_thread **thread)
{
	if (*thread)
		(void)pthread_join((*thread)->id, NULL);
	hf_free_pointee(thread);
}

size_t hf_system_descriptors(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) < 0 ? 0 :
						      (size_t)limit.rlim_cur;
}

int hf_system_share_memory(size_t len, void **ret_memory)
{
	void *const memory =
		mmap(NULL, len, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (memory == MAP_FAILED)
		return -errno;
	*ret_memory = memory;
	return 0;
}

void hf_system_unshare_memory(void *memory, size_t len)
{
	(void)munmap(memory, len);
}

unsigned hf_system_cpus(void)
{
	cpu_set_t allowed;

	/* Of this process: a container may have fewer than the machine. */
	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return 1;
	return (unsigned)CPU_COUNT(&allowed);
}

int hf_mutex_new(struct hf_mutex **ret_mutex)
{
	cleanup_free struct hf_mutex *mutex = malloc(sizeof(*mutex));
	int rc;

	if (!mutex)
		return -ENOMEM;
	rc = pthread_mutex_init(&mutex->mutex, NULL);
	if (rc != 0)
		return -rc;
	*ret_mutex = take_ptr(&mutex);
	return 0;
}

void hf_mutex_lock(struct hf_mutex *mutex)
{
	(void)pthread_mutex_lock(&mutex->mutex);
}

void hf_mutex_unlock(struct hf_mutex *mutex)
{
	(void)pthread_mutex_unlock(&mutex->mutex);
}

void hf_mutex_free(struct hf_mutex **mutex)
{
	if (*mutex)
		(void)pthread_mutex_destroy(&(*mutex)->mutex);
	hf_free_pointee(mutex);
}

struct hf_bell {
	int fd;
};

int hf_bell_new(struct hf_bell **ret_bell)
{
	cleanup_free struct hf_bell *bell = malloc(sizeof(*bell));

	if (!bell)
		return -ENOMEM;
	bell->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (bell->fd < 0)
		return -errno;
	*ret_bell = take_ptr(&bell);
	return 0;
}

int hf_bell_fd(const struct hf_bell *bell)
{
	return bell->fd;
}

void hf_bell_ring(struct hf_bell *bell)
{
	/* It cannot be rung more often than a number counts. */
	(void)eventfd_write(bell->fd, 1);
}

void hf_bell_silence(struct hf_bell *bell)
{
	eventfd_t count;

	(void)eventfd_read(bell->fd, &count);
}

void hf_bell_free(struct hf_bell **bell)
{
	if (*bell)
		hf_file_close_quietly(&(*bell)->fd);
	hf_free_pointee(bell);
}
