/* SPDX-License-Identifier: MIT */
/* Arenas: aligned, never overlapping, too large refused, adopted. */
#include "base/arena.h"

#include <criterion/criterion.h>
#include <stdalign.h>
#include <stdint.h>
#include <string.h>

/* More than a block, with sizes that do not fit its end. */
#define PIECES 3000

Test(arena, pieces_are_aligned_and_apart)
{
	cleanup_arena struct hf_arena arena = HF_ARENA_INIT;
	unsigned char *pieces[PIECES];
	const size_t sizes[] = { 0, 1, 15, 16, 17, 100, 5000, 70000 };

	for (size_t i = 0; i < PIECES; i++) {
		const size_t len = sizes[i % HF_COUNT(sizes)];

		pieces[i] = hf_arena_alloc(&arena, len);
		cr_assert_not_null(pieces[i]);
		cr_assert_eq((uintptr_t)pieces[i] % alignof(max_align_t), 0);
		memset(pieces[i], (int)(i % 251), len);
	}
	for (size_t i = 0; i < PIECES; i++)
		for (size_t at = 0; at < sizes[i % HF_COUNT(sizes)]; at++)
			cr_assert_eq(pieces[i][at], i % 251,
				     "piece %zu, byte %zu", i, at);
}

Test(arena, copies_end)
{
	cleanup_arena struct hf_arena arena = HF_ARENA_INIT;
	char *const copy = hf_arena_copy(&arena, "abcdef", 3);

	cr_assert_str_eq(copy, "abc");
	cr_assert_str_eq(hf_arena_copy(&arena, NULL, 0), "");
}

Test(arena, too_large_is_refused)
{
	cleanup_arena struct hf_arena arena = HF_ARENA_INIT;
	volatile size_t largest = SIZE_MAX;

	for (size_t less = 0; less < 40; less++)
		cr_expect_null(hf_arena_alloc(&arena, largest - less));
	cr_expect_null(hf_arena_copy(&arena, "", largest));
	cr_expect_not_null(hf_arena_alloc(&arena, 1));
}

Test(arena, adopted_memory_lives_on)
{
	cleanup_arena struct hf_arena arena = HF_ARENA_INIT;
	struct hf_arena other = HF_ARENA_INIT;
	struct hf_arena empty = HF_ARENA_INIT;
	char *const own = hf_arena_copy(&arena, "own", 3);
	char *const theirs = hf_arena_copy(&other, "theirs", 6);
	char *later;

	hf_arena_adopt(&arena, &other);
	hf_arena_adopt(&arena, &empty);
	hf_arena_done(&other);
	later = hf_arena_copy(&arena, "later", 5);
	cr_expect_str_eq(own, "own");
	cr_expect_str_eq(theirs, "theirs");
	cr_expect_str_eq(later, "later");
	cr_expect_null(other.blocks);
}
