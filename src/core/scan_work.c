/* SPDX-License-Identifier: MIT */
/* Hand out runs of entries to one or two workers. */
#include "core/scan_work.h"

#include <stdatomic.h>
#include <string.h>

#include "base/fail.h"
#include "core/scan.h"
#include "platform/system.h"

/* A run ends at either bound: neighbours stay together, large files do not. */
#define RUN_ENTRIES	64u
#define RUN_BYTES	((uint64_t)4 << 20)

struct hf_scan_run {
	const struct hf_scan_work *work;
	struct hf_mutex *mutex;	/* NULL with one worker; guards what follows */
	size_t next;
	int rc;
	struct hf_error err;
	atomic_bool is_stopped;	/* readable without the mutex */
};

static void lock(struct hf_scan_run *run)
{
	if (run->mutex)
		hf_mutex_lock(run->mutex);
}

static void unlock(struct hf_scan_run *run)
{
	if (run->mutex)
		hf_mutex_unlock(run->mutex);
}

/* The next run of entries [*begin, *end); false when there is none left. */
static bool take(struct hf_scan_run *run, size_t *begin, size_t *end)
{
	const struct hf_tree *const tree = run->work->tree;
	uint64_t bytes = 0;

	lock(run);
	*begin = run->next;
	*end = run->next;
	if (atomic_load(&run->is_stopped)) {
		unlock(run);
		return false;
	}
	while (*end < tree->count && *end - *begin < RUN_ENTRIES &&
	       bytes < RUN_BYTES) {
		const uint64_t size = tree->entries[*end].stat.size;

		bytes += size < RUN_BYTES ? size : RUN_BYTES;
		(*end)++;
	}
	run->next = *end;
	unlock(run);
	return *begin < *end;
}

static void stop(struct hf_scan_run *run, int rc, const struct hf_error *err)
{
	lock(run);
	if (run->rc == 0) {
		run->rc = rc;
		run->err = *err;
	}
	atomic_store(&run->is_stopped, true);
	unlock(run);
}

static void work_on(void *argument)
{
	struct hf_scan_worker *const worker = argument;
	struct hf_scan_run *const run = worker->run;
	const struct hf_scan_work *const work = run->work;
	struct hf_error err = { .code = HF_OK };
	size_t begin;
	size_t end;

	while (take(run, &begin, &end)) {
		for (; begin < end; begin++) {
			const int rc = work->step(work->context, worker,
						  &work->tree->entries[begin],
						  &err);

			if (rc < 0) {
				stop(run, rc, &err);
				return;
			}
		}
	}
}

static void start(struct hf_scan_worker *worker, struct hf_scan_run *run,
		  unsigned number)
{
	worker->number = number;
	worker->arena = (struct hf_arena)HF_ARENA_INIT;
	worker->run = run;
	worker->dir_fd = -1;
	worker->dir[0] = '\0';
}

static void finish(struct hf_scan_worker *worker)
{
	hf_file_close_quietly(&worker->dir_fd);
	hf_arena_adopt(&worker->run->work->tree->arena, &worker->arena);
}

int hf_scan_work(const struct hf_scan_work *work, struct hf_error *err)
{
	struct hf_scan_run run = { .work = work };
	struct hf_scan_worker workers[HF_SCAN_WORKERS];
	struct hf_thread *thread = NULL;

	start(&workers[0], &run, 0);
	start(&workers[1], &run, 1);
	if (work->is_parallel && hf_system_cpus() > 1) {
		if (hf_mutex_new(&run.mutex) < 0)
			return hf_fail_memory(err);
		/* No thread to be had: one worker does it all. */
		if (hf_thread_start(work_on, &workers[1], &thread) < 0)
			thread = NULL;
	}
	work_on(&workers[0]);
	hf_thread_join(&thread);
	hf_mutex_free(&run.mutex);
	finish(&workers[0]);
	finish(&workers[1]);
	if (run.rc < 0)
		*err = run.err;
	return run.rc;
}

int hf_scan_worker_parent(struct hf_scan_worker *worker, const char *path,
			  const char **ret_name)
{
	const int root_fd = worker->run->work->root_fd;
	const size_t len = hf_path_parent_len(path);
	int fd;

	if (len == 0) {
		*ret_name = path;
		return root_fd;
	}
	if (worker->dir_fd >= 0 && strlen(worker->dir) == len &&
	    memcmp(worker->dir, path, len) == 0) {
		*ret_name = hf_path_name(path);
		return worker->dir_fd;
	}
	hf_file_close_quietly(&worker->dir_fd);
	fd = hf_scan_open_parent(root_fd, path, ret_name);
	if (fd < 0)
		return fd;
	/* It was opened: shorter than HF_PATH_MAX. */
	memcpy(worker->dir, path, len);
	worker->dir[len] = '\0';
	worker->dir_fd = fd;
	return fd;
}

bool hf_scan_worker_must_stop(const struct hf_scan_worker *worker)
{
	return atomic_load(&worker->run->is_stopped);
}
