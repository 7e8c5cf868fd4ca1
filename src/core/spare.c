/* SPDX-License-Identifier: MIT */
/*
 * Hold packs open, and small contents in shared memory.
 *
 * The memory is a table of slots, found by hash, and the bytes behind it.  One
 * process fills it and may be killed at any moment: a slot counts from the
 * store of is_there on, which comes last.  Whatever is read from it is hashed
 * once more.
 */
#include "core/spare.h"

#include <string.h>

#include "base/fail.h"
#include "core/content.h"
#include "core/pack_name.h"
#include "core/replace.h"
#include "platform/system.h"

/* Never more than half full; a power of two. */
#define SLOTS (2 * HF_SPARE_COUNT_MAX)

/* Of as many a pack may have two: the run itself needs most of them. */
#define DESCRIPTORS_A_PACK 16

struct slot {
	struct hf_hash hash;
	uint64_t size;
	uint64_t offset;
	bool is_there;
};

struct memory {
	struct slot slots[SLOTS];
	uint8_t bytes[HF_SPARE_SIZE_MAX];
};

struct held {
	uint32_t pack;
	int fd;
	int index_fd; /* -errno when there is none */
};

struct hf_spare {
	struct held packs[HF_SPARE_PACKS_MAX];
	size_t pack_count;
	struct memory *memory;
	/* Of the process that fills it. */
	uint64_t used;
};

static int open_index(const struct hf_store *store, uint32_t pack)
{
	char name[HF_PACK_NAME];

	hf_pack_name_format(pack, HF_PACK_INDEX_SUFFIX, name);
	return hf_file_open_read_at(store->folder_fd[HF_STORE_PACKS], name);
}

int hf_spare_new(const struct hf_store *store, const struct hf_packs *packs,
		 struct hf_spare **ret_spare)
{
	cleanup_spare struct hf_spare *spare = calloc(1, sizeof(*spare));
	const size_t room = hf_system_descriptors() / DESCRIPTORS_A_PACK;
	const size_t most = room < HF_SPARE_PACKS_MAX ? room :
							HF_SPARE_PACKS_MAX;
	void *memory;
	int rc;

	if (!spare)
		return -ENOMEM;
	rc = hf_system_share_memory(sizeof(struct memory), &memory);
	if (rc < 0)
		return rc;
	spare->memory = memory;
	/* The newest hold most of what is in use. */
	for (size_t i = packs->count;
	     i > 0 && spare->pack_count < most; i--) {
		const uint32_t pack = packs->items[i - 1];
		const int fd = hf_pack_open(store, pack);

		if (fd >= 0)
			spare->packs[spare->pack_count++] = (struct held){
				.pack = pack,
				.fd = fd,
				.index_fd = open_index(store, pack)};
	}
	*ret_spare = take_ptr(&spare);
	return 0;
}

size_t hf_spare_descriptors(const struct hf_spare *spare, int *fds)
{
	size_t count = 0;

	for (size_t i = 0; i < spare->pack_count; i++) {
		fds[count++] = spare->packs[i].fd;
		if (spare->packs[i].index_fd >= 0)
			fds[count++] = spare->packs[i].index_fd;
	}
	return count;
}

void hf_spare_free(struct hf_spare **spare)
{
	struct hf_spare *const s = take_ptr(spare);

	if (!s)
		return;
	for (size_t i = 0; i < s->pack_count; i++) {
		hf_file_close_quietly(&s->packs[i].fd);
		hf_file_close_quietly(&s->packs[i].index_fd);
	}
	if (s->memory)
		hf_system_unshare_memory(s->memory, sizeof(*s->memory));
	free(s);
}

/* -- the memory ------------------------------------------------------------ */

/* Where the content is, or would be put. */
static struct slot *find_slot(const struct hf_spare *spare,
			      const struct hf_hash *hash, uint64_t size)
{
	uint64_t start;

	memcpy(&start, hash->bytes, sizeof(start));
	for (uint64_t i = start;; i++) {
		struct slot *const slot =
			&spare->memory->slots[i & (SLOTS - 1)];

		if (!__atomic_load_n(&slot->is_there, __ATOMIC_ACQUIRE) ||
		    (slot->size == size && hf_hash_equal(&slot->hash, hash)))
			return slot;
	}
}

