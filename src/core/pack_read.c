/* SPDX-License-Identifier: MIT */
/*
 * Read contents from a pack in one pass, believing nothing in it.
 *
 * A member is known by where its header begins; its size and hash must then be
 * those that were recorded.  Several wants may name the same member: two files
 * with one content.
 */
#include "core/pack.h"

#include <archive.h>
#include <archive_entry.h>
#include <string.h>

#include "base/fail.h"
#include "core/pack_name.h"

#define BLOCK_SIZE ((size_t)128 * 1024)

struct reader {
	char name[HF_PACK_NAME];
	int fd;
	int read_rc; /* -errno of a failed read */
	struct archive *archive;
	struct archive_entry *entry; /* of the header read last */
	int64_t position;	     /* where it begins; -1 for none */
	struct hf_hasher *hasher;
	const struct hf_pack_sink *sink;
	const struct hf_pack_visitor *visitor; /* of a walk; else NULL */
	struct hf_error *first; /* the first failure of any want */
	int rc;			/* its code; 0 while there is none */
	char block[BLOCK_SIZE];
};

/* Wants for the same member; those that are over get no more calls. */
struct group {
	const struct hf_pack_want *wants;
	bool *is_over;
	size_t count;
};

#define cleanup_reader CLEANUP(reader_free)

static void reader_free(struct reader **reader)
{
	const int saved = errno;
	struct reader *const r = take_ptr(reader);

	if (!r)
		return;
	(void)archive_read_free(r->archive);
	hf_hasher_free(&r->hasher);
	hf_file_close_quietly(&r->fd);
	free(r);
	errno = saved;
}

/* -- failures ------------------------------------------------------------- */

static int fail_damaged(const struct reader *reader, const char *what,
			struct hf_error *err)
{
	if (reader->read_rc < 0)
		return hf_fail_system(err, reader->read_rc,
				      "cannot read pack '%s'", reader->name);
	return hf_fail(err, HF_ERR_CORRUPT, "pack '%s' is damaged: %s",
		       reader->name, what);
}

static int fail_archive(const struct reader *reader, struct hf_error *err)
{
	const char *const text = archive_error_string(reader->archive);

	if (archive_errno(reader->archive) == ENOMEM)
		return hf_fail_memory(err);
	return fail_damaged(reader, text ? text : "it cannot be unpacked", err);
}

static void note_failure(struct reader *reader, const struct hf_error *err)
{
	if (reader->rc == 0) {
		reader->rc = err->code;
		*reader->first = *err;
	}
}

/* -- what the sink gets --------------------------------------------------- */

static void begin_group(struct reader *reader, struct group *group)
{
	for (size_t i = 0; i < group->count; i++) {
		struct hf_error err;

		group->is_over[i] =
			reader->sink->begin(&group->wants[i], &err) < 0;
		if (group->is_over[i])
			note_failure(reader, &err);
	}
}

/* All that are not over end so; err is NULL when all was right. */
static void end_group(struct reader *reader, struct group *group,
		      const struct hf_error *err)
{
	const struct hf_error none = {.code = HF_OK};

	for (size_t i = 0; i < group->count; i++) {
		if (group->is_over[i])
			continue;
		group->is_over[i] = true;
		if (err)
			note_failure(reader, err);
		reader->sink->end(&group->wants[i], err ? err->code : 0,
				  err ? err : &none);
	}
}

static void pass_data(struct reader *reader, struct group *group,
		      const void *data, size_t len)
{
	for (size_t i = 0; i < group->count; i++) {
		const struct hf_pack_want *const want = &group->wants[i];
		struct hf_error err;

		if (group->is_over[i] ||
		    reader->sink->data(want, data, len, &err) >= 0)
			continue;
		group->is_over[i] = true;
		note_failure(reader, &err);
		reader->sink->end(want, err.code, &err);
	}
}

/* Nobody wants the rest. */
static bool is_given_up(const struct group *group)
{
	for (size_t i = 0; i < group->count; i++)
		if (!group->is_over[i])
			return false;
	return true;
}

/* -- the archive ---------------------------------------------------------- */

static la_ssize_t read_block(struct archive *archive, void *context,
			     const void **ret_data)
{
	struct reader *const reader = context;
	const int64_t count =
		hf_file_read(reader->fd, reader->block, sizeof(reader->block));

	if (count < 0) {
		reader->read_rc = (int)count;
		archive_set_error(archive, (int)-count, "read failed");
		return -1;
	}
	if (reader->visitor)
		reader->visitor->read(reader->visitor->context,
				      (uint64_t)count);
	*ret_data = reader->block;
	return (la_ssize_t)count;
}

