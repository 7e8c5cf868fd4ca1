/* SPDX-License-Identifier: MIT */
/*
 * Write a pack: libarchive makes the tar and compresses it, we write the bytes.
 *
 * The index is gathered meanwhile and written at the commit.  Its first line
 * holds the size of the pack file: a pack that was cut short is then not taken
 * for one that holds what its index says.
 */
#include "core/pack.h"

#include <archive.h>
#include <archive_entry.h>
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/text.h"
#include "core/entry_text.h"
#include "core/pack_member.h"
#include "core/pack_name.h"
#include "core/replace.h"
#include "core/sealed.h"

/* After so much, writing back begins, so that the final sync is short. */
#define SYNC_STEP ((uint64_t)8 << 20)
/* An unfinished member is filled with so many zeroes at most. */
#define FILL_MAX  ((uint64_t)1 << 20)
/* The fastest level: a run waits for it, and packs are pruned anyway. */
#define LEVEL	  "1"

/* What a plain tar header holds, in octal digits. */
#define PLAIN_NAME_MAX	 100
#define PLAIN_NUMBER_MAX INT64_C(077777777777)
#define PLAIN_ID_MAX	 0777777u

#define NS_PER_S INT64_C(1000000000)

struct hf_pack_writer {
	const struct hf_store *store;
	uint32_t number;
	char name[HF_PACK_NAME];
	struct hf_replace file;
	int out_fd;	    /* of file, or what a stream goes to; borrowed */
	const char *prefix; /* of all names; of a stream; borrowed */
	struct archive *archive;
	struct archive_entry *entry;
	bool is_open;	  /* the archive, since there is a member */
	bool is_stream;	  /* members for a person alone: no index */
	bool is_plain;	  /* without pax headers */
	int write_rc;	  /* -errno of a failed write */
	uint64_t written; /* bytes of the file */
	uint64_t unsynced;
	uint64_t content; /* bytes of all members */
	/* The member being written. */
	char *path;
	uint64_t offset;
	uint64_t size;
	uint64_t left;
	/* Lines of the index, and how many. */
	struct hf_buffer members;
	size_t count;
};

/* What libarchive says. */
static int fail_archive(struct hf_pack_writer *writer, struct hf_error *err)
{
	const char *const text = archive_error_string(writer->archive);

	if (archive_errno(writer->archive) == ENOMEM)
		return hf_fail_memory(err);
	return hf_fail(err, HF_ERR_SYSTEM, "cannot write pack '%s': %s",
		       writer->name, text ? text : "unknown error");
}

/* After each call that writes.  A warning is about some attribute that was not
 * representable in its best form. */
static int check(struct hf_pack_writer *writer, la_ssize_t archive_rc,
		 struct hf_error *err)
{
	if (writer->write_rc < 0)
		return hf_fail_system(err, writer->write_rc,
				      "cannot write pack '%s'", writer->name);
	return archive_rc < ARCHIVE_WARN ? fail_archive(writer, err) : 0;
}

/*
 * Never fails in the eyes of libarchive, which would not give all its memory
 * back then: what went wrong is remembered, the rest thrown away.
 */
static la_ssize_t write_block(struct archive *archive, void *context,
			      const void *data, size_t len)
{
	struct hf_pack_writer *const writer = context;

	(void)archive;
	if (writer->write_rc < 0)
		return (la_ssize_t)len;
	writer->write_rc = hf_file_write(writer->out_fd, data, len);
	writer->written += len;
	writer->unsynced += len;
	if (writer->unsynced >= SYNC_STEP) {
		hf_file_start_sync(writer->out_fd);
		writer->unsynced = 0;
	}
	return (la_ssize_t)len;
}

static int set_format(struct hf_pack_writer *writer)
{
	/*
	 * Restricted: a pax header only where a plain one does not do.  Names
	 * that are not text in the user's locale get one marked as binary: not
	 * by the option for it, which gives one to every member.
	 */
	if (writer->is_plain)
		return archive_write_set_format_ustar(writer->archive);
	return archive_write_set_format_pax_restricted(writer->archive);
}