/* NULL when it is not there, or is not what it was. */
static const uint8_t *find_bytes(const struct hf_spare *spare,
				 const struct hf_pack_want *want)
{
	const struct slot *const slot =
		find_slot(spare, &want->hash, want->size);
	const uint8_t *bytes;
	struct hf_hash hash;

	if (!__atomic_load_n(&slot->is_there, __ATOMIC_ACQUIRE) ||
	    slot->size > HF_SPARE_SIZE_MAX ||
	    slot->offset > HF_SPARE_SIZE_MAX - slot->size)
		return NULL;
	bytes = spare->memory->bytes + slot->offset;
	hash = hf_hash_of(bytes, (size_t)slot->size);
	return hf_hash_equal(&hash, &want->hash) ? bytes : NULL;
}

/* -- filling --------------------------------------------------------------- */

static int begin_fill(const struct hf_pack_want *want, struct hf_error *err)
{
	(void)want;
	(void)err;
	return 0;
}

static int add_bytes(const struct hf_pack_want *want, const void *data,
		     size_t len, struct hf_error *err)
{
	struct hf_spare *const spare = want->context;

	if (len > HF_SPARE_SIZE_MAX - spare->used)
		return hf_fail(err, HF_ERR_LIMIT, "there is no more room");
	memcpy(spare->memory->bytes + spare->used, data, len);
	spare->used += len;
	return 0;
}

static void end_fill(const struct hf_pack_want *want, int result,
		     const struct hf_error *err)
{
	struct hf_spare *const spare = want->context;
	struct slot *const slot = find_slot(spare, &want->hash, want->size);

	(void)err;
	if (result < 0 || slot->is_there || spare->used < want->size)
		return;
	slot->hash = want->hash;
	slot->size = want->size;
	slot->offset = spare->used - want->size;
	__atomic_store_n(&slot->is_there, true, __ATOMIC_RELEASE);
}

