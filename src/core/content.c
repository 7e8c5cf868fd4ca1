/* SPDX-License-Identifier: MIT */
/* Move the bytes of a file, hash them, leave zeros out. */
#include "core/content.h"

#include <stdbool.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "platform/file.h"
#include "platform/system.h"

/* Below malloc's threshold for mapping: its pages are reused by the next copy.
 */
#define CHUNK ((size_t)64 << 10)
#define BLOCK ((size_t)4096)

static const uint8_t zeros[CHUNK];
_Static_assert(HF_CONTENT_HOLE_MIN <= CHUNK, "zeros that are written are one chunk");

void hf_content_begin(struct hf_content_writer *writer, int fd,
		      enum hf_content_mode mode)
{
	*writer = (struct hf_content_writer){.fd = fd, .mode = mode};
}

static bool is_zero(const uint8_t *data, size_t len)
{
	return data[0] == 0 && memcmp(data, data + 1, len - 1) == 0;
}

/* How many bytes from data on are in blocks that are zero, or are not. */
static size_t run_len(const uint8_t *data, size_t len, bool of_zeros)
{
	size_t done = 0;

	while (done < len) {
		const size_t block = len - done < BLOCK ? len - done : BLOCK;

		if (is_zero(data + done, block) != of_zeros)
			break;
		done += block;
	}
	return done;
}

/* The pending zeros, as a hole or as bytes. */
static int settle_zeros(struct hf_content_writer *writer)
{
	const uint64_t len = writer->zeros;

	writer->zeros = 0;
	/* As bytes they are less than a chunk. */
	return len >= HF_CONTENT_HOLE_MIN
		       ? hf_file_seek(writer->fd, writer->size)
		       : hf_file_write(writer->fd, zeros, (size_t)len);
}

/* len zeros, which nobody has read. */
static int write_zeros(struct hf_content_writer *writer, uint64_t len)
{
	if (writer->mode == HF_CONTENT_FRESH) {
		writer->zeros += len;
		writer->size += len;
		return 0;
	}
	while (len > 0) {
		const size_t part = len < CHUNK ? (size_t)len : CHUNK;
		const int rc = hf_content_write(writer, zeros, part);

		if (rc < 0)
			return rc;
		len -= part;
	}
	return 0;
}

int hf_content_write(struct hf_content_writer *writer, const void *data,
		     size_t len)
{
	const uint8_t *bytes = data;
	int rc;

	if (writer->mode == HF_CONTENT_OVER) {
		writer->size += len;
		return hf_file_write(writer->fd, data, len);
	}
	while (len > 0) {
		size_t run = run_len(bytes, len, true);

		writer->zeros += run;
		writer->size += run;
		bytes += run;
		len -= run;
		if (len == 0)
			break;

		rc = settle_zeros(writer);
		if (rc < 0)
			return rc;
		run = run_len(bytes, len, false);
		rc = hf_file_write(writer->fd, bytes, run);
		if (rc < 0)
			return rc;
		writer->size += run;
		bytes += run;
		len -= run;
	}
	return 0;
}

int hf_content_end(struct hf_content_writer *writer)
{
	/* Zeros at the end are made by the size alone; what an older content
	 * had behind it is cut off. */
	writer->zeros = 0;
	return hf_file_truncate(writer->fd, writer->size);
}

/* -- copying -------------------------------------------------------------- */

struct copy {
	int from_fd;
	struct hf_content_writer *writer; /* NULL: only hash */
	const char *path;
	struct hf_hasher *hasher;
	uint64_t offset;
	uint64_t size; /* when it began */
	bool has_holes;
};

static int fail_copy(const struct copy *copy, int rc, const char *verb,
		     struct hf_error *err)
{
	return hf_fail_system(err, rc, "cannot %s '%s'", verb,
			      HF_QUOTE(copy->path));
}

static int begin_copy(struct copy *copy, struct hf_error *err)
{
	struct hf_stat stat;
	int rc = hf_file_stat(copy->from_fd, &stat);

	if (rc == 0 && stat.size > HF_CONTENT_MAX)
		rc = -EFBIG;
	if (rc < 0)
		return fail_copy(copy, rc, "read", err);
	copy->size = stat.size;
	copy->has_holes = stat.blocks < stat.size / 512;
	hf_file_advise_sequential(copy->from_fd);
	return 0;
}

