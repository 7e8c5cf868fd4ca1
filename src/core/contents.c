/* SPDX-License-Identifier: MIT */
/* Which contents the store has, by hash: read from the indexes of its packs. */
#include "core/pack.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/text.h"
#include "core/json.h"
#include "core/pack_name.h"
#include "core/sealed.h"

#define FIRST_CAPACITY 1024 /* a power of two */
/* A pack holds 64 MiB of content, of files that may be empty. */
#define INDEX_MAX      ((size_t)1 << 30)
#define NAME_DIGITS    6 /* at least */

struct content {
	struct hf_hash hash;
	uint64_t size;
	struct hf_location location; /* pack 0: a free place */
};

/* Open addressing; never more than half full. */
struct hf_contents {
	struct content *items;
	size_t capacity;
	size_t count;
	uint32_t last_pack;
};

/* -- names ---------------------------------------------------------------- */

void hf_pack_name_format(uint32_t number, const char *suffix,
			 char name[HF_PACK_NAME])
{
	(void)snprintf(name, HF_PACK_NAME, "%06" PRIu32 "%s", number, suffix);
}

bool hf_pack_name_parse(const char *name, const char *suffix,
			uint32_t *ret_number)
{
	const size_t digits = strspn(name, "0123456789");
	uint64_t number;

	if (digits < NAME_DIGITS || strcmp(name + digits, suffix) != 0 ||
	    hf_parse_u64(name, digits, 10, &number) < 0 || number == 0 ||
	    number > UINT32_MAX)
		return false;
	*ret_number = (uint32_t)number;
	return true;
}

int hf_pack_is_stray_index(const struct hf_store *store, const char *name)
{
	char pack[HF_PACK_NAME];
	struct hf_stat stat;
	uint32_t number;
	int rc;

	if (!hf_pack_name_parse(name, HF_PACK_INDEX_SUFFIX, &number))
		return 0;
	hf_pack_name_format(number, HF_PACK_SUFFIX, pack);
	rc = hf_file_stat_at(store->folder_fd[HF_STORE_PACKS], pack, &stat);
	return rc == -ENOENT ? 1 : rc;
}

/* -- the table ------------------------------------------------------------ */

/* Where the content is, or would be put. */
static struct content *find_place(const struct hf_contents *contents,
				  const struct hf_hash *hash, uint64_t size)
{
	const size_t mask = contents->capacity - 1;
	uint64_t start;
	size_t at;

	memcpy(&start, hash->bytes, sizeof(start));
	for (at = (size_t)start & mask;; at = (at + 1) & mask) {
		struct content *const item = &contents->items[at];

		if (item->location.pack == 0 ||
		    (item->size == size && hf_hash_equal(&item->hash, hash)))
			return item;
	}
}

static int grow(struct hf_contents *contents, struct hf_error *err)
{
	struct hf_contents larger = {.last_pack = contents->last_pack};
	size_t i;

	if (__builtin_mul_overflow(contents->capacity, 2, &larger.capacity))
		return hf_fail_memory(err);
	larger.items = calloc(larger.capacity, sizeof(*larger.items));
	if (!larger.items)
		return hf_fail_memory(err);
	for (i = 0; i < contents->capacity; i++) {
		const struct content *const item = &contents->items[i];

		if (item->location.pack > 0)
			*find_place(&larger, &item->hash, item->size) = *item;
	}
	larger.count = contents->count;
	free(contents->items);
	*contents = larger;
	return 0;
}

const struct hf_location *hf_contents_find(const struct hf_contents *contents,
					   const struct hf_hash *hash,
					   uint64_t size)
{
	const struct content *const item = find_place(contents, hash, size);

	return item->location.pack > 0 ? &item->location : NULL;
}

int hf_contents_add(struct hf_contents *contents, const struct hf_hash *hash,
		    uint64_t size, struct hf_location location,
		    struct hf_error *err)
{
	struct content *item;

	if (contents->count >= contents->capacity / 2) {
		const int rc = grow(contents, err);

		if (rc < 0)
			return rc;
	}
	item = find_place(contents, hash, size);
	if (item->location.pack == 0)
		contents->count++;
	*item = (struct content){
		.hash = *hash, .size = size, .location = location};
	if (location.pack > contents->last_pack)
		contents->last_pack = location.pack;
	return 0;
}

uint32_t hf_contents_next_pack(const struct hf_contents *contents)
{
	return contents->last_pack + 1;
}

void hf_contents_free(struct hf_contents **contents)
{
	if (*contents)
		hf_free_pointee(&(*contents)->items);
	hf_free_pointee(contents);
}

/* -- reading the indexes -------------------------------------------------- */

bool hf_pack_header_decode(const hf_json_value *header, uint32_t pack,
			   uint64_t *ret_bytes)
{
	uint64_t version;
	uint64_t number;

	return hf_json_number(hf_json_get(header, "holdfast-index"),
			      &version) &&
	       version == HF_PACK_INDEX_VERSION &&
	       hf_json_number(hf_json_get(header, "pack"), &number) &&
	       number == pack &&
	       hf_json_number(hf_json_get(header, "bytes"), ret_bytes);
}