int hf_pack_open(const struct hf_store *store, uint32_t pack)
{
	char name[HF_PACK_NAME];

	hf_pack_name_format(pack, HF_PACK_SUFFIX, name);
	return hf_file_open_read_at(store->folder_fd[HF_STORE_PACKS], name);
}

/* opened: its descriptor, or why there is none. */
static int open_pack(struct reader *reader, int opened, uint32_t pack,
		     struct hf_error *err)
{
	hf_pack_name_format(pack, HF_PACK_SUFFIX, reader->name);
	if (opened == -ENOENT)
		return hf_fail(err, HF_ERR_CORRUPT, "pack '%s' is missing",
			       reader->name);
	if (opened < 0)
		return hf_fail_system(err, opened, "cannot open pack '%s'",
				      reader->name);
	reader->fd = opened;
	hf_file_advise_sequential(reader->fd);

	reader->hasher = hf_hasher_new();
	reader->archive = archive_read_new();
	if (!reader->hasher || !reader->archive)
		return hf_fail_memory(err);
	if (archive_read_support_filter_zstd(reader->archive) != ARCHIVE_OK ||
	    archive_read_support_format_tar(reader->archive) != ARCHIVE_OK ||
	    archive_read_open(reader->archive, reader, NULL, read_block,
			      NULL) != ARCHIVE_OK)
		return fail_archive(reader, err);
	return 0;
}

/* Read the next header; its position is kept until the member is read. */
static int next_header(struct reader *reader, struct hf_error *err)
{
	const int rc =
		archive_read_next_header(reader->archive, &reader->entry);

	reader->position = -1;
	if (rc == ARCHIVE_EOF)
		return fail_damaged(reader, "it ends too early", err);
	if (rc < ARCHIVE_WARN)
		return fail_archive(reader, err);
	reader->position = archive_read_header_position(reader->archive);
	return 0;
}

/* Go to the member whose header begins at offset, and no further. */
static int find_member(struct reader *reader, uint64_t offset,
		       struct hf_error *err)
{
	while (reader->position < 0 || (uint64_t)reader->position < offset) {
		const int rc = next_header(reader, err);

		if (rc < 0)
			return rc;
	}
	if ((uint64_t)reader->position != offset)
		return fail_damaged(reader, "no member is where it should be",
				    err);
	return 0;
}

/* The content of the member, for all of the group; hashed on the way. */
static int read_content(struct reader *reader, struct group *group,
			struct hf_error *err)
{
	const uint64_t size = group->wants->size;
	uint64_t done = 0;
	struct hf_hash hash;

	hf_hasher_reset(reader->hasher);
	for (;;) {
		const void *data;
		size_t len;
		int64_t offset;
		const int rc = archive_read_data_block(reader->archive, &data,
						       &len, &offset);

		if (rc == ARCHIVE_EOF)
			break;
		if (rc < ARCHIVE_WARN)
			return fail_archive(reader, err);
		/* A hole that is left out makes another hash. */
		if (len > size - done)
			return fail_damaged(reader, "a member has a wrong size",
					    err);
		hf_hasher_update(reader->hasher, data, len);
		pass_data(reader, group, data, len);
		if (is_given_up(group))
			return 0;
		done += len;
	}
	hash = hf_hasher_digest(reader->hasher);
	if (!hf_hash_equal(&hash, &group->wants->hash))
		return fail_damaged(reader, "a content has another hash", err);
	return 0;
}

static int read_group(struct reader *reader, struct group *group,
		      struct hf_error *err)
{
	int rc;

	rc = find_member(reader, group->wants->location.offset, err);
	if (rc < 0)
		return rc;
	if (archive_entry_filetype(reader->entry) != AE_IFREG ||
	    !archive_entry_size_is_set(reader->entry) ||
	    (uint64_t)archive_entry_size(reader->entry) != group->wants->size)
		return fail_damaged(reader, "a member has a wrong size", err);
	return read_content(reader, group, err);
}

/* -- all wants ------------------------------------------------------------ */

/* How many of the wants name the same content at the same place. */
static size_t group_len(const struct hf_pack_want *wants, size_t count)
{
	size_t len = 1;

	while (len < count &&
	       wants[len].location.offset == wants->location.offset &&
	       wants[len].size == wants->size &&
	       hf_hash_equal(&wants[len].hash, &wants->hash))
		len++;
	return len;
}

