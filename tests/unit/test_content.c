/* SPDX-License-Identifier: MIT */
/* Content on its way: what arrives is what was sent, with holes for zeros. */
#include "core/content.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/file.h"
#include "support/tmpdir.h"

#define KIB ((size_t)1024)

static char *dir;
static int dir_fd = -1;

static void setup(void)
{
	dir = hf_tmpdir_make();
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void teardown(void)
{
	(void)close(dir_fd);
	hf_tmpdir_remove(dir);
}

TestSuite(content, .init = setup, .fini = teardown);

/* Runs of bytes: zeros, then others, and again. */
static const struct row {
	const char *name;
	size_t runs[6];
	size_t chunk; /* how it comes */
	bool has_hole;
} rows[] = {
	{"empty", {0}, 1, false},
	{"one byte", {0, 1}, 1, false},
	{"one zero", {1}, 1, false},
	{"short zeros", {100, 100, 100, 100}, 7, false},
	{"zeros just too short", {60 * KIB, 1, 60 * KIB, 1}, 4096, false},
	{"zeros in front", {512 * KIB, 10}, 4096, true},
	{"zeros behind", {0, 10, 512 * KIB}, 4096, true},
	{"only zeros", {512 * KIB}, 64 * KIB, true},
	{"zeros between", {0, 5000, 512 * KIB, 5000}, 64 * KIB, true},
	{"odd pieces", {300 * KIB, 333, 300 * KIB, 777}, 3333, true},
};

/* What is there now, copied over a longer content and to a new file. */
static void check_copies(const struct row *row, int fd,
			 const struct hf_hash *expected)
{
	for (int mode = HF_CONTENT_FRESH; mode <= HF_CONTENT_OVER; mode++) {
		cleanup_fd int to_fd =
			openat(dir_fd, "copy",
			       O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		static char old[1024 * 1024];
		struct hf_content_writer writer;
		struct hf_hash hash;
		struct hf_error err;
		struct stat st;
		uint64_t size;

		if (mode == HF_CONTENT_OVER) {
			memset(old, 'o', sizeof(old));
			cr_assert_eq(write(to_fd, old, sizeof(old)),
				     (ssize_t)sizeof(old));
			cr_assert_eq(hf_file_seek(to_fd, 0), 0);
		}
		cr_assert_eq(hf_file_seek(fd, 0), 0);
		hf_content_begin(&writer, to_fd, (enum hf_content_mode)mode);
		cr_assert_eq(hf_content_copy(fd, &writer, "f", &size, &hash,
					     &err),
			     0);
		cr_expect(hf_hash_equal(&hash, expected), "%s", row->name);
		cr_assert_eq(hf_file_seek(to_fd, 0), 0);
		cr_assert_eq(hf_content_copy(to_fd, NULL, "copy", &size, &hash,
					     &err),
			     0);
		cr_expect(hf_hash_equal(&hash, expected), "%s: the copy",
			  row->name);
		cr_assert_eq(fstat(to_fd, &st), 0);
		if (mode == HF_CONTENT_FRESH && row->has_hole)
			cr_expect_lt((size_t)st.st_blocks * 512,
				     (size_t)st.st_size / 2, "%s: the copy",
				     row->name);
	}
}

static void check(const struct row *row, enum hf_content_mode mode)
{
	struct hf_content_writer writer;
	cleanup_fd int fd =
		openat(dir_fd, "f", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct hf_error err;
	struct hf_hash hash;
	uint64_t copied;
	size_t size = 0;
	char *data;
	struct stat st;

	for (size_t i = 0; i < HF_COUNT(row->runs); i++)
		size += row->runs[i];
	data = calloc(1, size + 1);
	cr_assert(data && fd >= 0);
	for (size_t i = 0, at = 0; i < HF_COUNT(row->runs); i++) {
		if (i % 2 == 1)
			memset(data + at, 'x', row->runs[i]);
		at += row->runs[i];
	}

	hf_content_begin(&writer, fd, mode);
	for (size_t at = 0; at < size; at += row->chunk) {
		const size_t len =
			size - at < row->chunk ? size - at : row->chunk;

		cr_assert_eq(hf_content_write(&writer, data + at, len), 0);
	}
	cr_assert_eq(hf_content_end(&writer), 0);
	cr_assert_eq(fstat(fd, &st), 0);
	cr_expect_eq((size_t)st.st_size, size, "%s", row->name);
	if (mode == HF_CONTENT_FRESH && row->has_hole)
		cr_expect_lt((size_t)st.st_blocks * 512, size / 2, "%s",
			     row->name);

	cr_assert_eq(hf_file_seek(fd, 0), 0);
	cr_assert_eq(hf_content_copy(fd, NULL, "f", &copied, &hash, &err), 0);
	cr_expect_eq(copied, size, "%s", row->name);
	{
		const struct hf_hash expected = hf_hash_of(data, size);

		cr_expect(hf_hash_equal(&hash, &expected), "%s", row->name);
		check_copies(row, fd, &expected);
	}
	free(data);
}

Test(content, fresh)
{
	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		check(&rows[i], HF_CONTENT_FRESH);
		cr_assert_eq(unlinkat(dir_fd, "f", 0), 0);
	}
}

/* Over a longer content without a zero in it: none of it may shine through. */
Test(content, over)
{
	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		static char old[1024 * 1024];
		const int fd =
			openat(dir_fd, "f",
			       O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

		memset(old, 'o', sizeof(old));
		cr_assert_eq(write(fd, old, sizeof(old)), (ssize_t)sizeof(old));
		(void)close(fd);
		check(&rows[i], HF_CONTENT_OVER);
	}
}
