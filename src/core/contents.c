/* SPDX-License-Identifier: MIT */
/* Which contents the store has, by hash: read from the indexes of its packs. */
#include "core/pack.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "base/text.h"
#include "core/pack_index.h"
#include "core/pack_name.h"

#define FIRST_CAPACITY 1024 /* a power of two */
#define NAME_DIGITS    6    /* at least */

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

/* The contents of one pack on their way into the table. */
struct taking {
	struct hf_contents *contents;
	uint32_t pack;
};

static int take_item(void *context, const struct hf_pack_index_item *item,
		     struct hf_error *err)
{
	const struct taking *const taking = context;
	const struct hf_location location = {
		.pack = taking->pack,
		.offset = item->offset,
	};

	/* The first pack that has it stays the one that is named. */
	if (hf_contents_find(taking->contents, &item->hash, item->size))
		return 0;
	return hf_contents_add(taking->contents, &item->hash, item->size,
			       location, err);
}

/* Take in the index of one pack; HF_ERR_CORRUPT when it is no good. */
static int load_index(struct hf_contents *contents,
		      const struct hf_store *store, uint32_t pack,
		      struct hf_error *err)
{
	struct taking taking = {.contents = contents, .pack = pack};
	char pack_name[HF_PACK_NAME];
	struct hf_stat stat;
	int rc;

	hf_pack_name_format(pack, HF_PACK_SUFFIX, pack_name);
	rc = hf_file_stat_at(store->folder_fd[HF_STORE_PACKS], pack_name,
			     &stat);
	if (rc == -ENOENT)
		return 0;
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot look at pack '%s'",
				      pack_name);
	return hf_pack_index_read(store, pack, stat.size, take_item, &taking,
				  err);
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

int hf_contents_new(struct hf_contents **ret_contents, struct hf_error *err)
{
	cleanup_contents struct hf_contents *contents =
		calloc(1, sizeof(*contents));

	if (!contents)
		return hf_fail_memory(err);
	contents->capacity = FIRST_CAPACITY;
	contents->items = calloc(contents->capacity, sizeof(*contents->items));
	if (!contents->items)
		return hf_fail_memory(err);
	*ret_contents = take_ptr(&contents);
	return 0;
}

int hf_contents_load(const struct hf_store *store,
		     struct hf_contents **ret_contents,
		     struct hf_buffer *ret_notes, struct hf_error *err)
{
	cleanup_contents struct hf_contents *contents = NULL;
	int rc;

	rc = hf_contents_new(&contents, err);
	if (rc < 0)
		return rc;
	rc = load_folder(contents, store, ret_notes, err);
	if (rc < 0)
		return rc;
	*ret_contents = take_ptr(&contents);
	return 0;
}
