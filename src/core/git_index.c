/* SPDX-License-Identifier: MIT */
/*
 * Read git's index.  All numbers in it are big-endian:
 *
 *	"DIRC" VERSION COUNT, then COUNT entries in the order of their names
 *	entry: 40 bytes of stat (the mode at 24), the hash, 2 bytes of flags,
 *from version 3 on 2 more when the flags say so, the name and a NUL.  Up to
 *	version 3 NULs fill it to a multiple of 8; in version 4 a number says
 *how much of the last name's end goes before the rest that follows. extensions:
 *NAME SIZE DATA; at the end a hash of it all
 *
 * The extension "link" names a second file that has the other entries: one of
 * these that the first file took out counts as held here, which is rare, and no
 * harm where it is asked what is worth protecting.
 */
#include "core/git_index.h"

#include <stdint.h>
#include <string.h>

#include "base/buffer.h"
#include "base/encode.h"
#include "base/fail.h"
#include "base/path.h"
#include "base/text.h"
#include "core/git_place.h"
#include "platform/file.h"

#define INDEX_MAX	((size_t)256 << 20)
#define HEADER_LEN	12
#define STAT_LEN	40
#define SHA1_LEN	20
#define SHA256_LEN	32
#define FLAG_EXTENDED	0x4000u
#define EXTENDED_INTENT 0x2000u
#define EXTENSION_LEN	8
#define FIRST_CAPACITY	256

struct reader {
	const unsigned char *data;
	size_t len;
	size_t at;
	size_t hash_len;
	unsigned version;
	char name[HF_PATH_MAX]; /* of the entry before */
	size_t name_len;
};

static uint32_t big_endian(const unsigned char *at, size_t bytes)
{
	uint32_t value = 0;

	for (size_t i = 0; i < bytes; i++)
		value = value << 8 | at[i];
	return value;
}

static bool has(const struct reader *reader, size_t len)
{
	return len <= reader->len - reader->at;
}

/* How much of the name before is dropped: 7 bits a byte, each further one adds
 * 1 so that no number has two forms. */
static bool read_strip(struct reader *reader, size_t *ret_strip)
{
	size_t value = 0;
	bool has_more = true;

	for (unsigned i = 0; has_more; i++) {
		if (!has(reader, 1) || i > 3)
			return false;
		value = (i == 0 ? 0 : value + 1) << 7 |
			(reader->data[reader->at] & 0x7fu);
		has_more = (reader->data[reader->at++] & 0x80u) != 0;
	}
	*ret_strip = value;
	return true;
}

/* The name of an entry that begins at start into reader->name. */
static bool read_name(struct reader *reader, size_t start)
{
	size_t kept = 0;
	size_t len;
	const unsigned char *end;

	if (reader->version == 4) {
		size_t strip;

		if (!read_strip(reader, &strip) || strip > reader->name_len)
			return false;
		kept = reader->name_len - strip;
	}
	end = memchr(reader->data + reader->at, '\0', reader->len - reader->at);
	if (!end)
		return false;
	len = (size_t)(end - reader->data) - reader->at;
	if (kept + len >= sizeof(reader->name))
		return false;
	memcpy(reader->name + kept, reader->data + reader->at, len);
	reader->name_len = kept + len;
	reader->name[reader->name_len] = '\0';
	reader->at += len;
	if (reader->version == 4) {
		reader->at++;
		return true;
	}
	len = 8 - (reader->at - start) % 8;
	if (!has(reader, len))
		return false;
	for (size_t i = 0; i < len; i++)
		if (reader->data[reader->at++] != '\0')
			return false;
	return true;
}

static int add(struct hf_git_index *index, const char *name, size_t len,
	       struct hf_error *err)
{
	if (index->count == index->capacity) {
		const size_t capacity = index->capacity > 0
						? 2 * index->capacity
						: FIRST_CAPACITY;
		const char **names;
		size_t size;

		if (__builtin_mul_overflow(capacity, sizeof(*names), &size))
			return hf_fail_memory(err);
		names = realloc(index->names, size);
		if (!names)
			return hf_fail_memory(err);
		index->names = names;
		index->capacity = capacity;
	}
	index->names[index->count] = hf_arena_copy(&index->arena, name, len);
	if (!index->names[index->count])
		return hf_fail_memory(err);
	index->count++;
	return 0;
}

/* 1, 0 when it is none, or a failure. */
static int read_entry(struct reader *reader, struct hf_git_index *index,
		      struct hf_error *err)
{
	const size_t start = reader->at;
	unsigned extended = 0;
	unsigned flags;

	if (!has(reader, STAT_LEN + reader->hash_len + 4))
		return 0;
	reader->at += STAT_LEN + reader->hash_len;
	flags = big_endian(reader->data + reader->at, 2);
	reader->at += 2;
	if (flags & FLAG_EXTENDED) {
		if (reader->version < 3)
			return 0;
		extended = big_endian(reader->data + reader->at, 2);
		reader->at += 2;
	}
	if (!read_name(reader, start))
		return 0;
	/* One without a name stands for an entry of the other half. */
	if (reader->name_len == 0 || (extended & EXTENDED_INTENT))
		return 1;
	if (add(index, reader->name, reader->name_len, err) < 0)
		return err->code;
	return 1;
}

static int read_extension(struct reader *reader, struct hf_git_index *index,
			  struct hf_error *err)
{
	char digits[2 * SHA256_LEN + 1];
	const unsigned char *const at = reader->data + reader->at;
	size_t len;