static int compare_wants(const void *left, const void *right)
{
	const struct hf_location *const a =
		&((const struct hf_pack_want *)left)->location;
	const struct hf_location *const b =
		&((const struct hf_pack_want *)right)->location;

	if (a->pack != b->pack)
		return a->pack < b->pack ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* Each content once, in the packs' order; 0 where the set is not small. */
static size_t collect(struct hf_spare *spare, const struct hf_tree *tree,
		      struct hf_pack_want *wants)
{
	uint64_t size = 0;
	size_t count = 0;
	size_t kept = 0;

	for (size_t i = 0; i < tree->count; i++) {
		const struct hf_entry *const entry = &tree->entries[i];

		if (entry->stat.kind != HF_KIND_FILE || !entry->has_hash ||
		    entry->location.pack == 0)
			continue;
		if (count == HF_SPARE_COUNT_MAX ||
		    entry->stat.size > HF_SPARE_SIZE_MAX - size)
			return 0;
		size += entry->stat.size;
		wants[count++] = (struct hf_pack_want){
			.location = entry->location,
			.size = entry->stat.size,
			.hash = entry->hash,
			.context = spare,
		};
	}
	if (count > 1)
		qsort(wants, count, sizeof(*wants), compare_wants);
	for (size_t i = 0; i < count; i++)
		if (kept == 0 ||
		    compare_wants(&wants[kept - 1], &wants[i]) != 0)
			wants[kept++] = wants[i];
	return kept;
}

static const struct held *find_pack(const struct hf_spare *spare, uint32_t pack)
{
	for (size_t i = 0; i < spare->pack_count; i++)
		if (spare->packs[i].pack == pack)
			return &spare->packs[i];
	return NULL;
}

void hf_spare_fill(struct hf_spare *spare, const struct hf_tree *tree)
{
	static const struct hf_pack_sink sink = {begin_fill, add_bytes,
						 end_fill};
	const size_t room = tree->count < HF_SPARE_COUNT_MAX
				    ? tree->count
				    : HF_SPARE_COUNT_MAX;
	cleanup_free struct hf_pack_want *wants =
		calloc(room + 1, sizeof(*wants));
	const size_t count = wants ? collect(spare, tree, wants) : 0;
	size_t end;

	for (size_t i = 0; i < count; i = end) {
		const uint32_t pack = wants[i].location.pack;
		const struct held *const held = find_pack(spare, pack);
		struct hf_error ignored;
		int rc = 0;

		for (end = i; end < count && wants[end].location.pack == pack;)
			end++;
		if (held)
			rc = hf_pack_read_open(held->fd, &wants[i], end - i,
					       &sink, &ignored);
		/* What is not held is in the store alone. */
		(void)rc;
	}
}

/* -- reading --------------------------------------------------------------- */

static int fail_without(struct hf_error *err)
{
	return hf_fail(err, HF_ERR_CORRUPT,
		       "the store has lost the content, and no second copy of "
		       "it is held");
}

/* From memory; false when it is not there. */
static bool pass_on(const struct hf_spare *spare,
		    const struct hf_pack_want *want,
		    const struct hf_pack_sink *sink, int *rc,
		    struct hf_error *err)
{
	const struct hf_error none = {.code = HF_OK};
	const uint8_t *const bytes = find_bytes(spare, want);
	struct hf_error failure;

	if (!bytes)
		return false;
	if (sink->begin(want, &failure) < 0) {
		*err = failure;
		*rc = failure.code;
	} else if (want->size > 0 &&
		   sink->data(want, bytes, (size_t)want->size, &failure) < 0) {
		*err = failure;
		*rc = failure.code;
		sink->end(want, failure.code, &failure);
	} else {
		sink->end(want, 0, &none);
	}
	return true;
}

static int fail_all(const struct hf_pack_want *wants, size_t count,
		    const struct hf_pack_sink *sink, struct hf_error *err)
{
	struct hf_error ignored;

	(void)fail_without(err);
	for (size_t i = 0; i < count; i++)
		if (sink->begin(&wants[i], &ignored) >= 0)
			sink->end(&wants[i], err->code, err);
	return err->code;
}

int hf_spare_read(const struct hf_spare *spare,
		  const struct hf_pack_want *wants, size_t count,
		  const struct hf_pack_sink *sink, struct hf_error *err)
{
	cleanup_free struct hf_pack_want *rest =
		calloc(count + 1, sizeof(*rest));
	const struct held *held;
	struct hf_error failure;
	size_t left = 0;
	int rc = 0;
	int last;

	if (!rest)
		return hf_fail_memory(err);
	for (size_t i = 0; i < count; i++)
		if (!pass_on(spare, &wants[i], sink, &rc, err))
			rest[left++] = wants[i];
	if (left == 0)
		return rc;
	held = find_pack(spare, rest->location.pack);
	last = held ? hf_pack_read_open(held->fd, rest, left, sink, &failure)
		    : fail_all(rest, left, sink, &failure);
	if (last < 0)
		*err = failure;
	return last < 0 ? last : rc;
}

/* -- writing --------------------------------------------------------------- */

int hf_spare_stat(const struct hf_spare *spare, uint32_t pack,
		  struct hf_stat *ret_stat)
{
	const struct held *const held = find_pack(spare, pack);

	return held ? hf_file_stat(held->fd, ret_stat) : -ENOENT;
}

static int write_file(int from_fd, int folder_fd, const char *name,
		      struct hf_error *err)
{
	cleanup_replace struct hf_replace file = HF_REPLACE_INIT;
	struct hf_content_writer writer;
	struct hf_hash hash;
	uint64_t size;
	int rc;

	rc = hf_file_seek(from_fd, 0);
	if (rc < 0)
		return hf_fail_system(err, rc, "cannot read '%s'", name);
	rc = hf_replace_begin(&file, folder_fd, name, 0600, err);
	if (rc < 0)
		return rc;
	hf_content_begin(&writer, file.fd, HF_CONTENT_FRESH);
	rc = hf_content_copy(from_fd, &writer, name, &size, &hash, err);
	return rc < 0 ? rc : hf_replace_commit(&file, err);
}

int hf_spare_write_pack(const struct hf_spare *spare, uint32_t pack,
			const struct hf_store *store, struct hf_error *err)
{
	const int folder_fd = store->folder_fd[HF_STORE_PACKS];
	const struct held *const held = find_pack(spare, pack);
	char name[HF_PACK_NAME];
	int rc = 0;

	if (!held)
		return 0;
	/* In the order of a commit. */
	hf_pack_name_format(pack, HF_PACK_INDEX_SUFFIX, name);
	if (held->index_fd >= 0)
		rc = write_file(held->index_fd, folder_fd, name, err);
	if (rc < 0)
		return rc;
	hf_pack_name_format(pack, HF_PACK_SUFFIX, name);
	rc = write_file(held->fd, folder_fd, name, err);
	return rc < 0 ? rc : 1;
}