static int open_archive(struct hf_pack_writer *writer)
{
	struct archive *const archive = writer->archive;

	writer->is_open = true;
	if (set_format(writer) != ARCHIVE_OK ||
	    archive_write_add_filter_zstd(archive) != ARCHIVE_OK ||
	    archive_write_set_options(
		    archive, "zstd:compression-level=" LEVEL) != ARCHIVE_OK ||
	    archive_write_set_bytes_per_block(archive, 0) != ARCHIVE_OK)
		return -1;
	return archive_write_open(archive, writer, NULL, write_block, NULL) ==
			       ARCHIVE_OK
		       ? 0
		       : -1;
}

/* NULL when out of memory. */
static struct hf_pack_writer *make_writer(void)
{
	cleanup_pack_writer struct hf_pack_writer *writer =
		calloc(1, sizeof(*writer));

	if (!writer)
		return NULL;
	writer->file = (struct hf_replace)HF_REPLACE_INIT;
	writer->prefix = "";
	writer->archive = archive_write_new();
	writer->entry = archive_entry_new();
	return writer->archive && writer->entry ? take_ptr(&writer) : NULL;
}

int hf_pack_writer_new(const struct hf_store *store, uint32_t number,
		       struct hf_pack_writer **ret_writer, struct hf_error *err)
{
	cleanup_pack_writer struct hf_pack_writer *writer = make_writer();
	int rc;

	if (!writer)
		return hf_fail_memory(err);
	writer->store = store;
	writer->number = number;
	hf_pack_name_format(number, HF_PACK_SUFFIX, writer->name);
	rc = hf_replace_begin(&writer->file, store->folder_fd[HF_STORE_PACKS],
			      writer->name, 0600, err);
	if (rc < 0)
		return rc;
	writer->out_fd = writer->file.fd;
	*ret_writer = take_ptr(&writer);
	return 0;
}

int hf_pack_stream_new(int fd, struct hf_pack_writer **ret_writer,
		       struct hf_error *err)
{
	struct hf_pack_writer *const writer = make_writer();

	if (!writer)
		return hf_fail_memory(err);
	(void)snprintf(writer->name, sizeof(writer->name), "export");
	writer->is_stream = true;
	writer->out_fd = fd;
	*ret_writer = writer;
	return 0;
}

void hf_pack_stream_prefix(struct hf_pack_writer *writer, const char *prefix)
{
	writer->prefix = prefix;
}

int hf_pack_stream_end(struct hf_pack_writer *writer, uint64_t *ret_bytes,
		       struct hf_error *err)
{
	const int rc = check(writer, archive_write_close(writer->archive), err);

	if (rc == 0)
		*ret_bytes = writer->written;
	return rc;
}

/* -- members -------------------------------------------------------------- */

struct hf_location hf_pack_next_location(const struct hf_pack_writer *writer)
{
	struct hf_location location = {.pack = writer->number};

	/* Filter 0 is the first one behind the tar: what went into it. */
	if (writer->is_open)
		location.offset =
			(uint64_t)archive_filter_bytes(writer->archive, 0);
	return location;
}

/* To free(); NULL when out of memory. */
static char *prefixed_name(const struct hf_pack_writer *writer,
			   const char *path)
{
	cleanup_free char *name = hf_pack_member_name(path);
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;

	if (!name || writer->prefix[0] == '\0')
		return take_ptr(&name);
	hf_buffer_add_text(&text, writer->prefix);
	hf_buffer_add_text(&text, name);
	return hf_buffer_take(&text);
}