/* A hole is so many zeros, and no time is lost with reading them. */
static int copy_hole(struct copy *copy, struct hf_error *err)
{
	const int64_t data =
		hf_file_next_data(copy->from_fd, copy->offset, copy->size);
	uint64_t left;
	int rc = 0;

	if (data < 0)
		return fail_copy(copy, (int)data, "read", err);
	if ((uint64_t)data <= copy->offset)
		return 0;
	left = (uint64_t)data - copy->offset;
	if (copy->writer)
		rc = write_zeros(copy->writer, left);
	if (rc < 0)
		return fail_copy(copy, rc, "write", err);
	for (; left > CHUNK; left -= CHUNK)
		hf_hasher_update(copy->hasher, zeros, CHUNK);
	hf_hasher_update(copy->hasher, zeros, (size_t)left);
	copy->offset = (uint64_t)data;
	rc = hf_file_seek(copy->from_fd, copy->offset);
	return rc < 0 ? fail_copy(copy, rc, "read", err) : 0;
}

/* 1 when there may be more. */
static int copy_chunk(struct copy *copy, uint8_t *data, struct hf_error *err)
{
	int64_t len;
	int rc;

	if (copy->has_holes) {
		rc = copy_hole(copy, err);
		if (rc < 0)
			return rc;
	}
	len = hf_file_read(copy->from_fd, data, CHUNK);
	if (len < 0)
		return fail_copy(copy, (int)len, "read", err);
	if (len == 0)
		return 0;
	hf_hasher_update(copy->hasher, data, (size_t)len);
	copy->offset += (uint64_t)len;
	rc = copy->writer ? hf_content_write(copy->writer, data, (size_t)len)
			  : 0;
	return rc < 0 ? fail_copy(copy, rc, "write", err) : 1;
}

int hf_content_copy(int from_fd, struct hf_content_writer *writer,
		    const char *path, uint64_t *ret_size,
		    struct hf_hash *ret_hash, struct hf_error *err)
{
	cleanup_hasher struct hf_hasher *hasher = hf_hasher_new();
	cleanup_free uint8_t *data = malloc(CHUNK);
	struct copy copy = {
		.from_fd = from_fd,
		.writer = writer,
		.path = path,
		.hasher = hasher,
	};
	int rc;

	if (!hasher || !data)
		return hf_fail_memory(err);
	rc = begin_copy(&copy, err);
	if (rc < 0)
		return rc;
	do
		rc = copy_chunk(&copy, data, err);
	while (rc > 0);
	if (rc < 0)
		return rc;
	if (writer) {
		rc = hf_content_end(writer);
		if (rc < 0)
			return fail_copy(&copy, rc, "write", err);
	}
	*ret_size = copy.offset;
	*ret_hash = hf_hasher_digest(hasher);
	return 0;
}

int hf_content_open(int dir_fd, const char *name)
{
	struct hf_stat stat;
	int fd = hf_file_open_read_at(dir_fd, name);
	int rc;

	if (fd != -EACCES)
		return fd;
	rc = hf_file_stat_at(dir_fd, name, &stat);
	if (rc < 0)
		return rc;
	if (stat.uid != hf_system_uid() || stat.kind != HF_KIND_FILE)
		return fd;
	rc = hf_file_set_mode_at(dir_fd, name, stat.mode | 0400);
	if (rc < 0)
		return fd;
	fd = hf_file_open_read_at(dir_fd, name);
	rc = hf_file_set_mode_at(dir_fd, name, stat.mode);
	if (rc < 0) {
		hf_file_close_quietly(&fd);
		return rc;
	}
	return fd;
}

int hf_content_hash(int dir_fd, const char *name, const char *path,
		    struct hf_hash *ret_hash, struct hf_error *err)
{
	cleanup_fd int fd = hf_content_open(dir_fd, name);
	uint64_t size;

	if (fd < 0)
		return hf_fail_system(err, fd, "cannot read '%s'",
				      HF_QUOTE(path));
	return hf_content_copy(fd, NULL, path, &size, ret_hash, err);
}
