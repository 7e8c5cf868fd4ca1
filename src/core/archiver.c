/* SPDX-License-Identifier: MIT */
/* Decide for each content that was read whether it must be archived, and do. */
#include "core/archiver.h"

#include <assert.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "core/pack.h"
#include "platform/system.h"

#define WORKERS 2

/* What one thread of the reader is at. */
struct worker {
	struct hf_pack_writer *pack;  /* small contents; NULL when none */
	struct hf_pack_writer *large; /* the pack of a large content */
	char *data;		      /* a small content */
	size_t len;
	size_t capacity;
	uint64_t seen; /* bytes of this content so far */
};

struct hf_archiver {
	const struct hf_store *store;
	const struct hf_tree *previous;
	struct hf_buffer *notes;
	struct worker workers[WORKERS];
	/* Guards everything below. */
	struct hf_mutex *mutex;
	/* Read when the first content turns up that previous does not know. */
	struct hf_contents *contents;
	uint32_t next_pack;
	size_t count;
	uint64_t bytes;
};

int hf_archiver_new(const struct hf_store *store,
		    const struct hf_tree *previous, uint32_t last_pack,
		    struct hf_buffer *notes,
		    struct hf_archiver **ret_archiver, struct hf_error *err)
{
	cleanup_archiver struct hf_archiver *archiver = NULL;

	archiver = calloc(1, sizeof(*archiver));
	if (!archiver || hf_mutex_new(&archiver->mutex) < 0)
		return hf_fail_memory(err);
	archiver->store = store;
	archiver->previous = previous;
	archiver->next_pack = last_pack + 1;
	archiver->notes = notes;
	*ret_archiver = take_ptr(&archiver);
	return 0;
}

void hf_archiver_free(struct hf_archiver **archiver)
{
	struct hf_archiver *const a = *archiver;

	if (!a)
		return;
	for (size_t i = 0; i < WORKERS; i++) {
		hf_pack_writer_free(&a->workers[i].pack);
		hf_pack_writer_free(&a->workers[i].large);
		hf_free_pointee(&a->workers[i].data);
	}
	hf_contents_free(&a->contents);
	hf_mutex_free(&a->mutex);
	hf_free_pointee(archiver);
}

/* -- under the mutex ------------------------------------------------------ */

static int need_contents(struct hf_archiver *archiver, struct hf_error *err)
{
	uint32_t next;
	int rc;

	if (archiver->contents)
		return 0;
	/* Before anything is added: what a crash left must not pile up. */
	rc = hf_store_sweep(archiver->store, err);
	if (rc < 0)
		return rc;
	rc = hf_contents_load(archiver->store, &archiver->contents,
			      archiver->notes, err);
	if (rc < 0)
		return rc;
	/* A pack that is lost has not given its number back. */
	next = hf_contents_next_pack(archiver->contents);
	if (next > archiver->next_pack)
		archiver->next_pack = next;
	return 0;
}

static int allot_number(struct hf_archiver *archiver, uint32_t *ret_number,
			struct hf_error *err)
{
	const int rc = need_contents(archiver, err);

	if (rc < 0)
		return rc;
	if (archiver->next_pack == UINT32_MAX)
		return hf_fail(err, HF_ERR_LIMIT,
			       "the store '%s' has too many packs",
			       HF_QUOTE(archiver->store->path));
	*ret_number = archiver->next_pack++;
	return 0;
}

/*
 * Say where the content of entry lies.  1: it is known; 0: it is to be written
 * to location, and from now on known to the other worker, too.
 */
static int claim(struct hf_archiver *archiver, struct hf_entry *entry,
		 struct hf_location location, struct hf_error *err)
{
	const struct hf_location *const known = hf_contents_find(
		archiver->contents, &entry->hash, entry->stat.size);
	int rc;

	if (known) {
		entry->location = *known;
		return 1;
	}
	rc = hf_contents_add(archiver->contents, &entry->hash, entry->stat.size,
			     location, err);
	if (rc < 0)
		return rc;
	entry->location = location;
	archiver->count++;
	archiver->bytes += entry->stat.size;
	return 0;
}

/* -- packs ---------------------------------------------------------------- */

static int open_pack(struct hf_archiver *archiver,
		     struct hf_pack_writer **ret_pack, struct hf_error *err)
{
	uint32_t number;
	int rc;

	hf_mutex_lock(archiver->mutex);
	rc = allot_number(archiver, &number, err);
	hf_mutex_unlock(archiver->mutex);
	if (rc < 0)
		return rc;
	return hf_pack_writer_new(archiver->store, number, ret_pack, err);
}

static int close_pack(struct hf_pack_writer **pack, struct hf_error *err)
{
	int rc = 0;

	if (*pack)
		rc = hf_pack_commit(*pack, err);
	hf_pack_writer_free(pack);
	return rc;
}

/* -- the sink ------------------------------------------------------------- */

static bool is_large(const struct hf_entry *entry)
{
	return entry->stat.size > HF_PACK_MEMBER_MAX;
}

static int begin(void *context, unsigned index, const struct hf_entry *entry,
		 struct hf_error *err)
{
	struct hf_archiver *const archiver = context;
	struct worker *const worker = &archiver->workers[index];
	struct hf_location location;
	int rc;

