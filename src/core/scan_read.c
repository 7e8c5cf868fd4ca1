/* SPDX-License-Identifier: MIT */
/*
 * Read and hash files.
 *
 * Foreign files are read while anybody may write them.  What proves that the
 * bytes belong together is that fstat() says the same before and after, and the
 * same as the lstat() that is recorded with them.
 */
#include "core/scan.h"

#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/content.h"
#include "core/scan_entry.h"
#include "core/scan_work.h"
#include "platform/system.h"

#define BLOCK_SIZE	((size_t)256 * 1024)
#define ZEROS_SIZE	((size_t)64 * 1024)
#define TRIES	3
/* More than one file's worth of bytes makes a second thread pay, too. */
#define MANY_BYTES	((uint64_t)8 << 20)
/* How much is read between two reports of progress. */
#define REPORT_BYTES	((uint64_t)16 << 20)
#define REPORT_ENTRIES	64u
/*
 * A store through a shared mapping moves the ctime only when the page was clean.
 * By default a dirty one is written back, and clean, after 30 s; a slow disk with
 * much to write takes minutes.
 */
#define WRITE_BACK_NS	(INT64_C(600) * 1000000000)

/* What a worker needs again and again: a fresh page costs more than a read. */
struct reader {
	struct hf_hasher *hasher;
	char *block;		/* BLOCK_SIZE bytes */
	uint64_t unreported_bytes;
	size_t unreported_entries;
};

struct reading {
	const struct hf_scan_sink *sink;	/* may be NULL */
	bool is_tolerant;
	struct reader readers[HF_SCAN_WORKERS];
	struct hf_progress *progress;		/* may be NULL */
	struct hf_mutex *mutex;			/* guards what follows */
	uint64_t done_bytes;
	uint64_t all_bytes;
	size_t done_entries;
	size_t all_entries;
};

/* How one try to read ended; negative values are errors. */
enum outcome { READ_DONE = 0, READ_AGAIN = 1, READ_IMPOSSIBLE = 2 };

static const char zeros[ZEROS_SIZE];

static void reading_done(struct reading *reading)
{
	for (unsigned i = 0; i < HF_SCAN_WORKERS; i++) {
		hf_hasher_free(&reading->readers[i].hasher);
		hf_free_pointee(&reading->readers[i].block);
	}
	hf_mutex_free(&reading->mutex);
}

#define cleanup_reading	CLEANUP(reading_done)

/* -- progress ------------------------------------------------------------ */

static void report(struct reading *reading, struct reader *reader)
{
	struct hf_progress *const progress = reading->progress;

	if (progress) {
		hf_mutex_lock(reading->mutex);
		reading->done_bytes += reader->unreported_bytes;
		reading->done_entries += reader->unreported_entries;
		progress->update(progress->context, reading->done_bytes,
				 reading->all_bytes, reading->done_entries,
				 reading->all_entries);
		hf_mutex_unlock(reading->mutex);
	}
	reader->unreported_bytes = 0;
	reader->unreported_entries = 0;
}

static void count(struct reading *reading, struct reader *reader,
		  uint64_t bytes, size_t entries)
{
	reader->unreported_bytes += bytes;
	reader->unreported_entries += entries;
	if (reader->unreported_bytes >= REPORT_BYTES ||
	    reader->unreported_entries >= REPORT_ENTRIES)
		report(reading, reader);
}

/* -- content ------------------------------------------------------------- */

/* One file being read. */
struct content {
	struct reading *reading;
	struct hf_scan_worker *worker;
	struct reader *reader;
	struct hf_entry *entry;
	int fd;
	bool is_begun;		/* the sink knows of it */
};

static int take_in(struct content *content, const void *data, size_t len,
		   struct hf_error *err)
{
	const struct hf_scan_sink *const sink = content->reading->sink;

	count(content->reading, content->reader, len, 0);
	if (!sink || len == 0)
		return 0;
	return sink->data(sink->context, content->worker->number, data, len,
			  err);
}

