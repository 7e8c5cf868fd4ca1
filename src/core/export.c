/* SPDX-License-Identifier: MIT */
/*
 * Read contents from packs, each pack once a snapshot, and write them under
 * their names.
 *
 * A small content is held in memory, since several files may have it; a large
 * one has a pack of its own, which is read for each of them.
 */
#include "core/export.h"

#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/text.h"
#include "core/pack.h"
#include "core/scan.h"
#include "core/snapshot.h"

struct exporting {
	const struct hf_store *store;
	struct hf_pack_writer *writer;
	struct hf_contents *known; /* what is written already */
	struct hf_progress *progress;
	struct hf_export_result result;
	uint64_t all_bytes; /* of the snapshots begun so far */
	/* The content being read, and for whom. */
	struct hf_buffer content;
	const struct hf_pack_want *first;
	bool has_ended;
	/* The first failure. */
	struct hf_error err;
};

/* What a want is about. */
struct wanted {
	struct exporting *exporting;
	const struct hf_entry *entry;
};

static void exporting_done(struct exporting *e)
{
	hf_pack_writer_free(&e->writer);
	hf_contents_free(&e->known);
	hf_buffer_done(&e->content);
}

/* -- members ----------------------------------------------------------------
 */

static int begin_file(struct exporting *e, const struct hf_entry *entry,
		      struct hf_error *err)
{
	struct hf_location ignored;

	return hf_pack_begin_member(e->writer, entry, &ignored, err);
}

static int end_file(struct exporting *e, const struct hf_entry *entry,
		    struct hf_error *err)
{
	int rc;

	rc = hf_pack_end_member(e->writer, &entry->hash, err);
	if (rc < 0)
		return rc;
	e->result.files++;
	e->result.bytes += entry->stat.size;
	if (e->progress)
		e->progress->update(e->progress->context, e->result.bytes,
				    e->all_bytes, e->result.files, 0);
	return 0;
}

/* One that is text in memory, made at that time. */
static int write_text(struct exporting *e, const char *name, int64_t time_ns,
		      const struct hf_buffer *text, struct hf_error *err)
{
	const struct hf_entry entry = {
		.path = name,
		.stat = {.kind = HF_KIND_FILE,
			 .mode = 0600,
			 .size = text->len,
			 .mtime_ns = time_ns},
		.hash = hf_hash_of(text->data, text->len),
	};
	int rc;

	hf_pack_stream_prefix(e->writer, "");
	rc = begin_file(e, &entry, err);
	if (rc == 0)
		rc = hf_pack_write(e->writer, text->data, text->len, err);
	if (rc == 0)
		rc = hf_pack_end_member(e->writer, &entry.hash, err);
	return rc;
}

/* -- contents from a pack ---------------------------------------------------
 */

static struct exporting *exporting_of(const struct hf_pack_want *want)
{
	return ((const struct wanted *)want->context)->exporting;
}

static const struct hf_entry *entry_of(const struct hf_pack_want *want)
{
	return ((const struct wanted *)want->context)->entry;
}

/* After a failure nothing more is written: the archive is no good. */
static int has_failed(const struct exporting *e, struct hf_error *err)
{
	if (e->err.code == 0)
		return 0;
	*err = e->err;
	return err->code;
}

static void note_failure(struct exporting *e, const struct hf_error *err)
{
	if (e->err.code == 0)
		e->err = *err;
}

/* The first of those that want the same content is asked for it. */
static int begin_small(const struct hf_pack_want *want, struct hf_error *err)
{
	struct exporting *const e = exporting_of(want);

	if (!e->first || e->has_ended) {
		e->first = want;
		e->has_ended = false;
		hf_buffer_clear(&e->content);
	}
	return has_failed(e, err);
}

static int add_small(const struct hf_pack_want *want, const void *data,
		     size_t len, struct hf_error *err)
{
	struct exporting *const e = exporting_of(want);

	if (e->first == want)
		hf_buffer_add(&e->content, data, len);
	return hf_buffer_check(&e->content, err);
}