static void read_groups(struct reader *reader, const struct hf_pack_want *wants,
			bool *is_over, size_t count, int open_rc,
			struct hf_error *err)
{
	int rc = open_rc;

	for (size_t done = 0; done < count;) {
		struct group group = {
			.wants = &wants[done],
			.is_over = &is_over[done],
			.count = group_len(&wants[done], count - done),
		};

		begin_group(reader, &group);
		/* A pack that could not be opened fails all of them alike. */
		if (open_rc == 0)
			rc = read_group(reader, &group, err);
		end_group(reader, &group, rc < 0 ? err : NULL);
		done += group.count;
	}
}

/* opened is taken over, or says why there is no pack. */
static int read_opened(int opened, const struct hf_pack_want *wants,
		       size_t count, const struct hf_pack_sink *sink,
		       struct hf_error *err)
{
	cleanup_fd int fd = opened;
	cleanup_reader struct reader *reader = NULL;
	cleanup_free bool *is_over = NULL;
	struct hf_error failure = {.code = HF_OK};
	int rc;

	is_over = calloc(count, sizeof(*is_over));
	reader = is_over ? calloc(1, sizeof(*reader)) : NULL;
	if (!reader)
		return hf_fail_memory(err);
	reader->fd = -1;
	reader->position = -1;
	reader->sink = sink;
	reader->first = err;
	rc = open_pack(reader, fd < 0 ? fd : take_fd(&fd), wants->location.pack,
		       &failure);
	read_groups(reader, wants, is_over, count, rc, &failure);
	return reader->rc;
}

int hf_pack_read(const struct hf_store *store, const struct hf_pack_want *wants,
		 size_t count, const struct hf_pack_sink *sink,
		 struct hf_error *err)
{
	if (count == 0)
		return 0;
	return read_opened(hf_pack_open(store, wants->location.pack), wants,
			   count, sink, err);
}

int hf_pack_read_open(int fd, const struct hf_pack_want *wants, size_t count,
		      const struct hf_pack_sink *sink, struct hf_error *err)
{
	int opened;
	int rc;

	if (count == 0)
		return 0;
	opened = hf_file_duplicate(fd);
	rc = opened < 0 ? 0 : hf_file_seek(opened, 0);
	if (rc < 0) {
		hf_file_close_quietly(&opened);
		opened = rc;
	}
	return read_opened(opened, wants, count, sink, err);
}

/* -- all that is there ---------------------------------------------------- */

/* What the content of the member is, whatever it should be. */
static int measure_content(struct reader *reader, struct hf_pack_member *member,
			   struct hf_error *err)
{
	member->size = 0;
	hf_hasher_reset(reader->hasher);
	for (;;) {
		const void *data;
		size_t len;
		int64_t offset;
		const int rc = archive_read_data_block(reader->archive, &data,
						       &len, &offset);

		if (rc == ARCHIVE_EOF)
			break;
		if (rc < ARCHIVE_WARN)
			return fail_archive(reader, err);
		hf_hasher_update(reader->hasher, data, len);
		member->size += len;
	}
	member->hash = hf_hasher_digest(reader->hasher);
	return 0;
}

static int walk(struct reader *reader, struct hf_error *err)
{
	const struct hf_pack_visitor *const visitor = reader->visitor;
	int rc;

	for (;;) {
		struct hf_pack_member member = {.size = 0};

		rc = archive_read_next_header(reader->archive, &reader->entry);
		if (rc == ARCHIVE_EOF)
			return 0;
		if (rc < ARCHIVE_WARN)
			return fail_archive(reader, err);
		member.offset =
			(uint64_t)archive_read_header_position(reader->archive);
		/* What is no file has no content that anybody could want. */
		rc = archive_entry_filetype(reader->entry) == AE_IFREG
			     ? measure_content(reader, &member, err)
			     : 0;
		if (rc == 0)
			rc = visitor->member(visitor->context, &member, err);
		if (rc < 0)
			return rc;
	}
}

int hf_pack_walk(const struct hf_store *store, uint32_t pack,
		 const struct hf_pack_visitor *visitor, struct hf_error *err)
{
	cleanup_reader struct reader *reader = calloc(1, sizeof(*reader));
	int rc;

	if (!reader)
		return hf_fail_memory(err);
	reader->fd = -1;
	reader->visitor = visitor;
	rc = open_pack(reader, hf_pack_open(store, pack), pack, err);
	return rc < 0 ? rc : walk(reader, err);
}