	if (!has(reader, EXTENSION_LEN))
		return 0;
	len = big_endian(at + 4, 4);
	reader->at += EXTENSION_LEN;
	if (!has(reader, len))
		return 0;
	reader->at += len;
	if (memcmp(at, "link", 4) != 0)
		return 1;
	if (len < reader->hash_len)
		return 0;
	hf_hex_encode(digits, at + EXTENSION_LEN, reader->hash_len);
	index->shared =
		hf_arena_copy(&index->arena, digits, 2 * reader->hash_len);
	return index->shared ? 1 : hf_fail_memory(err);
}

/* 1 when all of it is an index with hashes of this length, else as above. */
static int read_index(struct reader *reader, struct hf_git_index *index,
		      struct hf_error *err)
{
	const size_t before = index->count;
	uint32_t count;
	int rc = 1;

	if (reader->len < HEADER_LEN + reader->hash_len ||
	    memcmp(reader->data, "DIRC", 4) != 0)
		return 0;
	reader->version = big_endian(reader->data + 4, 4);
	count = big_endian(reader->data + 8, 4);
	if (reader->version < 2 || reader->version > 4)
		return 0;
	reader->at = HEADER_LEN;
	reader->len -= reader->hash_len;
	for (uint32_t i = 0; rc > 0 && i < count; i++)
		rc = read_entry(reader, index, err);
	while (rc > 0 && reader->at < reader->len)
		rc = read_extension(reader, index, err);
	if (rc <= 0)
		index->count = before;
	return rc;
}

int hf_git_index_parse(struct hf_git_index *index, const char *data, size_t len,
		       struct hf_error *err)
{
	static const size_t hash_lens[] = {SHA1_LEN, SHA256_LEN};

	for (size_t i = 0; i < HF_COUNT(hash_lens); i++) {
		struct reader reader = {
			.data = (const unsigned char *)data,
			.len = len,
			.hash_len = hash_lens[i],
		};
		int rc;

		index->shared = NULL;
		rc = read_index(&reader, index, err);
		if (rc != 0)
			return rc < 0 ? rc : 0;
	}
	return hf_fail(err, HF_ERR_CORRUPT,
		       "cannot read git's index: it is "
		       "damaged or of a newer version");
}

/* -- asking ------------------------------------------------------------------
 */

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void hf_git_index_sort(struct hf_git_index *index)
{
	if (index->count > 1)
		qsort(index->names, index->count, sizeof(*index->names),
		      compare);
}

static bool has_name(const struct hf_git_index *index, const char *name)
{
	return index->count > 0 &&
	       bsearch(&name, index->names, index->count, sizeof(*index->names),
		       compare) != NULL;
}

bool hf_git_index_has(const struct hf_git_index *index, const char *path)
{
	cleanup_free char *name =
		hf_path_join(index->prefix ? index->prefix : "", path);

	if (!name)
		return false;
	if (has_name(index, name))
		return true;
	/* A sparse index has a directory as a whole: "a/b/". */
	for (char *at = strchr(name, '/'); at; at = strchr(at + 1, '/')) {
		const char saved = at[1];

		at[1] = '\0';
		if (has_name(index, name))
			return true;
		at[1] = saved;
	}
	return false;
}

/* -- loading -----------------------------------------------------------------
 */

static int load_file(const char *directory, const char *name,
		     struct hf_git_index *index, struct hf_error *err)
{
	cleanup_buffer struct hf_buffer data = HF_BUFFER_INIT;
	cleanup_free char *path = hf_path_join(directory, name);
	cleanup_fd int fd = path ? hf_file_open_read_path(path) : -ENOMEM;
	int rc = fd < 0 ? fd : hf_file_read_all(fd, INDEX_MAX, &data);

	if (rc == -ENOENT)
		return 0;
	if (rc == -EFBIG)
		return hf_fail(err, HF_ERR_LIMIT,
			       "cannot read '%s': larger than %zu bytes",
			       HF_QUOTE(path), INDEX_MAX);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot read '%s'",
				      HF_QUOTE(path ? path : name));
	return hf_git_index_parse(index, data.data ? data.data : "", data.len,
				  err);
}

int hf_git_index_load(const char *root, struct hf_git_index *index,
		      struct hf_error *err)
{
	cleanup_free char *top = hf_git_top_of(root);
	cleanup_free char *git = top ? hf_git_directory_of(top) : NULL;
	const char *rest;
	int rc;

	if (!git)
		return hf_fail(err, HF_ERR_NOTHING, "no repository holds '%s'",
			       HF_QUOTE(root));
	rest = root + strlen(top);
	index->prefix = strdup(*rest == '/' ? rest + 1 : rest);
	if (!index->prefix)
		return hf_fail_memory(err);
	rc = load_file(git, "index", index, err);
	if (rc == 0 && index->shared) {
		char name[16 + 2 * SHA256_LEN] = "sharedindex.";

		memcpy(name + strlen(name), index->shared,
		       strlen(index->shared) + 1);
		rc = load_file(git, name, index, err);
	}
	if (rc == 0)
		hf_git_index_sort(index);
	return rc;
}

void hf_git_index_done(struct hf_git_index *index)
{
	hf_arena_done(&index->arena);
	hf_free_pointee(&index->names);
	hf_free_pointee(&index->prefix);
	index->count = 0;
	index->capacity = 0;
	index->shared = NULL;
}