/* Does a tar header have room for it, as libarchive fills it? */
static bool fits_plain(const struct hf_entry *entry)
{
	return hf_pack_member_len(entry->path) <= PLAIN_NAME_MAX &&
	       entry->stat.size <= PLAIN_NUMBER_MAX &&
	       entry->stat.mtime_ns >= 0 &&
	       entry->stat.mtime_ns / NS_PER_S <= PLAIN_NUMBER_MAX &&
	       entry->stat.uid <= PLAIN_ID_MAX &&
	       entry->stat.gid <= PLAIN_ID_MAX;
}

bool hf_pack_writer_takes(const struct hf_pack_writer *writer,
			  const struct hf_entry *entry)
{
	return !writer->is_open || !writer->is_plain || fits_plain(entry);
}

static int64_t floor_seconds(int64_t ns)
{
	return ns >= 0 ? ns / NS_PER_S : -((NS_PER_S - 1 - ns) / NS_PER_S);
}

/* The header of a member; false when out of memory. */
static bool set_header(struct archive_entry *header,
		       const struct hf_entry *entry, const char *name)
{
	const struct hf_stat *const stat = &entry->stat;
	const int64_t seconds = floor_seconds(stat->mtime_ns);

	archive_entry_clear(header);
	archive_entry_set_pathname(header, name);
	archive_entry_set_filetype(header, AE_IFREG);
	archive_entry_set_perm(header, stat->mode & 07777);
	archive_entry_set_uid(header, stat->uid);
	archive_entry_set_gid(header, stat->gid);
	archive_entry_set_mtime(header, seconds,
				(long)(stat->mtime_ns - seconds * NS_PER_S));
	archive_entry_set_size(header, (int64_t)stat->size);
	return archive_entry_pathname(header) != NULL;
}

int hf_pack_begin_member(struct hf_pack_writer *writer,
			 const struct hf_entry *entry,
			 struct hf_location *ret_location, struct hf_error *err)
{
	const struct hf_location location = hf_pack_next_location(writer);
	cleanup_free char *name = NULL;
	int rc;

	assert(writer->left == 0 && !writer->path);
	assert(hf_pack_writer_takes(writer, entry));

	if (entry->stat.size > INT64_MAX)
		return hf_fail(err, HF_ERR_LIMIT,
			       "cannot archive '%s': "
			       "it is too large",
			       HF_QUOTE(entry->path));
	name = prefixed_name(writer, entry->path);
	if (!name || !set_header(writer->entry, entry, name))
		return hf_fail_memory(err);
	if (!writer->is_open) {
		writer->is_plain = !writer->is_stream && fits_plain(entry);
		if (open_archive(writer) < 0)
			return fail_archive(writer, err);
	}
	rc = check(writer, archive_write_header(writer->archive, writer->entry),
		   err);
	if (rc < 0)
		return rc;

	writer->path = take_ptr(&name);
	writer->offset = location.offset;
	writer->size = entry->stat.size;
	writer->left = entry->stat.size;
	*ret_location = location;
	return 0;
}

int hf_pack_write(struct hf_pack_writer *writer, const void *data, size_t len,
		  struct hf_error *err)
{
	int rc;

	if (len > writer->left)
		return hf_fail(err, HF_ERR_CHANGED,
			       "cannot archive '%s': it grew while it was read",
			       HF_QUOTE(writer->path));
	if (len == 0)
		return 0;
	rc = check(writer, archive_write_data(writer->archive, data, len), err);
	if (rc < 0)
		return rc;
	writer->left -= len;
	return 0;
}

