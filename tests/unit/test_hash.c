/* SPDX-License-Identifier: MIT */
/* The content hash against the vectors that xxHash publishes. */
#include "core/hash.h"

#include <criterion/criterion.h>
#include <string.h>

#define BUFFER_SIZE	((size_t)100 * 1000)

/* The buffer that xxHash's own test fills. */
static void fill(uint8_t *data, size_t len)
{
	uint64_t state = 2654435761u;

	for (size_t i = 0; i < len; i++) {
		data[i] = (uint8_t)(state >> 56);
		state *= UINT64_C(11400714785074694797);
	}
}

Test(hash, published_vectors)
{
	static const struct {
		size_t len;
		const char *hash;
	} rows[] = {
		{0, "99aa06d3014798d86001c324468d497f"},
		{1, "a6cd5e9392000f6ac44bdff4074eecdb"},
		{6, "082afe0b8162d12a3e7039bdda43cfc6"},
		{12, "6e3efd8fc7802b18061a192713f69ad9"},
		{24, "0ce966e4678d37611e7044d28b1b901d"},
		{48, "a002ac4e5478227ef942219aed80f67b"},
		{81, "4952f58181ab00425e8bafb9f95fb803"},
		{222, "337e09641b948717f1aebd597cec6b3a"},
		{403, "1b6de21e332dd73dcdeb804d65c6dea4"},
		{512, "18d2d110dcc9bca1617e49599013cb6b"},
		{2048, "f736557fd47073a5dd59e2c3a5f038e0"},
		{2240, "ccb134fbfa7ce49d6e73a90539cf2948"},
		{2367, "e89c0f6ff369b427cb37aeb9e5d361ed"},
	};
	uint8_t data[2367];

	fill(data, sizeof(data));
	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		const struct hf_hash hash = hf_hash_of(data, rows[i].len);
		char text[HF_HASH_TEXT];

		cr_expect_str_eq(hf_hash_format(&hash, text), rows[i].hash,
				 "%zu bytes", rows[i].len);
	}
}

Test(hash, pieces_are_the_whole)
{
	static const size_t pieces[] = { 1, 7, 64, 240, 256, 1024, 65536 };
	uint8_t *const data = malloc(BUFFER_SIZE);
	cleanup_hasher struct hf_hasher *hasher = hf_hasher_new();
	struct hf_hash whole;

	cr_assert(data && hasher);
	fill(data, BUFFER_SIZE);
	whole = hf_hash_of(data, BUFFER_SIZE);
	for (size_t i = 0; i < HF_COUNT(pieces); i++) {
		struct hf_hash hash;

		hf_hasher_reset(hasher);
		for (size_t at = 0; at < BUFFER_SIZE; at += pieces[i]) {
			const size_t left = BUFFER_SIZE - at;

			hf_hasher_update(hasher, data + at,
					 left < pieces[i] ? left : pieces[i]);
			hf_hasher_update(hasher, data, 0);
		}
		hash = hf_hasher_digest(hasher);
		cr_expect(hf_hash_equal(&hash, &whole), "pieces of %zu",
			  pieces[i]);
	}
	free(data);
}

Test(hash, a_new_or_reset_hasher_has_seen_nothing)
{
	cleanup_hasher struct hf_hasher *hasher = hf_hasher_new();
	const struct hf_hash empty = hf_hash_of("", 0);
	struct hf_hash hash;

	cr_assert(hasher);
	hash = hf_hasher_digest(hasher);
	cr_expect(hf_hash_equal(&hash, &empty));
	hf_hasher_update(hasher, "x", 1);
	hash = hf_hasher_digest(hasher);
	cr_expect_not(hf_hash_equal(&hash, &empty));
	hf_hasher_reset(hasher);
	hash = hf_hasher_digest(hasher);
	cr_expect(hf_hash_equal(&hash, &empty));
}

Test(hash, text_and_back)
{
	const struct hf_hash hash = hf_hash_of("holdfast", 8);
	struct hf_hash parsed = { .bytes = { 0 } };
	char text[HF_HASH_TEXT];

	hf_hash_format(&hash, text);
	cr_assert_eq(hf_hash_parse(text, &parsed), 0);
	cr_expect(hf_hash_equal(&hash, &parsed));
}

Test(hash, wrong_text)
{
	static const char *const rows[] = {
		"",
		"0",
		"99aa06d3014798d86001c324468d497",
		"99aa06d3014798d86001c324468d497f0",
		"99aa06d3014798d86001c324468d497g",
		" 9aa06d3014798d86001c324468d497f",
		"0x99aa06d3014798d86001c324468d49",
	};

	for (size_t i = 0; i < HF_COUNT(rows); i++) {
		struct hf_hash hash = hf_hash_of("", 0);
		const struct hf_hash before = hash;

		cr_expect_eq(hf_hash_parse(rows[i], &hash), -EINVAL, "'%s'",
			     rows[i]);
		cr_expect(hf_hash_equal(&hash, &before), "'%s' touched it",
			  rows[i]);
	}
}

Test(hash, freeing_nothing)
{
	struct hf_hasher *hasher = NULL;

	hf_hasher_free(&hasher);
	cr_expect_null(hasher);
}
