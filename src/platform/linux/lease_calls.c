/* SPDX-License-Identifier: MIT */
/*
 * The calls that the gate has let through, by thread: a thread is in one call.
 *
 * That a call is over is known when the thread makes its next one; until then
 * its place is taken.  Threads that have ended are looked for when places get
 * scarce.
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "platform/linux/lease_internal.h"

#define FIRST_SIZE 256

static size_t place_of(const struct hf_lease_calls *calls, int64_t tid)
{
	size_t at = (size_t)tid & (calls->size - 1);

	while (calls->items[at].tid != 0 && calls->items[at].tid != tid)
		at = (at + 1) & (calls->size - 1);
	return at;
}

static bool has_ended(int proc_fd, int64_t tid)
{
	char name[32];

	(void)snprintf(name, sizeof(name), "%" PRId64, tid);
	return faccessat(proc_fd, name, F_OK, 0) < 0 && errno == ENOENT;
}

/* Without those that are over; twice the places when that is not enough. */
static int make_room(struct hf_lease_calls *calls, int proc_fd)
{
	struct hf_lease_calls fresh = {.size = FIRST_SIZE};
	size_t live = 0;

	for (size_t i = 0; i < calls->size; i++) {
		struct hf_lease_call *const call = &calls->items[i];

		if (call->tid == 0 || call->is_over)
			continue;
		call->is_over = has_ended(proc_fd, call->tid);
		live += !call->is_over;
	}
	while (fresh.size <= 2 * live)
		fresh.size *= 2;
	fresh.items = calloc(fresh.size, sizeof(*fresh.items));
	if (!fresh.items)
		return -ENOMEM;
	for (size_t i = 0; i < calls->size; i++) {
		const struct hf_lease_call *const call = &calls->items[i];

		if (call->tid == 0 || call->is_over)
			continue;
		fresh.items[place_of(&fresh, call->tid)] = *call;
		fresh.used++;
	}
	free(calls->items);
	*calls = fresh;
	return 0;
}

int hf_lease_calls_note(struct hf_lease_calls *calls, int proc_fd, int64_t tid,
			const struct hf_lease *lease)
{
	struct hf_lease_call *call;

	/* A quarter stays free, so that a search ends soon. */
	if (calls->used >= calls->size / 4 * 3) {
		const int rc = make_room(calls, proc_fd);

		if (rc < 0)
			return rc;
	}
	call = &calls->items[place_of(calls, tid)];
	calls->used += call->tid == 0;
	*call = (struct hf_lease_call){
		.tid = tid,
		.file = lease->file,
		.tag = lease->tag,
	};
	return 0;
}

void hf_lease_calls_end(struct hf_lease_calls *calls, int64_t tid)
{
	struct hf_lease_call *call;

	if (calls->used == 0)
		return;
	call = &calls->items[place_of(calls, tid)];
	if (call->tid == tid)
		call->is_over = true;
}

/* By name as well: when the call comes to its file, another may have the name.
 */
static bool is_of(const struct hf_lease_call *call,
		  const struct hf_lease *lease)
{
	return hf_lease_is_same_file(&call->file, &lease->file) ||
	       call->tag == lease->tag;
}

bool hf_lease_calls_has(const struct hf_lease_calls *calls, int64_t tid,
			const struct hf_lease *lease)
{
	const struct hf_lease_call *call;

	if (calls->used == 0)
		return false;
	call = &calls->items[place_of(calls, tid)];
	return call->tid == tid && !call->is_over &&
	       (!lease || is_of(call, lease));
}

size_t hf_lease_calls_of(const struct hf_lease_calls *calls,
			 const struct hf_lease *lease, int64_t *ret_tids,
			 size_t max)
{
	size_t count = 0;

	for (size_t i = 0; i < calls->size && count < max; i++) {
		const struct hf_lease_call *const call = &calls->items[i];

		if (call->tid != 0 && !call->is_over && is_of(call, lease))
			ret_tids[count++] = call->tid;
	}
	return count;
}
