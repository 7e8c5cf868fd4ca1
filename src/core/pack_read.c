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
#include "core/pack_group.h"
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
	struct hf_pack_outcome outcome;	       /* of wants */
	const struct hf_pack_visitor *visitor; /* of a walk; else NULL */
	const char *what; /* instead of a pack; else NULL */
	char block[BLOCK_SIZE];
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
	if (reader->what && reader->read_rc < 0)
		return hf_fail_system(err, reader->read_rc, "cannot read %s",
				      reader->what);
	if (reader->what)
		return hf_fail(err, HF_ERR_CORRUPT, "cannot read %s: %s",
			       reader->what, what);
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

static int open_archive(struct reader *reader, struct hf_error *err)
{
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
	return open_archive(reader, err);
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
static int read_content(struct reader *reader, struct hf_pack_group *group,
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
		hf_pack_group_data(group, &reader->outcome, data, len);
		if (hf_pack_group_is_over(group))
			return 0;
		done += len;
	}
	hash = hf_hasher_digest(reader->hasher);
	if (!hf_hash_equal(&hash, &group->wants->hash))
		return fail_damaged(reader, "a content has another hash", err);
	return 0;
}

static int read_group(struct reader *reader, struct hf_pack_group *group,
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

static void read_groups(struct reader *reader, const struct hf_pack_want *wants,
			bool *is_over, size_t count, int open_rc,
			struct hf_error *err)
{
	int rc = open_rc;

	for (size_t done = 0; done < count;) {
		struct hf_pack_group group = {
			.wants = &wants[done],
			.is_over = &is_over[done],
			.count = hf_pack_group_len(&wants[done], count - done),
		};

		hf_pack_group_begin(&group, &reader->outcome);
		/* A pack that could not be opened fails all of them alike. */
		if (open_rc == 0)
			rc = read_group(reader, &group, err);
		hf_pack_group_end(&group, &reader->outcome,
				  rc < 0 ? err : NULL);
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
	reader->outcome.sink = sink;
	reader->outcome.first = err;
	rc = open_pack(reader, fd < 0 ? fd : take_fd(&fd), wants->location.pack,
		       &failure);
	read_groups(reader, wants, is_over, count, rc, &failure);
	return reader->outcome.rc;
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

/* -- an archive from anywhere --------------------------------------------- */

/* 0 where it is beyond all reason. */
static int64_t mtime_of(struct archive_entry *entry)
{
	int64_t ns;

	if (__builtin_mul_overflow((int64_t)archive_entry_mtime(entry),
				   INT64_C(1000000000), &ns) ||
	    __builtin_add_overflow(ns, (int64_t)archive_entry_mtime_nsec(entry),
				   &ns))
		return 0;
	return ns;
}

static void describe(struct archive_entry *entry, uint64_t offset,
		     struct hf_pack_item *item)
{
	const char *const name = archive_entry_pathname(entry);
	const int64_t size = archive_entry_size(entry);

	*item = (struct hf_pack_item){
		.name = name ? name : "",
		.is_file = archive_entry_filetype(entry) == AE_IFREG &&
			   !archive_entry_hardlink(entry) &&
			   archive_entry_size_is_set(entry) && size >= 0,
		.size = size >= 0 ? (uint64_t)size : 0,
		.mode = (uint32_t)archive_entry_perm(entry) & 07777,
		.uid = (uint32_t)archive_entry_uid(entry),
		.gid = (uint32_t)archive_entry_gid(entry),
		.mtime_ns = mtime_of(entry),
		.offset = offset,
	};
}

/* The blocks of a sparse file leave its holes out: another size, then. */
static int pass_content(struct reader *reader, uint64_t size,
			const struct hf_pack_listener *listener,
			struct hf_error *err)
{
	uint64_t done = 0;
	struct hf_hash hash;

	hf_hasher_reset(reader->hasher);
	for (;;) {
		const void *data;
		size_t len;
		int64_t offset;
		int rc = archive_read_data_block(reader->archive, &data, &len,
						 &offset);

		if (rc == ARCHIVE_EOF)
			break;
		if (rc < ARCHIVE_WARN)
			return fail_archive(reader, err);
		if (len > size - done)
			return fail_damaged(reader, "a member has a wrong size",
					    err);
		hf_hasher_update(reader->hasher, data, len);
		rc = listener->data(listener->context, data, len, err);
		if (rc < 0)
			return rc;
		done += len;
	}
	if (done != size)
		return fail_damaged(reader, "a member has a wrong size", err);
	hash = hf_hasher_digest(reader->hasher);
	return listener->end(listener->context, &hash, err);
}

static int walk_all(struct reader *reader,
		    const struct hf_pack_listener *listener,
		    struct hf_error *err)
{
	for (;;) {
		struct hf_pack_item item;
		int rc = archive_read_next_header(reader->archive,
						  &reader->entry);

		if (rc == ARCHIVE_EOF)
			return 0;
		if (rc < ARCHIVE_WARN)
			return fail_archive(reader, err);
		describe(
			reader->entry,
			(uint64_t)archive_read_header_position(reader->archive),
			&item);
		rc = listener->begin(listener->context, &item, err);
		if (rc == 0 && item.is_file)
			rc = pass_content(reader, item.size, listener, err);
		if (rc < 0)
			return rc;
	}
}

int hf_pack_listen(int fd, const char *what,
		   const struct hf_pack_listener *listener,
		   struct hf_error *err)
{
	cleanup_reader struct reader *reader = calloc(1, sizeof(*reader));
	int rc;

	if (!reader)
		return hf_fail_memory(err);
	reader->what = what;
	reader->fd = hf_file_duplicate(fd);
	if (reader->fd < 0)
		return hf_fail_system(err, reader->fd, "cannot read %s", what);
	rc = open_archive(reader, err);
	return rc < 0 ? rc : walk_all(reader, listener, err);
}

/* -- all of a pack -------------------------------------------------------- */

struct walk {
	const struct hf_pack_visitor *visitor;
	struct hf_pack_member member;
};

static int walk_begin(void *context, const struct hf_pack_item *item,
		      struct hf_error *err)
{
	struct walk *const walk = context;

	walk->member = (struct hf_pack_member){
		.offset = item->offset,
		.size = item->size,
	};
	if (item->is_file)
		return 0;
	/* What is no file has no content that anybody could want. */
	return walk->visitor->member(walk->visitor->context, &walk->member,
				     err);
}

static int walk_data(void *context, const void *data, size_t len,
		     struct hf_error *err)
{
	(void)context;
	(void)data;
	(void)len;
	(void)err;
	return 0;
}

static int walk_end(void *context, const struct hf_hash *hash,
		    struct hf_error *err)
{
	struct walk *const walk = context;

	walk->member.hash = *hash;
	return walk->visitor->member(walk->visitor->context, &walk->member,
				     err);
}

int hf_pack_walk(const struct hf_store *store, uint32_t pack,
		 const struct hf_pack_visitor *visitor, struct hf_error *err)
{
	cleanup_reader struct reader *reader = calloc(1, sizeof(*reader));
	struct walk walk = {.visitor = visitor};
	const struct hf_pack_listener listener = {
		.context = &walk,
		.begin = walk_begin,
		.data = walk_data,
		.end = walk_end,
	};
	int rc;

	if (!reader)
		return hf_fail_memory(err);
	reader->fd = -1;
	reader->visitor = visitor;
	rc = open_pack(reader, hf_pack_open(store, pack), pack, err);
	return rc < 0 ? rc : walk_all(reader, &listener, err);
}
