/* SPDX-License-Identifier: MIT */
/*
 * The content hash: XXH3, 128 bits, canonical (big-endian) form.
 *
 * It proves that content is what was recorded; it is not a defence against
 * somebody who builds collisions, and need not be: who may write the store may
 * write the manifest.  This is the only file that knows xxHash.
 */
#ifndef HF_CORE_HASH_H
#define HF_CORE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/defs.h"

/* As written in manifests and reports. */
#define HF_HASH_NAME	"xxh3-128"
#define HF_HASH_SIZE	16
#define HF_HASH_TEXT	(2 * HF_HASH_SIZE + 1)

struct hf_hash {
	uint8_t bytes[HF_HASH_SIZE];
};

struct hf_hash hf_hash_of(const void *data, size_t len);
bool hf_hash_equal(const struct hf_hash *a, const struct hf_hash *b);
/* Into text[HF_HASH_TEXT]; returns text. */
const char *hf_hash_format(const struct hf_hash *hash, char *text);
/* Exactly 32 hexadecimal digits; -EINVAL otherwise. */
MUST_CHECK int hf_hash_parse(const char *text, struct hf_hash *ret_hash);

/* Content in pieces. */
struct hf_hasher;
#define cleanup_hasher	CLEANUP(hf_hasher_free)
/* NULL when out of memory. */
struct hf_hasher *hf_hasher_new(void);
void hf_hasher_reset(struct hf_hasher *hasher);
void hf_hasher_update(struct hf_hasher *hasher, const void *data, size_t len);
struct hf_hash hf_hasher_digest(const struct hf_hasher *hasher);
void hf_hasher_free(struct hf_hasher **hasher);

#endif /* HF_CORE_HASH_H */