static int fail_read(const struct content *content, int rc,
		     struct hf_error *err)
{
	if (content->reading->is_tolerant && hf_scan_is_tolerable(rc))
		return READ_IMPOSSIBLE;
	(void)hf_fail_system(err, rc, "cannot read '%s'",
			     HF_QUOTE(content->entry->path));
	if (rc == -EACCES)
		(void)hf_fail_hint(err, "make it readable, or take it out of "
					"the protected set with --exclude");
	return err->code;
}

/* The next bytes, no more than are still expected; READ_AGAIN: cut short. */
static int read_block(struct content *content, uint64_t left, size_t *ret_len,
		      struct hf_error *err)
{
	const size_t want = left < BLOCK_SIZE ? (size_t)left : BLOCK_SIZE;
	const int64_t got =
		hf_file_read(content->fd, content->reader->block, want);

	if (got < 0)
		return fail_read(content, (int)got, err);
	if ((size_t)got < want)
		return READ_AGAIN;
	*ret_len = want;
	return take_in(content, content->reader->block, want, err);
}

/* A small file: one read, and the hash in one go. */
static int read_small(struct content *content, struct hf_error *err)
{
	const uint64_t size = content->entry->stat.size;
	size_t len = 0;
	int rc;

	if (size == 0) {
		/* Some virtual files say 0 and yet have content. */
		const int64_t got =
			hf_file_read(content->fd, content->reader->block, 1);

		if (got < 0)
			return fail_read(content, (int)got, err);
		if (got > 0)
			return READ_AGAIN;
	} else {
		rc = read_block(content, size, &len, err);
		if (rc != READ_DONE)
			return rc;
	}
	content->entry->hash = hf_hash_of(content->reader->block, len);
	return READ_DONE;
}

/* A hole is so many zeros, and no time is lost with reading them. */
static int add_hole(struct content *content, uint64_t len, struct hf_error *err)
{
	while (len > 0) {
		const size_t part = len < ZEROS_SIZE ? (size_t)len : ZEROS_SIZE;
		int rc;

		if (hf_scan_worker_must_stop(content->worker))
			return HF_ERR_SYSTEM;
		hf_hasher_update(content->reader->hasher, zeros, part);
		rc = take_in(content, zeros, part, err);
		if (rc < 0)
			return rc;
		len -= part;
	}
	return 0;
}

/* Go on at the next data; *offset tells how far that is. */
static int skip_hole(struct content *content, uint64_t *offset,
		     struct hf_error *err)
{
	const uint64_t size = content->entry->stat.size;
	const int64_t data = hf_file_next_data(content->fd, *offset, size);
	int rc;

	if (data < 0)
		return fail_read(content, (int)data, err);
	if ((uint64_t)data <= *offset)
		return READ_DONE;
	rc = add_hole(content, (uint64_t)data - *offset, err);
	if (rc < 0)
		return rc;
	*offset = (uint64_t)data;
	rc = hf_file_seek(content->fd, *offset);
	return rc < 0 ? fail_read(content, rc, err) : READ_DONE;
}

static int read_large(struct content *content, struct hf_error *err)
{
	struct hf_hasher *const hasher = content->reader->hasher;
	const struct hf_stat *const stat = &content->entry->stat;
	const bool has_holes = stat->blocks < stat->size / 512;
	uint64_t offset = 0;
	int rc = READ_DONE;

	hf_file_advise_sequential(content->fd);
	hf_hasher_reset(hasher);
	while (offset < stat->size) {
		size_t len;

		if (hf_scan_worker_must_stop(content->worker))
			return HF_ERR_SYSTEM;
		if (has_holes)
			rc = skip_hole(content, &offset, err);
		if (rc != READ_DONE)
			return rc;
		if (offset == stat->size)
			break;
		rc = read_block(content, stat->size - offset, &len, err);
		if (rc != READ_DONE)
			return rc;
		hf_hasher_update(hasher, content->reader->block, len);
		offset += len;
	}
	content->entry->hash = hf_hasher_digest(hasher);
	return READ_DONE;
}