	worker->len = 0;
	worker->seen = 0;
	if (is_large(entry)) {
		rc = open_pack(archiver, &worker->large, err);
		if (rc < 0)
			return rc;
		return hf_pack_begin_member(worker->large, entry, &location,
					    err);
	}
	if (entry->stat.size > worker->capacity) {
		/* To the next 64 KiB: not a new one for each file. */
		const size_t wanted = ((size_t)entry->stat.size | 0xffff) + 1;
		char *const memory = realloc(worker->data, wanted);

		if (!memory)
			return hf_fail_memory(err);
		worker->data = memory;
		worker->capacity = wanted;
	}
	return 0;
}

static int data(void *context, unsigned index, const void *bytes, size_t len,
		struct hf_error *err)
{
	struct hf_archiver *const archiver = context;
	struct worker *const worker = &archiver->workers[index];

	worker->seen += len;
	if (worker->large)
		return hf_pack_write(worker->large, bytes, len, err);
	/* One that grows is read again or fails: see end(). */
	if (len > worker->capacity - worker->len)
		return 0;
	memcpy(worker->data + worker->len, bytes, len);
	worker->len += len;
	return 0;
}

static void again(void *context, unsigned index, const struct hf_entry *entry)
{
	struct hf_archiver *const archiver = context;

	(void)entry;
	hf_pack_writer_free(&archiver->workers[index].large);
}

static int end_large(struct hf_archiver *archiver, struct worker *worker,
		     struct hf_entry *entry, struct hf_error *err)
{
	/* The only member of its pack. */
	const struct hf_location location = {
		.pack = hf_pack_writer_number(worker->large),
		.offset = 0,
	};
	int rc;

	hf_mutex_lock(archiver->mutex);
	rc = claim(archiver, entry, location, err);
	hf_mutex_unlock(archiver->mutex);
	if (rc == 0)
		rc = hf_pack_end_member(worker->large, &entry->hash, err);
	if (rc == 0)
		return close_pack(&worker->large, err);
	hf_pack_writer_free(&worker->large);
	return rc < 0 ? rc : 0;
}

static int write_small(struct worker *worker, const struct hf_entry *entry,
		       struct hf_error *err)
{
	struct hf_location location;
	int rc;

	rc = hf_pack_begin_member(worker->pack, entry, &location, err);
	if (rc < 0)
		return rc;
	assert(location.offset == entry->location.offset);
	rc = hf_pack_write(worker->pack, worker->data, worker->len, err);
	if (rc < 0)
		return rc;
	rc = hf_pack_end_member(worker->pack, &entry->hash, err);
	if (rc < 0)
		return rc;
	if (hf_pack_writer_size(worker->pack) < HF_PACK_SIZE)
		return 0;
	return close_pack(&worker->pack, err);
}

static int end_small(struct hf_archiver *archiver, struct worker *worker,
		     struct hf_entry *entry, struct hf_error *err)
{
	int rc;

	if (worker->pack && !hf_pack_writer_takes(worker->pack, entry)) {
		rc = close_pack(&worker->pack, err);
		if (rc < 0)
			return rc;
	}
	if (!worker->pack) {
		rc = open_pack(archiver, &worker->pack, err);
		if (rc < 0)
			return rc;
	}
	hf_mutex_lock(archiver->mutex);
	rc = claim(archiver, entry, hf_pack_next_location(worker->pack), err);
	hf_mutex_unlock(archiver->mutex);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	return write_small(worker, entry, err);
}

/* Does previous say where this very content lies? */
static bool is_known_by_path(const struct hf_archiver *archiver,
			     struct hf_entry *entry)
{
	const struct hf_entry *const before =
		archiver->previous
			? hf_tree_find(archiver->previous, entry->path)
			: NULL;

	if (!before || !before->has_hash || before->location.pack == 0 ||
	    before->stat.size != entry->stat.size ||
	    !hf_hash_equal(&before->hash, &entry->hash))
		return false;
	entry->location = before->location;
	return true;
}

static int end(void *context, unsigned index, struct hf_entry *entry,
	       struct hf_error *err)
{
	struct hf_archiver *const archiver = context;
	struct worker *const worker = &archiver->workers[index];

	if (worker->seen != entry->stat.size)
		return hf_fail(err, HF_ERR_CHANGED,
			       "cannot archive '%s': it changed while it was "
			       "read",
			       HF_QUOTE(entry->path));
	if (is_known_by_path(archiver, entry)) {
		hf_pack_writer_free(&worker->large);
		return 0;
	}
	return worker->large ? end_large(archiver, worker, entry, err)
			     : end_small(archiver, worker, entry, err);
}

struct hf_scan_sink hf_archiver_sink(struct hf_archiver *archiver)
{
	return (struct hf_scan_sink){
		.context = archiver,
		.begin = begin,
		.data = data,
		.end = end,
		.again = again,
	};
}

void hf_archiver_know(struct hf_archiver *archiver,
		      struct hf_contents *contents)
{
	hf_contents_free(&archiver->contents);
	archiver->contents = contents;
}

int hf_archiver_find(struct hf_archiver *archiver, struct hf_entry *entry,
		     struct hf_error *err)
{
	const struct hf_location *known;
	const int rc = need_contents(archiver, err);

	if (rc < 0)
		return rc;
	known = hf_contents_find(archiver->contents, &entry->hash,
				 entry->stat.size);
	if (known)
		entry->location = *known;
	return known ? 1 : 0;
}

int hf_archiver_commit(struct hf_archiver *archiver, size_t *ret_count,
		       uint64_t *ret_bytes, struct hf_error *err)
{
	for (size_t i = 0; i < WORKERS; i++) {
		const int rc = close_pack(&archiver->workers[i].pack, err);

		if (rc < 0)
			return rc;
	}
	*ret_count = archiver->count;
	*ret_bytes = archiver->bytes;
	return 0;
}