static void end_small(const struct hf_pack_want *want, int result,
		      const struct hf_error *err)
{
	struct exporting *const e = exporting_of(want);
	struct hf_error failure;
	int rc = result;

	e->has_ended = true;
	if (rc < 0)
		failure = *err;
	if (rc == 0)
		rc = has_failed(e, &failure);
	if (rc == 0)
		rc = begin_file(e, entry_of(want), &failure);
	if (rc == 0)
		rc = hf_pack_write(e->writer, e->content.data, e->content.len,
				   &failure);
	if (rc == 0)
		rc = end_file(e, entry_of(want), &failure);
	if (rc < 0)
		note_failure(e, &failure);
}

static int begin_large(const struct hf_pack_want *want, struct hf_error *err)
{
	return begin_file(exporting_of(want), entry_of(want), err);
}

static int add_large(const struct hf_pack_want *want, const void *data,
		     size_t len, struct hf_error *err)
{
	return hf_pack_write(exporting_of(want)->writer, data, len, err);
}

static void end_large(const struct hf_pack_want *want, int result,
		      const struct hf_error *err)
{
	struct exporting *const e = exporting_of(want);
	struct hf_error failure;

	if (result < 0)
		note_failure(e, err);
	else if (end_file(e, entry_of(want), &failure) < 0)
		note_failure(e, &failure);
}

static const struct hf_pack_sink small_sink = {begin_small, add_small,
					       end_small};
static const struct hf_pack_sink large_sink = {begin_large, add_large,
					       end_large};

static bool is_large(const struct hf_pack_want *want)
{
	return want->size > HF_PACK_MEMBER_MAX;
}

/* How many of the wants are read in one go. */
static size_t batch_len(const struct hf_pack_want *wants, size_t count)
{
	size_t len = 1;

	if (is_large(wants))
		return 1;
	while (len < count &&
	       wants[len].location.pack == wants->location.pack &&
	       !is_large(&wants[len]))
		len++;
	return len;
}

static int read_wants(struct exporting *e, const struct hf_pack_want *wants,
		      size_t count, struct hf_error *err)
{
	for (size_t i = 0; i < count;) {
		const size_t len = batch_len(&wants[i], count - i);
		int rc;

		e->first = NULL;
		rc = hf_pack_read(
			e->store, &wants[i], len,
			is_large(&wants[i]) ? &large_sink : &small_sink, err);
		if (rc == 0)
			rc = has_failed(e, err);
		if (rc < 0)
			return rc;
		i += len;
	}
	return 0;
}

/* -- a snapshot -------------------------------------------------------------
 */

static int compare_wants(const void *left, const void *right)
{
	const struct hf_pack_want *const a = left;
	const struct hf_pack_want *const b = right;

	if (a->location.pack != b->location.pack)
		return a->location.pack < b->location.pack ? -1 : 1;
	if (a->location.offset != b->location.offset)
		return a->location.offset < b->location.offset ? -1 : 1;
	/* So that the same contents follow each other, whatever is recorded. */
	return memcmp(&a->hash, &b->hash, sizeof(a->hash));
}

/* 1 when it is to be written: of the newest all is, of others what is new. */
static int is_wanted(struct exporting *e, const struct hf_entry *entry,
		     bool is_newest, struct hf_error *err)
{
	bool is_known;
	int rc;

	if (entry->stat.kind != HF_KIND_FILE || !entry->has_hash)
		return 0;
	if (entry->location.pack == 0)
		return hf_fail(err, HF_ERR_CORRUPT,
			       "the content of '%s' is not in the store",
			       HF_QUOTE(entry->path));
	is_known = hf_contents_find(e->known, &entry->hash, entry->stat.size) !=
		   NULL;
	if (is_known)
		return is_newest;
	rc = hf_contents_add(e->known, &entry->hash, entry->stat.size,
			     entry->location, err);
	return rc < 0 ? rc : 1;
}