/* -- one entry ----------------------------------------------------------- */

/* Is the open file the one that was looked at, and still as it was then? */
static bool is_as_seen(const struct hf_stat *now, const struct hf_stat *seen)
{
	return now->kind == seen->kind && now->dev == seen->dev &&
	       now->ino == seen->ino && now->size == seen->size &&
	       now->mtime_ns == seen->mtime_ns &&
	       now->ctime_ns == seen->ctime_ns;
}

static int begin(struct content *content, struct hf_error *err)
{
	const struct hf_scan_sink *const sink = content->reading->sink;

	if (!sink)
		return 0;
	content->is_begun = true;
	return sink->begin(sink->context, content->worker->number,
			   content->entry, err);
}

static int end(struct content *content, struct hf_error *err)
{
	const struct hf_scan_sink *const sink = content->reading->sink;
	int rc;

	content->entry->has_hash = true;
	if (!sink)
		return 0;
	rc = sink->end(sink->context, content->worker->number, content->entry,
		       err);
	if (rc < 0)
		content->entry->has_hash = false;
	return rc;
}

/*
 * Who has the file open may have it mapped, and a store into a page that is dirty
 * already leaves the stat data as they are.  This is asked before the reading: a
 * writer that comes later makes its first page dirty, which moves the ctime.
 * Without leases on this file system or for this user nobody is known to write.
 */
static bool has_hidden_writer(const struct content *content)
{
	const int64_t ctime_ns = content->entry->stat.ctime_ns;

	return content->reading->sink &&
	       ctime_ns > hf_system_file_time_ns() - WRITE_BACK_NS &&
	       hf_file_has_writer(content->fd) == 1;
}

/* Read the open file once. */
static int read_open(struct content *content, struct hf_error *err)
{
	const struct hf_stat *const seen = &content->entry->stat;
	struct hf_stat now;
	int rc;

	rc = hf_file_stat(content->fd, &now);
	if (rc < 0)
		return fail_read(content, rc, err);
	if (!is_as_seen(&now, seen))
		return READ_AGAIN;
	if (seen->size > HF_CONTENT_MAX)
		return fail_read(content, -EFBIG, err);
	if (has_hidden_writer(content))
		content->entry->is_racy = true;
	rc = begin(content, err);
	if (rc < 0)
		return rc;
	rc = seen->size <= BLOCK_SIZE ? read_small(content, err) :
					read_large(content, err);
	if (rc != READ_DONE)
		return rc;
	rc = hf_file_stat(content->fd, &now);
	if (rc < 0)
		return fail_read(content, rc, err);
	return is_as_seen(&now, seen) ? end(content, err) : READ_AGAIN;
}

static int read_once(struct content *content, int dir_fd, const char *name,
		     struct hf_error *err)
{
	cleanup_fd int fd = hf_file_open_read_at(dir_fd, name);
	int rc;

	/* Gone, or a link by now: look again. */
	if (hf_scan_is_absence(fd) || fd == -ENXIO)
		return READ_AGAIN;
	if (fd < 0)
		return fail_read(content, fd, err);
	content->fd = fd;
	content->is_begun = false;
	rc = read_open(content, err);
	if (rc != READ_DONE && content->is_begun)
		content->reading->sink->again(content->reading->sink->context,
					      content->worker->number,
					      content->entry);
	return rc;
}

/*
 * The entry is not as the scan saw it: look again.  READ_AGAIN when it is still
 * a file.
 */
static int look_again(struct content *content, int dir_fd, const char *name,
		      struct hf_error *err)
{
	struct hf_entry *const entry = content->entry;
	int rc;