static int add_line(struct hf_contents *contents, const hf_json_value *line,
		    uint32_t pack, struct hf_error *err)
{
	const char *const digits = hf_json_string(hf_json_get(line, "hash"));
	struct hf_location location = {.pack = pack};
	struct hf_hash hash;
	uint64_t size;

	if (!digits || hf_hash_parse(digits, &hash) < 0 ||
	    !hf_json_large_number(hf_json_get(line, "size"), &size) ||
	    !hf_json_large_number(hf_json_get(line, "offset"),
				  &location.offset))
		return hf_fail(err, HF_ERR_CORRUPT, "an index line is wrong");
	/* The first pack that has it stays the one that is named. */
	if (hf_contents_find(contents, &hash, size))
		return 0;
	return hf_contents_add(contents, &hash, size, location, err);
}

static int add_lines(struct hf_contents *contents, struct hf_lines lines,
		     uint32_t pack, uint64_t pack_bytes, struct hf_error *err)
{
	bool has_header = false;
	const char *text;
	uint64_t bytes;
	size_t len;
	int rc;

	while (hf_lines_next(&lines, &text, &len)) {
		cleanup_json struct hf_json *json = NULL;

		rc = hf_json_parse_line(text, len, &json, err);
		if (rc < 0)
			return rc;
		if (has_header)
			rc = add_line(contents, hf_json_root(json), pack, err);
		else if (!hf_pack_header_decode(hf_json_root(json), pack,
						&bytes) ||
			 bytes != pack_bytes)
			rc = hf_fail(err, HF_ERR_CORRUPT,
				     "the index is not that of the pack");
		if (rc < 0)
			return rc;
		has_header = true;
	}
	return 0;
}

static int read_index(const struct hf_store *store, const char *name,
		      struct hf_buffer *text, struct hf_error *err)
{
	cleanup_fd int fd = -1;
	int rc;

	fd = hf_file_open_read_at(store->folder_fd[HF_STORE_PACKS], name);
	if (fd < 0)
		return hf_fail_system(err, fd, "cannot open index '%s'", name);
	rc = hf_file_read_all(fd, INDEX_MAX, text);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot read index '%s'", name);
	return 0;
}

/* Take in the index of one pack; HF_ERR_CORRUPT when it is no good. */
static int load_index(struct hf_contents *contents,
		      const struct hf_store *store, uint32_t pack,
		      struct hf_error *err)
{
	cleanup_buffer struct hf_buffer text = HF_BUFFER_INIT;
	char pack_name[HF_PACK_NAME];
	char name[HF_PACK_NAME];
	struct hf_lines lines;
	struct hf_stat stat;
	size_t count;
	int rc;

	hf_pack_name_format(pack, HF_PACK_SUFFIX, pack_name);
	hf_pack_name_format(pack, HF_PACK_INDEX_SUFFIX, name);
	rc = hf_file_stat_at(store->folder_fd[HF_STORE_PACKS], pack_name,
			     &stat);
	if (rc == -ENOENT)
		return 0;
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot look at pack '%s'",
				      pack_name);
	rc = read_index(store, name, &text, err);
	if (rc < 0)
		return rc;
	rc = hf_sealed_check(name, text.data ? text.data : "", text.len,
			     HF_PACK_INDEX_COUNTED, &lines, &count, err);
	if (rc < 0)
		return rc;
	return add_lines(contents, lines, pack, stat.size, err);
}

static void note_damage(struct hf_buffer *notes, uint32_t pack,
			const struct hf_error *err)
{
	if (notes)
		hf_buffer_printf(notes,
				 "the index of pack %06" PRIu32
				 " is passed over: %s\n",
				 pack, err->text);
}

static int load_folder(struct hf_contents *contents,
		       const struct hf_store *store, struct hf_buffer *notes,
		       struct hf_error *err)
{
	cleanup_directory struct hf_directory *directory = NULL;
	const char *name;
	enum hf_kind kind;
	uint32_t pack;
	int rc;

	rc = hf_directory_open(store->folder_fd[HF_STORE_PACKS], &directory);
	while (rc >= 0) {
		rc = hf_directory_next(directory, &name, &kind);
		if (rc <= 0)
			break;
		if (hf_pack_name_parse(name, HF_PACK_INDEX_SUFFIX, &pack)) {
			rc = load_index(contents, store, pack, err);
			if (rc == HF_ERR_CORRUPT) {
				note_damage(notes, pack, err);
				rc = 0;
			}
			if (rc < 0)
				return rc;
		} else if (!hf_pack_name_parse(name, HF_PACK_SUFFIX, &pack)) {
			continue;
		}
		/* A number is never used twice, whatever its files are worth.
		 */
		if (pack > contents->last_pack)
			contents->last_pack = pack;
	}
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot list the packs of '%s'",
				      HF_QUOTE(store->path));
	return 0;
}

int hf_contents_load(const struct hf_store *store,
		     struct hf_contents **ret_contents,
		     struct hf_buffer *ret_notes, struct hf_error *err)
{
	cleanup_contents struct hf_contents *contents = NULL;
	int rc;

	contents = calloc(1, sizeof(*contents));
	if (!contents)
		return hf_fail_memory(err);
	contents->capacity = FIRST_CAPACITY;
	contents->items = calloc(contents->capacity, sizeof(*contents->items));
	if (!contents->items)
		return hf_fail_memory(err);
	rc = load_folder(contents, store, ret_notes, err);
	if (rc < 0)
		return rc;
	*ret_contents = take_ptr(&contents);
	return 0;
}
