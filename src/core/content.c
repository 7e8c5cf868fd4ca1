/* SPDX-License-Identifier: MIT */
/* Move the bytes of a file, hash them, leave zeros out. */
#include "core/content.h"

#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "platform/file.h"
#include "platform/system.h"

/* Below malloc's threshold for mapping: its pages are reused by the next copy.
 */
#define CHUNK ((size_t)64 << 10)
#define BLOCK ((size_t)4096)

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
	static const uint8_t nothing[BLOCK];
	int rc;

	if (writer->zeros >= HF_CONTENT_HOLE_MIN) {
		writer->zeros = 0;
		return hf_file_seek(writer->fd, writer->size);
	}
	while (writer->zeros > 0) {
		const size_t len = writer->zeros < sizeof(nothing)
					   ? (size_t)writer->zeros
					   : sizeof(nothing);

		rc = hf_file_write(writer->fd, nothing, len);
		if (rc < 0)
			return rc;
		writer->zeros -= len;
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

static int check_size(int fd)
{
	struct hf_stat stat;
	const int rc = hf_file_stat(fd, &stat);

	if (rc < 0)
		return rc;
	return stat.size > HF_CONTENT_MAX ? -EFBIG : 0;
}

int hf_content_copy(int from_fd, struct hf_content_writer *writer,
		    const char *path, uint64_t *ret_size,
		    struct hf_hash *ret_hash, struct hf_error *err)
{
	cleanup_hasher struct hf_hasher *hasher = hf_hasher_new();
	cleanup_free uint8_t *data = malloc(CHUNK);
	uint64_t size = 0;
	int64_t len;
	int rc;

	if (!hasher || !data)
		return hf_fail_memory(err);
	rc = check_size(from_fd);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot read '%s'",
				      HF_QUOTE(path));
	hf_file_advise_sequential(from_fd);
	for (;;) {
		len = hf_file_read(from_fd, data, CHUNK);
		if (len < 0)
			return hf_fail_system(err, (int)len, "cannot read '%s'",
					      HF_QUOTE(path));
		if (len == 0)
			break;
		hf_hasher_update(hasher, data, (size_t)len);
		size += (uint64_t)len;
		if (!writer)
			continue;
		rc = hf_content_write(writer, data, (size_t)len);
		if (rc < 0)
			return hf_fail_system(err, rc, "cannot write '%s'",
					      HF_QUOTE(path));
	}
	if (writer) {
		rc = hf_content_end(writer);
		if (rc < 0)
			return hf_fail_system(err, rc, "cannot write '%s'",
					      HF_QUOTE(path));
	}
	*ret_size = size;
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
