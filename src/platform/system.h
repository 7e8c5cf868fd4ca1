/* SPDX-License-Identifier: MIT */
/*
 * Facts about the machine and the user: clocks, identity, directories, random
 * bytes, one helper thread.  Returns >= 0 or -errno.
 */
#ifndef HF_PLATFORM_SYSTEM_H
#define HF_PLATFORM_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/defs.h"

/* Wall clock, nanoseconds since 1970. */
int64_t hf_system_time_ns(void);
/* The clock that stamps ctime: never ahead of a later change's ctime. */
int64_t hf_system_file_time_ns(void);
/* Since boot, suspends included: for intervals. */
int64_t hf_system_boot_ns(void);
/* Names this boot; "" when the system does not tell.  36 characters at most. */
void hf_system_boot_id(char ret_id[37]);

/* The effective user. */
uint32_t hf_system_uid(void);
/* May this user change owners and read everything? */
bool hf_system_is_root(void);
/* The home directory by the user database, not the environment; to free(). */
MUST_CHECK int hf_system_home(char **ret_path);
/*
 * Where state of programs is kept: $XDG_STATE_HOME when absolute, else
 * ~/.local/state; to free().  This places the store; it is no configuration.
 */
MUST_CHECK int hf_system_state_directory(char **ret_path);
/* The working directory, absolute; to free(). */
MUST_CHECK int hf_system_working_directory(char **ret_path);
MUST_CHECK int hf_system_random(void *data, size_t len);

/*
 * Ctrl-C and the like wait until they are let in again: for a program with one
 * thread that must not go before it has cleared up.  A child inherits it.
 * Returns what to release.
 */
uint64_t hf_system_hold_signals(void);
/* Has one come meanwhile? */
bool hf_system_is_signal_held(uint64_t held);
void hf_system_release_signals(uint64_t held);

/* How many descriptors this process may have at a time. */
size_t hf_system_descriptors(void);

/*
 * Zeroed memory that processes forked from now on share with this one; what is
 * never touched costs nothing.
 */
MUST_CHECK int hf_system_share_memory(size_t len, void **ret_memory);
void hf_system_unshare_memory(void *memory, size_t len);

/* One function on a second thread; the seam for the two-core machine. */
struct hf_thread;
typedef void hf_thread_function(void *argument);
MUST_CHECK int hf_thread_start(hf_thread_function *function, void *argument,
			       struct hf_thread **ret_thread);
/* Waits for it and frees the handle; NULL is allowed. */
void hf_thread_join(struct hf_thread **thread);
unsigned hf_system_cpus(void);

struct hf_mutex;
MUST_CHECK int hf_mutex_new(struct hf_mutex **ret_mutex);
void hf_mutex_lock(struct hf_mutex *mutex);
void hf_mutex_unlock(struct hf_mutex *mutex);
void hf_mutex_free(struct hf_mutex **mutex);

/* What a thread rings and another one polls. */
struct hf_bell;
#define cleanup_bell CLEANUP(hf_bell_free)
MUST_CHECK int hf_bell_new(struct hf_bell **ret_bell);
/* Readable once it was rung, until it is silenced. */
int hf_bell_fd(const struct hf_bell *bell);
void hf_bell_ring(struct hf_bell *bell);
void hf_bell_silence(struct hf_bell *bell);
void hf_bell_free(struct hf_bell **bell);

#endif /* HF_PLATFORM_SYSTEM_H */