	rc = hf_scan_fill(dir_fd, name, &content->worker->arena,
			  hf_system_file_time_ns(), entry, err);
	if (rc < 0)
		return content->reading->is_tolerant ? READ_IMPOSSIBLE : rc;
	if (entry->stat.kind == HF_KIND_FILE)
		return READ_AGAIN;
	if (entry->stat.kind != HF_KIND_ABSENT ||
	    content->reading->is_tolerant)
		return READ_DONE;
	return hf_fail(err, HF_ERR_CHANGED,
		       "cannot record '%s': it has just vanished",
		       HF_QUOTE(entry->path));
}

static int read_entry(struct content *content, struct hf_error *err)
{
	struct hf_entry *const entry = content->entry;
	const char *name;
	int dir_fd;
	int rc = READ_AGAIN;

	dir_fd = hf_scan_worker_parent(content->worker, entry->path, &name);
	if (dir_fd < 0)
		return fail_read(content, dir_fd, err);
	for (int i = 0; i < TRIES && rc == READ_AGAIN; i++) {
		rc = read_once(content, dir_fd, name, err);
		if (rc == READ_AGAIN)
			rc = look_again(content, dir_fd, name, err);
	}
	if (rc == READ_AGAIN && !content->reading->is_tolerant)
		return hf_fail(err, HF_ERR_CHANGED,
			       "cannot record '%s': it keeps changing",
			       HF_QUOTE(entry->path));
	return rc < 0 ? rc : 0;
}

static bool is_to_be_read(const struct hf_entry *entry)
{
	return entry->stat.kind == HF_KIND_FILE && !entry->has_hash &&
	       entry->role != HF_ROLE_ANCESTOR &&
	       entry->role != HF_ROLE_SIDE_CACHE;
}

static int step(void *context, struct hf_scan_worker *worker,
		struct hf_entry *entry, struct hf_error *err)
{
	struct reading *const reading = context;
	struct content content = {
		.reading = reading,
		.worker = worker,
		.reader = &reading->readers[worker->number],
		.entry = entry,
		.fd = -1,
	};
	int rc;

	if (!is_to_be_read(entry))
		return 0;
	rc = read_entry(&content, err);
	if (rc < 0)
		return rc;
	count(reading, content.reader, 0, 1);
	return 0;
}

/* -- all of them --------------------------------------------------------- */

static int prepare(struct reading *reading, const struct hf_tree *tree,
		   struct hf_error *err)
{
	for (size_t i = 0; i < tree->count; i++) {
		if (!is_to_be_read(&tree->entries[i]))
			continue;
		reading->all_entries++;
		reading->all_bytes += tree->entries[i].stat.size;
	}
	for (unsigned i = 0; i < HF_SCAN_WORKERS; i++) {
		reading->readers[i].hasher = hf_hasher_new();
		reading->readers[i].block = malloc(BLOCK_SIZE);
		if (!reading->readers[i].hasher || !reading->readers[i].block)
			return hf_fail_memory(err);
	}
	if (hf_mutex_new(&reading->mutex) < 0)
		return hf_fail_memory(err);
	return 0;
}

int hf_scan_read(const struct hf_scan_options *options, struct hf_tree *tree,
		 const struct hf_scan_sink *sink, bool is_tolerant,
		 struct hf_progress *progress, struct hf_error *err)
{
	cleanup_reading struct reading reading = {
		.sink = sink,
		.is_tolerant = is_tolerant,
		.progress = progress,
	};
	struct hf_scan_work work = {
		.root_fd = options->root_fd,
		.tree = tree,
		.step = step,
		.context = &reading,
	};
	int rc;

	rc = prepare(&reading, tree, err);
	if (rc < 0 || reading.all_entries == 0)
		return rc;
	work.is_parallel = reading.all_entries > HF_SCAN_MANY ||
			   reading.all_bytes > MANY_BYTES;
	rc = hf_scan_work(&work, err);
	if (rc < 0)
		return rc;
	for (unsigned i = 0; i < HF_SCAN_WORKERS; i++)
		report(&reading, &reading.readers[i]);
	return 0;
}
