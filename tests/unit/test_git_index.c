/* SPDX-License-Identifier: MIT */
/* git's index, put together by hand: what is held, and what is no index. */
#include <criterion/criterion.h>
#include <string.h>

#include "base/buffer.h"
#include "base/fail.h"
#include "core/git_index.h"

TestSuite(git_index);

#define SHA1   20
#define SHA256 32

static void add_zeros(struct hf_buffer *out, size_t count)
{
	for (size_t i = 0; i < count; i++)
		hf_buffer_add(out, "", 1);
}

static void add_number(struct hf_buffer *out, unsigned value, unsigned bytes)
{
	for (unsigned i = bytes; i > 0; i--) {
		const char byte = (char)(value >> 8 * (i - 1));

		hf_buffer_add(out, &byte, 1);
	}
}

static void begin(struct hf_buffer *out, unsigned version, unsigned count)
{
	hf_buffer_add_text(out, "DIRC");
	add_number(out, version, 4);
	add_number(out, count, 4);
}

static void add_entry(struct hf_buffer *out, size_t hash_len, unsigned flags,
		      const char *name)
{
	const size_t start = out->len;

	add_zeros(out, 40 + hash_len);
	add_number(out, flags | (unsigned)strlen(name), 2);
	if (flags & 0x4000)
		add_number(out, 0x2000, 2); /* only intended */
	hf_buffer_add_text(out, name);
	add_zeros(out, 8 - (out->len - start) % 8);
}

/* Version 4: so many bytes of the last name go, then the rest. */
static void add_packed(struct hf_buffer *out, const char *strip, size_t len,
		       const char *rest)
{
	add_zeros(out, 40 + SHA1);
	add_number(out, 0, 2);
	hf_buffer_add(out, strip, len);
	hf_buffer_add(out, rest, strlen(rest) + 1);
}

static void end(struct hf_buffer *out, size_t hash_len)
{
	add_zeros(out, hash_len);
}

static int parse(struct hf_git_index *index, const struct hf_buffer *data)
{
	struct hf_error err;
	const int rc = hf_git_index_parse(index, data->data, data->len, &err);

	if (rc == 0)
		hf_git_index_sort(index);
	return rc;
}

Test(git_index, names_of_both_kinds_of_hash)
{
	static const size_t hash_lens[] = {SHA1, SHA256};

	for (size_t i = 0; i < HF_COUNT(hash_lens); i++) {
		cleanup_git_index struct hf_git_index index = HF_GIT_INDEX_INIT;
		cleanup_buffer struct hf_buffer data = HF_BUFFER_INIT;

		begin(&data, 3, 4);
		add_entry(&data, hash_lens[i], 0, "a.toml");
		add_entry(&data, hash_lens[i], 0, "data/1.csv");
		add_entry(&data, hash_lens[i], 0x4000, "data/2.csv");
		/* A directory that a sparse checkout left out. */
		add_entry(&data, hash_lens[i], 0, "far/away/");
		hf_buffer_add_text(&data, "TREE");
		add_number(&data, 3, 4);
		hf_buffer_add_text(&data, "abc");
		end(&data, hash_lens[i]);
		cr_assert_eq(parse(&index, &data), 0);
		cr_expect(hf_git_index_has(&index, "a.toml"));
		cr_expect(hf_git_index_has(&index, "data/1.csv"));
		cr_expect_not(hf_git_index_has(&index, "data/2.csv"));
		cr_expect_not(hf_git_index_has(&index, "data"));
		cr_expect(hf_git_index_has(&index, "far/away/x/y"));
		cr_expect_not(hf_git_index_has(&index, "far/x"));
		cr_expect_null(index.shared);
	}
}

Test(git_index, a_root_beneath_the_top)
{
	cleanup_git_index struct hf_git_index index = HF_GIT_INDEX_INIT;
	cleanup_buffer struct hf_buffer data = HF_BUFFER_INIT;

	begin(&data, 2, 1);
	add_entry(&data, SHA1, 0, "sub/a.toml");
	end(&data, SHA1);
	cr_assert_eq(parse(&index, &data), 0);
	index.prefix = strdup("sub");
	cr_expect(hf_git_index_has(&index, "a.toml"));
	cr_expect_not(hf_git_index_has(&index, "sub/a.toml"));
}

Test(git_index, names_that_build_on_the_last)
{
	cleanup_git_index struct hf_git_index index = HF_GIT_INDEX_INIT;
	cleanup_buffer struct hf_buffer data = HF_BUFFER_INIT;
	char name[201];

	memset(name, 'x', 200);
	name[200] = '\0';
	begin(&data, 4, 4);
	add_packed(&data, "\0", 1, "data/1.csv");
	add_packed(&data, "\5", 1, "2.csv");
	add_packed(&data, "\12", 1, name);
	/* 200 = ((0 + 1) << 7) + 72: two bytes. */
	add_packed(&data, "\x80\x48", 2, "z");
	end(&data, SHA1);
	cr_assert_eq(parse(&index, &data), 0);
	cr_expect(hf_git_index_has(&index, "data/1.csv"));
	cr_expect(hf_git_index_has(&index, "data/2.csv"));
	cr_expect(hf_git_index_has(&index, name));
	cr_expect(hf_git_index_has(&index, "z"));
}

Test(git_index, the_other_half_is_named)
{
	cleanup_git_index struct hf_git_index index = HF_GIT_INDEX_INIT;
	cleanup_buffer struct hf_buffer data = HF_BUFFER_INIT;

	begin(&data, 2, 1);
	add_entry(&data, SHA1, 0, "");
	hf_buffer_add_text(&data, "link");
	add_number(&data, SHA1, 4);
	for (unsigned i = 0; i < SHA1; i++)
		add_number(&data, 0xa0 + i, 1);
	end(&data, SHA1);
	cr_assert_eq(parse(&index, &data), 0);
	cr_expect_eq(index.count, 0);
	cr_expect_str_eq(index.shared,
			 "a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3");
}

/* Cut anywhere it is none. */
Test(git_index, what_is_none)
{
	cleanup_buffer struct hf_buffer data = HF_BUFFER_INIT;
	cleanup_buffer struct hf_buffer other = HF_BUFFER_INIT;

	begin(&data, 2, 2);
	add_entry(&data, SHA1, 0, "a.toml");
	add_entry(&data, SHA1, 0, "b.toml");
	end(&data, SHA1);
	for (size_t len = 0; len < data.len; len++) {
		cleanup_git_index struct hf_git_index index = HF_GIT_INDEX_INIT;
		struct hf_buffer part = {.data = data.data, .len = len};

		cr_expect_eq(parse(&index, &part), HF_ERR_CORRUPT, "%zu", len);
		cr_expect_eq(index.count, 0);
	}
	begin(&other, 5, 0);
	end(&other, SHA1);
	cr_expect_eq(parse(&(struct hf_git_index)HF_GIT_INDEX_INIT, &other),
		     HF_ERR_CORRUPT);
}