int hf_pack_end_member(struct hf_pack_writer *writer,
		       const struct hf_hash *hash, struct hf_error *err)
{
	cleanup_free char *path = take_ptr(&writer->path);
	struct hf_buffer *const members = &writer->members;
	char digits[HF_HASH_TEXT];
	int rc;

	if (writer->left > 0)
		return hf_fail(err, HF_ERR_CHANGED,
			       "cannot archive '%s': it shrank while it was "
			       "read",
			       HF_QUOTE(path));
	/* Here, so that the padding counts before the next offset is taken. */
	rc = check(writer, archive_write_finish_entry(writer->archive), err);
	if (rc < 0 || writer->is_stream)
		return rc;

	hf_buffer_add_text(members, "{\"hash\":\"");
	hf_buffer_add_text(members, hf_hash_format(hash, digits));
	hf_buffer_add_text(members, "\",\"size\":");
	hf_number_encode(writer->size, members);
	hf_buffer_add_text(members, ",\"offset\":");
	hf_number_encode(writer->offset, members);
	hf_buffer_add_text(members, ",");
	hf_text_encode("path", path, members);
	hf_buffer_add_text(members, "}\n");
	writer->count++;
	writer->content += writer->size;
	return hf_buffer_check(members, err);
}

uint32_t hf_pack_writer_number(const struct hf_pack_writer *writer)
{
	return writer->number;
}

uint64_t hf_pack_writer_size(const struct hf_pack_writer *writer)
{
	return writer->content;
}

/* -- commit --------------------------------------------------------------- */

/* The index into its temporary file, on the disk. */
static int write_index(struct hf_pack_writer *writer, struct hf_replace *index,
		       const char *name, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	int rc;

	hf_buffer_printf(
		&text,
		"{\"holdfast-index\":%d,\"pack\":%" PRIu32 ",\"bytes\":%" PRIu64
		",\"hash\":\"" HF_HASH_NAME "\"}\n",
		HF_PACK_INDEX_VERSION, writer->number, writer->written);
	hf_buffer_add(&text, writer->members.data, writer->members.len);
	hf_sealed_end(&text, HF_PACK_INDEX_COUNTED, writer->count);
	rc = hf_buffer_check(&text, err);
	if (rc < 0)
		return rc;

	rc = hf_replace_begin(index, writer->file.dir_fd, name, 0600, err);
	if (rc < 0)
		return rc;
	rc = hf_file_write(index->fd, text.data, text.len);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot write '%s'", name);
	return hf_replace_flush(index, err);
}

int hf_pack_commit(struct hf_pack_writer *writer, struct hf_error *err)
{
	cleanup_replace struct hf_replace index = HF_REPLACE_INIT;
	char index_name[HF_PACK_NAME];
	int rc;

	assert(!writer->path);

	if (writer->count == 0)
		return 0;
	rc = check(writer, archive_write_close(writer->archive), err);
	if (rc < 0)
		return rc;
	rc = hf_replace_flush(&writer->file, err);
	if (rc < 0)
		return rc;
	hf_pack_name_format(writer->number, HF_PACK_INDEX_SUFFIX, index_name);
	rc = write_index(writer, &index, index_name, err);
	if (rc < 0)
		return rc;

	/* A pack that has its name has its index as well. */
	rc = hf_replace_rename(&index, err);
	if (rc < 0)
		return rc;
	rc = hf_replace_rename(&writer->file, err);
	if (rc < 0)
		return rc;
	rc = hf_file_sync(writer->file.dir_fd);
	if (rc < 0)
		return hf_fail_system(err, rc,
				      "cannot flush the directory of '%s'",
				      writer->name);
	return 0;
}

void hf_pack_writer_free(struct hf_pack_writer **writer)
{
	const int saved = errno;
	struct hf_pack_writer *const w = take_ptr(writer);

	if (!w)
		return;
	/*
	 * Freeing closes it: what it still wants to write is thrown away.  That
	 * would be all the rest of a large file that has changed; without that
	 * libarchive forgets some bytes of its own.
	 */
	w->write_rc = -ECANCELED;
	if (w->left > FILL_MAX)
		(void)archive_write_fail(w->archive);
	(void)archive_write_free(w->archive);
	archive_entry_free(w->entry);
	hf_replace_done(&w->file);
	hf_buffer_done(&w->members);
	free(w->path);
	free(w);
	errno = saved;
}