static int write_files(struct exporting *e, const struct hf_manifest *manifest,
		       bool is_newest, struct hf_error *err)
{
	const struct hf_tree *const tree = &manifest->tree;
	cleanup_free struct hf_pack_want *wants =
		calloc(tree->count + 1, sizeof(*wants));
	cleanup_free struct wanted *wanted =
		calloc(tree->count + 1, sizeof(*wanted));
	size_t count = 0;

	if (!wants || !wanted)
		return hf_fail_memory(err);
	for (size_t i = 0; i < tree->count; i++) {
		const struct hf_entry *const entry = &tree->entries[i];
		const int rc = is_wanted(e, entry, is_newest, err);

		if (rc < 0)
			return rc;
		if (rc == 0)
			continue;
		wanted[count] = (struct wanted){e, entry};
		wants[count] = (struct hf_pack_want){
			.location = entry->location,
			.size = entry->stat.size,
			.hash = entry->hash,
			.context = &wanted[count],
		};
		count++;
		e->all_bytes += entry->stat.size;
	}
	qsort(wants, count, sizeof(*wants), compare_wants);
	return read_wants(e, wants, count, err);
}

static int write_snapshot(struct exporting *e, const struct hf_name *name,
			  bool is_newest, struct hf_error *err)
{
	cleanup_manifest struct hf_manifest manifest = HF_MANIFEST_INIT;
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	char member[sizeof(name->text) + sizeof(HF_EXPORT_MANIFEST)];
	char prefix[sizeof(name->text) + 1];
	int rc;

	rc = hf_snapshot_load(e->store, name, &manifest, err);
	if (rc == 0)
		rc = hf_manifest_encode(&manifest, &text, err);
	if (rc < 0)
		return rc;
	if (text.len > HF_EXPORT_MANIFEST_MAX)
		return hf_fail(err, HF_ERR_LIMIT,
			       "cannot export snapshot '%s': it has too many "
			       "entries",
			       name->text);
	(void)snprintf(member, sizeof(member), "%s" HF_EXPORT_MANIFEST,
		       name->text);
	rc = write_text(e, member, manifest.created_ns, &text, err);
	if (rc < 0)
		return rc;
	(void)snprintf(prefix, sizeof(prefix), "%s/", name->text);
	hf_pack_stream_prefix(e->writer, prefix);
	rc = write_files(e, &manifest, is_newest, err);
	hf_pack_stream_prefix(e->writer, "");
	return rc;
}

static int write_header(struct exporting *e, const struct hf_names *names,
			struct hf_error *err)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	int rc;

	hf_buffer_printf(&text,
			 "{\"holdfast-export\":%d,\"snapshots\":%zu,"
			 "\"hash\":\"" HF_HASH_NAME "\"}\n",
			 HF_EXPORT_VERSION, names->count);
	rc = hf_buffer_check(&text, err);
	return rc < 0 ? rc : write_text(e, HF_EXPORT_HEADER, 0, &text, err);
}

int hf_export(const struct hf_store *store, const struct hf_names *names,
	      int fd, struct hf_progress *progress,
	      struct hf_export_result *ret_result, struct hf_error *err)
{
	CLEANUP(exporting_done)
	struct exporting e = {
		.store = store,
		.progress = progress,
		.content = HF_BUFFER_INIT,
	};
	int rc;

	if (names->count > HF_EXPORT_SNAPSHOTS_MAX)
		return hf_fail(err, HF_ERR_LIMIT,
			       "cannot export so many snapshots");
	rc = hf_pack_stream_new(fd, &e.writer, err);
	if (rc == 0)
		rc = hf_contents_new(&e.known, err);
	if (rc == 0)
		rc = write_header(&e, names, err);
	for (size_t i = names->count; rc == 0 && i > 0; i--)
		rc = write_snapshot(&e, &names->items[i - 1], i == names->count,
				    err);
	if (rc == 0)
		rc = hf_pack_stream_end(e.writer, &e.result.archive_bytes, err);
	if (rc == 0)
		*ret_result = e.result;
	return rc;
}
