/* SPDX-License-Identifier: MIT */
/* The only door to xxHash, inlined: twice as fast as the shared library. */
#include "core/hash.h"

#include <string.h>

#include "base/encode.h"

/* The vendor's header, compiled into this file, is not ours to clean up. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wcast-qual"
#define XXH_INLINE_ALL
#include <xxhash.h>
#pragma GCC diagnostic pop

struct hf_hasher {
	XXH3_state_t *state;	/* xxHash aligns it to 64 bytes, malloc does not */
};

static struct hf_hash canonical(XXH128_hash_t value)
{
	XXH128_canonical_t bytes;
	struct hf_hash hash;

	XXH128_canonicalFromHash(&bytes, value);
	_Static_assert(sizeof(bytes) == sizeof(hash), "128 bits");
	memcpy(hash.bytes, &bytes, sizeof(hash.bytes));
	return hash;
}

struct hf_hash hf_hash_of(const void *data, size_t len)
{
	return canonical(XXH3_128bits(data, len));
}

bool hf_hash_equal(const struct hf_hash *a, const struct hf_hash *b)
{
	return memcmp(a->bytes, b->bytes, sizeof(a->bytes)) == 0;
}

const char *hf_hash_format(const struct hf_hash *hash, char *text)
{
	hf_hex_encode(text, hash->bytes, sizeof(hash->bytes));
	return text;
}

int hf_hash_parse(const char *text, struct hf_hash *ret_hash)
{
	struct hf_hash hash;
	int rc;

	if (strnlen(text, HF_HASH_TEXT) != HF_HASH_TEXT - 1)
		return -EINVAL;
	rc = hf_hex_decode(hash.bytes, text, sizeof(hash.bytes));
	if (rc < 0)
		return rc;
	*ret_hash = hash;
	return 0;
}

struct hf_hasher *hf_hasher_new(void)
{
	cleanup_hasher struct hf_hasher *hasher = malloc(sizeof(*hasher));

	if (!hasher)
		return NULL;
	hasher->state = XXH3_createState();
	if (!hasher->state)
		return NULL;
	hf_hasher_reset(hasher);
	return take_ptr(&hasher);
}

/* xxHash's calls fail for a NULL state or NULL data only. */
void hf_hasher_reset(struct hf_hasher *hasher)
{
	(void)XXH3_128bits_reset(hasher->state);
}

void hf_hasher_update(struct hf_hasher *hasher, const void *data, size_t len)
{
	if (len > 0)
		(void)XXH3_128bits_update(hasher->state, data, len);
}

struct hf_hash hf_hasher_digest(const struct hf_hasher *hasher)
{
	return canonical(XXH3_128bits_digest(hasher->state));
}

void hf_hasher_free(struct hf_hasher **hasher)
{
	const int saved = errno;
	struct hf_hasher *const freed = take_ptr(hasher);

	if (freed)
		(void)XXH3_freeState(freed->state);
	free(freed);
	errno = saved;
}
